/* SPDX-License-Identifier: MIT
 *
 * The paper's streaming experiment: milliseconds a frame, and as numbers the consistency that the paper shows by eye.
 *
 * Consistency: every true direction has one id, every id one direction, chosen over the whole run so that as many
 * pixels as possible agree (greedily, largest overlap first); the share of pixels that do. Flicker: the share of pixels
 * whose id differs from that of the same pixel in the frame before, of those that have one in both; a walking camera
 * has some. */
#include <inttypes.h>
#include <math.h>
#include <plot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svg.h>

#include "experiments.h"

enum { DP, SDP, DDP, SPKM, METHODS };
static const char *const names[METHODS] = {"dp", "sdp", "ddp", "spkm K = 5"};
static const double paper[METHODS] = {28.4, 12.8, 20.4, 13.6};
static const ast_stream_method methods[] = {AST_STREAM_DP, AST_STREAM_SDP, AST_STREAM_DDP};

/* Pixels with a true direction and an id, counted; sorted by direction and id until the end. */
typedef struct overlap {
    int32_t truth, id;
    uint64_t count;
} overlap;

typedef struct score {
    ast_moments milliseconds, clusters;
    uint64_t both, changed;  /* pixels with an id here and in the frame before */
    uint64_t known, matched; /* pixels with a true direction and an id */
    overlap *overlaps;
    size_t overlap_count, room;
    int32_t *last; /* the ids of the frame before; NULL: there is none */
} score;

typedef struct job {
    const ast_experiment *plan;
    const ast_experiment_command *command;
    const char *source; /* of the current frame */
    ast_points normals;
    int32_t *truth; /* NULL: not known */
    int32_t *labels;
    uint64_t frames;
    ast_stream *streams[SPKM];
    score scores[METHODS];
    ast_shares *shares;
} job;

static int begin(job *work, const ast_experiment_frame *frame);
static int take_frame(job *work, const ast_experiment_frame *frame);
static void match(score *of);
static int deliver(job *work);
static void clear(job *work);

int ast_experiment_stream(const ast_experiment *plan) {
    const ast_experiment_command *command = plan->command;
    job work = {.plan = plan, .command = command};
    ast_experiment_frame frame;
    int code = -1, found = 1;
    while (code < 0 && found && !command->stopped()) {
        code = command->next(plan->data, &frame, &found);
        if (code < 0 && found && !work.labels)
            code = begin(&work, &frame);
        if (code < 0 && found)
            code = take_frame(&work, &frame);
    }
    for (int method = 0; method < METHODS; method++)
        match(&work.scores[method]);
    if (code < 0 && work.frames == 0)
        code = command->status(AST_CANCELLED, plan->context, NULL);
    if (code < 0)
        code = deliver(&work);
    clear(&work);
    return code;
}

static void clear(job *work) {
    for (int method = 0; method < SPKM; method++)
        ast_stream_close(work->streams[method]);
    for (int method = 0; method < METHODS; method++) {
        free(work->scores[method].last);
        free(work->scores[method].overlaps);
    }
    ast_shares_close(work->shares);
    free(work->labels);
}

