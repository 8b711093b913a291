/* SPDX-License-Identifier: MIT
 *
 * Calls of streams and identities, for fuzz_api.c. */
#ifndef ASTERISM_TESTS_FUZZ_API_STREAM_H
#define ASTERISM_TESTS_FUZZ_API_STREAM_H

#include "fuzz_api.h"

static void open_stream(machine *m) {
    ast_stream_options o;
    ast_stream_options_init(&o);
    o.dimension = now_and_then(m) ? count(m) : m->points.dimension;
    o.angle = real(m);
    o.method = (ast_stream_method)(pick(m, 8) < 6 ? 0 : whole(m) % 4);
    o.drift = now_and_then(m) ? real(m) : 1;
    o.beta = now_and_then(m) ? real(m) : (double)NAN;
    o.lifetime = pick(m, 4) == 3 ? (uint32_t)whole(m) : 3;
    o.max_iterations = now_and_then(m) ? whole(m) : 10;
    o.max_clusters = now_and_then(m) ? count(m) : 0;
    o.axial = now_and_then(m);
    o.exclusive = pick(m, 4) == 3;
    o.merge_tracked = pick(m, 4) == 3;
    o.rigid = now_and_then(m);
    o.score = (ast_stream_score)pick(m, 4);
    o.min_quality = now_and_then(m) ? real(m) : 0;
    o.born_after = now_and_then(m) ? (uint32_t)whole(m) : 1;
    o.min_size = now_and_then(m) ? count(m) : 1;
    o.center = now_and_then(m) ? m->means : NULL;
    const char *problem = ast_stream_options_problem(&o);
    bool good = outcome(m, ast_stream_open(&m->stream, m->context, &o));
    require(good == (m->stream != NULL) && (!good || !problem));
    m->stream_dimension = o.dimension;
}

static void step_stream(machine *m) {
    ast_frame frame = {.size = now_and_then(m) ? count(m) : sizeof frame};
    int32_t labels[MOST_ROWS];
    untouch(labels);
    bool good = outcome(m, ast_stream_step(m->stream, &m->points, labels, &frame));
    check_labels(labels, m->points.count, good, INT32_MAX);
    size_t tracked;
    float similarity[MOST_ROWS];
    if (good) {
        outcome(m, ast_stream_compare(m->stream, &m->points, labels, similarity, NULL, NULL));
        const ast_tracked *list = ast_stream_clusters(m->stream, &tracked);
        for (size_t i = 1; i < tracked; i++)
            require(list[i - 1].id < list[i].id);
    }
}

static void save_stream(machine *m) {
    size_t size;
    const void *state = ast_stream_save(m->stream, &size);
    uint8_t *copy = state ? malloc(size) : NULL;
    if (copy) {
        memcpy(copy, state, size);
        if (now_and_then(m))
            copy[pick(m, 256) * 7919 % size] ^= 1;
        outcome(m, ast_stream_load(m->stream, copy, size - now_and_then(m)));
    }
    free(copy);
}

static void change_identity(machine *m) {
    static const char *const names[] = {NULL, "", "Ada", "Bea", "a name\nwith a line", "\x80\xff"};
    int32_t id = whole(m), other = whole(m);
    ast_stream_options o;
    switch (pick(m, 10)) {
    case 0:
        outcome(m, ast_stream_name(m->stream, id, names[pick(m, 6)]));
        break;
    case 1:
        outcome(m, ast_stream_enroll(m->stream, &m->points, pick(m, 2) ? names[pick(m, 6)] : NULL, &id));
        break;
    case 2:
        outcome(m, ast_stream_join(m->stream, id, other));
        break;
    case 3:
        outcome(m, ast_stream_split(m->stream, id, pick(m, 2) ? &m->points : NULL, pick(m, 3), &other));
        break;
    case 4:
        outcome(m, ast_stream_forget(m->stream, id));
        break;
    case 5:
        outcome(m, ast_stream_forbid(m->stream, id, &m->points));
        break;
    case 6:
        outcome(m, ast_stream_lock(m->stream, id));
        break;
    case 7:
        outcome(m, ast_stream_unlock(m->stream, id));
        break;
    case 8:
        ast_stream_options_init(&o);
        o.angle = real(m);
        o.lifetime = (uint32_t)whole(m);
        outcome(m, ast_stream_set(m->stream, &o));
        break;
    default:
        outcome(m, ast_stream_rotate(m->stream, m->rotation));
    }
}

static void look_at_stream(machine *m) {
    size_t identities, changes, size = now_and_then(m) ? count(m) : sizeof(ast_identity);
    double rotation[9], covariance[9], sum = 0;
    int rank;
    ast_world_axes axes = {.size = sizeof axes};
    const ast_identity *list = ast_stream_list(m->stream, size, &identities);
    for (size_t i = 0; list && size == sizeof *list && i < identities; i++)
        sum += list[i].mean[list[i].means * m->stream_dimension - 1];
    (void)ast_stream_changes(m->stream, sizeof(ast_identity_change), &changes);
    outcome(m, ast_stream_rotation(m->stream, rotation, covariance, &rank));
    outcome(m, ast_stream_axes(m->stream, &axes));
    volatile double keep = sum;
    (void)keep;
}

static void call_stream(machine *m) {
    int32_t labels[MOST_ROWS];
    if (!m->stream) {
        open_stream(m);
        return;
    }
    switch (pick(m, 16)) {
    case 0:
        ast_stream_close(m->stream);
        m->stream = NULL;
        break;
    case 1:
        save_stream(m);
        break;
    case 2:
        outcome(m, ast_stream_reset(m->stream));
        break;
    case 3:
        outcome(m, ast_stream_predict(m->stream, &m->points, labels));
        break;
    case 4:
        look_at_stream(m);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        change_identity(m);
        break;
    default:
        step_stream(m);
    }
}

#endif
