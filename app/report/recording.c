/* SPDX-License-Identifier: MIT
 *
 * A stream as the data of a page. Its length is not known in advance, because it may come from a camera. So everything
 * is kept at first. Whenever samples and pictures exceed their memory limit, those of every second frame are dropped,
 * and from then on only those of every second frame are kept. The frames themselves are thinned in the same way, with a
 * smaller limit. */
#include "recording.h"

#include "frame_text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Together with the page itself well below 15 MB. 300 frames of a depth camera take about 10 MB of the first limit. */
#define FULL_ROOM ((size_t)10700000)
#define CORE_ROOM ((size_t)2500000)

typedef struct kept {
    uint64_t index;           /* among all frames of the recording */
    ast_shared_text *message; /* with sample and picture; NULL after thinning */
    ast_shared_text *core;    /* the object without them */
    size_t core_size;
    ast_frame_parts parts; /* of the message; the core has the same ids */
} kept;

struct ast_recording {
    pthread_mutex_t lock; /* protects everything below */
    ast_page_head head;
    ast_projection projection;
    bool projected;
    kept *frames;
    size_t count, room;
    kept last;                  /* the newest frame, if it is not in `frames`; core NULL: none */
    uint64_t added;             /* frames so far */
    uint64_t every, full_every; /* one in so many frames is kept, and kept with sample and picture */
    size_t core_bytes, full_bytes;
    bool cut;
};

static bool no_memory(ast_format_error *error) {
    return ast_format_fail(error, "there is not enough memory for the frames of the report");
}

ast_recording *ast_recording_open(const ast_page_head *head) {
    ast_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return NULL;
    if (pthread_mutex_init(&recording->lock, NULL) != 0) {
        free(recording);
        return NULL;
    }
    recording->head = *head;
    recording->every = recording->full_every = 1;
    return recording;
}

static void free_kept(kept *frame) {
    ast_shared_text_release(frame->message);
    ast_shared_text_release(frame->core);
    free(frame->parts.ids);
    *frame = (kept){0};
}

void ast_recording_close(ast_recording *recording) {
    if (!recording)
        return;
    for (size_t i = 0; i < recording->count; i++)
        free_kept(&recording->frames[i]);
    free(recording->frames);
    free_kept(&recording->last);
    ast_projection_free(&recording->projection);
    pthread_mutex_destroy(&recording->lock);
    free(recording);
}

void ast_recording_note(ast_recording *recording, const char *sentence) {
    pthread_mutex_lock(&recording->lock);
    ast_note(&recording->head.notes, "%s", sentence);
    pthread_mutex_unlock(&recording->lock);
}

void ast_recording_measure(ast_recording *recording, const char *name, double number) {
    pthread_mutex_lock(&recording->lock);
    ast_page_measure(&recording->head, name, number);
    pthread_mutex_unlock(&recording->lock);
}

/* ---- Thinning ---------------------------------------------------------------------------------------------------- */

static size_t full_size(const kept *frame) {
    return frame->message ? frame->parts.end - frame->parts.core : 0;
}

/* Drops sample and picture. */
static void lighten(ast_recording *recording, kept *frame) {
    recording->full_bytes -= full_size(frame);
    ast_shared_text_release(frame->message);
    frame->message = NULL;
}

static void thin_pictures(ast_recording *recording) {
    recording->full_every *= 2;
    for (size_t i = 0; i < recording->count; i++) {
        if (recording->frames[i].index % recording->full_every != 0)
            lighten(recording, &recording->frames[i]);
    }
}

static void thin_frames(ast_recording *recording) {
    size_t count = 0;
    recording->every *= 2;
    for (size_t i = 0; i < recording->count; i++) {
        kept *frame = &recording->frames[i];
        if (frame->index % recording->every == 0) {
            recording->frames[count++] = *frame;
            continue;
        }
        lighten(recording, frame);
        recording->core_bytes -= frame->core_size;
        free_kept(frame);
    }
    recording->count = count;
}

