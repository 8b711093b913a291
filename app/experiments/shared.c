/* SPDX-License-Identifier: MIT
 *
 * What the experiments share: files of the output folder, means and deviations. */
#include "experiments.h"

#include <frames.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int ast_experiment_folder(const ast_experiment *plan) {
    ast_format_error error;
    return ast_folder_make(plan->output, &error) ? -1 : plan->command->fail(EXIT_FAILURE, "--output: %s", error.text);
}

int ast_experiment_file(const ast_experiment *plan, const char *name, ast_page_writer *write, const void *data) {
    ast_format_error error;
    int code = ast_experiment_keep(plan, name, write, data);
    if (code < 0 && plan->page && !ast_chart_page_add(plan->page, name, write, data, &error))
        code = plan->command->fail(EXIT_FAILURE, "%s", error.text);
    return code;
}

int ast_experiment_keep(const ast_experiment *plan, const char *name, ast_page_writer *write, const void *data) {
    ast_format_error error;
    char *path;
    if (asprintf(&path, "%s/%s", plan->output, name) < 0)
        return plan->command->fail(EXIT_FAILURE, "there is no memory for the name of %s", name);
    ast_text text = {0};
    ast_output *output = ast_output_open(path, false, &error);
    free(path);
    if (output)
        write(data, &text);
    bool good = ast_output_close(output, output && ast_text_write(&text, output, &error), &error);
    ast_text_free(&text);
    return good ? -1 : plan->command->fail(EXIT_FAILURE, "%s", error.text);
}

void ast_moments_add(ast_moments *moments, double value) {
    double before = value - moments->mean;
    moments->mean += before / (double)++moments->count;
    moments->squares += before * (value - moments->mean);
}

double ast_moments_deviation(const ast_moments *moments) {
    return moments->count > 1 ? sqrt(moments->squares / (double)(moments->count - 1)) : 0;
}
