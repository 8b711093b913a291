/* SPDX-License-Identifier: MIT
 *
 * The paper's Figure 6 and the numbers of its text: silhouettes over the angle and over K, how many clusters scenes
 * have. */
#include "nyu_report.h"

#include <math.h>
#include <plot.h>
#include <stdio.h>
#include <string.h>

/* What the paper reports. */
#define PAPER_ANGLE 100
#define PAPER_CLUSTERS 4
static const double paper_silhouette[2] = {0.73, 0.75}; /* of spkm, of dp */

static const char *method_name(const ast_nyu_setting *setting) {
    return setting->dp ? "dp" : "spkm";
}

void ast_nyu_add(ast_nyu_summary *summary, const ast_nyu_scene *scene) {
    summary->scenes++;
    if (isnan(scene->silhouette[0])) {
        summary->idle++;
        return;
    }
    for (size_t i = 0; i < summary->setting_count; i++) {
        double bar = fmin(fmax(scene->clusters[i], 0), AST_NYU_BARS - 1);
        ast_moments_add(&summary->clusters[i], scene->clusters[i]);
        ast_moments_add(&summary->silhouette[i], scene->silhouette[i]);
        summary->histograms[i][(size_t)bar]++;
    }
}

/* The setting of dp, or of spkm, with the highest mean silhouette. */
static size_t best_of(const ast_nyu_summary *summary, bool dp) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < summary->setting_count; i++)
        if (summary->settings[i].dp == dp &&
            (best == SIZE_MAX || summary->silhouette[i].mean > summary->silhouette[best].mean))
            best = i;
    return best;
}

