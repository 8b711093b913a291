/* SPDX-License-Identifier: MIT
 *
 * asterism tune: which angle suits these points. It prints and draws the sweep of sweep.c. */
#include <asterism.h>
#include <plot.h>
#include <svg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "directions.h"
#include "interrupt.h"
#include "pages.h"
#include "sweep.h"
#include "targets.h"
#include "terminal.h"

enum { CSV, SVG, MEANS, REPORT, TARGETS };

typedef struct settings {
    ast_cli_common common;
    ast_cli_reading reading;
    ast_cli_angles angles;
    const char *input, *csv, *svg, *means, *report;
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"axial", AST_CLI_FLAG, NULL, "x and -x are the same", AT(angles.axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .manual = "A row and its negative are the same."},
    {"csv", AST_CLI_TEXT, "FILE", "write one row per angle", AT(csv), .manual = "Writes one row per angle."},
    {"svg", AST_CLI_TEXT, "FILE", "draw silhouette, clusters and stability over the angle", AT(svg),
     .manual = "Draws silhouette, clusters and stability over the angle."},
    {"means", AST_CLI_TEXT, "FILE", "write the means at the recommended angle, for cluster --init", AT(means),
     .manual = "Writes the means at the recommended angle, for `cluster --init`."},
    AST_CLI_REPORT_OPTION(AT(report)),
    {0}};

