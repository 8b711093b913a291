/* SPDX-License-Identifier: MIT
 *
 * What writing a checkpoint and reading one have in common. */
#include "checkpoint.h"

#include "checksum.h"
#include "digest.h"
#include "random.h"

/* Moves *at past `count` things of `size` bytes, to a multiple of 8; false if there cannot be so many. */
static bool add(size_t *at, uint64_t count, size_t size) {
    if (count > (SIZE_MAX / 4 - *at) / size)
        return false;
    *at = (*at + count * size + 7) / 8 * 8;
    return true;
}

bool ast_checkpoint_lay_out(const ast_checkpoint_head *head, ast_checkpoint_layout *layout) {
    size_t at = sizeof *head, row = head->dimension * sizeof(float);
    if (head->dimension > INT32_MAX || head->dimension < 2 || head->points > INT32_MAX)
        return false;
    layout->prints = at;
    bool good = add(&at, head->print_count, sizeof(uint64_t));
    layout->means = at;
    good = good && add(&at, head->live, row);
    layout->results = at;
    good = good && add(&at, head->restart, sizeof(ast_checkpoint_result));
    layout->clusters = at;
    good = good && add(&at, head->kept_clusters, sizeof(ast_checkpoint_cluster));
    layout->kept_means = at;
    good = good && add(&at, head->kept_clusters, row);
    layout->checksum = at;
    layout->records = at + sizeof(uint64_t);
    if (!good || head->restart >= INT32_MAX)
        return false;
    layout->width = 1 + (size_t)head->restart;
    at = layout->records;
    good = good && add(&at, head->points, layout->width * sizeof(uint32_t));
    layout->tail = at;
    return good;
}

/* What an option is worth where it plays no part must not tell two runs apart. */
/* One number for everything that is asked for after convergence. */
static uint64_t merge_of(const ast_options *o) {
    const double all[] = {(double)o->merge, o->merge == AST_MERGE_ANGLE ? o->merge_angle : 0,
                          o->merge == AST_MERGE_COUNT ? (double)o->merge_count : 0, o->min_size};
    return ast_checksum(all, sizeof all);
}

ast_checkpoint_head ast_checkpoint_describe(const ast_call *c) {
    const ast_options *o = c->options;
    bool dp = o->method == AST_DP, given = o->start == AST_GIVEN;
    return (ast_checkpoint_head){
        .magic = AST_CHECKPOINT_MAGIC,
        .version = AST_CHECKPOINT_VERSION,
        .points = c->total,
        .dimension = c->points->dimension,
        .method = o->method,
        .clusters = dp      ? 0
                    : given ? o->means_count
                            : o->clusters,
        .seed = o->seed,
        .order = o->order,
        .merge = merge_of(o),
        .axial = o->axial != 0,
        .start = dp && !given ? AST_PLUSPLUS : o->start,
        .means = given ? ast_checksum(o->means, o->means_count * c->points->dimension * sizeof(float)) : 0,
        .max_iterations = (uint64_t)o->max_iterations,
        .angle = dp ? o->angle : 0};
}

uint64_t ast_checkpoint_digest(ast_call *c) {
    if (!c->digested) {
        c->digest = ast_digest(c->points, c->input.offset, c->context->pool);
        ast_comm_sum(c->context->comm, &c->digest, 1);
        c->digested = true;
    }
    return c->digest;
}

uint64_t ast_checkpoint_part(uint64_t i, const uint32_t *record, size_t width) {
    uint64_t sum = ast_mix64(i);
    for (size_t j = 0; j < width; j++)
        sum = ast_mix64(sum ^ record[j]);
    return sum;
}
