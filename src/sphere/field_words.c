/* SPDX-License-Identifier: MIT
 *
 * Angles as they are written in field notebooks, and what columns are called. Words come from a file or from a user;
 * they are looked at byte by byte, and a degree sign may be UTF-8, Latin-1 or missing. */
#include "asterism_field.h"
#include "system.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 32 /* of a number */
#define WORD 64        /* of a name, without what is no letter */
#define ACROSS 0.34    /* cosine of 70 degrees: a quadrant is a quarter of the compass, 45 degrees to both sides */
#define PI 3.14159265358979323846

/* ---- Names of columns -------------------------------------------------------------------------------------------- */

typedef struct column_name {
    const char *name;
    ast_field_column column;
} column_name;

static const column_name names[] = {
    {"dipdirection", AST_COLUMN_DIP_DIRECTION},
    {"dipdir", AST_COLUMN_DIP_DIRECTION},
    {"dipdirn", AST_COLUMN_DIP_DIRECTION},
    {"dipazimuth", AST_COLUMN_DIP_DIRECTION},
    {"dipazi", AST_COLUMN_DIP_DIRECTION},
    {"dipaz", AST_COLUMN_DIP_DIRECTION},
    {"directionofdip", AST_COLUMN_DIP_DIRECTION},
    {"dd", AST_COLUMN_DIP_DIRECTION},
    {"ddr", AST_COLUMN_DIP_DIRECTION},
    {"dip", AST_COLUMN_DIP},
    {"dipangle", AST_COLUMN_DIP},
    {"dipamount", AST_COLUMN_DIP},
    {"beddip", AST_COLUMN_DIP},
    {"beddipdirection", AST_COLUMN_DIP_DIRECTION},
    {"strike", AST_COLUMN_STRIKE},
    {"strikerhr", AST_COLUMN_STRIKE},
    {"rhrstrike", AST_COLUMN_STRIKE},
    {"str", AST_COLUMN_STRIKE},
    {"trend", AST_COLUMN_TREND},
    {"plungedirection", AST_COLUMN_TREND},
    {"plungeazimuth", AST_COLUMN_TREND},
    {"declination", AST_COLUMN_TREND},
    {"dec", AST_COLUMN_TREND},
    {"decl", AST_COLUMN_TREND},
    {"dirdec", AST_COLUMN_TREND},
    {"sitedec", AST_COLUMN_TREND},
    {"specimendec", AST_COLUMN_TREND},
    {"measdec", AST_COLUMN_TREND},
    {"plunge", AST_COLUMN_PLUNGE},
    {"inclination", AST_COLUMN_PLUNGE},
    {"inc", AST_COLUMN_PLUNGE},
    {"incl", AST_COLUMN_PLUNGE},
    {"dirinc", AST_COLUMN_PLUNGE},
    {"siteinc", AST_COLUMN_PLUNGE},
    {"specimeninc", AST_COLUMN_PLUNGE},
    {"measinc", AST_COLUMN_PLUNGE},
    {"azimuth", AST_COLUMN_AZIMUTH},
    {"azi", AST_COLUMN_AZIMUTH},
    {"az", AST_COLUMN_AZIMUTH},
    {"bearing", AST_COLUMN_AZIMUTH},
    {"direction", AST_COLUMN_AZIMUTH},
    {"streichen", AST_COLUMN_STRIKE},
    {"fallen", AST_COLUMN_DIP},
    {"einfallen", AST_COLUMN_DIP},
    {"pendage", AST_COLUMN_DIP},
    {"buzamiento", AST_COLUMN_DIP},
    {"quadrant", AST_COLUMN_QUADRANT},
    {"quad", AST_COLUMN_QUADRANT},
    {"dipquadrant", AST_COLUMN_QUADRANT},
    {"dipquad", AST_COLUMN_QUADRANT},
    {"dipletter", AST_COLUMN_QUADRANT},
    {"dipside", AST_COLUMN_QUADRANT},
};

