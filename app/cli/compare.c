/* SPDX-License-Identifier: MIT
 *
 * asterism compare: whether sets of directions, a file each, have one mean direction and one concentration. */
#include <asterism_depth.h>
#include <asterism_field.h>
#include <json.h>
#include <report.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "directions.h"
#include "field.h"
#include "terminal.h"

typedef struct job {
    ast_cli_common common;
    ast_cli_source source;
    ast_common_mean_options options;
    size_t simulations;
    ast_context *context;
    ast_input *inputs;  /* (count) */
    ast_points *points; /* (count) */
    ast_set_mean *sets; /* (count) */
    size_t count;
    ast_common_mean found;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same: poles of planes, lines", .offset = AT(options.axial)},
    {"reversal", AST_CLI_FLAG, NULL,
     "turn every set but the first around: are they antipodal, as normal and reversed polarities?",
     .offset = AT(options.reversal), .excludes = "axial"},
    {"simulations", AST_CLI_COUNT, "N", "draws of Watson's test, and resamples of the bootstrap", AT(simulations), 100,
     1000000, .standard = "5000"},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, {&ast_cli_source_group, .offset = AT(source)}, {0}};

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static void defaults(void *data) {
    ast_common_mean_options_init(&((job *)data)->options);
}

static int check(void *data) {
    job *work = data;
    const ast_cli_input *inputs = work->common.inputs;
    while (inputs[work->count].path)
        work->count++;
    if (work->count < 2)
        return ast_cli_misuse(
            "compare needs two files or more, one for each set, such as: compare north.csv south.csv");
    work->options.simulations = (int)work->simulations;
    work->options.seed = work->common.seed;
    for (size_t i = 0; i < work->count; i++) {
        int code = ast_cli_check_points(inputs[i].path, inputs[i].format, &work->source);
        if (code >= 0)
            return code;
    }
    work->inputs = calloc(work->count, sizeof *work->inputs);
    work->points = calloc(work->count, sizeof *work->points);
    work->sets = calloc(work->count, sizeof *work->sets);
    return work->inputs && work->points && work->sets ? -1 : ast_cli_no_memory("the sets");
}

static int read_set(job *work, size_t i) {
    ast_format_error error;
    char remark[AST_REMARK] = "";
    const ast_cli_input *input = &work->common.inputs[i];
    ast_input_file file = {.path = (char *)input->path, .format = input->format};
    ast_input_options options = ast_cli_input_options(&work->source);
    options.remark = remark;
    if (!ast_input_begin(&work->inputs[i], &file, 1, &options, &error))
        return ast_cli_fail("%s", error.text);
    int code = ast_cli_read_points(&work->inputs[i], input->path, &work->source);
    ast_cli_say_remark(&work->common, remark);
    work->points[i] = work->inputs[i].points;
    if (code < 0 && work->points[i].dimension != 3)
        code = ast_cli_fail("%s: has directions in %zu dimension%s, and compare needs three; --dip-direction, "
                            "--strike-dip and --trend-plunge read two angles",
                            ast_cli_name(input->path), work->points[i].dimension,
                            work->points[i].dimension == 1 ? "" : "s");
    return code;
}

/* The library counts the sets; people know them by their files. */
static const char *culprit(const job *work) {
    size_t set = 1;
    if (sscanf(ast_message(work->context), "set %zu ", &set) != 1 || set < 1 || set > work->count)
        set = 1;
    return work->common.inputs[set - 1].path;
}

