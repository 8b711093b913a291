/* SPDX-License-Identifier: MIT */
#include "plane_state.h"

#include "memory.h"
#include "saved.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x314d505f54534121u /* "!AST_PM1" in memory */
#define VERSION 1

typedef struct state_header {
    uint64_t magic, version, size;
    uint64_t count, looks, next_id, frame, has_poses;
    double offset, area;
} state_header;

static const ast_saved_format format = {.magic = MAGIC,
                                        .version = VERSION,
                                        .head = sizeof(state_header),
                                        .unit = 1,
                                        .name = "state of planes",
                                        .no_magic = "this is no state of a plane map",
                                        .on_version = ", so start anew"};

static uint64_t state_bytes(const state_header *h) {
    return sizeof *h + h->count * sizeof(ast_plane_track) + h->looks * sizeof(ast_plane_look) + sizeof(uint64_t);
}

ast_status ast_plane_tracks_save(const ast_plane_tracks *tracks, const ast_plane_options *options,
                                 ast_plane_state *state, size_t *size, ast_fault *fault) {
    state_header header = {.magic = MAGIC,
                           .version = VERSION,
                           .count = tracks->count,
                           .next_id = (uint64_t)tracks->next_id,
                           .frame = tracks->frame,
                           .has_poses = tracks->has_poses,
                           .offset = options->offset,
                           .area = options->area};
    for (size_t k = 0; k < tracks->count; k++)
        header.looks += tracks->list[k].look_count;
    header.size = state_bytes(&header);
    if (!ast_reserve(&state->bytes, &state->capacity, 0, header.size, 1))
        return ast_fail_memory(fault);
    unsigned char *at = ast_saved_put(state->bytes, &header, sizeof header);
    for (size_t k = 0; k < tracks->count; k++) {
        ast_plane_track track = tracks->list[k];
        track.looks = NULL;
        at = ast_saved_put(at, &track, sizeof track);
    }
    for (size_t k = 0; k < tracks->count; k++)
        at = ast_saved_put(at, tracks->list[k].looks, tracks->list[k].look_count * sizeof *tracks->list[k].looks);
    ast_saved_close(state->bytes, at);
    *size = header.size;
    return AST_OK;
}

/* A checksum protects from accidents, not from malice. */
static bool are_tracks(const unsigned char *at, const state_header *header) {
    int64_t last = -1;
    uint64_t looks = 0;
    bool good = true;
    for (uint64_t k = 0; k < header->count && good; k++) {
        ast_plane_track track;
        memcpy(&track, at + k * sizeof track, sizeof track);
        const double *n = track.plane.normal;
        double length = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
        good = track.id > last && (uint64_t)track.id < header->next_id && track.last_seen <= header->frame &&
               length > 0.99 && length < 1.01 && isfinite(track.plane.offset) && isfinite(track.scatter.n) &&
               track.look_count <= header->looks - looks;
        looks += track.look_count;
        last = track.id;
    }
    return good && looks == header->looks;
}

static ast_status check(const ast_plane_options *options, const void *bytes, size_t size, state_header *header,
                        ast_fault *fault) {
    ast_status status = ast_saved_check(&format, bytes, size, fault);
    if (status != AST_OK)
        return status;
    memcpy(header, bytes, sizeof *header);
    if (header->count > size || header->looks > size || header->next_id > INT32_MAX || size != state_bytes(header) ||
        !are_tracks((const unsigned char *)bytes + sizeof *header, header))
        return ast_fail(fault, AST_BAD_DATA, "the state of planes is damaged: no map leaves such planes");
    bool same = header->offset == options->offset && header->area == options->area;
    return same ? AST_OK
                : ast_fail(fault, AST_BAD_DATA,
                           "the state was made with another offset or smallest area of planes; go on with the same "
                           "ones, or begin a new state");
}

static void free_list(ast_plane_track *list, size_t count) {
    for (size_t k = 0; k < count; k++)
        ast_free(list[k].looks);
    ast_free(list);
}

/* The tracks of a state, each with its looks; NULL if memory runs out. */
static ast_plane_track *read_tracks(const unsigned char *at, const state_header *header) {
    size_t count = (size_t)header->count;
    ast_plane_track *list = ast_allocate(count, sizeof *list);
    const unsigned char *looks = at + count * sizeof *list;
    for (size_t k = 0; list && k < count; k++) {
        ast_plane_track *track = &list[k];
        memcpy(track, at + k * sizeof *track, sizeof *track);
        size_t size = track->look_count * sizeof *track->looks;
        track->looks = NULL;
        track->look_room = 0;
        if (size > 0 && !ast_reserve(&track->looks, &track->look_room, 0, track->look_count, sizeof *track->looks)) {
            free_list(list, k);
            return NULL;
        }
        if (size > 0)
            memcpy(track->looks, looks, size);
        looks += size;
    }
    return list;
}

ast_status ast_plane_tracks_load(ast_plane_tracks *tracks, const ast_plane_options *options, const void *bytes,
                                 size_t size, ast_fault *fault) {
    state_header header;
    ast_status status = check(options, bytes, size, &header, fault);
    if (status != AST_OK)
        return status;
    ast_plane_track *list = read_tracks((const unsigned char *)bytes + sizeof header, &header);
    if (!list)
        return ast_fail_memory(fault);
    free_list(tracks->list, tracks->count);
    tracks->list = list;
    tracks->count = tracks->room = (size_t)header.count;
    tracks->next_id = (int32_t)header.next_id;
    tracks->frame = header.frame;
    tracks->has_poses = header.has_poses;
    tracks->nearby.found = false;
    tracks->nearby.blocks_hold = 0;
    return AST_OK;
}
