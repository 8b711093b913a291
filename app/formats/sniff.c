/* SPDX-License-Identifier: MIT
 *
 * Which character separates the columns: the one that yields the most numbers in the first lines. Counting numbers, and
 * not characters, gets right what counting characters gets wrong: the word "," in a table of words, "1, 2, 3", a header
 * in prose over a table with tabs. */
#include "text.h"

#include "number.h"

#define LINES 16                /* that are looked at, besides blank lines and comments */
#define REACH ((size_t)1 << 16) /* and no farther than this: a line may be the whole file */

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static const char *line_end(const char *begin, const char *end) {
    while (begin < end && !ast_is_line_end(*begin))
        begin++;
    return begin;
}

/* Whether begin..end is a number and nothing else, but for blanks and quotes around it. */
static bool is_number(const char *begin, const char *end) {
    while (begin < end && (is_blank(*begin) || *begin == '"'))
        begin++;
    while (begin < end && (is_blank(end[-1]) || end[-1] == '"'))
        end--;
    double value;
    return begin < end && ast_number_parse(begin, true, &value) == end;
}

static size_t count_numbers(const char *begin, const char *end, char separator, bool *occurs) {
    size_t numbers = 0;
    while (begin < end) {
        const char *stop = begin;
        while (stop < end && !(separator == ' ' ? is_blank(*stop) : *stop == separator))
            stop++;
        numbers += is_number(begin, stop);
        *occurs |= stop < end;
        begin = stop + 1;
    }
    return numbers;
}

static size_t count_lines(const char *begin, const char *end, char separator, bool *occurs) {
    size_t numbers = 0;
    for (int lines = 0; begin < end && lines < LINES;) {
        const char *stop = line_end(begin, end);
        while (begin < stop && is_blank(*begin))
            begin++;
        if (begin < stop && *begin != '#') {
            numbers += count_numbers(begin, stop, separator, occurs);
            lines++;
        }
        begin = stop + 1;
    }
    return numbers;
}

char ast_fields_separator(const char *begin, const char *end) {
    static const char candidates[] = ",;\t";
    char best = ' ';
    bool occurs = false;
    if ((size_t)(end - begin) > REACH)
        end = begin + REACH;
    size_t most = count_lines(begin, end, best, &occurs);
    for (const char *candidate = candidates; *candidate; candidate++) {
        occurs = false;
        size_t numbers = count_lines(begin, end, *candidate, &occurs);
        /* Equally good is better than blanks: "1<tab><tab>3" has a missing number in the middle. */
        if (occurs && numbers >= most) {
            most = numbers;
            best = *candidate;
        }
    }
    return best;
}