static const ast_cli_group own_group = {.options = options_table};
static const ast_cli_use uses[] = {
    {&ast_cli_angles_group, .offset = AT(angles)}, {.group = &own_group}, AST_CLI_READING_GROUPS(AT(reading)), {0}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_tune = {
    .name = "tune",
    .summary = "find the angle that suits the points",
    .usage = "tune INPUT [options]",
    .about = "Clusters INPUT by DP-vMF-means at angles from large to small, each run started from nothing and "
             "from the means of the angle before, of which the better is kept. For each angle: the number of "
             "clusters, the silhouette by cosine (1: well separated, 0: not), and the stability, the NMI with the "
             "labels of the angle before. It recommends the middle of the widest range of angles that find the "
             "same number of clusters at the highest silhouette, and says why. 'cluster --angle auto' does the "
             "same and goes on.",
    .manual = "Clusters the points by DP-vMF-means at angles from large to small and recommends one of them: the "
              "middle of the widest range of angles that find the same number of clusters at the highest "
              "silhouette. Each angle is run from nothing and from the means of the angle before, and the better "
              "objective is kept. Of more than a million points a regular subset of at most a million is used. A "
              "silhouette below 0.25 means that no angle separates clusters: then choose by what the data mean. "
              "*docs/tune.md* has examples, also of where this fails.",
    .examples = "asterism tune normals.npy\n"
                "asterism tune normals.npy --svg tune.svg --csv tune.csv\n"
                "asterism tune words.txt --columns 2-101 --from 90 --to 40 --step 2 --json\n"
                "asterism tune part.stl\n"
                "asterism tune depth.png --camera kinect --from 110 --to 30",
    .input = "an INPUT file, or - for standard input",
    .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SEVERAL,
    .uses = uses,
    .run = run};

typedef struct job {
    const settings *given;
    ast_context *context;
    ast_cli_directions directions;
    ast_cli_sweep sweep;
    ast_cli_target targets[TARGETS];
    char *line, *title; /* of the report */
} job;

static int check(settings *given);
static int read_points(job *work);
static int deliver(job *work);

static int run(int argc, char **argv) {
    settings given = {0};
    int code = ast_cli_parse(&ast_cli_tune, argc, argv, &given, &given.input);
    given.angles.axial |= given.reading.cloud.undirected;
    ast_cli_camera_resolve(&given.reading.camera, &given.common, AST_SMOOTH_GUIDED);
    if (code < 0)
        code = check(&given);
    if (code >= 0) {
        ast_cli_reading_free(&given.reading);
        return code;
    }
    job work = {.given = &given,
                .targets = {[CSV] = {.option = "csv", .path = given.csv, .own = true},
                            [SVG] = {.option = "svg", .path = given.svg, .own = true},
                            [MEANS] = {.option = "means", .path = given.means},
                            [REPORT] = {.option = "report", .path = given.report, .own = true}},
                .line = given.report ? ast_cli_command_line(&ast_cli_tune, argc, argv) : NULL};
    code = ast_cli_check_targets(work.targets, TARGETS, given.input, given.common.json);
    if (code < 0)
        code = read_points(&work);
    if (code < 0)
        code = ast_cli_open_targets(work.targets, TARGETS);
    if (code < 0)
        code = ast_cli_sweep_run(&work.sweep, work.context, &work.directions.points, given.input, &given.angles,
                                 &given.common);
    if (code < 0)
        code = deliver(&work);
    ast_cli_abandon_targets(work.targets, TARGETS);
    ast_cli_sweep_free(&work.sweep);
    ast_cli_directions_close(&work.directions);
    ast_cli_reading_free(&given.reading);
    ast_close(work.context);
    free(work.line);
    free(work.title);
    return code;
}

/* ---- Before the sweep -------------------------------------------------------------------------------------------- */

static int check(settings *given) {
    const char *const inputs[] = {given->input, NULL};
    if (given->angles.to > given->angles.from)
        return ast_cli_fail(AST_CLI_USAGE, "--to %g is above --from %g; the sweep goes from large angles to small ones",
                            given->angles.to, given->angles.from);
    int code = ast_cli_reading_list(&given->reading, &given->common, inputs, &given->input);
    return code < 0 ? ast_cli_reading_check(&given->reading, &given->common, given->input) : code;
}

static int read_points(job *work) {
    const settings *given = work->given;
    int code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0)
        code = ast_cli_directions_read(&work->directions, &given->reading, &given->common, given->input, work->context,
                                       NULL);
    return code;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static void print_json(const void *data, ast_text *json) {
    const ast_cli_sweep *sweep = &((const job *)data)->sweep;
    const ast_cli_swept *best = sweep->best < sweep->count ? &sweep->rows[sweep->best] : NULL;
    ast_json_real(json, "angle", best ? best->angle : NAN, 17);
    if (best)
        ast_json_integer(json, "clusters", (int64_t)best->clusters);
    else
        ast_json_string(json, "clusters", NULL);
    ast_json_real(json, "silhouette", best ? best->silhouette : NAN, 17);
    ast_json_real(json, "from", best ? sweep->rows[sweep->last].angle : NAN, 17);
    ast_json_real(json, "to", best ? sweep->rows[sweep->first].angle : NAN, 17);
    ast_json_boolean(json, "weak", !best || sweep->highest < AST_CLI_WEAK);
    ast_json_integer(json, "points", (int64_t)sweep->points);
    ast_json_boolean(json, "cut", sweep->cut);
    ast_json_boolean(json, "stopped", sweep->stopped != 0);
    ast_json_string(json, "reason", sweep->reason);
    ast_json_open(json, "angles", '[');
    for (const ast_cli_swept *row = sweep->rows; row < sweep->rows + sweep->count; row++) {
        ast_json_open(json, NULL, '{');
        ast_json_real(json, "angle", row->angle, 17);
        ast_json_integer(json, "clusters", (int64_t)row->clusters);
        ast_json_real(json, "silhouette", row->silhouette, 17);
        ast_json_real(json, "stability", row->stability, 17);
        ast_json_real(json, "objective", row->objective, 17);
        ast_json_string(json, "start", row->warm ? "means" : "nothing");
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void print_value(double value) {
    if (isfinite(value))
        printf("  %10.4f", value);
    else
        printf("  %10s", "-");
}

static void print_table(const void *data) {
    const job *work = data;
    const ast_cli_sweep *sweep = &work->sweep;
    printf("   angle  clusters  silhouette   stability\n");
    for (size_t i = 0; i < sweep->count; i++) {
        const ast_cli_swept *row = &sweep->rows[i];
        printf("%8g  %8zu", row->angle, row->clusters);
        print_value(row->silhouette);
        print_value(row->stability);
        printf("%s\n", i == sweep->best ? "  <" : "");
    }
    if (sweep->cut)
        printf("     ...  smaller angles find more than %zu clusters\n", work->given->angles.max_clusters);
    if (sweep->best < sweep->count)
        printf("\nTake --angle %g: %s.\n", sweep->rows[sweep->best].angle, sweep->reason);
    else
        printf("\nNo angle to recommend: %s.\n", sweep->reason);
}

static bool write_csv(const void *data, ast_output *output, ast_format_error *error) {
    const ast_cli_sweep *sweep = data;
    bool good = ast_printf(output, error, "angle,clusters,silhouette,stability,objective,recommended\n");
    for (size_t i = 0; i < sweep->count && good; i++) {
        const ast_cli_swept *row = &sweep->rows[i];
        good = ast_printf(output, error, "%.9g,%zu,%.9g,%.9g,%.17g,%d\n", row->angle, row->clusters, row->silhouette,
                          row->stability, row->objective, i == sweep->best);
    }
    return good;
}

static bool write_svg(const void *data, ast_output *output, ast_format_error *error) {
    const ast_cli_sweep *sweep = data;
    size_t count = sweep->count;
    double *values = malloc((4 * count + 1) * sizeof *values);
    if (!values) {
        snprintf(error->text, sizeof error->text, "there is no memory for the figure");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const ast_cli_swept *row = &sweep->rows[i];
        values[i] = row->angle;
        values[count + i] = row->silhouette;
        values[2 * count + i] = (double)row->clusters;
        values[3 * count + i] = row->stability;
    }
    double chosen = sweep->best < count ? values[sweep->best] : NAN;
    ast_plot_series series[3];
    for (size_t i = 0; i < 3; i++)
        series[i] = (ast_plot_series){.x = values, .y = values + (i + 1) * count, .count = count, .look = (int32_t)i};
    ast_plot_panel panels[3] = {
        {"Silhouette by cosine", "angle (degrees)", "silhouette", series, 1, 0, 1, false, chosen, NAN},
        {"Clusters", "angle (degrees)", "clusters", series + 1, 1, 0, 0, true, chosen, NAN},
        {"Stability", "angle (degrees)", "NMI with the next larger angle", series + 2, 1, 0, 1, false, chosen, NAN}};
    bool good = ast_plot_write(panels, 3, "Silhouette, clusters and stability over the angle", output, error);
    free(values);
    return good;
}

static int write_report(job *work) {
    ast_format_error error;
    ast_page_head head = {.axial = work->given->angles.axial};
    ast_chart_page page = {0};
    ast_text json = {0};
    char take[400];
    const ast_cli_sweep *sweep = &work->sweep;
    const ast_cli_angles *angles = &work->given->angles;
    if (!work->targets[REPORT].output)
        return -1;
    int code = ast_cli_page_head(&head, &ast_cli_tune, work->given->input, work->line, &work->title);
    if (code >= 0)
        return code;
    ast_page_parameter(&head, "from", NULL, angles->from);
    ast_page_parameter(&head, "to", NULL, angles->to);
    ast_page_parameter(&head, "step", NULL, angles->step);
    ast_page_measure(&head, "points", (double)sweep->points);
    if (sweep->stopped)
        ast_note(&head.notes, "Stopped after %zu of %zu angles.", sweep->count, sweep->planned);
    if (sweep->cut)
        ast_note(&head.notes, "Smaller angles find more than %zu clusters.", angles->max_clusters);
    if (sweep->best < sweep->count)
        snprintf(take, sizeof take, "Take --angle %g: %s.", sweep->rows[sweep->best].angle, sweep->reason);
    else
        snprintf(take, sizeof take, "No angle to recommend: %s.", sweep->reason);
    bool good = ast_cli_page_add(&page, "sweep.svg", write_svg, sweep, &error) &&
                ast_cli_page_add(&page, "sweep.csv", write_csv, sweep, &error) &&
                ast_chart_page_json(&page, &head, take, &json, &error) &&
                ast_page_write(&json, work->targets[REPORT].output, &error);
    ast_chart_page_free(&page);
    ast_text_free(&json);
    return good ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
}

static int deliver(job *work) {
    ast_format_error error;
    ast_cli_target *targets = work->targets;
    const ast_cli_sweep *sweep = &work->sweep;
    ast_cli_printer printer = {print_json, print_table, work};
    if ((targets[CSV].output && !write_csv(sweep, targets[CSV].output, &error)) ||
        (targets[SVG].output && !write_svg(sweep, targets[SVG].output, &error)))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    int code = write_report(work);
    if (code >= 0)
        return code;
    if (work->given->means && sweep->best == sweep->count)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there are no means to write, since %s",
                            ast_cli_name(work->given->input), sweep->reason);
    if (sweep->best < sweep->count)
        targets[MEANS].array =
            ast_value_array(sweep->rows[sweep->best].means, sweep->rows[sweep->best].clusters, sweep->dimension);
    code = ast_cli_deliver(targets, TARGETS, &work->given->common, &printer);
    if (code == AST_CLI_DONE && sweep->stopped)
        code = ast_cli_fail(AST_CLI_SIGNAL + sweep->stopped, "stopped after %zu of %zu angles; the result is of those",
                            sweep->count, sweep->planned);
    return code;
}