static void thin(ast_recording *recording) {
    while (recording->full_bytes > FULL_ROOM && recording->count > 1)
        thin_pictures(recording);
    while (recording->core_bytes > CORE_ROOM && recording->count > 1)
        thin_frames(recording);
    if (recording->full_every < recording->every)
        recording->full_every = recording->every;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

/* When a newer frame arrives, the last one is appended or dropped. */
static bool settle_last(ast_recording *recording) {
    kept *last = &recording->last;
    if (!last->core)
        return true;
    if (last->index % recording->every != 0) {
        free_kept(last);
        return true;
    }
    if (!ast_array_grow(&recording->frames, &recording->room, recording->count + 1, sizeof *recording->frames))
        return false;
    kept *frame = &recording->frames[recording->count++];
    *frame = *last;
    *last = (kept){0};
    recording->core_bytes += frame->core_size;
    recording->full_bytes += full_size(frame);
    if (frame->index % recording->full_every != 0)
        lighten(recording, frame);
    thin(recording);
    return true;
}

/* Turns the text into a kept frame. */
static bool make_kept(kept *frame, ast_text *text, const ast_frame_parts *parts) {
    ast_text core = {0};
    frame->parts = *parts;
    ast_text_add(&core, text->bytes + parts->begin, parts->core - parts->begin);
    ast_text_put(&core, "}");
    frame->core_size = core.size;
    frame->core = ast_shared_text_make(&core, frame->index);
    frame->message = ast_shared_text_make(text, frame->index);
    if (frame->core && frame->message)
        return true;
    free_kept(frame);
    return false;
}

bool ast_recording_project(ast_recording *recording, const ast_points *points, ast_format_error *error) {
    ast_projection found = {0};
    bool good = ast_projection_find(&found, points, error);
    pthread_mutex_lock(&recording->lock);
    ast_projection_free(&recording->projection);
    recording->projection = found;
    recording->projected = good;
    pthread_mutex_unlock(&recording->lock);
    return good;
}

/* Uses the first frame with points; before it there is nothing to show. */
static bool project(ast_recording *recording, const ast_recorded *frame, size_t dimension, ast_format_error *error) {
    if (recording->projected)
        return true;
    if (dimension <= 3 || !frame->points || frame->frame->points == frame->frame->missing) {
        pthread_mutex_lock(&recording->lock);
        recording->projection.dimension = dimension;
        recording->projected = dimension <= 3;
        pthread_mutex_unlock(&recording->lock);
        return true;
    }
    return ast_recording_project(recording, frame->points, error);
}

bool ast_recording_add(ast_recording *recording, const ast_recorded *frame, size_t dimension, ast_shared_text **message,
                       ast_format_error *error) {
    ast_text text = {0};
    ast_frame_parts parts = {0};
    kept made = {.index = recording->added};
    bool good = project(recording, frame, dimension, error) &&
                ast_frame_message(frame, &recording->projection, recording->head.axial, &text, &parts, error);
    if (!good) {
        ast_text_free(&text);
        free(parts.ids);
        return false;
    }
    if (!make_kept(&made, &text, &parts))
        return no_memory(error);
    pthread_mutex_lock(&recording->lock);
    good = settle_last(recording);
    if (good) {
        recording->last = made;
        recording->added++;
        recording->cut |= parts.cut;
    }
    pthread_mutex_unlock(&recording->lock);
    if (!good) {
        free_kept(&made);
        return no_memory(error);
    }
    if (message)
        *message = ast_shared_text_share(made.message);
    return true;
}

/* ---- The page's object ------------------------------------------------------------------------------------------- */

/* A snapshot of the recording, so that adding frames does not wait until a page is written. */
typedef struct moment {
    ast_page_head head;
    ast_projection projection; /* the basis belongs to the recording and no longer changes */
    kept *frames;              /* (count) each holds its message or its core */
    size_t count;
    int32_t *ids; /* (id_count) in any order, with repetitions */
    size_t id_count;
} moment;

static void say(const ast_recording *recording, ast_page_notes *notes) {
    char some[AST_GROUPED], all[AST_GROUPED];
    if (recording->every > 1)
        ast_note(notes, "One in %s of the %s frames is shown; events between them are not.",
                 ast_grouped(recording->every, some), ast_grouped(recording->added, all));
    if (recording->full_every > recording->every)
        ast_note(notes, "One in %s frames has points and a picture.", ast_grouped(recording->full_every, some));
    if (recording->cut)
        ast_note(notes, "Only the %d largest clusters of each frame are listed.", AST_FRAME_CLUSTERS);
    if (recording->projection.basis)
        ast_note(notes,
                 "The points have %zu dimensions; the sphere shows the three leading principal directions of the first "
                 "frame, normalised to length one.",
                 recording->projection.dimension);
}

static void take_over(moment *now, const kept *frame) {
    kept *copy = &now->frames[now->count++];
    *copy = (kept){.parts = frame->parts};
    if (frame->message)
        copy->message = ast_shared_text_share(frame->message);
    else
        copy->core = ast_shared_text_share(frame->core);
    if (frame->parts.id_count)
        memcpy(now->ids + now->id_count, frame->parts.ids, frame->parts.id_count * sizeof *now->ids);
    now->id_count += frame->parts.id_count;
}

/* The lock must be held. */
static bool take_moment(const ast_recording *recording, moment *now) {
    size_t ids = recording->last.parts.id_count;
    for (size_t i = 0; i < recording->count; i++)
        ids += recording->frames[i].parts.id_count;
    now->frames = malloc((recording->count + 1) * sizeof *now->frames);
    now->ids = malloc((ids + 1) * sizeof *now->ids);
    if (!now->frames || !now->ids)
        return false;
    now->head = recording->head;
    now->projection = recording->projection;
    say(recording, &now->head.notes);
    for (size_t i = 0; i < recording->count; i++)
        take_over(now, &recording->frames[i]);
    if (recording->last.core)
        take_over(now, &recording->last);
    return true;
}

static void free_moment(moment *now) {
    for (size_t i = 0; i < now->count; i++) {
        ast_shared_text_release(now->frames[i].message);
        ast_shared_text_release(now->frames[i].core);
    }
    free(now->frames);
    free(now->ids);
}

static void put_frame(ast_text *json, const kept *frame) {
    if (frame->message)
        ast_text_add(json, frame->message->text.bytes + frame->parts.begin, frame->parts.end - frame->parts.begin);
    else
        ast_text_add(json, frame->core->text.bytes, frame->core->text.size);
}

static int by_number(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

bool ast_recording_json(ast_recording *recording, bool live, ast_text *json, uint64_t *frames) {
    moment now = {.count = 0};
    pthread_mutex_lock(&recording->lock);
    bool good = take_moment(recording, &now);
    if (frames)
        *frames = recording->added;
    pthread_mutex_unlock(&recording->lock);
    if (good) {
        ast_page_begin(json, &now.head, "stream", live, &now.projection);
        ast_json_open(json, "frames", '[');
        for (size_t i = 0; i < now.count; i++) {
            ast_text_put(json, i ? ",\n" : "");
            put_frame(json, &now.frames[i]);
        }
        ast_json_close(json, ']');
        qsort(now.ids, now.id_count, sizeof *now.ids, by_number);
        ast_json_colours(json, now.ids, now.id_count);
        ast_json_close(json, '}');
    }
    free_moment(&now);
    return good && !json->failed;
}
