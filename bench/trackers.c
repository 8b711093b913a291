/* SPDX-License-Identifier: MIT
 *
 * asterism-trackers: how well ids and means are tracked, as a table in Markdown (docs/trackers.md is its output). It
 * does not measure speed.
 *
 * A scene has four of the six axis directions and turns about (1, 1, 1). All six have the same angle to that axis, so
 * each moves by the same number of degrees per frame. Points are drawn from von Mises-Fisher distributions, and each
 * direction is out of sight once, for ten frames. A switch is a visible direction whose id differs from the id it had
 * when it was last visible. The lag is the angle between the mean of its cluster and the true direction, over all
 * frames in which it is visible.
 *
 * With --turning the degrees are those by which the scene turns, so that directions move by less, over three seeds and
 * up to 30 points: a second definition of the speed of the scene, for comparison with other published numbers. */
#include <asterism.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define KAPPA 60.0
#define ANGLE 70.0 /* degrees */

enum { FRAMES = 90, DIRECTIONS = 4, SEEDS = 5, ABSENCE = 10, FIRST_ABSENCE = 15, BETWEEN = 18, TRACKERS = 3 };
enum { MOST_POINTS = 5000, LAGS = SEEDS * FRAMES * DIRECTIONS };

/* What is measured; the list of point counts ends with 0. */
typedef struct setting {
    int point_counts[5];
    int seeds;
    int turning; /* the degrees are those of the scene, not of the directions */
} setting;

static const setting table = {{1, 5, 60, MOST_POINTS, 0}, SEEDS, 0}, turning = {{1, 5, 30, 0}, 3, 1};
static const double motions[] = {0.1, 0.5, 2}; /* degrees a frame */
static const double axes[DIRECTIONS][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}};

/* One cell of the table. */
typedef struct outcome {
    int switches;     /* over all seeds */
    double lag;       /* degrees: the median over all seeds */
    double low, high; /* the medians of the best and of the worst seed */
} outcome;

/* The state while a stream runs. */
typedef struct run {
    int32_t ids[DIRECTIONS]; /* when last visible; -1 before */
    int switches;
    double *lags;
    size_t lag_count;
} run;

/* ---- The scene --------------------------------------------------------------------------------------------------- */

