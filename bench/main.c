/* SPDX-License-Identifier: MIT
 *
 * asterism-bench: the speed of the library, relative to the limits of the machine. The exit code is 0 whatever the
 * times are. */
#include "identities.h"
#include "report.h"
#include "timeline.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_ROWS 100   /* of W5 to W8 */
#define QUICK_ROWS 20000 /* --quick */

typedef struct settings {
    int quick, limits_only, repetitions;
    int stream, million, depth, cloud, methods, axial, clusters; /* W4; small frames; depth frames; clouds; silhouettes,
                                                          samplers; axes */
    int scaling, full, identities;
    int embeddings[BENCH_EMBEDDINGS]; /* W5 to W8 */
    long rows;                        /* of them; 0: all */
    long frames;                      /* number of small frames */
    int wanted[BENCH_WORKLOADS];
    int threads[BENCH_MAX_COUNTS], thread_counts;
    const char *output, *write, *svg, *panel, *trace;
    const char *data;         /* the folder with real depth frames */
    const char *memory_child; /* a file: measure the memory of clustering it in this process */
    double angle;             /* of the child */
} settings;

static const char usage[] =
    "usage: asterism-bench [options] [WORKLOAD]\n"
    "  --workload NAME    W1, W2, W3, stream (W4), depth, cloud, methods (silhouette, sampler, mixture), axial,\n"
    "                     clusters (1 to 100,000 of them), scaling (against everything: seconds),\n"
    "                     identities (streams of many, ten rows a frame: a table, nothing else),\n"
    "                     W5 to W8 (embeddings, not part of all: minutes; W5 is W5-common, W5-centred and "
    "W5-uniform),\n"
    "                     limits (the machine and the bare passes only), all (the default) or million (a million small "
    "frames, one after the other)\n"
    "  --full             scaling: up to 10^8 points, 10^5 clusters: minutes, 6 GB of memory\n"
    "  --panel NAME       scaling: only points, clusters, clusters-300, dimension, processors, births or\n"
    "                     from-nothing\n"
    "  --svg FILE         scaling: draws it\n"
    "  --frames N         of million (default 1000000)\n"
    "  --rows N           of W5 to W8: only so many points\n"
    "  --threads LIST     numbers of threads, such as 1,2 (the default)\n"
    "  --repetitions N    of everything, in turn (default 7; W5 to W8: 1)\n"
    "  --quick            a tenth of the points or depth frames (W5 to W8: 20,000 points), 3 repetitions: a quick\n"
    "                     check\n"
    "  --data DIR         where icsl_hallway/depth is, real frames for depth (default ../shared/data beside the "
    "project)\n"
    "  --output FILE      all numbers as JSON (--json is the same)\n"
    "  --trace FILE       W1, W2, W3, W4, depth, W5: measure nothing, but record once what each thread does, as a\n"
    "                     timeline in Chrome's format (bench/timeline.py sums it up and simulates more threads)\n"
    "  --write DIR        write the workloads' points, truths, means, starts and depth frames as .npy files and "
    "measure\n"
    "                     nothing\n";

_Noreturn static void wrong_usage(const char *what) {
    fprintf(stderr, "asterism-bench: %s\n%s", what, usage);
    exit(2);
}

/* ---- The command line ------------------------------------------------------------------------------------------- */

static void parse_threads(settings *given, char *list) {
    given->thread_counts = 0;
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        int n = atoi(item);
        if (n < 1 || n > BENCH_MAX_THREADS || given->thread_counts == BENCH_MAX_COUNTS)
            wrong_usage("--threads takes a few numbers from 1 to 64, separated by commas");
        given->threads[given->thread_counts++] = n;
    }
    if (given->thread_counts == 0)
        wrong_usage("--threads takes a few numbers from 1 to 64, separated by commas");
}

