/* SPDX-License-Identifier: MIT
 *
 * Marching squares. The corners of a square are the centres of four neighbouring cells; outside the grid nothing is
 * covered, so every contour is closed. Going around a square clockwise (as rows go down), a contour starts where an
 * outer corner is followed by an inner one and ends where an inner corner is followed by an outer one; the neighbouring
 * square traverses the shared edge in the opposite direction, so the end in one square is the start in the next. */
#include "outline.h"

#include "memory.h"

#include <assert.h>
#include <math.h>

#define COVERED 0.5f

typedef struct grid {
    const float *shares;
    size_t across, down;
    ast_polygons *out;
} grid;

static bool trace_loop(const grid *g, size_t column, size_t row, int edge);
static bool keep_loop(ast_polygons *out, size_t first, double min_area, double tolerance);
static int starts_of(const grid *g, size_t column, size_t row);

static bool trace(ast_polygons *out, const float *shares, size_t across, size_t down, double min_area,
                  double tolerance) {
    grid g = {shares, across, down, out};
    size_t squares = (across + 1) * (down + 1);
    out->vertex_count = out->count = 0;
    if (!ast_reserve(&out->visited, &out->visited_room, 0, squares, 1))
        return false;
    for (size_t k = 0; k < squares; k++)
        out->visited[k] = 0;
    for (size_t row = 0; row <= down; row++)
        for (size_t column = 0; column <= across; column++) {
            int starts = starts_of(&g, column, row);
            for (int edge = 0; starts && edge < 4; edge++) {
                size_t first = out->vertex_count;
                if (!(starts >> edge & 1) || out->visited[row * (across + 1) + column] >> edge & 1)
                    continue;
                if (!trace_loop(&g, column, row, edge) || !keep_loop(out, first, min_area, tolerance))
                    return false;
            }
        }
    ast_polygons_largest_first(out);
    return true;
}

bool ast_polygons_trace(ast_polygons *out, float *shares, size_t across, size_t down, double min_area,
                        double tolerance) {
    float most = 0;
    if (!trace(out, shares, across, down, min_area, tolerance))
        return false;
    for (size_t k = 0; k < across * down; k++)
        most = shares[k] > most ? shares[k] : most;
    if (out->count > 0 || most == 0)
        return true;
    for (size_t k = 0; k < across * down; k++)
        shares[k] /= most;
    return trace(out, shares, across, down, min_area, tolerance);
}

void ast_polygons_free(ast_polygons *p) {
    ast_free_all(p->vertices, p->ends, p->visited, p->stack);
    *p = (ast_polygons){0};
}

double ast_polygon_area(double (*at)[2], size_t count) {
    double twice = 0;
    for (size_t i = 0; i < count; i++) {
        const double *a = at[i], *b = at[i + 1 < count ? i + 1 : 0];
        twice += (a[0] - at[0][0]) * (b[1] - at[0][1]) - (b[0] - at[0][0]) * (a[1] - at[0][1]);
    }
    return twice / 2;
}

/* ---- Squares ----------------------------------------------------------------------------------------------------- */

/* Square (column, row) has the cells (column - 1, row - 1), (column, row - 1), (column, row), (column - 1, row) as
 * corners 0 to 3. */
static float share_at(const grid *g, size_t column, size_t row, int corner) {
    size_t c = column - (corner == 0 || corner == 3), r = row - (corner < 2); /* -1 wraps to a large number */
    return c < g->across && r < g->down ? g->shares[r * g->across + c] : 0;
}

static int inside_of(const grid *g, size_t column, size_t row) {
    int inside = 0;
    for (int corner = 0; corner < 4; corner++)
        inside |= (share_at(g, column, row, corner) >= COVERED) << corner;
    return inside;
}

/* Edge e goes from corner e to corner e + 1. */
static int starts_of(const grid *g, size_t column, size_t row) {
    int inside = inside_of(g, column, row), next = inside >> 1 | (inside & 1) << 3;
    return ~inside & next;
}

/* The edge at which the contour that starts at `edge` ends. If two opposite corners are inside, they are connected if
 * the four shares together cover half of the square. */
