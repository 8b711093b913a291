/* SPDX-License-Identifier: MIT
 *
 * Which characters are letters, and which is the small one. The table has the letters (categories L and M) of Unicode
 * 15 below U+10000 and the ideographs behind them, as ranges: digits and unassigned characters between letters of one
 * script do not end a range, punctuation does; some ranges of one or two rare letters are left out. */
#include "letters.h"

#include <string.h>

#include "json.h"

static const struct {
    uint32_t first, last;
} letters[] = {
    {0x41, 0x5a},     {0x61, 0x7a},      {0xaa, 0xaa},     {0xb5, 0xb5},     {0xba, 0xba},     {0xc0, 0xd6},
    {0xd8, 0xf6},     {0xf8, 0x2d1},     {0x2e0, 0x2ee},   {0x300, 0x37d},   {0x37f, 0x386},   {0x388, 0x559},
    {0x560, 0x588},   {0x591, 0x5bd},    {0x5bf, 0x5bf},   {0x5c1, 0x5c2},   {0x5c4, 0x5c5},   {0x5c7, 0x5f2},
    {0x610, 0x61a},   {0x620, 0x65f},    {0x66e, 0x6d3},   {0x6d5, 0x6ff},   {0x710, 0x7b1},   {0x7ca, 0x7f5},
    {0x7fa, 0x82d},   {0x840, 0x85b},    {0x860, 0x963},   {0x971, 0x9fc},   {0x9fe, 0xa5e},   {0xa70, 0xa75},
    {0xa81, 0xae3},   {0xaf9, 0xb63},    {0xb82, 0xbd7},   {0xc00, 0xc63},   {0xc80, 0xc83},   {0xc85, 0xce3},
    {0xcf1, 0xd63},   {0xd7a, 0xddf},    {0xe01, 0xe4e},   {0xe81, 0xecd},   {0xedc, 0xf00},   {0xf35, 0xf39},
    {0xf3e, 0xf84},   {0xf86, 0xfc6},    {0x1000, 0x103f}, {0x1050, 0x10fa}, {0x10fc, 0x135f}, {0x1380, 0x138f},
    {0x13a0, 0x13fd}, {0x1401, 0x166c},  {0x166f, 0x167f}, {0x1681, 0x169a}, {0x16a0, 0x16ea}, {0x16f1, 0x1734},
    {0x1740, 0x17d3}, {0x180b, 0x180f},  {0x1820, 0x193b}, {0x1950, 0x19c9}, {0x1a00, 0x1a1b}, {0x1a20, 0x1a7f},
    {0x1ab0, 0x1b4c}, {0x1b6b, 0x1b73},  {0x1b80, 0x1bf3}, {0x1c00, 0x1c37}, {0x1c4d, 0x1c7d}, {0x1c80, 0x1cbf},
    {0x1cd0, 0x1cd2}, {0x1cd4, 0x1ffc},  {0x2c00, 0x2cf3}, {0x2d00, 0x2d6f}, {0x2d7f, 0x2dff}, {0x302a, 0x302f},
    {0x3031, 0x303c}, {0x3041, 0x309f},  {0x30a1, 0x30fa}, {0x30fc, 0x318e}, {0x31a0, 0x31bf}, {0x31f0, 0x31ff},
    {0x3400, 0x4dbf}, {0x4e00, 0xa48c},  {0xa4d0, 0xa4fd}, {0xa500, 0xa60c}, {0xa610, 0xa672}, {0xa717, 0xa82c},
    {0xa840, 0xa873}, {0xa880, 0xa8c5},  {0xa8e0, 0xa8f7}, {0xa8fd, 0xa92d}, {0xa930, 0xa953}, {0xa960, 0xa9c0},
    {0xa9e0, 0xaa4d}, {0xaa60, 0xaadd},  {0xaae0, 0xaaef}, {0xaaf2, 0xabea}, {0xac00, 0xfbb1}, {0xfbd3, 0xfd3d},
    {0xfd50, 0xfdc7}, {0xfdf0, 0xfe0f},  {0xfe20, 0xfe2f}, {0xfe70, 0xfefc}, {0xff21, 0xff3a}, {0xff41, 0xff5a},
    {0xff66, 0xffdc}, {0x20000, 0x2fa1d}};

