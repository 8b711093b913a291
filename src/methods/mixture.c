/* SPDX-License-Identifier: MIT
 *
 * A mixture of K von Mises-Fisher distributions by expectation maximisation (Banerjee, Dhillon, Ghosh and Sra 2005):
 *
 *     p(x) = sum_k pi_k f_k(x),    f_k(x) = C_D(kappa_k) exp(kappa_k mu_k . x).
 *
 * E: r_ik = pi_k f_k(x_i) / p(x_i), soft; or 1 for the largest and 0 for the others, hard.
 * M: n_k = sum_i r_ik, s_k = sum_i r_ik x_i;  pi_k = n_k / N, mu_k = s_k / |s_k|, A_D(kappa_k) = |s_k| / n_k.
 *
 * Soft steps never lower L = sum_i log p(x_i), hard ones never lower sum_i max_k log pi_k f_k(x_i). The start is that
 * of spherical k-means, every point with the nearest mean, and one M step. Weights multiply a point's part everywhere,
 * scaled so that N of them add up to N.
 *
 * A background, if the options ask for one, is a further component: uniform on the sphere, with a share that is
 * estimated like the others. EM starts from several shares of it, with sharper components for the larger ones, because
 * from a small share it may end where a broad component takes the noise. mixture_auto.c finds K.
 *
 * A component needs two distinct points to say anything about kappa. One with fewer (a single point, or copies of it)
 * has a likelihood that grows with kappa without end, so its kappa has a ceiling: the nearest other mean, at the cosine
 * c, is two radii away at kappa = 2 (D - 1) / (1 - c). Such a component is just narrow enough to be separate from its
 * neighbours. The ceiling never lowers a kappa, so that L never decreases.
 *
 * r_ik x_i is rounded to a multiple of a fixed unit (2^-40 as a rule), so that sums are exact and do not depend on the
 * number of threads. */
#include "mixture.h"

#include "memory.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_MASS 1e-3    /* points; a component with less keeps its shape: its sums are mostly rounding */
#define FINEST_UNIT 40     /* bits below one */
#define SHARP 0x1p-10      /* 1 - the mean length: the ceiling is for components below it */
#define EQUAL 0x1p-22      /* 1 - the cosine: closer means are equal */
#define PLATEAU 1e-3       /* of the tolerance: smaller rises are rounding */
#define LEAST_DISTINCT 1.5 /* points; between one and two */

/* ---- E ---- */

static void weigh(const ast_mixture_steps *m, size_t first, size_t n, double *weight) {
    const double *weights = m->copies ? NULL : m->tiles.v.rows->weights; /* each distinct row counts once */
    for (size_t i = 0; i < n; i++) {
        bool there = m->tiles.v.labels[first + i] != AST_MISSING && !(m->copies && m->copies[first + i]);
        weight[i] = there ? (weights ? weights[first + i] * m->weight_scale : 1) : 0;
    }
}

/* The largest of each column of the logits (K, n), the first of equals. */
static void find_best(const double *logits, size_t count, size_t n, double *best, int32_t *label) {
    for (size_t i = 0; i < n; i++) {
        best[i] = logits[i];
        label[i] = 0;
    }
    for (size_t k = 1; k < count; k++)
        for (size_t i = 0; i < n; i++) {
            double logit = logits[k * n + i];
            label[i] = logit > best[i] ? (int32_t)k : label[i];
            best[i] = logit > best[i] ? logit : best[i];
        }
}

static size_t set_labels(ast_labelling *l, size_t first, size_t n, const int32_t *label) {
    int32_t *labels = ast_labelling_labels(l) + first;
    size_t changed = 0;
    for (size_t i = 0; i < n; i++)
        if (labels[i] != AST_MISSING && labels[i] != label[i]) {
            labels[i] = label[i];
            changed++;
        }
    return changed;
}

/* Memberships become 1 for the best component and 0 for the others. */
static void make_hard(double *part, size_t count, size_t n, const int32_t *label) {
    memset(part, 0, count * n * sizeof *part);
    for (size_t i = 0; i < n; i++)
        part[(size_t)label[i] * n + i] = 1;
}

/* The sums of a chunk are small enough to be exact as doubles; those of all chunks are integers. */
static void flush(const ast_mixture_steps *m, ast_tile_memory *memory) {
    size_t numbers = ast_components_all(m->c) * (m->c->dimension + 1);
    for (size_t j = 0; j < numbers; j++) {
        memory->integer_sums[j] += (int64_t)(memory->sums[j] / m->sum_unit);
        memory->sums[j] = 0;
    }
}

