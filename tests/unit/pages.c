/* SPDX-License-Identifier: MIT
 *
 * The pages of clusterings and charts: what is written is read back with another reader, for one point and for 10,000
 * clusters, for 2 dimensions and for 300; and the projection agrees with one that builds the whole matrix. */
#include "pages_common.h"

#include <sampling.h>
#include <float.h>
#include <viewer.h>

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static void strings(void **state) {
    (void)state;
    static const char *const texts[][2] = {{"", "\"\""},
                                           {"a\"b\\c\n", "\"a\\\"b\\\\c\\u000a\""},
                                           {"</script><!--x", "\"<\\/script><\\u0021--x\""},
                                           {"<b>1 < 2", "\"<b>1 < 2\""},
                                           {"\xff\xc3\xa9\xed\xa0\x80", "\"\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\""}};
    for (size_t i = 0; i < ITEMS(texts); i++) {
        ast_text text = {0};
        ast_json_string(&text, NULL, texts[i][0]);
        assert_string_equal(text.bytes, texts[i][1]);
        json_t *back = json_loadb(text.bytes, text.size, JSON_DECODE_ANY, NULL);
        assert_true(json_is_string(back));
        json_decref(back);
        ast_text_free(&text);
    }
    ast_text text = {0};
    ast_json_open(&text, NULL, '[');
    ast_json_string(&text, NULL, NULL);
    ast_json_number(&text, NULL, NAN, 5);
    ast_json_number(&text, NULL, -INFINITY, 5);
    ast_json_number(&text, NULL, 1.5, 5);
    ast_json_close(&text, ']');
    assert_string_equal(text.bytes, "[null, null, null, 1.5]");
    ast_text_free(&text);
}

/* Reals are written as jansson writes them: it gives them back as reals. */
static void reals(void **state) {
    (void)state;
    static const double values[] = {0,      -0.0, 1,       -3,    0.1,   1e5,     123456789, 1e16,    1e17,
                                    1.5e17, 1e22, 1.25e-5, 1e-10, 1e300, -1e-300, 5e-324,    DBL_MAX, 1.0 / 3};
    for (size_t i = 0; i < ITEMS(values); i++)
        for (int digits = 9; digits <= 17; digits += 8) {
            ast_text text = {0};
            json_t *real = json_real(values[i]);
            char *expected = json_dumps(real, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
            ast_json_real(&text, NULL, values[i], digits);
            assert_string_equal(text.bytes, expected);
            json_decref(real);
            free(expected);
            ast_text_free(&text);
        }
}

/* Commas, brackets and lines, also where a part of the text is printed already. */
static void layout(void **state) {
    (void)state;
    static const char *const expected[] = {
        "{\"a\": 1, \"b\": [true, {}], \"c\": []}",
        "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    {}\n  ],\n  \"c\": []\n}",
    };
    for (int lines = 0; lines < 2; lines++)
        for (int printed = 0; printed < 2; printed++) {
            char *all = NULL;
            size_t size;
            FILE *file = open_memstream(&all, &size);
            ast_text text = {.indent = 2 * lines};
            ast_json_open(&text, NULL, '{');
            ast_json_integer(&text, "a", 1);
            assert_true(!printed || ast_text_print(&text, file));
            ast_json_open(&text, "b", '[');
            assert_true(!printed || ast_text_print(&text, file));
            ast_json_boolean(&text, NULL, true);
            ast_json_open(&text, NULL, '{');
            ast_json_close(&text, '}');
            ast_json_close(&text, ']');
            ast_json_open(&text, "c", '[');
            ast_json_close(&text, ']');
            ast_json_close(&text, '}');
            assert_true(ast_text_print(&text, file));
            fclose(file);
            assert_string_equal(all, expected[lines]);
            free(all);
            ast_text_free(&text);
        }
}

static void base64(void **state) {
    (void)state;
    static const char *const texts[] = {"\"\"", "\"Zg==\"", "\"Zm8=\"", "\"Zm9v\"", "\"Zm9vYg==\"", "\"Zm9vYmE=\""};
    for (size_t i = 0; i < ITEMS(texts); i++) { /* those of RFC 4648 */
        ast_text text = {0};
        ast_json_base64(&text, NULL, "foobar", i);
        assert_string_equal(text.bytes, texts[i]);
        ast_text_free(&text);
    }
    unsigned char bytes[5000];
    ast_sampling sampling = {3};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)ast_sampling_below(&sampling, 256);
    for (size_t length = 4990; length <= sizeof bytes; length++) {
        size_t size;
        ast_text text = {0};
        ast_json_base64(&text, NULL, bytes, length);
        text.bytes[text.size - 1] = 0;
        unsigned char *back = decoded(text.bytes + 1, &size);
        assert_int_equal(size, length);
        assert_memory_equal(back, bytes, length);
        free(back);
        ast_text_free(&text);
    }
}

