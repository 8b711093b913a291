/* SPDX-License-Identifier: MIT
 *
 * What the experiments share: files of the output folder, means and deviations, pairs of labels. */
#include "experiments.h"

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

/* There are few pairs, and a point has mostly the labels of its neighbour, so that the last pair is the first guess. */
bool ast_overlaps_add(ast_overlaps *overlaps, int32_t one, int32_t other) {
    size_t at = overlaps->guess;
    if (at >= overlaps->count || overlaps->list[at].one != one || overlaps->list[at].other != other)
        for (at = 0; at < overlaps->count; at++)
            if (overlaps->list[at].one == one && overlaps->list[at].other == other)
                break;
    if (at == overlaps->count) {
        if (!ast_array_grow(&overlaps->list, &overlaps->room, at + 1, sizeof *overlaps->list))
            return false;
        overlaps->list[overlaps->count++] = (ast_overlap){one, other, 0};
    }
    overlaps->guess = at;
    overlaps->list[at].count++;
    return true;
}

static int by_count(const void *a, const void *b) {
    const ast_overlap *left = a, *right = b;
    if (left->count != right->count)
        return left->count < right->count ? 1 : -1;
    return left->one != right->one ? (left->one > right->one) - (left->one < right->one)
                                   : (left->other > right->other) - (left->other < right->other);
}

size_t ast_overlaps_match(ast_overlaps *overlaps) {
    ast_overlap *list = overlaps->list;
    size_t taken = 0;
    if (overlaps->count)
        qsort(list, overlaps->count, sizeof *list, by_count);
    for (size_t i = 0; i < overlaps->count; i++) {
        bool is_free = true;
        for (size_t j = 0; j < taken && is_free; j++)
            is_free = list[j].one != list[i].one && list[j].other != list[i].other;
        if (!is_free)
            continue;
        ast_overlap pair = list[i];
        list[i] = list[taken];
        list[taken++] = pair;
    }
    return taken;
}