static void parse_workload(settings *given, const char *name) {
    int all = strcmp(name, "all") == 0 || strcmp(name, "limits") == 0, known;
    given->limits_only = strcmp(name, "limits") == 0;
    given->million = strcmp(name, "million") == 0;
    given->stream = strcmp(name, "all") == 0 || strcmp(name, "stream") == 0 || strcmp(name, "W4") == 0;
    given->depth = strcmp(name, "all") == 0 || strcmp(name, "depth") == 0;
    given->cloud = strcmp(name, "all") == 0 || strcmp(name, "cloud") == 0;
    given->methods = strcmp(name, "all") == 0 || strcmp(name, "methods") == 0;
    given->axial = strcmp(name, "all") == 0 || strcmp(name, "axial") == 0;
    given->clusters = strcmp(name, "all") == 0 || strcmp(name, "clusters") == 0;
    given->scaling = strcmp(name, "scaling") == 0;
    given->identities = strcmp(name, "identities") == 0;
    known = all || given->identities || given->clusters || given->scaling || given->million || given->stream ||
            given->depth || given->cloud || given->methods || given->axial;
    for (int w = 0; w < BENCH_WORKLOADS; w++) {
        given->wanted[w] = all || strcmp(name, bench_workload_name(w)) == 0;
        known |= given->wanted[w];
    }
    for (int e = 0; e < BENCH_EMBEDDINGS; e++) {
        given->embeddings[e] = bench_embedding_wanted(e, name);
        known |= given->embeddings[e];
    }
    if (!known)
        wrong_usage(
            "the workload is W1, W2, W3, W5, W6, W7, W8, stream, depth, cloud, methods, axial, clusters, scaling, "
            "identities, limits, all or million");
}

static void parse_option(settings *given, int option) {
    switch (option) {
    case 'w':
        parse_workload(given, optarg);
        break;
    case 't':
        parse_threads(given, optarg);
        break;
    case 'r':
        given->repetitions = atoi(optarg);
        break;
    case 'f':
        given->frames = atol(optarg);
        break;
    case 'R':
        given->rows = atol(optarg);
        break;
    case 'q':
        given->quick = 1;
        break;
    case 'o':
        given->output = optarg;
        break;
    case 'F':
        given->full = 1;
        break;
    case 'p':
        given->panel = optarg;
        break;
    case 's':
        given->svg = optarg;
        break;
    case 'd':
        given->data = optarg;
        break;
    case 'T':
        given->trace = optarg;
        break;
    case 'W':
        given->write = optarg;
        break;
    case 'm':
        given->memory_child = optarg;
        break;
    case 'a':
        given->angle = atof(optarg);
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    default:
        exit(2);
    }
}

