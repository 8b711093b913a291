/* SPDX-License-Identifier: MIT
 *
 * Rays through the hallway. The main idea: the corridor is a room seen from inside, and everything in it, including the
 * block behind the inner corner, is a solid box seen from outside. A ray leaves the room through the nearest of three
 * slabs and enters a box through the farthest, so no ray slips through a seam. One solid is a round column.
 *
 * A ray has depth 1 along the optical axis, so the parameter at which it meets a surface is the depth. */
#include "scene.h"

#include <math.h>

typedef struct solid {
    double low[3], high[3];
    bool round; /* a column: the circle inscribed in the square */
} solid;

/* Metres. All faces are parallel to the axes, so the true directions are 90 degrees apart. Objects are placed so that
 * directions disappear and reappear during the walk: before the turn no surface faces -y, after it the cabinets do. The
 * turn itself is empty: walls are near there, and edges would fill a large part of the image. */
#define TOP 2.5
static const solid room = {{-2, -1.3, 0}, {10.6, 9.5, TOP}, false};
static const solid solids[AST_SCENE_SOLIDS] = {
    {{-9, 1.3, -1}, {7.6, 19, TOP + 1}, false},       /* the block inside the turn */
    {{4.9, -1.4, -1}, {5.7, -0.8, 0.85}, false},      /* a sideboard on the right */
    {{5.5, 0.85, -1}, {6.1, 1.4, 1.9}, false},        /* a locker on the left */
    {{9.95, 2.45, -1}, {10.25, 2.75, TOP + 1}, true}, /* the column */
    {{10, 4.1, -1}, {10.7, 4.8, 0.75}, false},        /* a crate on the right */
    {{7.5, 5.1, -1}, {8.1, 5.9, 1.3}, false},         /* a cabinet on the left */
    {{9.9, 6.5, -1}, {10.7, 7.2, 1.8}, false},        /* a wardrobe on the right */
};

/* A ray and the nearest hit so far. */
typedef struct ray {
    double along[3], inverse[3];
    ast_hit hit;
} ray;

static void rotate_axes(const double *rotation, double axes[3][3]);
static ast_visible_box visible_box_of(const ast_scene_view *view, const solid *box);
static void leave_room(ray *beam, const ast_visible_box *box);
static void enter_box(ray *beam, const ast_visible_box *box);
static void enter_column(ray *beam, const ast_visible_box *column);

void ast_scene_view_open(ast_scene_view *view, const ast_camera *camera, const ast_hallway_frame *frame) {
    view->camera = *camera;
    for (int a = 0; a < 3; a++)
        view->origin[a] = frame->position[a];
    rotate_axes(frame->rotation, view->axes);
    view->room = visible_box_of(view, &room);
    for (int i = 0; i < AST_SCENE_SOLIDS; i++)
        view->solids[i] = visible_box_of(view, &solids[i]);
}

void ast_scene_cast_row(const ast_scene_view *view, size_t row, size_t width, ast_hit *hits) {
    double v = (double)row, y = (v - view->camera.cy) / view->camera.fy;
    int shown[AST_SCENE_SOLIDS] = {0}, count = 0; /* the solids that this row may see */
    for (int i = 0; i < AST_SCENE_SOLIDS; i++)
        if (v >= view->solids[i].first[1] && v <= view->solids[i].last[1])
            shown[count++] = i;
    for (size_t column = 0; column < width; column++) {
        double u = (double)column, x = (u - view->camera.cx) / view->camera.fx;
        ray beam;
        for (int a = 0; a < 3; a++) {
            beam.along[a] = view->axes[2][a] + y * view->axes[1][a] + x * view->axes[0][a];
            beam.inverse[a] = 1 / beam.along[a];
        }
        leave_room(&beam, &view->room);
        for (int i = 0; i < count; i++) {
            const ast_visible_box *box = &view->solids[shown[i]];
            if (u >= box->first[0] && u <= box->last[0])
                (solids[shown[i]].round ? enter_column : enter_box)(&beam, box);
        }
        hits[column] = beam.hit;
    }
}

/* ---- Before the first ray --------------------------------------------------------------------------------------- */

/* The columns of the matrix of a quaternion x y z w: the images of the axes. */
static void rotate_axes(const double *rotation, double axes[3][3]) {
    double x = rotation[0], y = rotation[1], z = rotation[2], w = rotation[3];
    const double columns[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
                                  {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)},
                                  {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)}};
    for (int c = 0; c < 3; c++)
        for (int a = 0; a < 3; a++)
            axes[c][a] = columns[c][a];
}

