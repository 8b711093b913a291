/* SPDX-License-Identifier: MIT
 *
 * Sentences to stderr, and what the terminal can show. Nothing here prints results. */
#include "terminal.h"
#include "ranks.h"

#include <platform.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *before, const char *format, va_list arguments, int held) {
    char sentence[4096];
    int length = snprintf(sentence, sizeof sentence, "%s", before);
    vsnprintf(sentence + length, sizeof sentence - (size_t)length, format, arguments);
    /* A file may have a newline or an escape sequence in its name; the sentence stays one harmless line. */
    ast_make_harmless(sentence);
    if (held && ast_cli_ranks()) /* one of them will say it */
        ast_cli_hold_sentence(sentence);
    else
        fprintf(stderr, "asterism: %s\n", sentence);
}

int ast_cli_end(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments, 1);
    va_end(arguments);
    return code;
}

void ast_cli_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("warning: ", format, arguments, 1);
    va_end(arguments);
}

void ast_cli_say(const char *format, ...) {
    va_list arguments;
    if (!ast_cli_is_first_rank())
        return;
    va_start(arguments, format);
    say("", format, arguments, 0);
    va_end(arguments);
}

int ast_cli_outcome(bool good, const ast_format_error *error) {
    return good ? -1 : ast_cli_fail("%s", error->text);
}

int ast_cli_no_memory(const char *what) {
    return ast_cli_fail("there is no memory for %s", what);
}

const char *ast_cli_shown(const char *path, char text[AST_CLI_SHOWN]) {
    snprintf(text, AST_CLI_SHOWN, "%s", path);
    ast_make_harmless(text);
    return text;
}

int ast_cli_flush(void) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return AST_CLI_DONE;
    if (!errno) { /* an earlier write failed, and its reason is gone: the next one has the same */
        clearerr(stdout);
        putchar('\n');
        fflush(stdout);
    }
    if (errno == EPIPE || ast_cli_closed())
        return AST_CLI_DONE;
    return ast_cli_fail("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
}

int ast_cli_closed(void) {
    struct pollfd standard = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&standard, 1, 0) > 0 && (standard.revents & (POLLERR | POLLHUP)) != 0;
}

int ast_cli_colour(void) {
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_colour && no_colour[0]) || ast_cli_ranks()) /* mpirun gives its ranks a terminal, whatever it writes to */
        return 0;
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

int ast_cli_unicode(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *ast_cli_duration(double seconds, char *text) {
    if (seconds < 0.9995)
        snprintf(text, AST_CLI_DURATION, "%.3g ms", seconds * 1e3);
    else
        snprintf(text, AST_CLI_DURATION, "%.*f s", seconds < 9.995 ? 2 : seconds < 99.95 ? 1 : 0, seconds);
    return text;
}
