/* SPDX-License-Identifier: MIT
 *
 * The paper's experiment on the NYU v2 data set: each scene's depth becomes normals, which DP-vMF-means clusters at
 * each angle and spherical k-means at each K; the silhouette says how well.
 *
 * A scene counts when all its clusterings are done. Finished ones go to scenes.csv now and then and at the end, however
 * that comes, and a run that finds them there goes on from them.
 *
 * As in the paper, depths are those with their holes and normals are smoothed by total variation; unlike it, spkm
 * starts from k-means++, since the paper does not say how it starts. */
#include <asterism_depth.h>
#include <fnv.h>
#include <math.h>
#include <nyu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "../files.h"
#include "../targets.h"
#include "../interrupt.h"
#include "../progress.h"
#include "../terminal.h"
#include "frame_list.h"
#include "nyu_report.h"

enum {
    NYU_WIDTH = 640,
    NYU_HEIGHT = 480,
    UNITS = 5000,      /* of depth in a metre: finer than the camera, up to 13.1 m */
    QUICK_SCENES = 20, /* at most, spread over the file */
    SAVE_SECONDS = 10
};

/* Degrees for dp, K for spkm; 0 ends. */
static const double angles[] = {50, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 130, 140, 0};
static const double counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0};
static const double quick_angles[] = {60, 80, 100, 120, 0};
static const double quick_counts[] = {2, 4, 6, 0};

typedef struct job {
    const ast_reproduce_settings *given;
    ast_nyu *file;
    ast_context *context;
    ast_depth_options options;
    ast_depth *maker;
    ast_nyu_setting settings[AST_NYU_SETTINGS];
    size_t setting_count, most_clusters;
    bool *wanted; /* (scenes of the file) */
    float *metres, *normals;
    uint16_t *depth;
    int32_t *labels;
    ast_nyu_scenes scenes;
    ast_nyu_summary summary;
    ast_cli_progress progress;
    size_t fresh, expected; /* clusterings done in this run, and in all */
    double saved;
} job;

static int prepare(job *work);
static int one_scene(job *work, size_t scene);
static int save(job *work);
static int finish(job *work, int code);

int ast_reproduce_nyu(const ast_reproduce_settings *given) {
    job work = {.given = given};
    double started = ast_cli_now();
    int code = prepare(&work);
    work.saved = ast_cli_now();
    for (size_t scene = 0; code < 0 && scene < work.file->count && !ast_cli_interrupted(); scene++)
        if (work.wanted[scene])
            code = one_scene(&work, scene);
    ast_cli_progress_end(&work.progress);
    work.summary.seconds = ast_cli_now() - started;
    code = finish(&work, code);
    ast_depth_close(work.maker);
    ast_close(work.context);
    ast_nyu_close(work.file);
    ast_nyu_scenes_free(&work.scenes);
    free(work.wanted);
    free(work.metres);
    free(work.normals);
    free(work.depth);
    free(work.labels);
    return code;
}

/* ---- Before the first scene -------------------------------------------------------------------------------------- */

static void add_settings(job *work, bool dp, const double *values) {
    for (; *values > 0; values++) {
        work->settings[work->setting_count++] = (ast_nyu_setting){.dp = dp, .value = *values};
        if (!dp && *values > (double)work->most_clusters)
            work->most_clusters = (size_t)*values;
    }
}

static int open_camera(job *work) {
    const ast_reproduce_settings *given = work->given;
    ast_cli_camera camera = given->camera;
    if (camera.frame)
        return ast_cli_fail(AST_CLI_USAGE, "--frame is one scene; reproduce nyu takes --frames, such as --frames 0-99");
    if (!isnan(camera.scale) || camera.raw[0])
        return ast_cli_fail(AST_CLI_USAGE, "--%s is not for reproduce nyu: a .mat file has its size and metres",
                            camera.raw[0] ? "raw" : "depth-scale");
    if (isnan(camera.intrinsics[0]) && !camera.name)
        camera.name = "nyu";
    if (camera.smooth < 0)
        camera.smooth = given->quick ? AST_SMOOTH_GUIDED : AST_SMOOTH_TV;
    int code = ast_cli_camera_set(&camera, given->mat, &work->options);
    work->options.units_per_metre = UNITS;
    work->summary.smoothing = (const char *const[]){"guided", "tv", "none"}[work->options.smooth];
    return code;
}

