/* SPDX-License-Identifier: MIT
 *
 * Streams of images: frames of thousands of neighbours that share a direction, with holes, which the first pass loads
 * and labels in one sweep, and with late rows. Every way to run must give, to the bit, what points visited one after
 * the other give; that those follow the rules is what stream.c checks. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 14000, FRAMES = 7, DIRECTIONS = 6, RECORDS = 2048 };

/* What a stream said of a frame. */
typedef struct answer {
    int32_t labels[MOST];
    ast_frame frame;
    ast_tracked records[RECORDS];
    float means[RECORDS * 3];
    size_t count;
} answer;

typedef struct scene {
    ast_stream_options options;
    size_t counts[FRAMES];
    float *rows[FRAMES];   /* (count, 3) */
    double *wide[FRAMES];  /* the same in another type, or NULL */
    uint8_t *late[FRAMES]; /* (count), or NULL */
} scene;

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

static void normal(ast_random *random, const double *at, double spread, float *x) {
    double v[3], squared = 0;
    for (int d = 0; d < 3; d++) {
        v[d] = at[d] + spread * (2 * ast_random_uniform(random) - 1);
        squared += v[d] * v[d];
    }
    for (int d = 0; d < 3; d++)
        x[d] = (float)(v[d] / sqrt(squared));
}

static void spoil(ast_random *random, float *x) {
    static const float odd[][3] = {{0, 0, 0}, {0, 0, 2}, {NAN, 0, 1}, {0.6f, 0.8f, 0.001f}, {1e-30f, 0, 0}};
    memcpy(x, odd[ast_random_below(random, 5)], sizeof odd[0]);
}

/* Runs of neighbours around one of the visible directions; `odd`: one row in so many is no unit vector, 0: none is. */
static void draw(ast_random *random, double axes[DIRECTIONS][3], unsigned visible, size_t odd, float *rows,
                 size_t count) {
    size_t left = 0, k = 0;
    bool hole = false;
    double spread = 0;
    for (size_t i = 0; i < count; i++, left--) {
        if (left == 0) {
            left = 1 + ast_random_below(random, ast_random_below(random, 3) ? 300 : 6);
            do
                k = ast_random_below(random, DIRECTIONS);
            while (!(visible >> k & 1));
            hole = ast_random_below(random, 6) == 0;
            spread = 0.4 * ast_random_uniform(random);
        }
        normal(random, axes[k], spread, rows + 3 * i);
        for (int d = 0; d < 3 && hole; d++)
            rows[3 * i + (size_t)d] = NAN;
        if (odd && ast_random_below(random, odd) == 0)
            spoil(random, rows + 3 * i);
    }
}

/* Late rows alone and in runs, some of them holes, some of another length; in some frames all rows. */
static uint8_t *draw_late(ast_random *random, float *rows, size_t count) {
    uint8_t *late = malloc(count + 1);
    size_t left = 0, all = ast_random_below(random, 12);
    bool is_late = false;
    for (size_t i = 0; i < count; i++, left--) {
        if (left == 0) {
            left = 1 + ast_random_below(random, ast_random_below(random, 2) ? 200 : 4);
            is_late = all == 0 || ast_random_below(random, 3) == 0;
        }
        late[i] = is_late ? (uint8_t)(1 + ast_random_below(random, 255)) : 0;
        for (int d = 0; d < 3 && late[i] == 1; d++)
            rows[3 * i + (size_t)d] *= 1.00001f;
    }
    return late;
}

static size_t frame_size(ast_random *random) {
    static const size_t edges[] = {0, 1, 255, 256, 257, 4095, 4096, 4097, 8192, 8448};
    return ast_random_below(random, 3) ? 1 + ast_random_below(random, MOST) : edges[ast_random_below(random, 10)];
}

static void choose_options(ast_random *random, ast_stream_options *options) {
    static const ast_stream_method methods[] = {AST_STREAM_DDP, AST_STREAM_DDP, AST_STREAM_DDP, AST_STREAM_SDP,
                                                AST_STREAM_DP};
    ast_stream_options_init(options);
    options->dimension = 3;
    options->method = methods[ast_random_below(random, 5)];
    options->angle = 20 + (double)ast_random_below(random, 60);
    options->lifetime = 1 + (uint32_t)ast_random_below(random, 30);
    options->axial = ast_random_below(random, 4) == 0;
    options->revive_near = ast_random_below(random, 2) != 0;
    options->max_iterations = 1 + (int)ast_random_below(random, 12);
}

