/* SPDX-License-Identifier: MIT */
#include "field.h"

#include <asterism_depth.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

typedef struct layout {
    const char *option, *first, *second;
    ast_feature feature;
    double turn;                            /* from the first angle to the azimuth of the feature */
    ast_field_column firsts[3], seconds[2]; /* columns that may be the two, best first */
    ast_field_column refused;               /* a column that may not stand in for the first */
    const char *other;                      /* the option that reads it */
} layout;

static const layout layouts[] = {[AST_DIP_DIRECTION] = {"dip-direction",
                                                        "dip direction",
                                                        "dip",
                                                        AST_PLANE,
                                                        0,
                                                        {AST_COLUMN_DIP_DIRECTION, AST_COLUMN_AZIMUTH},
                                                        {AST_COLUMN_DIP, AST_COLUMN_PLUNGE},
                                                        AST_COLUMN_STRIKE,
                                                        "strike-dip"},
                                 [AST_STRIKE_DIP] = {"strike-dip",
                                                     "strike",
                                                     "dip",
                                                     AST_PLANE,
                                                     90,
                                                     {AST_COLUMN_STRIKE, AST_COLUMN_AZIMUTH},
                                                     {AST_COLUMN_DIP, AST_COLUMN_PLUNGE},
                                                     AST_COLUMN_DIP_DIRECTION,
                                                     "dip-direction"},
                                 [AST_TREND_PLUNGE] = {"trend-plunge",
                                                       "trend",
                                                       "plunge",
                                                       AST_LINE,
                                                       0,
                                                       {AST_COLUMN_TREND, AST_COLUMN_AZIMUTH, AST_COLUMN_DIP_DIRECTION},
                                                       {AST_COLUMN_PLUNGE, AST_COLUMN_DIP},
                                                       AST_COLUMN_STRIKE,
                                                       "strike-dip"},
                                 [AST_AZIMUTH] = {.option = "azimuth", .first = "azimuth"}};

ast_notation ast_cli_field_notation(const ast_cli_source *source) {
    return source->dip_direction  ? AST_DIP_DIRECTION
           : source->strike_dip   ? AST_STRIKE_DIP
           : source->trend_plunge ? AST_TREND_PLUNGE
           : source->azimuth      ? AST_AZIMUTH
                                  : AST_NO_NOTATION;
}

#define LONGEST 128 /* bytes of two words together; longer ones are no angles */

/* ---- Which columns ----------------------------------------------------------------------------------------------- */

enum { NOT_THERE = -1, TWICE = -2 };

static int find_column(const ast_words *words, ast_field_column column) {
    int found = NOT_THERE;
    for (size_t c = 0; words->header && column && c < words->columns; c++)
        if (ast_field_column_of(words->header[c]) == column)
            found = found == NOT_THERE ? (int)c : TWICE;
    return found;
}

static int find_first_of(const ast_words *words, const ast_field_column *columns, size_t count) {
    int found = NOT_THERE;
    for (size_t i = 0; i < count && found == NOT_THERE; i++)
        found = find_column(words, columns[i]);
    return found;
}

/* The only column whose first word has two angles, such as 040/61. */
static int find_pair(const ast_words *words, ast_notation notation) {
    double azimuth, inclination;
    int found = NOT_THERE;
    for (size_t c = 0; c < words->columns; c++)
        for (size_t r = 0; r < words->rows; r++) {
            const char *word = words->list[r * words->columns + c];
            const char *problem = ast_field_read(notation, word, NULL, &azimuth, &inclination);
            if (!problem && isnan(azimuth) && isnan(inclination))
                continue;
            if (!problem)
                found = found == NOT_THERE ? (int)c : TWICE;
            break;
        }
    return found;
}

/* Whether the first of three columns counts the rows and has no name. */
static bool has_index(const ast_words *words) {
    if (words->chosen || words->columns != 3 || words->rows < 3 || (words->header && *words->header[0]))
        return false;
    double start = atof(words->list[0]);
    for (size_t r = 0; r < words->rows; r++) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", start + (double)r);
        if (strcmp(words->list[r * words->columns], text) != 0)
            return false;
    }
    return true;
}

