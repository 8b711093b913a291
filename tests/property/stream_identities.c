/* SPDX-License-Identifier: MIT
 *
 * Identity management: random changes between the frames of random streams, in two ways of running and with a stop
 * after every change. What is checked after each is what the header promises, from a slow record that the test keeps:
 * other identities stay to the bit, ids are never used again, ids that were seen together or were said to be two never
 * merge by themselves, a row is never labelled with an id that it is known not to be, and nothing is left of somebody
 * who is forgotten. */
#include "stream_helpers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 16, PEOPLE = 8, FRAMES = 60, IDS = 2000, SEEDS = 10 };

typedef struct known {
    unsigned char together[IDS][IDS]; /* seen in one frame, split, or parted by a forbidden row */
    unsigned char gone[IDS];
    int32_t next;
} known;

typedef struct snapshot {
    int32_t id;
    size_t means;
    float mean[64 * D];
} snapshot;

typedef struct walk {
    ast_context *context;
    ast_stream_options options;
    ast_stream *stream;
    ast_random random;
    float people[PEOPLE * D];
    known *known;
    bool hops, exclusive;
    uint64_t hash;
    size_t merged, moved;
} walk;

static void draw_unit(ast_random *random, const float *around, double noise, float *x) {
    double square = 0;
    for (int d = 0; d < D; d++) {
        x[d] = (float)((around ? (double)around[d] : 0) + noise * ast_random_normal(random));
        square += (double)x[d] * (double)x[d];
    }
    for (int d = 0; d < D; d++)
        x[d] = (float)((double)x[d] / sqrt(square));
}

