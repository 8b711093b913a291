/* SPDX-License-Identifier: MIT
 *
 * SIGINT, SIGTERM and SIGHUP are recorded, and the work asks for them at points where it can stop: a process that died
 * at any moment would leave its temporary files behind. */
#pragma once

/* From here on the first SIGINT or SIGTERM is only remembered, and a second one kills. */
void ast_cli_watch_signals(void);

/* The number of the signal that asked to stop, or 0. */
int ast_cli_interrupted(void);
