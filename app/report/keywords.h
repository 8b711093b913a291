/* SPDX-License-Identifier: MIT
 *
 * What clusters of texts are about: keywords by c-TF-IDF (Grootendorst 2022). The texts of a cluster are one document;
 * a term scores (n / N) log(1 + A / f), n its count in the cluster, N the count of all terms there, f its count in all
 * clusters, A the mean of N over the clusters. Rows without a cluster take no part.
 *
 * Stop words are those of the data: a term whose rates n / N spread over most clusters, which is to say that the
 * effective number of clusters that it is in, (sum of rates)^2 / (sum of squared rates), is above (clusters + 1) / 2.
 */
#pragma once

#include <asterism.h>
#include <formats.h>

/* Rows as counts of terms; zeroed at first. */
typedef struct ast_corpus {
    size_t rows;
    ast_names terms;
    size_t *starts;    /* (rows + 1) row i has the entries starts[i] .. starts[i + 1] - 1 */
    uint32_t *columns; /* the term of each entry */
    double *counts;    /* of each entry; NULL: 1 */
    bool weighted;     /* counts are tf-idf already: scores leave out the logarithm */
} ast_corpus;

/* Of texts, one per row. Of sparse rows of doubles and the names of their columns, which it takes. False without
 * memory. To be freed in any case. */
bool ast_corpus_of_texts(ast_corpus *corpus, const ast_names *texts);
bool ast_corpus_of_counts(ast_corpus *corpus, const ast_points *points, ast_names *terms, bool weighted);
void ast_corpus_free(ast_corpus *corpus);

/* The best terms of a cluster, best first; equal ones by the first representative that has them, then by their
 * bytes. The order of rows does not matter. */
enum { AST_KEYWORDS = 10 };
typedef struct ast_keywords {
    const char *words[AST_KEYWORDS]; /* of the corpus */
    size_t count;
} ast_keywords;

/* (count) from malloc(), of labels (rows), -1 for none; NULL without memory. clusters: (count), or NULL: without
 * representatives. */
ast_keywords *ast_keywords_find(const ast_corpus *corpus, const int32_t *labels, const ast_cluster_info *clusters,
                                size_t count);
