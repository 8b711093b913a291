/* SPDX-License-Identifier: MIT
 *
 * The table for people: what was read, what came out, and the largest clusters, each with a bar. It prints to standard
 * output and decides nothing. */
#include "cluster.h"

#include <asterism_depth.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "terminal.h"

enum {
    FEW_CLUSTERS = 20,
    BAR_CELLS = 20,
    MOST_COMPONENTS = 4,
    MOST_ANGLES = 10,
    TEXT_BYTES = 110,
    TEXT_INDENT = 8,
    KEYWORD_BYTES = 60,
    FEWEST_SHAPED = 5 /* points whose shape is worth a line */
};

typedef struct look {
    const char *bold, *bar, *plain; /* escape sequences, or "" */
    int unicode;
} look;

/* The columns behind the mean, and what they are. */
static const struct {
    const char *heading, *meaning;
} notations[] = {[AST_NO_NOTATION] = {"", ""},
                 [AST_DIP_DIRECTION] =
                     {"                   dip dir    dip",
                      "dip dir, dip: of the plane that the mean is the normal of, where x is east, y north and z up\n"},
                 [AST_STRIKE_DIP] = {"                    strike    dip",
                                     "strike, dip: of the plane that the mean is the normal of\n"},
                 [AST_TREND_PLUNGE] = {"                     trend plunge", "trend, plunge: of the mean\n"},
                 [AST_AZIMUTH] = {"            azimuth", "azimuth: of the mean, clockwise from north (y)\n"}};

/* Measured directions: the table also has Fisher's k and the shape of all points. */
static bool in_field(const ast_cli_cluster_job *work) {
    return ast_cli_field_notation(&work->given->reading.source) != AST_NO_NOTATION;
}

/* With representatives or keywords the table is about them: a mean of many components says little to people. */
static int exemplified(const ast_cli_cluster_job *work) {
    return work->keywords || (work->report.clusters > 0 && work->clusters[0].representatives);
}

static void print_heading(const ast_cli_cluster_job *work, const look *style) {
    printf("\n%s%6s  %*s  %11s  %6s  ", style->bold, "id", -BAR_CELLS, "", "size", "share");
    if (exemplified(work))
        printf("%6s  %7s  %s%s\n", "cosine", "spread", work->keywords ? "keywords" : "representatives", style->plain);
    else
        printf("%7s  %7s  %s%7s  mean%s%s\n", "spread", "kappa", in_field(work) ? "      k  " : "", "alpha95",
               notations[ast_cli_cluster_notation(work)].heading, style->plain);
}

/* "0 + 5; 1 + 3" */
static void print_pieces(const ast_cli_cluster_job *work) {
    size_t count = work->report.clusters, found = 1, sets = 0;
    for (; found > 0; sets += found > 0) {
        found = 0;
        for (size_t k = 0; k < count; k++)
            if (work->clusters[k].set == sets + 1) {
                const char *between = found++ ? " + " : sets ? "; " : "         clusters ";
                printf("%s%" PRId32, between, ast_cli_cluster_id(work, k));
            }
    }
    if (sets)
        printf(" %s: the angle is smaller than the spread;\n"
               "         --merge evidence joins them, and until then alpha95 reaches to the mean of the set\n",
               sets > 1 ? "are pieces of one set each" : "are pieces of one set");
}

static void print_legend(const ast_cli_cluster_job *work) {
    if (exemplified(work)) {
        puts("\ncosine: mean cosine between the members and their mean; spread: the same in degrees");
        if (work->keywords)
            printf("keywords: the terms that tell a cluster from the others (c-TF-IDF)%s\n",
                   work->report.clusters && work->clusters[0].representatives
                       ? "; below them the rows nearest to the mean"
                       : "");
        else
            printf("representatives: the rows nearest to the mean, nearest first%s\n",
                   ast_cli_cluster_names(work) ? "" : ", by row number from 0");
        return;
    }
    printf("\nspread: degrees; its cosine is the mean cosine between the members and their mean\n"
           "alpha95: degrees; the true mean is within this angle of the mean with 95%% confidence\n");
    print_pieces(work);
    bool watson = work->options.axial && work->options.method == AST_MOVMF;
    if (in_field(work))
        puts(watson                        ? "k: kappa (n - 1) / n, without the bias of few axes"
             : work->report.dimension == 3 ? "k: Fisher's precision, (n - 1) / (n - R)"
                                           : "k: an estimate of kappa without the bias of few points");
    if (watson)
        puts("kappa: of a Watson distribution; below 0: a girdle, and the mean is its pole");
    fputs(notations[ast_cli_cluster_notation(work)].meaning, stdout);
}