/* ---- Clusterings ------------------------------------------------------------------------------------------------- */

/* A clustering whose cluster i is around one direction; rows go round the clusters. */
typedef struct made {
    float *points, *means;
    int32_t *labels;
    ast_cluster_info *clusters;
    ast_points view;
    ast_page_head head;
    ast_batch_page page;
} made;

static void make(made *out, size_t count, size_t dimension, size_t clusters) {
    ast_sampling sampling = {count + dimension};
    *out = (made){.points = malloc(count * dimension * sizeof(float)),
                  .means = malloc(clusters * dimension * sizeof(float)),
                  .labels = malloc(count * sizeof(int32_t)),
                  .clusters = calloc(clusters, sizeof(ast_cluster_info))};
    for (size_t i = 0; i < clusters; i++) {
        double square = 0;
        for (size_t d = 0; d < dimension; d++) {
            double value = (double)ast_sampling_below(&sampling, 2001) - 1000 + (d == 0) * 0.5;
            out->means[i * dimension + d] = (float)value;
            square += value * value;
        }
        for (size_t d = 0; d < dimension; d++)
            out->means[i * dimension + d] /= (float)sqrt(square);
        out->clusters[i] =
            (ast_cluster_info){.resultant = 0.5, .kappa = i ? 10 : NAN, .share = NAN, .stability = i ? 0.75 : NAN};
        out->clusters[i].mean = out->means + i * dimension;
    }
    for (size_t i = 0; i < count; i++) {
        out->labels[i] = (int32_t)(i % clusters);
        out->clusters[i % clusters].count++;
        out->clusters[i % clusters].weight++;
        for (size_t d = 0; d < dimension; d++) /* of length 2, since rows need no length */
            out->points[i * dimension + d] =
                2 * out->means[i % clusters * dimension + d] + ((float)ast_sampling_below(&sampling, 100) - 50) * 1e-4F;
    }
    out->view = ast_points_f4(out->points, count, dimension);
    out->head = (ast_page_head){.title = "cluster <x>", .command = "asterism cluster '<x>'", .run = "1"};
    out->page = (ast_batch_page){.head = &out->head,
                                 .notation = AST_DIP_DIRECTION,
                                 .points = &out->view,
                                 .labels = out->labels,
                                 .label_count = count,
                                 .clusters = out->clusters,
                                 .count = clusters,
                                 .labels_name = "labels.npy",
                                 .seed = 1};
}

static void unmake(made *out) {
    free(out->points);
    free(out->means);
    free(out->labels);
    free(out->clusters);
}

static json_t *page_of(const made *from) {
    ast_format_error error;
    ast_text json = {0};
    if (!ast_batch_page_json(&from->page, &json, &error))
        fail_msg("%s", error.text);
    json_t *page = parsed(json.bytes, json.size);
    ast_text_free(&json);
    return page;
}

