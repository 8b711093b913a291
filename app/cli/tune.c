/* SPDX-License-Identifier: MIT
 *
 * asterism tune: which angle suits these points, and whether clusters are to be merged. The library finds it
 * (ast_tune); here it is printed and drawn. */
#include <plot.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "field.h"
#include "pages.h"
#include "recommend.h"
#include "stereonet.h"
#include "terminal.h"

typedef struct job {
    ast_cli_subject from;
    ast_tune_options options;
    ast_tune_report found;
    char *command; /* that is recommended */
    int equal_angle;
    ast_orientation orientation; /* of three-dimensional points; size 0: there is none */
    int32_t *labels;             /* of the recommended run, for --stereonet; NULL: they are not wanted */
    char *line, *title;          /* of the report */
} job;

static const char *const automatic[] = {"auto", NULL};
static const char *const metrics[] = {"plain", "local", "auto", NULL}; /* ast_metric_kind */

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"from", AST_CLI_REAL, "DEG", "the largest angle of the sweep", AT(options.from), 0, 180, .standard = "120"},
    {"to", AST_CLI_REAL, "DEG", "the smallest angle of the sweep", AT(options.to), 0, 180, .standard = "5"},
    {"step", AST_CLI_REAL, "DEG", "from one angle to the next", AT(options.step), 0.01, 180, .standard = "2.5"},
    {"min-clusters", AST_CLI_COUNT, "K", "consider at least this many clusters", AT(options.min_clusters), 2,
     2147483647, .standard = "2"},
    {"max-clusters", AST_CLI_COUNT, "K", "consider at most this many clusters (default: no limit)",
     AT(options.max_clusters), 2, 2147483647, .standard = NULL},
    {"metric", AST_CLI_CHOICE, "plain|local|auto",
     "how rows are compared: as they are, or after a map that makes clusters round; auto decides", AT(options.metric),
     .choices = metrics, .standard = "auto", .more = "docs/metric.md has the rule."},
    {"rounding", AST_CLI_REAL, "DEG|auto",
     "the angles of the rows were rounded to so many degrees: equal rows are observations of their own, and each "
     "stands "
     "for a cell of that size; auto finds it, 0 means none (default: auto for measured angles and two dimensions, "
     "otherwise 0)",
     AT(options.rounding), 0, 45, .choices = automatic,
     .more =
         "For the evidence of clusters: --merge evidence, --angle auto, tune and mixtures. docs/field.md says more."},
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same", AT(from.axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE},
    {"center", AST_CLI_FLAG, NULL, "look at the rows without their common direction, as cluster --center",
     AT(options.center), .inputs = AST_CLI_POINTS, .excludes = "axial dip-direction strike-dip trend-plunge"},
    {"id", AST_CLI_TEXT, "NAME",
     "the column of a text table or a .parquet file that identifies the rows; it is no coordinate",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "transpose"},
    AST_CLI_REPORT_OPTION(.writes = AST_CLI_WRITES_OWN),
    AST_CLI_STEREONET_OPTIONS(AT(equal_angle)),
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(from.reading)), {0}};

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static void defaults(void *data) {
    ast_tune_options_init(&((job *)data)->options);
}

static int check(void *data) {
    job *work = data;
    work->options.axial = work->from.axial;
    if (work->options.max_clusters && work->options.min_clusters > work->options.max_clusters)
        return ast_cli_misuse("--min-clusters %zu is above --max-clusters %zu", work->options.min_clusters,
                              work->options.max_clusters);
    if (work->options.to > work->options.from)
        return ast_cli_misuse("--to %g is above --from %g; the sweep goes from large angles to small ones",
                              work->options.to, work->options.from);
    int code = ast_cli_metric_check(work->options.metric, work->from.axial, work->options.center);
    if (code < 0)
        code = ast_cli_stereonet_check(&work->from.common);
    return code < 0 ? ast_cli_subject_check(data) : code;
}

static int read_points(void *data) {
    int code = ast_cli_subject_read(data);
    return code < 0 ? ast_cli_open_targets(data) : code;
}

/* What all points are together: sets within a girdle may be pieces of it. */
static int find_orientation(void *data) {
    job *work = data;
    ast_cli_tuned_input from = {work->from.context, &work->from.directions, &work->from.directions.points,
                                work->from.input, NULL};
    return ast_cli_find_orientation(&from, work->from.axial, work->options.center, &work->orientation);
}

