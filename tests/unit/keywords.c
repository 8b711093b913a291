/* SPDX-License-Identifier: MIT
 *
 * Letters against the tables of the C library, words of texts in several scripts, and keywords against c-TF-IDF as its
 * formula says, with one dense table of all clusters and terms. */
#include <keywords.h>
#include <letters.h>

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include <cmocka.h>

/* ---- Letters ----------------------------------------------------------------------------------------------------- */

static int is_european(uint32_t c) {
    return (c >= 0x80 && c < 0x250) || (c >= 0x370 && c < 0x530) || (c >= 0x1e00 && c < 0x1f00);
}

/* Letters of few languages and of scholars, whose small ones are elsewhere; marks. */
static int is_rare(uint32_t c) {
    return (c >= 0x180 && c < 0x1d0) || (c >= 0x1f1 && c < 0x1f8) || (c >= 0x220 && c < 0x250) ||
           (c >= 0x375 && c < 0x386) || (c >= 0x482 && c < 0x48a) || (c >= 0x3cf && c < 0x400);
}

static void letters_are_those_of_the_library(void **state) {
    (void)state;
    size_t wrong = 0;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    for (uint32_t c = 1; c < 0x10000; c++) {
        if (is_european(c) && !is_rare(c) && iswprint((wint_t)c)) {
            assert_int_equal(ast_lower_case(c), towlower((wint_t)c));
            assert_int_equal(ast_is_letter(c), iswalpha((wint_t)c) != 0);
        }
        wrong += iswspace((wint_t)c) && ast_is_letter(c);
    }
    assert_int_equal(wrong, 0);
    setlocale(LC_CTYPE, "C");
}

/* The words of a text with bars between them. */
static const char *words_of(const char *text, char list[1024]) {
    char word[AST_WORD];
    ast_word_reader reader = {.at = text};
    *list = 0;
    while (ast_next_word(&reader, word)) {
        strcat(list, *list ? "|" : "");
        strcat(list, word);
    }
    return list;
}

static void words_are_runs_of_letters(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ""},
        {"The QUICK brown-fox: 42 times, covid19, a b", "the|quick|brown|fox|times|covid19"},
        {"don't GPT4 3d\x1b[31mred\x7f", "don|gpt4|mred"},
        {"\xc3\x84rger \xc3\x9c"
         "BER Stra\xc3\x9f"
         "e",
         "\xc3\xa4rger|\xc3\xbc"
         "ber|stra\xc3\x9f"
         "e"},
        {"\xce\x9b\xce\x9f\xce\x93\xce\x9f\xce\xa3", "\xce\xbb\xce\xbf\xce\xb3\xce\xbf\xcf\x82"}, /* logos, its end */
        {"\xd0\x9c\xd0\x98\xd0\xa0", "\xd0\xbc\xd0\xb8\xd1\x80"},                                 /* mir */
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x80\x82\xe6\xb0\xb4", /* three characters, a full stop, one */
         "\xe6\x97\xa5\xe6\x9c\xac|\xe6\x9c\xac\xe8\xaa\x9e|\xe6\xb0\xb4"},
        {"ab\xff"
         "cd \xc3",
         "ab|cd"}, /* invalid bytes */
        {"e\xcc\x81"
         "te\xcc\x81",
         "e\xcc\x81"
         "te\xcc\x81"}, /* marks */
    };
    char list[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(words_of(cases[i].text, list), cases[i].words);
    char run[200];
    memset(run, 'a', sizeof run - 1);
    run[sizeof run - 1] = 0;
    assert_string_equal(words_of(run, list), "");
}

/* ---- Keywords ---------------------------------------------------------------------------------------------------- */

enum { ROWS = 300, TERMS = 60, CLUSTERS = 7 };

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Row i is mostly about the terms of its cluster; terms below 5 are everywhere, term TERMS - 1 nowhere. */
static void make_counts(uint64_t seed, double counts[ROWS][TERMS], int32_t *labels) {
    for (size_t i = 0; i < ROWS; i++) {
        labels[i] = (int32_t)(next(&seed) % (CLUSTERS + 1)) - 1;
        for (size_t t = 0; t < TERMS; t++)
            counts[i][t] = 0;
        for (size_t w = 0; w < 12; w++) {
            size_t draw = (size_t)(next(&seed) % 100), own = (size_t)(labels[i] + 1) * 6 + 5;
            size_t term = draw < 40 ? draw % 5 : draw < 70 ? own + draw % 6 : draw % (TERMS - 1);
            counts[i][term]++;
        }
    }
}

/* c-TF-IDF from a table; -1 for stop words and terms that the cluster does not have. */
static void score(double counts[ROWS][TERMS], const int32_t *labels, double scores[CLUSTERS][TERMS]) {
    double sums[CLUSTERS][TERMS] = {{0}}, size[CLUSTERS] = {0}, total[TERMS] = {0}, all = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t t = 0; t < TERMS && labels[i] >= 0; t++) {
            sums[labels[i]][t] += counts[i][t];
            size[labels[i]] += counts[i][t];
            total[t] += counts[i][t];
            all += counts[i][t];
        }
    for (size_t t = 0; t < TERMS; t++) {
        double rates = 0, squares = 0;
        for (size_t k = 0; k < CLUSTERS; k++) {
            rates += sums[k][t] / size[k];
            squares += pow(sums[k][t] / size[k], 2);
        }
        for (size_t k = 0; k < CLUSTERS; k++) {
            int stop = rates * rates / squares > (CLUSTERS + 1) / 2.0;
            scores[k][t] = stop || sums[k][t] == 0 ? -1 : sums[k][t] / size[k] * log(1 + all / CLUSTERS / total[t]);
        }
    }
}

