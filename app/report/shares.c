/* SPDX-License-Identifier: MIT
 *
 * The shares of the clusters, frame by frame, and their table. The table has rows instead of a column per id: ids come
 * and go, and a stream may have thousands. */
#include "shares.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

ast_shares *ast_shares_open(void) {
    return calloc(1, sizeof(ast_shares));
}

void ast_shares_close(ast_shares *shares) {
    if (!shares)
        return;
    for (size_t i = 0; i < shares->frame_count; i++)
        free(shares->frames[i].source);
    free(shares->frames);
    free(shares->entries);
    free(shares);
}

bool ast_shares_add(ast_shares *shares, uint64_t frame, const char *source, const ast_tracked *clusters, size_t count,
                    ast_format_error *error) {
    char *name = strdup(source);
    if (!name ||
        !ast_array_grow(&shares->frames, &shares->frame_capacity, shares->frame_count + 1, sizeof *shares->frames) ||
        !ast_array_grow(&shares->entries, &shares->entry_capacity, shares->entry_count + count,
                        sizeof *shares->entries)) {
        free(name);
        return ast_format_fail(error, "there is not enough memory for the shares of the clusters");
    }
    ast_shares_frame *added = &shares->frames[shares->frame_count++];
    *added = (ast_shares_frame){.number = frame, .source = name, .first = shares->entry_count};
    for (size_t i = 0; i < count; i++) {
        if (clusters[i].count == 0)
            continue;
        shares->entries[shares->entry_count++] =
            (ast_share){.id = clusters[i].id, .count = clusters[i].count, .share = clusters[i].share};
        added->count++;
    }
    return true;
}

/* ---- Over all frames --------------------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b) {
    const ast_sight *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return (one->frame > other->frame) - (one->frame < other->frame);
}

static int by_share(const void *a, const void *b) {
    const ast_shares_band *one = a, *other = b;
    if (one->share != other->share)
        return one->share > other->share ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

ast_sight *ast_shares_sights(const ast_shares *shares) {
    ast_sight *sights = calloc(shares->entry_count + 1, sizeof *sights);
    for (size_t i = 0; sights && i < shares->frame_count; i++) {
        const ast_shares_frame *frame = &shares->frames[i];
        for (size_t j = frame->first; j < frame->first + frame->count; j++)
            sights[j] = (ast_sight){.id = shares->entries[j].id, .frame = i, .share = shares->entries[j].share};
    }
    if (sights)
        qsort(sights, shares->entry_count, sizeof *sights, by_id);
    return sights;
}

ast_shares_band *ast_shares_bands(const ast_shares *shares, size_t *count) {
    ast_sight *sights = ast_shares_sights(shares);
    ast_shares_band *bands = calloc(shares->entry_count + 1, sizeof *bands);
    *count = 0;
    for (size_t i = 0; sights && bands && i < shares->entry_count; i++) {
        const ast_sight *seen = &sights[i];
        uint64_t number = shares->frames[seen->frame].number;
        int known = i > 0 && seen[-1].id == seen->id;
        if (!known)
            bands[(*count)++] = (ast_shares_band){.id = seen->id, .first = number};
        ast_shares_band *band = &bands[*count - 1];
        band->frames++;
        band->last = number;
        band->returns += known && seen->frame > seen[-1].frame + 1;
        band->share += seen->share / (double)shares->frame_count;
    }
    if (!sights) {
        free(bands);
        bands = NULL;
    }
    free(sights);
    if (bands)
        qsort(bands, *count, sizeof *bands, by_share);
    return bands;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* In double quotes, with quotes doubled (RFC 4180), if the name needs it. */
static void put_name(ast_text *csv, const char *name) {
    bool quoted = strpbrk(name, "\",\r\n");
    ast_text_put(csv, quoted ? "\"" : "");
    for (; quoted && *name; name++)
        ast_text_add(csv, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    ast_text_put(csv, quoted ? "\"" : name);
}

/* Frame by frame, since a stream may be long. */
bool ast_shares_write_csv(const ast_shares *shares, ast_output *output, ast_format_error *error) {
    ast_text csv = {0};
    ast_text_put(&csv, "frame,source,id,count,share\n");
    bool good = ast_text_write(&csv, output, error);
    for (size_t i = 0; i < shares->frame_count && good; i++) {
        const ast_shares_frame *frame = &shares->frames[i];
        for (size_t j = frame->first; j < frame->first + frame->count; j++) {
            const ast_share *entry = &shares->entries[j];
            ast_text_printf(&csv, "%" PRIu64 ",", frame->number);
            put_name(&csv, frame->source);
            ast_text_printf(&csv, ",%" PRId32 ",%zu,%.9g\n", entry->id, entry->count, entry->share);
        }
        good = ast_text_write(&csv, output, error);
    }
    ast_text_free(&csv);
    return good;
}
