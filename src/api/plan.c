/* SPDX-License-Identifier: MIT
 *
 * How a run over a source stays within its memory. Everything that a labelling allocates is counted here at its
 * largest: while an array grows, its old and its new memory exist. What is left is for clusters. */
#include "plan.h"

#include "metric.h"

#include <math.h>

#define SLACK ((size_t)2 << 20)         /* small things: messages, label hashes, the allocator */
#define WINDOW_POINTS ((size_t)1 << 23) /* labels in memory at a time, if there is no room for all */
#define LEAST_WINDOW ((size_t)AST_WINDOW_STEP)
#define FEW_CLUSTERS 64         /* AST_DP: room for at least so many */
#define MANY_CLUSTERS 4096      /* heads need room for so many */
#define CLUSTER_SHARE 4         /* clusters get a quarter of the memory */
#define REPRESENTATIVE_BYTES 24 /* of a cluster: a score and its row, and the row in the result */
#define SEGMENT_BYTES ((size_t)64 << 20)
#define HASH_BYTES 25 /* of a row, to find the copies of rows: two hashes and its number; whether it is one */

/* Bytes of one cluster, on so many threads. */
static double slot_bytes(size_t dimension, double threads) {
    double row = (double)dimension;
    double list = (dimension <= AST_SMALL ? 16 : 12) * row + 56; /* means, sums, moves, and single numbers */
    double tables = 3 * 4 * row + 64, starts = 12 * row, result = 4 * row + 64;
    double worker = 4 * 4 * row + 3 * 8 * (row + 8) + 160; /* tables of its own, sums of its own */
    return 2.5 * list + 1.5 * tables + starts + result + threads * worker;
}

/* Bytes of one cluster for merging: copies of means and sums, the search for joins (tree.c), evidence, tables. */
static double merge_slot_bytes(const ast_options *options, size_t dimension, double threads) {
    double row = (double)dimension, dissolved = options->merge.min_size > 0 ? 6 * row + 16 : 0;
    bool merges = options->merge.by != AST_MERGE_NONE || options->merge.tree;
    return dissolved + (merges ? 68 * row + 1600 + 64 * threads : 0);
}

/* Whether merging looks for copies of rows. */
static bool looks_for_copies(const ast_options *options) {
    return options->merge.by == AST_MERGE_EVIDENCE || options->merge.by == AST_MERGE_COUNT;
}

/* Bytes of every point, wherever its label is. */
static double whole_bytes(const ast_source *source, const ast_options *options) {
    return (source->weights ? 8 : 0) + (looks_for_copies(options) ? HASH_BYTES : 0) +
           (options->merge.tree && options->merge.leaves ? sizeof(int32_t) : 0);
}

/* Bytes of the heads of one mean (scores/heads.h), in all tables. */
static double head_bytes(size_t dimension, double threads) {
    double width = dimension < AST_MOST_AXES ? (double)dimension : AST_MOST_AXES;
    return dimension <= AST_SMALL ? 0
                                  : (1 + threads) * (1.5 * (5 * (double)dimension + 12 * width) + 48) + threads * 768;
}

/* Bytes of the axes and a sample; of each thread, heads of some points. */
static double head_fixed_bytes(size_t dimension, double threads) {
    double row = (double)dimension, width = dimension < AST_MOST_AXES ? row : AST_MOST_AXES;
    return dimension <= AST_SMALL ? 0 : 4 * row * (2 * width + 3 * 1024) + 8 * 1024 * width + threads * 4 * 512 * width;
}

/* Bytes of one thread: scores, lists and rows of a chunk. */
static double worker_bytes(const ast_source *source) {
    double chunk = (double)ast_chunk_size(source->dimension), row = (double)source->dimension;
    bool small = source->dimension <= AST_SMALL, raw = small || source->type != AST_F4;
    double rows = chunk * row * (4 + (raw ? (double)ast_type_size(source->type) : 0));
    return rows + (chunk + AST_BLOCK) * 96 + 8 * row + (small ? 16384 : 8 * 4096.0) + 4 * AST_ROW_SCRATCH;
}

