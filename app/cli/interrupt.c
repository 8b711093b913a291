/* SPDX-License-Identifier: MIT
 *
 * The signal that asked to stop is global state: a signal handler has no argument. */
#include "interrupt.h"

#include <platform.h>
#include <signal.h>

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number) {
    stop_asked = number;
}

void ast_cli_watch_signals(void) {
    ast_watch_stop_signals(ask_to_stop);
}

int ast_cli_interrupted(void) {
    return stop_asked;
}