typedef struct chosen {
    int first, second; /* columns; second below 0: the first has both, or there is one angle only */
    int quadrant;      /* the column of the letters behind the second; below 0: there is none */
    bool reversed;     /* one column has both, and its name says that the inclination comes first */
} chosen;

static bool too_many(const ast_words *words, const layout *how, const char *which, ast_format_error *error) {
    return ast_format_fail(error, "%s has %zu columns, but --%s needs %s; --columns can pick %s", words->file,
                           words->columns, how->option, which, how->second ? "them" : "it");
}

static bool choose_azimuth(const ast_words *words, const layout *how, chosen *found, ast_format_error *error) {
    static const ast_field_column azimuths[] = {AST_COLUMN_AZIMUTH, AST_COLUMN_TREND, AST_COLUMN_DIP_DIRECTION,
                                                AST_COLUMN_STRIKE};
    *found = (chosen){0, NOT_THERE, NOT_THERE, false};
    if (words->columns == 1)
        return true;
    found->first = find_first_of(words, azimuths, sizeof azimuths / sizeof *azimuths);
    return found->first >= 0 || too_many(words, how, "one", error);
}

static bool refuse_header(const ast_words *words, const layout *how, ast_format_error *error) {
    int refused = find_column(words, how->refused);
    if (refused < 0)
        return true;
    char word[AST_EXCERPT];
    ast_excerpt(word, words->header[refused], strlen(words->header[refused]));
    return ast_format_fail(error, "%s: its header says '%s', but --%s needs a %s: --%s reads what is there",
                           words->file, word, how->option, how->first, how->other);
}

static void complete(chosen *found) {
    if (found->first == NOT_THERE && found->second >= 0)
        found->first = 1 - found->second;
    else if (found->second == NOT_THERE && found->first >= 0)
        found->second = 1 - found->first;
}

/* "dip/dipdir" over 30/80. */
static bool names_inclination_first(const ast_words *words, const layout *how, int column) {
    const char *name = words->header ? words->header[column] : "", *slash = strchr(name, '/');
    if (!slash)
        return false;
    char *before = strndup(name, (size_t)(slash - name));
    ast_field_column first = before ? ast_field_column_of(before) : AST_COLUMN_OTHER,
                     second = ast_field_column_of(slash + 1);
    free(before);
    return (first == how->seconds[0] || first == how->seconds[1]) &&
           (second == how->firsts[0] || second == how->firsts[1]);
}

