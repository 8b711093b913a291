/* SPDX-License-Identifier: MIT
 *
 * app/report/plot.c and net.c: what a figure must have, whatever it is given. A little reader takes the SVG apart:
 * every element, its attributes, its text. */
#include "formats/helpers.h"

#include <plot.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading a figure ------------------------------------------------------------------------------------------- */

enum { MOST_ELEMENTS = 4000 };

typedef struct element {
    char name[16];
    char attributes[4096];
    char text[256]; /* up to the next tag */
} element_;

typedef struct figure {
    element_ *elements;
    size_t count;
    double width, height;
} figure;

static const char *attribute(const element_ *e, const char *name, char *value, size_t size) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *at = strstr(e->attributes, wanted);
    if (!at)
        return NULL;
    at += strlen(wanted);
    size_t length = strcspn(at, "\"");
    assert_true(length < size);
    memcpy(value, at, length);
    value[length] = 0;
    return value;
}

static double number(const element_ *e, const char *name) {
    char value[64], *end;
    if (!attribute(e, name, value, sizeof value))
        return NAN;
    double result = strtod(value, &end);
    assert_true(*end == 0);
    return result;
}

/* Takes the text apart; tags must be closed in order. */
static figure parse(const char *text) {
    figure f = {.elements = calloc(MOST_ELEMENTS, sizeof *f.elements)};
    char open[16][16];
    size_t depth = 0;
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        size_t length = strcspn(at, ">"), name = strcspn(at + 1, " >/");
        assert_true(at[length] == '>' && name < 16);
        if (at[1] == '/') {
            size_t closed = length - 2;
            assert_true(depth > 0 && strncmp(open[--depth], at + 2, closed) == 0 && open[depth][closed] == 0);
            continue;
        }
        assert_true(f.count < MOST_ELEMENTS && length < sizeof f.elements->attributes);
        element_ *e = &f.elements[f.count++];
        memcpy(e->name, at + 1, name);
        memcpy(e->attributes, at + 1 + name, length - 1 - name);
        snprintf(e->text, sizeof e->text, "%.*s", (int)strcspn(at + length + 1, "<"), at + length + 1);
        if (at[length - 1] != '/') {
            assert_true(depth < 16);
            strcpy(open[depth++], e->name);
        }
    }
    assert_true(depth == 0 && f.count > 0 && strcmp(f.elements[0].name, "svg") == 0);
    f.width = number(&f.elements[0], "width");
    f.height = number(&f.elements[0], "height");
    return f;
}

/* Numbers of a path, in pairs, after its absolute M and L; relative outlines of marks are left alone. */
static size_t path_points(const element_ *e, double (*points)[2], size_t most) {
    char d[4096];
    size_t count = 0;
    assert_non_null(attribute(e, "d", d, sizeof d));
    for (char *at = d; *at;) {
        char *end;
        if (*at != 'M' && *at != 'L') {
            at++;
            continue;
        }
        assert_true(count < most);
        points[count][0] = strtod(at + 1, &end);
        assert_true(end > at + 1);
        points[count][1] = strtod(end, &at);
        assert_true(at > end);
        count++;
    }
    return count;
}

static void inside(const figure *f, double x, double y) {
    if (!(x >= -0.01 && x <= f->width + 0.01 && y >= -0.01 && y <= f->height + 0.01))
        fail_msg("(%g, %g) is outside of the figure", x, y);
}

/* Nothing that is not finite, and nothing outside of the figure. */
static void check_places(const figure *f) {
    static const char *const pairs[][2] = {{"x", "y"}, {"x1", "y1"}, {"x2", "y2"}, {"cx", "cy"}};
    static double points[4096][2];
    for (size_t i = 1; i < f->count; i++) {
        const element_ *e = &f->elements[i];
        for (size_t p = 0; p < 4; p++)
            if (!isnan(number(e, pairs[p][0])))
                inside(f, number(e, pairs[p][0]), number(e, pairs[p][1]));
        if (strcmp(e->name, "path") == 0)
            for (size_t j = path_points(e, points, 4096); j-- > 0;)
                inside(f, points[j][0], points[j][1]);
        if (strcmp(e->name, "rect") == 0)
            assert_true(number(e, "width") >= 0 && number(e, "height") >= 0);
    }
}

