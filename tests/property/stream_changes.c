/* SPDX-License-Identifier: MIT
 *
 * A state with changes behind it is the state: streams of many kinds are saved by their changes, after every frame or
 * after several, and what is loaded from that equals, to the bit, a stream that was never saved. Damaged and forged
 * changes are refused, or do no harm. */
#include "stream_helpers.h"

#include "checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 90, SHORT = 5, LONG = 24 };

/* A journal as the command keeps it: bytes of a state, and of changes. */
typedef struct journal {
    unsigned char *data;
    size_t size, wholes, changes;
} journal;

static int gather(void *data, const void *bytes, size_t size) {
    journal *j = data;
    j->data = realloc(j->data, j->size + size);
    assert_non_null(j->data);
    memcpy(j->data + j->size, bytes, size);
    j->size += size;
    return 0;
}

static void save(journal *j, ast_stream *stream) {
    size_t size;
    const void *changes = ast_stream_save_changes(stream, &size);
    if (changes) {
        gather(j, changes, size);
        j->changes++;
        return;
    }
    assert_int_equal(size, 0);
    j->size = 0;
    assert_int_equal(ast_stream_write(stream, gather, j), AST_OK);
    j->wholes++;
}

static void check_loads(const journal *j, const ast_stream_options *options, ast_stream *twin, int frame) {
    ast_stream *loaded = rules_open(options);
    rules_bytes expected = rules_save(twin);
    if (ast_stream_load(loaded, j->data, j->size) != AST_OK)
        fail_msg("frame %d: %s", frame, ast_message(rules_context()));
    rules_check_state(loaded, &expected, "on its way through a journal");
    free(expected.data);
    ast_stream_close(loaded);
}

/* ---- Kinds of streams -------------------------------------------------------------------------------------------- */

typedef struct kind {
    const char *name;
    ast_stream_options options;
    size_t people, most; /* rows of a frame */
    double noise;
    int every; /* frames between two saves */
    int users; /* how often they change something: every so many frames; 0: never */
} kind;

/* Rows of people who are in view; each at most once. Some frames are empty. */
static size_t draw_frame(const kind *k, const float *people, ast_random *random, float *x) {
    const size_t dimension = k->options.dimension, first = ast_random_below(random, k->people);
    size_t count = ast_random_below(random, 9) ? 1 + ast_random_below(random, k->most) : 0;
    for (size_t i = 0; i < count; i++) {
        const float *who = people + (first + i) % k->people * dimension;
        for (size_t d = 0; d < dimension; d++)
            x[i * dimension + d] = who[d] + (float)(k->noise * ast_random_normal(random));
    }
    return count;
}

/* The same change of both streams. */
static void change(ast_stream *stream, int turn, const float *row, size_t dimension) {
    size_t count;
    const ast_tracked *list = ast_stream_clusters(stream, &count);
    ast_points one = ast_points_f4(row, 1, dimension);
    int32_t a = count > 2 ? list[count / 2].id : -1, b = count > 2 ? list[1].id : -1, born = -1;
    char name[20];
    snprintf(name, sizeof name, "name %d", turn);
    if (turn % 5 == 0)
        (void)ast_stream_name(stream, a, name);
    else if (turn % 5 == 1)
        (void)ast_stream_forbid(stream, a, &one);
    else if (turn % 5 == 2)
        (void)ast_stream_enroll(stream, &one, NULL, &a);
    else if (turn % 5 == 3)
        (void)ast_stream_split(stream, a, &one, 0, &born);
    else
        (void)ast_stream_forget(stream, b);
}

static journal follow(const kind *k, uint64_t seed, int frames) {
    const size_t dimension = k->options.dimension;
    float *people = ref_take(k->people * dimension, sizeof *people), *x = ref_take(MOST * dimension, sizeof *x);
    ast_stream *stream = rules_open(&k->options), *twin = rules_open(&k->options);
    ast_random random;
    journal j = {0};
    ast_random_seed(&random, seed, 3);
    for (size_t i = 0; i < k->people * dimension; i++)
        people[i] = (float)ast_random_normal(&random);
    for (int t = 0; t < frames; t++) {
        int32_t labels[MOST], expected[MOST];
        size_t count = draw_frame(k, people, &random, x);
        rules_feed(stream, x, count, dimension, labels);
        rules_feed(twin, x, count, dimension, expected);
        assert_memory_equal(labels, expected, count * sizeof *labels);
        if (k->users && t % k->users == k->users - 1) {
            change(stream, t / k->users, x, dimension);
            change(twin, t / k->users, x, dimension);
        }
        if (t % k->every == k->every - 1) {
            save(&j, stream);
            check_loads(&j, &k->options, twin, t);
        }
    }
    ast_stream_close(stream);
    ast_stream_close(twin);
    free(people);
    free(x);
    return j;
}