static void add_to_hash(walk *w, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        w->hash = (w->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

static void open_walk(walk *w) {
    if (ast_stream_open(&w->stream, w->context, &w->options) != AST_OK)
        fail_msg("%s", ast_message(w->context));
}

/* A stop: the stream goes on from its state. */
static void hop(walk *w) {
    ast_stream_options saved;
    ast_stream_options_init(&saved);
    rules_bytes bytes = rules_save(w->stream);
    ast_stream_close(w->stream);
    assert_int_equal(ast_stream_saved(w->context, bytes.data, bytes.size, &saved), AST_OK);
    assert_true(saved.angle == w->options.angle && saved.lifetime == w->options.lifetime);
    open_walk(w);
    if (ast_stream_load(w->stream, bytes.data, bytes.size) != AST_OK)
        fail_msg("%s", ast_message(w->context));
    rules_bytes again = rules_save(w->stream);
    assert_int_equal(bytes.size, again.size);
    assert_memory_equal(bytes.data, again.data, bytes.size);
    free(bytes.data);
    free(again.data);
}

static size_t take_snapshot(walk *w, snapshot *list) {
    size_t count;
    const ast_identity *ids = ast_stream_list(w->stream, sizeof *ids, &count);
    assert_true(count < IDS);
    for (size_t k = 0; k < count; k++) {
        assert_true(k == 0 || ids[k].id > ids[k - 1].id);
        assert_true(ids[k].means >= 1 && ids[k].means <= 64 && ids[k].id < w->known->next);
        assert_int_equal(w->known->gone[ids[k].id], 0);
        list[k].id = ids[k].id;
        list[k].means = ids[k].means;
        memcpy(list[k].mean, ids[k].mean, ids[k].means * D * sizeof(float));
    }
    return count;
}

/* All but two ids are as they were. */
static void check_others(walk *w, const snapshot *before, size_t count, int32_t one, int32_t other) {
    snapshot *after = malloc(IDS * sizeof *after);
    size_t now = take_snapshot(w, after), at = 0;
    for (size_t k = 0; k < count; k++) {
        if (before[k].id == one || before[k].id == other)
            continue;
        while (at < now && after[at].id < before[k].id)
            at++;
        assert_true(at < now && after[at].id == before[k].id && after[at].means == before[k].means);
        assert_memory_equal(after[at].mean, before[k].mean, before[k].means * D * sizeof(float));
    }
    free(after);
}

static void keep_apart(known *k, int32_t a, int32_t b) {
    k->together[a][b] = k->together[b][a] = 1;
}

/* Whoever was seen with a was seen with b. */
static void unite(known *k, int32_t a, int32_t b) {
    for (int32_t c = 0; c < k->next; c++)
        if (k->together[a][c] && c != b)
            keep_apart(k, b, c);
    k->gone[a] = 1;
}

static void check_frame(walk *w, const int32_t *labels, size_t count) {
    known *k = w->known;
    size_t records;
    const ast_tracked *list = ast_stream_clusters(w->stream, &records);
    for (size_t r = 0; r < records; r++) {
        assert_true(list[r].event != AST_BORN || list[r].id >= k->next);
        k->next = list[r].id >= k->next ? list[r].id + 1 : k->next;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i && w->exclusive; j++) {
            assert_int_not_equal(labels[i], labels[j]);
            keep_apart(k, labels[i], labels[j]);
        }
    for (size_t r = 0; r < records; r++) {
        if (list[r].event == AST_MERGED) {
            w->merged++;
            if (k->together[list[r].id][list[r].into])
                fail_msg("ids %d and %d were two, and merged", list[r].id, list[r].into);
            unite(k, list[r].id, list[r].into);
        } else if (list[r].event == AST_DIED) {
            k->gone[list[r].id] = 1;
        }
    }
}

static void feed(walk *w) {
    float x[PEOPLE * D];
    int32_t labels[PEOPLE];
    size_t count = 0;
    for (int p = 0; p < PEOPLE; p++)
        if (ast_random_below(&w->random, 3) == 0)
            draw_unit(&w->random, w->people + (ptrdiff_t)p * D, 0.22, x + count++ * D);
    ast_points points = ast_points_f4(x, count, D);
    ast_frame frame = {.size = sizeof frame};
    if (ast_stream_step(w->stream, &points, labels, &frame) != AST_OK)
        fail_msg("%s", ast_message(w->context));
    add_to_hash(w, labels, count * sizeof *labels);
    check_frame(w, labels, count);
}

static void check_gone(walk *w, const snapshot *who, const char *name) {
    rules_bytes bytes = rules_save(w->stream);
    for (size_t at = 0; at + 3 * sizeof(float) <= bytes.size; at++) {
        for (size_t m = 0; m < who->means; m++)
            assert_memory_not_equal(bytes.data + at, who->mean + m * D, 3 * sizeof(float));
        assert_true(memcmp(bytes.data + at, name, strlen(name)) != 0);
    }
    free(bytes.data);
}

static void check_status(walk *w, ast_status status) {
    if (status != AST_OK)
        fail_msg("%s", ast_message(w->context));
}

/* Splits off the rows, or without rows the last of the means, which an id with one mean does not have. */
static void split(walk *w, const snapshot *one, const ast_points *rows, const snapshot *before, size_t count) {
    int32_t born = -1;
    if (!rows && one->means == 1) {
        assert_int_not_equal(ast_stream_split(w->stream, one->id, NULL, 0, &born), AST_OK);
        return;
    }
    check_status(w, ast_stream_split(w->stream, one->id, rows, rows ? 0 : one->means - 1, &born));
    assert_int_equal(born, w->known->next++);
    keep_apart(w->known, one->id, born);
    check_others(w, before, count, one->id, one->id);
}

/* One random change, and what it promises. */
static void change(walk *w) {
    snapshot *before = malloc(IDS * sizeof *before);
    size_t count = take_snapshot(w, before), rows = 1 + ast_random_below(&w->random, 3);
    float x[3 * D];
    char name[40];
    int32_t born = -1;
    for (size_t i = 0; i < rows; i++)
        draw_unit(&w->random, w->people + ast_random_below(&w->random, PEOPLE) * D, 0.3, x + i * D);
    ast_points points = ast_points_f4(x, rows, D);
    snapshot one = before[count ? ast_random_below(&w->random, count) : 0];
    snapshot other = before[count ? ast_random_below(&w->random, count) : 0];
    ast_stream *s = w->stream;
    snprintf(name, sizeof name, "who%d-%d", one.id, w->known->next);
    switch (count ? ast_random_below(&w->random, 8) : 7) {
    case 0:
        if (one.id == other.id) {
            assert_int_not_equal(ast_stream_join(s, one.id, other.id), AST_OK);
            break;
        }
        check_status(w, ast_stream_join(s, one.id, other.id));
        unite(w->known, one.id, other.id);
        check_others(w, before, count, one.id, other.id);
        break;
    case 1:
        split(w, &one, &points, before, count);
        break;
    case 2:
        split(w, &one, NULL, before, count);
        break;
    case 3:
        check_status(w, ast_stream_name(s, one.id, name));
        check_status(w, ast_stream_forget(s, one.id));
        w->known->gone[one.id] = 1;
        check_gone(w, &one, name);
        check_others(w, before, count, one.id, one.id);
        assert_int_not_equal(ast_stream_forget(s, one.id), AST_OK);
        break;
    case 4:
        check_status(w, ast_stream_forbid(s, one.id, &points));
        check_others(w, before, count, -1, -1);
        break;
    case 5:
        check_status(w, ast_random_below(&w->random, 2) ? ast_stream_lock(s, one.id) : ast_stream_unlock(s, one.id));
        check_others(w, before, count, -1, -1);
        break;
    case 6:
        check_status(w, ast_stream_name(s, one.id, name));
        check_others(w, before, count, -1, -1);
        if (one.id != other.id)
            assert_int_not_equal(ast_stream_name(s, other.id, name), AST_OK);
        break;
    default:
        check_status(w, ast_stream_enroll(s, &points, NULL, &born));
        assert_int_equal(born, w->known->next++);
        check_others(w, before, count, -1, -1);
    }
    free(before);
    if (w->hops)
        hop(w);
}

static uint64_t run(ast_context *context, uint64_t seed, bool exclusive, bool hops, size_t *merged) {
    walk w = {.context = context, .options = rules_options(D, 50, 40), .hops = hops, .exclusive = exclusive};
    w.known = calloc(1, sizeof *w.known);
    assert_non_null(w.known);
    w.options.exclusive = exclusive;
    w.options.merge_tracked = exclusive || seed % 2;
    open_walk(&w);
    ast_random_seed(&w.random, seed, 140);
    for (int p = 0; p < PEOPLE; p++)
        draw_unit(&w.random, p % 2 ? w.people + (ptrdiff_t)(p - 1) * D : NULL, p % 2 ? 0.25 : 1,
                  w.people + (ptrdiff_t)p * D);
    for (int t = 0; t < FRAMES; t++) {
        feed(&w);
        for (size_t changes = ast_random_below(&w.random, 3); t > 5 && changes > 0; changes--)
            change(&w);
    }
    rules_bytes bytes = rules_save(w.stream);
    add_to_hash(&w, bytes.data, bytes.size);
    free(bytes.data);
    ast_stream_close(w.stream);
    *merged += w.merged;
    free(w.known);
    return w.hash;
}

static void changes_keep_their_promises(void **state) {
    (void)state;
    size_t merged = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            uint64_t one = run(ref_context("base", 1), seed, exclusive, false, &merged);
            uint64_t other = run(ref_context(REF_FAST, 3), seed, exclusive, true, &merged);
            if (one != other)
                fail_msg("seed %llu: stops, threads or the instruction set change the stream",
                         (unsigned long long)seed);
        }
    assert_true(merged > 0);
}

/* ---- The rules, one by one --------------------------------------------------------------------------------------- */

static void put(float *x, double degrees) {
    x[0] = (float)cos(degrees * M_PI / 180);
    x[1] = (float)sin(degrees * M_PI / 180);
    x[2] = 0;
}

static const float *at(double degrees) {
    static float x[8][3];
    static int next;
    next = (next + 1) % 8;
    put(x[next], degrees);
    return x[next];
}

static int32_t label(ast_stream *s, double degrees) {
    int32_t id;
    rules_feed(s, at(degrees), 1, 3, &id);
    return id;
}

static ast_stream *plane(double angle, int exclusive) {
    ast_stream_options options = rules_options(3, angle, 1000);
    options.exclusive = options.merge_tracked = exclusive;
    options.drift = 0.1;
    return rules_open(&options);
}

static int32_t enroll(ast_stream *s, double degrees, const char *name) {
    int32_t id = -1;
    ast_points points = ast_points_f4(at(degrees), 1, 3);
    assert_int_equal(ast_stream_enroll(s, &points, name, &id), AST_OK);
    return id;
}

/* The score is the best of the means, rows that fit none become further ones, and siblings are allowed. */
static void an_id_has_several_means(void **state) {
    (void)state;
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        ast_stream *s = plane(20, exclusive);
        int32_t anna = enroll(s, 0, "Anna"), ben = enroll(s, 5, "Ben"), again = anna;
        assert_true(anna == 0 && ben == 1);
        ast_points profile = ast_points_f4(at(90), 1, 3);
        assert_int_equal(ast_stream_enroll(s, &profile, NULL, &again), AST_OK);
        size_t count;
        const ast_identity *ids = ast_stream_list(s, sizeof *ids, &count);
        assert_true(count == 2 && ids[0].means == 2 && ids[1].means == 1);
        assert_string_equal(ids[0].name, "Anna");
        for (int t = 0; t < 20; t++) {
            assert_int_equal(label(s, 88), anna);
            assert_int_equal(label(s, -3), anna);
            assert_int_equal(label(s, 8), ben);
            assert_int_equal(label(s, 160), 2);
        }
        int32_t born;
        assert_int_equal(ast_stream_split(s, anna, NULL, 1, &born), AST_OK);
        assert_int_equal(born, 3);
        assert_int_equal(label(s, 88), 3);
        assert_int_equal(label(s, -3), anna);
        assert_int_equal(ast_stream_join(s, born, anna), AST_OK);
        assert_int_equal(label(s, 88), anna);
        ast_stream_close(s);
    }
}