static int find(void *data) {
    job *work = data;
    int code = ast_cli_open_context(&work->common, &work->context);
    for (size_t i = 0; i < work->count && code < 0; i++)
        code = read_set(work, i);
    if (code >= 0)
        return code;
    work->found.size = sizeof work->found;
    ast_status status =
        ast_common_mean_of(work->context, work->points, work->count, &work->options, work->sets, &work->found);
    return ast_cli_status(status, work->context, status == AST_OK ? NULL : culprit(work));
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

/* McFadden and McElhinny's classes of a positive reversal test. */
static const char *class_of(const ast_common_mean *found) {
    return !(found->angle <= found->critical_angle) ? "negative"
           : found->critical_angle <= 5             ? "A"
           : found->critical_angle <= 10            ? "B"
           : found->critical_angle <= 20            ? "C"
                                                    : "indeterminate";
}

static void put_vector(ast_text *json, const char *key, const double v[3]) {
    ast_json_open(json, key, '[');
    for (int d = 0; d < 3; d++)
        ast_json_real(json, NULL, v[d], 17);
    ast_json_close(json, ']');
}

/* The angles of a mean, where the sets were given as angles. */
static bool angles_of(const job *work, const double v[3], double angles[2]) {
    const float mean[3] = {(float)v[0], (float)v[1], (float)v[2]};
    ast_notation notation = ast_cli_field_notation(&work->source);
    if (notation)
        ast_field_angles(notation, work->options.axial, mean, &angles[0], &angles[1]);
    return notation != AST_NO_NOTATION;
}

static const char *const *names_of(const job *work) {
    static const char *const names[][2] = {[AST_DIP_DIRECTION] = {"dip_direction", "dip"},
                                           [AST_STRIKE_DIP] = {"strike", "dip"},
                                           [AST_TREND_PLUNGE] = {"trend", "plunge"}};
    return names[ast_cli_field_notation(&work->source)];
}

static void put_mean(const job *work, ast_text *json, const double v[3]) {
    double angles[2];
    put_vector(json, "mean", v);
    for (int i = 0; angles_of(work, v, angles) && i < 2; i++)
        ast_json_real(json, names_of(work)[i], angles[i], 9);
}

static void put_test(ast_text *json, const char *key, const char *test, double statistic, double p) {
    ast_json_open(json, key, '{');
    ast_json_string(json, "test", test);
    ast_json_real(json, "statistic", statistic, 17);
    ast_json_real(json, "p", p, 17);
    ast_json_close(json, '}');
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    const ast_common_mean *found = &work->found;
    ast_json_open(json, "sets", '[');
    for (size_t i = 0; i < work->count; i++) {
        const ast_set_mean *set = &work->sets[i];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "file", ast_cli_name(work->common.inputs[i].path));
        ast_json_integer(json, "size", (int64_t)set->count);
        put_mean(work, json, set->mean);
        ast_json_real(json, "resultant", set->resultant, 17);
        ast_json_real(json, "precision", set->precision, 17);
        ast_json_real(json, "alpha95", set->alpha95, 17);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
    put_mean(work, json, found->mean);
    ast_json_open(json, "common_mean", '{');
    ast_json_string(json, "test", "watson_v");
    ast_json_real(json, "statistic", found->watson, 17);
    ast_json_real(json, "critical", found->critical, 17);
    ast_json_real(json, "p", found->watson_p, 17);
    ast_json_real(json, "bootstrap_p", found->bootstrap_p, 17);
    ast_json_close(json, '}');
    put_test(json, "f_test", "watson_williams", found->f, found->f_p);
    put_test(json, "equal_kappa", "bartlett", found->kappa_ratio, found->kappa_p);
    ast_json_real(json, "angle", found->angle, 17);
    ast_json_real(json, "critical_angle", found->critical_angle, 17);
    ast_json_boolean(json, "reversal", work->options.reversal);
    if (work->options.reversal && work->count == 2)
        ast_json_string(json, "class", class_of(found));
}

static void print_sets(const job *work) {
    double angles[2];
    bool field = angles_of(work, work->found.mean, angles);
    char shown[AST_CLI_SHOWN];
    printf("%8s  %9s  %7s  ", "size", "k", "alpha95");
    if (field)
        printf("%13s  %7s  set\n", names_of(work)[0], names_of(work)[1]);
    else
        printf("mean                   set\n");
    for (size_t i = 0; i < work->count; i++) {
        const ast_set_mean *set = &work->sets[i];
        printf("%8zu  %9.1f  %7.2f  ", set->count, set->precision, set->alpha95);
        if (angles_of(work, set->mean, angles))
            printf("%13.1f  %7.1f  ", angles[0], angles[1]);
        else
            printf("%6.3f %6.3f %6.3f  ", set->mean[0], set->mean[1], set->mean[2]);
        printf("%s\n", ast_cli_shown(ast_cli_name(work->common.inputs[i].path), shown));
    }
}

static void print_table(const void *data) {
    const job *work = data;
    const ast_common_mean *found = &work->found;
    print_sets(work);
    printf("\none mean%s?  Watson's V %.3f, p = %.3g (by draws; 5%% exceed %.3f), p = %.3g (bootstrap)\n",
           work->options.reversal ? " after turning all but the first around" : "", found->watson, found->watson_p,
           found->critical, found->bootstrap_p);
    printf("           if the concentrations are equal: F %.3f, p = %.3g (Watson and Williams)\n", found->f,
           found->f_p);
    printf("one concentration?  Bartlett's statistic %.3f, p = %.3g\n", found->kappa_ratio, found->kappa_p);
    printf("%s %.2f degrees", work->count == 2 ? "between the means" : "the largest angle between two means",
           found->angle);
    if (isfinite(found->critical_angle))
        printf("; critical at 5%%: %.2f degrees", found->critical_angle);
    putchar('\n');
    if (work->options.reversal && work->count == 2)
        printf("reversal test: %s (McFadden and McElhinny)\n", class_of(found));
    puts("\np: the probability of such a difference or a larger one if there were none. Below 0.05 the sets differ.");
}

static int deliver(void *data) {
    const job *work = data;
    return ast_cli_print(&work->common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    for (size_t i = 0; work->inputs && i < work->count; i++)
        ast_input_close(&work->inputs[i]);
    ast_close(work->context);
    free(work->inputs);
    free(work->points);
    free(work->sets);
}

static ast_cli_step *const steps[] = {check, find, deliver, NULL};

const ast_cli_command ast_cli_compare = {
    .name = "compare",
    .summary = "test whether sets of directions have one mean",
    .usage = "compare FILE FILE... [options]",
    .about = "Tests whether the directions of two or more files, a set each, have one mean direction: by Watson's V, "
             "which allows different concentrations, with p by draws of Fisher distributions and by a bootstrap, and "
             "by the F test of Watson and Williams. Tests by Bartlett's statistic whether they have one concentration. "
             "For directions in three dimensions.",
    .more = "With two sets the critical angle is the one at which the means would differ at 5%. With --reversal it "
            "gives the class of the reversal test of palaeomagnetism: A up to 5 degrees, B up to 10, C up to 20. "
            "docs/errors.md has the formulas.",
    .examples = "asterism compare north.csv south.csv --dip-direction --axial\n"
                "asterism compare normal.txt reversed.txt --trend-plunge --reversal\n"
                "asterism compare quarry1.csv quarry2.csv quarry3.csv --strike-dip --axial --json",
    .input = "a FILE of directions for each set",
    .many = 1,
    .inputs = AST_CLI_POINTS,
    .uses = uses,
    .job = sizeof(job),
    .defaults = defaults,
    .steps = steps,
    .end = end};