/* The points drawn, which are the rows in order, are those of the clustering. */
static void check_points(const json_t *page, const made *from) {
    size_t size, label_size, shown = from->view.count;
    const json_t *points = json_object_get(page, "points");
    assert_int_equal(number_of(points, "total"), shown);
    assert_int_equal(number_of(points, "shown"), shown);
    unsigned char *xyz = decoded(json_string_value(json_object_get(points, "xyz")), &size);
    unsigned char *labels = decoded(json_string_value(json_object_get(points, "labels")), &label_size);
    assert_true(size == 6 * shown && label_size == 4 * shown);
    for (size_t i = 0; i < shown; i++) {
        double row[3] = {0}, length = 0;
        assert_int_equal(label_of(labels, i), from->labels[i]);
        for (size_t k = 0; k < from->view.dimension; k++) {
            row[k] = (double)from->points[i * from->view.dimension + k];
            length += row[k] * row[k];
        }
        for (size_t k = 0; k < 3; k++)
            assert_float_equal(coordinate(xyz, i, k), row[k] / sqrt(length), 2e-5);
    }
    free(xyz);
    free(labels);
}

static void check_clusters(const json_t *page, const made *from) {
    const json_t *clusters = json_object_get(page, "clusters");
    size_t dimension = from->view.dimension;
    assert_int_equal(json_array_size(clusters), from->page.count);
    for (size_t i = 0; i < from->page.count; i++) {
        const json_t *cluster = json_array_get(clusters, i);
        ast_colour colour = ast_palette((int32_t)i);
        char text[8];
        snprintf(text, sizeof text, "#%02x%02x%02x", colour.red, colour.green, colour.blue);
        assert_string_equal(json_string_value(json_object_get(cluster, "color")), text);
        assert_int_equal(number_of(cluster, "id"), i);
        assert_int_equal(number_of(cluster, "size"), from->clusters[i].count);
        assert_float_equal(number_of(cluster, "share"), (double)from->clusters[i].count / (double)from->view.count,
                           1e-5);
        assert_float_equal(number_of(cluster, "spread"), 60, 1e-3);
        assert_int_equal(json_object_get(cluster, "stability") != NULL, i > 0);
        assert_true(i ? number_of(cluster, "kappa") == 10 : isnan(number_of(cluster, "kappa")));
        assert_int_equal(json_array_size(json_object_get(cluster, "mean")), dimension <= 16 ? dimension : 0);
        double square = 0;
        for (size_t k = 0; k < 3; k++)
            square += pow(json_number_value(json_array_get(json_object_get(cluster, "xyz"), k)), 2);
        assert_float_equal(square, 1, 1e-4);
        assert_true((json_object_get(cluster, "dip") != NULL) == (dimension == 3));
    }
}

static void clusterings(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{1, 3, 1}, {7, 3, 2}, {5, 2, 1}, {1000, 3, 40}, {10000, 3, 10000}};
    for (size_t s = 0; s < ITEMS(shapes); s++) {
        made from;
        make(&from, shapes[s][0], shapes[s][1], shapes[s][2]);
        json_t *page = page_of(&from);
        assert_string_equal(json_string_value(json_object_get(page, "kind")), "batch");
        assert_string_equal(json_string_value(json_object_get(page, "title")), "cluster <x>");
        assert_true(json_is_null(json_object_get(page, "projection")));
        check_points(page, &from);
        check_clusters(page, &from);
        assert_true((json_object_get(page, "angles") == NULL) == (shapes[s][2] > AST_PAGE_ANGLES));
        assert_true(has_note(page, "too many pairs") == (shapes[s][2] > AST_PAGE_ANGLES));
        json_decref(page);
        unmake(&from);
    }
}