/* Letters of the name in lower case, without what stands in parentheses or brackets. False if there are too many. */
static bool bare_name(const char *name, char bare[WORD]) {
    size_t length = 0;
    for (; *name && *name != '(' && *name != '['; name++) {
        if (!isalpha((unsigned char)*name))
            continue;
        if (length + 1 == WORD)
            return false;
        bare[length++] = (char)tolower((unsigned char)*name);
    }
    bare[length] = '\0';
    return true;
}

ast_field_column ast_field_column_of(const char *name) {
    static const char *const units[] = {"", "deg", "degree", "degrees"};
    char bare[WORD];
    if (!name || !bare_name(name, bare))
        return AST_COLUMN_OTHER;
    size_t length = strlen(bare);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t own = strlen(names[i].name);
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            if (length == own + strlen(units[u]) && strncmp(bare, names[i].name, own) == 0 &&
                strcmp(bare + own, units[u]) == 0)
                return names[i].column;
    }
    return AST_COLUMN_OTHER;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* A degree sign: U+00B0 or U+00BA in UTF-8, or alone in Latin-1. */
static const char *skip_degree(const char *at) {
    at = skip_blanks(at);
    const unsigned char *byte = (const unsigned char *)at;
    if (byte[0] == 0xC2 && (byte[1] == 0xB0 || byte[1] == 0xBA))
        at += 2;
    else if (byte[0] == 0xB0 || byte[0] == 0xBA)
        at++;
    return skip_blanks(at);
}

static bool is_missing(const char *word, size_t length) {
    static const char *const missing[] = {"", "nan", "na", "n/a", "#n/a", "null", "none", "-", "--", "?", "."};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (strlen(missing[i]) == length && ast_same_word(word, missing[i], length))
            return true;
    return false;
}

/* A number with a point or a comma; NULL: there is none. strtod would read "0x1", "inf", and the point of the locale.
 */
static const char *read_number(const char *at, double *value) {
    double digits = 0, unit = 1;
    int count = 0;
    bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    for (; isdigit((unsigned char)*at); at++, count++)
        digits = 10 * digits + (*at - '0');
    if ((*at == '.' || *at == ',') && (count > 0 || isdigit((unsigned char)at[1])))
        for (at++; isdigit((unsigned char)*at); at++, count++) {
            digits = 10 * digits + (*at - '0');
            unit *= 10;
        }
    if (count == 0 || count > MOST_DIGITS)
        return NULL;
    *value = (negative ? -digits : digits) / unit;
    return at;
}

/* "N", "se" and so on: the azimuth; NULL: no quadrant stands here. */
static const char *read_quadrant(const char *at, double *azimuth) {
    static const char letters[] = "nesw";
    const char *first = *at ? strchr(letters, tolower((unsigned char)*at)) : NULL;
    if (!first)
        return NULL;
    *azimuth = 90 * (double)(first - letters);
    const char *second = at[1] ? strchr(letters, tolower((unsigned char)at[1])) : NULL;
    if (!second || (first - letters) % 2 != 0 || (second - letters) % 2 == 0)
        return at + 1;
    double north = *azimuth, east = second == letters + 1 ? 1 : -1;
    *azimuth = fmod(360 + north + (north > 0 ? -45 : 45) * east, 360);
    return at + 2;
}

/* A word that has been read. */
typedef struct angle {
    double value;    /* NaN: missing */
    double quadrant; /* azimuth of the letters behind it; NaN: there are none */
} angle;

/* "N40E": from the first letter towards the second. */
static const char *read_bearing(const char *at, angle *found) {
    double from, towards, value;
    const char *next = read_quadrant(at, &from);
    if (!next || fmod(from, 90) != 0)
        return NULL;
    next = read_number(skip_blanks(next), &value);
    if (!next || value < 0 || value > 90)
        return NULL;
    next = read_quadrant(skip_degree(next), &towards);
    double turn = fmod(towards - from + 360, 360);
    if (!next || (turn != 90 && turn != 270))
        return NULL;
    found->value = fmod(from + (turn == 90 ? value : -value) + 360, 360);
    found->quadrant = NAN;
    return next;
}

