/* SPDX-License-Identifier: MIT
 *
 * Keywords of clusters. Counts of a cluster stand in one array over all terms, which the clusters use one after the
 * other; only the terms that occur are cleared. */
#include "keywords.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "letters.h"

/* ---- From texts to counts ---------------------------------------------------------------------------------------- */

/* Numbers of known words, open addressing. */
typedef struct dictionary {
    uint32_t *slots; /* (size) a term's number + 1, or 0 */
    size_t size;     /* a power of two, at least twice the terms */
} dictionary;

static size_t slot_of(const dictionary *known, const ast_names *terms, const char *word) {
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *c = word; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    size_t slot = (size_t)hash & (known->size - 1);
    while (known->slots[slot] && strcmp(terms->list[known->slots[slot] - 1], word) != 0)
        slot = (slot + 1) & (known->size - 1);
    return slot;
}

static bool enlarge(dictionary *known, const ast_names *terms) {
    dictionary larger = {.size = known->size ? 2 * known->size : 1024};
    larger.slots = calloc(larger.size, sizeof *larger.slots);
    for (size_t t = 0; larger.slots && t < terms->count; t++)
        larger.slots[slot_of(&larger, terms, terms->list[t])] = (uint32_t)t + 1;
    if (!larger.slots)
        return false;
    free(known->slots);
    *known = larger;
    return true;
}

/* The number of a word, which becomes a term if it is new. */
static bool find_term(dictionary *known, ast_names *terms, const char *word, uint32_t *term) {
    if (2 * (terms->count + 1) > known->size && !enlarge(known, terms))
        return false;
    size_t slot = slot_of(known, terms, word);
    if (!known->slots[slot]) {
        if (!ast_names_add(terms, strdup(word)))
            return false;
        known->slots[slot] = (uint32_t)terms->count;
    }
    *term = known->slots[slot] - 1;
    return true;
}

bool ast_corpus_of_texts(ast_corpus *corpus, const ast_names *texts) {
    dictionary known = {0};
    size_t entries = 0, room = 0;
    char word[AST_WORD];
    uint32_t term;
    *corpus = (ast_corpus){.rows = texts->count, .starts = calloc(texts->count + 1, sizeof *corpus->starts)};
    bool good = corpus->starts != NULL;
    for (size_t i = 0; good && i < texts->count; i++) {
        ast_word_reader reader = {.at = texts->list[i]};
        while (good && ast_next_word(&reader, word)) {
            good = find_term(&known, &corpus->terms, word, &term) &&
                   ast_array_grow(&corpus->columns, &room, entries + 1, sizeof *corpus->columns);
            if (good)
                corpus->columns[entries++] = term;
        }
        corpus->starts[i + 1] = entries;
    }
    free(known.slots);
    return good;
}

bool ast_corpus_of_counts(ast_corpus *corpus, const ast_points *points, ast_names *terms, bool weighted) {
    size_t entries = ast_points_index(points, points->starts, points->count);
    assert(points->type == AST_F8); /* as the readers of sparse rows make them */
    *corpus = (ast_corpus){.rows = points->count, .terms = *terms, .weighted = weighted};
    *terms = (ast_names){0};
    corpus->starts = malloc((points->count + 1) * sizeof *corpus->starts);
    corpus->columns = malloc((entries + 1) * sizeof *corpus->columns);
    corpus->counts = malloc((entries + 1) * sizeof *corpus->counts);
    if (!corpus->starts || !corpus->columns || !corpus->counts)
        return false;
    for (size_t i = 0; i <= points->count; i++)
        corpus->starts[i] = ast_points_index(points, points->starts, i);
    for (size_t e = 0; e < entries; e++) {
        corpus->columns[e] = (uint32_t)ast_points_index(points, points->columns, e);
        corpus->counts[e] = fmax(0, ((const double *)points->data)[e]);
    }
    return true;
}

void ast_corpus_free(ast_corpus *corpus) {
    ast_names_free(&corpus->terms);
    free(corpus->starts);
    free(corpus->columns);
    free(corpus->counts);
    *corpus = (ast_corpus){0};
}

/* ---- Keywords ---------------------------------------------------------------------------------------------------- */

typedef struct search {
    const ast_corpus *corpus;
    size_t clusters;
    size_t *first, *rows; /* (clusters + 1), (rows): rows[first[k]] .. are those of cluster k */
    double *total;        /* (terms) f */
    double *rates;        /* (terms) sum of n / N over the clusters */
    double *squares;      /* (terms) sum of its square */
    double *now;          /* (terms) n in the cluster that is looked at, zeros between clusters */
    uint32_t *rank;       /* (terms) the representative of the cluster that has the term first; the highest for none */
    uint32_t *met;        /* (terms) the terms that occur there */
    size_t met_count;
    double size, mean; /* N; A */
} search;

/* Rows by cluster, in order: counts become ends, which become beginnings. */
static void sort_rows(search *of, const int32_t *labels) {
    for (size_t i = 0; i < of->corpus->rows; i++)
        if (labels[i] >= 0)
            of->first[labels[i]]++;
    for (size_t k = 1; k <= of->clusters; k++)
        of->first[k] += of->first[k - 1];
    for (size_t i = of->corpus->rows; i-- > 0;)
        if (labels[i] >= 0)
            of->rows[--of->first[labels[i]]] = i;
}