static scene make_scene(uint64_t seed) {
    scene s = {0};
    ast_random random;
    double axes[DIRECTIONS][3];
    ast_random_seed(&random, seed, 77);
    choose_options(&random, &s.options);
    for (int k = 0; k < DIRECTIONS; k++)
        for (int d = 0; d < 3; d++)
            axes[k][d] = (k % 3 == d) * (k < 3 ? 1 : -1) + 0.2 * ast_random_uniform(&random);
    for (int f = 0; f < FRAMES; f++) {
        unsigned visible = (unsigned)(1 + ast_random_below(&random, (1 << DIRECTIONS) - 1));
        size_t odd = ast_random_below(&random, 3) ? 0 : 1 + ast_random_below(&random, 3000);
        s.counts[f] = frame_size(&random);
        s.rows[f] = malloc((s.counts[f] * 3 + 1) * sizeof(float));
        draw(&random, axes, visible, odd, s.rows[f], s.counts[f]);
        for (int k = 0; k < DIRECTIONS; k++)
            for (int d = 0; d < 3; d++)
                axes[k][d] += 0.05 * ast_random_uniform(&random);
        s.late[f] = seed % 2 && ast_random_below(&random, 4) ? draw_late(&random, s.rows[f], s.counts[f]) : NULL;
        s.wide[f] = ast_random_below(&random, 8) ? NULL : malloc((s.counts[f] * 3 + 1) * sizeof(double));
        for (size_t i = 0; s.wide[f] && i < 3 * s.counts[f]; i++)
            s.wide[f][i] = s.rows[f][i];
    }
    return s;
}

static void free_scene(scene *s) {
    for (int f = 0; f < FRAMES; f++) {
        free(s->rows[f]);
        free(s->wide[f]);
        free(s->late[f]);
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static ast_stream *open_stream(const scene *s, const ref_setup *setup) {
    ast_stream_options options = s->options;
    ast_stream *stream;
    options.parallel = setup->parallel;
    options.bounds = setup->bounds;
    assert_int_equal(ast_stream_open(&stream, ref_context(setup->isa, setup->threads), &options), AST_OK);
    return stream;
}

static void step(ast_stream *stream, const scene *s, int f, answer *a) {
    ast_points points = s->wide[f] ? ast_points_dense(s->wide[f], AST_F8, sizeof(double), s->counts[f], 3)
                                   : ast_points_f4(s->rows[f], s->counts[f], 3);
    points.late = s->late[f];
    a->frame = (ast_frame){.size = sizeof a->frame};
    assert_int_equal(ast_stream_step(stream, &points, a->labels, &a->frame), AST_OK);
    const ast_tracked *records = ast_stream_clusters(stream, &a->count);
    assert_true(a->count <= RECORDS);
    for (size_t r = 0; r < a->count; r++) {
        a->records[r] = records[r];
        memcpy(a->means + 3 * r, records[r].mean, 3 * sizeof *a->means);
    }
}

static bool same_report(const ast_frame *a, const ast_frame *b) {
    return a->frame == b->frame && a->points == b->points && a->missing == b->missing && a->clusters == b->clusters &&
           a->iterations == b->iterations && a->converged == b->converged && a->objective == b->objective &&
           a->late == b->late && a->unassigned == b->unassigned;
}

static bool same_records(const answer *a, const answer *b) {
    bool same = a->count == b->count && memcmp(a->means, b->means, a->count * 3 * sizeof *a->means) == 0;
    for (size_t r = 0; same && r < a->count; r++)
        same = a->records[r].id == b->records[r].id && a->records[r].event == b->records[r].event &&
               a->records[r].age == b->records[r].age && a->records[r].count == b->records[r].count &&
               a->records[r].weight == b->records[r].weight;
    return same;
}

static void compare(const scene *s, uint64_t seed, int f, const answer *got, const answer *right,
                    const ref_setup *setup) {
    for (size_t i = 0; i < s->counts[f]; i++)
        if (got->labels[i] != right->labels[i])
            fail_msg("seed %llu, frame %d, %s: point %zu of %zu has label %d, should be %d", (unsigned long long)seed,
                     f, ref_setup_text(setup), i, s->counts[f], got->labels[i], right->labels[i]);
    if (!same_report(&got->frame, &right->frame) || !same_records(got, right))
        fail_msg("seed %llu, frame %d, %s: same labels, but passes %d and %d, missing %zu and %zu, objective %a and %a",
                 (unsigned long long)seed, f, ref_setup_text(setup), got->frame.iterations, right->frame.iterations,
                 got->frame.missing, right->frame.missing, got->frame.objective, right->frame.objective);
}

static void check_scene(uint64_t seed, ref_size size, size_t ways) {
    (void)size;
    scene s = make_scene(seed);
    static answer right[FRAMES], got;
    ast_random random;
    const ref_setup serial = {"base", 1, AST_SERIAL, 0};
    ast_stream *stream = open_stream(&s, &serial);
    for (int f = 0; f < FRAMES; f++)
        step(stream, &s, f, &right[f]);
    ast_stream_close(stream);
    ast_random_seed(&random, seed, 78);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&random, way, ways);
        stream = open_stream(&s, &setup);
        for (int f = 0; f < FRAMES; f++) {
            step(stream, &s, f, &got);
            compare(&s, seed, f, &got, &right[f], &setup);
        }
        ast_stream_close(stream);
    }
    free_scene(&s);
}

static void images_are_as_one_by_one(void **state) {
    (void)state;
    ref_check_seeds(check_scene, REF_SMALL, 24, 6);
}

/* ---- Late rows --------------------------------------------------------------------------------------------------- */

