/* SPDX-License-Identifier: MIT
 *
 * A frame of a stream as text: the message that a live page gets. */
#ifndef ASTERISM_REPORT_FRAME_TEXT_H
#define ASTERISM_REPORT_FRAME_TEXT_H

#include "recording.h"

/* Where the parts of the message are: the frame's object is [begin, end), and up to `core` it has no sample and no
 * picture; with a brace behind that, it is an object by itself. */
typedef struct ast_frame_parts {
    size_t begin, core, end;
    int32_t *ids; /* (id_count) of the clusters listed; to free() */
    size_t id_count;
    bool cut; /* more clusters than are listed had points */
} ast_frame_parts;

bool ast_frame_message(const ast_recorded *frame, const ast_projection *projection, bool axial, ast_text *text,
                       ast_frame_parts *parts, ast_format_error *error);

#endif