/* A cluster, a girdle or nothing: before anybody believes in sets. */
static void print_orientation(const ast_cli_cluster_job *work) {
    const ast_orientation *o = &work->orientation;
    double trend, plunge;
    if (o->count < FEWEST_SHAPED || !in_field(work))
        return;
    printf("\nall points: eigenvalues %.3f %.3f %.3f of the orientation tensor, Woodcock's shape K %.2f, strength C "
           "%.2f:\n",
           o->eigenvalues[0], o->eigenvalues[1], o->eigenvalues[2], o->shape_ratio, o->strength);
    ast_angles_of(AST_LINE, o->axes[2], &trend, &plunge);
    if (o->shape == AST_SHAPE_GIRDLE)
        printf("a girdle, whose pole (fold axis) has trend %.1f and plunge %.1f; sets within a girdle may be pieces of "
               "it\n",
               trend, plunge);
    else
        puts(o->shape == AST_SHAPE_CLUSTER ? "drawn out towards one axis"
                                           : "neither drawn out towards one axis nor along a great circle");
    if (isfinite(o->p))
        printf("%s test of uniformity: p = %.2g\n", work->options.axial ? "Gine's G" : "Gine's F", o->p);
}

/* What a mistake in the call looks like. */
static void print_doubts(const ast_cli_cluster_job *work) {
    const ast_report *report = &work->report;
    size_t rows = report->points - report->missing;
    if (report->dimension > 20 * rows && rows > 1)
        printf("\nThere are %zu rows of %zu dimensions. If each column is a point, use --transpose.\n", rows,
               report->dimension);
}

static int in_space(const ast_cli_cluster_job *work) {
    return work->report.dimension == 3;
}

/* What the points that were not looked at may have cost. */
static void print_improvement(const ast_report *report) {
    if (isfinite(report->improvement))
        printf("found by looking at some of the points: one more iteration over all of them would add %.3g%% to the "
               "objective\n",
               100 * report->improvement / fabs(report->objective));
}

/* What levels cost, compared with the same means and every point in its nearest cluster. */
static void print_levels(const ast_cli_cluster_job *work) {
    if (isfinite(work->report.level_loss))
        printf("%d levels: %.2g%% of a sample of points are not in the nearest cluster, which costs %.2g%% of their "
               "objective\n",
               work->options.kmeans.levels, 100 * work->report.level_misplaced, 100 * work->report.level_loss);
}

/* What happened after convergence. */
static void print_merge(const ast_cli_cluster_job *work) {
    const ast_report *report = &work->report;
    char text[AST_GROUPED];
    if (work->options.merge.by && report->merged > report->clusters)
        printf("merged from %s clusters; a point may be farther than the angle from its mean\n",
               ast_grouped(report->merged, text));
    else if (work->options.merge.by)
        printf("no clusters were merged\n");
    if (work->options.merge.min_size > 0)
        printf("clusters below %g are dissolved; %s outlier%s with label -1\n", work->options.merge.min_size,
               ast_grouped(report->outliers, text), report->outliers == 1 ? "" : "s");
    else if (!isnan(work->options.outliers))
        printf("%s outlier%s with label -1, less similar to their mean than the threshold of the cluster\n",
               ast_grouped(report->outliers, text), report->outliers == 1 ? "" : "s");
}

/* How far the other restarts agree. */
static void print_firmness(const ast_report *report) {
    if (!isfinite(report->stability))
        return;
    printf("stability %.2f: the mean agreement (adjusted Rand index) of the other runs with this one",
           report->stability);
    if (isfinite(report->silhouette))
        printf("; silhouette %.2f, the highest of all runs", report->silhouette);
    putchar('\n');
}