/* The same scene with holes where rows are late. */
static scene without_late(const scene *s) {
    scene holes = {.options = s->options};
    for (int f = 0; f < FRAMES; f++) {
        size_t size = s->counts[f] * 3 * sizeof(float);
        holes.counts[f] = s->counts[f];
        holes.rows[f] = malloc(size + sizeof(float));
        memcpy(holes.rows[f], s->rows[f], size);
        for (size_t i = 0; s->late[f] && i < 3 * s->counts[f]; i++)
            holes.rows[f][i] = s->late[f][i / 3] ? NAN : holes.rows[f][i];
        holes.wide[f] = s->wide[f] ? malloc(2 * size + sizeof(double)) : NULL;
        for (size_t i = 0; s->wide[f] && i < 3 * s->counts[f]; i++)
            holes.wide[f][i] = holes.rows[f][i];
    }
    return holes;
}

/* To everything but their own labels and counts, late rows are holes. Returns how many were labelled. */
static size_t compare_with_holes(const scene *s, uint64_t seed, int f, const answer *late, const answer *holes) {
    for (size_t i = 0; i < s->counts[f]; i++)
        if (!(s->late[f] && s->late[f][i]) && late->labels[i] != holes->labels[i])
            fail_msg("seed %llu, frame %d: point %zu of %zu has label %d, should be %d", (unsigned long long)seed, f, i,
                     s->counts[f], late->labels[i], holes->labels[i]);
    assert_int_equal(late->frame.iterations, holes->frame.iterations);
    assert_int_equal(late->frame.missing + late->frame.late, holes->frame.missing);
    assert_true(late->frame.objective == holes->frame.objective);
    assert_int_equal(late->count, holes->count);
    assert_memory_equal(late->means, holes->means, late->count * 3 * sizeof *late->means);
    return late->frame.late;
}

static void late_rows_are_holes_to_others(void **state) {
    (void)state;
    static answer late, holes;
    size_t labelled = 0;
    for (uint64_t seed = 1; seed <= 23; seed += 2) {
        scene s = make_scene(seed), other = without_late(&s);
        const ref_setup serial = {"base", 1, AST_SERIAL, 0}, fused = {REF_FAST, 1 + (int)seed % 4, AST_ORDERED, 1};
        ast_stream *a = open_stream(&s, &fused), *b = open_stream(&other, &serial);
        for (int f = 0; f < FRAMES; f++) {
            step(a, &s, f, &late);
            step(b, &other, f, &holes);
            labelled += compare_with_holes(&s, seed, f, &late, &holes);
        }
        ast_stream_close(a);
        ast_stream_close(b);
        free_scene(&s);
        free_scene(&other);
    }
    assert_true(labelled > 10000);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

/* Feeds the frame with two infinities in it: the first row is named, whoever finds one first. */
static void check_refused(ast_stream *stream, scene *s, int f, const ref_setup *setup) {
    static int32_t labels[MOST];
    static const float bad[2][3] = {{-INFINITY, 0, 0}, {0, INFINITY, 1}};
    size_t count = s->counts[f], rows[2] = {count / 3, count - 1};
    float before[2][3];
    char sentence[64];
    ast_frame frame = {.size = sizeof frame};
    ast_points points = ast_points_f4(s->rows[f], count, 3);
    points.late = s->late[f]; /* an infinity is refused in a late row too */
    for (int i = 0; i < 2; i++) {
        memcpy(before[i], s->rows[f] + 3 * rows[i], sizeof before[i]);
        memcpy(s->rows[f] + 3 * rows[i], bad[i], sizeof bad[i]);
    }
    assert_int_equal(ast_stream_step(stream, &points, labels, &frame), AST_BAD_DATA);
    const char *message = ast_message(ref_context(setup->isa, setup->threads));
    snprintf(sentence, sizeof sentence, "row %zu ", rows[0] + 1);
    if (strncmp(message, sentence, strlen(sentence)) != 0)
        fail_msg("%s: '%s' should name row %zu", ref_setup_text(setup), message, rows[0] + 1);
    for (int i = 1; i >= 0; i--)
        memcpy(s->rows[f] + 3 * rows[i], before[i], sizeof before[i]);
}

static void infinities_are_refused(void **state) {
    (void)state;
    static answer right, got;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        scene s = make_scene(seed);
        ref_setup setup = ref_setup_number((size_t)seed * 7 % REF_SETUPS);
        ast_stream *stream = open_stream(&s, &setup), *other = open_stream(&s, &setup);
        for (int f = 0; f < FRAMES; f++) {
            step(other, &s, f, &right);
            if (s.counts[f] > 2 && !s.wide[f])
                check_refused(stream, &s, f, &setup);
            step(stream, &s, f, &got); /* the stream is as it was */
            compare(&s, seed, f, &got, &right, &setup);
        }
        ast_stream_close(stream);
        ast_stream_close(other);
        free_scene(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(images_are_as_one_by_one),
                                       cmocka_unit_test(late_rows_are_holes_to_others),
                                       cmocka_unit_test(infinities_are_refused)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
