/* SPDX-License-Identifier: MIT
 *
 * Programs of calls (fuzz_api.h). A call is cancelled after a moment, so that no number of passes makes it long. */
#include "fuzz_api.h"
#include "fuzz_api_depth.h"
#include "fuzz_api_stream.h"

#include <time.h>

enum { MOST_CALLS = 40 };
#define MOMENT 0.05 /* seconds */

static double called; /* when */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int is_late(void *data) {
    (void)data;
    return now() - called > MOMENT;
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void make_rows(machine *m) {
    static const float wild[] = {0, (float)NAN, (float)INFINITY, 1e38f, 1e-44f, -1e30f};
    for (size_t i = 0; i < MOST_ROWS * MOST_DIMENSION; i++) {
        unsigned byte = pick(m, 256);
        m->rows[i] =
            byte >= 250 ? wild[byte - 250] : (float)byte / 64 - 1.5f + 2 * (float)(i % MOST_DIMENSION == i % 5);
        m->means[i] = m->rows[MOST_ROWS * MOST_DIMENSION - 1 - i];
    }
    for (size_t i = 0; i < MOST_ROWS; i++) {
        m->weights[i] = i % 7 == 6 ? real(m) : (double)(1 + i % 3);
        m->late[i] = i % 5 == 0;
        m->groups[i] = (int32_t)(i % 6) - 1;
    }
    for (size_t i = 0; i < MOST_DIMENSION * MOST_DIMENSION; i++)
        m->rotation[i] = i % (MOST_DIMENSION + 1) == 0;
}

static void make_sparse(machine *m, size_t rows, size_t dimension) {
    size_t entries = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; d < dimension; d++)
            if ((i + d) % 2 == 0)
                m->columns[entries++] = (int32_t)d;
            else if (d == 0)
                m->starts[i] = (int32_t)entries;
    for (size_t i = 0; i <= rows; i++)
        m->starts[i] = (int32_t)(i * entries / rows);
    if (now_and_then(m))
        m->columns[pick(m, MOST_ROWS)] = whole(m);
    m->points = ast_points_csr(m->rows, AST_F4, m->starts, m->columns, AST_I4, rows, dimension);
}

/* What is wrong about points, but within the arrays: no call can see that an array is shorter than it says. */
static void spoil(machine *m) {
    switch (pick(m, 8)) {
    case 0:
        m->points.size = count(m);
        break;
    case 1:
        m->points.data = NULL;
        break;
    case 2:
        m->points.type = (ast_type)whole(m);
        break;
    case 3:
        m->points.dimension = count(m) % (MOST_DIMENSION + 1);
        break;
    case 4:
        m->points.row_stride = 0;
        break;
    case 5:
        m->points.count = m->points.data && pick(m, 2) ? 0 : m->points.count;
        break;
    case 6:
        m->points.index = (ast_index)whole(m);
        break;
    default:
        m->points.rotation = m->rotation;
    }
    if (m->points.type == AST_F8) /* wider numbers would need more bytes than there are */
        m->points.type = AST_F2;
    if (m->points.index == AST_I8)
        m->points.index = AST_I4;
}

static void call_points(machine *m) {
    size_t rows = 1 + pick(m, MOST_ROWS), dimension = 2 + pick(m, MOST_DIMENSION - 1);
    make_rows(m);
    m->points = ast_points_f4(m->rows, rows, dimension);
    m->labelled = 0;
    if (pick(m, 6) == 5)
        make_sparse(m, rows, dimension);
    if (pick(m, 4) == 3)
        m->points.weights = m->weights;
    if (pick(m, 6) == 5)
        m->points.late = m->late;
    if (now_and_then(m))
        spoil(m);
}

/* ---- Clustering -------------------------------------------------------------------------------------------------- */

static void common_options(machine *m, ast_options *o) {
    o->method = (ast_method)pick(m, 8);
    o->angle = real(m);
    o->clusters = pick(m, 4);
    o->axial = pick(m, 6) == 5;
    o->center = now_and_then(m);
    o->restarts = 1 + (int)pick(m, 3);
    o->max_iterations = 1 + (int)pick(m, 20);
    o->dp.order = (ast_order)pick(m, 3);
    o->merge.by = (ast_merge)pick(m, 4);
    o->merge.angle = 30;
    o->merge.count = 2;
    o->merge.tree = pick(m, 4) == 3;
    o->representatives = pick(m, 3);
    o->start.by = (ast_start)pick(m, 3);
    o->start.means = o->start.by == AST_GIVEN ? m->means : NULL;
    o->start.means_count = o->start.by == AST_GIVEN ? 1 + pick(m, 4) : 0;
}

