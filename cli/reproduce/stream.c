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
#include <sys/stat.h>

#include "../cli.h"
#include "../tracking.h"
#include "../interrupt.h"
#include "../targets.h"
#include "../terminal.h"
#include "reproduce.h"

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
    int32_t *last; /* the ids of the frame before */
    size_t last_count;
    uint64_t frames;
} score;

typedef struct job {
    const ast_reproduce_settings *given;
    ast_cli_tracking_settings tracking_settings;
    ast_cli_tracking tracking;
    char *poses, *truths; /* a file and a folder of the input, or NULL */
    int method;
    score scores[METHODS];
    int32_t *labels; /* of spkm */
    size_t capacity;
    ast_shares *shares;
} job;

static int prepare(job *work);
static int run_method(job *work, int method);
static void match(score *of);
static int deliver(job *work, int stopped);

int ast_reproduce_stream(const ast_reproduce_settings *given) {
    job work = {.given = given, .tracking_settings = {.camera = given->camera}};
    int code = prepare(&work), stopped = 0;
    for (int method = DP; method <= DDP && code < 0; method++)
        code = run_method(&work, method);
    if (code > AST_CLI_SIGNAL && work.scores[DP].frames) {
        stopped = code;
        code = -1;
    }
    for (int method = 0; method < METHODS; method++)
        match(&work.scores[method]);
    if (code < 0 && work.scores[DP].frames == 0)
        code = ast_cli_fail(AST_CLI_FAILED, "%s holds no depth image", given->input);
    if (code < 0)
        code = deliver(&work, stopped);
    for (int method = 0; method < METHODS; method++) {
        free(work.scores[method].last);
        free(work.scores[method].overlaps);
    }
    ast_shares_close(work.shares);
    ast_cli_tracking_free(&work.tracking_settings);
    free(work.labels);
    free(work.poses);
    free(work.truths);
    return code;
}

/* The name of something in the input folder if it is there. */
static int find(const job *work, const char *name, char **path) {
    struct stat status;
    if (asprintf(path, "%s/%s", work->given->input, name) < 0) {
        *path = NULL;
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the name of %s", name);
    }
    if (stat(*path, &status) != 0) {
        free(*path);
        *path = NULL;
    }
    return -1;
}