/* Columns by their names in the header, one column of pairs, or two in their order. */
static bool choose_columns(const ast_words *words, ast_notation notation, chosen *found, char *remark,
                           ast_format_error *error) {
    const layout *how = &layouts[notation];
    *found = (chosen){find_first_of(words, how->firsts, 3), find_first_of(words, how->seconds, 2),
                      find_column(words, AST_COLUMN_QUADRANT), false};
    if (found->first == NOT_THERE && !refuse_header(words, how, error))
        return false;
    if (words->columns == 2) /* a name that is unknown is that of the other angle */
        complete(found);
    if (found->first >= 0 && found->second >= 0) {
        if (remark && found->second < found->first)
            snprintf(remark, AST_REMARK, "%s: the header says that the %s is in column %zu and the %s in column %zu",
                     words->file, how->first, words->numbers[found->first], how->second, words->numbers[found->second]);
        return true;
    }
    int pair = words->columns == 2 ? NOT_THERE : find_pair(words, notation);
    found->first = words->columns == 2 || words->columns == 1 ? 0 : pair;
    found->second = words->columns == 2 ? 1 : NOT_THERE;
    found->reversed = found->second < 0 && found->first >= 0 && names_inclination_first(words, how, found->first);
    if (found->first < 0 && has_index(words)) {
        if (remark)
            snprintf(remark, AST_REMARK, "%s: column 1 counts the rows and has no name: it is left out as an index",
                     words->file);
        found->first = 1;
        found->second = 2;
    }
    return found->first >= 0 || too_many(words, how, "two", error);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool is_value(const char *word) {
    double azimuth, inclination;
    if (!ast_field_read(AST_AZIMUTH, word, NULL, &azimuth, &inclination))
        return true;
    return !ast_field_read(AST_DIP_DIRECTION, "", word, &azimuth, &inclination) ||
           !ast_field_read(AST_TREND_PLUNGE, word, NULL, &azimuth, &inclination);
}

static bool is_name(const char *word) {
    return ast_field_column_of(word) != AST_COLUMN_OTHER;
}

static bool read_row(const ast_words *words, ast_notation notation, const chosen *found, size_t row, double *angles,
                     ast_format_error *error) {
    char text[AST_EXCERPT];
    char *const *list = words->list + row * words->columns;
    const char *first = list[found->first], *second = found->second >= 0 ? list[found->second] : NULL;
    char joined[LONGEST];
    const char *slash = found->reversed ? strchr(first, '/') : NULL;
    if (slash) {
        snprintf(joined, sizeof joined, "%.*s", (int)(slash - first), first);
        second = joined;
        first = slash + 1;
    } else if (second && found->quadrant >= 0) {
        snprintf(joined, sizeof joined, "%s %s", second, list[found->quadrant]);
        second = joined;
    }
    const char *problem = ast_field_read(notation, first, second, &angles[0], &angles[1]);
    if (!problem)
        return true;
    bool behind = second && !strstr(problem, "azimuth"); /* the second word is what is wrong */
    const char *word = behind ? second : first;
    ast_excerpt(text, word, strlen(word));
    return ast_format_fail(error, "%s: line %llu: '%s' %s", words->file, (unsigned long long)words->lines[row], text,
                           problem);
}

/* Rows of two angles, or of one. */
static bool convert(const ast_words *words, void *data, float **numbers, size_t *width, char *remark,
                    ast_format_error *error) {
    ast_notation notation = *(const ast_notation *)data;
    chosen found;
    *width = notation == AST_AZIMUTH ? 1 : 2;
    if (!(notation == AST_AZIMUTH ? choose_azimuth(words, &layouts[notation], &found, error)
                                  : choose_columns(words, notation, &found, remark, error)))
        return false;
    *numbers = malloc(words->rows * *width * sizeof **numbers);
    if (!*numbers)
        return ast_format_no_memory(error, words->file);
    for (size_t r = 0; r < words->rows; r++) {
        double angles[2];
        if (!read_row(words, notation, &found, r, angles, error))
            return false;
        for (size_t c = 0; c < *width; c++)
            (*numbers)[r * *width + c] = (float)angles[c];
    }
    return true;
}

const ast_cell_reader *ast_cli_field_words(const ast_cli_source *source) {
    static ast_notation values[] = {AST_NO_NOTATION, AST_DIP_DIRECTION, AST_STRIKE_DIP, AST_TREND_PLUNGE, AST_AZIMUTH};
    static const ast_cell_reader readers[] = {{is_value, is_name, convert, &values[AST_NO_NOTATION]},
                                              {is_value, is_name, convert, &values[AST_DIP_DIRECTION]},
                                              {is_value, is_name, convert, &values[AST_STRIKE_DIP]},
                                              {is_value, is_name, convert, &values[AST_TREND_PLUNGE]},
                                              {is_value, is_name, convert, &values[AST_AZIMUTH]}};
    ast_notation notation = ast_cli_field_notation(source);
    return notation ? &readers[notation] : NULL;
}

/* Two numbers that are no angles would be a vector in the plane. */
bool ast_cli_field_check_header(char *const names[2], const char *file, ast_format_error *error) {
    static const char *const options[] = {[AST_COLUMN_DIP_DIRECTION] = "dip-direction",
                                          [AST_COLUMN_DIP] = "dip-direction",
                                          [AST_COLUMN_STRIKE] = "strike-dip",
                                          [AST_COLUMN_PLUNGE] = "trend-plunge"};
    ast_field_column columns[2] = {ast_field_column_of(names[0]), ast_field_column_of(names[1])};
    bool strike = columns[0] == AST_COLUMN_STRIKE || columns[1] == AST_COLUMN_STRIKE;
    for (int i = 0; i < 2; i++) {
        if (columns[i] == AST_COLUMN_OTHER || columns[i] >= sizeof options / sizeof *options || !options[columns[i]])
            continue;
        return ast_format_fail(error,
                               "%s: its header says '%s', so that its columns are angles and no components of vectors; "
                               "--%s reads them",
                               file, names[i], strike ? "strike-dip" : options[columns[i]]);
    }
    return true;
}

double ast_cli_field_rounding(const ast_cli_common *common, const ast_cli_source *source, double given,
                              size_t dimension, bool mixture) {
    if (ast_cli_typed(common, "rounding"))
        return isinf(given) ? (double)NAN : given;
    return ast_cli_field_notation(source) || dimension == 2 || mixture ? (double)NAN : 0;
}

/* ---- Angles ------------------------------------------------------------------------------------------------------ */

static int make_room(const char *name, size_t count, size_t width, float **vectors, size_t *capacity) {
    if (*vectors && count <= *capacity)
        return -1;
    free(*vectors);
    *vectors = malloc((count ? count : 1) * width * sizeof **vectors);
    *capacity = *vectors ? count : 0;
    return *vectors ? -1 : ast_cli_fail("%s: there is no memory for %zu directions", name, count);
}

/* Angles out of range are mistakes, mostly columns in another order. */
static int check_row(const layout *how, const char *name, size_t row, const double angles[2]) {
    const char *first = how->first, *second = how->second;
    if (fabs(angles[0]) > 360)
        return ast_cli_fail("%s: row %zu: %s %s of %g is not between -360 and 360 degrees", name, row + 1,
                            *first == 'a' ? "an" : "a", first, angles[0]);
    if (second && fabs(angles[1]) > 90)
        return ast_cli_fail("%s: row %zu: a %s of %g is not between -90 and 90 degrees; the %s comes first, and "
                            "--columns 2,1 exchanges the columns",
                            name, row + 1, second, angles[1], first);
    return -1;
}

static void set_row(const layout *how, const double angles[2], size_t width, float *vector) {
    double v[3] = {NAN, NAN, NAN};
    if (width == 2 && !isnan(angles[0]))
        ast_vector_of(AST_LINE, angles[0], 0, v);
    if (width == 3 && !isnan(angles[0]) && !isnan(angles[1]))
        ast_vector_of(how->feature, angles[0] + how->turn, angles[1], v);
    for (size_t d = 0; d < width; d++)
        vector[d] = (float)v[d];
}

int ast_cli_field_points(const ast_cli_source *source, const char *name, ast_points *points, float **vectors,
                         size_t *capacity) {
    const layout *how = &layouts[ast_cli_field_notation(source)];
    size_t columns = how->second ? 2 : 1, width = columns + 1;
    if (points->count > 0 && points->dimension != columns)
        return ast_cli_fail("%s has %zu columns, but --%s needs %s; --columns can pick %s", name, points->dimension,
                            how->option, columns == 2 ? "two" : "one", columns == 2 ? "them" : "it");
    int code = make_room(name, points->count, width, vectors, capacity);
    for (size_t i = 0; i < points->count && code < 0; i++) {
        double angles[2] = {NAN, NAN};
        ast_points_row(points, i, angles);
        code = check_row(how, name, i, angles);
        set_row(how, angles, width, *vectors + width * i);
    }
    if (code < 0)
        *points = ast_points_f4(*vectors, points->count, width);
    return code;
}
