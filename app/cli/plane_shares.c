/* SPDX-License-Identifier: MIT
 *
 * The table of planes that segment --color planes prints. */
#include "plane_shares.h"

#include <formats.h>
#include <inttypes.h>
#include <report.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

/* The row of an id, or where it would be. */
static size_t find_row(const ast_cli_plane_shares *shares, int32_t id) {
    size_t low = 0, high = shares->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (shares->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert_row(ast_cli_plane_shares *shares, size_t at, int32_t id, uint64_t frame) {
    if (!ast_array_grow(&shares->rows, &shares->room, shares->count + 1, sizeof *shares->rows))
        return ast_cli_fail("there is no memory for the table of planes");
    for (size_t k = shares->count++; k > at; k--)
        shares->rows[k] = shares->rows[k - 1];
    shares->rows[at] = (ast_cli_plane_row){.id = id, .first = frame};
    return -1;
}

int ast_cli_plane_shares_add(ast_cli_plane_shares *shares, const ast_plane_info *planes, size_t count, size_t pixels,
                             uint64_t frame) {
    for (size_t i = 0; i < count; i++) {
        const ast_plane_info *plane = &planes[i];
        size_t at = find_row(shares, plane->id);
        bool known = at < shares->count && shares->rows[at].id == plane->id;
        int code = known ? -1 : insert_row(shares, at, plane->id, frame);
        if (code >= 0)
            return code;
        ast_cli_plane_row *row = &shares->rows[at];
        row->direction = plane->direction;
        row->share += (double)plane->count / (double)pixels;
        row->area = plane->area > row->area ? plane->area : row->area;
        row->offset = plane->offset;
        for (int c = 0; c < 3; c++)
            row->normal[c] = plane->normal[c];
        row->frames++;
        row->last = frame;
    }
    return -1;
}

/* Largest share first; equal ones by id. */
static int compare_rows(const void *a, const void *b) {
    const ast_cli_plane_row *x = a, *y = b;
    return x->share != y->share ? (x->share < y->share) - (x->share > y->share) : (x->id > y->id) - (x->id < y->id);
}

void ast_cli_plane_shares_print(ast_cli_plane_shares *shares, size_t frames, size_t most, int colour) {
    if (shares->count > 0)
        qsort(shares->rows, shares->count, sizeof *shares->rows, compare_rows);
    printf("%s%8s  %9s  %10s  %8s  %8s  %8s  %8s  %22s  %8s\n", colour ? "    " : "", "plane", "direction",
           "mean share", "frames", "first", "last", "area m^2", "normal", "offset m");
    for (size_t i = 0; i < shares->count && i < most; i++) {
        const ast_cli_plane_row *row = &shares->rows[i];
        ast_colour shown = ast_palette(row->id);
        if (colour)
            printf("\033[48;2;%d;%d;%dm    \033[0m", shown.red, shown.green, shown.blue);
        printf("%8" PRId32 "  %9" PRId32 "  %9.1f%%  %8zu  %8" PRIu64 "  %8" PRIu64
               "  %8.2f  %6.3f, %6.3f, %6.3f  %8.3f\n",
               row->id, row->direction, 100 * row->share / (double)frames, row->frames, row->first, row->last,
               row->area, row->normal[0], row->normal[1], row->normal[2], row->offset);
    }
    if (shares->count > most)
        printf("   ... and %zu more\n", shares->count - most);
}

void ast_cli_plane_shares_free(ast_cli_plane_shares *shares) {
    free(shares->rows);
    *shares = (ast_cli_plane_shares){0};
}
