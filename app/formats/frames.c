/* SPDX-License-Identifier: MIT
 *
 * Threads that read, and the queue between them and the caller. The one idea: a ring of a few frames whose memory is
 * used again and again. One is the caller's until it asks for the next, the others are being filled or wait. A thread
 * claims the next place in the ring and fills it, and a frame is handed over once all before it are. Image files are
 * decoded by several threads; a caller that finds nothing ready is one more of them, so that all processors have work,
 * and no two threads compete for one of them. Anything else is read by one thread. Tables have a ring of one: what is
 * not copied is a view of the file, which the next one takes away. A failure takes its place in the ring like a frame,
 * so that it is met after the whole frames before it.
 *
 * The caller owns `taken`, a thread owns the frame that it fills, and the reader if there is one thread; what several
 * look at is guarded by the mutex. */
#include "frames.h"

#include "platform.h"
#include "frame_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DECODERS 4 /* threads for images, at most */

/* One image that the caller looks at, one in the hands of each decoder, and two that wait: enough to even out frames
 * that take longer, and little memory. */
#define OTHERS 3
#define SLOTS (DECODERS + OTHERS)

#define WAIT_SECONDS 0.1 /* between two questions whether to go on */

typedef struct frame_slot {
    ast_read_frame frame;
    int result;  /* what ast_frames_next is to return */
    bool filled; /* since it was claimed */
    ast_format_error error;
} frame_slot;

struct ast_frames {
    ast_frame_reader reader; /* the caller's before the threads start, then theirs */
    int (*interrupted)(void);
    uint64_t ring; /* slots that are used */
    bool parallel; /* several threads may read */
    /* Between all */
    pthread_t threads[DECODERS];
    int started; /* threads */
    int stop[2]; /* a pipe: closing [1] ends whatever a thread waits for */
    pthread_mutex_t mutex;
    pthread_cond_t room, ready;
    bool stopped, ended;              /* by the caller; the last frame was claimed */
    uint64_t claimed, made, released; /* slots that are being filled or are, filled up to here, given back */
    frame_slot slots[SLOTS];
    /* The caller's */
    uint64_t taken;    /* slots looked at */
    ast_buffer buffer; /* the bytes of an image that it decodes itself */
    bool over;
    char *source; /* the name of a numbered frame */
};

static bool start(ast_frames *frames, ast_format_error *error);
static void *read_all(void *argument);
static bool help(ast_frames *frames);
static frame_slot *wait_for_frame(ast_frames *frames);
static bool describe(ast_frames *frames, const ast_read_frame *read, ast_input_frame *frame, ast_format_error *error);

/* Whether a failure is about one file of many. */
static bool goes_on(const ast_frames *frames) {
    return frames->reader.options.go_on && frames->parallel;
}

/* One for every two processors: the caller has work for the others, and helps where it has none. */
static int decoders(const ast_frames *frames) {
    int half = frames->parallel ? ast_usable_processors() / 2 : 1;
    return half < 1 ? 1 : half > DECODERS ? DECODERS : half;
}

static void make_locks(ast_frames *frames) {
    pthread_mutex_init(&frames->mutex, NULL);
    pthread_cond_init(&frames->room, NULL);
    ast_condition_open(&frames->ready);
}

ast_frames *ast_frames_open(ast_frame_list *list, const ast_frames_options *options, ast_format_error *error) {
    ast_frames *frames = calloc(1, sizeof *frames);
    if (!frames) {
        ast_format_fail(error, "there is not enough memory for a sequence of frames");
        return NULL;
    }
    frames->reader.list = list;
    frames->reader.stop = AST_NO_STOP;
    if (options)
        frames->reader.options = *options;
    frames->parallel = ast_frame_reader_parallel(&frames->reader);
    frames->ring = list->depth ? (uint64_t)(decoders(frames) + OTHERS) : 1;
    frames->interrupted = frames->reader.options.interrupted;
    make_locks(frames);
    const ast_frames_options *how = &frames->reader.options;
    if ((how->raw_width == 0 && how->raw_height == 0) ||
        ast_image_check_size("raw frames", how->raw_width, how->raw_height, error))
        return frames;
    ast_frames_close(frames);
    return NULL;
}

