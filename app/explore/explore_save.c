/* SPDX-License-Identifier: MIT
 *
 * Saves the labels to the file that the command line named, and sends the report, which the browser saves. */
#include "explore_worker.h"

#include <page.h>
#include <stdio.h>

static void tell(ast_explore_page *page, ast_explore_kind kind, const char *type, const char *sentence) {
    ast_explore_page_post(page, kind, ast_explore_words(type, page->worker.run.request.id, sentence));
}

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static bool write_labels(const ast_explored *explored, const int32_t *labels, ast_format_error *error) {
    size_t rows = explored->width ? explored->height : explored->points.count;
    ast_array array = ast_label_array(labels, rows, explored->width);
    ast_output *output = ast_output_open(explored->labels, false, error);
    bool good = output && ast_write_array(output, array, error);
    return ast_output_close(output, good, error) && good;
}

void ast_explore_save(ast_explore_page *page) {
    ast_format_error error;
    const ast_explored *explored = page->all->explored;
    char number[AST_GROUPED], sentence[512];
    if (!explored->labels) {
        tell(page, AST_MESSAGE_PROBLEM, "problem", "the command line named no file: start explore with --labels FILE");
        return;
    }
    if (!write_labels(explored, page->worker.run.labels, &error)) {
        tell(page, AST_MESSAGE_PROBLEM, "problem", error.text);
        return;
    }
    snprintf(sentence, sizeof sentence, "%s labels are in %s", ast_grouped(page->worker.run.rows, number),
             explored->labels);
    tell(page, AST_MESSAGE_SAVED, "saved", sentence);
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

void ast_explore_report(ast_explore_page *page) {
    ast_format_error error;
    ast_explore_text text;
    ast_text html = {0};
    const ast_explored *explored = page->all->explored;
    pthread_mutex_lock(&page->all->lock);
    page->worker.run.map = ast_explore_map_made(page->all->map);
    pthread_mutex_unlock(&page->all->lock);
    if (!explored->command->report(explored->data, page->worker.context, &page->worker.run, &html, &error)) {
        tell(page, AST_MESSAGE_PROBLEM, "problem", error.text);
    } else {
        ast_explore_begin(&text, "report");
        ast_json_integer(&text.json, "id", (int64_t)page->worker.run.request.id);
        ast_explore_array(&text, "html", "u8", html.bytes, html.size);
        ast_explore_page_post(page, AST_MESSAGE_REPORT, ast_explore_end(&text));
    }
    ast_text_free(&html);
}