static kind standard(const char *name, size_t dimension, double angle, uint32_t lifetime) {
    return (kind){.name = name,
                  .options = rules_options(dimension, angle, lifetime),
                  .people = PEOPLE,
                  .most = 6,
                  .noise = .35,
                  .every = 1};
}

static void journals_are_states(void **state) {
    (void)state;
    kind kinds[8];
    kinds[0] = standard("nearest", LONG, 50, 1000);
    kinds[1] = standard("exclusive, agreeing", LONG, 60, 1000);
    kinds[1].options.exclusive = kinds[1].options.merge_tracked = 1, kinds[1].noise = .9;
    kinds[2] = standard("ids that die", LONG, 50, 12);
    kinds[3] = standard("pieces that merge", SHORT, 40, 60);
    kinds[3].options.merge_tracked = 1, kinds[3].people = 6;
    kinds[4] = standard("born after two frames", LONG, 50, 30);
    kinds[4].options.born_after = 2, kinds[4].every = 3;
    kinds[5] = standard("a limit", LONG, 50, 200);
    kinds[5].options.max_clusters = 20;
    kinds[6] = standard("users", LONG, 60, 100);
    kinds[6].options.exclusive = kinds[6].options.merge_tracked = 1, kinds[6].users = 9, kinds[6].noise = .7;
    kinds[7] = standard("the paper's", LONG, 50, 40);
    kinds[7].options.beta = 50, kinds[7].every = 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        journal j = follow(&kinds[i], i, 150);
        if (j.changes < 4 * j.wholes)
            fail_msg("%s: %zu changes, %zu whole states", kinds[i].name, j.changes, j.wholes);
        free(j.data);
    }
}

/* A frame of few rows costs few means, however many there are. */
static void changes_are_small(void **state) {
    (void)state;
    kind k = standard("many", LONG, 50, 100000);
    k.people = 300;
    journal j = follow(&k, 5, 300);
    size_t whole, last;
    ast_stream *stream = rules_open(&k.options);
    float x[2 * LONG] = {1};
    assert_int_equal(ast_stream_load(stream, j.data, j.size), AST_OK);
    rules_feed(stream, x, 1, LONG, NULL);
    assert_non_null(ast_stream_save_changes(stream, &last));
    assert_non_null(ast_stream_save(stream, &whole));
    assert_true(whole > 100 * 2 * LONG * sizeof(float) && last < whole / 40);
    rules_feed(stream, x, 1, LONG, NULL);
    assert_non_null(ast_stream_save_changes(stream, &last));
    assert_null(ast_stream_save_changes(NULL, &last));
    ast_stream_close(stream);
    free(j.data);
}

/* Calls that are no frames are followed by whole states. */
static void changes_begin_with_a_state(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1);
    size_t size = 9;
    assert_null(ast_stream_save_changes(stream, &size));
    assert_int_equal(size, 0);
    assert_non_null(ast_stream_save(stream, &size));
    assert_non_null(ast_stream_save_changes(stream, &size));
    assert_int_equal(ast_stream_name(stream, 0, "Ada"), AST_OK);
    assert_null(ast_stream_save_changes(stream, &size));
    assert_non_null(ast_stream_save(stream, &size));
    assert_int_equal(ast_stream_reset(stream), AST_OK);
    assert_null(ast_stream_save_changes(stream, &size));
    options.lifetime = 0;
    ast_stream *brief = rules_used(&options, 1);
    assert_non_null(ast_stream_save(brief, &size));
    assert_null(ast_stream_save_changes(brief, &size));
    ast_stream_close(stream);
    ast_stream_close(brief);
}

static int stop(void *data, const void *bytes, size_t size) {
    int *left = data;
    (void)bytes;
    (void)size;
    return (*left)-- == 0;
}

static void writing_can_be_stopped(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1);
    size_t size;
    assert_non_null(ast_stream_save(stream, &size));
    for (int parts = 0; parts < 5; parts++) {
        int left = parts;
        assert_int_equal(ast_stream_write(stream, stop, &left), AST_CANCELLED);
        assert_null(ast_stream_save_changes(stream, &size)); /* of what? */
    }
    assert_int_equal(ast_stream_write(stream, NULL, NULL), AST_BAD_OPTION);
    journal j = {0};
    rules_bytes expected = rules_save(stream);
    assert_int_equal(ast_stream_write(stream, gather, &j), AST_OK);
    assert_int_equal(j.size, expected.size);
    assert_memory_equal(j.data, expected.data, j.size);
    free(expected.data);
    free(j.data);
    ast_stream_close(stream);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------ */