static void expect_tile(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    ast_mixture_steps *m = data;
    const ast_rowset *rows = m->tiles.v.rows;
    const size_t n = m->tiles.tile, count = ast_components_all(m->c);
    int32_t label[AST_TILE_MOST];
    double best[AST_TILE_MOST];
    ast_tile tile = ast_tile_logits(&m->tiles, first, m->c, memory);
    weigh(m, first, n, memory->weight);
    find_best(memory->logits, count, n, best, label);
    m->tiles.kernels->normalise(memory->logits, count, n, memory->most, memory->total);
    for (size_t i = 0; i < n; i++)
        if (memory->weight[i] > 0) {
            m->soft[chunk] += memory->weight[i] * (memory->most[i] + log(memory->total[i]));
            m->hard[chunk] += memory->weight[i] * best[i];
        }
    m->changed[chunk] += set_labels(m->l, first, n, label);
    if (m->run->options->mixture.hard)
        make_hard(memory->logits, count, n, label);
    m->tiles.kernels->gather(&tile, memory->logits, memory->weight, count, m->sum_unit, memory->sums);
    if ((first + n) % rows->chunk == 0 || first + n >= rows->count)
        flush(m, memory);
}

static void collect_sums(ast_mixture_steps *m) {
    size_t numbers = ast_components_all(m->c) * (m->c->dimension + 1);
    memset(m->sums, 0, numbers * sizeof *m->sums);
    for (int w = 0; w < m->tiles.threads; w++)
        for (size_t j = 0; j < numbers; j++) {
            m->sums[j] += m->tiles.memory[w].integer_sums[j];
            m->tiles.memory[w].integer_sums[j] = 0;
        }
}

ast_status ast_mixture_expect(ast_mixture_steps *m, size_t *changed, ast_fault *fault) {
    size_t chunks = m->tiles.v.rows->chunks;
    double soft = 0, hard = 0;
    *changed = 0;
    memset(m->soft, 0, chunks * sizeof *m->soft);
    memset(m->hard, 0, chunks * sizeof *m->hard);
    memset(m->changed, 0, chunks * sizeof *m->changed);
    if (!ast_tiles_each(&m->tiles, expect_tile, m))
        return ast_fail_cancelled(fault);
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        soft += m->soft[chunk];
        hard += m->hard[chunk];
        *changed += m->changed[chunk];
    }
    collect_sums(m);
    m->run->log_likelihood = soft;
    m->run->objective = m->run->options->mixture.hard ? hard : soft;
    return AST_OK;
}

/* ---- M ---- */

/* The shape of one component from n_k and s_k, which is normalised. */
static void maximise_one(ast_components *c, size_t k, double mass, double *sum, double known) {
    ast_family_shape shape;
    if (!ast_components_are_vmf(c)) {
        ast_family_fit(&c->family, mass, sum, known, &shape);
        ast_components_set_shape(c, k, &shape);
        return;
    }
    double length = ast_normalise(sum, c->dimension), resultant = length / mass;
    if (length > 0)
        memcpy(c->means + k * c->dimension, sum, c->dimension * sizeof *sum);
    double most = ast_kappa_limit(c->dimension);
    c->kappas[k] = isnan(known) ? fmin(most, ast_vmf_kappa(c->dimension, fmin(1, resultant))) : known;
}

static void maximise(ast_mixture_steps *m) {
    ast_components *c = m->c;
    double *sum = m->scratch, total = 0;
    size_t width = c->dimension + 1;
    for (size_t k = 0; k < ast_components_all(c); k++)
        total += (double)m->sums[k * width + c->dimension] * m->sum_unit;
    for (size_t k = 0; k < ast_components_all(c); k++) {
        double mass = (double)m->sums[k * width + c->dimension] * m->sum_unit;
        c->weights[k] = mass / total;
        if (mass < LEAST_MASS || k == c->count)
            continue;
        for (size_t d = 0; d < c->dimension; d++)
            sum[d] = (double)m->sums[k * width + d] * m->sum_unit;
        maximise_one(c, k, mass, sum, m->run->options->mixture.kappa);
    }
}

/* ---- the ceiling of kappa ---- */

static bool is_sharp(const ast_components *c, size_t k) {
    size_t dimension = ast_components_are_vmf(c) ? c->dimension : c->family.dimension;
    return c->kappas[k] > (double)(dimension - 1) / (2 * SHARP);
}