static void parse(settings *given, int argc, char **argv) {
    static const struct option names[] = {{"workload", required_argument, NULL, 'w'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"repetitions", required_argument, NULL, 'r'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"frames", required_argument, NULL, 'f'},
                                          {"rows", required_argument, NULL, 'R'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"json", required_argument, NULL, 'o'},
                                          {"full", no_argument, NULL, 'F'},
                                          {"panel", required_argument, NULL, 'p'},
                                          {"svg", required_argument, NULL, 's'},
                                          {"data", required_argument, NULL, 'd'},
                                          {"write", required_argument, NULL, 'W'},
                                          {"trace", required_argument, NULL, 'T'},
                                          {"memory-child", required_argument, NULL, 'm'},
                                          {"angle", required_argument, NULL, 'a'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *given = (settings){.wanted = {1, 1, 1},
                        .stream = 1,
                        .depth = 1,
                        .cloud = 1,
                        .methods = 1,
                        .axial = 1,
                        .clusters = 1,
                        .data = BENCH_DATA,
                        .threads = {1, 2},
                        .thread_counts = 2};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
        parse_option(given, option);
    if (optind < argc)
        parse_workload(given, argv[optind++]);
    if ((given->svg || given->full || given->panel) && !given->scaling)
        wrong_usage("--svg, --full and --panel are for the workload scaling");
    if (given->panel && !bench_panel_known(given->panel))
        wrong_usage("--panel is points, clusters, clusters-300, dimension, processors, births or from-nothing");
    if (optind < argc)
        wrong_usage("too many arguments");
    int embeddings = 0;
    for (int e = 0; e < BENCH_EMBEDDINGS; e++)
        embeddings |= given->embeddings[e];
    if (given->rows && (!embeddings || given->rows < LEAST_ROWS))
        wrong_usage("--rows is for the workloads W5 to W8, and at least 100");
    if (given->rows == 0 && given->quick)
        given->rows = QUICK_ROWS;
    if (given->repetitions == 0)
        given->repetitions = embeddings ? 1 : given->quick || given->scaling ? 3 : 7;
    if (given->repetitions < 1 || given->repetitions > BENCH_MAX_REPETITIONS)
        wrong_usage("--repetitions is 1 to 101");
    if (given->frames == 0)
        given->frames = given->quick ? 100000 : 1000000;
    if (given->frames < 2)
        wrong_usage("--frames is at least 2");
}

/* ---- The work --------------------------------------------------------------------------------------------------- */

static void make_workloads(bench_report *report, const settings *given) {
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        if (given->wanted[w])
            bench_workload_make(&report->workloads[w], w, report->share);
}

static void run_embeddings(bench_report *report, const settings *given) {
    for (int e = 0; e < BENCH_EMBEDDINGS; e++)
        if (given->embeddings[e])
            bench_embeddings_run(&report->embeddings, e, (size_t)given->rows, given->threads[given->thread_counts - 1],
                                 report->repetitions);
}

static void write_embeddings(const settings *given) {
    for (int e = 0; e < BENCH_EMBEDDINGS; e++)
        if (given->embeddings[e]) {
            bench_embedding_points points;
            bench_embedding_make(&points, e, (size_t)given->rows, given->threads[given->thread_counts - 1]);
            bench_embedding_write(&points, given->write);
            bench_embedding_free(&points);
        }
}

static void write_workloads(const bench_report *report, const char *folder) {
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        if (report->workloads[w].points)
            bench_workload_write(&report->workloads[w], folder);
}

static void open_results(bench_report *report, const settings *given) {
    for (int t = 0; t < given->thread_counts; t++)
        report->limits[report->limit_count++].threads = given->threads[t];
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        for (int t = 0; report->workloads[w].points && t < given->thread_counts; t++)
            bench_result_open(&report->results[report->result_count++], &report->workloads[w], given->threads[t]);
}

/* Peak memory, from files that exist only during the measurement. */
static void measure_memory(bench_report *report) {
    char folder[4096], path[sizeof folder + 32];
    static const char *const suffixes[] = {"", "_truth", "_means", "_start"};
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/asterism-bench-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        bench_die("cannot create a temporary folder: TMPDIR must name a writable folder");
    write_workloads(report, folder);
    for (int i = 0; i < report->result_count; i++)
        bench_measure_memory(&report->results[i], "/proc/self/exe", folder);
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        for (size_t s = 0; s < sizeof suffixes / sizeof *suffixes; s++) {
            snprintf(path, sizeof path, "%s/%s%s.npy", folder, bench_workload_name(w), suffixes[s]);
            unlink(path);
        }
    rmdir(folder);
}

/* The seconds that the repetitions of one run may take: slow runs are repeated less often. */
static double patience(const settings *given) {
    return given->quick ? 1 : 15;
}

static void repeat(bench_report *report, const settings *given, int repetition) {
    fprintf(stderr, "\rrepetition %d of %d ", repetition + 1, report->repetitions);
    for (int i = 0; i < report->limit_count; i++)
        bench_limits_repeat(&report->limits[i]);
    for (int i = 0; i < report->result_count; i++)
        if (given->limits_only)
            bench_result_repeat_bare(&report->results[i]);
        else
            bench_result_repeat(&report->results[i], patience(given));
    bench_streams_repeat(&report->streams);
    bench_depths_repeat(&report->depths);
    bench_clouds_repeat(&report->clouds);
    bench_methods_repeat(&report->methods);
    bench_axials_repeat(&report->axials);
    bench_clusters_repeat(&report->clusters);
}

static void trace(bench_report *report, const settings *given) {
    bench_embedding_points points = {0};
    if (given->stream)
        bench_streams_open(&report->streams, report->share, given->threads, given->thread_counts, 1);
    if (given->depth)
        bench_depths_open(&report->depths, report->share, given->data, given->threads, given->thread_counts, 1);
    if (given->embeddings[BENCH_W5_COMMON])
        bench_embedding_make(&points, BENCH_W5_COMMON, (size_t)given->rows, given->threads[given->thread_counts - 1]);
    const bench_timeline_input input = {report->workloads, &report->streams, &report->depths,
                                        &points,           given->threads,   given->thread_counts};
    bench_timeline_run(&input, given->trace);
    bench_embedding_free(&points);
}

static void run(bench_report *report, const settings *given) {
    if (given->million) /* first, so that the peak memory is its own */
        bench_million_run(&report->streams.million, (size_t)given->frames, given->threads[given->thread_counts - 1]);
    if (given->scaling)
        bench_scaling_run(&report->scaling, given->panel, given->full, given->threads[given->thread_counts - 1],
                          given->full ? report->repetitions : 1);
    run_embeddings(report, given);
    open_results(report, given);
    if (given->stream)
        bench_streams_open(&report->streams, report->share, given->threads, given->thread_counts, report->repetitions);
    if (given->depth)
        bench_depths_open(&report->depths, report->share, given->data, given->threads, given->thread_counts,
                          report->repetitions);
    if (given->cloud)
        bench_clouds_open(&report->clouds, report->share, given->threads, given->thread_counts);
    if (given->methods)
        bench_methods_open(&report->methods, report->share, given->threads, given->thread_counts);
    if (given->axial)
        bench_axials_open(&report->axials, report->share, given->threads, given->thread_counts);
    if (given->clusters)
        bench_clusters_open(&report->clusters, report->share, given->threads, given->thread_counts);
    if (report->result_count && !given->limits_only)
        measure_memory(report);
    for (int i = 0; i < report->repetitions; i++)
        repeat(report, given, i);
    fprintf(stderr, "\r%30s\r", "");
    bench_goals_fill(&report->goals, report->results, report->result_count);
    bench_streams_goals(&report->streams, &report->goals);
    bench_depths_goals(&report->depths, &report->goals);
    bench_clouds_goals(&report->clouds, &report->goals);
    bench_methods_goals(&report->methods, &report->goals);
    bench_axials_goals(&report->axials, &report->goals);
    bench_clusters_goals(&report->clusters, &report->goals);
    bench_scaling_goals(&report->scaling, &report->goals);
    bench_embeddings_goals(&report->embeddings, &report->goals);
    bench_print_limits(report);
    for (int i = 0; i < report->result_count; i++)
        bench_print_result(report, &report->results[i]);
    bench_streams_print(&report->streams);
    bench_depths_print(&report->depths);
    bench_clouds_print(&report->clouds);
    bench_methods_print(&report->methods);
    bench_axials_print(&report->axials);
    bench_clusters_print(&report->clusters);
    bench_scaling_print(&report->scaling);
    bench_embeddings_print(&report->embeddings);
    bench_print_goals(report);
    if (given->svg)
        bench_scaling_draw(&report->scaling, given->svg);
    if (given->output)
        bench_report_write(report, given->output);
}

int main(int argc, char **argv) {
    settings given;
    parse(&given, argc, argv);
    if (given.memory_child)
        return bench_memory_child(given.memory_child, given.angle, given.threads[0]);
    if (given.identities) {
        bench_identities_run(given.quick);
        return 0;
    }
    bench_report *report = bench_alloc(sizeof *report);
    report->share = given.quick ? 0.1 : 1;
    report->repetitions = given.repetitions;
    bench_report_machine(report);
    make_workloads(report, &given);
    if (given.write)
        write_workloads(report, given.write);
    if (given.write && given.depth)
        bench_depths_write_frames(report->share, given.data, given.write);
    if (given.write && given.cloud)
        bench_clouds_write_points(report->share, given.write);
    if (given.write)
        write_embeddings(&given);
    else if (given.trace)
        trace(report, &given);
    else
        run(report, &given);
    for (int i = 0; i < report->result_count; i++)
        bench_result_free(&report->results[i]);
    bench_streams_free(&report->streams);
    bench_depths_free(&report->depths);
    bench_clouds_free(&report->clouds);
    bench_methods_free(&report->methods);
    bench_axials_free(&report->axials);
    bench_clusters_free(&report->clusters);
    for (int w = 0; w < BENCH_WORKLOADS; w++)
        bench_workload_free(&report->workloads[w]);
    free(report);
    return 0;
}
