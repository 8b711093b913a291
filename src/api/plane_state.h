/* SPDX-License-Identifier: MIT
 *
 * The planes that a map remembers, as bytes (saved.h): everything that later frames depend on. */
#pragma once

#include "frame_planes.h"
#include "fault.h"

typedef struct ast_plane_state {
    unsigned char *bytes;
    size_t capacity;
} ast_plane_state;

/* The bytes are in state->bytes. */
ast_status ast_plane_tracks_save(const ast_plane_tracks *tracks, const ast_plane_options *options,
                                 ast_plane_state *state, size_t *size, ast_fault *fault);

/* Replaces the tracks; changes nothing on failure. */
ast_status ast_plane_tracks_load(ast_plane_tracks *tracks, const ast_plane_options *options, const void *bytes,
                                 size_t size, ast_fault *fault);