static figure read_figure(const char *name) {
    size_t size;
    char *text = read_bytes(name, &size);
    for (const char *at = text; *at; at++) /* within a number's place, not in words such as "information" */
        if ((*at == '"' || *at == ' ' || *at == 'M' || *at == 'L') &&
            (strncmp(at + 1, "nan", 3) == 0 || strncmp(at + 1, "-nan", 4) == 0 || strncmp(at + 1, "inf", 3) == 0 ||
             strncmp(at + 1, "-inf", 4) == 0))
            fail_msg("the figure holds '%.20s'", at);
    figure f = parse(text);
    check_places(&f);
    free(text);
    return f;
}

static figure draw_panels(const ast_plot_panel *panels, size_t count) {
    ast_format_error error;
    ast_text svg = {0};
    ast_output *output = ast_output_open("plot.svg", false, &error);
    ast_plot_draw(panels, count, "What it shows", &svg);
    assert_true(output && ast_text_write(&svg, output, &error) && ast_output_commit(output, &error));
    ast_text_free(&svg);
    return read_figure("plot.svg");
}

static size_t texts(const figure *f, const char *text) {
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += strcmp(f->elements[i].name, "text") == 0 && strcmp(f->elements[i].text, text) == 0;
    return count;
}

/* Paths that are lines, bands or marks. */
enum { LINE, BAND, MARK };

static int kind_of(const element_ *e) {
    char fill[32], d[4096];
    if (strcmp(e->name, "path") != 0)
        return -1;
    if (strcmp(attribute(e, "fill", fill, sizeof fill), "none") == 0)
        return LINE;
    attribute(e, "d", d, sizeof d);
    return attribute(e, "fill-opacity", fill, sizeof fill) ? BAND : strpbrk(d, "mahvlz") ? MARK : -1;
}

static size_t paths(const figure *f, int kind) {
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += kind_of(&f->elements[i]) == kind;
    return count;
}

static const element_ *nth_path(const figure *f, int kind, size_t n) {
    for (size_t i = 0; i < f->count; i++)
        if (kind_of(&f->elements[i]) == kind && n-- == 0)
            return &f->elements[i];
    fail_msg("there are fewer paths");
    return NULL;
}

static void expect_text(const figure *f, const char *text, size_t times) {
    if (texts(f, text) != times)
        fail_msg("'%s' stands %zu times in the figure, not %zu", text, texts(f, text), times);
}

/* ---- Panels ----------------------------------------------------------------------------------------------------- */

#define PANEL(series, count)                                                                                           \
    { .title = "Title", .x_label = "angle (degrees)", .y_label = "clusters", series, count, 0, 0, false, NAN, NAN }

static void axes(void **state) {
    (void)state;
    const double x[] = {0, 5, 10}, y[] = {0, 0.5, 1};
    ast_plot_series series = {.name = "one", .x = x, .y = y, .count = 3};
    ast_plot_panel panels[2] = {PANEL(&series, 1), PANEL(&series, 1)};
    panels[1].title = "Other";
    figure f = draw_panels(panels, 2);
    expect_text(&f, "Title", 1);
    expect_text(&f, "Other", 1);
    expect_text(&f, "angle (degrees)", 2);
    expect_text(&f, "clusters", 2);
    expect_text(&f, "one", 0); /* one line needs no legend */
    expect_text(&f, "10", 2);  /* the last tick of x */
    expect_text(&f, "0.6", 2);
    expect_text(&f, "1", 2);
    expect_text(&f, "0", 4);
    assert_true(strcmp(f.elements[1].name, "title") == 0 && strcmp(f.elements[1].text, "What it shows") == 0);
    /* The corners of the axes and their middle, in the first panel and in the second. */
    double at[3][2];
    for (size_t panel = 0; panel < 2; panel++) {
        assert_int_equal(path_points(nth_path(&f, LINE, panel), at, 3), 3);
        double left = 64 + 400 * (double)panel;
        assert_true(at[0][0] == left && at[0][1] == 264 && at[1][0] == left + 160 && at[1][1] == 152);
        assert_true(at[2][0] == left + 320 && at[2][1] == 40);
    }
    assert_true(paths(&f, MARK) == 6 && paths(&f, BAND) == 0);
    free(f.elements);
}

/* Whatever cannot be drawn is left out: the rest is where it would be without it. */
static void gaps(void **state) {
    (void)state;
    const double x[] = {0, 1, 2, 3, NAN, 5, 6, 7, 8}, y[] = {1, 2, NAN, 4, 5, INFINITY, 3, 1e300, 2};
    const double error[] = {0.5, NAN, 1, INFINITY, 1, 1, 0.5, 1, 0};
    ast_plot_series series = {.name = "one", .x = x, .y = y, .error = error, .count = 9};
    ast_plot_panel panel = PANEL(&series, 1);
    figure f = draw_panels(&panel, 1);
    assert_int_equal(paths(&f, LINE), 4); /* 0-1, 3, 6, 8 */
    assert_int_equal(paths(&f, BAND), 4);
    assert_int_equal(paths(&f, MARK), 5);
    free(f.elements);
}

