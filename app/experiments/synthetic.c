/* SPDX-License-Identifier: MIT
 *
 * The paper's Figure 2: 30 true clusters, DP-vMF-means over the angle against spherical k-means over K.
 *
 * The paper does not state how its clusters were drawn. Ours: kappa 200, means at least 30 degrees apart, equal shares,
 * chosen so that the true labels have about the silhouette that the paper reports (0.92); 30 discs of that size just
 * fit on the sphere with room to differ. Every run draws new means and points, so that the deviations are those over
 * data sets, and a run is an independent start at once.
 *
 * A single run of spkm depends on its start, and one of dp on the order of the points; so both also run with the same
 * number of restarts, dp at an angle in the middle of the range that finds 30 clusters, spkm with the true K. The two
 * samplers take the first data sets only. */
#include <math.h>
#include <plot.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiments.h"

enum {
    TRUE_CLUSTERS = 30,
    RUNS = 50,
    POINTS = 30000,
    QUICK_RUNS = 3,
    QUICK_POINTS = 3000,
    SWEEPS = 5000,
    QUICK_SWEEPS = 200,
    CRP_SWEEPS = 100,
    RESTARTS = 50,
    QUICK_RESTARTS = 5,
    SWEEPS_ALIKE = 8, /* about as many sweeps of a sampler take the time of a clustering with its silhouette */
    COMPONENTS = 50,
    MOST_SETTINGS = 64
};
#define KAPPA 200.0
#define SEPARATION 30.0
#define ANGLE 26.0 /* with restarts: from 22 to 28 degrees the number of clusters stays */

enum { DP, RANDOM, PLUSPLUS, METHODS, FSD = METHODS, CRP };
static const char *const names[] = {"dp", "spkm random", "spkm k-means++", "fsd", "crp"};
static const char *const legends[METHODS] = {"DP-vMF-means", "spkm", "spkm ++"};

/* Degrees for dp, K for the others; 0 ends. */
static const double angles[] = {17, 18, 19, 20, 22, 24, 26, 28, 30, 32, 34, 36, 40, 45, 50, 60, 75, 0};
static const double counts[] = {5, 10, 15, 20, 22, 24, 26, 28, 30, 32, 34, 36, 40, 50, 60, 0};
static const double quick_angles[] = {20, 24, 28, 32, 40, 60, 0};
static const double quick_counts[] = {10, 20, 30, 40, 0};

/* What a result is; the first three are plotted. */
enum { CLUSTERS, NMI, SILHOUETTE, SECONDS, NUMBERS, PLOTTED = SECONDS };
static const char *const numbers[] = {"clusters", "nmi", "silhouette"};

typedef struct setting {
    int method;
    double value; /* degrees, or K; of crp, whose number of clusters is free, 0 */
    int restarts; /* or sweeps of a sampler */
    size_t sets;  /* so many data sets get it */
    ast_moments results[NUMBERS];
} setting;

typedef struct job {
    const ast_experiment *plan;
    size_t count, planned, runs; /* points; runs to do and done */
    float *points, *means;
    int32_t *truth, *labels;
    setting settings[MOST_SETTINGS]; /* first those over the angle and over K */
    size_t swept, setting_count;
    const setting *running;
    double done, all; /* the work so far, and that to do, in clusterings */
    double started, seconds;
} job;

static int prepare(job *work);
static int one_run(job *work);
static int deliver(job *work);

int ast_experiment_synthetic(const ast_experiment *plan) {
    const ast_experiment_command *command = plan->command;
    job work = {.plan = plan, .started = command->now()};
    int code = prepare(&work);
    while (code < 0 && work.runs < work.planned && !command->stopped())
        code = one_run(&work);
    work.seconds = command->now() - work.started;
    if (code < 0 && work.runs > 0)
        code = deliver(&work);
    else if (code < 0)
        code = command->status(AST_CANCELLED, plan->context, NULL);
    free(work.points);
    free(work.means);
    free(work.truth);
    free(work.labels);
    return code;
}

static void add_setting(job *work, int method, double value, int restarts, size_t sets) {
    work->settings[work->setting_count++] =
        (setting){.method = method, .value = value, .restarts = restarts, .sets = sets};
}

static void add_settings(job *work, int method, const double *values) {
    for (; *values > 0; values++)
        add_setting(work, method, *values, 1, work->planned);
}

static bool is_sampler(const setting *one) {
    return one->method == FSD || one->method == CRP;
}

/* Its work, in clusterings. */
static double cost(const setting *one) {
    return (double)one->restarts / (is_sampler(one) ? SWEEPS_ALIKE : 1);
}

