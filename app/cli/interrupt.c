/* SPDX-License-Identifier: MIT
 *
 * The signal that asked to stop is global state: a signal handler has no argument. */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number) {
    stop_asked = number;
}

/* A signal that whoever started us has set to be ignored, as shells do for background jobs, stays ignored. */
static void watch(int number) {
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void ast_cli_watch_signals(void) {
    watch(SIGINT);
    watch(SIGTERM);
    watch(SIGHUP);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write like any other, with its sentence */
}

int ast_cli_interrupted(void) {
    return stop_asked;
}