static int open_file(job *work) {
    const ast_cli_camera *camera = &work->given->camera;
    ast_format_error error;
    work->file = ast_nyu_open(work->given->mat, &error);
    if (!work->file)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    const ast_nyu *file = work->file;
    if (isnan(camera->intrinsics[0]) && (file->width != NYU_WIDTH || file->height != NYU_HEIGHT))
        return ast_cli_fail(
            AST_CLI_FAILED, "%s: its scenes are %zu x %zu pixels, but the camera %s took %d x %d; give --intrinsics",
            work->given->mat, file->width, file->height, camera->name ? camera->name : "nyu", NYU_WIDTH, NYU_HEIGHT);
    return -1;
}

static int choose_scenes(job *work) {
    size_t count = work->file->count, beyond;
    work->wanted = calloc(count, sizeof *work->wanted);
    if (!work->wanted)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for its scenes", work->given->mat);
    if (work->given->frames) {
        if (ast_frame_list_mark(work->given->frames, count, work->wanted, &beyond) != AST_FRAMES_FINE)
            return ast_cli_fail(AST_CLI_FAILED, "--frames: there is no scene %zu in %s, which has %zu, from 0", beyond,
                                work->given->mat, count);
    } else {
        size_t some = work->given->quick && count > QUICK_SCENES ? QUICK_SCENES : count;
        for (size_t i = 0; i < some; i++)
            work->wanted[i * count / some] = true;
    }
    for (size_t i = 0; i < count; i++)
        work->summary.planned += work->wanted[i];
    return -1;
}

/* Everything that the numbers depend on, but for the depths of the scene. */
static uint64_t key_of(const job *work) {
    const ast_depth_options *o = &work->options;
    const double numbers[] = {(double)work->given->common.seed,
                              o->camera.fx,
                              o->camera.fy,
                              o->camera.cx,
                              o->camera.cy,
                              o->units_per_metre,
                              o->nearest,
                              o->farthest,
                              o->smooth,
                              o->filter_radius,
                              o->filter_epsilon,
                              o->window,
                              o->jump,
                              o->tv_weight,
                              o->tv_iterations,
                              (double)work->file->width,
                              (double)work->file->height,
                              work->file->has_raw};
    uint64_t hash = ast_fnv(AST_FNV_START, ast_version(), strlen(ast_version()));
    hash = ast_fnv(hash, numbers, sizeof numbers);
    for (size_t i = 0; i < work->setting_count; i++)
        hash = ast_fnv(hash, &work->settings[i].value, sizeof work->settings[i].value);
    return hash;
}

/* The scenes that an earlier run has left. */
static int resume(job *work) {
    ast_format_error error;
    char *path;
    work->scenes.key = key_of(work);
    work->scenes.settings = work->summary.settings = work->settings;
    work->scenes.setting_count = work->summary.setting_count = work->setting_count;
    if (asprintf(&path, "%s/scenes.csv", work->given->output) < 0)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the name of scenes.csv");
    bool good = ast_nyu_scenes_read(&work->scenes, path, &error);
    free(path);
    for (size_t i = 0; i < work->file->count && good; i++)
        if (work->wanted[i] && !ast_nyu_scenes_find(&work->scenes, i))
            work->expected += work->setting_count;
    return good ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
}

static int allocate(job *work) {
    size_t pixels = work->file->width * work->file->height;
    work->metres = malloc(pixels * sizeof *work->metres);
    work->depth = malloc(pixels * sizeof *work->depth);
    work->normals = malloc(pixels * 3 * sizeof *work->normals);
    work->labels = malloc(pixels * sizeof *work->labels);
    if (!work->metres || !work->depth || !work->normals || !work->labels)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for a scene", work->given->mat);
    int code = ast_cli_open_context(&work->given->common, &work->context);
    if (code >= 0)
        return code;
    ast_depth_open(&work->maker, work->context, &work->options);
    return work->maker ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", ast_message(work->context));
}

static int prepare(job *work) {
    const ast_reproduce_settings *given = work->given;
    work->summary.given = given;
    add_settings(work, true, given->quick ? quick_angles : angles);
    add_settings(work, false, given->quick ? quick_counts : counts);
    int code = open_camera(work);
    if (code < 0)
        code = open_file(work);
    if (code < 0)
        code = choose_scenes(work);
    if (code < 0)
        code = allocate(work);
    if (code < 0)
        code = ast_cli_make_folder("output", given->output);
    if (code < 0)
        code = resume(work);
    if (code >= 0)
        return code;
    work->summary.width = work->file->width;
    work->summary.height = work->file->height;
    work->summary.raw = work->file->has_raw;
    ast_cli_watch_signals();
    ast_cli_progress_start(&work->progress, &given->common, work->file->width * work->file->height);
    return -1;
}

/* ---- A scene ----------------------------------------------------------------------------------------------------- */