static int find(void *data) {
    job *work = data;
    ast_cli_tuned_input from = {work->from.context, &work->from.directions, &work->from.directions.points,
                                work->from.input, NULL};
    if (ast_cli_typed(&work->from.common, "stereonet"))
        from.labels = work->labels = malloc((work->from.directions.points.count + 1) * sizeof *work->labels);
    if (ast_cli_typed(&work->from.common, "stereonet") && !work->labels)
        return ast_cli_no_memory("the labels");
    work->options.rounding =
        ast_cli_field_rounding(&work->from.common, &work->from.reading.source, work->options.rounding,
                               work->from.directions.points.dimension, false);
    int code = ast_cli_recommend(&from, &work->options, &work->from.common, &work->found);
    if (code >= 0)
        return code;
    work->command = ast_cli_recommended_command(&work->from.common, &work->found);
    return work->command ? -1 : ast_cli_no_memory("the command");
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

/* Whether the recommended run has this angle and no merging. */
static int is_recommended(const ast_tune_report *found, const ast_tune_angle *row) {
    return row->angle == found->angle && found->merge == AST_MERGE_NONE;
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_cli_put_tuned(work->from.context, &work->found, work->command, json);
    ast_cli_put_orientation(&work->orientation, work->from.axial, json);
}

static void print_value(double value) {
    if (isfinite(value))
        printf("  %10.4f", value);
    else
        printf("  %10s", "-");
}

/* The sentence of the result; to free(). NULL without memory. */
static char *write_verdict(const ast_tune_report *found) {
    char options[AST_CLI_RECOMMENDED], *text;
    const char *form = found->weak ? "The least bad options are %s, since %s." : "Take %s: %s.";
    if (asprintf(&text, form, ast_cli_recommended(found, options), found->reason) < 0)
        return NULL;
    return text;
}

/* Other levels of the tree that are as good. */
static void print_peaks(const job *work) {
    size_t count;
    const ast_tune_level *levels = ast_tune_levels(work->from.context, &count);
    int others = 0;
    for (const ast_tune_level *level = levels; level < levels + count; level++)
        if (level->peak && level->clusters != work->found.clusters)
            printf("%s%zu", others++ ? ", " : "The tree of joins is about as good at ", level->clusters);
    if (others)
        printf(" clusters.\n");
}

static void print_girdle(const ast_orientation *o, int weak) {
    if (o->size && o->shape == AST_SHAPE_GIRDLE)
        printf("All points together are a girdle (eigenvalues %.3f %.3f %.3f of the orientation tensor): %s.\n",
               o->eigenvalues[0], o->eigenvalues[1], o->eigenvalues[2],
               weak ? "poles of a fold, or another great circle, and no sets" : "the sets lie along a great circle");
}

static void print_angle(const ast_tune_report *found, const ast_tune_angle *row, size_t *skipped) {
    if (*skipped)
        printf("     ...         1\n");
    *skipped = 0;
    printf("%8g  %8zu", row->angle, row->clusters);
    print_value(row->silhouette);
    print_value(row->stability);
    printf("  %8zu", row->merged);
    print_value(row->merged_silhouette);
    printf("%s\n", is_recommended(found, row) ? "  <" : "");
}

static void print_table(const void *data) {
    const job *work = data;
    char command[AST_CLI_SHOWN];
    const ast_tune_report *found = &work->found;
    size_t count, skipped = 0; /* angles between two that find one cluster, as they do */
    const ast_tune_angle *angles = ast_tune_angles(work->from.context, &count);
    printf("   angle  clusters  silhouette   stability    merged  silhouette\n");
    for (size_t i = 0; i < count; i++) {
        bool inner = i > 0 && angles[i - 1].clusters == 1 && i + 1 < count && angles[i + 1].clusters == 1;
        if (inner && !is_recommended(found, &angles[i]))
            skipped++;
        else
            print_angle(found, &angles[i], &skipped);
    }
    if (found->cut)
        printf("     ...  smaller angles find more clusters than can be recommended\n");
    char *verdict = write_verdict(found);
    printf("\n%s\n", verdict ? verdict : found->reason);
    free(verdict);
    print_peaks(work);
    print_girdle(&work->orientation, found->weak);
    printf("\n    %s\n\nfinds %zu cluster%s", ast_cli_shown(work->command, command), found->clusters,
           found->clusters == 1 ? "" : "s");
    if (isfinite(found->silhouette))
        printf(", silhouette %.4f", found->silhouette);
    printf(".\n");
}

static void write_csv(const void *data, ast_text *text) {
    const job *work = data;
    size_t count;
    const ast_tune_angle *angles = ast_tune_angles(work->from.context, &count);
    ast_text_put(text, "angle,clusters,silhouette,stability,objective,merged,merged_silhouette,recommended\n");
    for (const ast_tune_angle *row = angles; row < angles + count; row++)
        ast_text_printf(text, "%.9g,%zu,%.9g,%.9g,%.17g,%zu,%.9g,%d\n", row->angle, row->clusters, row->silhouette,
                        row->stability, row->objective, row->merged, row->merged_silhouette,
                        is_recommended(&work->found, row));
}

static void write_svg(const void *data, ast_text *svg) {
    const job *work = data;
    size_t count;
    const ast_tune_angle *angles = ast_tune_angles(work->from.context, &count);
    double *values = malloc((4 * count + 1) * sizeof *values);
    svg->failed |= !values;
    if (!values)
        return;
    for (size_t i = 0; i < count; i++) {
        const ast_tune_angle *row = &angles[i];
        values[i] = row->angle;
        values[count + i] = row->silhouette;
        values[2 * count + i] = (double)row->clusters;
        values[3 * count + i] = row->stability;
    }
    double chosen = work->found.merge == AST_MERGE_NONE ? work->found.angle : NAN;
    ast_plot_series series[3];
    for (size_t i = 0; i < 3; i++)
        series[i] = (ast_plot_series){.x = values, .y = values + (i + 1) * count, .count = count, .look = (int32_t)i};
    ast_plot_panel panels[3] = {
        {"Silhouette by cosine", "angle (degrees)", "silhouette", series, 1, 0, 1, false, chosen, NAN},
        {"Clusters", "angle (degrees)", "clusters", series + 1, 1, 0, 0, true, chosen, NAN},
        {"Stability", "angle (degrees)", "NMI with the next larger angle", series + 2, 1, 0, 1, false, chosen, NAN}};
    ast_plot_draw(panels, 3, "Silhouette, clusters and stability over the angle", svg);
    free(values);
}

static int write_report(void *data) {
    job *work = data;
    ast_format_error error;
    const ast_tune_options *options = &work->options;
    const ast_tune_report *found = &work->found;
    ast_output *output = ast_cli_output_of(&work->from.common, "report");
    ast_page_head head = {.axial = options->axial};
    ast_chart_page page = {0};
    ast_text json = {0};
    if (!output)
        return -1;
    work->line = ast_cli_command_line(&ast_cli_tune, work->from.common.argc, work->from.common.argv);
    int code = ast_cli_page_head(&head, &ast_cli_tune, work->from.input, work->line, &work->title);
    if (code >= 0)
        return code;
    ast_page_parameter(&head, "from", NULL, options->from);
    ast_page_parameter(&head, "to", NULL, options->to);
    ast_page_parameter(&head, "step", NULL, options->step);
    ast_page_measure(&head, "points", (double)found->points);
    ast_page_measure(&head, "clusters", (double)found->clusters);
    ast_note(&head.notes, "%s", work->command);
    if (found->cut)
        ast_note(&head.notes, "Smaller angles find more clusters than can be recommended.");
    char *verdict = write_verdict(found);
    bool good = ast_chart_page_add(&page, "sweep.svg", write_svg, work, &error) &&
                ast_chart_page_add(&page, "sweep.csv", write_csv, work, &error) &&
                ast_chart_page_json(&page, &head, verdict ? verdict : found->reason, &json, &error) &&
                ast_page_write(&json, output, &error);
    free(verdict);
    ast_chart_page_free(&page);
    ast_text_free(&json);
    return ast_cli_outcome(good, &error);
}

static int draw_stereonet(void *data) {
    const job *work = data;
    return ast_cli_stereonet_write(
        &(ast_cli_stereonet){.common = &work->from.common,
                             .points = &work->from.directions.points,
                             .labels = work->labels,
                             .clusters = work->found.clusters,
                             .input = work->from.input,
                             .notation = ast_cli_field_notation(&work->from.reading.source),
                             .axial = work->from.axial,
                             .equal_angle = work->equal_angle,
                             .orientation = work->orientation.size ? &work->orientation : NULL});
}

static int deliver(void *data) {
    job *work = data;
    return ast_cli_deliver(&work->from.common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    ast_cli_subject_end(data);
    free(work->command);
    free(work->labels);
    free(work->line);
    free(work->title);
}

static ast_cli_step *const steps[] = {ast_cli_subject_find, check,   read_points, find_orientation, find, write_report,
                                      draw_stereonet,       deliver, NULL};

const ast_cli_command ast_cli_tune = {
    .name = "tune",
    .summary = "find the angle that suits the points",
    .usage = "tune INPUT [options]",
    .about =
        "Recommends options of 'cluster' for INPUT, prints the command, and describes its result. Clusters count only "
        "if they are clearer than those found in draws of distributions without clusters: one von Mises-Fisher "
        "distribution with the mean and kappa of the data, one in uniform noise, and in three dimensions a small "
        "circle and an arc, as of a fold. If none are, it says that nothing stands out. 'cluster --angle auto' does "
        "the same and runs "
        "the command.",
    .more = "The table has a row for each angle: clusters, silhouette by cosine, stability (NMI with the labels of the "
            "angle before), and clusters and silhouette with `--merge evidence`. *docs/tune.md* has the rule.",
    .examples = "asterism tune normals.npy\n"
                "asterism tune normals.npy --report tune.html\n"
                "asterism tune words.txt --columns 2-101 --from 90 --to 40 --step 2 --json\n"
                "asterism tune part.stl\n"
                "asterism tune depth.png --camera kinect --from 110 --to 30",
    .input = "an INPUT file, or - for standard input",
    .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SEVERAL,
    .uses = uses,
    .job = sizeof(job),
    .defaults = defaults,
    .steps = steps,
    .end = end};