static void spoil_options(machine *m, ast_options *o) {
    switch (pick(m, 16)) {
    case 0:
        o->size = count(m);
        break;
    case 1:
        o->method = (ast_method)whole(m);
        break;
    case 2:
        o->clusters = count(m);
        break;
    case 3:
        o->max_iterations = whole(m);
        break;
    case 4:
        o->restarts = whole(m) % 4;
        break;
    case 5:
        o->outliers = real(m) / 100;
        break;
    case 6:
        o->metric = (ast_metric_kind)pick(m, 4);
        break;
    case 7:
        o->representatives = count(m);
        break;
    case 8:
        o->dp.sample = count(m);
        break;
    case 9:
        o->merge.min_size = real(m);
        break;
    case 10:
        o->mixture.kappa = real(m);
        break;
    case 11:
        o->mixture.auto_clusters = 1;
        break;
    case 12:
        o->mixture.background = 1;
        break;
    case 13:
        o->kmeans.levels = whole(m);
        break;
    case 14:
        o->groups = m->groups;
        break;
    default:
        o->rounding = real(m);
        break;
    }
}

/* Every record of the last result can be read. */
static void read_result(const machine *m, size_t dimension) {
    size_t clusters, joins;
    double sum = 0;
    const ast_cluster_info *info = ast_clusters(m->context, &clusters);
    for (size_t k = 0; k < clusters; k++) {
        sum += (double)info[k].mean[dimension - 1];
        for (size_t i = 0; i < info[k].representative_count; i++)
            sum += (double)info[k].representatives[i];
    }
    const ast_tree_join *join = ast_tree(m->context, &joins);
    for (size_t i = 0; i < joins; i++)
        sum += join[i].loss;
    volatile double keep = sum;
    (void)keep;
}

static void call_cluster(machine *m) {
    ast_report report = {.size = sizeof report};
    ast_options *o = &m->options;
    ast_options_init(o);
    common_options(m, o);
    for (unsigned i = pick(m, 3); i > 0; i--)
        spoil_options(m, o);
    const char *problem = ast_options_problem(o);
    require(!problem || (*problem && !strchr(problem, '\n')));
    untouch(m->labels);
    bool good = outcome(m, ast_cluster(m->context, &m->points, o, m->labels, &report));
    require(!good || !problem);
    check_labels(m->labels, m->points.count < MOST_ROWS ? m->points.count : MOST_ROWS, good, (int32_t)report.clusters);
    m->labelled = good ? m->points.count : 0;
    if (good && report.clusters)
        read_result(m, report.dimension);
}

static void call_after(machine *m) {
    float numbers[MOST_ROWS];
    double densities[MOST_ROWS];
    int32_t cut[MOST_ROWS];
    if (m->labelled == m->points.count && pick(m, 4) < 3)
        outcome(m, ast_similarity(m->context, &m->points, m->labels, numbers));
    if (pick(m, 2))
        outcome(m, ast_memberships(m->context, &m->points, NULL, densities));
    for (size_t i = 0; i < MOST_ROWS; i++)
        cut[i] = (int32_t)pick(m, 4) - 1;
    outcome(m, ast_tree_cut(m->context, cut, MOST_ROWS, count(m), cut));
}

/* ---- Other calls on points --------------------------------------------------------------------------------------- */

static void call_assign(machine *m) {
    ast_assign_options known = ast_assign_to(m->means, 1 + pick(m, MOST_ROWS / 2));
    float similarity[MOST_ROWS], second[MOST_ROWS];
    int32_t labels[MOST_ROWS], runner_up[MOST_ROWS];
    known.angle = real(m);
    known.axial = pick(m, 4) == 3;
    if (now_and_then(m))
        known.size = count(m);
    if (now_and_then(m))
        known.means = NULL;
    if (now_and_then(m))
        known.center = m->means;
    untouch(labels);
    bool good = outcome(m, ast_assign(m->context, &m->points, &known, labels, similarity));
    check_labels(labels, m->points.count < MOST_ROWS ? m->points.count : MOST_ROWS, good, (int32_t)known.means_count);
    outcome(m, ast_assign_compare(m->context, &m->points, &known, labels, similarity, second, runner_up));
}

static void call_measure(machine *m) {
    double silhouette;
    size_t sampled;
    int32_t truth[MOST_ROWS];
    ast_agreement agreement = {.size = now_and_then(m) ? count(m) : sizeof agreement};
    for (size_t i = 0; i < MOST_ROWS; i++)
        truth[i] = (int32_t)pick(m, 5) - 1;
    outcome(m,
            ast_silhouette(m->context, &m->points, truth, (ast_dissimilarity)(whole(m) % 5), 1, &silhouette, &sampled));
    outcome(m, ast_compare(m->context, truth, truth, pick(m, MOST_ROWS), &agreement));
    int32_t neighbours[MOST_ROWS * 4];
    double cosines[MOST_ROWS * 4];
    outcome(m, ast_neighbours(m->context, &m->points, pick(m, 5), neighbours, cosines));
}