typedef struct counting {
    const ast_mixture_steps *m;
    const uint8_t *copies;
    const ast_components *before; /* the components before the M step; NULL: the labels are the memberships */
} counting;

static bool counts(const counting *job, size_t i) {
    return job->m->tiles.v.labels[i] != AST_MISSING && !job->copies[i];
}

/* Adds the memberships of distinct rows to integer_sums[k]. */
static void count_tile(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    const counting *job = data;
    const ast_mixture_steps *m = job->m;
    size_t n = m->tiles.tile;
    (void)chunk;
    ast_tile_memberships(&m->tiles, first, job->before, memory);
    for (size_t i = 0; i < n && first + i < m->tiles.v.rows->count; i++)
        for (size_t k = 0; counts(job, first + i) && k < m->c->count; k++)
            memory->integer_sums[k] += llrint(memory->logits[k * n + i] / m->sum_unit);
}

/* The mass (K) of every component, each distinct row counted once. */
static void count_distinct(counting *job, double *mass) {
    const ast_mixture_steps *m = job->m;
    if (job->before)
        ast_tiles_each(&m->tiles, count_tile, job);
    for (size_t i = 0; i < m->tiles.v.rows->count && !job->before; i++)
        if (counts(job, i))
            mass[m->tiles.v.labels[i]]++;
    for (int w = 0; w < m->tiles.threads; w++)
        for (size_t k = 0; k < m->c->count; k++) {
            mass[k] += (double)m->tiles.memory[w].integer_sums[k] * m->sum_unit;
            m->tiles.memory[w].integer_sums[k] = 0;
        }
}

/* The ceiling, 2 (D - 1) / (1 - c): c is the cosine of the nearest other mean, -1 if there is no other. */
static double narrowest(const ast_components *c, size_t k) {
    double nearest = -1;
    for (size_t other = 0; other < c->count; other++) {
        double cosine = ast_dot(c->means + k * c->dimension, c->means + other * c->dimension, c->dimension);
        nearest = other != k && cosine < 1 - EQUAL ? fmax(nearest, cosine) : nearest;
    }
    size_t dimension = ast_components_are_vmf(c) ? c->dimension : c->family.dimension;
    return 2 * (double)(dimension - 1) / (1 - nearest);
}

/* Lowers the kappa of a component to a ceiling; those of Watson and Kent distributions become round. */
static void lower_kappa(ast_components *c, size_t k, double ceiling) {
    ast_family_shape shape;
    if (c->kappas[k] <= ceiling)
        return;
    c->kappas[k] = ceiling;
    if (ast_components_are_vmf(c))
        return;
    ast_family_decode(&c->family, c->means + k * c->dimension, ceiling, &shape);
    shape.kappa = fabs(shape.kappa);
    shape.beta = 0;
    ast_components_set_shape(c, k, &shape);
}

ast_status ast_mixture_cap_kappas(ast_mixture_steps *m, ast_distinct *distinct, const ast_components *before,
                                  bool rising, ast_fault *fault) {
    ast_components *c = m->c;
    size_t sharp = 0;
    for (size_t k = 0; k < c->count; k++)
        sharp += is_sharp(c, k);
    if (sharp == 0 || !isnan(m->run->options->mixture.kappa))
        return AST_OK;
    ast_status status = distinct->copies ? AST_OK : ast_distinct_open(distinct, m->l, m->run->options->rounding, fault);
    double *mass = ast_allocate_zero(ast_components_all(c), sizeof *mass);
    if (status == AST_OK && !mass)
        status = ast_fail_memory(fault);
    if (status == AST_OK)
        count_distinct(&(counting){m, distinct->copies, m->run->options->mixture.hard ? NULL : before}, mass);
    for (size_t k = 0; k < c->count && status == AST_OK; k++)
        if (is_sharp(c, k) && mass[k] < LEAST_DISTINCT)
            lower_kappa(c, k, fmax(narrowest(c, k), rising ? before->kappas[k] : 0));
    ast_free(mass);
    return status;
}

/* ---- the start ---- */

