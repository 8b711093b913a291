/* SPDX-License-Identifier: MIT
 *
 * A thread that decodes ahead, and the queue between it and the caller. The one idea: a ring of a few images whose
 * memory is used again and again. One is the caller's until it asks for the next, the others are being filled or wait.
 * A failure takes its place in the ring like a frame, so that it is met after the whole frames before it.
 *
 * The caller owns `taken`, the thread owns the reader and the image that it fills; what both look at is guarded by the
 * mutex. */
#include "depth_frames.h"

#include "depth_reader.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One that the caller looks at and two ahead: enough to even out frames that take longer, and little memory. */
#define SLOTS 3

#define WAIT_NANOSECONDS 100000000 /* between two questions whether to go on */

typedef struct frame_slot {
    ast_depth_pixels pixels;
    int result; /* what ast_depth_frames_next is to return */
    ast_format_error error;
    ast_depth_origin origin;
} frame_slot;

struct ast_depth_frames {
    ast_depth_reader reader; /* the caller's before the thread starts, then the thread's */
    int (*interrupted)(void);
    /* Between both */
    pthread_t thread;
    bool started;
    int stop[2]; /* a pipe: closing [1] ends whatever the thread waits for */
    pthread_mutex_t mutex;
    pthread_cond_t room, ready;
    bool stopped;
    uint64_t made, released; /* slots filled, given back */
    frame_slot slots[SLOTS];
    /* The caller's */
    uint64_t taken; /* slots looked at */
    bool over;
    char *source; /* the name of a raw frame */
};

static bool start(ast_depth_frames *frames, ast_format_error *error);
static void *decode_all(void *argument);
static frame_slot *wait_for_frame(ast_depth_frames *frames);
static bool describe(ast_depth_frames *frames, const frame_slot *slot, ast_depth_frame *frame, ast_format_error *error);

static bool is_raw(const ast_depth_frames *frames) {
    return frames->reader.width > 0 || frames->reader.height > 0;
}

static bool add_inputs(ast_depth_frames *frames, const char *const *inputs, ast_format_error *error) {
    ast_depth_reader *reader = &frames->reader;
    if (is_raw(frames) && !ast_image_check_size("raw frames", reader->width, reader->height, error))
        return false;
    for (; *inputs; inputs++)
        if (!(is_raw(frames) ? ast_depth_list_path : ast_depth_list_input)(&reader->list, *inputs, error))
            return false;
    return true;
}

/* Waiting goes by a clock that nobody sets, as the time of day may jump. */
static void make_locks(ast_depth_frames *frames) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&frames->mutex, NULL);
    pthread_cond_init(&frames->room, NULL);
    pthread_cond_init(&frames->ready, &attributes);
    pthread_condattr_destroy(&attributes);
}

ast_depth_frames *ast_depth_frames_open(const char *const *inputs, const ast_depth_frames_options *options,
                                        ast_format_error *error) {
    ast_depth_frames *frames = calloc(1, sizeof *frames);
    if (!frames) {
        ast_format_fail(error, "there is not enough memory for a sequence of depth images");
        return NULL;
    }
    if (options) {
        frames->reader.width = options->raw_width;
        frames->reader.height = options->raw_height;
        frames->reader.list.one_scene = options->one_scene;
        frames->reader.list.scene = options->scene;
        frames->interrupted = options->interrupted;
    }
    make_locks(frames);
    if (add_inputs(frames, inputs, error))
        return frames;
    ast_depth_frames_close(frames);
    return NULL;
}

size_t ast_depth_frames_count(const ast_depth_frames *frames) {
    return is_raw(frames) ? SIZE_MAX : frames->reader.list.count;
}

const char *ast_depth_frames_path(const ast_depth_frames *frames, size_t index) {
    return frames->reader.list.items[index].path;
}

double ast_depth_frames_scale(const ast_depth_frames *frames) {
    if (frames->reader.list.scenes)
        return AST_NYU_UNITS;
    return frames->reader.list.count > 0 && !frames->reader.list.plain ? 5000 : 0;
}

bool ast_depth_frames_scenes(const ast_depth_frames *frames) {
    return frames->reader.list.scenes;
}

void ast_depth_frames_skip(ast_depth_frames *frames, uint64_t count) {
    ast_depth_reader_skip(&frames->reader, count);
}

int ast_depth_frames_next(ast_depth_frames *frames, ast_depth_frame *frame, ast_format_error *error) {
    if (frames->over)
        return 0;
    frames->over = true; /* unless it goes well */
    if (!frames->started && !start(frames, error))
        return -1;
    const frame_slot *slot = wait_for_frame(frames);
    int result = slot ? slot->result : 0;
    if (result < 0)
        *error = slot->error;
    if (result > 0 && !describe(frames, slot, frame, error))
        result = -1;
    frames->over = result <= 0;
    return result;
}

