/* SPDX-License-Identifier: MIT
 *
 * What the subcommands with a report share. */
#include "pages.h"

#include <platform.h>
#include <live_access.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files.h"
#include "interrupt.h"
#include "terminal.h"

static int no_page(const char *option) {
    return ast_cli_misuse(
        "%s: this build of asterism has no page to show: npm was missing, or ASTERISM_WITH_VIEWER was OFF", option);
}

int ast_cli_report_check(const char *option, const char *path) {
    if (!path)
        return -1;
    if (!ast_page_there())
        return no_page("--report");
    if (!ast_has_extension(path, ".html") && !ast_has_extension(path, ".htm"))
        return ast_cli_misuse("--%s %s: a report is a page for the browser; its name must end in .html", option, path);
    return -1;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

void ast_cli_line_word(ast_text *line, const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    ast_text_put(line, " ");
    if (word[0] && !word[strspn(word, plain)]) {
        ast_text_put(line, word);
        return;
    }
    ast_text_put(line, "'");
    for (; *word; word++) {
        if (*word == '\'')
            ast_text_put(line, "'\\''");
        else
            ast_text_add(line, word, 1);
    }
    ast_text_put(line, "'");
}

void ast_cli_line_option(ast_text *line, const char *name, const char *value) {
    ast_text_printf(line, " --%s", name);
    if (value)
        ast_cli_line_word(line, value);
}

void ast_cli_line_begin(ast_text *line, const ast_cli_common *common, const char *except) {
    ast_text_put(line, "asterism cluster");
    ast_cli_line_word(line, common->inputs[0].path);
    for (size_t i = 0; i < common->typed_count; i++) {
        const char *name = common->typed[i]->name;
        if (!ast_cli_lists("json quiet progress threads", name) && !ast_cli_lists(except, name) &&
            ast_cli_find(&ast_cli_cluster, name, NULL))
            ast_cli_line_option(line, name, common->values[i]);
    }
}

char *ast_cli_line_end(ast_text *line) {
    if (line->failed)
        ast_text_free(line);
    return line->bytes;
}

char *ast_cli_command_line(const ast_cli_command *command, int argc, char **argv) {
    ast_text line = {0};
    ast_text_put(&line, "asterism");
    ast_cli_line_word(&line, command->name);
    for (int i = 0; i < argc; i++)
        ast_cli_line_word(&line, argv[i]);
    return ast_cli_line_end(&line);
}

int ast_cli_page_head(ast_page_head *head, const ast_cli_command *command, const char *input, const char *line,
                      char **title) {
    struct timespec now;
    if (!line || asprintf(title, "%s %s", command->name, ast_cli_name(input)) < 0) {
        *title = NULL;
        return ast_cli_no_memory("the title of the report");
    }
    clock_gettime(CLOCK_REALTIME, &now);
    head->title = *title;
    head->command = line;
    snprintf(head->run, sizeof head->run, "%lld.%09ld-%ld", (long long)now.tv_sec, now.tv_nsec, (long)getpid());
    ast_page_parameter(head, "input", ast_cli_name(input), NAN);
    return -1;
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

enum { TICK = 20, LONGEST = 5000 }; /* milliseconds */

int ast_cli_serving_check(const char *option, const char *address) {
    if (!ast_page_there())
        return no_page(option);
    if (address && !ast_live_numeric(address))
        return ast_cli_misuse("--bind must be an address of this machine in numbers, such as 127.0.0.1 or "
                              "0.0.0.0, not '%s'",
                              address);
    return -1;
}

int ast_cli_serve(ast_live **live, const char *address, size_t port, ast_text *html, ast_recording *recording) {
    ast_format_error error;
    *live = ast_live_open(address ? address : AST_CLI_LOOPBACK, (unsigned)port, html, recording, &error);
    if (!*live)
        return ast_cli_fail("%s", error.text);
    fprintf(stderr, "asterism: look at %s\n", ast_live_url(*live));
    return -1;
}

static void wait_a_tick(void) {
    nanosleep(&(struct timespec){.tv_nsec = TICK * 1000000L}, NULL);
}

void ast_cli_serve_until_signal(void) {
    while (!ast_cli_interrupted())
        wait_a_tick();
}

void ast_cli_serve_until_told(ast_live *live) {
    for (int waited = 0; waited < LONGEST && ast_live_waiting(live) > 0; waited += TICK)
        wait_a_tick();
}
