/* SPDX-License-Identifier: MIT
 *
 * The layout of a state file, for stream_state.c, which reads it, and stream_save.c, which writes it. */
#pragma once

#include <stddef.h>

/* The head: magic 8, version 4, posed 4, dimension 8, frames 8, number 8, path's size 8, whole path's size 8, planes'
 * size 8. Behind the names and the planes there are zeros up to a multiple of 8, and the checksum.
 * A frame: magic 8, frames 8, number 8, path's size 4, whole path's size 4, changes' size 8, checksum 8. */
enum { MAGIC_SIZE = 8, HEAD_SIZE = 64, FRAME_SIZE = 48, CHECKSUM_SIZE = 8, STATE_VERSION = 3 };

static const char ast_cli_state_magic[MAGIC_SIZE] = "astream\n", ast_cli_frame_magic[MAGIC_SIZE] = "aframe \n";

static inline size_t ast_cli_state_padded(size_t size) {
    return (size + 7) / 8 * 8;
}
