/* SPDX-License-Identifier: MIT */
#ifndef BENCH_IDENTITIES_H
#define BENCH_IDENTITIES_H

/* Prints the table of streams with many identities; quick: up to 10,000 of them. */
void bench_identities_run(int quick);

#endif