static const size_t *best_histogram(const ast_nyu_summary *summary) {
    return summary->histograms[best_of(summary, true)];
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void write_csv(const void *data, ast_text *text) {
    const ast_nyu_summary *summary = data;
    ast_text_put(text, "method,setting,scenes,clusters,clusters_sd,silhouette,silhouette_sd\n");
    for (size_t i = 0; i < summary->setting_count; i++) {
        const ast_moments *clusters = &summary->clusters[i], *silhouette = &summary->silhouette[i];
        ast_text_printf(text, "%s,%g,%zu,%.9g,%.9g,%.9g,%.9g\n", method_name(&summary->settings[i]),
                        summary->settings[i].value, silhouette->count, clusters->mean, ast_moments_deviation(clusters),
                        silhouette->mean, ast_moments_deviation(silhouette));
    }
}

/* The bars from 1 on that are needed. */
static size_t last_bar(const ast_nyu_summary *summary) {
    const size_t *histogram = best_histogram(summary);
    size_t last = 1;
    for (size_t k = 1; k < AST_NYU_BARS; k++)
        last = histogram[k] ? k : last;
    return last;
}

static void write_histogram(const void *data, ast_text *text) {
    const ast_nyu_summary *summary = data;
    ast_text_put(text, "clusters,scenes\n");
    for (size_t k = 1; k <= last_bar(summary); k++)
        ast_text_printf(text, "%zu,%zu\n", k, best_histogram(summary)[k]);
}

static void write_svg(const void *data, ast_text *text) {
    const ast_nyu_summary *summary = data;
    double values[AST_NYU_SETTINGS], means[AST_NYU_SETTINGS], deviations[AST_NYU_SETTINGS];
    double clusters[AST_NYU_BARS], counts[AST_NYU_BARS];
    size_t dp = 0, bars = last_bar(summary);
    for (size_t i = 0; i < summary->setting_count; i++) {
        values[i] = summary->settings[i].value;
        means[i] = summary->silhouette[i].mean;
        deviations[i] = ast_moments_deviation(&summary->silhouette[i]);
        dp += summary->settings[i].dp; /* they come first */
    }
    for (size_t k = 1; k <= bars; k++) {
        clusters[k - 1] = (double)k;
        counts[k - 1] = (double)best_histogram(summary)[k];
    }
    char title[64];
    snprintf(title, sizeof title, "DP-vMF-means at %g degrees", summary->settings[best_of(summary, true)].value);
    ast_plot_series histogram = {.x = clusters, .y = counts, .count = bars, .bars = true};
    ast_plot_series angle = {.x = values, .y = means, .error = deviations, .count = dp};
    ast_plot_series spkm = {
        .x = values + dp, .y = means + dp, .error = deviations + dp, .count = summary->setting_count - dp, .look = 1};
    ast_plot_panel panels[3] = {{title, "clusters", "scenes", &histogram, 1, 0, 0, false, NAN, NAN},
                                {"DP-vMF-means (lines: the paper's best)", "angle (degrees)", "silhouette", &angle, 1,
                                 0, 1, false, PAPER_ANGLE, paper_silhouette[1]},
                                {"spkm (lines: the paper's best)", "clusters K", "silhouette", &spkm, 1, 0, 1, false,
                                 PAPER_CLUSTERS, paper_silhouette[0]}};
    ast_plot_draw(panels, 3, "Clusters of scenes, and silhouettes over the angle and over K", text);
}

/* ---- What is printed --------------------------------------------------------------------------------------------- */

static void print_setting(const ast_nyu_summary *summary, size_t i, bool best) {
    const ast_nyu_setting *setting = &summary->settings[i];
    char name[64], paper[16] = "-";
    snprintf(name, sizeof name, setting->dp ? "dp at %g degrees%s" : "spkm, K = %g%s", setting->value,
             best ? ", its best" : "");
    if (setting->value == (setting->dp ? PAPER_ANGLE : PAPER_CLUSTERS))
        snprintf(paper, sizeof paper, "%.2f, its best", paper_silhouette[setting->dp]);
    printf("%-28s  %-18s  %.3f +- %.3f    %.2f +- %.2f\n", name, paper, summary->silhouette[i].mean,
           ast_moments_deviation(&summary->silhouette[i]), summary->clusters[i].mean,
           ast_moments_deviation(&summary->clusters[i]));
}

/* Those of the figure, which the paper has too, and the best. */
static void print_settings(const ast_nyu_summary *summary) {
    for (size_t i = 0; i < summary->setting_count; i++) {
        const ast_nyu_setting *setting = &summary->settings[i];
        bool best = i == best_of(summary, setting->dp);
        bool shown = setting->dp ? setting->value == 75 || setting->value == PAPER_ANGLE
                                 : setting->value == PAPER_CLUSTERS || setting->value == 5;
        if (best || shown)
            print_setting(summary, i, best);
    }
}

static void print_counts(const ast_nyu_summary *summary) {
    const size_t *histogram = best_histogram(summary);
    size_t most = 1;
    printf("\nclusters at %g degrees:", summary->settings[best_of(summary, true)].value);
    for (size_t k = 1; k < AST_NYU_BARS; k++) {
        most = histogram[k] > histogram[most] ? k : most;
        if (histogram[k])
            printf("  %zu in %zu", k, histogram[k]);
    }
    printf("; most often %zu (paper: 3 to 11, most often 4)\n", most);
}

static void print_table(const void *data) {
    const ast_nyu_summary *summary = data;
    const ast_experiment *plan = summary->plan;
    printf("%zu scenes of %s, %zu x %zu pixels, %s%ssmoothed by %s", summary->scenes, plan->input, summary->width,
           summary->height, plan->depths ? plan->depths : "", plan->depths ? " depths, " : "", plan->smoothing);
    if (summary->again)
        printf("; %zu of an earlier run", summary->again);
    if (summary->idle)
        printf("; %zu with too few normals are left out", summary->idle);
    printf("\n\n%-28s  %-18s  %-16s  %s\n", "mean silhouette", "paper, 1449 scenes", "here", "clusters");
    print_settings(summary);
    print_counts(summary);
    printf("\n%.1f s; %s holds nyu.csv, nyu.svg, histogram.csv, scenes.csv%s\n", summary->seconds, plan->output,
           summary->figure->count ? " and segments.svg" : "");
    if (summary->no_figure.text[0])
        printf("There is no segments.svg: %s\n", summary->no_figure.text);
}

/* The members of a setting; the caller opens and closes the object. */
static void put_setting(ast_text *json, const ast_nyu_summary *summary, size_t i) {
    const ast_moments *clusters = &summary->clusters[i], *silhouette = &summary->silhouette[i];
    ast_json_string(json, "method", method_name(&summary->settings[i]));
    ast_json_real(json, "setting", summary->settings[i].value, 17);
    ast_json_real(json, "clusters", clusters->mean, 17);
    ast_json_real(json, "clusters_sd", ast_moments_deviation(clusters), 17);
    ast_json_real(json, "silhouette", silhouette->mean, 17);
    ast_json_real(json, "silhouette_sd", ast_moments_deviation(silhouette), 17);
}

static void put_best(ast_text *json, const ast_nyu_summary *summary) {
    ast_json_open(json, "best", '[');
    for (int dp = 1; dp >= 0; dp--) {
        ast_json_open(json, NULL, '{');
        put_setting(json, summary, best_of(summary, dp));
        ast_json_integer(json, "paper_setting", dp ? PAPER_ANGLE : PAPER_CLUSTERS);
        ast_json_real(json, "paper_silhouette", paper_silhouette[dp], 17);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void print_json(const void *data, ast_text *json) {
    const ast_nyu_summary *summary = data;
    ast_json_string(json, "experiment", "nyu");
    const ast_experiment *plan = summary->plan;
    ast_json_string(json, plan->depths ? "mat" : "input", plan->input);
    ast_json_integer(json, "scenes", (int64_t)summary->scenes);
    ast_json_integer(json, "resumed", (int64_t)summary->again);
    ast_json_integer(json, "left_out", (int64_t)summary->idle);
    ast_json_integer(json, "width", (int64_t)summary->width);
    ast_json_integer(json, "height", (int64_t)summary->height);
    if (plan->depths)
        ast_json_boolean(json, "raw_depths", strcmp(plan->depths, "raw") == 0);
    ast_json_string(json, "smooth", plan->smoothing);
    ast_json_real(json, "seconds", summary->seconds, 17);
    put_best(json, summary);
    ast_json_open(json, "histogram", '[');
    for (size_t k = 1; k <= last_bar(summary); k++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "clusters", (int64_t)k);
        ast_json_integer(json, "scenes", (int64_t)best_histogram(summary)[k]);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
    ast_json_open(json, "settings", '[');
    for (size_t i = 0; i < summary->setting_count; i++) {
        ast_json_open(json, NULL, '{');
        put_setting(json, summary, i);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

int ast_nyu_deliver(const ast_nyu_summary *summary) {
    const ast_experiment *plan = summary->plan;
    int code = ast_experiment_file(plan, "nyu.csv", write_csv, summary);
    if (code < 0)
        code = ast_experiment_file(plan, "histogram.csv", write_histogram, summary);
    if (code < 0)
        code = ast_experiment_file(plan, "nyu.svg", write_svg, summary);
    if (code < 0 && summary->figure->count)
        code = ast_experiment_file(plan, "segments.svg", ast_nyu_figure_write, summary->figure);
    if (code < 0)
        code = plan->command->print(plan->data, &(ast_experiment_printer){print_json, print_table}, summary);
    return code;
}