size_t ast_frames_count(const ast_frames *frames) {
    return frames->parallel || frames->reader.list->scenes ? frames->reader.list->count : SIZE_MAX;
}

bool ast_frames_numbered(const ast_frames *frames) {
    return frames->reader.list->depth && !frames->parallel;
}

bool ast_frames_skip_files(ast_frames *frames, size_t count, bool counted, ast_format_error *error) {
    return ast_frame_reader_skip_files(&frames->reader, count, counted, error);
}

bool ast_frames_skip(ast_frames *frames, uint64_t count, ast_format_error *error) {
    return ast_frame_reader_skip(&frames->reader, count, error);
}

int ast_frames_next(ast_frames *frames, ast_input_frame *frame, ast_format_error *error) {
    if (frames->over)
        return 0;
    frames->over = true; /* unless it goes well */
    if (frames->started == 0 && !start(frames, error))
        return -1;
    const frame_slot *slot = wait_for_frame(frames);
    int result = slot ? slot->result : 0;
    if (result < 0)
        *error = slot->error;
    if (result > 0 && !describe(frames, &slot->frame, frame, error))
        result = -1;
    frames->over = result == 0 || (result < 0 && !goes_on(frames));
    return result;
}

void ast_frames_close(ast_frames *frames) {
    if (!frames)
        return;
    if (frames->started > 0) {
        pthread_mutex_lock(&frames->mutex);
        frames->stopped = true;
        pthread_cond_broadcast(&frames->room);
        pthread_mutex_unlock(&frames->mutex);
        close(frames->stop[1]);
        for (int t = 0; t < frames->started; t++)
            pthread_join(frames->threads[t], NULL);
        close(frames->stop[0]);
    }
    for (size_t i = 0; i < SLOTS; i++)
        ast_pixels_free(&frames->slots[i].frame.pixels);
    pthread_cond_destroy(&frames->ready);
    pthread_cond_destroy(&frames->room);
    pthread_mutex_destroy(&frames->mutex);
    ast_frame_reader_close(&frames->reader);
    free(frames->source);
    free(frames->buffer.place);
    free(frames);
}

/* ---- The caller's side ------------------------------------------------------------------------------------------- */

/* Signals are for the caller's threads: a handler that ran here would interrupt nothing. */
static bool start(ast_frames *frames, ast_format_error *error) {
    if (ast_open_pipe(frames->stop) != 0)
        return ast_format_fail(error, "cannot open a pipe for the thread that reads frames: %s", strerror(errno));
    frames->reader.stop = frames->stop[0];
    int problem = 0, wanted = decoders(frames), running = 0;
    while (running < wanted && problem == 0) {
        problem = ast_start_thread(&frames->threads[running], read_all, frames);
        running += problem == 0;
    }
    frames->started = running; /* one is enough */
    if (running > 0)
        return true;
    close(frames->stop[0]);
    close(frames->stop[1]);
    return ast_format_no_thread(error, "reads frames", problem);
}

static void wait_a_little(ast_frames *frames) {
    ast_moment until;
    ast_moment_after(&until, WAIT_SECONDS);
    (void)ast_condition_wait(&frames->ready, &frames->mutex, &until);
}