static void odd_series(void **state) {
    (void)state;
    static const double nothing[] = {NAN, NAN}, one[] = {7}, same[] = {3, 3, 3}, x[] = {1, 2, 3};
    static const double huge[] = {-1e30, 1e30, 1e25}, far[] = {1e20, 1e20, 1e20}, tiny[] = {1e-300, 2e-300, 0};
    static const double negative[] = {-3, -2, -1};
    const ast_plot_series cases[] = {{.name = "empty", .x = x, .y = x, .count = 0},
                                     {.name = "nothing", .x = x, .y = nothing, .count = 2},
                                     {.name = "no x", .x = nothing, .y = x, .count = 2},
                                     {.name = "one", .x = one, .y = one, .count = 1},
                                     {.name = "same", .x = same, .y = same, .count = 3},
                                     {.name = "huge", .x = x, .y = huge, .count = 3},
                                     {.name = "huge x", .x = huge, .y = x, .count = 3},
                                     {.name = "far", .x = far, .y = far, .count = 3},
                                     {.name = "tiny", .x = tiny, .y = tiny, .count = 3},
                                     {.name = "negative", .x = x, .y = negative, .count = 3},
                                     {.name = "bars", .x = x, .y = x, .count = 3, .bars = true},
                                     {.name = "no bars", .x = x, .y = negative, .count = 3, .bars = true},
                                     {.name = "wide", .x = x, .y = x, .error = huge, .count = 3}};
    for (size_t i = 0; i < ITEMS(cases); i++)
        for (int variant = 0; variant < 8; variant++) {
            ast_plot_panel panel = PANEL(&cases[i], 1);
            panel.logarithmic = variant & 1 && !cases[i].bars;
            if (variant & 2)
                panel.low = 0, panel.high = 1;
            if (variant & 4)
                panel.x_mark = 12, panel.y_mark = variant & 2 ? -5 : 40;
            figure f = draw_panels(&panel, 1);
            expect_text(&f, "angle (degrees)", 1);
            expect_text(&f, "clusters", 1);
            size_t ticks = 0;
            for (size_t e = 0; e < f.count; e++)
                ticks += strcmp(f.elements[e].name, "text") == 0;
            assert_true(ticks >= 3 + 4 && ticks <= 3 + 2 * 10); /* both axes have numbers, and not too many */
            free(f.elements);
        }
    figure f = draw_panels(&(ast_plot_panel)PANEL(NULL, 0), 1); /* no series at all */
    assert_true(paths(&f, LINE) == 0 && paths(&f, MARK) == 0);
    free(f.elements);
}

static void logarithmic(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 10, 0, 100, -4};
    ast_plot_series series = {.name = "one", .x = x, .y = y, .count = 5};
    ast_plot_panel panel = PANEL(&series, 1);
    panel.logarithmic = true;
    figure f = draw_panels(&panel, 1);
    double at[2][2];
    expect_text(&f, "1000", 1);
    expect_text(&f, "100", 1);
    assert_int_equal(paths(&f, MARK), 3);
    assert_int_equal(path_points(nth_path(&f, LINE, 0), at, 2), 2);
    assert_true(at[0][1] == 264 && fabs(at[0][1] - at[1][1] - 224.0 / 3) < 0.01); /* decades are equally high */
    free(f.elements);
}

/* Bands end where the range ends that was asked for; bars stand on 0 and are as high as they count. */
static void bands_and_bars(void **state) {
    (void)state;
    const double x[] = {1, 2}, y[] = {0.5, 0.9}, error[] = {0.1, 0.4}, counts[] = {1, 4};
    ast_plot_series series[2] = {{.name = "band", .x = x, .y = y, .error = error, .count = 2},
                                 {.name = "bars", .x = x, .y = counts, .count = 2, .bars = true}};
    ast_plot_panel panels[2] = {PANEL(series, 1), PANEL(series + 1, 1)};
    panels[0].high = 1;
    figure f = draw_panels(panels, 2);
    double at[4][2], heights[2] = {0};
    assert_int_equal(path_points(nth_path(&f, BAND, 0), at, 4), 4);
    assert_true(fabs(at[0][1] - (264 - 224 * 0.6)) < 0.01 && at[1][1] == 40 && at[2][1] == 152);
    size_t bars = 0;
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.elements[i].name, "rect") == 0 && number(&f.elements[i], "x") > 400) {
            assert_true(bars < 2);
            heights[bars++] = number(&f.elements[i], "height");
            assert_true(fabs(number(&f.elements[i], "y") + number(&f.elements[i], "height") - 264) < 0.011);
        }
    assert_true(bars == 2 && fabs(heights[1] / heights[0] - 4) < 0.01);
    free(f.elements);
}