/* Missing rows are not drawn, noise is; dip and angles are what they are called. */
static void known_values(void **state) {
    (void)state;
    float rows[4][3] = {{0, 0, 3}, {NAN, 0, 0}, {0, 1, 0}, {1, 1, 0}}, means[2][3] = {{0, 0, 1}, {0, 0.6F, 0.8F}};
    int32_t labels[4] = {0, -1, 1, -1};
    ast_cluster_info clusters[2] = {{.count = 1, .resultant = 1, .kappa = NAN, .mean = means[0]},
                                    {.count = 1, .resultant = 1, .kappa = NAN, .mean = means[1]}};
    ast_points view = ast_points_f4(rows[0], 4, 3);
    ast_page_head head = {.title = "t", .command = "c"};
    made from = {.page = {&head, &view, labels, 4, clusters, 2, "l", 1, NULL, AST_DIP_DIRECTION}};
    ast_page_parameter(&head, "angle", NULL, 25);
    ast_page_parameter(&head, "method", "dp", 0);
    ast_page_measure(&head, "bic", NAN);
    json_t *page = page_of(&from), *points = json_object_get(page, "points");
    assert_int_equal(number_of(points, "total"), 3);
    assert_int_equal(number_of(points, "shown"), 3);
    size_t size;
    unsigned char *back = decoded(json_string_value(json_object_get(points, "labels")), &size);
    assert_true(label_of(back, 0) == 0 && label_of(back, 1) == 1 && label_of(back, 2) == -1);
    free(back);
    json_t *tilted = json_array_get(json_object_get(page, "clusters"), 1);
    assert_float_equal(number_of(tilted, "dip"), acos(0.8) * 180 / acos(-1), 1e-3);
    assert_float_equal(number_of(tilted, "dip_direction"), 0, 1e-3);
    double angle = json_number_value(json_array_get(json_array_get(json_object_get(page, "angles"), 0), 1));
    assert_float_equal(angle, 36.87, 0.006);
    assert_float_equal(number_of(json_object_get(page, "parameters"), "angle"), 25, 0);
    assert_true(isnan(number_of(json_object_get(page, "measures"), "bic")));
    json_decref(page);
}

/* Of axes the angle between means is that of the lines. */
static void axes(void **state) {
    (void)state;
    float means[2][3] = {{0, 0, 1}, {0, 0.6F, -0.8F}};
    int32_t labels[2] = {0, 1};
    ast_cluster_info clusters[2] = {{.count = 1, .mean = means[0]}, {.count = 1, .mean = means[1]}};
    ast_points view = ast_points_f4(means[0], 2, 3);
    ast_page_head head = {.axial = true};
    made from = {.page = {&head, &view, labels, 2, clusters, 2, "l", 1, NULL, AST_NO_NOTATION}};
    json_t *page = page_of(&from);
    double angle = json_number_value(json_array_get(json_array_get(json_object_get(page, "angles"), 0), 1));
    assert_float_equal(angle, 36.87, 0.006);
    assert_true(json_is_true(json_object_get(page, "axial")));
    json_decref(page);
}

/* Of more points than are drawn each has the same chance, and the same seed draws the same. */
static void samples(void **state) {
    (void)state;
    made from;
    make(&from, 250000, 3, 5);
    json_t *page = page_of(&from), *points = json_object_get(page, "points");
    assert_int_equal(number_of(points, "total"), 250000);
    assert_int_equal(number_of(points, "shown"), AST_PAGE_POINTS);
    assert_true(has_note(page, "A fair sample of 200,000 of the 250,000 points is drawn."));
    size_t size, counts[5] = {0};
    unsigned char *labels = decoded(json_string_value(json_object_get(points, "labels")), &size);
    for (size_t i = 0; i < AST_PAGE_POINTS; i++)
        counts[label_of(labels, i)]++;
    for (size_t i = 0; i < 5; i++) /* a binomial's five standard deviations */
        assert_true(fabs((double)counts[i] - 40000) < 5 * sqrt(50000 * 0.8 * 0.2));
    from.head.notes.count = 0;
    json_t *again = page_of(&from);
    assert_true(json_equal(page, again));
    free(labels);
    json_decref(page);
    json_decref(again);
    unmake(&from);
}

/* Labels of another file are told, not drawn. */
static void foreign_labels(void **state) {
    (void)state;
    made from;
    ast_format_error error;
    ast_text json = {0};
    make(&from, 10, 3, 2);
    from.page.label_count = 9;
    assert_false(ast_batch_page_json(&from.page, &json, &error));
    assert_string_equal(error.text,
                        "labels.npy has 9 labels, but there are 10 points; both must come from the same data");
    from.page.label_count = 10;
    from.labels[4] = 7;
    assert_false(ast_batch_page_json(&from.page, &json, &error));
    assert_string_equal(error.text, "labels.npy: row 5 has the label 7, but there are 2 clusters");
    ast_text_free(&json);
    unmake(&from);
}

/* ---- Projections ------------------------------------------------------------------------------------------------- */

enum { WIDE = 12 };