static void name_of(size_t term, char name[8]) {
    snprintf(name, 8, "t%c%c", (char)('a' + term / 26), (char)('a' + term % 26));
}

/* Each keyword has the score of its rank. */
static void check(const ast_keywords *keywords, double scores[CLUSTERS][TERMS]) {
    char name[8];
    for (size_t k = 0; k < CLUSTERS; k++) {
        for (size_t i = 0; i < AST_KEYWORDS; i++) {
            size_t best = 0;
            for (size_t t = 1; t < TERMS; t++)
                best = scores[k][t] > scores[k][best] * (1 + 1e-12) ? t : best;
            if (scores[k][best] < 0) {
                assert_int_equal(keywords[k].count, i);
                break;
            }
            name_of(best, name);
            assert_string_equal(keywords[k].words[i], name);
            scores[k][best] = -1;
        }
    }
}

static ast_names texts_of(double counts[ROWS][TERMS]) {
    ast_names texts = {0};
    char name[8];
    for (size_t i = 0; i < ROWS; i++) {
        char text[1024] = "";
        for (size_t t = 0; t < TERMS; t++)
            for (size_t n = 0; n < (size_t)counts[i][t]; n++) {
                name_of(t, name);
                strcat(strcat(text, name), n % 2 ? ", " : "; 7 ");
            }
        assert_true(ast_names_add(&texts, strdup(text)));
    }
    return texts;
}

static void keywords_are_those_of_the_formula(void **state) {
    (void)state;
    static double counts[ROWS][TERMS], scores[CLUSTERS][TERMS];
    int32_t labels[ROWS];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_counts(seed, counts, labels);
        ast_names texts = texts_of(counts);
        ast_corpus corpus;
        assert_true(ast_corpus_of_texts(&corpus, &texts));
        ast_keywords *keywords = ast_keywords_find(&corpus, labels, NULL, CLUSTERS);
        assert_non_null(keywords);
        score(counts, labels, scores);
        check(keywords, scores);
        free(keywords);
        ast_corpus_free(&corpus);
        ast_names_free(&texts);
    }
}

/* The same counts as a sparse matrix. */
static void a_matrix_gives_the_same(void **state) {
    (void)state;
    static double counts[ROWS][TERMS], scores[CLUSTERS][TERMS], data[ROWS * TERMS];
    static int32_t labels[ROWS], starts[ROWS + 1], columns[ROWS * TERMS];
    int32_t entries = 0;
    char name[8];
    make_counts(9, counts, labels);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t t = 0; t < TERMS; t++)
            if (counts[i][t] != 0) {
                columns[entries] = (int32_t)t;
                data[entries++] = counts[i][t];
            }
        starts[i + 1] = entries;
    }
    ast_names terms = {0};
    for (size_t t = 0; t < TERMS; t++) {
        name_of(t, name);
        assert_true(ast_names_add(&terms, strdup(name)));
    }
    ast_points points = ast_points_csr(data, AST_F8, starts, columns, AST_I4, ROWS, TERMS);
    ast_corpus corpus;
    assert_true(ast_corpus_of_counts(&corpus, &points, &terms, false));
    ast_keywords *keywords = ast_keywords_find(&corpus, labels, NULL, CLUSTERS);
    assert_non_null(keywords);
    score(counts, labels, scores);
    check(keywords, scores);
    free(keywords);
    ast_corpus_free(&corpus);
    ast_names_free(&terms);
}

static void equal_terms_come_as_the_representatives(void **state) {
    (void)state;
    char *list[] = {"pear", "apple", "plum", "fig"};
    ast_names texts = {.list = list, .count = 4};
    int32_t labels[] = {0, 0, 0, 0};
    size_t rows[] = {2, 0};
    ast_cluster_info cluster = {.representatives = rows, .representative_count = 2};
    ast_corpus corpus;
    assert_true(ast_corpus_of_texts(&corpus, &texts));
    ast_keywords *keywords = ast_keywords_find(&corpus, labels, &cluster, 1);
    assert_string_equal(keywords->words[0], "plum");
    assert_string_equal(keywords->words[1], "pear");
    assert_string_equal(keywords->words[2], "apple");
    free(keywords);
    ast_corpus_free(&corpus);
}

static void empty_clusters_have_none(void **state) {
    (void)state;
    char *list[] = {"", "apple apple pear", "!!"};
    ast_names texts = {.list = list, .count = 3};
    int32_t labels[] = {0, 1, -1};
    ast_corpus corpus;
    assert_true(ast_corpus_of_texts(&corpus, &texts));
    ast_keywords *keywords = ast_keywords_find(&corpus, labels, NULL, 2);
    assert_int_equal(keywords[0].count, 0);
    assert_int_equal(keywords[1].count, 2);
    assert_string_equal(keywords[1].words[0], "apple");
    free(keywords);
    ast_corpus_free(&corpus);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_those_of_the_library),        cmocka_unit_test(words_are_runs_of_letters),
        cmocka_unit_test(keywords_are_those_of_the_formula),       cmocka_unit_test(a_matrix_gives_the_same),
        cmocka_unit_test(equal_terms_come_as_the_representatives), cmocka_unit_test(empty_clusters_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