/* Marks, dashes and darkness tell series apart where there is no colour; the legend names all of them. */
static void without_colour(void **state) {
    (void)state;
    const double x[] = {1, 2}, y[4][2] = {{1, 2}, {2, 3}, {3, 4}, {4, 5}};
    ast_plot_series series[4];
    for (int s = 0; s < 4; s++)
        series[s] = (ast_plot_series){
            .name = (const char *const[]){"a", "b", "c", "d"}[s], .x = x, .y = y[s], .count = 2, .look = s};
    ast_plot_panel panel = PANEL(series, 4);
    figure f = draw_panels(&panel, 1);
    char dashes[4][32], marks[4][128], colour[16];
    for (size_t s = 0; s < 4; s++) {
        char d[4096];
        unsigned red, green, blue;
        const element_ *line = nth_path(&f, LINE, s);
        attribute(line, "stroke-dasharray", dashes[s], sizeof dashes[s]);
        attribute(line, "stroke", colour, sizeof colour);
        assert_int_equal(sscanf(colour, "#%2x%2x%2x", &red, &green, &blue), 3);
        assert_true(0.299 * red + 0.587 * green + 0.114 * blue < 155);
        attribute(nth_path(&f, MARK, 2 * s), "d", d, sizeof d);
        snprintf(marks[s], sizeof marks[s], "%.100s", strpbrk(d, "mahvlz"));
        for (size_t other = 0; other < s; other++)
            assert_true(strcmp(dashes[s], dashes[other]) != 0 && strcmp(marks[s], marks[other]) != 0);
        expect_text(&f, series[s].name, 1);
    }
    assert_int_equal(paths(&f, MARK), 8 + 4); /* those of the legend */
    free(f.elements);
}

/* A mark is seen even where no data is. */
static void marks(void **state) {
    (void)state;
    const double x[] = {0, 10}, y[] = {0, 1};
    ast_plot_series series = {.name = "one", .x = x, .y = y, .count = 2};
    ast_plot_panel panel = PANEL(&series, 1);
    panel.x_mark = 40;
    panel.y_mark = -1;
    figure f = draw_panels(&panel, 1);
    expect_text(&f, "40", 1);
    expect_text(&f, "-1", 1);
    free(f.elements);
}

static void full_disc(void **state) {
    (void)state;
    ast_format_error error = {""};
    const double x[] = {1, 2};
    ast_plot_series series = {.name = "one", .x = x, .y = x, .count = 2};
    ast_plot_panel panels[4] = {PANEL(&series, 1), PANEL(&series, 1), PANEL(&series, 1), PANEL(&series, 1)};
    ast_output *output = ast_output_open(full_device(), false, &error);
    assert_non_null(output);
    bool good = true;
    ast_text svg = {0};
    for (int i = 0; i < 100 && good; i++) { /* more than any buffer holds */
        ast_plot_draw(panels, 4, "t", &svg);
        good = ast_text_write(&svg, output, &error);
    }
    ast_text_free(&svg);
    assert_false(good);
    assert_true(error.text[0] != 0);
    ast_output_abandon(output);
}

/* ---- Nets ------------------------------------------------------------------------------------------------------- */

static figure draw_net(const float *points, const int32_t *labels, size_t count, const float *means, size_t many) {
    ast_format_error error;
    ast_text svg = {0};
    ast_output *output = ast_output_open("net.svg", false, &error);
    ast_net_draw(points, labels, count, means, many, "A net", &svg);
    assert_true(output && ast_text_write(&svg, output, &error) && ast_output_commit(output, &error));
    ast_text_free(&svg);
    return read_figure("net.svg");
}

/* The n-th circle of that radius, or NULL. */
static const element_ *circle(const figure *f, double radius, size_t n) {
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->elements[i].name, "circle") == 0 && number(&f->elements[i], "r") == radius && n-- == 0)
            return &f->elements[i];
    return NULL;
}