/* The first frame shows the size of all. */
static int begin(job *work, const ast_experiment_frame *frame) {
    const ast_experiment *plan = work->plan;
    ast_set_cancel(plan->context, NULL, NULL); /* a frame that counts has taken part in every row */
    work->labels = malloc(frame->image.width * frame->image.height * sizeof *work->labels);
    work->shares = ast_shares_open();
    if (!work->labels || !work->shares)
        return work->command->fail(EXIT_FAILURE, "there is no memory for the frames");
    for (int method = 0; method < SPKM; method++) {
        ast_stream_options options;
        ast_stream_options_init(&options);
        options.dimension = 3;
        options.method = methods[method];
        options.angle = plan->angle;
        options.revive_near = 1;
        ast_status status = ast_stream_open(&work->streams[method], plan->context, &options);
        if (status != AST_OK)
            return work->command->status(status, plan->context, frame->source);
    }
    return ast_experiment_folder(plan);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int no_memory(const job *work) {
    return work->command->fail(EXIT_FAILURE, "%s: there is no memory to compare the labels", work->source);
}

/* The place of a pair in the list, made if need be; NULL without memory. A run has few directions and ids, and a pixel
 * has mostly those of its neighbour, so that the last place is the first guess. */
static overlap *place(score *of, int32_t truth, int32_t id, size_t *guess) {
    if (*guess < of->overlap_count && of->overlaps[*guess].truth == truth && of->overlaps[*guess].id == id)
        return &of->overlaps[*guess];
    for (size_t i = of->overlap_count; i-- > 0;) {
        if (of->overlaps[i].truth == truth && of->overlaps[i].id == id) {
            *guess = i;
            return &of->overlaps[i];
        }
    }
    if (of->overlap_count == of->room) {
        size_t room = 2 * of->room + 64;
        overlap *larger = realloc(of->overlaps, room * sizeof *larger);
        if (!larger)
            return NULL;
        of->overlaps = larger;
        of->room = room;
    }
    *guess = of->overlap_count++;
    of->overlaps[*guess] = (overlap){truth, id, 0};
    return &of->overlaps[*guess];
}

/* Compares the labels of the frame with the truth and with those of the frame before. */
static int compare(job *work, score *of) {
    size_t guess = 0, count = work->normals.count;
    const int32_t *labels = work->labels, *truth = work->truth;
    for (size_t i = 0; i < count && truth; i++) {
        if (truth[i] < 0 || labels[i] < 0)
            continue;
        overlap *pair = place(of, truth[i], labels[i], &guess);
        if (!pair)
            return no_memory(work);
        pair->count++;
        of->known++;
    }
    for (size_t i = 0; i < count && of->last; i++) {
        int both = labels[i] >= 0 && of->last[i] >= 0;
        of->both += (uint64_t)both;
        of->changed += (uint64_t)(both && labels[i] != of->last[i]);
    }
    if (!of->last && !(of->last = malloc(count * sizeof *of->last)))
        return no_memory(work);
    memcpy(of->last, labels, count * sizeof *labels);
    return -1;
}

/* The labels of the file that is called as the image's. */
static int read_truth(job *work) {
    ast_format_error error;
    size_t read;
    char *path;
    const char *slash = strrchr(work->source, '/'), *stem = slash ? slash + 1 : work->source;
    if (asprintf(&path, "%s/%.*s.npy", work->plan->truths, (int)strcspn(stem, "."), stem) < 0)
        return no_memory(work);
    int code = -1;
    if (!ast_read_labels(path, NULL, &work->truth, &read, &error))
        code = work->command->fail(EXIT_FAILURE, "%s", error.text);
    else if (read != work->normals.count)
        code = work->command->fail(EXIT_FAILURE, "%s has %zu labels, but %s has %zu pixels", path, read, work->source,
                                   work->normals.count);
    free(path);
    return code;
}

/* Spherical k-means on the normals of a frame that has enough of them. */
static int cluster_spkm(job *work, size_t missing) {
    ast_options options;
    ast_report report = {.size = sizeof report};
    if (work->normals.count - missing < 5)
        return -1;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = 5;
    int code = work->command->status(ast_cluster(work->plan->context, &work->normals, &options, work->labels, &report),
                                     work->plan->context, work->source);
    if (code >= 0)
        return code;
    ast_moments_add(&work->scores[SPKM].milliseconds, 1000 * report.seconds);
    ast_moments_add(&work->scores[SPKM].clusters, (double)report.clusters);
    return compare(work, &work->scores[SPKM]);
}

static int step(job *work, int method, size_t *missing) {
    ast_format_error error;
    size_t count;
    score *of = &work->scores[method];
    ast_frame frame = {.size = sizeof frame};
    ast_stream *stream = work->streams[method];
    int code = work->command->status(ast_stream_step(stream, &work->normals, work->labels, &frame), work->plan->context,
                                     work->source);
    if (code >= 0)
        return code;
    ast_moments_add(&of->milliseconds, 1000 * frame.seconds);
    ast_moments_add(&of->clusters, (double)frame.clusters);
    *missing = frame.missing;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    if (method == DDP && !ast_shares_add(work->shares, frame.frame, work->source, clusters, count, &error))
        return work->command->fail(EXIT_FAILURE, "%s", error.text);
    return compare(work, of);
}

static int take_frame(job *work, const ast_experiment_frame *frame) {
    const ast_experiment *plan = work->plan;
    size_t missing = 0;
    work->source = frame->source;
    int code = work->command->normals(plan->data, &work->normals);
    if (code < 0 && plan->poses)
        code = work->command->turn(plan->data);
    if (code < 0 && plan->truths)
        code = read_truth(work);
    for (int method = 0; method < SPKM && code < 0; method++)
        code = step(work, method, &missing);
    if (code < 0)
        code = cluster_spkm(work, missing);
    free(work->truth);
    work->truth = NULL;
    work->frames += code < 0;
    work->command->progress(plan->data, work->frames, plan->frames, "frames",
                            (double)work->frames / (double)plan->frames);
    return code;
}

/* ---- The match --------------------------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b) {
    const overlap *one = a, *other = b;
    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return one->truth != other->truth ? (one->truth > other->truth) - (one->truth < other->truth)
                                      : (one->id > other->id) - (one->id < other->id);
}

/* Takes the largest overlap whose direction and id are both free, and so on. Those taken move to the front. */
static void match(score *of) {
    size_t taken = 0;
    if (of->overlap_count)
        qsort(of->overlaps, of->overlap_count, sizeof *of->overlaps, by_count);
    for (size_t i = 0; i < of->overlap_count; i++) {
        int is_free = 1;
        for (size_t j = 0; j < taken && is_free; j++)
            is_free = of->overlaps[j].truth != of->overlaps[i].truth && of->overlaps[j].id != of->overlaps[i].id;
        if (!is_free)
            continue;
        overlap pair = of->overlaps[i];
        of->overlaps[i] = of->overlaps[taken];
        of->overlaps[taken++] = pair;
        of->matched += pair.count;
    }
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : NAN;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static bool write_csv(const void *data, ast_output *output, ast_format_error *error) {
    const job *work = data;
    bool good =
        ast_printf(output, error, "method,frames,milliseconds,milliseconds_sd,paper,clusters,flicker,consistency\n");
    for (int method = 0; method < METHODS && good; method++) {
        const score *of = &work->scores[method];
        good = ast_printf(output, error, "%s,%" PRIu64 ",%.6g,%.6g,%g,%.6g,%.6g,%.6g\n", names[method], work->frames,
                          of->milliseconds.mean, ast_moments_deviation(&of->milliseconds), paper[method],
                          of->clusters.mean, share(of->changed, of->both), share(of->matched, of->known));
    }
    return good;
}

static bool write_shares(const void *data, ast_output *output, ast_format_error *error) {
    return ast_shares_write_svg(((const job *)data)->shares, output, error);
}

static void print_share(uint64_t part, uint64_t whole) {
    if (whole)
        printf("  %10.2f%%", 100 * share(part, whole));
    else
        printf("  %11s", "-");
}

static void print_table(const void *data) {
    const job *work = data;
    printf("%" PRIu64 " frames of %s at %g degrees\n\n", work->frames, work->plan->input, work->plan->angle);
    printf("%-12s  %9s  %-18s  %8s  %11s  %11s\n", "", "paper, ms", "ms a frame", "clusters", "flicker", "consistency");
    for (int method = 0; method < METHODS; method++) {
        const score *of = &work->scores[method];
        if (of->milliseconds.count == 0) {
            printf("%-12s  %9.1f  %7s\n", names[method], paper[method], "-");
            continue;
        }
        printf("%-12s  %9.1f  %7.2f +- %-7.2f  %8.1f", names[method], paper[method], of->milliseconds.mean,
               ast_moments_deviation(&of->milliseconds), of->clusters.mean);
        print_share(of->changed, of->both);
        print_share(of->matched, of->known);
        printf("\n");
    }
    printf("\nflicker: pixels whose id is not that of the frame before; consistency: pixels that have the one id of\n"
           "their true direction over the whole run%s. The paper timed another machine, with a GPU.\n",
           work->plan->truths ? "" : " (no truth beside these images)");
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_string(json, "experiment", "stream");
    ast_json_real(json, "angle", work->plan->angle, 17);
    ast_json_open(json, "methods", '[');
    for (int method = 0; method < METHODS; method++) {
        const score *of = &work->scores[method];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "method", names[method]);
        ast_json_integer(json, "frames", (int64_t)work->frames);
        ast_json_real(json, "milliseconds", of->milliseconds.mean, 17);
        ast_json_real(json, "milliseconds_sd", ast_moments_deviation(&of->milliseconds), 17);
        ast_json_real(json, "paper", paper[method], 17);
        ast_json_real(json, "clusters", of->clusters.mean, 17);
        ast_json_real(json, "flicker", share(of->changed, of->both), 17);
        ast_json_real(json, "consistency", share(of->matched, of->known), 17);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static int deliver(job *work) {
    const ast_experiment *plan = work->plan;
    int code = ast_experiment_file(plan, "stream.csv", write_csv, work);
    if (code < 0)
        code = ast_experiment_file(plan, "shares.svg", write_shares, work);
    if (code < 0)
        code = work->command->print(plan->data, &(ast_experiment_printer){print_json, print_table}, work);
    if (code == EXIT_SUCCESS && work->command->stopped())
        code = work->command->fail(work->command->stopped(), "stopped after %" PRIu64 " of %zu frames; %s holds those",
                                   work->frames, plan->frames, plan->output);
    return code;
}