/* One M step from the labels of the nearest starts, whose sums the labelling has. */
static void maximise_labels(ast_mixture_steps *m) {
    const ast_cluster_list *list = m->tiles.v.clusters;
    ast_components *c = m->c;
    double *sum = m->scratch, total = 0;
    for (size_t k = 0; k < c->count; k++)
        total += ast_clusters_weight(list, (int32_t)k);
    for (size_t k = 0; k < c->count; k++) {
        double mass = ast_clusters_weight(list, (int32_t)k);
        c->weights[k] = mass / total;
        c->kappas[k] = isnan(m->run->options->mixture.kappa) ? 1 : m->run->options->mixture.kappa;
        for (size_t d = 0; d < c->dimension; d++) {
            sum[d] = (double)list->sums[k * c->dimension + d] / list->unit;
            c->means[k * c->dimension + d] = (double)list->means[k * c->dimension + d];
        }
        if (!ast_components_are_vmf(c)) {
            c->kappas[k] = 0;
            c->constants[k] = ast_family_uniform(&c->family);
        }
        if (mass > 0)
            maximise_one(c, k, mass, sum, m->run->options->mixture.kappa);
    }
}

/* The sums of a chunk must be exact as doubles, those of all points as int64. */
static void choose_units(ast_mixture_steps *m) {
    const ast_labelling_view *v = &m->tiles.v;
    const double *weights = v->rows->weights, present = (double)v->present;
    double total = 0, largest = 0;
    for (size_t i = 0; weights && i < v->rows->count; i++)
        if (v->labels[i] != AST_MISSING) {
            total += weights[i];
            largest = fmax(largest, weights[i]);
        }
    m->weight_scale = weights ? present / total : 1;
    double chunk = (double)v->rows->chunk * (weights ? largest * m->weight_scale : 1);
    double of_chunk = 51 - ceil(log2(fmin(chunk, present) + 1)), of_all = 62 - ceil(log2(present + 1));
    m->sum_unit = ldexp(1, -(int)fmin(FINEST_UNIT, fmin(of_chunk, of_all)));
}

ast_status ast_mixture_open(ast_mixture_steps *m, size_t count, ast_fault *fault) {
    const ast_rowset *rows = ast_view_of(m->l).rows;
    size_t all = count + (m->run->options->mixture.background != 0);
    if (!ast_components_open(m->c, count, rows->dimension) || !ast_tiles_open(&m->tiles, m->l, all, true) ||
        !ast_replace_arrays(AST_REQUEST(m->soft, rows->chunks), AST_REQUEST(m->hard, rows->chunks),
                            AST_REQUEST(m->changed, rows->chunks), AST_REQUEST(m->sums, all * (rows->dimension + 1)),
                            AST_REQUEST(m->scratch, rows->dimension)))
        return ast_fail_memory(fault);
    choose_units(m);
    return AST_OK;
}

void ast_mixture_close(ast_mixture_steps *m) {
    ast_tiles_free(&m->tiles);
    ast_free_all(m->soft, m->hard, m->changed, m->sums, m->scratch);
}

/* ---- the iteration ---- */

/* EM has converged if a pass adds little. With a background, rises that still grow are the way off a saddle, where a
 * broad component and the background are alike. */
static bool has_settled(const ast_mixture_steps *m, double rise, double rise_before) {
    double least = m->run->options->mixture.tolerance * (double)m->tiles.v.present;
    bool leaving = m->c->background && rise > rise_before && rise > least * PLATEAU;
    return !(rise > least) && !leaving;
}

/* Ends after an E step, so that components, memberships and likelihood belong together. */
static ast_status iterate(ast_mixture_steps *m, ast_distinct *distinct, ast_components *before, ast_fault *fault) {
    const ast_options *options = m->run->options;
    double last = -INFINITY, rise_before = INFINITY;
    for (int pass = 1;; pass++) {
        m->run->pass_start = ast_seconds();
        size_t changed;
        ast_components_prepare(m->c);
        ast_status status = ast_mixture_expect(m, &changed, fault);
        m->run->iterations++;
        if (status == AST_OK)
            status = ast_run_report_pass(m->run, m->c->count, changed, m->tiles.v.present, m->run->objective, fault);
        if (status != AST_OK)
            return status;
        double rise = m->run->objective - last;
        m->run->converged = pass > 1 && (options->mixture.hard ? changed == 0 : has_settled(m, rise, rise_before));
        if (m->run->converged || pass == options->max_iterations)
            return AST_OK;
        last = m->run->objective;
        rise_before = rise;
        ast_components_copy(before, m->c);
        maximise(m);
        status = ast_mixture_cap_kappas(m, distinct, before, true, fault);
        if (status != AST_OK)
            return status;
    }
}

/* ---- the background ---- */