/* Counts the terms of a cluster. */
static void count_terms(search *of, size_t cluster, size_t end) {
    const ast_corpus *corpus = of->corpus;
    of->met_count = 0;
    of->size = 0;
    for (size_t r = of->first[cluster]; r < end; r++) {
        for (size_t e = corpus->starts[of->rows[r]]; e < corpus->starts[of->rows[r] + 1]; e++) {
            uint32_t term = corpus->columns[e];
            double count = corpus->counts ? corpus->counts[e] : 1;
            if (of->now[term] == 0 && count > 0)
                of->met[of->met_count++] = term;
            of->now[term] += count;
            of->size += count;
        }
    }
}

static void clear_terms(search *of) {
    for (size_t m = 0; m < of->met_count; m++)
        of->now[of->met[m]] = 0;
}

/* Over all clusters: counts and rates of each term. */
static void add_cluster(search *of) {
    for (size_t m = 0; m < of->met_count; m++) {
        uint32_t term = of->met[m];
        double rate = of->now[term] / of->size;
        of->total[term] += of->now[term];
        of->rates[term] += rate;
        of->squares[term] += rate * rate;
    }
    of->mean += of->size / (double)of->clusters;
}

static bool is_stop_word(const search *of, uint32_t term) {
    return of->clusters > 1 && of->rates[term] * of->rates[term] > 0.5 * ((double)of->clusters + 1) * of->squares[term];
}

static double score_of(const search *of, uint32_t term) {
    double rate = of->now[term] / of->size;
    return of->corpus->weighted ? rate : rate * log1p(of->mean / of->total[term]);
}

typedef struct candidate {
    double score;
    uint32_t term;
} candidate;

static bool is_better(const search *of, candidate a, candidate b) {
    if (a.score != b.score)
        return a.score > b.score;
    if (of->rank[a.term] != of->rank[b.term])
        return of->rank[a.term] < of->rank[b.term];
    return strcmp(of->corpus->terms.list[a.term], of->corpus->terms.list[b.term]) < 0;
}

/* Sets or clears the ranks of the terms of the representatives. */
static void rank_terms(search *of, const ast_cluster_info *cluster, bool set) {
    const ast_corpus *corpus = of->corpus;
    for (size_t r = cluster->representative_count; r-- > 0;) {
        size_t row = cluster->representatives[r];
        for (size_t e = corpus->starts[row]; e < corpus->starts[row + 1]; e++)
            of->rank[corpus->columns[e]] = set ? (uint32_t)r : UINT32_MAX;
    }
}

static void choose(const search *of, ast_keywords *keywords) {
    candidate best[AST_KEYWORDS + 1];
    size_t count = 0;
    for (size_t m = 0; m < of->met_count; m++) {
        candidate next = {score_of(of, of->met[m]), of->met[m]};
        size_t place = count;
        if (is_stop_word(of, next.term))
            continue;
        for (; place > 0 && is_better(of, next, best[place - 1]); place--)
            best[place] = best[place - 1];
        best[place] = next;
        count += count < AST_KEYWORDS;
    }
    for (size_t i = 0; i < count; i++)
        keywords->words[i] = of->corpus->terms.list[best[i].term];
    keywords->count = count;
}

/* Looks at all clusters twice: for the totals, and for the keywords. */
static void find(search *of, const int32_t *labels, const ast_cluster_info *clusters, ast_keywords *keywords) {
    sort_rows(of, labels);
    for (int again = 0; again < 2; again++) {
        for (size_t k = 0; k < of->clusters; k++) {
            count_terms(of, k, of->first[k + 1]);
            if (again && clusters)
                rank_terms(of, &clusters[k], true);
            if (again)
                choose(of, &keywords[k]);
            else
                add_cluster(of);
            if (again && clusters)
                rank_terms(of, &clusters[k], false);
            clear_terms(of);
        }
    }
}

ast_keywords *ast_keywords_find(const ast_corpus *corpus, const int32_t *labels, const ast_cluster_info *clusters,
                                size_t count) {
    size_t terms = corpus->terms.count + 1;
    search of = {.corpus = corpus,
                 .clusters = count,
                 .first = calloc(count + 1, sizeof *of.first),
                 .rows = malloc((corpus->rows + 1) * sizeof *of.rows),
                 .total = calloc(4 * terms, sizeof *of.total),
                 .met = malloc(2 * terms * sizeof *of.met)};
    ast_keywords *keywords = calloc(count + 1, sizeof *keywords);
    bool good = of.first && of.rows && of.total && of.met && keywords;
    if (good) {
        of.rates = of.total + terms;
        of.squares = of.rates + terms;
        of.now = of.squares + terms;
        of.rank = of.met + terms;
        memset(of.rank, 0xff, terms * sizeof *of.rank);
        find(&of, labels, clusters, keywords);
    }
    free(of.first);
    free(of.rows);
    free(of.total);
    free(of.met);
    if (!good) {
        free(keywords);
        return NULL;
    }
    return keywords;
}
