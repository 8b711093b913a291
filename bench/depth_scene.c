/* SPDX-License-Identifier: MIT
 *
 * The frames for the depth benchmark, in memory and as PNG files: those of a real camera, if the data is there, and
 * those of the ray-cast hallway, written into a temporary folder. */
#include "depth.h"
#include "private/asterism_hallway.h"

#include <frames.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *text(const char *format, const char *folder, int number) {
    char *made;
    int length = number < 0 ? asprintf(&made, format, folder) : asprintf(&made, format, folder, number);
    if (length < 0)
        bench_die("there is not enough memory for a file name");
    return made;
}

static int share_of(double share, size_t frames) {
    int count = (int)(share * (double)frames + 0.5);
    return count < 1 ? 1 : count > BENCH_DEPTH_FRAMES ? BENCH_DEPTH_FRAMES : count;
}

/* ---- A real camera ---------------------------------------------------------------------------------------------- */

static void read_frames(bench_depth_scene *scene, ast_frames *frames) {
    ast_input_frame frame;
    ast_format_error error;
    for (int f = 0; f < scene->frames; f++) {
        if (ast_frames_next(frames, &frame, &error) <= 0)
            bench_die("%s", error.text);
        scene->file[f] = text("%s", frame.path, -1);
        if (!ast_depth_read(&scene->frame[f], frame.path, &error))
            bench_die("%s", error.text);
    }
}

/* What is in the folder of real data. */
static const bench_depth_scene recorded[] = {
    [BENCH_DEPTH_ICSL] = {.name = "icsl_hallway", .camera = {537.6, 539.033, 316.149, 245.519}, .units = 1000},
    [BENCH_DEPTH_TUM] = {.name = "tum_fr3_cabinet", .camera = {535.4, 539.2, 320.1, 247.6}, .units = 5000},
    [BENCH_DEPTH_ICL] = {.name = "icl_office_kt3", .camera = {481.2, 480.0, 319.5, 239.5}, .units = 5000}};

static int open_recorded(bench_depth_scene *scene, const bench_depth_scene *known, double share, const char *data) {
    char *folder;
    if (asprintf(&folder, "%s/%s/depth", data, known->name) < 0)
        bench_die("there is not enough memory for a file name");
    ast_frame_list list = {0};
    ast_format_error error;
    ast_frames *frames = NULL;
    if (access(folder, F_OK) == 0 && ast_frame_list_add(&list, folder, (ast_file_format){0}, AST_AS_DEPTH, &error))
        frames = ast_frames_open(&list, NULL, &error);
    *scene = *known;
    scene->recorded = frames != NULL;
    if (frames) {
        scene->frames = share_of(share, ast_frames_count(frames));
        read_frames(scene, frames);
    } else {
        fprintf(stderr, "asterism-bench: %s has no depth frames; real frames are not measured\n", folder);
    }
    ast_frames_close(frames);
    ast_frame_list_free(&list);
    free(folder);
    return frames != NULL;
}

/* ---- The ray-cast hallway --------------------------------------------------------------------------------------- */

static bool write_pixels(const char *path, const ast_depth_pixels *pixels, ast_format_error *error) {
    ast_output *output = ast_output_open(path, false, error);
    if (!output)
        return false;
    if (ast_write_depth(output, pixels->values, pixels->width, pixels->height, error))
        return ast_output_commit(output, error);
    ast_output_abandon(output);
    return false;
}

/* False, with a message, if the build cannot write PNG. */
static bool write_frame(bench_depth_scene *scene, int f) {
    ast_format_error error;
    char *path = text("%s/%06d.png", scene->made_in, f);
    bool written = write_pixels(path, &scene->frame[f], &error);
    if (written) {
        scene->file[f] = path;
    } else {
        fprintf(stderr, "asterism-bench: %s: PNG files are not measured\n", error.text);
        free(path);
    }
    return written;
}

static void write_frames(bench_depth_scene *scene) {
    const char *base = getenv("TMPDIR");
    scene->made_in = text("%s/asterism-bench-XXXXXX", base && *base ? base : P_tmpdir, -1);
    if (!mkdtemp(scene->made_in))
        bench_die("cannot create a temporary folder: TMPDIR must name a writable folder");
    for (int f = 0; f < scene->frames; f++)
        if (!write_frame(scene, f))
            return;
}