/* Bytes of one point: its label, its sign, its share of a block, its score for representatives. */
static double label_bytes(const ast_options *options) {
    double score = options->representatives ? sizeof(double) : 0;
    double kept = options->metric && !options->map ? sizeof(int32_t) : 0;               /* of several runs */
    double moved = looks_for_copies(options) ? 8 : options->merge.min_size > 0 ? 5 : 0; /* labels after a step */
    return score + kept + moved + 4 + 1.0 / AST_LANES + 4.0 / AST_LANES +
           (double)(sizeof(ast_block) + sizeof(size_t)) / AST_BLOCK;
}

static double least_clusters(const ast_options *options, size_t count) {
    if (options->method == AST_SPKM)
        return (double)(options->start.by == AST_GIVEN ? options->start.means_count : options->clusters);
    double given = (double)(options->start.by == AST_GIVEN ? options->start.means_count : 0);
    return given + (double)(count < FEW_CLUSTERS ? count : FEW_CLUSTERS);
}

/* Places the labels of as many points as there is memory for, and the bounds of all points if they fit, too. Returns
 * the bytes. */
static double place_points(const ast_source *source, const ast_options *options, double room, ast_plan *plan) {
    double count = (double)(source->count + AST_WINDOW_STEP), label = label_bytes(options);
    double seeds = options->method == AST_SPKM && options->start.by == AST_PLUSPLUS
                       ? 4 + 8 + 4
                       : 0; /* distance, hash, member of a bucket */
    double scores = source->dimension <= AST_SMALL ? 0 : 16;
    double bounded = label + (scores > seeds ? scores : seeds);
    plan->rows = source->count;
    plan->bounds = options->bounds && count * bounded <= room;
    if (plan->bounds)
        return count * bounded;
    if (count * (label + seeds) <= room)
        return count * (label + seeds);
    double rows = room / label < (double)WINDOW_POINTS ? floor(room / label) : (double)WINDOW_POINTS;
    plan->rows = (size_t)rows / AST_WINDOW_STEP * AST_WINDOW_STEP;
    return (double)plan->rows * label;
}

/* false: `memory` is less than plan->least. */
static bool plan_run(const ast_source *source, const ast_options *options, int threads, size_t memory, bool heads,
                     ast_plan *plan) {
    double slot = slot_bytes(source->dimension, threads) + merge_slot_bytes(options, source->dimension, threads) +
                  REPRESENTATIVE_BYTES * (double)options->representatives +
                  (heads ? head_bytes(source->dimension, threads) : 0),
           given = (double)memory, count = (double)source->count;
    double fixed = (double)SLACK + threads * worker_bytes(source) + whole_bytes(source, options) * count;
    double few = least_clusters(options, source->count), bucket = count / 1024;
    double seeds = options->method == AST_SPKM ? 3 * 24 * bucket + threads * 8192 : 0; /* candidates, sums */
    if (heads)
        fixed += head_fixed_bytes(source->dimension, threads);
    fixed += seeds + (options->center ? threads * (double)AST_CENTER_BLOCK : 0);
    double window = (double)(source->count < LEAST_WINDOW ? source->count + AST_WINDOW_STEP : LEAST_WINDOW);
    double least = fixed + few * slot + window * label_bytes(options);
    *plan = (ast_plan){.size = sizeof *plan,
                       .least = (size_t)ceil(least),
                       .heads = heads,
                       .pass_bytes = (uint64_t)source->count * source->dimension * ast_type_size(source->type)};
    if (given < least)
        return false;
    double clusters = few * slot;
    if (options->method == AST_DP && given / CLUSTER_SHARE > clusters)
        clusters = fmin(given / CLUSTER_SHARE, given - (least - few * slot));
    double points = place_points(source, options, given - fixed - clusters, plan);
    double most = options->method == AST_SPKM ? few : fmin((given - fixed - points) / slot, count + few);
    plan->clusters = (size_t)most;
    plan->memory = (size_t)fmin(given, ceil(fixed + points + most * slot));
    plan->label_bytes = plan->rows < source->count ? (uint64_t)source->count * 8 : 0;
    return true;
}