/* Where the objects of a journal begin: the state, then each change; ends with the size. */
static size_t list_objects(const journal *j, size_t *starts, size_t most) {
    size_t count = 0;
    for (size_t at = 0; at < j->size && count + 1 < most;) {
        uint64_t size;
        starts[count++] = at;
        memcpy(&size, j->data + at + 16, sizeof size);
        at += (size_t)size;
    }
    starts[count] = j->size;
    return count;
}

static void check_refused(const journal *j, const kind *k, const char *what, size_t where) {
    ast_stream *other = rules_open(&k->options);
    rules_bytes before = rules_save(other);
    ast_status status = ast_stream_load(other, j->data, j->size);
    if (status != AST_BAD_DATA || strlen(ast_message(rules_context())) < 10)
        fail_msg("%s at %zu: status %d, \"%s\"", what, where, status, ast_message(rules_context()));
    rules_check_state(other, &before, what);
    free(before.data);
    ast_stream_close(other);
}

static void damaged_journals_are_refused(void **state) {
    (void)state;
    kind k = standard("few", SHORT, 40, 30);
    k.people = 5;
    journal j = follow(&k, 7, 12), cut = {0};
    size_t starts[40], count = list_objects(&j, starts, 40);
    assert_true(count > 5);
    for (size_t at = starts[1]; at < j.size; at++) {
        j.data[at] ^= 0x10;
        check_refused(&j, &k, "a flipped bit", at);
        j.data[at] ^= 0x10;
    }
    for (size_t o = 1; o < count; o++) {
        for (size_t size = starts[o] + 1; size < starts[o + 1]; size += 13) {
            cut.data = ref_take(size, 1);
            cut.size = size;
            memcpy(cut.data, j.data, size);
            check_refused(&cut, &k, "a part of changes", size);
            free(cut.data);
        }
    }
    size_t one = starts[2] - starts[1];
    cut.data = ref_take(j.size, 1);
    cut.size = j.size - one; /* without the first */
    memcpy(cut.data, j.data, starts[1]);
    memcpy(cut.data + starts[1], j.data + starts[2], j.size - starts[2]);
    check_refused(&cut, &k, "changes that are missing", 1);
    free(cut.data);
    free(j.data);
}

/* Changes whose checksum fits, but which no stream makes: every number is replaced by others in turn. Whatever is taken
 * can be stepped on, and saved. */
static void forged_changes_do_no_harm(void **state) {
    (void)state;
    static const uint64_t odd[] = {
        0, 1, 2, 7, UINT32_MAX, INT32_MAX, UINT64_MAX, 0x7ff8000000000000u, 0x7e37e43c8800759cu, 0x3f8000003f800000u};
    kind k = standard("few", SHORT, 40, 30);
    k.people = 5;
    journal j = follow(&k, 8, 8);
    size_t starts[40], count = list_objects(&j, starts, 40), taken = 0, refused = 0;
    float x[4 * SHORT] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
    int32_t labels[4];
    ast_points points = ast_points_f4(x, 4, SHORT);
    unsigned char *bytes = ref_take(j.size, 1);
    size_t from = starts[count - 2], to = starts[count - 1]; /* not the last one: what follows must bear it too */
    for (size_t at = from + 24; at + 16 <= to; at += 4) {
        for (size_t v = 0; v < sizeof odd / sizeof *odd; v++) {
            memcpy(bytes, j.data, j.size);
            memcpy(bytes + at, &odd[v], at % 8 ? 4 : 8);
            uint64_t sum = ast_checksum(bytes + from, to - from - sizeof sum);
            memcpy(bytes + to - sizeof sum, &sum, sizeof sum);
            ast_stream *other = rules_open(&k.options);
            for (size_t end = to; end <= j.size; end += j.size - to) { /* without and with what follows */
                bool good = ast_stream_load(other, bytes, end) == AST_OK;
                taken += good;
                refused += !good;
                for (int t = 0; t < 2 && good; t++)
                    (void)ast_stream_step(other, &points, labels, &(ast_frame){.size = sizeof(ast_frame)});
                assert_non_null(ast_stream_save(other, &(size_t){0}));
            }
            ast_stream_close(other);
        }
    }
    assert_true(taken > 20 && refused > 200);
    free(bytes);
    free(j.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(journals_are_states),          cmocka_unit_test(changes_are_small),
        cmocka_unit_test(changes_begin_with_a_state),   cmocka_unit_test(writing_can_be_stopped),
        cmocka_unit_test(damaged_journals_are_refused), cmocka_unit_test(forged_changes_do_no_harm),
    };
    return cmocka_run_group_tests_name("changes of states of streams", tests, NULL, ref_contexts_end);
}
