/* SPDX-License-Identifier: MIT
 *
 * What a page gets after a result, when it asks for nothing for a moment: the silhouette, the rows nearest to each mean
 * and the tree of joins; then how stable the clusters are. A new task of the page cancels it. */
#include "explore_worker.h"

#include <math.h>
#include <page.h>
#include <stdlib.h>

enum { REPRESENTATIVES = 5, MOST_LISTED = 1000, OTHER_RUNS = 3, MOST_LEAVES = 5000 };
#define MOST_NUMBERS ((size_t)1 << 28) /* of centred rows that are copied */
#define MOST_PAIRS ((size_t)1 << 24)   /* of clusters of two runs */

/* ---- The first details ------------------------------------------------------------------------------------------- */

static ast_status measure(ast_explore_page *page, double *silhouette) {
    const ast_explore_run *run = &page->worker.run;
    ast_points points = run->points;
    float *rows = NULL;
    *silhouette = NAN;
    if (run->report.clusters < 2)
        return AST_OK;
    if (run->report.center) {
        if (points.count <= MOST_NUMBERS / points.dimension)
            rows = ast_centred_rows(&points, run->report.center);
        if (!rows)
            return AST_OK;
        points = ast_points_f4(rows, points.count, points.dimension);
    }
    ast_dissimilarity kind = run->request.axial ? AST_AXIAL_COSINE : AST_COSINE;
    ast_status status =
        ast_silhouette(page->worker.context, &points, run->labels, kind, page->all->explored->seed, silhouette, NULL);
    free(rows);
    return status;
}

/* Of the first clusters, where there are texts or terms. Without memory none. */
static void put_keywords(const ast_explore_page *page, ast_text *json) {
    const ast_corpus *corpus = page->all->explored->corpus;
    const ast_explore_worker *worker = &page->worker;
    ast_keywords *keywords =
        corpus ? ast_keywords_find(corpus, worker->labels, worker->run.clusters, worker->run.report.clusters) : NULL;
    ast_json_open(json, "keywords", '[');
    for (size_t k = 0; keywords && k < worker->run.report.clusters && k < MOST_LISTED; k++)
        ast_json_keywords(json, NULL, &keywords[k]);
    ast_json_close(json, ']');
    free(keywords);
}

/* Repeats the run with representatives and the tree of joins. */
static ast_status run_again(ast_explore_page *page) {
    ast_explore_worker *worker = &page->worker;
    const ast_explored *explored = page->all->explored;
    ast_options options = ast_explore_repeat(page);
    ast_report report = {.size = sizeof report};
    size_t count;
    options.representatives = REPRESENTATIVES;
    options.merge.tree = worker->run.report.merged <= MOST_LEAVES && !explored->points.starts;
    options.merge.leaves = options.merge.tree ? worker->leaves : NULL;
    ast_status status = ast_cluster(worker->context, &explored->points, &options, worker->labels, &report);
    worker->run.clusters = ast_clusters(worker->context, &count);
    return status;
}

static ast_status tell_details(ast_explore_page *page) {
    ast_explore_worker *worker = &page->worker;
    ast_explore_text text;
    double silhouette = NAN;
    ast_status status = run_again(page);
    if (status != AST_OK)
        return status;
    ast_explore_begin(&text, "details");
    ast_json_integer(&text.json, "id", (int64_t)worker->run.request.id);
    ast_json_open(&text.json, "representatives", '[');
    for (size_t k = 0; k < worker->run.report.clusters && k < MOST_LISTED; k++)
        ast_json_representatives(&text.json, NULL, &worker->run.clusters[k], page->all->explored->names);
    ast_json_close(&text.json, ']');
    put_keywords(page, &text.json);
    ast_explore_put_tree(worker->context, worker->leaves, worker->labels, worker->run.rows, &text.json);
    status = measure(page, &silhouette);
    size_t count;
    worker->run.clusters = ast_clusters(worker->context, &count);
    ast_json_real(&text.json, "silhouette", silhouette, 17);
    ast_explore_page_post(page, AST_MESSAGE_DETAILS, ast_explore_end(&text));
    return status;
}

/* ---- Stability --------------------------------------------------------------------------------------------------- */