static int end_of(const grid *g, size_t column, size_t row, int edge) {
    int inside = inside_of(g, column, row), ends = inside & ~(inside >> 1 | (inside & 1) << 3);
    float sum = 0;
    for (int corner = 0; corner < 4; corner++)
        sum += share_at(g, column, row, corner);
    for (int step = 1; step < 4; step++) {
        int e = sum >= 4 * COVERED ? (edge + 4 - step) % 4 : (edge + step) % 4;
        if (ends >> e & 1)
            return e;
    }
    return edge; /* unreachable: a start has an end */
}

/* Where the contour crosses an edge of a square, in cells. */
static void cross(const grid *g, size_t column, size_t row, int edge, double at[2]) {
    static const double corners[5][2] = {{-1, -1}, {0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
    double from = (double)share_at(g, column, row, edge), to = (double)share_at(g, column, row, (edge + 1) % 4);
    double t = (from - (double)COVERED) / (from - to);
    const double *a = corners[edge], *b = corners[edge + 1];
    at[0] = (double)column + a[0] + t * (b[0] - a[0]);
    at[1] = (double)row + a[1] + t * (b[1] - a[1]);
}

static bool trace_loop(const grid *g, size_t column, size_t row, int edge) {
    static const int step_column[4] = {0, 1, 0, -1}, step_row[4] = {-1, 0, 1, 0};
    ast_polygons *out = g->out;
    for (;;) {
        uint8_t *visited = &out->visited[row * (g->across + 1) + column];
        if (*visited >> edge & 1)
            return true;
        *visited = (uint8_t)(*visited | 1 << edge);
        double at[2];
        cross(g, column, row, edge, at);
        if (!ast_polygons_add_vertex(out, at[0], at[1]))
            return false;
        int end = end_of(g, column, row, edge);
        column += (size_t)step_column[end];
        row += (size_t)step_row[end];
        edge = (end + 2) % 4;
    }
}

/* ---- Polygons ---------------------------------------------------------------------------------------------------- */

/* Turns the vertices from `first` on into a polygon. A polygon below the area threshold is dropped unless it is the
 * largest so far. */
static bool keep_loop(ast_polygons *out, size_t first, double min_area, double tolerance) {
    size_t count = out->vertex_count - first;
    double area = fabs(ast_polygon_area(out->vertices + first, count));
    size_t last = out->count ? (out->count > 1 ? out->ends[out->count - 2] : 0) : 0;
    bool only = out->count == 1 && fabs(ast_polygon_area(out->vertices + last, first - last)) < min_area;
    if (out->count > 0 && area < min_area &&
        !(only && area > fabs(ast_polygon_area(out->vertices + last, first - last)))) {
        out->vertex_count = first;
        return true;
    }
    if (only) { /* replace the small first polygon, which was kept only in case no larger one follows */
        for (size_t i = 0; i < count; i++)
            for (int d = 0; d < 2; d++)
                out->vertices[i][d] = out->vertices[first + i][d];
        first = 0;
        out->count = 0;
    }
    out->vertex_count = first + count;
    return ast_polygons_close(out, first, tolerance);
}

bool ast_polygons_add_vertex(ast_polygons *out, double x, double y) {
    if (!ast_reserve(&out->vertices, &out->vertex_room, out->vertex_count, out->vertex_count + 1,
                     sizeof *out->vertices))
        return false;
    out->vertices[out->vertex_count][0] = x;
    out->vertices[out->vertex_count++][1] = y;
    return true;
}

static void reverse(double (*at)[2], size_t count) {
    for (size_t i = 0; i < count / 2; i++)
        for (int d = 0; d < 2; d++) {
            double held = at[i][d];
            at[i][d] = at[count - 1 - i][d];
            at[count - 1 - i][d] = held;
        }
}

/* Rotates the vertices so that the largest polygon comes first; three reversals do this in place. */
void ast_polygons_largest_first(ast_polygons *out) {
    assert(out->count == 0 || out->ends[out->count - 1] == out->vertex_count);
    size_t best = 0, begin = 0;
    double most = -1;
    for (size_t p = 0, first = 0; p < out->count; first = out->ends[p++]) {
        double area = fabs(ast_polygon_area(out->vertices + first, out->ends[p] - first));
        if (area > most) {
            most = area;
            best = p;
            begin = first;
        }
    }
    if (best == 0)
        return;
    size_t end = out->ends[best], moved = end - begin;
    reverse(out->vertices, begin);
    reverse(out->vertices + begin, moved);
    reverse(out->vertices, end);
    for (size_t p = best; p > 0; p--)
        out->ends[p] = out->ends[p - 1] + moved;
    out->ends[0] = moved;
}

/* ---- Fewer vertices ---------------------------------------------------------------------------------------------- */

static double distance_from_line(const double *p, const double *a, const double *b) {
    double x = b[0] - a[0], y = b[1] - a[1], length = sqrt(x * x + y * y);
    double px = p[0] - a[0], py = p[1] - a[1];
    return length > 0 ? fabs(x * py - y * px) / length : sqrt(px * px + py * py);
}

/* The vertex between `from` and `to` that is farthest from the line between them; `to` if none is beyond tolerance. */
static size_t farthest_from_line(double (*at)[2], size_t count, size_t from, size_t to, double tolerance) {
    size_t found = to;
    double most = tolerance;
    for (size_t i = from + 1; i < to; i++) {
        double distance = distance_from_line(at[i], at[from], at[to % count]);
        if (distance > most) {
            most = distance;
            found = i;
        }
    }
    return found;
}

/* The vertex farthest from the line through vertices 0 and `second`, other than these two. */
static size_t farthest_third(double (*at)[2], size_t count, size_t second) {
    size_t found = second == 1 ? 2 : 1;
    double most = -1;
    for (size_t i = 1; i < count; i++) {
        double distance = distance_from_line(at[i], at[0], at[second]);
        if (i != second && distance > most) {
            most = distance;
            found = i;
        }
    }
    return found;
}

static size_t farthest_from_point(double (*at)[2], size_t count, size_t from) {
    size_t found = from;
    double most = -1;
    for (size_t i = 0; i < count; i++) {
        double x = at[i][0] - at[from][0], y = at[i][1] - at[from][1];
        if (x * x + y * y > most) {
            most = x * x + y * y;
            found = i;
        }
    }
    return found;
}

/* Douglas and Peucker's rule between three vertices that stay: one far out, the one farthest from it, and the one
 * farthest from the line through both. The stack holds the ends of the unprocessed chains in order along the polygon,
 * so kept vertices can overwrite the input. */
static bool simplify(ast_polygons *memory, double (*at)[2], size_t *count, double tolerance) {
    size_t n = *count, kept = 0, from = 0, depth = 0;
    if (n < 4)
        return true;
    if (!ast_reserve(&memory->stack, &memory->stack_room, 0, n + 3, sizeof *memory->stack))
        return false;
    size_t first = farthest_from_point(at, n, 0);
    reverse(at, first);
    reverse(at + first, n - first);
    reverse(at, n); /* now it is vertex 0 */
    size_t second = farthest_from_point(at, n, 0), third = farthest_third(at, n, second);
    size_t ends[3] = {n, second > third ? second : third, second > third ? third : second};
    for (int i = 0; i < 3; i++)
        memory->stack[depth++] = ends[i];
    while (depth > 0) {
        size_t to = memory->stack[depth - 1], middle = farthest_from_line(at, n, from, to, tolerance);
        if (middle != to) {
            memory->stack[depth++] = middle;
            continue;
        }
        if (to < n) {
            kept++;
            at[kept][0] = at[to][0];
            at[kept][1] = at[to][1];
        }
        from = to;
        depth--;
    }
    *count = kept + 1;
    assert(*count >= 3 && *count <= n);
    return true;
}

bool ast_polygons_close(ast_polygons *out, size_t first, double tolerance) {
    size_t count = out->vertex_count - first;
    if (!simplify(out, out->vertices + first, &count, tolerance) ||
        !ast_reserve(&out->ends, &out->ends_room, out->count, out->count + 1, sizeof *out->ends))
        return false;
    out->vertex_count = first + count;
    out->ends[out->count++] = out->vertex_count;
    return true;
}
