/* SPDX-License-Identifier: MIT
 *
 * The paper's streaming experiment: milliseconds per frame, and as numbers the consistency that the paper shows by eye.
 *
 * Every method is a row, at our angle and at the paper's, without camera poses, as in the paper, and with them where
 * the input has them. The rows that are the paper's own setting (100 degrees, no poses, its tracker) also use its
 * schedule, whose restarts are counted; labels do not depend on the schedule. All rows take the same normals.
 *
 * Consistency: every true direction has one id, every id one direction, chosen over the whole run so that as many
 * pixels as possible agree (greedily, largest overlap first); the share of pixels that do. Flicker: the share of pixels
 * whose id differs from that of the same pixel in the frame before, of those that have one in both; a walking camera
 * has some. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments.h"

#define PAPER_ANGLE 100.0
#define PAPER_BETA 1e5 /* and a lifetime of 400 frames, which is the default */

enum { SPKM_CLUSTERS = 5, MOST_ROWS = 16, MOST_PANELS = 4 };

/* DDP by our tracker and by the paper's. */
enum { DP, SDP, DDP, PAPER_DDP, SPKM };
static const char *const names[] = {"dp", "sdp", "ddp", "ddp", "spkm"};
static const char *const trackers[] = {"", "", "drift 1", "beta 1e5", "K = 5"};
static const double paper_milliseconds[] = {28.4, 12.8, NAN, 20.4, 13.6};

typedef struct row {
    int method;
    double angle;
    bool turned; /* normals are turned into the world by the poses */
    bool paper;  /* the paper's own setting */
    ast_stream *stream;
    ast_moments milliseconds, clusters, restarts;
    uint64_t both, changed;  /* pixels with an id here and in the frame before */
    uint64_t known, matched; /* pixels with a true direction and an id */
    ast_overlaps overlaps;   /* of directions and ids */
    int32_t *last;           /* the ids of the frame before; NULL: there is none */
    ast_shares *shares;
} row;

typedef struct job {
    const ast_experiment *plan;
    const ast_experiment_command *command;
    const char *source; /* of the current frame */
    ast_points normals;
    int32_t *truth; /* NULL: not known */
    int32_t *labels;
    uint64_t frames;
    row rows[MOST_ROWS];
    size_t row_count;
} job;

static void add_rows(job *work);
static int begin(job *work, const ast_input_frame *frame);
static int take_frame(job *work, const ast_input_frame *frame);
static void match(row *of);
static int deliver(job *work);
static void clear(job *work);

int ast_experiment_stream(const ast_experiment *plan) {
    const ast_experiment_command *command = plan->command;
    job work = {.plan = plan, .command = command};
    ast_input_frame frame;
    int code = -1, found = 1;
    add_rows(&work);
    while (code < 0 && found && !command->stopped()) {
        code = command->next(plan->data, &frame, &found);
        if (code < 0 && found && !work.labels)
            code = begin(&work, &frame);
        if (code < 0 && found)
            code = take_frame(&work, &frame);
    }
    for (size_t i = 0; i < work.row_count; i++)
        match(&work.rows[i]);
    if (code < 0 && work.frames == 0)
        code = command->status(AST_CANCELLED, plan->context, NULL);
    if (code < 0)
        code = deliver(&work);
    clear(&work);
    return code;
}

static void clear(job *work) {
    for (size_t i = 0; i < work->row_count; i++) {
        ast_stream_close(work->rows[i].stream);
        ast_shares_close(work->rows[i].shares);
        free(work->rows[i].last);
        free(work->rows[i].overlaps.list);
    }
    free(work->labels);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void add_row(job *work, int method, double angle, bool turned) {
    bool paper = angle == PAPER_ANGLE && !turned && method != DDP;
    work->rows[work->row_count++] = (row){.method = method, .angle = angle, .turned = turned, .paper = paper};
}

/* Those without poses come first: normals are turned in place. */
static void add_rows(job *work) {
    const double angles[] = {work->plan->angle, PAPER_ANGLE};
    size_t angle_count = work->plan->angle == PAPER_ANGLE ? 1 : 2;
    add_row(work, SPKM, NAN, false);
    for (int turned = 0; turned < (work->plan->poses ? 2 : 1); turned++) {
        for (size_t a = 0; a < angle_count; a++) {
            if (!turned)
                add_row(work, DP, angles[a], false);
            add_row(work, SDP, angles[a], turned);
            add_row(work, PAPER_DDP, angles[a], turned);
            add_row(work, DDP, angles[a], turned);
        }
    }
}

/* Figure 5: sdp and ddp, as the paper had them and at their best here. */
static bool has_panel(const job *work, const row *of) {
    bool best = of->angle == work->plan->angle && of->turned == work->plan->poses;
    return (of->paper && (of->method == SDP || of->method == PAPER_DDP)) ||
           (best && (of->method == SDP || of->method == DDP));
}

static ast_status open_row(const job *work, row *of) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = 3;
    options.method = of->method == DP ? AST_STREAM_DP : of->method == SDP ? AST_STREAM_SDP : AST_STREAM_DDP;
    options.angle = of->angle;
    options.revive_near = of->method != PAPER_DDP;
    if (of->method == PAPER_DDP)
        options.beta = PAPER_BETA;
    options.parallel = of->paper ? AST_OIR : AST_ORDERED;
    return ast_stream_open(&of->stream, work->plan->context, &options);
}