bool ast_is_letter(uint32_t character) {
    size_t low = 0, high = sizeof letters / sizeof *letters; /* the range is low..high - 1 */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (character > letters[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof letters / sizeof *letters && character >= letters[low].first;
}

/* In these ranges the small letters stand `step` behind the capitals; with step 1 they alternate, and `first` is a
 * capital. */
static const struct {
    uint32_t first, last;
    int32_t step;
} capitals[] = {
    {0xc0, 0xd6, 32},     {0xd8, 0xde, 32},     {0x100, 0x12f, 1},       {0x130, 0x130, -199}, {0x132, 0x137, 1},
    {0x139, 0x148, 1},    {0x14a, 0x177, 1},    {0x178, 0x178, -121},    {0x179, 0x17e, 1},    {0x18f, 0x18f, 202},
    {0x1a0, 0x1a5, 1},    {0x1af, 0x1b0, 1},    {0x1cd, 0x1dc, 1},       {0x1de, 0x1ef, 1},    {0x1f8, 0x21f, 1},
    {0x222, 0x233, 1},    {0x246, 0x24f, 1},    {0x370, 0x373, 1},       {0x386, 0x386, 38},   {0x388, 0x38a, 37},
    {0x38c, 0x38c, 64},   {0x38e, 0x38f, 63},   {0x391, 0x3ab, 32},      {0x400, 0x40f, 80},   {0x410, 0x42f, 32},
    {0x460, 0x481, 1},    {0x48a, 0x4bf, 1},    {0x4c0, 0x4c0, 15},      {0x4c1, 0x4ce, 1},    {0x4d0, 0x52f, 1},
    {0x531, 0x556, 48},   {0x1e00, 0x1e95, 1},  {0x1e9e, 0x1e9e, -7615}, {0x1ea0, 0x1eff, 1},  {0x1f08, 0x1f0f, -8},
    {0x1f18, 0x1f1d, -8}, {0x1f28, 0x1f2f, -8}, {0x1f38, 0x1f3f, -8},    {0x1f48, 0x1f4d, -8}, {0x1f68, 0x1f6f, -8},
    {0xff21, 0xff3a, 32},
};

uint32_t ast_lower_case(uint32_t character) {
    if (character < 0x80)
        return character >= 'A' && character <= 'Z' ? character + 32 : character;
    for (size_t i = 0; i < sizeof capitals / sizeof *capitals; i++) {
        if (character < capitals[i].first || character > capitals[i].last)
            continue;
        bool small = capitals[i].step == 1 && (character - capitals[i].first) % 2 == 1;
        return small ? character : (uint32_t)((int32_t)character + capitals[i].step);
    }
    return character;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* The character at the beginning of the text, and its bytes; 0 with one byte where it is invalid. */
static uint32_t first_of(const char *text, size_t *size) {
    static const unsigned char heads[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t bytes = ast_utf8_size(text);
    *size = bytes ? bytes : 1;
    uint32_t character = (unsigned char)*text & heads[bytes];
    for (size_t i = 1; i < bytes; i++)
        character = character << 6 | ((unsigned char)text[i] & 0x3f);
    return character;
}

/* Appends a character; false where there is no room. */
static bool append(char word[AST_WORD], size_t *length, uint32_t character) {
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    if (*length + bytes >= AST_WORD)
        return false;
    for (size_t i = bytes; i-- > 1; character >>= 6)
        word[*length + i] = (char)(0x80 | (character & 0x3f));
    word[*length] = (char)(heads[bytes] | character);
    *length += bytes;
    word[*length] = 0;
    return true;
}

/* Characters of Chinese and Japanese. */
static bool is_ideograph(uint32_t character) {
    return (character >= 0x3041 && character <= 0x30ff) || (character >= 0x3400 && character <= 0x9fff) ||
           (character >= 0xf900 && character <= 0xfaff) || character >= 0x20000;
}

/* The pair that begins here, or the character alone where no other follows and none came before. */
static bool read_pair(ast_word_reader *reader, char word[AST_WORD]) {
    size_t size, length = 0;
    uint32_t character = first_of(reader->at, &size);
    append(word, &length, character);
    reader->at += size;
    character = first_of(reader->at, &size);
    bool pair = ast_is_letter(character) && is_ideograph(character), alone = !pair && !reader->paired;
    reader->paired = pair;
    return pair ? append(word, &length, character) : alone;
}

/* A word of another script; false if it has one letter only or is too long. */
static bool read_run(ast_word_reader *reader, char word[AST_WORD]) {
    size_t size, length = 0, count = 0;
    bool fits = true;
    uint32_t character, last = 0;
    for (;; reader->at += size) {
        character = first_of(reader->at, &size);
        bool digit = character >= '0' && character <= '9' && count > 0;
        if (!digit && (!ast_is_letter(character) || is_ideograph(character)))
            break;
        last = ast_lower_case(character);
        fits = fits && append(word, &length, last);
        count++;
    }
    if (last == 0x3c3) /* sigma at the end of a word has a form of its own */
        word[length - 1] = (char)0x82;
    return fits && count > 1;
}

bool ast_next_word(ast_word_reader *reader, char word[AST_WORD]) {
    while (*reader->at) {
        size_t size;
        uint32_t character = first_of(reader->at, &size);
        if (!ast_is_letter(character)) {
            reader->at += size;
            reader->paired = false;
        } else if (is_ideograph(character) ? read_pair(reader, word) : read_run(reader, word)) {
            return true;
        }
    }
    return false;
}