void ast_depth_frames_close(ast_depth_frames *frames) {
    if (!frames)
        return;
    if (frames->started) {
        pthread_mutex_lock(&frames->mutex);
        frames->stopped = true;
        pthread_cond_signal(&frames->room);
        pthread_mutex_unlock(&frames->mutex);
        close(frames->stop[1]);
        pthread_join(frames->thread, NULL);
        close(frames->stop[0]);
    }
    for (size_t i = 0; i < SLOTS; i++)
        ast_depth_pixels_free(&frames->slots[i].pixels);
    pthread_cond_destroy(&frames->ready);
    pthread_cond_destroy(&frames->room);
    pthread_mutex_destroy(&frames->mutex);
    ast_depth_reader_close(&frames->reader);
    free(frames->source);
    free(frames);
}

/* ---- The caller's side ------------------------------------------------------------------------------------------- */

/* Signals are for the caller's threads: a handler that ran here would interrupt nothing. */
static bool start(ast_depth_frames *frames, ast_format_error *error) {
    sigset_t all, before;
    if (pipe2(frames->stop, O_CLOEXEC) != 0)
        return ast_format_fail(error, "depth images cannot be decoded: there is no pipe: %s", strerror(errno));
    frames->reader.stop = frames->stop[0];
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&frames->thread, NULL, decode_all, frames);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    frames->started = problem == 0;
    if (frames->started)
        return true;
    close(frames->stop[0]);
    close(frames->stop[1]);
    return ast_format_fail(error, "depth images cannot be decoded: there is no thread: %s", strerror(problem));
}

static void wait_a_little(ast_depth_frames *frames) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&frames->ready, &frames->mutex, &until);
}

/* The next slot that is filled, or NULL if interrupted. The one before it is given back. */
static frame_slot *wait_for_frame(ast_depth_frames *frames) {
    int (*interrupted)(void) = frames->interrupted;
    bool go_on = true;
    pthread_mutex_lock(&frames->mutex);
    frames->released = frames->taken;
    pthread_cond_signal(&frames->room);
    while (frames->made == frames->taken && go_on) {
        if (interrupted)
            wait_a_little(frames);
        else
            pthread_cond_wait(&frames->ready, &frames->mutex);
        go_on = !interrupted || !interrupted();
    }
    frame_slot *slot = frames->made > frames->taken && go_on ? &frames->slots[frames->taken++ % SLOTS] : NULL;
    pthread_mutex_unlock(&frames->mutex);
    return slot;
}

static bool describe(ast_depth_frames *frames, const frame_slot *slot, ast_depth_frame *frame,
                     ast_format_error *error) {
    const char *path = slot->origin.item->path;
    *frame = (ast_depth_frame){.image = ast_depth_view(&slot->pixels),
                               .source = path,
                               .path = path,
                               .number = slot->origin.number,
                               .index = slot->origin.index,
                               .seconds = slot->origin.item->seconds};
    if (slot->origin.number == AST_DEPTH_WHOLE)
        return true;
    size_t room = strlen(path) + 22; /* a # and up to 20 digits */
    free(frames->source);
    frames->source = malloc(room);
    if (!frames->source)
        return ast_format_no_memory(error, path);
    snprintf(frames->source, room, "%s#%" PRIu64, path, slot->origin.number);
    frame->source = frames->source;
    return true;
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static frame_slot *wait_for_room(ast_depth_frames *frames) {
    pthread_mutex_lock(&frames->mutex);
    while (frames->made - frames->released == SLOTS && !frames->stopped)
        pthread_cond_wait(&frames->room, &frames->mutex);
    frame_slot *slot = frames->stopped ? NULL : &frames->slots[frames->made % SLOTS];
    pthread_mutex_unlock(&frames->mutex);
    return slot;
}

static void hand_over(ast_depth_frames *frames) {
    pthread_mutex_lock(&frames->mutex);
    frames->made++;
    pthread_cond_signal(&frames->ready);
    pthread_mutex_unlock(&frames->mutex);
}

static void *decode_all(void *argument) {
    ast_depth_frames *frames = argument;
    frame_slot *slot = wait_for_room(frames);
    while (slot) {
        int result = slot->result = ast_depth_reader_next(&frames->reader, &slot->pixels, &slot->origin, &slot->error);
        hand_over(frames);
        slot = result > 0 ? wait_for_room(frames) : NULL;
    }
    return NULL;
}