static int interrupted(const ast_progress *state, void *data) {
    (void)state;
    (void)data;
    return ast_cli_interrupted();
}

static ast_status measure(job *work, const ast_nyu_setting *setting, double *clusters, double *silhouette) {
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(work->normals, work->file->width * work->file->height, 3);
    ast_options_init(&options);
    options.method = setting->dp ? AST_DP : AST_SPKM;
    options.seed = work->given->common.seed;
    options.progress = interrupted;
    if (setting->dp)
        options.angle = setting->value;
    else
        options.clusters = (size_t)setting->value;
    ast_status status = ast_cluster(work->context, &points, &options, work->labels, &report);
    if (status != AST_OK)
        return status;
    *clusters = (double)report.clusters;
    *silhouette = 0; /* of one cluster: as of points that are alone */
    if (report.clusters > 1)
        status = ast_silhouette(work->context, &points, work->labels, AST_COSINE, 1, silhouette, NULL);
    return status;
}

static ast_status cluster_scene(job *work, ast_nyu_scene *row) {
    ast_status status = AST_OK;
    for (size_t i = 0; i < work->setting_count && status == AST_OK; i++) {
        row->clusters[i] = row->silhouette[i] = NAN;
        if (row->normals >= work->most_clusters)
            status = measure(work, &work->settings[i], &row->clusters[i], &row->silhouette[i]);
        ast_cli_progress_left(&work->progress, ++work->fresh, work->expected, "clusterings");
    }
    return status;
}

/* Millimetres and less; what is farther than a number can say is a hole. */
static void scale_depth(job *work) {
    for (size_t i = 0; i < work->file->width * work->file->height; i++) {
        double units = (double)work->metres[i] * UNITS + 0.5;
        work->depth[i] = units >= 1 && units < 65536 ? (uint16_t)units : 0;
    }
}

static int compute(job *work, ast_nyu_scene *row) {
    size_t width = work->file->width, height = work->file->height;
    ast_depth_image image = {sizeof image, work->depth, width, height, (ptrdiff_t)(width * sizeof *work->depth)};
    scale_depth(work);
    ast_status status = ast_depth_compute(work->maker, &image, NULL, NULL, work->normals);
    for (size_t i = 0; i < width * height && status == AST_OK; i++)
        row->normals += !isnan(work->normals[3 * i]);
    if (status == AST_OK)
        status = cluster_scene(work, row);
    if (status == AST_CANCELLED)
        return -1;
    if (status != AST_OK)
        return ast_cli_status(status, work->context, work->given->mat);
    if (!ast_nyu_scenes_put(&work->scenes, row))
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for scene %zu", work->given->mat, row->scene);
    ast_nyu_add(&work->summary, row);
    return ast_cli_now() - work->saved > SAVE_SECONDS ? save(work) : -1;
}

static int one_scene(job *work, size_t scene) {
    ast_format_error error;
    size_t size = work->file->width * work->file->height * sizeof *work->metres;
    if (!ast_nyu_depth(work->file, scene, work->metres, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    ast_nyu_scene row = {.scene = scene, .image = ast_fnv(AST_FNV_START, work->metres, size)};
    const ast_nyu_scene *earlier = ast_nyu_scenes_find(&work->scenes, scene);
    if (earlier && earlier->image == row.image) {
        ast_nyu_add(&work->summary, earlier);
        work->summary.again++;
        return -1;
    }
    if (earlier)
        work->expected += work->setting_count;
    return compute(work, &row);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static int save(job *work) {
    work->saved = ast_cli_now();
    return ast_reproduce_keep(work->given, "scenes.csv", ast_nyu_scenes_write, &work->scenes);
}

/* Whatever ended the run, finished scenes are kept. */
static int finish(job *work, int code) {
    ast_nyu_summary *summary = &work->summary;
    int saved = summary->scenes > summary->again ? save(work) : -1;
    if (code < 0)
        code = saved;
    if (code >= 0)
        return code;
    if (summary->scenes == 0)
        return ast_cli_stopped();
    if (summary->scenes == summary->idle)
        return ast_cli_fail(AST_CLI_FAILED, "%s: none of the %zu scenes has %zu normals to cluster", work->given->mat,
                            summary->scenes, work->most_clusters);
    code = ast_nyu_deliver(summary);
    if (code == AST_CLI_DONE && summary->scenes < summary->planned)
        code = ast_cli_fail(AST_CLI_SIGNAL + ast_cli_interrupted(),
                            "stopped after %zu of %zu scenes; %s holds those, and the same command goes on from them",
                            summary->scenes, summary->planned, work->given->output);
    return code;
}
