/* SPDX-License-Identifier: MIT
 *
 * A frame of a stream as text: the message sent to a live page. */
#ifndef ASTERISM_REPORT_FRAME_TEXT_H
#define ASTERISM_REPORT_FRAME_TEXT_H

#include "recording.h"

/* Positions of the parts of the message. The object of the frame is [begin, end). Up to `core` it has no sample and no
 * picture; that part plus a closing brace is a valid object. */
typedef struct ast_frame_parts {
    size_t begin, core, end;
    int32_t *ids; /* (id_count) of the listed clusters; release with free() */
    size_t id_count;
    bool cut; /* more clusters had points than are listed */
} ast_frame_parts;

bool ast_frame_message(const ast_recorded *frame, const ast_projection *projection, bool axial, ast_text *text,
                       ast_frame_parts *parts, ast_format_error *error);

#endif
