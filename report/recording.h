/* SPDX-License-Identifier: MIT
 *
 * What a page needs of a stream, kept while the stream runs, in bounded memory however long it is: older pictures and
 * samples are thinned first, then frames. One thread adds frames; any thread may ask for the page's object at any time,
 * which is what a browser gets that opens the live view in mid-stream.
 *
 * The one idea: a frame becomes a text once, and that text is the message to the browsers, the memory of the recording
 * and the piece of the report. */
#ifndef ASTERISM_REPORT_RECORDING_H
#define ASTERISM_REPORT_RECORDING_H

#include "page.h"
#include "small.h"

/* A text that many share; nobody changes it. */
typedef struct ast_parcel ast_parcel;
ast_parcel *ast_parcel_share(ast_parcel *parcel); /* one more holder; the message itself */
void ast_parcel_drop(ast_parcel *parcel);         /* one holder less; NULL is fine */
const char *ast_parcel_text(const ast_parcel *parcel, size_t *size);

/* The place of its frame among those of the recording. */
uint64_t ast_parcel_place(const ast_parcel *parcel);

/* A parcel from a text, which it takes over and leaves empty; NULL without memory. */
ast_parcel *ast_parcel_make(ast_text *text, uint64_t place);

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

enum { AST_FRAME_SAMPLE = 2000, AST_FRAME_CLUSTERS = 1000, AST_FRAME_UNSEEN = 256 };

/* What there is of a frame. */
typedef struct ast_recorded {
    const ast_frame *frame;
    const char *source;          /* or NULL */
    const ast_tracked *clusters; /* (count), in order of id */
    size_t count;
    const ast_points *points; /* of which a sample is kept, or NULL: no sample */
    const int32_t *labels;    /* (points->count) */
    const ast_small *image;   /* or NULL */
} ast_recorded;

typedef struct ast_recording ast_recording;

/* The head is copied, its strings are not: they must outlive the recording. NULL without memory. */
ast_recording *ast_recording_open(const ast_page_head *head);
void ast_recording_close(ast_recording *recording); /* NULL is fine */

/* Adds a frame of points of `dimension` components. *message, unless that is NULL, becomes the frame's message for the
 * browsers, to be dropped. */
bool ast_recording_add(ast_recording *recording, const ast_recorded *frame, size_t dimension, ast_parcel **message,
                       ast_format_error *error);

/* Projects by these points rather than by those of the first frame that has some; before any frame. */
bool ast_recording_project(ast_recording *recording, const ast_points *points, ast_format_error *error);

/* One more sentence for the reader; one more measure. */
void ast_recording_note(ast_recording *recording, const char *sentence);
void ast_recording_measure(ast_recording *recording, const char *name, double number);

/* The page's object with the frames so far, whose number *frames becomes unless that is NULL. False without memory. */
bool ast_recording_json(ast_recording *recording, bool live, ast_text *json, uint64_t *frames);

#endif
