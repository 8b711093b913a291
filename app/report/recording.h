/* SPDX-License-Identifier: MIT
 *
 * What a page needs of a stream, recorded while the stream runs, in bounded memory for any length: old pictures and
 * samples are thinned first, then frames. One thread adds frames; any thread may request the object of the page at any
 * time, for example for a browser that opens the live view while the stream runs.
 *
 * The main idea: a frame is turned into text once. The same text is the message to the browsers, the record in memory
 * and a piece of the report. */
#ifndef ASTERISM_REPORT_RECORDING_H
#define ASTERISM_REPORT_RECORDING_H

#include "page.h"
#include "thumbnail.h"

#include <stdatomic.h>

/* A text with several owners. Only the number of owners changes. */
typedef struct ast_shared_text {
    atomic_size_t holders;
    ast_text text;
    uint64_t index; /* of its frame in the recording */
    bool binary;    /* a message that is not text */
} ast_shared_text;
ast_shared_text *ast_shared_text_share(ast_shared_text *shared); /* adds an owner; returns the same text */
void ast_shared_text_release(ast_shared_text *shared);           /* removes an owner; NULL is allowed */

/* Takes over the bytes of a text and leaves it empty; NULL if memory runs out. */
ast_shared_text *ast_shared_text_make(ast_text *text, uint64_t index);

/* The same for a message that is not text. */
ast_shared_text *ast_shared_bytes_make(ast_text *bytes);

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

enum { AST_FRAME_SAMPLE = 2000, AST_FRAME_CLUSTERS = 1000, AST_FRAME_UNSEEN = 256 };

/* The data of a frame. */
/* How the camera is turned. */
typedef struct ast_recorded_rotation {
    double quaternion[4]; /* x y z w, from the camera to the first frame */
    double deviation[3];  /* degrees */
    int rank;
} ast_recorded_rotation;

typedef struct ast_recorded {
    const ast_frame *frame;
    const char *source;          /* or NULL */
    const ast_tracked *clusters; /* (count), in order of id */
    size_t count;
    const ast_points *points;              /* a sample of them is kept; NULL for no sample */
    const int32_t *labels;                 /* (points->count) */
    const ast_thumbnail *image;            /* or NULL */
    const ast_page_planes *planes;         /* or NULL */
    const ast_recorded_rotation *rotation; /* or NULL */
} ast_recorded;

typedef struct ast_recording ast_recording;

/* The head is copied, but not its strings: they must outlive the recording. NULL if memory runs out. */
ast_recording *ast_recording_open(const ast_page_head *head);
void ast_recording_close(ast_recording *recording); /* NULL is allowed */

/* Adds a frame with points of `dimension` components. *message (unless message is NULL) becomes the frame's message for
 * the browsers; the caller releases it. */
bool ast_recording_add(ast_recording *recording, const ast_recorded *frame, size_t dimension, ast_shared_text **message,
                       ast_format_error *error);

/* Uses these points for the projection, instead of those of the first frame with points; call it before adding
 * frames. */
bool ast_recording_project(ast_recording *recording, const ast_points *points, ast_format_error *error);

/* Adds a sentence for the reader; adds a measure. */
void ast_recording_note(ast_recording *recording, const char *sentence);
void ast_recording_measure(ast_recording *recording, const char *name, double number);

/* Writes the object of the page with the frames so far; *frames (unless frames is NULL) becomes their number. False if
 * memory runs out. */
bool ast_recording_json(ast_recording *recording, bool live, ast_text *json, uint64_t *frames);

#endif
