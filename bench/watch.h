/* SPDX-License-Identifier: MIT
 *
 * What happens inside of ast_stream_step, which the public interface does not tell: how many points were compared with
 * all clusters, and how long loading and passes took. The one idea: the linker puts these functions between the stream
 * and the labelling (--wrap), so that nothing in the library knows of being watched. One stream at a time. */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include <stdint.h>
#include <trace.h>

typedef struct bench_watch {
    uint64_t scored;     /* points compared with all clusters, over all passes */
    double load, passes; /* seconds: normalising and placing the points; passes with the means they lead to */
} bench_watch;

void bench_watch_reset(void);
bench_watch bench_watch_read(void); /* since the reset */

/* From now on, also notes loads, passes and updates as spans of the kinds `first`, `first` + 1 and `first` + 2 on the
 * caller's thread; NULL: no longer. */
void bench_watch_trace(const ast_trace *trace, int first);

#endif
