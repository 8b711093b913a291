/* SPDX-License-Identifier: MIT
 *
 * What clusters are about: the texts of the rows (--texts), or the terms that the columns of documents count (--terms).
 * cluster and explore have these options alike. */
#pragma once

#include <keywords.h>

#include "options.h"

typedef struct ast_cli_topic_files {
    const char *texts, *terms;
} ast_cli_topic_files;

extern const ast_cli_group ast_cli_topics_group;

/* What the files hold; zeroed at first. */
typedef struct ast_cli_topics {
    ast_names texts; /* (rows) */
    ast_corpus corpus;
} ast_cli_topics;

/* Reads the files that were given: for the points of `input`, whose numbers are counts or, if they are weighted, tf-idf
 * already. -1 to go on, or the exit code. */
int ast_cli_topics_read(ast_cli_topics *topics, const ast_cli_topic_files *files, const ast_points *points,
                        int weighted, const char *input);
void ast_cli_topics_free(ast_cli_topics *topics);

/* (count) from malloc(); NULL without texts and terms, or without memory, which *code says (-1: no failure). */
ast_keywords *ast_cli_topics_keywords(const ast_cli_topics *topics, const int32_t *labels,
                                      const ast_cluster_info *clusters, size_t count, int *code);