/* splitmix64, as numbers in (0, 1). */
static double uniform(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static int in_sight(int direction, int frame) {
    int start = FIRST_ABSENCE + BETWEEN * direction;
    return frame < start || frame >= start + ABSENCE;
}

/* The position of a direction: turned about (1, 1, 1) so that it moves by `motion` degrees per frame. */
static void true_direction(int direction, int frame, double motion, double at[3]) {
    double step = 2 * asin(sin(motion * PI / 360) / sqrt(2.0 / 3)); /* sin^2 of the angle to (1, 1, 1) is 2/3 */
    double c = cos(step * frame), k = (1 - c) / 3, h = sin(step * frame) / sqrt(3.0);
    const double turn[3][3] = {{c + k, k - h, k + h}, {k + h, c + k, k - h}, {k - h, k + h, c + k}};
    for (int d = 0; d < 3; d++)
        at[d] = turn[d][0] * axes[direction][0] + turn[d][1] * axes[direction][1] + turn[d][2] * axes[direction][2];
}

/* A draw from the von Mises-Fisher distribution on the sphere, whose cosine has an exact inverse. */
static void draw(const double at[3], uint64_t *state, float point[3]) {
    double u = uniform(state), cosine = 1 + log(u + (1 - u) * exp(-2 * KAPPA)) / KAPPA;
    double sine = sqrt(fmax(0, 1 - cosine * cosine)), turn = 2 * PI * uniform(state);
    int least = fabs(at[0]) < fabs(at[1]) ? 0 : 1;
    least = fabs(at[2]) < fabs(at[least]) ? 2 : least;
    double across[3], other[3], length = 0;
    for (int d = 0; d < 3; d++) {
        across[d] = (d == least) - at[least] * at[d];
        length += across[d] * across[d];
    }
    for (int d = 0; d < 3; d++)
        across[d] /= sqrt(length);
    for (int d = 0; d < 3; d++)
        other[d] = at[(d + 1) % 3] * across[(d + 2) % 3] - at[(d + 2) % 3] * across[(d + 1) % 3];
    for (int d = 0; d < 3; d++)
        point[d] = (float)(cosine * at[d] + sine * (cos(turn) * across[d] + sin(turn) * other[d]));
}

/* ---- Following it ------------------------------------------------------------------------------------------------ */

/* The id of most of the points from `first` on; every `step`-th point belongs to the direction. */
static int32_t majority(const int32_t *labels, size_t first, size_t step, size_t each, const ast_tracked *clusters,
                        size_t count) {
    int32_t best = -1;
    size_t most = 0;
    for (size_t k = 0; k < count; k++) {
        size_t votes = 0;
        for (size_t i = 0; i < each; i++)
            votes += labels[first + i * step] == clusters[k].id;
        if (votes > most) {
            most = votes;
            best = (int32_t)k;
        }
    }
    return best;
}

static double degrees_between(const float *mean, const double at[3]) {
    double apart = 0, sum = 0;
    for (int d = 0; d < 3; d++) {
        apart += ((double)mean[d] - at[d]) * ((double)mean[d] - at[d]);
        sum += ((double)mean[d] + at[d]) * ((double)mean[d] + at[d]);
    }
    return 2 * atan2(sqrt(apart), sqrt(sum)) * 180 / PI;
}

static void judge(run *state, const ast_stream *stream, const int32_t *labels, int frame, double motion, size_t each,
                  size_t visible) {
    size_t count, place = 0;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    for (int k = 0; k < DIRECTIONS; k++) {
        if (!in_sight(k, frame))
            continue;
        double at[3];
        int32_t cluster = majority(labels, place++, visible, each, clusters, count);
        if (cluster < 0)
            continue;
        true_direction(k, frame, motion, at);
        state->switches += state->ids[k] >= 0 && state->ids[k] != clusters[cluster].id;
        state->ids[k] = clusters[cluster].id;
        state->lags[state->lag_count++] = degrees_between(clusters[cluster].mean, at);
    }
}

/* Draws the points of a frame, one per direction in turn; returns how many directions are visible. */
static size_t draw_frame(int frame, double motion, size_t each, uint64_t *random, float *points) {
    double at[DIRECTIONS][3];
    size_t visible = 0;
    for (int k = 0; k < DIRECTIONS; k++)
        if (in_sight(k, frame))
            true_direction(k, frame, motion, at[visible++]);
    for (size_t i = 0; i < each * visible; i++)
        draw(at[i % visible], random, points + 3 * i);
    return visible;
}

static ast_status follow(ast_context *context, const ast_stream_options *options, size_t each, double motion,
                         uint64_t seed, run *state) {
    static float points[MOST_POINTS * DIRECTIONS * 3];
    static int32_t labels[MOST_POINTS * DIRECTIONS];
    uint64_t random = seed * 1000003;
    for (int k = 0; k < DIRECTIONS; k++)
        state->ids[k] = -1;
    ast_stream *stream;
    ast_stream_open(&stream, context, options);
    ast_status status = stream ? AST_OK : AST_NO_MEMORY;
    for (int frame = 0; frame < FRAMES && status == AST_OK; frame++) {
        size_t visible = draw_frame(frame, motion, each, &random, points);
        ast_points view = ast_points_f4(points, each * visible, 3);
        ast_frame report = {.size = sizeof report};
        status = ast_stream_step(stream, &view, labels, &report);
        if (status == AST_OK)
            judge(state, stream, labels, frame, motion, each, visible);
    }
    ast_stream_close(stream);
    return status;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, compare);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* How far a direction moves while the scene turns by that many degrees; sin^2 of its angle to (1, 1, 1) is 2/3. */
static double moved(double turned) {
    return 2 * asin(sin(turned * PI / 360) * sqrt(2.0 / 3)) * 180 / PI;
}

static ast_status measure(ast_context *context, const setting *how, const ast_stream_options *options, size_t each,
                          double degrees, outcome *cell) {
    static double lags[LAGS], one[LAGS];
    size_t count = 0;
    double motion = how->turning ? moved(degrees) : degrees;
    *cell = (outcome){.low = 180};
    for (uint64_t seed = 1; seed <= (uint64_t)how->seeds; seed++) {
        run state = {.lags = one};
        ast_status status = follow(context, options, each, motion, seed, &state);
        if (status != AST_OK)
            return status;
        memcpy(lags + count, one, state.lag_count * sizeof *one);
        count += state.lag_count;
        double lag = median(one, state.lag_count);
        cell->low = fmin(cell->low, lag);
        cell->high = fmax(cell->high, lag);
        cell->switches += state.switches;
    }
    cell->lag = median(lags, count);
    return AST_OK;
}

static ast_status print_row(ast_context *context, const setting *how, int each, double motion) {
    printf("| %d | %g |", each, motion);
    for (int tracker = 0; tracker < TRACKERS; tracker++) {
        ast_stream_options options;
        outcome cell;
        ast_stream_options_init(&options);
        options.dimension = 3;
        options.angle = ANGLE;
        if (tracker == 0)
            options.drift = motion;
        if (tracker == 2)
            options.beta = 1e5;
        ast_status status = measure(context, how, &options, (size_t)each, motion, &cell);
        if (status != AST_OK)
            return status;
        printf(" %d | %.1f (%.1f-%.1f) |", cell.switches, cell.lag, cell.low, cell.high);
    }
    printf("\n");
    fflush(stdout);
    return AST_OK;
}

int main(int argc, char **argv) {
    const setting *how = argc > 1 && strcmp(argv[1], "--turning") == 0 ? &turning : &table;
    if (argc > 2 || (argc == 2 && how == &table)) {
        fprintf(stderr, "usage: asterism-trackers [--turning]\n");
        return 2;
    }
    ast_context *context;
    ast_open(&context, 0);
    ast_status status = context ? AST_OK : AST_NO_MEMORY;
    printf("| points per direction | degrees per frame | `--drift` = motion: switches | lag | `--drift 1`: switches | lag "
           "| `--beta 1e5`: switches | lag |\n|---|---|---|---|---|---|---|---|\n");
    for (const int *each = how->point_counts; *each; each++)
        for (size_t j = 0; j < sizeof motions / sizeof *motions && status == AST_OK; j++)
            status = print_row(context, how, *each, motions[j]);
    if (status != AST_OK)
        fprintf(stderr, "asterism-trackers: %s\n", context ? ast_message(context) : "no memory");
    ast_close(context);
    return status != AST_OK;
}
