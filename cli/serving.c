/* SPDX-License-Identifier: MIT
 *
 * Serving pages. */
#include "serving.h"

#include <page.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <live_access.h>

#include "cli.h"
#include "interrupt.h"
#include "terminal.h"

enum { TICK = 20, LONGEST = 5000 }; /* milliseconds */

int ast_cli_serving_check(const char *option, const char *address) {
    if (!ast_page_there())
        return ast_cli_fail(AST_CLI_USAGE,
                            "%s: this build of asterism has no page to show, since there was no npm to bundle it",
                            option);
    if (!ast_live_there())
        return ast_cli_fail(AST_CLI_USAGE, "%s: this build of asterism serves no page, since there was no civetweb",
                            option);
    if (address && !ast_live_numeric(address))
        return ast_cli_fail(AST_CLI_USAGE,
                            "--bind must be an address of this machine in numbers, such as 127.0.0.1 or "
                            "0.0.0.0, not '%s'",
                            address);
    return -1;
}

int ast_cli_serve(ast_live **live, const char *address, size_t port, ast_text *html, ast_recording *recording) {
    ast_format_error error;
    *live = ast_live_open(address ? address : AST_CLI_LOOPBACK, (unsigned)port, html, recording, &error);
    if (!*live)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    fprintf(stderr, "asterism: look at %s\n", ast_live_url(*live));
    return -1;
}

static void wait_a_tick(void) {
    nanosleep(&(struct timespec){.tv_nsec = TICK * 1000000L}, NULL);
}

void ast_cli_serve_on(void) {
    while (!ast_cli_interrupted())
        wait_a_tick();
}

void ast_cli_serve_out(ast_live *live) {
    for (int waited = 0; waited < LONGEST && ast_live_waiting(live) > 0; waited += TICK)
        wait_a_tick();
}