/* The eigenvalues of sum x x^T over the number of rows, by Jacobi's method on the whole matrix, largest first. */
static void reference_shares(const ast_points *points, double values[WIDE]) {
    double m[WIDE][WIDE] = {{0}}, row[WIDE];
    for (size_t i = 0; i < points->count; i++) {
        assert_true(ast_unit_row(points, i, row));
        for (size_t a = 0; a < WIDE; a++) {
            for (size_t b = 0; b < WIDE; b++)
                m[a][b] += row[a] * row[b] / (double)points->count;
        }
    }
    for (int sweep = 0; sweep < 50; sweep++) {
        for (size_t p = 0; p < WIDE; p++) {
            for (size_t q = p + 1; q < WIDE; q++) {
                double angle = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(angle), s = sin(angle);
                for (size_t k = 0; k < WIDE; k++) {
                    double a = m[k][p], b = m[k][q];
                    m[k][p] = c * a - s * b;
                    m[k][q] = s * a + c * b;
                }
                for (size_t k = 0; k < WIDE; k++) {
                    double a = m[p][k], b = m[q][k];
                    m[p][k] = c * a - s * b;
                    m[q][k] = s * a + c * b;
                }
            }
        }
    }
    for (size_t i = 0; i < WIDE; i++) {
        size_t place = i;
        for (; place > 0 && values[place - 1] < m[i][i]; place--)
            values[place] = values[place - 1];
        values[place] = m[i][i];
    }
}

static void projections(void **state) {
    (void)state;
    for (size_t seed = 0; seed < 20; seed++) {
        made from;
        ast_format_error error;
        ast_projection projection = {0};
        double values[WIDE];
        make(&from, 200 + seed, WIDE, 3 + seed);
        assert_true(ast_projection_find(&projection, &from.view, &error));
        reference_shares(&from.view, values);
        for (size_t k = 0; k < 3; k++) {
            assert_float_equal(projection.explained[k], values[k], 1e-6);
            for (size_t l = 0; l < 3; l++) {
                double product = 0;
                for (size_t d = 0; d < WIDE; d++)
                    product += projection.basis[k * WIDE + d] * projection.basis[l * WIDE + d];
                assert_float_equal(product, k == l, 1e-9);
            }
        }
        ast_projection_free(&projection);
        unmake(&from);
    }
}

/* Directions in three of many dimensions are seen as they are: their shares add up to 1, and so do the angles. */
static void flat_projections(void **state) {
    (void)state;
    enum { COUNT = 300 };
    static const size_t dimensions[] = {4, 5, 300, 4096};
    for (size_t s = 0; s < ITEMS(dimensions); s++) {
        size_t size = dimensions[s];
        ast_format_error error;
        ast_projection projection = {0};
        float *rows = calloc(COUNT * size, sizeof *rows);
        double(*seen)[3] = malloc(COUNT * sizeof *seen), *row = malloc(size * sizeof *row);
        ast_sampling sampling = {size};
        for (size_t i = 0; i < COUNT * 3; i++)
            rows[i / 3 * size + i % 3 * (size / 3)] = (float)ast_sampling_below(&sampling, 1001) - 400;
        ast_points points = ast_points_f4(rows, COUNT, size);
        assert_true(ast_projection_find(&projection, &points, &error));
        assert_float_equal(projection.explained[0] + projection.explained[1] + projection.explained[2], 1, 1e-6);
        for (size_t i = 0; i < COUNT; i++) {
            double product = 0, direct = 0, *last = seen[i ? i - 1 : 0];
            assert_true(ast_unit_row(&points, i, row));
            ast_projection_see(&projection, row, seen[i]);
            double *now = seen[i];
            for (size_t k = 0; k < 3; k++)
                product += now[k] * last[k];
            for (size_t d = 0; d < size && i > 0; d++)
                direct += row[d] * (double)rows[(i - 1) * size + d];
            double length = 0;
            for (size_t d = 0; d < size && i > 0; d++)
                length += pow((double)rows[(i - 1) * size + d], 2);
            if (i > 0)
                assert_float_equal(product, direct / sqrt(length), 1e-4);
        }
        ast_projection_free(&projection);
        free(rows);
        free(seen);
        free(row);
    }
}