static void forbidden_rows_get_another_id(void **state) {
    (void)state;
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        ast_stream *s = plane(30, exclusive);
        int32_t anna = enroll(s, 0, "Anna"), ids[2];
        for (int t = 0; t < 30; t++)
            assert_int_equal(label(s, t % 3 - 1), anna);
        assert_int_equal(label(s, 20), anna);
        ast_points row = ast_points_f4(at(22), 1, 3);
        assert_int_equal(ast_stream_forbid(s, anna, &row), AST_OK);
        for (int t = 0; t < 20; t++) {
            int32_t other = label(s, 20);
            assert_int_equal(other, 1);
            assert_int_equal(label(s, 1), anna);
        }
        const float both[] = {at(21)[0], at(21)[1], 0, at(19)[0], at(19)[1], 0};
        rules_feed(s, both, 2, 3, ids);
        assert_true(ids[0] != anna && ids[1] != anna);
        ast_points points = ast_points_f4(at(22), 1, 3);
        assert_int_equal(ast_stream_predict(s, &points, ids), AST_OK);
        assert_true(ids[0] != anna && ids[0] >= 0);
        ast_stream_close(s);
    }
}

static void a_locked_mean_stays(void **state) {
    (void)state;
    ast_stream *s = plane(30, 1);
    int32_t anna = enroll(s, 0, "Anna");
    assert_int_equal(ast_stream_lock(s, anna), AST_OK);
    for (int t = 0; t < 50; t++)
        assert_int_equal(label(s, 15), anna);
    size_t count;
    const ast_identity *ids = ast_stream_list(s, sizeof *ids, &count);
    assert_true(ids[0].mean[0] == 1 && ids[0].mean[1] == 0 && ids[0].locked == 1);
    assert_int_equal(ast_stream_unlock(s, anna), AST_OK);
    for (int t = 0; t < 50; t++)
        label(s, 15);
    ids = ast_stream_list(s, sizeof *ids, &count);
    assert_true(ids[0].mean[1] > 0.05f && ids[0].locked == 0);
    ast_stream_close(s);
}