/* The corner of a box, in the camera's coordinates. */
static void corner_of(const ast_scene_view *view, const ast_visible_box *box, int corner, double *at) {
    for (int c = 0; c < 3; c++) {
        at[c] = 0;
        for (int a = 0; a < 3; a++)
            at[c] += (corner >> a & 1 ? box->high : box->low)[a] * view->axes[c][a];
    }
}

/* A box may be visible in the rectangle around its corners plus one pixel, everywhere if some corners are behind the
 * camera, and nowhere if all are. */
static ast_visible_box visible_box_of(const ast_scene_view *view, const solid *box) {
    ast_visible_box seen = {.first = {INFINITY, INFINITY}, .last = {-INFINITY, -INFINITY}};
    for (int a = 0; a < 3; a++) {
        seen.low[a] = box->low[a] - view->origin[a];
        seen.high[a] = box->high[a] - view->origin[a];
    }
    int behind = 0;
    for (int corner = 0; corner < 8; corner++) {
        double at[3];
        corner_of(view, &seen, corner, at);
        if (at[2] < 0.01) {
            behind++;
            continue;
        }
        const double pixel[2] = {view->camera.cx + view->camera.fx * at[0] / at[2],
                                 view->camera.cy + view->camera.fy * at[1] / at[2]};
        for (int c = 0; c < 2; c++) {
            seen.first[c] = fmin(seen.first[c], pixel[c] - 1);
            seen.last[c] = fmax(seen.last[c], pixel[c] + 1);
        }
    }
    for (int c = 0; c < 2 && behind > 0 && behind < 8; c++) {
        seen.first[c] = -INFINITY;
        seen.last[c] = INFINITY;
    }
    return seen;
}

/* ---- One ray ---------------------------------------------------------------------------------------------------- */

static double smaller(double a, double b) {
    return a < b ? a : b;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* The surface faces against the ray: -x if the ray goes towards +x. This holds inside a room and outside a box. */
static void record_hit(ray *beam, double depth, int axis) {
    beam->hit.depth = depth;
    beam->hit.normal_dot_ray = (float)fabs(beam->along[axis]);
    beam->hit.direction = (int8_t)(2 * axis + (beam->along[axis] > 0));
}

/* For a ray parallel to a slab the two parameters are infinite: with opposite signs inside the slab, with equal signs
 * outside. Both cases give the right result. */
static void leave_room(ray *beam, const ast_visible_box *box) {
    double nearest = INFINITY;
    int through = 0;
    for (int a = 0; a < 3; a++) {
        double low = box->low[a] * beam->inverse[a];
        double high = box->high[a] * beam->inverse[a];
        double leaves = larger(low, high);
        through = leaves < nearest ? a : through;
        nearest = smaller(leaves, nearest);
    }
    record_hit(beam, nearest, through);
}

static void enter_box(ray *beam, const ast_visible_box *box) {
    double enters = 0, leaves = beam->hit.depth;
    int through = -1;
    for (int a = 0; a < 3; a++) {
        double low = box->low[a] * beam->inverse[a];
        double high = box->high[a] * beam->inverse[a];
        double near = smaller(low, high);
        through = near > enters ? a : through;
        enters = larger(near, enters);
        leaves = smaller(larger(low, high), leaves);
    }
    if (through >= 0 && enters < leaves)
        record_hit(beam, enters, through);
}

/* |origin + t along - centre|^2 = radius^2 on the floor plan, the smaller root; the column is as high as the room. */
static void enter_column(ray *beam, const ast_visible_box *column) {
    double radius = (column->high[0] - column->low[0]) / 2;
    double x = -(column->low[0] + radius), y = -(column->low[1] + radius); /* the camera relative to the axis */
    double dx = beam->along[0], dy = beam->along[1];
    double square = dx * dx + dy * dy, half = x * dx + y * dy, rest = x * x + y * y - radius * radius;
    double discriminant = half * half - square * rest;
    if (!(discriminant > 0) || half >= 0)
        return;
    double depth = rest / (sqrt(discriminant) - half); /* = (-half - root) / square; also valid for a vertical ray */
    if (depth >= beam->hit.depth)
        return;
    beam->hit.depth = depth;
    beam->hit.normal_dot_ray = (float)(fabs((x + depth * dx) * dx + (y + depth * dy) * dy) / radius);
    beam->hit.direction = -1;
}