static int prepare(job *work) {
    const ast_reproduce_settings *given = work->given;
    ast_cli_tracking_settings *settings = &work->tracking_settings;
    int code = find(work, "poses.txt", &work->poses);
    if (code < 0)
        code = find(work, "truth", &work->truths);
    settings->inputs = calloc(2, sizeof *settings->inputs);
    work->shares = ast_shares_open();
    if (code < 0 && (!settings->inputs || !work->shares))
        code = ast_cli_fail(AST_CLI_FAILED, "there is no memory for the frames");
    if (code >= 0)
        return code;
    settings->inputs[0] = given->input;
    ast_cli_defaults(ast_cli_tracker_group.options, &settings->tracker);
    ast_cli_defaults(ast_cli_passes_group.options, &settings->passes);
    ast_cli_camera_resolve(&settings->camera, &given->common, AST_SMOOTH_GUIDED);
    settings->poses = work->poses;
    settings->tracker.angle = isnan(given->angle) ? 75 : given->angle;
    code = ast_cli_tracking_check(settings, &given->common);
    if (code < 0 && !settings->list->depth)
        code = ast_cli_fail(AST_CLI_FAILED, "%s holds no depth images (16-bit .png or .pgm)", given->input);
    return code < 0 ? ast_cli_make_folder("output", given->output) : code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int no_memory(const job *work) {
    return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory to compare the labels",
                        work->tracking.inputs.frame.source);
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

static int compare(job *work, score *of, const int32_t *labels, size_t count, const int32_t *truth) {
    size_t guess = 0;
    for (size_t i = 0; i < count && truth; i++) {
        if (truth[i] < 0 || labels[i] < 0)
            continue;
        overlap *pair = place(of, truth[i], labels[i], &guess);
        if (!pair)
            return no_memory(work);
        pair->count++;
        of->known++;
    }
    for (size_t i = 0; i < count && of->last_count == count; i++) {
        int both = labels[i] >= 0 && of->last[i] >= 0;
        of->both += (uint64_t)both;
        of->changed += (uint64_t)(both && labels[i] != of->last[i]);
    }
    int32_t *last = realloc(of->last, (count + 1) * sizeof *last);
    if (!last)
        return no_memory(work);
    memcpy(last, labels, count * sizeof *last);
    of->last = last;
    of->last_count = count;
    of->frames++;
    return -1;
}

static int read_truth(const job *work, size_t count, int32_t **truth) {
    size_t length, read;
    char *path;
    const char *stem = ast_cli_stem(work->tracking.inputs.frame.path, &length);
    if (asprintf(&path, "%s/%.*s.npy", work->truths, (int)length, stem) < 0)
        return no_memory(work);
    int code = ast_cli_read_labels(path, truth, &read);
    if (code < 0 && read != count)
        code = ast_cli_fail(AST_CLI_FAILED, "%s has %zu labels, but %s has %zu pixels", path, read,
                            work->tracking.inputs.frame.source, count);
    free(path);
    return code;
}

/* Spherical k-means on the normals of the frame that the stream has just taken. */
static int cluster_spkm(job *work, const int32_t *truth) {
    const ast_cli_tracking *tracking = &work->tracking;
    size_t count = tracking->frame.points;
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(tracking->inputs.normals, count, 3);
    if (count - tracking->frame.missing < 5)
        return -1;
    if (count > work->capacity) {
        free(work->labels);
        work->labels = malloc(count * sizeof *work->labels);
        work->capacity = work->labels ? count : 0;
        if (!work->labels)
            return no_memory(work);
    }
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = 5;
    int code = ast_cli_status(ast_cluster(tracking->context, &points, &options, work->labels, &report),
                              tracking->context, tracking->inputs.frame.source);
    if (code >= 0)
        return code;
    ast_moments_add(&work->scores[SPKM].milliseconds, 1000 * report.seconds);
    ast_moments_add(&work->scores[SPKM].clusters, (double)report.clusters);
    return compare(work, &work->scores[SPKM], work->labels, count, truth);
}

static int take_frame(void *data) {
    job *work = data;
    ast_format_error error;
    const ast_cli_tracking *tracking = &work->tracking;
    score *of = &work->scores[work->method];
    int32_t *truth = NULL;
    int code = work->truths ? read_truth(work, tracking->frame.points, &truth) : -1;
    if (code < 0)
        code = compare(work, of, tracking->labels, tracking->frame.points, truth);
    ast_moments_add(&of->milliseconds, 1000 * tracking->frame.seconds);
    ast_moments_add(&of->clusters, (double)tracking->frame.clusters);
    if (code < 0 && work->method == DDP)
        code = cluster_spkm(work, truth);
    if (code < 0 && work->method == DDP &&
        !ast_shares_add(work->shares, tracking->frame.frame, tracking->inputs.frame.source, tracking->clusters,
                        tracking->count, &error))
        code = ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    free(truth);
    return code;
}

static int run_method(job *work, int method) {
    work->method = method;
    work->tracking = (ast_cli_tracking){0};
    work->tracking_settings.tracker.method = methods[method];
    int code = ast_cli_tracking_open(&work->tracking, &work->given->common, &work->tracking_settings);
    if (code < 0) {
        size_t frames = ast_frames_count(work->tracking.inputs.frames);
        work->tracking.more = frames == SIZE_MAX ? 0 : frames * (size_t)(DDP - method);
        code = ast_cli_tracking_run(&work->tracking, take_frame, work);
    }
    ast_cli_tracking_close(&work->tracking);
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

/* The mean, where there is one: Ctrl-C may have come before a method's turn. */
static double mean(const ast_moments *of) {
    return of->count ? of->mean : NAN;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static bool write_csv(const void *data, ast_output *output, ast_format_error *error) {
    const job *work = data;
    bool good =
        ast_printf(output, error, "method,frames,milliseconds,milliseconds_sd,paper,clusters,flicker,consistency\n");
    for (int method = 0; method < METHODS && good; method++) {
        const score *of = &work->scores[method];
        good = ast_printf(output, error, "%s,%" PRIu64 ",%.6g,%.6g,%g,%.6g,%.6g,%.6g\n", names[method], of->frames,
                          mean(&of->milliseconds), ast_moments_deviation(&of->milliseconds), paper[method],
                          mean(&of->clusters), share(of->changed, of->both), share(of->matched, of->known));
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
    printf("%" PRIu64 " frames of %s at %g degrees\n\n", work->scores[DP].frames, work->given->input,
           work->tracking_settings.tracker.angle);
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
           work->truths ? "" : " (no truth beside these images)");
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_string(json, "experiment", "stream");
    ast_json_real(json, "angle", work->tracking_settings.tracker.angle, 17);
    ast_json_open(json, "methods", '[');
    for (int method = 0; method < METHODS; method++) {
        const score *of = &work->scores[method];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "method", names[method]);
        ast_json_integer(json, "frames", (int64_t)of->frames);
        ast_json_real(json, "milliseconds", mean(&of->milliseconds), 17);
        ast_json_real(json, "milliseconds_sd", ast_moments_deviation(&of->milliseconds), 17);
        ast_json_real(json, "paper", paper[method], 17);
        ast_json_real(json, "clusters", mean(&of->clusters), 17);
        ast_json_real(json, "flicker", share(of->changed, of->both), 17);
        ast_json_real(json, "consistency", share(of->matched, of->known), 17);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static int deliver(job *work, int stopped) {
    const ast_reproduce_settings *given = work->given;
    int code = ast_reproduce_file(given, "stream.csv", write_csv, work);
    if (code < 0 && work->scores[DDP].frames)
        code = ast_reproduce_file(given, "shares.svg", write_shares, work);
    if (code < 0)
        code = ast_cli_print(&given->common, &(ast_cli_printer){print_json, print_table, work});
    return code == AST_CLI_DONE && stopped ? stopped : code;
}