/* The page of many dimensions says what it shows. */
static void wide_pages(void **state) {
    (void)state;
    made from;
    make(&from, 500, 300, 4);
    json_t *page = page_of(&from);
    assert_int_equal(json_array_size(json_object_get(json_object_get(page, "projection"), "explained")), 3);
    assert_int_equal(number_of(page, "dimension"), 300);
    assert_true(has_note(page, "300 dimensions"));
    assert_int_equal(json_array_size(json_object_get(page, "angles")), 4);
    check_clusters(page, &from);
    json_decref(page);
    unmake(&from);
}

/* ---- Charts and the page itself ---------------------------------------------------------------------------------- */

static void charts(void **state) {
    (void)state;
    ast_format_error error;
    ast_chart_page charts = {0};
    ast_page_head head = {.title = "tune", .command = "asterism tune"};
    ast_text json = {0};
    ast_chart_page_svg(&charts, "<svg><title>One</title></svg>");
    ast_chart_page_svg(&charts, "<svg/>");
    ast_chart_page_csv(&charts, "t", "angle,name,none\n2.5,spkm ++,nan\n-1e3,,-\n");
    ast_chart_page_csv(&charts, "empty", "a\n");
    assert_true(ast_chart_page_json(&charts, &head, "Take 25.", &json, &error));
    assert_null(strstr(json.bytes, "</"));
    json_t *page = parsed(json.bytes, json.size), *list = json_object_get(page, "charts");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "title")), "One");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "title")), "");
    const char *svg = json_string_value(json_object_get(json_array_get(list, 0), "svg"));
    assert_string_equal(svg, "<svg><title>One</title></svg>");
    json_t *rows = json_object_get(json_array_get(json_object_get(page, "tables"), 0), "rows");
    json_t *expected = json_loads("[[2.5, \"spkm ++\", null], [-1000.0, null, \"-\"]]", 0, NULL);
    assert_int_equal(json_array_size(rows), 2);
    assert_true(json_number_value(json_array_get(json_array_get(rows, 0), 0)) == 2.5);
    assert_true(json_equal(json_array_get(json_array_get(rows, 0), 1), json_array_get(json_array_get(expected, 0), 1)));
    assert_true(json_is_null(json_array_get(json_array_get(rows, 0), 2)));
    assert_true(json_number_value(json_array_get(json_array_get(rows, 1), 0)) == -1000);
    assert_string_equal(json_string_value(json_array_get(json_array_get(rows, 1), 2)), "-");
    json_decref(expected);
    json_decref(page);
    ast_text_free(&json);
    ast_chart_page_free(&charts);
}

static void filled(void **state) {
    (void)state;
    const char *page = "<html>" AST_VIEWER_MARKER "</html>";
    ast_text json = {0}, html = {0};
    ast_text_put(&json, "{\"a\": 1}");
    assert_true(ast_page_fill(page, strlen(page), &json, &html));
    assert_string_equal(html.bytes,
                        "<html><script type=\"application/json\" id=\"asterism-data\">{\"a\": 1}</script></html>");
    assert_false(ast_page_fill("<html></html>", 13, &json, &html));
    ast_text_free(&json);
    ast_text_free(&html);
    size_t length;
    page = ast_viewer_page(&length);
    assert_true((page != NULL) == ast_page_there());
    if (!page)
        return;
    const char *marker = strstr(page, AST_VIEWER_MARKER);
    assert_non_null(marker);
    assert_null(strstr(marker + 1, AST_VIEWER_MARKER));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings),
                                       cmocka_unit_test(reals),
                                       cmocka_unit_test(layout),
                                       cmocka_unit_test(base64),
                                       cmocka_unit_test(clusterings),
                                       cmocka_unit_test(known_values),
                                       cmocka_unit_test(axes),
                                       cmocka_unit_test(samples),
                                       cmocka_unit_test(foreign_labels),
                                       cmocka_unit_test(projections),
                                       cmocka_unit_test(flat_projections),
                                       cmocka_unit_test(wide_pages),
                                       cmocka_unit_test(charts),
                                       cmocka_unit_test(filled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