/* The next slot that is filled, or NULL if interrupted. The one before it is given back. */
static frame_slot *wait_for_frame(ast_frames *frames) {
    int (*interrupted)(void) = frames->interrupted;
    bool go_on = true;
    pthread_mutex_lock(&frames->mutex);
    frames->released = frames->taken;
    pthread_cond_broadcast(&frames->room);
    while (frames->made == frames->taken && go_on) {
        if (help(frames))
            continue;
        if (interrupted)
            wait_a_little(frames);
        else
            pthread_cond_wait(&frames->ready, &frames->mutex);
        go_on = !interrupted || !interrupted();
    }
    frame_slot *slot = frames->made > frames->taken && go_on ? &frames->slots[frames->taken++ % frames->ring] : NULL;
    pthread_mutex_unlock(&frames->mutex);
    return slot;
}

static bool describe(ast_frames *frames, const ast_read_frame *read, ast_input_frame *frame, ast_format_error *error) {
    const char *path = read->file->path;
    *frame = (ast_input_frame){.points = read->points,
                               .image = ast_depth_view(&read->pixels),
                               .units = read->pixels.units,
                               .source = path,
                               .path = path,
                               .number = read->number,
                               .index = read->index};
    if (read->number == AST_WHOLE)
        return true;
    free(frames->source);
    if (asprintf(&frames->source, "%s#%" PRIu64, path, read->number) < 0) {
        frames->source = NULL;
        return ast_format_no_memory(error, path);
    }
    frame->source = frames->source;
    return true;
}

/* ---- The threads ------------------------------------------------------------------------------------------------- */

/* The functions up to the thread itself are called, and return, with the mutex locked. */

static bool has_room(const ast_frames *frames) {
    return frames->claimed - frames->released < frames->ring;
}

/* The next slot to fill; NULL: there is nothing more to do. */
static frame_slot *claim(ast_frames *frames) {
    if (frames->stopped || frames->ended)
        return NULL;
    frame_slot *slot = &frames->slots[frames->claimed++ % frames->ring];
    slot->filled = false;
    if (frames->parallel) {
        slot->result = ast_frame_reader_take(&frames->reader, &slot->frame);
        frames->ended = slot->result == 0;
    }
    return slot;
}

static void fill(ast_frames *frames, frame_slot *slot, ast_buffer *buffer) {
    pthread_mutex_unlock(&frames->mutex);
    if (!frames->parallel)
        slot->result = ast_frame_reader_next(&frames->reader, &slot->frame, &slot->error);
    else if (slot->result > 0 && !ast_frame_reader_image(&frames->reader, buffer, &slot->frame, &slot->error))
        slot->result = -1;
    pthread_mutex_lock(&frames->mutex);
}

static void hand_over(ast_frames *frames, frame_slot *slot) {
    slot->filled = true;
    if (slot->result == 0 || (slot->result < 0 && !goes_on(frames))) {
        frames->ended = true;
        pthread_cond_broadcast(&frames->room);
    }
    while (frames->made < frames->claimed && frames->slots[frames->made % frames->ring].filled)
        frames->made++;
    pthread_cond_signal(&frames->ready);
}

static bool is_regular(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The caller decodes an image itself. Not one from a pipe: there it could not be interrupted. Not a single one: there
 * is nothing to gain. */
static bool help(ast_frames *frames) {
    const ast_frame_reader *reader = &frames->reader;
    if (!frames->parallel || reader->list->count == 1 || !has_room(frames) || frames->ended ||
        reader->position == reader->list->count || !is_regular(reader->list->files[reader->position].path))
        return false;
    frame_slot *slot = claim(frames);
    fill(frames, slot, &frames->buffer);
    hand_over(frames, slot);
    return true;
}

static void *read_all(void *argument) {
    ast_frames *frames = argument;
    ast_buffer buffer = {0};
    frame_slot *slot;
    pthread_mutex_lock(&frames->mutex);
    do {
        while (!has_room(frames) && !frames->stopped && !frames->ended)
            pthread_cond_wait(&frames->room, &frames->mutex);
        slot = claim(frames);
        if (slot) {
            fill(frames, slot, &buffer);
            hand_over(frames, slot);
        }
    } while (slot);
    pthread_mutex_unlock(&frames->mutex);
    free(buffer.place);
    return NULL;
}
