/* SPDX-License-Identifier: MIT
 *
 * The paper's experiment on the NYU v2 data set, or on depth images in its place: each scene's depth becomes normals,
 * which DP-vMF-means clusters at each angle and spherical k-means at each K; the silhouette says how well.
 *
 * A scene counts when all its clusterings are done. Finished ones go to scenes.csv now and then and at the end, however
 * that comes, and a run that finds them there resumes from them.
 *
 * As in the paper, depths are those with their holes and normals are smoothed by total variation; unlike it, spkm
 * starts from k-means++, since the paper does not say how it starts. */
#include <fnv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nyu_report.h"

enum { SAVE_SECONDS = 10 };

/* Degrees for dp, K for spkm; 0 ends. */
static const double angles[] = {50, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 130, 140, 0};
static const double counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0};
static const double quick_angles[] = {60, 75, 80, 100, 120, 0};
static const double quick_counts[] = {2, 4, 5, 6, 0};

/* The rows of the figure. */
static const ast_nyu_setting figure_settings[AST_NYU_FIGURE_ROWS] = {{true, 75}, {true, 100}, {false, 4}, {false, 5}};

typedef struct job {
    const ast_experiment *plan;
    const ast_experiment_command *command;
    ast_nyu_setting settings[AST_NYU_SETTINGS];
    size_t setting_count, most_clusters;
    ast_points normals; /* of the current scene */
    int32_t *labels;
    ast_nyu_scenes scenes;
    ast_nyu_summary summary;
    ast_nyu_figure figure;
    size_t fresh; /* clusterings done in this run */
    double saved;
} job;

static void add_settings(job *work, bool dp, const double *values);
static int one_scene(job *work, const ast_input_frame *frame);
static int save(job *work);
static int finish(job *work, int code);

