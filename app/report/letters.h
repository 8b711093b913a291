/* SPDX-License-Identifier: MIT
 *
 * The words of a text: runs of letters, in lower case. Digits belong to a word that began with a letter. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Letters of all living scripts, with the marks on them. */
bool ast_is_letter(uint32_t character);

/* The small letter of a capital one, in Latin, Greek, Cyrillic and Armenian; any other character as it is. */
uint32_t ast_lower_case(uint32_t character);

enum { AST_WORD = 64 }; /* bytes with the final zero; what is longer is no word of a language and left out */

typedef struct ast_word_reader {
    const char *at; /* what is left of the text; at first its beginning */
    bool paired;    /* the last word ended with the character that comes next */
} ast_word_reader;

/* The next word of two letters or more, false at the end of the text. Chinese and Japanese have no blanks: a word is
 * each pair of neighbouring characters, or a character alone. Invalid UTF-8 separates words. */
bool ast_next_word(ast_word_reader *reader, char word[AST_WORD]);