static void call_tune(machine *m) {
    ast_tune_options o;
    ast_tune_report report = {.size = sizeof report};
    int32_t labels[MOST_ROWS];
    ast_tune_options_init(&o);
    o.from = real(m);
    o.step = now_and_then(m) ? real(m) : 10;
    o.to = now_and_then(m) ? real(m) : 20;
    o.draws = 1 + (int)pick(m, 2);
    o.max_clusters = count(m);
    o.describe = (int)pick(m, 2);
    outcome(m, ast_tune(m->context, &m->points, &o, labels, &report));
}

static void call_dedup(machine *m) {
    ast_dedup_options o;
    ast_dedup_report report = {.size = sizeof report};
    int32_t groups[MOST_ROWS];
    uint8_t kept[MOST_ROWS];
    ast_dedup_options_init(&o);
    o.cosine = now_and_then(m) ? real(m) : 0.8;
    o.mode = (ast_dedup_mode)(whole(m) % 3);
    o.keep = (ast_dedup_keep)(whole(m) % 4);
    o.rank = pick(m, 2) ? m->weights : NULL;
    outcome(m, ast_dedup(m->context, &m->points, &o, groups, kept, &report));
}

static void call_model(machine *m) {
    ast_model_info info = {.size = sizeof info};
    int32_t labels[MOST_ROWS];
    float similarity[MOST_ROWS];
    size_t size;
    if (!m->model) {
        if (outcome(m, ast_model_of_result(m->context, &info)))
            outcome(m, ast_model_open(&m->model, m->context, &info));
        return;
    }
    outcome(m, ast_model_assign(m->model, &m->points, real(m), labels, similarity));
    const void *bytes = ast_model_save(m->model, &size);
    ast_model *again = NULL;
    if (bytes && outcome(m, ast_model_load(&again, m->context, bytes, size - pick(m, 2))))
        outcome(m, ast_model_assign(again, &m->points, (double)NAN, labels, NULL));
    ast_model_close(again);
    if (pick(m, 3) == 2) {
        ast_model_close(m->model);
        m->model = NULL;
    }
}

static void call_tally(machine *m) {
    size_t dimension = m->points.dimension, size;
    ast_tally_step step = {.size = sizeof step};
    float means[4 * MOST_DIMENSION];
    if (!m->tally && dimension >= 2 && dimension <= MOST_DIMENSION) {
        if (outcome(m, ast_tally_start(m->context, m->means, 1 + pick(m, 4), dimension, means)))
            outcome(m, ast_tally_open(&m->tally, m->context, means, 1, dimension, NULL));
    } else if (m->tally) {
        outcome(m, ast_tally_add(m->tally, &m->points, pick(m, 100), NULL));
        const void *bytes = ast_tally_save(m->tally, &size);
        if (bytes)
            outcome(m, ast_tally_merge(m->tally, bytes, size - pick(m, 2)));
        outcome(m, ast_tally_update(m->tally, &step));
        if (pick(m, 3) == 2) {
            ast_tally_close(m->tally);
            m->tally = NULL;
        }
    }
}

static void call_sample(machine *m) {
    ast_mixture mixture = {
        .size = sizeof mixture, .points = pick(m, MOST_ROWS), .dimension = 2 + pick(m, 4), .seed = 1};
    float rows[MOST_ROWS * MOST_DIMENSION], means[MOST_ROWS * MOST_DIMENSION];
    int32_t labels[MOST_ROWS];
    mixture.clusters = pick(m, 6);
    mixture.kappa = real(m);
    mixture.separation = now_and_then(m) ? real(m) : 0;
    mixture.noise = now_and_then(m) ? real(m) : 0.1;
    mixture.distribution = (ast_distribution)(whole(m) % 6);
    mixture.beta = now_and_then(m) ? real(m) : 0;
    mixture.radius = now_and_then(m) ? real(m) : 30;
    outcome(m, ast_sample_mixture(m->context, &mixture, rows, labels, means));
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static void close_all(machine *m) {
    ast_stream_close(m->stream);
    ast_model_close(m->model);
    ast_tally_close(m->tally);
    ast_depth_close(m->depth);
    ast_depth_frame_close(m->frame);
    ast_plane_map_close(m->map);
    ast_close(m->context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static void (*const calls[])(machine *) = {call_cluster, call_points, call_stream, call_after,  call_assign,
                                               call_measure, call_tune,   call_dedup,  call_model,  call_tally,
                                               call_sample,  call_depth,  call_stream, call_cluster};
    static machine m;
    m = (machine){.at = bytes, .end = bytes + size};
    require(ast_open(&m.context, 1) == AST_OK && ast_set_cancel(m.context, is_late, NULL) == AST_OK);
    ast_options_init(&m.options);
    call_points(&m);
    for (int i = 0; i < MOST_CALLS && m.at < m.end; i++) {
        called = now();
        calls[pick(&m, sizeof calls / sizeof *calls)](&m);
    }
    close_all(&m);
    return 0;
}
