/* SPDX-License-Identifier: MIT
 *
 * The frame of a building: a vertical, and horizontal directions of walls. Landmarks are lines here, whatever their
 * sign. Of all lines the vertical is the one with the largest share of the frame on itself and at right angles to it.
 * Walls at right angles to each other are a Manhattan frame, others an Atlanta frame. */
#include "landmarks_axes.h"

#include "degree.h"
#include "landmarks_modes.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

#define RIGHT (5 * AST_DEGREE) /* how far from a right angle, or from parallel, two lines may be */
#define LEAST_LINE 0.02        /* usual share of a frame, for a line to count */
#define LEAST_HEADING 0.2      /* of the largest wall, for a heading of an Atlanta frame */
#define LEAST_PART 0.7         /* of what all lines explain, for a frame */
#define LEAST_FRAME 0.2        /* of all points of the current frame */
#define SEEN_LATELY 300        /* frames */
#define KEEPS 1.2              /* another vertical must explain as much more */

/* Landmarks along one line. */
typedef struct line {
    double direction[3]; /* first frame, unit */
    double weight;       /* usual share */
    double now;          /* share of this frame */
} line;

static double cosine(const double *a, const double *b) {
    return fabs(ast_dot_of3(a, b));
}

static void normalise(double *v) {
    double length = sqrt(ast_dot_of3(v, v));
    for (int d = 0; d < 3 && length > 0; d++)
        v[d] /= length;
}