static void split_rows_leave_the_mean(void **state) {
    (void)state;
    ast_stream *s = plane(60, 0);
    int32_t both = enroll(s, 0, NULL), born, id;
    for (int t = 0; t < 10; t++) {
        id = both;
        ast_points rows = ast_points_f4(at(t % 2 ? 0 : 40), 1, 3);
        assert_int_equal(ast_stream_enroll(s, &rows, NULL, &id), AST_OK);
    }
    float x[5 * 3];
    for (int i = 0; i < 5; i++)
        put(x + i * 3, 40);
    ast_points rows = ast_points_f4(x, 5, 3);
    assert_int_equal(ast_stream_split(s, both, &rows, 0, &born), AST_OK);
    size_t count;
    const ast_identity *ids = ast_stream_list(s, sizeof *ids, &count);
    assert_true(count == 2 && fabsf(ids[0].mean[1]) < 1e-3f && fabsf(ids[1].mean[1] - x[1]) < 1e-3f);
    ast_stream_close(s);
}

static void settings_change_while_it_runs(void **state) {
    (void)state;
    ast_stream *s = plane(30, 0);
    ast_stream_options options = rules_options(3, 10, 3);
    int32_t anna = enroll(s, 0, "Anna");
    label(s, 0);
    label(s, 0);
    assert_int_equal(label(s, 20), anna);
    assert_int_equal(ast_stream_set(s, &options), AST_OK);
    assert_int_equal(label(s, 60), 1);
    for (int t = 0; t < 4; t++)
        assert_int_equal(label(s, 60), 1);
    size_t count;
    ast_stream_list(s, sizeof(ast_identity), &count);
    assert_int_equal(count, 1); /* after the new lifetime */
    options.angle = 190;
    assert_int_equal(ast_stream_set(s, &options), AST_BAD_OPTION);
    const ast_identity_change *log = ast_stream_changes(s, sizeof *log, &count);
    assert_true(count == 2 && log[0].kind == AST_IDENTITY_ENROLLED && log[1].kind == AST_IDENTITY_SET);
    assert_int_equal(log[1].frame, 3);
    ast_stream_close(s);
}