int ast_experiment_nyu(const ast_experiment *plan) {
    const ast_experiment_command *command = plan->command;
    job work = {.plan = plan,
                .command = command,
                .summary = {.plan = plan},
                .figure = {.names = {"dp, 75 degrees", "dp, 100 degrees", "spkm, K = 4", "spkm, K = 5"}}};
    work.summary.figure = &work.figure;
    ast_input_frame frame;
    double started = command->now();
    int code = -1, found = 1;
    add_settings(&work, true, plan->quick ? quick_angles : angles);
    add_settings(&work, false, plan->quick ? quick_counts : counts);
    while (code < 0 && found && !command->stopped()) {
        code = command->next(plan->data, &frame, &found);
        if (code < 0 && found)
            code = one_scene(&work, &frame);
    }
    work.summary.seconds = command->now() - started;
    code = finish(&work, code);
    ast_nyu_scenes_free(&work.scenes);
    ast_nyu_figure_free(&work.figure);
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

/* Everything that the numbers depend on, but for the depths of the scene. */
static uint64_t key_of(const job *work) {
    const ast_depth_options *o = &work->plan->depth;
    const double numbers[] = {(double)work->plan->seed,
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
                              (double)work->summary.width,
                              (double)work->summary.height};
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
    if (asprintf(&path, "%s/scenes.csv", work->plan->output) < 0)
        return work->command->fail(EXIT_FAILURE, "there is no memory for the name of scenes.csv");
    bool good = ast_nyu_scenes_read(&work->scenes, path, &error);
    free(path);
    return good ? -1 : work->command->fail(EXIT_FAILURE, "%s", error.text);
}

/* The first scene shows the size of all. */
static int begin(job *work, const ast_input_frame *frame) {
    work->summary.width = frame->image.width;
    work->summary.height = frame->image.height;
    work->labels = malloc(frame->image.width * frame->image.height * sizeof *work->labels);
    if (!work->labels)
        return work->command->fail(EXIT_FAILURE, "%s: there is no memory for a scene", work->plan->input);
    work->saved = work->command->now();
    int code = ast_experiment_folder(work->plan);
    return code < 0 ? resume(work) : code;
}

/* ---- A scene ----------------------------------------------------------------------------------------------------- */

static int stopped(const ast_progress *state, void *data) {
    (void)state;
    return ((const job *)data)->command->stopped();
}

static ast_status cluster(job *work, const ast_nyu_setting *setting, double *clusters) {
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.method = setting->dp ? AST_DP : AST_SPKM;
    options.seed = work->plan->seed;
    options.progress = stopped;
    options.progress_data = work;
    if (setting->dp)
        options.angle = setting->value;
    else
        options.clusters = (size_t)setting->value;
    ast_status status = ast_cluster(work->plan->context, &work->normals, &options, work->labels, &report);
    *clusters = (double)report.clusters;
    return status;
}

static ast_status measure(job *work, const ast_nyu_setting *setting, double *clusters, double *silhouette) {
    ast_status status = cluster(work, setting, clusters);
    *silhouette = 0; /* of one cluster: as of points that are alone */
    if (status == AST_OK && *clusters > 1)
        status = ast_silhouette(work->plan->context, &work->normals, work->labels, AST_COSINE, 1, silhouette, NULL);
    return status;
}

static ast_status cluster_scene(job *work, ast_nyu_scene *row) {
    const ast_nyu_summary *summary = &work->summary;
    ast_status status = AST_OK;
    for (size_t i = 0; i < work->setting_count && status == AST_OK; i++) {
        row->clusters[i] = row->silhouette[i] = NAN;
        if (row->normals >= work->most_clusters)
            status = measure(work, &work->settings[i], &row->clusters[i], &row->silhouette[i]);
        size_t all = (work->plan->frames - summary->again) * work->setting_count;
        work->fresh++;
        work->command->progress(work->plan->data, work->fresh, all, "clusterings", (double)work->fresh / (double)all);
    }
    return status;
}

static size_t count_normals(const ast_points *normals) {
    size_t count = 0;
    for (size_t i = 0; i < normals->count; i++)
        count += !isnan(((const float *)normals->data)[3 * i]);
    return count;
}

static int compute(job *work, ast_nyu_scene *row, const char *source) {
    int code = work->command->normals(work->plan->data, &work->normals);
    if (code >= 0)
        return code;
    row->normals = count_normals(&work->normals);
    ast_status status = cluster_scene(work, row);
    if (status == AST_CANCELLED)
        return -1;
    if (status != AST_OK)
        return work->command->status(status, work->plan->context, source);
    if (!ast_nyu_scenes_put(&work->scenes, row))
        return work->command->fail(EXIT_FAILURE, "%s: there is no memory for its row", source);
    ast_nyu_add(&work->summary, row);
    return work->command->now() - work->saved > SAVE_SECONDS ? save(work) : -1;
}

static uint64_t hash_of(const ast_depth_image *image) {
    uint64_t hash = AST_FNV_START;
    for (size_t v = 0; v < image->height; v++)
        hash = ast_fnv(hash, (const char *)image->values + (ptrdiff_t)v * image->row_stride,
                       image->width * sizeof *image->values);
    return hash;
}

/* Some scenes, spread evenly over all, become a column of the figure. What goes wrong with it is no failure of the run:
 * a build without libpng has no pictures. */
static int illustrate(job *work, const ast_input_frame *frame) {
    ast_nyu_figure *figure = &work->figure;
    const ast_experiment *plan = work->plan;
    ast_thumbnail small = {.width = frame->image.width,
                           .height = frame->image.height,
                           .depth = &frame->image,
                           .units_per_metre = plan->depth.units_per_metre};
    ast_status status = AST_OK;
    bool good = true;
    for (size_t row = 0; row < AST_NYU_FIGURE_ROWS && status == AST_OK && good; row++) {
        double clusters;
        status = cluster(work, &figure_settings[row], &clusters);
        good = status != AST_OK ||
               ast_nyu_figure_add(figure, row, &small, work->labels, (size_t)clusters, &work->summary.no_figure);
    }
    if (status == AST_OK && good)
        figure->scenes[figure->count++] = work->plan->numbers[frame->index];
    return status == AST_OK || status == AST_CANCELLED ? -1
                                                       : work->command->status(status, plan->context, frame->source);
}

/* Whether the scene that comes now is one of those in the figure. */
static bool is_due(const job *work) {
    size_t frames = work->plan->frames, columns = frames < AST_NYU_FIGURE_SCENES ? frames : AST_NYU_FIGURE_SCENES;
    return work->figure.count < columns && work->summary.scenes >= work->figure.count * frames / columns &&
           !work->summary.no_figure.text[0];
}

static int one_scene(job *work, const ast_input_frame *frame) {
    int code = work->labels ? -1 : begin(work, frame);
    if (code >= 0)
        return code;
    bool due = is_due(work);
    ast_nyu_scene row = {.scene = work->plan->numbers[frame->index], .image = hash_of(&frame->image)};
    const ast_nyu_scene *earlier = ast_nyu_scenes_find(&work->scenes, work->plan->numbers[frame->index]);
    if (earlier && earlier->image == row.image) {
        row = *earlier;
        ast_nyu_add(&work->summary, earlier);
        work->summary.again++;
        code = due ? work->command->normals(work->plan->data, &work->normals) : -1;
    } else {
        code = compute(work, &row, frame->source);
    }
    return code < 0 && due && row.normals >= work->most_clusters ? illustrate(work, frame) : code;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static int save(job *work) {
    work->saved = work->command->now();
    return ast_experiment_keep(work->plan, "scenes.csv", ast_nyu_scenes_write, &work->scenes);
}

/* Whatever ended the run, finished scenes are kept. */
static int finish(job *work, int code) {
    const ast_experiment *plan = work->plan;
    const ast_nyu_summary *summary = &work->summary;
    int saved = summary->scenes > summary->again ? save(work) : -1;
    if (code < 0)
        code = saved;
    if (code >= 0)
        return code;
    if (summary->scenes == 0)
        return work->command->status(AST_CANCELLED, plan->context, NULL);
    if (summary->scenes == summary->idle)
        return work->command->fail(EXIT_FAILURE, "%s: none of the %zu scenes has %zu normals to cluster", plan->input,
                                   summary->scenes, work->most_clusters);
    code = ast_nyu_deliver(summary);
    if (code == EXIT_SUCCESS && summary->scenes < plan->frames)
        code = work->command->fail(work->command->stopped(),
                                   "stopped after %zu of %zu scenes; %s holds those, and the same command resumes "
                                   "from them",
                                   summary->scenes, plan->frames, plan->output);
    return code;
}