/* What a sampler's chain, or the evidence, says about the number of clusters; rare numbers are left out. */
static void print_chain(const ast_report *report) {
    if (!report->cluster_posterior)
        return;
    printf("number of clusters%s:", ast_cli_has_chain(report) ? " over the sweeps" : " by the evidence");
    for (size_t k = 0; k < report->cluster_posterior_count; k++)
        if (report->cluster_posterior[k] >= 0.005)
            printf(" %zu (%.0f%%)", k, 100 * report->cluster_posterior[k]);
    if (ast_cli_has_chain(report))
        printf("; worth %.0f independent samples%s", report->effective_samples, report->settled ? "" : "; NOT settled");
    putchar('\n');
}

static void print_head(const ast_cli_cluster_job *work, const look *style) {
    const ast_report *report = &work->report;
    const char *cosine = ast_cli_typed(&work->given->common, "cosine");
    char text[AST_GROUPED], time[AST_CLI_DURATION], about[AST_CLI_SURFACE_TEXT];
    printf("%s%s point%s%s, %zu dimensions", style->bold, ast_grouped(report->points, text),
           report->points == 1 ? "" : "s", work->points.weights ? " with weights" : "", report->dimension);
    if (report->missing)
        printf(", %s missing", ast_grouped(report->missing, text));
    printf("%s\n%s%s cluster%s%s by %s", style->plain, style->bold, ast_grouped(report->clusters, text),
           report->clusters == 1 ? "" : "s", style->plain, ast_cli_batch_names[work->options.method]);
    if (cosine)
        printf(" at cosine %s (%.4g degrees)", cosine, ast_cli_angle(work));
    else if (!isnan(ast_cli_angle(work)))
        printf(" at %g degrees", ast_cli_angle(work));
    if (ast_cli_has_chain(report))
        printf(", the last of %d sweep%s", report->iterations, report->iterations == 1 ? "" : "s");
    else
        printf(", %s after %d %s%s", report->converged ? "converged" : "NOT converged", report->iterations,
               work->options.method == AST_MBSPKM ? "batch" : "pass", report->iterations == 1 ? "" : "es");
    printf(", %s, objective %.8g\n", ast_cli_duration(report->seconds, time), report->objective);
    print_chain(report);
    if (isfinite(report->background))
        printf("background: %.1f%% of the mixture; %s outlier%s with label -1\n", 100 * report->background,
               ast_grouped(report->outliers, text), report->outliers == 1 ? "" : "s");
    if (report->center)
        printf("centred: the mean of the rows, of length %.3f, is subtracted; all of this is about the centred rows\n",
               ast_cli_center_length(report));
    if (report->metric)
        printf("metric: local: rows are compared after a linear map learned from them; angles and means are those of "
               "the mapped rows\n");
    print_improvement(report);
    print_levels(work);
    print_merge(work);
    print_firmness(report);
    ast_cli_cluster_print_lineage(work);
    if (ast_cli_cluster_about(work, about))
        printf("%s\n", about);
    if (work->tuned.reason)
        printf("the angle: %s", work->tuned.reason);
    if (work->tuned.reason && ast_cli_typed(&work->given->common, "merge-to"))
        printf("; --merge-to decides otherwise");
    if (work->tuned.reason)
        printf("\n");
}

typedef struct ranked {
    size_t id;
    double share;
} ranked;

static int by_share(const void *a, const void *b) {
    const ranked *one = a, *other = b;
    if (one->share != other->share)
        return one->share < other->share ? 1 : -1;
    return (one->id > other->id) - (one->id < other->id);
}

/* The ids of the clusters, those of the largest shares first, equal ones by id: to free(). NULL without memory. */
static size_t *by_size(const ast_cli_cluster_job *work) {
    size_t count = work->report.clusters;
    ranked *all = malloc((count + 1) * sizeof *all);
    size_t *ids = malloc((count + 1) * sizeof *ids);
    for (size_t id = 0; all && id < count; id++)
        all[id] = (ranked){id, ast_cli_share(work, &work->clusters[id])};
    if (all)
        qsort(all, count, sizeof *all, by_share);
    for (size_t i = 0; all && ids && i < count; i++)
        ids[i] = all[i].id;
    if (!all) {
        free(ids);
        ids = NULL;
    }
    free(all);
    return ids;
}