/* The lines of the landmarks, the heaviest landmark of each first. */
static size_t find_lines(const ast_landmark_map *map, line *lines) {
    size_t count = 0, order[AST_LANDMARKS];
    for (size_t k = 0; k < map->count; k++) {
        size_t at = k;
        for (; at > 0 && map->list[order[at - 1]].usual < map->list[k].usual; at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    for (size_t i = 0; i < map->count; i++) {
        const ast_landmark *landmark = &map->list[order[i]];
        size_t l = 0;
        if (landmark->usual < LEAST_LINE || landmark->last_seen + SEEN_LATELY < map->frame)
            continue;
        while (l < count && cosine(lines[l].direction, landmark->direction) < cos(RIGHT))
            l++;
        if (l == count)
            lines[count++] =
                (line){.direction = {landmark->direction[0], landmark->direction[1], landmark->direction[2]}};
        double side = ast_dot_of3(lines[l].direction, landmark->direction) < 0 ? -1 : 1,
               all = lines[l].weight + landmark->usual;
        for (int d = 0; d < 3; d++)
            lines[l].direction[d] += landmark->usual / all * (side * landmark->direction[d] - lines[l].direction[d]);
        normalise(lines[l].direction);
        lines[l].weight = all;
        lines[l].now += landmark->last_seen == map->frame ? landmark->share : 0;
    }
    return count;
}

static bool is_right(const line *a, const line *b) {
    return cosine(a->direction, b->direction) <= sin(RIGHT);
}

/* The share of a line and of all lines at right angles to it; 0 without any of them. */
static double support(const line *lines, size_t count, size_t vertical) {
    double walls = 0;
    for (size_t k = 0; k < count; k++)
        walls += k != vertical && is_right(&lines[vertical], &lines[k]) ? lines[k].weight : 0;
    return walls > 0 ? lines[vertical].weight + walls : 0;
}

/* The vertical: the best supported; among equals that of the frame before, otherwise the one nearest to the y axis of
 * the first camera, which is usually held upright. */
static size_t find_vertical(const line *lines, size_t count, const ast_building *before) {
    size_t best = count;
    double most = 0;
    for (size_t k = 0; k < count; k++) {
        bool same = before->count > 0 && cosine(before->directions[0], lines[k].direction) >= cos(RIGHT);
        double upright = 1 + 0.1 * fabs(lines[k].direction[1]);
        double value = support(lines, count, k) * (same ? KEEPS : before->count > 0 ? 1 : upright);
        if (value > most) {
            most = value;
            best = k;
        }
    }
    return best;
}

/* Axes of determinant 1 nearest to a vertical and its walls, which are at right angles to each other. */
static void fit_manhattan(const line *lines, size_t count, const line *vertical, const line *wall, double (*axes)[3]) {
    double guess[3][3], rotation[9];
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ast_alignment sums = {0};
    memcpy(guess[0], vertical->direction, sizeof guess[0]);
    memcpy(guess[1], wall->direction, sizeof guess[1]);
    ast_cross3(guess[0], guess[1], guess[2]);
    for (size_t k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) {
            double along = ast_dot_of3(lines[k].direction, guess[a]), to[3];
            if (fabs(along) < cos(2 * RIGHT))
                continue;
            for (int d = 0; d < 3; d++)
                to[d] = along < 0 ? -lines[k].direction[d] : lines[k].direction[d];
            ast_alignment_add(&sums, unit[a], to, lines[k].weight);
        }
    if (!ast_alignment_solve(&sums, RIGHT, rotation))
        return;
    for (int a = 0; a < 3; a++)
        for (int d = 0; d < 3; d++)
            axes[a][d] = rotation[3 * d + a];
}

/* Turns the direction to the side of `to`. */
static void turn_towards(double *direction, const double *to) {
    double side = ast_dot_of3(direction, to) < 0 ? -1 : 1;
    for (int d = 0; d < 3; d++)
        direction[d] *= side;
}

/* An axis keeps its place and its sign from frame to frame; a new one points along its largest component. */
static void keep_names(ast_building *now, const ast_building *before) {
    double given[AST_BUILDING_AXES][3];
    bool taken[AST_BUILDING_AXES] = {false};
    size_t count = 0;
    memcpy(given, now->directions, sizeof given);
    for (size_t k = 0; k < before->count; k++)
        for (size_t i = 0; i < now->count; i++)
            if (!taken[i] && cosine(given[i], before->directions[k]) >= cos(2 * RIGHT)) {
                memcpy(now->directions[count], given[i], sizeof given[i]);
                turn_towards(now->directions[count++], before->directions[k]);
                taken[i] = true;
                break;
            }
    for (size_t i = 0; i < now->count; i++) {
        int largest = 0;
        double along[3] = {0};
        for (int d = 1; d < 3; d++)
            largest = fabs(given[i][d]) > fabs(given[i][largest]) ? d : largest;
        along[largest] = 1;
        if (taken[i])
            continue;
        memcpy(now->directions[count], given[i], sizeof given[i]);
        turn_towards(now->directions[count++], along);
    }
}

/* Whether a wall is a heading of its own: in view, of a good part of the largest, and not parallel to one that is
 * listed, but for the error of a small surface. */
static bool is_heading(const ast_building *found, const line *wall, double largest) {
    bool own = wall->now > 0 && wall->weight >= LEAST_HEADING * largest;
    for (size_t i = 1; i < found->count; i++)
        own &= cosine(found->directions[i], wall->direction) < cos(2 * RIGHT);
    return own;
}

/* The walls of a vertical, the heaviest first. */
static void list_headings(const line *lines, size_t count, size_t vertical, ast_building *found) {
    double largest = 0;
    memcpy(found->directions[0], lines[vertical].direction, sizeof found->directions[0]);
    found->count = 1;
    for (size_t k = 0; k < count; k++) {
        if (k == vertical || !is_right(&lines[vertical], &lines[k]) || found->count == AST_BUILDING_AXES)
            continue;
        if (found->count == 1 || is_heading(found, &lines[k], largest))
            memcpy(found->directions[found->count++], lines[k].direction, sizeof found->directions[0]);
        largest = fmax(largest, lines[k].weight);
    }
    bool square = true;
    for (size_t a = 1; a < found->count; a++)
        for (size_t b = 1; b < a; b++)
            square &= cosine(found->directions[a], found->directions[b]) <= sin(2 * RIGHT);
    found->kind = square ? AST_MANHATTAN_LINES : AST_ATLANTA_LINES;
}

static void find(const ast_landmark_map *map, const ast_building *before, ast_building *found) {
    line lines[AST_LANDMARKS];
    size_t count = find_lines(map, lines), vertical = find_vertical(lines, count, before), wall = count;
    double all = 0, now = 0;
    *found = (ast_building){0};
    if (vertical == count)
        return;
    for (size_t k = 0; k < count; k++) {
        bool part = k == vertical || is_right(&lines[vertical], &lines[k]);
        all += lines[k].weight;
        now += part ? lines[k].now : 0;
        if (part && k != vertical && (wall == count || lines[k].weight > lines[wall].weight))
            wall = k;
    }
    if (support(lines, count, vertical) < LEAST_PART * all || now < LEAST_FRAME)
        return;
    list_headings(lines, count, vertical, found);
    if (found->kind == AST_MANHATTAN_LINES) {
        found->count = 3;
        fit_manhattan(lines, count, &lines[vertical], &lines[wall], found->directions);
    }
    bool renamed = before->count > 0 && cosine(before->directions[0], found->directions[0]) < cos(2 * RIGHT);
    static const ast_building nothing = {0};
    keep_names(found, renamed ? &nothing : before); /* the vertical is first */
}

void ast_landmarks_find_axes(ast_landmark_map *map, const ast_frame_directions *sample) {
    ast_building found;
    double narrow = cos(AST_NARROW * AST_DEGREE), total = sample->total;
    find(map, &map->building, &found);
    map->axes_kind = found.kind;
    if (found.kind == AST_NO_LINES)
        return;
    const double *r = map->rotation;
    for (size_t a = 0; a < found.count && total > 0; a++) {
        double seen[3], weight = 0;
        for (int side = 1; side >= -1; side -= 2) {
            const double *to = found.directions[a];
            for (int c = 0; c < 3; c++)
                seen[c] = side * (r[c] * to[0] + r[3 + c] * to[1] + r[6 + c] * to[2]);
            weight += ast_landmarks_weigh(sample, seen, narrow, 2);
        }
        found.shares[a] = weight / total;
    }
    map->building = found;
}