/* The same with what mapped rows take. */
static bool make_plan(const ast_source *source, const ast_options *options, int threads, size_t memory, bool heads,
                      ast_plan *plan) {
    double learning = 0, mapped = options->metric ? ast_mapped_bytes(source, options, threads, &learning) : 0;
    size_t held = (size_t)ceil(mapped), most = (size_t)ceil(learning + SLACK * (learning > 0));
    bool enough = plan_run(source, options, threads, memory > held ? memory - held : 0, heads, plan);
    plan->least = plan->least + held > most ? plan->least + held : most;
    plan->memory = plan->memory + held > most ? plan->memory + held : most;
    return enough && memory >= most;
}

size_t ast_plan_segment_chunks(const ast_source *source) {
    size_t bytes = ast_chunk_size(source->dimension) * source->dimension * ast_type_size(source->type);
    size_t chunks = SEGMENT_BYTES / bytes;
    return chunks < 64 ? 64 : chunks;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

ast_points ast_source_shape(const ast_source *source) {
    ast_points points = ast_points_dense(source, source->type, 0, source->count, source->dimension);
    points.weights = source->weights;
    return points;
}

ast_status ast_check_source(const ast_source *source, ast_fault *fault) {
    ast_status status = ast_check_struct(source, sizeof *source, "source", fault);
    if (status != AST_OK)
        return status;
    if (!source->read)
        return ast_fail(fault, AST_BAD_OPTION, "the source has no function that reads");
    ast_points points = ast_source_shape(source);
    return ast_check_points(&points, fault);
}

static ast_status check_options(const ast_options *o, ast_fault *fault) {
    const char *problem = ast_options_problem(o);
    if (!problem)
        problem =
            ast_problem_of({o->method != AST_DP && o->method != AST_SPKM,
                            "a source is for AST_DP and AST_SPKM: the other methods need all points in memory"},
                           {o->restarts > 1, "a source is for one run: restarts need all points in memory"},
                           {o->dp.order != AST_ORDER_GIVEN,
                            "a source is read in its own order: other orders need all points in memory"},
                           {o->parallel != AST_ORDERED,
                            "a source is read by AST_ORDERED passes: AST_OIR and AST_SERIAL need all points in memory"},
                           {o->dp.sample || o->start.points,
                            "a source is read as a whole: sample and start.points need all points in memory"},
                           {o->kmeans.levels > 1, "levels need all points in memory"},
                           {o->resume, "a source is read from the start: resume needs all points in memory"});
    return ast_fail_option(problem, fault);
}

ast_status ast_plan_call(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                         ast_plan *plan) {
    ast_fault *fault = &context->fault;
    ast_status status = check_options(options, fault);
    if (status == AST_OK)
        status = ast_check_source(source, fault);
    if (status == AST_OK && context->comm)
        status = ast_fail(fault, AST_BAD_OPTION, "a source is read by one process: this context has joined others");
    if (status != AST_OK)
        return status;
    int threads = ast_pool_threads(context->pool);
    bool heads = options->bounds && make_plan(source, options, threads, memory, true, plan) &&
                 (options->method == AST_SPKM || plan->clusters >= MANY_CLUSTERS || plan->clusters >= source->count);
    if (heads || make_plan(source, options, threads, memory, false, plan)) {
        if (context->window && context->window < source->count)
            *plan = (ast_plan){
                .size = sizeof *plan, .rows = context->window, .clusters = plan->clusters, .heads = plan->heads};
        return AST_OK;
    }
    return ast_fail(fault, AST_NO_MEMORY, "%zu bytes of memory are not enough: the least is %zu", memory, plan->least);
}

ast_status ast_plan_source(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                           ast_plan *plan) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_status status = ast_check_struct(plan, sizeof *plan, "plan", &context->fault);
    return ast_leave(context, status == AST_OK ? ast_plan_call(context, source, options, memory, plan) : status);
}