/* A bar of BAR_CELLS cells, `share` of it filled, in eighths of a cell where the terminal has them. Something is always
 * drawn for something. */
static void print_bar(double share, const look *style) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int steps = style->unicode ? 8 : 1;
    int filled = (int)lround(share * BAR_CELLS * steps);
    if (filled == 0 && share > 0)
        filled = 1;
    int cells = filled / steps, rest = filled % steps;
    fputs(style->bar, stdout);
    for (int i = 0; i < cells; i++)
        fputs(style->unicode ? "█" : "#", stdout);
    fputs(eighths[rest], stdout);
    printf("%s%*s", style->plain, BAR_CELLS - cells - (rest > 0), "");
}

/* Names may hold commas, so that bars stand between them. */
static void print_representatives(const ast_cluster_info *cluster, const ast_cli_cluster_job *work) {
    char text[AST_EXCERPT];
    const ast_names *names = ast_cli_cluster_names(work);
    for (size_t i = 0; i < cluster->representative_count; i++) {
        size_t row = cluster->representatives[i];
        if (names)
            printf("%s%s", i ? " | " : "", ast_cli_row_name(names, row, text));
        else
            printf("%s%zu", i ? ", " : "", row);
    }
    putchar('\n');
}

/* As many as fit into a line; below them the texts of the representatives, one per line, or their names or numbers. */
static void print_topic(const ast_cluster_info *cluster, size_t id, const ast_cli_cluster_job *work) {
    const ast_keywords *keywords = &work->keywords[id];
    const ast_names *texts = ast_cli_cluster_texts(work);
    char text[TEXT_BYTES + 4];
    size_t used = 0;
    for (size_t i = 0; i < keywords->count && used < KEYWORD_BYTES; i++) {
        ast_excerpt_of(text, TEXT_BYTES, keywords->words[i], strlen(keywords->words[i]));
        used += (size_t)printf("%s%s", i ? ", " : "", text);
    }
    puts(keywords->count ? "" : "-");
    for (size_t i = 0; texts && i < cluster->representative_count; i++) {
        const char *line = texts->list[cluster->representatives[i]];
        ast_excerpt_of(text, TEXT_BYTES, line, strlen(line));
        printf("%*s%s\n", TEXT_INDENT, "", text);
    }
    if (!texts && cluster->representative_count > 0) {
        printf("%*s%s", TEXT_INDENT, "", ast_cli_cluster_names(work) ? "" : "rows ");
        print_representatives(cluster, work);
    }
}

static void print_row(const ast_cluster_info *cluster, size_t id, const ast_cli_cluster_job *work, double scale,
                      const look *style) {
    size_t dimension = work->report.dimension;
    ast_notation notation = ast_cli_cluster_notation(work);
    double share = ast_cli_share(work, cluster), azimuth, inclination;
    char size[AST_GROUPED], kappa[32] = "-", precision[32] = "-", alpha95[32] = "-";
    if (isfinite(cluster->kappa))
        snprintf(kappa, sizeof kappa, cluster->kappa < 99999 ? "%.1f" : "%.1e", cluster->kappa);
    if (isfinite(cluster->precision))
        snprintf(precision, sizeof precision, cluster->precision < 99999 ? "%.1f" : "%.1e", cluster->precision);
    if (isfinite(cluster->alpha95))
        snprintf(alpha95, sizeof alpha95, cluster->alpha95 < 0.01 ? "%.1e" : "%.2f", cluster->alpha95);
    printf("%6" PRId32 "  ", ast_cli_cluster_id(work, id));
    print_bar(scale > 0 ? share / scale : 0, style);
    printf("  %11s  %5.1f%%", ast_grouped(cluster->count, size), 100 * share);
    if (exemplified(work)) {
        printf("  %6.3f  %7.2f  ", fmin(1, fmax(0, cluster->resultant)), ast_cli_spread(cluster));
        if (work->keywords)
            print_topic(cluster, id, work);
        else
            print_representatives(cluster, work);
        return;
    }
    printf("  %7.2f  %7s  ", ast_cli_spread(cluster), kappa);
    if (in_field(work))
        printf("%7s  ", precision);
    printf("%7s ", alpha95);
    size_t shown = dimension < MOST_COMPONENTS ? dimension : MOST_COMPONENTS;
    for (size_t d = 0; d < shown; d++)
        printf(" %6.3f", (double)cluster->mean[d]);
    if (notation) {
        ast_field_angles(notation, work->options.axial, cluster->mean, &azimuth, &inclination);
        printf(isnan(inclination) ? "   %7.1f" : "   %7.1f  %5.1f", azimuth, inclination);
    }
    printf("%s\n", shown < dimension ? " ..." : "");
}