/* One word, from `at` up to `length` bytes, all of which must be used. */
static bool read_angle(const char *word, size_t length, bool azimuth, angle *found) {
    char text[WORD];
    while (length > 0 && skip_blanks(word) != word) {
        word++;
        length--;
    }
    while (length > 0 && strchr(" \t\r\n", word[length - 1]))
        length--;
    *found = (angle){NAN, NAN};
    if (is_missing(word, length))
        return true;
    if (length >= WORD)
        return false;
    memcpy(text, word, length);
    text[length] = '\0';
    const char *at = azimuth ? read_bearing(text, found) : NULL;
    if (!at && azimuth)
        at = read_quadrant(text, &found->value);
    if (!at) {
        at = read_number(text, &found->value);
        const char *behind = at ? skip_degree(at) : NULL;
        const char *after = behind && !azimuth ? read_quadrant(behind, &found->quadrant) : NULL;
        at = after ? after : behind;
    }
    return at && *skip_degree(at) == '\0';
}

/* ---- Measurements ------------------------------------------------------------------------------------------------ */

/* The azimuth of the end that the quadrant means: the azimuth itself, or the opposite one. */
static bool choose_end(double quadrant, double towards, double *azimuth) {
    double side = cos((quadrant - towards) * PI / 180);
    if (fabs(side) < ACROSS)
        return false;
    if (side < 0)
        *azimuth = fmod(*azimuth + 180, 360);
    return true;
}

static const char *apply_quadrant(ast_notation notation, double quadrant, double *azimuth) {
    double before = *azimuth;
    if (isnan(quadrant) || isnan(*azimuth))
        return NULL;
    if (!choose_end(quadrant, notation == AST_STRIKE_DIP ? *azimuth + 90 : *azimuth, azimuth))
        return notation == AST_STRIKE_DIP ? "has a plane that dips along its strike"
                                          : "has a quadrant at right angles to the direction before it";
    if (notation == AST_DIP_DIRECTION && *azimuth != before)
        return "has a quadrant opposite to the dip direction before it";
    return NULL;
}

/* An azimuth is written with three digits, an inclination with two at most: "30/080" begins with the inclination. */
static size_t count_digits(const char *word) {
    word = skip_blanks(word);
    size_t digits = 0;
    while (isdigit((unsigned char)word[digits]))
        digits++;
    return digits;
}

static bool begins_with_inclination(const char *first, const char *second) {
    size_t before = count_digits(first);
    return before > 0 && before < 3 && count_digits(second) == 3;
}

/* "040/61" and "n/a" both have a slash. */
static const char *find_slash(const char *word) {
    const char *trimmed = skip_blanks(word);
    size_t length = strlen(trimmed);
    while (length > 0 && strchr(" \t\r\n", trimmed[length - 1]))
        length--;
    return is_missing(trimmed, length) ? NULL : strchr(word, '/');
}

const char *ast_field_read(ast_notation notation, const char *first, const char *second, double *azimuth,
                           double *inclination) {
    angle a, b = {NAN, NAN};
    bool both = notation != AST_AZIMUTH;
    double unused = 0;
    azimuth = azimuth ? azimuth : &unused;
    inclination = inclination ? inclination : &unused;
    *azimuth = *inclination = NAN;
    if (!first)
        return "is missing";
    size_t length = strlen(first);
    const char *slash = both && !second ? find_slash(first) : NULL;
    if (slash) {
        length = (size_t)(slash - first);
        second = slash + 1;
    }
    bool nothing = both && !second && is_missing(skip_blanks(first), strlen(skip_blanks(first)));
    if (nothing)
        return NULL;
    if (both && !second)
        return "is no pair of angles, such as 040/61 or N40E/61SE";
    size_t rest = second ? strlen(second) : 0;
    if (slash && begins_with_inclination(first, second)) {
        const char *azimuth_word = second;
        second = first;
        first = azimuth_word;
        rest = length;
        length = strlen(first);
    }
    if (!read_angle(first, length, true, &a))
        return "is no azimuth, such as 40, 40.5 or N40E";
    if (second && !read_angle(second, rest, false, &b))
        return "is no inclination, such as 61, 61.5 or 61SE";
    const char *problem = both ? apply_quadrant(notation, b.quadrant, &a.value) : NULL;
    if (problem)
        return problem;
    *azimuth = a.value;
    *inclination = b.value;
    return NULL;
}