/* The matrix of a pose: R, t in three rows. */
static void find_pose(const ast_hallway_frame *at, double *pose) {
    double x = at->rotation[0], y = at->rotation[1], z = at->rotation[2], w = at->rotation[3];
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 12; i++)
        pose[i] = i % 4 < 3 ? rows[i / 4][i % 4] : at->position[i / 4];
}

static int open_hallway(bench_depth_scene *scene, double share) {
    ast_hallway hallway;
    ast_context *context;
    ast_open(&context, 0);
    ast_hallway_init(&hallway);
    scene->name = "ray-cast hallway";
    scene->recorded = false;
    scene->posed = true;
    scene->camera = hallway.camera;
    scene->units = 1000;
    scene->frames = share_of(share, hallway.frames);
    for (int f = 0; f < scene->frames; f++) {
        ast_depth_pixels *pixels = &scene->frame[f];
        *pixels = (ast_depth_pixels){.width = hallway.width, .height = hallway.height};
        pixels->capacity = hallway.width * hallway.height;
        pixels->values = bench_alloc(pixels->capacity * sizeof *pixels->values);
        ast_hallway_frame at;
        if (!context || ast_hallway_render(context, &hallway, (size_t)f, pixels->values, NULL, &at) != AST_OK)
            bench_die("frame %d of the hallway could not be rendered", f);
        find_pose(&at, scene->pose[f]);
    }
    ast_close(context);
    write_frames(scene);
    return 1;
}

/* ---- Both ------------------------------------------------------------------------------------------------------- */

int bench_depth_scene_open(bench_depth_scene *scene, int which, double share, const char *data, int repetitions) {
    int there =
        which == BENCH_DEPTH_HALLWAY ? open_hallway(scene, share) : open_recorded(scene, &recorded[which], share, data);
    if (there)
        bench_series_open(&scene->decoding, scene->frames, repetitions);
    return there;
}

void bench_depth_scene_free(bench_depth_scene *scene) {
    for (int f = 0; f < scene->frames; f++) {
        if (scene->file[f] && scene->made_in)
            unlink(scene->file[f]);
        free(scene->file[f]);
        ast_pixels_free(&scene->frame[f]);
    }
    if (scene->made_in)
        rmdir(scene->made_in);
    free(scene->made_in);
    bench_series_free(&scene->decoding);
}

void bench_depth_scene_decode(bench_depth_scene *scene) {
    ast_depth_pixels pixels = {0};
    ast_format_error error;
    double start = bench_now();
    for (int f = 0; f < scene->frames; f++) {
        double begin = bench_now();
        if (!ast_depth_read(&pixels, scene->file[f], &error))
            bench_die("%s", error.text);
        bench_series_note(&scene->decoding, f, bench_now() - begin);
    }
    bench_samples_add(&scene->all_decoded, bench_now() - start);
    bench_series_end(&scene->decoding);
    ast_pixels_free(&pixels);
}

/* ---- For other programs ----------------------------------------------------------------------------------------- */

static void write_matrix(const char *folder, const char *format, int number, const float *values, size_t rows,
                         size_t columns) {
    ast_format_error error;
    char *path = text(format, folder, number);
    ast_output *output = ast_output_open(path, false, &error);
    if (!output || !ast_write_array(output, ast_value_array(values, rows, columns), &error) ||
        !ast_output_commit(output, &error))
        bench_die("%s", error.text);
    free(path);
}

static void write_metres(const char *folder, int number, const ast_depth_pixels *pixels, double units) {
    size_t count = pixels->width * pixels->height;
    float *metres = bench_alloc(count * sizeof *metres);
    for (size_t i = 0; i < count; i++)
        metres[i] = (float)(pixels->values[i] / units);
    write_matrix(folder, "%s/depth_%03d.npy", number, metres, pixels->height, pixels->width);
    free(metres);
}

void bench_depths_write_frames(double share, const char *data, const char *folder) {
    bench_depth_scene *scene = bench_alloc(sizeof *scene);
    for (int which = 0; scene->frames == 0 && which < BENCH_DEPTH_SCENES; which++)
        bench_depth_scene_open(scene, which, share, data, 1);
    const ast_camera *camera = &scene->camera;
    const float intrinsics[] = {(float)camera->fx, (float)camera->fy, (float)camera->cx, (float)camera->cy};
    write_matrix(folder, "%s/depth_camera.npy", -1, intrinsics, 1, 4);
    for (int f = 0; f < scene->frames; f++)
        write_metres(folder, f, &scene->frame[f], scene->units);
    bench_depth_scene_free(scene);
    free(scene);
}
