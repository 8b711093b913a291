/* SPDX-License-Identifier: MIT
 *
 * --texts and --terms. */
#include "topics.h"

#include "cli.h"
#include "files.h"
#include "terminal.h"

static const ast_cli_option options[] = {
    {"texts", AST_CLI_NAME, "FILE",
     "one text per row, a line each (UTF-8; .gz too): keywords for each cluster, and representatives as text",
     offsetof(ast_cli_topic_files, texts), .inputs = AST_CLI_POINTS | AST_CLI_SPARSE | AST_CLI_SEVERAL,
     .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS, .excludes = "terms",
     .more = "docs/topics.md says how keywords are chosen. `cluster` shows 3 representatives unless "
             "--representatives says another number."},
    {"terms", AST_CLI_NAME, "FILE",
     "documents as counts: a text with one term per column, a line each (.gz too): keywords for each cluster",
     offsetof(ast_cli_topic_files, terms), .inputs = AST_CLI_SPARSE, .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS},
    {0}};

const ast_cli_group ast_cli_topics_group = {.title = "Options for topics", .options = options};

static int read_terms(ast_cli_topics *topics, const char *path, const ast_points *points, int weighted,
                      const char *input) {
    ast_format_error error;
    ast_names terms;
    int code = -1;
    if (!ast_read_names(path, &terms, &error))
        return ast_cli_fail("%s", error.text);
    if (!points->starts)
        code = ast_cli_fail("%s holds dense rows; --terms is for documents as sparse counts (.mtx, .npz)",
                            ast_cli_name(input));
    else if (terms.count != points->dimension)
        code = ast_cli_fail("%s has %zu line%s, but %s has %zu columns; there must be one term per column", path,
                            terms.count, terms.count == 1 ? "" : "s", ast_cli_name(input), points->dimension);
    else if (!ast_corpus_of_counts(&topics->corpus, points, &terms, weighted))
        code = ast_cli_no_memory("the terms");
    ast_names_free(&terms);
    return code;
}

static int read_texts(ast_cli_topics *topics, const char *path, const ast_points *points, const char *input) {
    ast_format_error error;
    if (!ast_read_names(path, &topics->texts, &error))
        return ast_cli_fail("%s", error.text);
    if (topics->texts.count != points->count)
        return ast_cli_fail("%s has %zu line%s, but %s has %zu row%s; there must be one text per row", path,
                            topics->texts.count, topics->texts.count == 1 ? "" : "s", ast_cli_name(input),
                            points->count, points->count == 1 ? "" : "s");
    return ast_corpus_of_texts(&topics->corpus, &topics->texts) ? -1 : ast_cli_no_memory("the words of the texts");
}

int ast_cli_topics_read(ast_cli_topics *topics, const ast_cli_topic_files *files, const ast_points *points,
                        int weighted, const char *input) {
    if (files->terms)
        return read_terms(topics, files->terms, points, weighted, input);
    return files->texts ? read_texts(topics, files->texts, points, input) : -1;
}

void ast_cli_topics_free(ast_cli_topics *topics) {
    ast_names_free(&topics->texts);
    ast_corpus_free(&topics->corpus);
}

ast_keywords *ast_cli_topics_keywords(const ast_cli_topics *topics, const int32_t *labels,
                                      const ast_cluster_info *clusters, size_t count, int *code) {
    *code = -1;
    if (!topics->corpus.starts)
        return NULL;
    ast_keywords *keywords = ast_keywords_find(&topics->corpus, labels, clusters, count);
    if (!keywords)
        *code = ast_cli_no_memory("the keywords");
    return keywords;
}