/* Of the first clusters of the table. */
static void print_angles(const ast_cli_cluster_job *work, const size_t *rows, size_t count, const look *style) {
    printf("\n%sangles between the means%s, degrees\n%6s", style->bold, style->plain, "");
    for (size_t b = 0; b < count; b++)
        printf(" %6" PRId32, ast_cli_cluster_id(work, rows[b]));
    for (size_t a = 0; a < count; a++) {
        printf("\n%6" PRId32, ast_cli_cluster_id(work, rows[a]));
        for (size_t b = 0; b < count; b++)
            printf(a == b ? "      -" : " %6.1f", ast_cli_between(work, rows[a], rows[b]));
    }
    putchar('\n');
}

/* Which clusters lie along which axis is said where they are few. */
static void print_axes(const ast_cli_cluster_job *work, const look *style) {
    const ast_axes *axes = &work->axes;
    printf("\n%snearest orthogonal frame%s: %zu mean%s, %.2f degrees from its axes (rms)\n", style->bold, style->plain,
           axes->used, axes->used == 1 ? "" : "s", axes->rms);
    printf("rotation that aligns the scene with x, y, z:\n");
    for (int i = 0; i < 3; i++)
        printf("  %12.9f %12.9f %12.9f\n", axes->rotation[i][0], axes->rotation[i][1], axes->rotation[i][2]);
    for (size_t k = 0; k < work->report.clusters && work->report.clusters <= FEW_CLUSTERS; k++)
        printf("%s%zu %s", k ? ", " : "clusters and their axes: ", k, ast_cli_axis_name(work->nearest[k]));
    if (work->report.clusters <= FEW_CLUSTERS)
        putchar('\n');
}

void ast_cli_print_table(const ast_cli_cluster_job *work) {
    int colour = ast_cli_colour();
    look style = {.bold = colour ? "\033[1m" : "",
                  .bar = colour ? "\033[36m" : "",
                  .plain = colour ? "\033[0m" : "",
                  .unicode = ast_cli_unicode()};
    size_t *rows = by_size(work), total = work->report.clusters;
    size_t count = !rows ? 0 : total < work->given->top ? total : work->given->top;
    print_head(work, &style);
    print_heading(work, &style);
    double scale = count ? ast_cli_share(work, &work->clusters[rows[0]]) : 1;
    for (size_t i = 0; i < count; i++)
        print_row(&work->clusters[rows[i]], rows[i], work, scale, &style);
    if (total > count) {
        size_t rest = work->report.points - work->report.missing - work->report.outliers;
        for (size_t i = 0; i < count; i++)
            rest -= work->clusters[rows[i]].count;
        char more[AST_GROUPED], points[AST_GROUPED];
        printf("   ... and %s more with %s points together\n", ast_grouped(total - count, more),
               ast_grouped(rest, points));
    }
    print_legend(work);
    if (in_space(work) && count > 1)
        print_angles(work, rows, count < MOST_ANGLES ? count : MOST_ANGLES, &style);
    if (work->given->frame_axes)
        print_axes(work, &style);
    print_orientation(work);
    print_doubts(work);
    free(rows);
}
