/* SPDX-License-Identifier: MIT
 *
 * Which tracks a frame can see, extend or join. A walk through a building leaves thousands of planes behind, and a
 * frame must not look at all of them: it looks at those within AST_TRACK_REACH of its own box.
 *
 * The one idea: most frames see nearly what the frame before saw. All tracks within a wider distance are listed, and
 * the list is valid while the box of the frame stays within MARGIN of the box that the list was made for. So a pass
 * over all tracks is needed only once in many metres. That pass compares boxes around 64 tracks each; these were
 * created one after the other, so that they are mostly at one place. What is listed for a frame does not depend on
 * that: it is chosen from the wider list by distance. */
#include "frame_planes.h"

#include "memory.h"

#include <math.h>

#define MARGIN 10.0 /* metres */

typedef struct box {
    double low[3], high[3];
} box;

/* The camera and the patches. */
static box box_of(const ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count) {
    box b;
    for (int c = 0; c < 3; c++) {
        b.low[c] = b.high[c] = tracks->camera[c];
        for (size_t i = 0; i < count; i++) {
            b.low[c] = fmin(b.low[c], patches[i].low[c]);
            b.high[c] = fmax(b.high[c], patches[i].high[c]);
        }
    }
    return b;
}

static bool still_holds(const ast_nearby_tracks *nearby, const box *b) {
    bool holds = nearby->found;
    for (int c = 0; c < 3; c++)
        holds = holds && b->low[c] >= nearby->low[c] - MARGIN && b->high[c] <= nearby->high[c] + MARGIN;
    return holds;
}

static bool is_within(const ast_plane_track *track, const double *low, const double *high, double distance) {
    return ast_gap_between(track->low, track->high, low, high) <= distance;
}

static void widen(ast_track_block *block, const ast_plane_track *track) {
    for (int c = 0; c < 3; c++) {
        block->low[c] = fmin(block->low[c], track->low[c]);
        block->high[c] = fmax(block->high[c], track->high[c]);
    }
}

/* Makes the blocks anew that do not hold, from that of a track that was added or dropped on. */
static bool renew_blocks(ast_plane_tracks *tracks) {
    ast_nearby_tracks *nearby = &tracks->nearby;
    size_t count = (tracks->count + AST_TRACK_BLOCK - 1) / AST_TRACK_BLOCK;
    if (!ast_reserve(&nearby->blocks, &nearby->block_room, nearby->block_count, count, sizeof *nearby->blocks))
        return false;
    for (size_t b = nearby->blocks_hold; b < count; b++) {
        nearby->blocks[b] = (ast_track_block){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (size_t k = b * AST_TRACK_BLOCK; k < (b + 1) * AST_TRACK_BLOCK && k < tracks->count; k++)
            widen(&nearby->blocks[b], &tracks->list[k]);
    }
    nearby->block_count = nearby->blocks_hold = count;
    return true;
}

bool ast_nearby_tracks_update_boxes(ast_plane_tracks *tracks) {
    ast_nearby_tracks *nearby = &tracks->nearby;
    for (size_t n = 0; n < nearby->count && tracks->has_poses; n++) {
        size_t block = (size_t)nearby->list[n] / AST_TRACK_BLOCK;
        if (block < nearby->blocks_hold)
            widen(&nearby->blocks[block], &tracks->list[nearby->list[n]]);
    }
    return !tracks->has_poses || renew_blocks(tracks);
}

/* A box that moves by MARGIN along each axis comes nearer by less than twice as much. */
static bool find_around(ast_plane_tracks *tracks, const box *b) {
    ast_nearby_tracks *nearby = &tracks->nearby;
    nearby->found = false;
    nearby->around_count = 0;
    if (!renew_blocks(tracks) ||
        !ast_reserve(&nearby->around, &nearby->around_room, 0, tracks->count, sizeof *nearby->around))
        return false;
    for (int c = 0; c < 3; c++) {
        nearby->low[c] = b->low[c];
        nearby->high[c] = b->high[c];
    }
    for (size_t i = 0; i < nearby->block_count; i++) {
        const ast_track_block *block = &nearby->blocks[i];
        if (ast_gap_between(block->low, block->high, b->low, b->high) > AST_TRACK_REACH + 2 * MARGIN)
            continue;
        for (size_t k = i * AST_TRACK_BLOCK; k < (i + 1) * AST_TRACK_BLOCK && k < tracks->count; k++)
            if (is_within(&tracks->list[k], b->low, b->high, AST_TRACK_REACH + 2 * MARGIN))
                nearby->around[nearby->around_count++] = (int32_t)k;
    }
    nearby->found = true;
    return true;
}

bool ast_nearby_tracks_find(ast_plane_tracks *tracks, const ast_frame_patch *patches, size_t count) {
    ast_nearby_tracks *nearby = &tracks->nearby;
    box b = box_of(tracks, patches, count);
    nearby->count = 0;
    if (!ast_reserve(&nearby->list, &nearby->room, 0, tracks->count, sizeof *nearby->list))
        return false;
    if (!tracks->has_poses) {
        for (size_t k = 0; k < tracks->count; k++)
            if (tracks->frame - tracks->list[k].last_seen <= AST_TRACK_RESTS)
                nearby->list[nearby->count++] = (int32_t)k;
        return true;
    }
    if (!still_holds(nearby, &b) && !find_around(tracks, &b))
        return false;
    for (size_t i = 0; i < nearby->around_count; i++)
        if (is_within(&tracks->list[nearby->around[i]], b.low, b.high, AST_TRACK_REACH))
            nearby->list[nearby->count++] = nearby->around[i];
    return true;
}

/* The block of a track and those behind it no longer hold. */
static void expire_blocks(ast_nearby_tracks *nearby, int32_t track) {
    size_t block = (size_t)track / AST_TRACK_BLOCK;
    nearby->blocks_hold = block < nearby->blocks_hold ? block : nearby->blocks_hold;
}

bool ast_nearby_tracks_add(ast_plane_tracks *tracks, int32_t track) {
    ast_nearby_tracks *nearby = &tracks->nearby;
    if (!ast_reserve(&nearby->list, &nearby->room, nearby->count, nearby->count + 1, sizeof *nearby->list) ||
        !ast_reserve(&nearby->around, &nearby->around_room, nearby->around_count, nearby->around_count + 1,
                     sizeof *nearby->around))
        return false;
    nearby->list[nearby->count++] = track;
    expire_blocks(nearby, track);
    if (tracks->has_poses)
        nearby->around[nearby->around_count++] = track;
    return true;
}

static size_t remove_number(int32_t *list, size_t count, int32_t number) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i] != number)
            list[kept++] = list[i] - (list[i] > number);
    return kept;
}

void ast_nearby_tracks_drop(ast_nearby_tracks *nearby, int32_t track) {
    nearby->count = remove_number(nearby->list, nearby->count, track);
    nearby->around_count = remove_number(nearby->around, nearby->around_count, track);
    expire_blocks(nearby, track);
}

void ast_nearby_tracks_sort(ast_nearby_tracks *nearby, size_t first) {
    for (size_t i = first; i < nearby->count; i++)
        for (size_t k = i; k > 0 && nearby->list[k - 1] > nearby->list[k]; k--) {
            int32_t later = nearby->list[k - 1];
            nearby->list[k - 1] = nearby->list[k];
            nearby->list[k] = later;
        }
}
