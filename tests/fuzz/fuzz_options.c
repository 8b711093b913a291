/* SPDX-License-Identifier: MIT
 *
 * Any lines as the words behind a subcommand: the first line chooses it, every further one is a word. The options are
 * read and checked by all rules, and nothing runs. */
#include "fuzz_memory_file.h"

#include <cli.h>

enum { WORDS = 48 };

static int reached;

static int nothing(void *job) {
    (void)job;
    reached = 1;
    return AST_CLI_DONE;
}

static const ast_cli_command *choose(const char *word) {
    size_t count = 0, sum = 0;
    while (ast_cli_commands[count]) {
        if (strcmp(ast_cli_commands[count]->name, word) == 0)
            return ast_cli_commands[count];
        count++;
    }
    for (; *word; word++)
        sum += (unsigned char)*word;
    return ast_cli_commands[sum % count];
}

static int split(char *text, char **words) {
    int count = 0;
    for (char *at = text; at && count < WORDS; count++) {
        words[count] = at;
        at = strchr(at, '\n');
        if (at)
            *at++ = 0;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ast_cli_step *const steps[] = {nothing, NULL};
    char *words[WORDS + 1] = {NULL}, *text = malloc(size + 1);
    require(text != NULL);
    for (size_t i = 0; i < size; i++) /* a pattern would look into folders, which are not for a fuzzer */
        text[i] = strchr("*?[", bytes[i]) ? '_' : (char)bytes[i];
    text[size] = 0;
    int count = split(text, words);
    ast_cli_command command = *choose(words[0]);
    command.steps = steps;
    command.end = NULL;
    reached = 0;
    int code = ast_cli_run(&command, count - 1, words + 1);
    require(code == AST_CLI_DONE || (code == AST_CLI_USAGE && !reached) || code == AST_CLI_FAILED);
    free(text);
    return 0;
}