static void add_comparisons(job *work) {
    const ast_experiment *plan = work->plan;
    int restarts = plan->restarts ? (int)plan->restarts : plan->quick ? QUICK_RESTARTS : RESTARTS;
    size_t samplers = plan->samplers < work->planned ? plan->samplers : work->planned;
    add_setting(work, DP, ANGLE, restarts, work->planned);
    add_setting(work, RANDOM, TRUE_CLUSTERS, restarts, work->planned);
    add_setting(work, PLUSPLUS, TRUE_CLUSTERS, restarts, work->planned);
    if (samplers) {
        add_setting(work, FSD, COMPONENTS, plan->quick ? QUICK_SWEEPS : SWEEPS, samplers);
        add_setting(work, CRP, 0, CRP_SWEEPS, samplers);
    }
    for (size_t i = 0; i < work->setting_count; i++)
        work->all += cost(&work->settings[i]) * (double)work->settings[i].sets;
}

static int prepare(job *work) {
    const ast_experiment *plan = work->plan;
    work->count = plan->quick ? QUICK_POINTS : POINTS;
    work->planned = plan->runs ? plan->runs : plan->quick ? QUICK_RUNS : RUNS;
    add_settings(work, DP, plan->quick ? quick_angles : angles);
    add_settings(work, RANDOM, plan->quick ? quick_counts : counts);
    add_settings(work, PLUSPLUS, plan->quick ? quick_counts : counts);
    work->swept = work->setting_count;
    add_comparisons(work);
    work->points = malloc(work->count * 3 * sizeof *work->points);
    work->means = malloc(TRUE_CLUSTERS * 3 * sizeof *work->means);
    work->truth = malloc(work->count * sizeof *work->truth);
    work->labels = malloc(work->count * sizeof *work->labels);
    if (!work->points || !work->means || !work->truth || !work->labels)
        return plan->command->fail(EXIT_FAILURE, "there is no memory for %zu points", work->count);
    return ast_experiment_folder(plan);
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static int step(const ast_progress *state, void *data) {
    job *work = data;
    const ast_experiment *plan = work->plan;
    const setting *one = work->running;
    if (is_sampler(one))
        plan->command->progress(plan->data, (size_t)state->iteration, (size_t)one->restarts, "sweeps of the sampler",
                                (work->done + (double)state->iteration / SWEEPS_ALIKE) / work->all);
    return plan->command->stopped();
}

static ast_options options_of(job *work, const setting *one, uint64_t seed) {
    static const ast_method methods[] = {AST_DP, AST_SPKM, AST_SPKM, AST_FSD, AST_CRP};
    ast_options options;
    ast_options_init(&options);
    options.method = methods[one->method];
    options.start.by = one->method == RANDOM ? AST_RANDOM : AST_PLUSPLUS;
    options.seed = seed;
    options.progress = step;
    options.progress_data = work;
    if (is_sampler(one))
        options.max_iterations = one->restarts;
    else
        options.restarts = one->restarts;
    if (one->method == DP)
        options.angle = one->value;
    else
        options.clusters = (size_t)one->value;
    return options;
}

static ast_status measure(job *work, const setting *one, uint64_t seed, double result[NUMBERS]) {
    ast_context *context = work->plan->context;
    ast_report report = {.size = sizeof report};
    ast_agreement agreement = {.size = sizeof agreement};
    ast_points points = ast_points_f4(work->points, work->count, 3);
    work->running = one;
    ast_options options = options_of(work, one, seed);
    ast_status status = ast_cluster(context, &points, &options, work->labels, &report);
    if (status == AST_OK)
        status = ast_compare(context, work->labels, work->truth, work->count, &agreement);
    result[CLUSTERS] = (double)report.clusters;
    result[NMI] = agreement.nmi;
    result[SILHOUETTE] = 0; /* of one cluster: as of points that are alone */
    result[SECONDS] = report.seconds;
    if (status == AST_OK && report.clusters > 1)
        status = ast_silhouette(context, &points, work->labels, AST_COSINE, 1, &result[SILHOUETTE], NULL);
    work->done += cost(one);
    return status;
}

/* One data set under all settings; it counts only when it is complete. The last set drawn is always that of the last
 * run that counts, or a later one that was cut short. */
static int one_run(job *work) {
    double results[MOST_SETTINGS][NUMBERS] = {{0}};
    const ast_experiment *plan = work->plan;
    uint64_t seed = plan->seed + work->runs;
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = work->count,
                           .dimension = 3,
                           .clusters = TRUE_CLUSTERS,
                           .kappa = KAPPA,
                           .separation = SEPARATION,
                           .seed = seed};
    ast_status status = ast_sample_mixture(work->plan->context, &mixture, work->points, work->truth, work->means);
    for (size_t i = 0; i < work->setting_count && status == AST_OK; i++) {
        plan->command->progress(plan->data, work->runs * work->setting_count + i, work->planned * work->setting_count,
                                "clusterings", work->done / work->all);
        if (work->runs < work->settings[i].sets)
            status = measure(work, &work->settings[i], seed, results[i]);
    }
    if (status == AST_CANCELLED)
        return -1;
    if (status != AST_OK)
        return plan->command->status(status, plan->context, "the synthetic data");
    for (size_t i = 0; i < work->setting_count; i++)
        for (int n = 0; n < NUMBERS && work->runs < work->settings[i].sets; n++)
            ast_moments_add(&work->settings[i].results[n], results[i][n]);
    work->runs++;
    return -1;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Times are not in the file: the same data and seed give the same file. */
static void write_csv(const void *data, ast_text *text) {
    const job *work = data;
    ast_text_put(text, "method,setting,restarts,runs,clusters,clusters_sd,nmi,nmi_sd,silhouette,silhouette_sd\n");
    for (const setting *one = work->settings; one < work->settings + work->setting_count; one++) {
        ast_text_printf(text, "%s,%g,%d,%zu", names[one->method], one->value, one->restarts, one->results->count);
        for (int n = 0; n < PLOTTED; n++)
            ast_text_printf(text, ",%.9g,%.9g", one->results[n].mean, ast_moments_deviation(&one->results[n]));
        ast_text_put(text, "\n");
    }
}

/* The setting of a method with the highest NMI, or for K given the one at the true number. */
static const setting *best_of(const job *work, int method) {
    const setting *best = NULL;
    for (size_t i = 0; i < work->swept; i++) {
        const setting *one = &work->settings[i];
        if (one->method != method || (method != DP && one->value != TRUE_CLUSTERS))
            continue;
        if (!best || one->results[NMI].mean > best->results[NMI].mean)
            best = one;
    }
    return best;
}

static void print_row(const setting *one, const char *nmi, const char *silhouette, const char *clusters) {
    static const char *const patterns[] = {"%s at %g degrees", "%s, K = %g", "%s, K = %g", "%s, K <= %g", "%s"};
    const ast_moments *of = one->results;
    char name[64], repeats[32];
    snprintf(name, sizeof name, patterns[one->method], names[one->method], one->value);
    snprintf(repeats, sizeof repeats,
             is_sampler(one)     ? "%d sweeps"
             : one->restarts > 1 ? "%d runs"
                                 : "%d run",
             one->restarts);
    printf("%-22s  %11s  %8.3f  %5s  %.3f +- %.3f  %5s  %.3f +- %.3f  %5.2f +- %.2f%s\n", name, repeats,
           of[SECONDS].mean, nmi, of[NMI].mean, ast_moments_deviation(&of[NMI]), silhouette, of[SILHOUETTE].mean,
           ast_moments_deviation(&of[SILHOUETTE]), of[CLUSTERS].mean, ast_moments_deviation(&of[CLUSTERS]), clusters);
}

static void print_table(const void *data) {
    const job *work = data;
    printf("%zu data sets of %zu points from %d von Mises-Fisher distributions, kappa %g, means at least %g degrees\n"
           "apart (not in the paper; chosen so that the best silhouette is near the paper's 0.92)\n\n",
           work->runs, work->count, TRUE_CLUSTERS, KAPPA, SEPARATION);
    printf("%-22s  %11s  %8s  %5s  %-14s  %5s  %-14s  %s\n", "", "best of", "seconds", "paper", "NMI", "paper",
           "silhouette", "clusters");
    print_row(best_of(work, DP), "0.99", "0.92", "");
    print_row(best_of(work, RANDOM), "0.94", "-", "");
    print_row(best_of(work, PLUSPLUS), "-", "-", "");
    for (size_t i = work->swept; i < work->setting_count; i++) {
        const setting *one = &work->settings[i];
        if (one->method == FSD)
            print_row(one, "0.94", "0.74", " (paper: 23.0 +- 1.67)");
        else
            print_row(one, "-", "-", one->method == CRP ? " (paper: stopped after two days)" : "");
    }
    printf("\nOf a sampler the last sweep counts. %zu rows in %.1f s; %s holds synthetic.csv, synthetic.svg and\n"
           "sphere.svg.\n",
           work->setting_count, work->seconds, work->plan->output);
}

static void put_setting(ast_text *json, const setting *one) {
    char key[32];
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "method", names[one->method]);
    ast_json_real(json, "setting", one->value, 17);
    ast_json_integer(json, is_sampler(one) ? "sweeps" : "restarts", one->restarts);
    ast_json_integer(json, "runs", (int64_t)one->results->count);
    ast_json_real(json, "seconds", one->results[SECONDS].mean, 17);
    for (int n = 0; n < PLOTTED; n++) {
        snprintf(key, sizeof key, "%s_sd", numbers[n]);
        ast_json_real(json, numbers[n], one->results[n].mean, 17);
        ast_json_real(json, key, ast_moments_deviation(&one->results[n]), 17);
    }
    ast_json_close(json, '}');
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_string(json, "experiment", "synthetic");
    ast_json_integer(json, "runs", (int64_t)work->runs);
    ast_json_integer(json, "points", (int64_t)work->count);
    ast_json_integer(json, "true_clusters", TRUE_CLUSTERS);
    ast_json_real(json, "kappa", KAPPA, 17);
    ast_json_real(json, "separation", SEPARATION, 17);
    ast_json_real(json, "seconds", work->seconds, 17);
    ast_json_open(json, "best", '[');
    for (int method = 0; method < METHODS; method++)
        put_setting(json, best_of(work, method));
    for (size_t i = work->swept; i < work->setting_count; i++)
        put_setting(json, &work->settings[i]);
    ast_json_close(json, ']');
    ast_json_open(json, "settings", '[');
    for (size_t i = 0; i < work->swept; i++)
        put_setting(json, &work->settings[i]);
    ast_json_close(json, ']');
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static void write_svg(const void *data, ast_text *text) {
    const job *work = data;
    double values[MOST_SETTINGS], means[PLOTTED][MOST_SETTINGS], deviations[PLOTTED][MOST_SETTINGS];
    size_t first[METHODS + 1] = {0};
    for (size_t i = 0; i < work->swept; i++) {
        const setting *one = &work->settings[i];
        values[i] = one->value;
        for (int n = 0; n < PLOTTED; n++) {
            means[n][i] = one->results[n].mean;
            deviations[n][i] = ast_moments_deviation(&one->results[n]);
        }
        first[one->method + 1] = i + 1;
    }
    ast_plot_series found = {legends[DP], values, means[CLUSTERS], deviations[CLUSTERS], first[1], 0, false};
    ast_plot_series series[PLOTTED][METHODS];
    for (int n = NMI; n < PLOTTED; n++)
        for (int method = 0; method < METHODS; method++) {
            size_t at = first[method], count = first[method + 1] - at;
            series[n][method] = (ast_plot_series){
                legends[method], means[CLUSTERS] + at, means[n] + at, deviations[n] + at, count, method, false};
        }
    ast_plot_panel panels[3] = {
        {"Clusters that DP-vMF-means finds", "angle (degrees)", "clusters", &found, 1, 0, 0, false, NAN, TRUE_CLUSTERS},
        {"Agreement with the truth", "clusters", "NMI", series[NMI], METHODS, 0.5, 1, false, TRUE_CLUSTERS, NAN},
        {"Silhouette by cosine", "clusters", "silhouette", series[SILHOUETTE], METHODS, 0.2, 1, false, TRUE_CLUSTERS,
         NAN}};
    ast_plot_draw(panels, 3, "DP-vMF-means and spherical k-means on 30 true clusters", text);
}

static void write_sphere(const void *data, ast_text *text) {
    const job *work = data;
    ast_net_draw(work->points, work->truth, work->count, work->means, TRUE_CLUSTERS,
                 "The last data set: true clusters and their means, equal-area", text);
}

static int deliver(job *work) {
    const ast_experiment *plan = work->plan;
    int code = ast_experiment_file(plan, "synthetic.csv", write_csv, work);
    if (code < 0)
        code = ast_experiment_file(plan, "synthetic.svg", write_svg, work);
    if (code < 0)
        code = ast_experiment_file(plan, "sphere.svg", write_sphere, work);
    if (code < 0)
        code = plan->command->print(plan->data, &(ast_experiment_printer){print_json, print_table}, work);
    if (code == EXIT_SUCCESS && work->runs < work->planned)
        code = plan->command->fail(plan->command->stopped(), "stopped after %zu of %zu runs; %s holds those",
                                   work->runs, work->planned, plan->output);
    return code;
}