static void mistakes_have_a_sentence(void **state) {
    (void)state;
    ast_stream *s = plane(30, 0);
    int32_t anna = enroll(s, 0, "Anna"), id = -1;
    const float wrong[] = {1, 0, 0, 0, NAN, 0, 0};
    ast_points other = ast_points_f4(wrong, 1, 4), missing = ast_points_f4(wrong, 2, 3),
               none = ast_points_f4(wrong, 0, 3);
    rules_bytes before = rules_save(s);
    assert_int_equal(ast_stream_enroll(s, &other, NULL, &id), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(rules_context()), "4 components"));
    assert_int_equal(ast_stream_enroll(s, &missing, NULL, &id), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(rules_context()), "row 2"));
    assert_int_equal(ast_stream_forbid(s, anna, &none), AST_BAD_DATA);
    assert_int_equal(ast_stream_forget(s, 5), AST_BAD_DATA);
    assert_int_equal(ast_stream_join(s, anna, anna), AST_BAD_OPTION);
    assert_int_equal(ast_stream_name(s, anna, "two\nlines"), AST_BAD_OPTION);
    assert_int_equal(ast_stream_name(NULL, anna, "x"), AST_BAD_OPTION);
    rules_check_state(s, &before, "by a mistake");
    free(before.data);
    ast_stream_close(s);
    ast_stream_options options = rules_options(3, 30, 0);
    s = rules_open(&options);
    assert_int_equal(ast_stream_lock(s, 0), AST_BAD_OPTION);
    ast_stream_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_keep_their_promises),   cmocka_unit_test(an_id_has_several_means),
        cmocka_unit_test(forbidden_rows_get_another_id), cmocka_unit_test(a_locked_mean_stays),
        cmocka_unit_test(split_rows_leave_the_mean),     cmocka_unit_test(settings_change_while_it_runs),
        cmocka_unit_test(mistakes_have_a_sentence),
    };
    return cmocka_run_group_tests_name("identities", tests, NULL, ref_contexts_end);
}
