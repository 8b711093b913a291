/* SPDX-License-Identifier: MIT
 *
 * A thread that decodes ahead, and the queue between it and the caller. The one idea: a ring of a few images whose
 * memory is used again and again. One is the caller's until it asks for the next, the others are being filled or wait.
 * A failure takes its place in the ring like a frame, so that it is met after the whole frames before it.
 *
 * The caller owns `taken` and `held`, the thread owns its position in the list and the image it fills; what both look
 * at is guarded by the mutex. */
#include "depth_frames.h"

#include "depth_list.h"
#include "image_readers.h"
#include "message.h"

#include <endian.h>
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

/* Memory for raw frames grows from here, by doubling, with what has come. */
#define FIRST_PART ((size_t)1 << 20)

typedef struct frame_slot {
    ast_depth_pixels pixels;
    int result; /* what ast_depth_frames_next is to return */
    ast_format_error error;
    const ast_depth_item *item;
    uint64_t number, index;
} frame_slot;

struct ast_depth_frames {
    ast_depth_list list;
    ast_depth_frames_options options;
    /* The thread's */
    size_t position; /* of the next file */
    ast_bytes bytes; /* the raw input that is open */
    bool open;       /* it is */
    uint64_t number; /* of the next frame in it */
    uint64_t index;  /* of the next frame */
    uint64_t skip;   /* raw frames to be read over */
    ast_image_buffer buffer;
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
static void *decode_all(void *frames);
static frame_slot *wait_for_frame(ast_depth_frames *frames);
static bool describe(ast_depth_frames *frames, const frame_slot *slot, ast_depth_frame *frame, ast_format_error *error);

static bool is_raw(const ast_depth_frames *frames) {
    return frames->options.raw_width > 0 && frames->options.raw_height > 0;
}

static bool add_inputs(ast_depth_frames *frames, const char *const *inputs, ast_format_error *error) {
    const ast_depth_frames_options *options = &frames->options;
    if (is_raw(frames) && !ast_image_check_size("raw frames", options->raw_width, options->raw_height, error))
        return false;
    for (; *inputs; inputs++)
        if (!(is_raw(frames) ? ast_depth_list_path : ast_depth_list_input)(&frames->list, *inputs, error))
            return false;
    return true;
}

/* Without default attributes only the clock differs: the time of day may jump. */
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
    if (options)
        frames->options = *options;
    frames->stop[0] = frames->stop[1] = -1;
    make_locks(frames);
    if (add_inputs(frames, inputs, error))
        return frames;
    ast_depth_frames_close(frames);
    return NULL;
}

size_t ast_depth_frames_count(const ast_depth_frames *frames) {
    return is_raw(frames) ? SIZE_MAX : frames->list.count;
}

const char *ast_depth_frames_path(const ast_depth_frames *frames, size_t index) {
    return frames->list.items[index].path;
}

double ast_depth_frames_scale(const ast_depth_frames *frames) {
    return frames->list.count > 0 && !frames->list.plain ? 5000 : 0;
}

void ast_depth_frames_skip(ast_depth_frames *frames, uint64_t count) {
    if (is_raw(frames)) {
        frames->skip += count;
    } else {
        size_t left = frames->list.count - frames->position;
        frames->position += count < left ? (size_t)count : left;
        frames->index = frames->position;
    }
}

int ast_depth_frames_next(ast_depth_frames *frames, ast_depth_frame *frame, ast_format_error *error) {
    if (frames->over)
        return 0;
    frame_slot *slot = frames->started || start(frames, error) ? wait_for_frame(frames) : NULL;
    frames->over = !slot || slot->result <= 0;
    if (!frames->started)
        return -1;
    if (!slot)
        return 0;
    if (slot->result < 0)
        *error = slot->error;
    if (slot->result > 0 && !describe(frames, slot, frame, error)) {
        frames->over = true;
        return -1;
    }
    return slot->result;
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
    if (frames->open)
        ast_bytes_close(&frames->bytes);
    for (size_t i = 0; i < SLOTS; i++)
        ast_depth_pixels_free(&frames->slots[i].pixels);
    pthread_cond_destroy(&frames->ready);
    pthread_cond_destroy(&frames->room);
    pthread_mutex_destroy(&frames->mutex);
    ast_depth_list_free(&frames->list);
    free(frames->buffer.bytes);
    free(frames->source);
    free(frames);
}

/* ---- The caller's side ------------------------------------------------------------------------------------------- */