/* Adds the Jaccard index of each cluster with the most similar one of another run. own, other: (count) labels. */
static bool add_jaccard(const ast_explore_run *run, const int32_t *other, size_t other_count, double *sums) {
    size_t clusters = run->report.clusters;
    size_t *both = calloc(clusters * other_count + 1, sizeof *both), *sizes = calloc(other_count + 1, sizeof *sizes);
    bool good = both && sizes;
    for (size_t i = 0; good && i < run->rows; i++) {
        if (other[i] >= 0)
            sizes[other[i]]++;
        if (other[i] >= 0 && run->labels[i] >= 0)
            both[(size_t)run->labels[i] * other_count + (size_t)other[i]]++;
    }
    for (size_t k = 0; good && k < clusters; k++) {
        double best = 0;
        for (size_t m = 0; m < other_count; m++) {
            size_t shared = both[k * other_count + m];
            best = fmax(best, (double)shared / (double)(run->clusters[k].count + sizes[m] - shared));
        }
        sums[k] += best;
    }
    free(both);
    free(sizes);
    return good;
}

/* One other run: by content with another seed, as the restarts of cluster. Its labels are in `leaves`. */
static ast_status run_other(ast_explore_page *page, int number, size_t *clusters) {
    ast_explore_worker *worker = &page->worker;
    const ast_explored *explored = page->all->explored;
    ast_options options = ast_explore_repeat(page);
    ast_report report = {.size = sizeof report};
    options.dp.order = AST_ORDER_CONTENT;
    options.seed += (uint64_t)number;
    ast_status status = ast_cluster(worker->context, &explored->points, &options, worker->leaves, &report);
    *clusters = report.clusters;
    return status;
}

static void put_stability(const ast_explore_page *page, const double *sums, double agreement, ast_text *json) {
    const ast_explore_run *run = &page->worker.run;
    ast_json_integer(json, "id", (int64_t)run->request.id);
    ast_json_integer(json, "runs", OTHER_RUNS);
    ast_json_number(json, "stability", agreement / OTHER_RUNS, 5);
    ast_json_open(json, "clusters", '[');
    for (size_t k = 0; k < run->report.clusters && k < MOST_LISTED; k++)
        ast_json_number(json, NULL, sums[k] / OTHER_RUNS, 4);
    ast_json_close(json, ']');
}

/* Sizes are needed after other runs have replaced the context's clusters. */
static ast_cluster_info *copy_clusters(const ast_explore_run *run) {
    ast_cluster_info *copy = calloc(run->report.clusters + 1, sizeof *copy);
    for (size_t k = 0; copy && k < run->report.clusters; k++)
        copy[k].count = run->clusters[k].count;
    return copy;
}

/* The other runs replace the last result of the context, so `ran` is false afterwards. */
static ast_status tell_stability(ast_explore_page *page) {
    ast_explore_worker *worker = &page->worker;
    ast_cluster_info *sizes = copy_clusters(&worker->run);
    double *sums = calloc(worker->run.report.clusters + 1, sizeof *sums), agreement = 0;
    ast_status status = sizes && sums ? AST_OK : AST_NO_MEMORY;
    worker->run.clusters = sizes;
    for (int i = 1; i <= OTHER_RUNS && status == AST_OK; i++) {
        ast_agreement with = {.size = sizeof with};
        size_t clusters = 0;
        status = run_other(page, i, &clusters);
        if (status == AST_OK)
            status = ast_compare(worker->context, worker->labels, worker->leaves, worker->run.rows, &with);
        agreement += with.ari;
        if (status == AST_OK && clusters > MOST_PAIRS / (worker->run.report.clusters + 1))
            status = AST_NO_MEMORY;
        if (status == AST_OK && !add_jaccard(&worker->run, worker->leaves, clusters, sums))
            status = AST_NO_MEMORY;
    }
    worker->ran = false;
    if (status == AST_OK) {
        ast_explore_text text;
        ast_explore_begin(&text, "stability");
        put_stability(page, sums, agreement, &text.json);
        ast_explore_page_post(page, AST_MESSAGE_STABILITY, ast_explore_end(&text));
    }
    free(sizes);
    free(sums);
    return status;
}

bool ast_explore_next_detail(ast_explore_page *page) {
    ast_explore_worker *worker = &page->worker;
    if (!worker->ran || worker->detailed >= 2)
        return false;
    worker->idle = true;
    ast_status status = worker->detailed == 0 ? tell_details(page) : tell_stability(page);
    worker->idle = false;
    if (status != AST_CANCELLED)
        worker->detailed++;
    return true;
}