/* The same for Watson and Kent distributions, about: noise adds to the spread of all that the component has. */
static void sharpen_shape(ast_components *c, size_t k, double share) {
    ast_family_shape shape;
    ast_family_decode(&c->family, c->means + k * c->dimension, c->kappas[k], &shape);
    shape.kappa /= 1 - share;
    shape.beta /= 1 - share;
    ast_components_set_shape(c, k, &shape);
}

/* The components if this share of the points is noise: the mean length R of a component's points is that of a vMF
 * distribution times 1 - share if the noise is even, and noise is at most all of its spread but (1 - R)(1 - share). */
static void start_with_share(ast_mixture_steps *m, const ast_components *first, double share, bool sharper) {
    ast_components *c = m->c;
    ast_components_copy(c, first);
    for (size_t k = 0; k < c->count && sharper && isnan(m->run->options->mixture.kappa); k++) {
        if (!ast_components_are_vmf(c)) {
            sharpen_shape(c, k, share);
            continue;
        }
        double length = ast_vmf_resultant(c->dimension, c->kappas[k]);
        double without = fmin(length / (1 - share), 1 - (1 - length) * (1 - share));
        c->kappas[k] = fmax(c->kappas[k], fmin(ast_kappa_limit(c->dimension), ast_vmf_kappa(c->dimension, without)));
    }
    ast_components_add_background(c, share);
}

/* EM from several shares of the background; the result is that of the largest objective. */
static ast_status iterate_shares(ast_mixture_steps *m, ast_distinct *distinct, ast_components *before,
                                 ast_fault *fault) {
    static const double shares[] = {AST_FIRST_SHARE, 0.5, 0.9};
    ast_components first = {0}, best = {0};
    size_t changed, count = m->c->count, dimension = m->c->dimension;
    double highest = -INFINITY;
    bool converged = false;
    ast_status status = AST_OK;
    if (!ast_components_open(&first, count, dimension) || !ast_components_open(&best, count, dimension))
        status = ast_fail_memory(fault);
    else
        ast_components_copy(&first, m->c);
    for (size_t i = 0; i < sizeof shares / sizeof *shares && status == AST_OK; i++) {
        start_with_share(m, &first, shares[i], i > 0);
        status = iterate(m, distinct, before, fault);
        if (status == AST_OK && m->run->objective > highest) {
            ast_components_copy(&best, m->c);
            highest = m->run->objective;
            converged = m->run->converged;
        }
    }
    if (status == AST_OK) {
        ast_components_copy(m->c, &best);
        m->run->converged = converged;
        status = ast_mixture_expect(m, &changed, fault);
    }
    ast_components_free(&first);
    ast_components_free(&best);
    return status;
}

ast_status ast_mixture_finish(ast_mixture_steps *m, ast_fault *fault) {
    double count = (double)m->c->count, dimension = (double)m->c->dimension;
    double shape = ast_components_are_vmf(m->c) ? dimension - 1 : ast_family_numbers(&m->c->family);
    double numbers = count * shape + (count - 1) + (isnan(m->run->options->mixture.kappa) ? count : 0);
    m->run->bic = -2 * m->run->log_likelihood + (numbers + m->c->background) * log((double)m->tiles.v.present);
    m->run->outliers = ast_components_unlabel(m->c, m->l);
    return ast_components_to_clusters(m->c, m->l, fault);
}

ast_status ast_run_movmf(ast_labelling *l, ast_run *run, ast_fault *fault) {
    if (run->options->mixture.auto_clusters)
        return ast_run_movmf_auto(l, run, fault);
    ast_mixture_steps m = {.l = l, .run = run, .c = &run->components};
    ast_components before = {0};
    ast_distinct distinct = {0};
    ast_status status = ast_start_and_assign(l, run, fault);
    if (status == AST_OK)
        status = ast_mixture_open(&m, ast_view_of(l).clusters->live, fault);
    if (status == AST_OK && !ast_components_open(&before, m.c->count, m.c->dimension))
        status = ast_fail_memory(fault);
    if (status == AST_OK) {
        maximise_labels(&m);
        status = ast_mixture_cap_kappas(&m, &distinct, NULL, false, fault);
    }
    if (status == AST_OK)
        status = (run->options->mixture.background ? iterate_shares : iterate)(&m, &distinct, &before, fault);
    if (status == AST_OK)
        status = ast_mixture_finish(&m, fault);
    ast_distinct_free(&distinct);
    ast_components_free(&before);
    ast_mixture_close(&m);
    return status;
}