/* Signals are for the caller's threads: a handler that ran here would interrupt nothing. */
static bool start(ast_depth_frames *frames, ast_format_error *error) {
    sigset_t all, before;
    if (pipe2(frames->stop, O_CLOEXEC) != 0)
        return ast_format_fail(error, "depth images cannot be decoded: there is no pipe: %s", strerror(errno));
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
    int (*interrupted)(void) = frames->options.interrupted;
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
    const char *path = slot->item->path;
    *frame = (ast_depth_frame){.image = ast_depth_view(&slot->pixels),
                               .source = path,
                               .path = path,
                               .number = slot->number,
                               .index = slot->index,
                               .seconds = slot->item->seconds};
    if (slot->number == AST_DEPTH_WHOLE)
        return true;
    size_t room = strlen(path) + 22; /* a # and up to 20 digits */
    free(frames->source);
    frames->source = malloc(room);
    if (!frames->source)
        return ast_format_no_memory(error, path);
    snprintf(frames->source, room, "%s#%" PRIu64, path, slot->number);
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

static bool decode_image(ast_depth_frames *frames, frame_slot *slot) {
    ast_bytes bytes;
    slot->item = &frames->list.items[frames->position++];
    slot->number = AST_DEPTH_WHOLE;
    if (!ast_bytes_open_watched(&bytes, slot->item->path, frames->stop[0], &slot->error))
        return false;
    bool good = ast_depth_read_bytes(&slot->pixels, &frames->buffer, &bytes, &slot->error);
    ast_bytes_close(&bytes);
    return good;
}

/* Room for the first `count` values of a raw frame, which keep what they have. */
static bool grow(ast_depth_pixels *pixels, size_t count, const char *name, ast_format_error *error) {
    if (count <= pixels->capacity)
        return true;
    uint16_t *grown = realloc(pixels->values, count * sizeof *grown);
    if (!grown)
        return ast_format_no_memory(error, name);
    pixels->values = grown;
    pixels->capacity = count;
    return true;
}

/* Fills the slot with the next raw frame of the open input: 1, 0 where it has ended, or -1. */
static int read_raw(ast_depth_frames *frames, frame_slot *slot) {
    size_t size = frames->options.raw_width * frames->options.raw_height * sizeof(uint16_t), filled = 0, got;
    const char *name = frames->bytes.name;
    do {
        size_t part = filled ? 2 * filled : FIRST_PART;
        part = part < size ? part : size;
        if (!grow(&slot->pixels, part / sizeof(uint16_t), name, &slot->error) ||
            !ast_bytes_read(&frames->bytes, (char *)slot->pixels.values + filled, part - filled, &got, &slot->error))
            return -1;
        filled += got;
        if (filled == 0)
            return 0;
        if (filled < part) {
            ast_format_fail(&slot->error, "%s: frame %" PRIu64 " is cut short: %zu of its %zu bytes are there", name,
                            frames->number, filled, size);
            return -1;
        }
    } while (filled < size);
    slot->pixels.width = frames->options.raw_width;
    slot->pixels.height = frames->options.raw_height;
    for (size_t i = 0; i < size / sizeof(uint16_t); i++)
        slot->pixels.values[i] = le16toh(slot->pixels.values[i]);
    return 1;
}

/* The next raw frame of all inputs, whether it is to be skipped or not. */
static int next_raw(ast_depth_frames *frames, frame_slot *slot) {
    int found = 0;
    while (found == 0 && (frames->open || frames->position < frames->list.count)) {
        if (!frames->open) {
            const char *path = frames->list.items[frames->position].path;
            if (!ast_bytes_open_watched(&frames->bytes, path, frames->stop[0], &slot->error))
                return -1;
            frames->open = true;
            frames->number = 0;
        }
        found = read_raw(frames, slot);
        slot->item = &frames->list.items[frames->position];
        slot->number = frames->number++;
        if (found == 0) {
            ast_bytes_close(&frames->bytes);
            frames->open = false;
            frames->position++;
        }
    }
    return found;
}

static int decode_next(ast_depth_frames *frames, frame_slot *slot) {
    int found = 0;
    if (is_raw(frames)) {
        do {
            slot->index = frames->index;
            found = next_raw(frames, slot);
            frames->index += found > 0;
        } while (found > 0 && frames->skip > 0 && frames->skip-- > 0);
    } else if (frames->position < frames->list.count) {
        slot->index = frames->index++;
        found = decode_image(frames, slot) ? 1 : -1;
    }
    return found;
}

static void *decode_all(void *argument) {
    ast_depth_frames *frames = argument;
    frame_slot *slot = wait_for_room(frames);
    while (slot) {
        int result = slot->result = decode_next(frames, slot);
        hand_over(frames);
        slot = result > 0 ? wait_for_room(frames) : NULL;
    }
    return NULL;
}
