/* SPDX-License-Identifier: MIT
 *
 * A million points, their normals, and the planes of a scan. The tree and the neighbours are also measured separately,
 * through the same functions as the public call. */
#include "cloud.h"

#include "asterism_depth.h"
#include "cloud_kernels.h"
#include "random.h"

#include "formats.h"

#include <stdio.h>
#include <stdlib.h>

#define POINTS 1000000
#define SECONDS 1.2 /* the goal, for normals on two threads */
#define PLANES 1.5  /* the goal: normals, clusters and planes of a scan, in the time of normals */
#define ANGLE 60    /* of clusters */
#define BLOCK 32    /* leaves */

static const char *const names[BENCH_CLOUDS] = {"scan", "cube"};

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* A room of 8 x 6 x 3 metres with a noise of 3 mm: walls get points in proportion to their area. */
static void scan_point(ast_random *random, float *p) {
    static const double size[3] = {8, 6, 3};
    static const double upto[3] = {6 * 3 / 90.0, (6 * 3 + 8 * 3) / 90.0, 1};
    double which = ast_random_uniform(random);
    int wall = which < upto[0] ? 0 : which < upto[1] ? 1 : 2;
    for (int c = 0; c < 3; c++)
        p[c] = (float)(size[c] * ast_random_uniform(random));
    double from = size[wall] * (double)ast_random_below(random, 2);
    p[wall] = (float)(from + 0.003 * ast_random_normal(random));
}

static void fill(float *points, size_t count, int cloud) {
    ast_random random;
    ast_random_seed(&random, 7, (uint64_t)cloud);
    for (size_t i = 0; i < count; i++)
        if (cloud == BENCH_CLOUD_SCAN)
            scan_point(&random, points + 3 * i);
        else
            for (size_t c = 0; c < 3; c++)
                points[3 * i + c] = (float)ast_random_uniform(&random);
}

void bench_clouds_open(bench_clouds *clouds, double share, const int *threads, int thread_counts) {
    clouds->count = (size_t)(POINTS * share);
    clouds->normals = bench_alloc(3 * clouds->count * sizeof *clouds->normals);
    clouds->labels = bench_alloc(clouds->count * sizeof *clouds->labels);
    for (int c = 0; c < BENCH_CLOUDS; c++) {
        clouds->points[c] = bench_alloc(3 * clouds->count * sizeof *clouds->points[c]);
        fill(clouds->points[c], clouds->count, c);
        for (int t = 0; t < thread_counts; t++)
            clouds->run[clouds->run_count++] = (bench_cloud_run){.cloud = c, .threads = threads[t]};
    }
    if (thread_counts > 0)
        bench_cloud_files_open(&clouds->files, clouds->points[BENCH_CLOUD_SCAN], clouds->count);
}