/* The first frame shows the size of all. */
static int begin(job *work, const ast_input_frame *frame) {
    const ast_experiment *plan = work->plan;
    ast_set_cancel(plan->context, NULL, NULL); /* a frame that counts has taken part in every row */
    work->labels = malloc(frame->image.width * frame->image.height * sizeof *work->labels);
    if (!work->labels)
        return work->command->fail(EXIT_FAILURE, "there is no memory for the frames");
    for (size_t i = 0; i < work->row_count; i++) {
        row *of = &work->rows[i];
        if (has_panel(work, of) && !(of->shares = ast_shares_open()))
            return work->command->fail(EXIT_FAILURE, "there is no memory for the shares of the clusters");
        ast_status status = of->method == SPKM ? AST_OK : open_row(work, of);
        if (status != AST_OK)
            return work->command->status(status, plan->context, frame->source);
    }
    return ast_experiment_folder(plan);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int no_memory(const job *work) {
    return work->command->fail(EXIT_FAILURE, "%s: there is no memory to compare the labels", work->source);
}

/* Compares the labels of the frame with the truth and with those of the frame before. */
static int compare(job *work, row *of) {
    size_t count = work->normals.count;
    const int32_t *labels = work->labels, *truth = work->truth;
    for (size_t i = 0; i < count && truth; i++) {
        if (truth[i] < 0 || labels[i] < 0)
            continue;
        if (!ast_overlaps_add(&of->overlaps, truth[i], labels[i]))
            return no_memory(work);
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
static int cluster_spkm(job *work, row *of) {
    const ast_points *normals = &work->normals;
    size_t usable = 0;
    ast_options options;
    ast_report report = {.size = sizeof report};
    for (size_t i = 0; i < normals->count && usable < SPKM_CLUSTERS; i++)
        usable += !isnan(((const float *)normals->data)[3 * i]);
    if (usable < SPKM_CLUSTERS)
        return -1;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.clusters = SPKM_CLUSTERS;
    ast_status status = ast_cluster(work->plan->context, normals, &options, work->labels, &report);
    if (status != AST_OK)
        return work->command->status(status, work->plan->context, work->source);
    ast_moments_add(&of->milliseconds, 1000 * report.seconds);
    ast_moments_add(&of->clusters, (double)report.clusters);
    return compare(work, of);
}

static int step(job *work, row *of) {
    ast_format_error error;
    size_t count;
    ast_frame frame = {.size = sizeof frame};
    ast_status status = ast_stream_step(of->stream, &work->normals, work->labels, &frame);
    if (status != AST_OK)
        return work->command->status(status, work->plan->context, work->source);
    ast_moments_add(&of->milliseconds, 1000 * frame.seconds);
    ast_moments_add(&of->clusters, (double)frame.clusters);
    ast_moments_add(&of->restarts, (double)frame.oir_restarts);
    const ast_tracked *clusters = ast_stream_clusters(of->stream, &count);
    if (of->shares && !ast_shares_add(of->shares, frame.frame, work->source, clusters, count, &error))
        return work->command->fail(EXIT_FAILURE, "%s", error.text);
    return compare(work, of);
}

static int take_frame(job *work, const ast_input_frame *frame) {
    const ast_experiment *plan = work->plan;
    bool turned = false;
    work->source = frame->source;
    int code = work->command->normals(plan->data, &work->normals);
    if (code < 0 && plan->truths)
        code = read_truth(work);
    for (size_t i = 0; i < work->row_count && code < 0; i++) {
        row *of = &work->rows[i];
        if (of->turned && !turned)
            code = work->command->turn(plan->data);
        turned = of->turned;
        if (code < 0)
            code = of->method == SPKM ? cluster_spkm(work, of) : step(work, of);
    }
    free(work->truth);
    work->truth = NULL;
    work->frames += code < 0;
    work->command->progress(plan->data, work->frames, plan->frames, "frames",
                            (double)work->frames / (double)plan->frames);
    return code;
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

/* Every direction gets one id. */
static void match(row *of) {
    size_t taken = ast_overlaps_match(&of->overlaps);
    for (size_t i = 0; i < taken; i++)
        of->matched += of->overlaps.list[i].count;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : NAN;
}

static double paper_of(const row *of) {
    return of->paper || of->method == SPKM ? paper_milliseconds[of->method] : NAN;
}

static void write_csv(const void *data, ast_text *text) {
    const job *work = data;
    ast_text_put(text, "method,tracker,angle,poses,schedule,frames,milliseconds,milliseconds_sd,paper,restarts,"
                       "clusters,flicker,consistency\n");
    for (const row *of = work->rows; of < work->rows + work->row_count; of++)
        ast_text_printf(text, "%s,%s,%g,%s,%s,%" PRIu64 ",%.6g,%.6g,%g,%.6g,%.6g,%.6g,%.6g\n", names[of->method],
                        trackers[of->method], of->angle, of->turned ? "yes" : "no", of->paper ? "oir" : "ordered",
                        work->frames, of->milliseconds.mean, ast_moments_deviation(&of->milliseconds), paper_of(of),
                        of->paper ? of->restarts.mean : NAN, of->clusters.mean, share(of->changed, of->both),
                        share(of->matched, of->known));
}

static void write_shares(const void *data, ast_text *text) {
    const job *work = data;
    ast_shares_panel panels[MOST_PANELS];
    char titles[MOST_PANELS][80];
    size_t count = 0;
    for (int paper = 1; paper >= 0; paper--) {
        for (size_t i = 0; i < work->row_count; i++) {
            const row *of = &work->rows[i];
            if (!of->shares || of->paper != paper)
                continue;
            snprintf(titles[count], sizeof titles[count], "%s%s at %g degrees, %s poses: share of each cluster",
                     of->method == PAPER_DDP ? "the paper's " : "", names[of->method], of->angle,
                     of->turned ? "with" : "without");
            panels[count] = (ast_shares_panel){titles[count], of->shares};
            count++;
        }
    }
    ast_shares_draw(panels, count, text);
}

/* A number in a column of ten, or a dash. */
static void print_number(double value, int digits, const char *unit) {
    if (isnan(value))
        printf("  %10s", "-");
    else
        printf("  %*.*f%s", 10 - (int)strlen(unit), digits, value, unit);
}

static void print_row(const row *of) {
    char angle[16] = "-";
    if (!isnan(of->angle))
        snprintf(angle, sizeof angle, "%g", of->angle);
    printf("%-5s %-8s  %5s  %5s", names[of->method], trackers[of->method], angle, of->turned ? "yes" : "no");
    print_number(paper_of(of), 1, "");
    print_number(of->milliseconds.mean, 2, "");
    print_number(of->paper ? of->restarts.mean : NAN, 1, "");
    print_number(of->clusters.mean, 1, "");
    print_number(100 * share(of->changed, of->both), 2, "%");
    print_number(100 * share(of->matched, of->known), 2, "%");
    printf("\n");
}

static void print_table(const void *data) {
    const job *work = data;
    printf("%" PRIu64 " frames of %s\n\n%-14s  %5s  %5s  %10s  %10s  %10s  %10s  %10s  %10s\n", work->frames,
           work->plan->input, "", "angle", "poses", "paper, ms", "ms", "restarts", "clusters", "flicker", "consistent");
    for (size_t i = 0; i < work->row_count; i++)
        print_row(&work->rows[i]);
    printf(
        "\nposes: whether normals are turned into the world by the camera's %spose%s.\n"
        "beta 1e5: the paper's tracker, lifetime 400, a point may revive any cluster; drift 1: ours.\n"
        "paper, ms: on another machine, with a GPU, on other frames. The rows beside its three methods are its own\n"
        "setting (%g degrees, no poses) and its own schedule: restarts per frame.\n"
        "flicker: pixels whose id is not that of the frame before. consistent: pixels that have the one id of their\n"
        "true direction over the whole run%s.\n",
        work->plan->poses ? "true " : "", work->plan->poses ? "" : " (this input has none)", PAPER_ANGLE,
        work->plan->truths ? "" : " (no truth beside these images)");
}

static void put_row(ast_text *json, const job *work, const row *of) {
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "method", names[of->method]);
    ast_json_string(json, "tracker", trackers[of->method]);
    ast_json_real(json, "angle", of->angle, 17);
    ast_json_boolean(json, "poses", of->turned);
    ast_json_string(json, "schedule", of->paper ? "oir" : "ordered");
    ast_json_integer(json, "frames", (int64_t)work->frames);
    ast_json_real(json, "milliseconds", of->milliseconds.mean, 17);
    ast_json_real(json, "milliseconds_sd", ast_moments_deviation(&of->milliseconds), 17);
    ast_json_real(json, "paper", paper_of(of), 17);
    ast_json_real(json, "restarts", of->paper ? of->restarts.mean : NAN, 17);
    ast_json_real(json, "clusters", of->clusters.mean, 17);
    ast_json_real(json, "flicker", share(of->changed, of->both), 17);
    ast_json_real(json, "consistency", share(of->matched, of->known), 17);
    ast_json_close(json, '}');
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_string(json, "experiment", "stream");
    ast_json_real(json, "angle", work->plan->angle, 17);
    ast_json_open(json, "methods", '[');
    for (size_t i = 0; i < work->row_count; i++)
        put_row(json, work, &work->rows[i]);
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