static void expect_circle(const figure *f, double radius, size_t n, double x, double y) {
    const element_ *e = circle(f, radius, n);
    assert_non_null(e);
    if (fabs(number(e, "cx") - x) > 0.06 || fabs(number(e, "cy") - y) > 0.06)
        fail_msg("a point is at (%g, %g), not at (%g, %g)", number(e, "cx"), number(e, "cy"), x, y);
}

static void nets(void **state) {
    (void)state;
    /* Poles, the equator of the upper half, 60 degrees from +z (radius sqrt(1 - cos)), lengths that differ. */
    const float points[][3] = {{0, 0, 1},      {0, 0, -2},  {1, 0, 0}, {0, 3, 0},        {0.8660254f, 0, 0.5f},
                               {1, 0, -1e-9f}, {NAN, 0, 1}, {0, 0, 0}, {INFINITY, 0, 0}, {0, 1, 0}};
    const int32_t labels[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, -1};
    const float means[][3] = {{0, 0, 1}, {NAN, 0, 0}, {0, 0, -1}};
    figure f = draw_net(points[0], labels, 10, means[0], 3);
    const double radius = 190;
    expect_circle(&f, 1.6, 0, 210, 240);
    expect_circle(&f, 1.6, 1, 630, 240);
    expect_circle(&f, 1.6, 2, 210 + radius, 240);
    expect_circle(&f, 1.6, 3, 210, 240 - radius);
    expect_circle(&f, 1.6, 4, 210 + radius * sqrt(0.5), 240);
    expect_circle(&f, 1.6, 5, 630 - radius, 240); /* seen from below, x is to the left */
    assert_null(circle(&f, 1.6, 6));
    expect_circle(&f, 9, 0, 210, 240);
    expect_circle(&f, 9, 1, 630, 240);
    assert_null(circle(&f, 9, 2));
    expect_text(&f, "0", 1);
    expect_text(&f, "2", 1);
    expect_text(&f, "A net", 1);
    expect_text(&f, "around +z, x to the right; rings every 30 degrees", 1);
    free(f.elements);
    f = draw_net(NULL, NULL, 0, NULL, 0);
    assert_null(circle(&f, 1.6, 0));
    free(f.elements);
}

/* Many points are thinned out, and every colour there is shows on paper. */
static void many_points(void **state) {
    (void)state;
    enum { COUNT = 9000 };
    float *points = malloc(COUNT * 3 * sizeof *points);
    int32_t *labels = malloc(COUNT * sizeof *labels);
    assert_true(points && labels);
    for (int i = 0; i < COUNT; i++) {
        double z = 2.0 * (i + 0.5) / COUNT - 1, r = sqrt(1 - z * z), turn = 2.399963 * i;
        points[3 * i] = (float)(r * cos(turn));
        points[3 * i + 1] = (float)(r * sin(turn));
        points[3 * i + 2] = (float)z;
        labels[i] = i / 3 % 40;
    }
    figure f = draw_net(points, labels, COUNT, NULL, 0);
    size_t drawn = 0, near = 0, upper = 0;
    for (size_t i = 0; i < f.count; i++) {
        const element_ *e = &f.elements[i];
        unsigned red, green, blue;
        char colour[16];
        if (strcmp(e->name, "circle") != 0 || number(e, "r") != 1.6)
            continue;
        drawn++;
        attribute(e, "fill", colour, sizeof colour);
        assert_int_equal(sscanf(colour, "#%2x%2x%2x", &red, &green, &blue), 3);
        assert_true(0.299 * red + 0.587 * green + 0.114 * blue <= 150);
        double across = number(e, "cx") - 210, down = number(e, "cy") - 240;
        upper += fabs(across) <= 191;
        near += across * across + down * down < 95.0 * 95; /* a quarter of the disc's area */
    }
    assert_int_equal(drawn, 3000);
    assert_true(upper > 1490 && upper < 1510);
    assert_true(fabs((double)near / (double)upper - 0.25) < 0.01); /* equal areas have equally many points */
    free(f.elements);
    free(points);
    free(labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(axes),           cmocka_unit_test(gaps),
                                       cmocka_unit_test(odd_series),     cmocka_unit_test(logarithmic),
                                       cmocka_unit_test(bands_and_bars), cmocka_unit_test(without_colour),
                                       cmocka_unit_test(marks),          cmocka_unit_test(full_disc),
                                       cmocka_unit_test(nets),           cmocka_unit_test(many_points)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