void bench_clouds_free(bench_clouds *clouds) {
    for (int c = 0; c < BENCH_CLOUDS; c++)
        free(clouds->points[c]);
    free(clouds->normals);
    free(clouds->labels);
    bench_cloud_files_free(&clouds->files);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

typedef struct query {
    const ast_kdtree *tree;
    const ast_cloud_kernels *kernels;
} query;

static void find_all(void *data, size_t block, int worker) {
    const query *q = data;
    double squared[BENCH_CLOUD_NEIGHBOURS] = {0};
    int32_t slot[BENCH_CLOUD_NEIGHBOURS] = {0};
    (void)worker;
    for (size_t leaf = block * BLOCK; leaf < (block + 1) * BLOCK && leaf < ast_kdtree_leaves(q->tree); leaf++)
        for (size_t s = 0; s < ast_kdtree_leaf_size(q->tree, leaf); s++) {
            const ast_kdleaf *at = &q->tree->leaves[leaf];
            ast_nearest_list found = {squared, slot, BENCH_CLOUD_NEIGHBOURS, 0};
            q->kernels->nearest(q->tree, (float[3]){at->x[s], at->y[s], at->z[s]}, &found);
        }
}

static void time_tree(bench_cloud_run *run, const float *points, size_t count, const char *instruction_set) {
    ast_pool *pool;
    ast_pool_open(&pool, run->threads);
    ast_kdtree tree = {0};
    double begin = bench_now();
    if (!pool || !ast_kdtree_build(&tree, pool, points, count))
        bench_die("there is no memory for a tree of %zu points", count);
    double built = bench_now();
    query q = {&tree, ast_cloud_kernels_choose(instruction_set)};
    ast_pool_run(pool, (ast_kdtree_leaves(&tree) + BLOCK - 1) / BLOCK, find_all, &q);
    bench_samples_add(&run->nearest, bench_now() - built);
    bench_samples_add(&run->build, built - begin);
    ast_kdtree_free(&tree);
    ast_pool_close(pool);
}

static void time_planes(bench_clouds *clouds, bench_cloud_run *run, ast_context *context) {
    ast_points normals = ast_points_f4(clouds->normals, clouds->count, 3);
    ast_options options;
    ast_options_init(&options);
    options.angle = ANGLE;
    ast_report report = {.size = sizeof report};
    ast_plane_options planes;
    ast_plane_options_init(&planes);
    ast_plane_map *map = NULL;
    double begin = bench_now();
    if (ast_cluster(context, &normals, &options, clouds->labels, &report) != AST_OK ||
        ast_plane_map_open(&map, context, &planes) != AST_OK ||
        ast_plane_map_cloud(map, clouds->points[run->cloud], clouds->normals, clouds->labels, clouds->count, NULL) !=
            AST_OK)
        bench_die("%s", ast_message(context));
    bench_samples_add(&run->planes, bench_now() - begin);
    ast_plane_map_close(map);
}

static void repeat_run(bench_clouds *clouds, bench_cloud_run *run) {
    ast_context *context;
    ast_open(&context, run->threads);
    ast_cloud_options options;
    ast_cloud_options_init(&options);
    options.neighbours = BENCH_CLOUD_NEIGHBOURS;
    options.viewpoint[0] = 4; /* the middle of the room */
    options.viewpoint[1] = 3;
    options.viewpoint[2] = 1.5;
    if (!context)
        bench_die("no context could be opened");
    const float *points = clouds->points[run->cloud];
    double begin = bench_now();
    if (ast_cloud_normals(context, points, clouds->count, &options, clouds->normals, NULL) != AST_OK)
        bench_die("%s", ast_message(context));
    bench_samples_add(&run->normals, bench_now() - begin);
    if (run->cloud == BENCH_CLOUD_SCAN)
        time_planes(clouds, run, context);
    time_tree(run, points, clouds->count, ast_instruction_set(context));
    ast_close(context);
}

void bench_clouds_repeat(bench_clouds *clouds) {
    for (int r = 0; r < clouds->run_count; r++)
        repeat_run(clouds, &clouds->run[r]);
    bench_cloud_files_repeat(&clouds->files);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* From points to planes, in the time of the normals. */
static double planes_ratio(const bench_cloud_run *run) {
    return 1 + bench_samples_median(&run->planes) / bench_samples_median(&run->normals);
}

void bench_clouds_goals(const bench_clouds *clouds, bench_goals *goals) {
    for (int r = 0; r < clouds->run_count; r++) {
        const bench_cloud_run *run = &clouds->run[r];
        if (run->threads != 2)
            continue;
        bench_goals_add(goals, SECONDS * (double)clouds->count / POINTS, bench_samples_min(&run->normals), 0,
                        "cloud %s, 2 threads: seconds for normals", names[run->cloud]);
        if (run->cloud == BENCH_CLOUD_SCAN)
            bench_goals_add(goals, PLANES, planes_ratio(run), 0,
                            "cloud scan, 2 threads: planes, in the time of normals");
    }
    bench_cloud_files_goals(&clouds->files, goals);
}

void bench_clouds_print(const bench_clouds *clouds) {
    if (clouds->count == 0)
        return;
    printf("\nNormals of clouds, %zu points, k = %d: milliseconds (median), nanoseconds a point\n", clouds->count,
           BENCH_CLOUD_NEIGHBOURS);
    printf("  %-6s %7s %20s %20s %20s %10s\n", "cloud", "threads", "k-d tree", "neighbours", "normals, all",
           "ns/point");
    for (int r = 0; r < clouds->run_count; r++) {
        const bench_cloud_run *run = &clouds->run[r];
        const bench_samples *samples[3] = {&run->build, &run->nearest, &run->normals};
        printf("  %-6s %7d", names[run->cloud], run->threads);
        for (int s = 0; s < 3; s++)
            printf(" %10.1f (%7.1f)", 1e3 * bench_samples_min(samples[s]), 1e3 * bench_samples_median(samples[s]));
        printf(" %10.0f\n", 1e9 * bench_samples_min(&run->normals) / (double)clouds->count);
    }
    for (int r = 0; r < clouds->run_count; r++)
        if (clouds->run[r].cloud == BENCH_CLOUD_SCAN)
            printf("  planes of the scan, %d threads: %.1f (%.1f) ms more; from points to planes %.2f times normals\n",
                   clouds->run[r].threads, 1e3 * bench_samples_min(&clouds->run[r].planes),
                   1e3 * bench_samples_median(&clouds->run[r].planes), planes_ratio(&clouds->run[r]));
    bench_cloud_files_print(&clouds->files);
}

void bench_clouds_write(const bench_clouds *clouds, ast_text *json) {
    if (clouds->count == 0)
        return;
    ast_json_open(json, "clouds", '[');
    for (int r = 0; r < clouds->run_count; r++) {
        const bench_cloud_run *run = &clouds->run[r];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "cloud", names[run->cloud]);
        ast_json_number(json, "points", (double)clouds->count, 9);
        ast_json_number(json, "neighbours", BENCH_CLOUD_NEIGHBOURS, 9);
        ast_json_number(json, "threads", run->threads, 9);
        ast_json_number(json, "build_seconds", bench_samples_min(&run->build), 9);
        ast_json_number(json, "nearest_seconds", bench_samples_min(&run->nearest), 9);
        ast_json_number(json, "normals_seconds", bench_samples_min(&run->normals), 9);
        if (run->cloud == BENCH_CLOUD_SCAN)
            ast_json_number(json, "planes_seconds", bench_samples_min(&run->planes), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
    bench_cloud_files_write(&clouds->files, json);
}

void bench_clouds_write_points(double share, const char *folder) {
    bench_clouds clouds = {0};
    bench_clouds_open(&clouds, share, NULL, 0);
    for (int c = 0; c < BENCH_CLOUDS; c++) {
        char path[4096];
        ast_format_error error;
        snprintf(path, sizeof path, "%s/cloud_%s.npy", folder, names[c]);
        ast_output *output = ast_output_open(path, false, &error);
        if (!output || !ast_write_array(output, ast_value_array(clouds.points[c], clouds.count, 3), &error) ||
            !ast_output_commit(output, &error))
            bench_die("%s", error.text);
    }
    bench_clouds_free(&clouds);
}
