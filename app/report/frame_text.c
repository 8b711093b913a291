/* SPDX-License-Identifier: MIT
 *
 * A frame of a stream as text. The time depends on the clusters and the sample, not on the points of the frame, because
 * the next frame is waiting. */
#include "frame_text.h"

#include "sampling.h"
#include <bytes.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The drawn points. */
typedef struct sample {
    unsigned char xyz[AST_FRAME_SAMPLE][6]; /* three int16, least significant byte first */
    unsigned char labels[AST_FRAME_SAMPLE][4];
    size_t count;
    bool axial;
    double *cosines; /* (clusters) sums over the members in the sample, ... */
    size_t *members; /* ... and the number of members */
} sample;

/* ---- Which clusters ---------------------------------------------------------------------------------------------- */

/* All clusters if they are few; otherwise the largest of those that have points or ended in this frame. In order of
 * id. */
static ast_ranked *choose(const ast_recorded *frame, ast_frame_parts *parts) {
    ast_ranked *entries = malloc((frame->count + 1) * sizeof *entries);
    size_t count = 0;
    for (size_t i = 0; entries && i < frame->count; i++) {
        const ast_tracked *cluster = &frame->clusters[i];
        if (frame->count <= AST_FRAME_UNSEEN || cluster->event != AST_UNSEEN || cluster->count > 0)
            entries[count++] = (ast_ranked){i, cluster->count};
    }
    parts->cut = count > AST_FRAME_CLUSTERS;
    if (entries)
        count = ast_keep_largest(entries, count, AST_FRAME_CLUSTERS);
    parts->id_count = count;
    return entries;
}

/* ---- The sample -------------------------------------------------------------------------------------------------- */

static size_t find_cluster(const ast_recorded *frame, int32_t id) {
    size_t low = 0, high = frame->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frame->clusters[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < frame->count && frame->clusters[low].id == id ? low : SIZE_MAX;
}

static void take(sample *of, const ast_recorded *frame, const ast_projection *projection, const double *row,
                 int32_t label) {
    double xyz[3], cosine = 0;
    size_t cluster = find_cluster(frame, label);
    ast_projection_see(projection, row, xyz);
    for (size_t k = 0; k < 3; k++)
        ast_put_little(of->xyz[of->count] + 2 * k, (uint64_t)lround(xyz[k] * 32767), 2);
    ast_put_little(of->labels[of->count], (uint32_t)label, 4);
    of->count++;
    if (cluster == SIZE_MAX)
        return;
    for (size_t d = 0; d < projection->dimension; d++)
        cosine += row[d] * (double)frame->clusters[cluster].mean[d];
    of->cosines[cluster] += of->axial ? fabs(cosine) : cosine;
    of->members[cluster]++;
}

/* Picks one point at random from each of many equal intervals: unbiased, and without reading the whole frame. If points
 * are missing, more are examined. */
static void take_sample(sample *of, const ast_recorded *frame, const ast_projection *projection, double *row) {
    const ast_points *points = frame->points;
    size_t usable = frame->frame->points - frame->frame->missing, looks = points->count;
    ast_sampling sampling = {frame->frame->frame + 1};
    if (usable > AST_FRAME_SAMPLE)
        looks = (size_t)((double)points->count / (double)usable * AST_FRAME_SAMPLE);
    for (size_t i = 0; i < looks && of->count < AST_FRAME_SAMPLE; i++) {
        size_t first = (size_t)((unsigned __int128)i * points->count / looks);
        size_t end = (size_t)((unsigned __int128)(i + 1) * points->count / looks);
        size_t index = first + ast_sampling_below(&sampling, end - first);
        if (frame->labels[index] >= 0 && ast_unit_row(points, index, row))
            take(of, frame, projection, row, frame->labels[index]);
    }
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static void put_cluster(ast_text *text, const ast_tracked *cluster, double spread, const ast_projection *projection) {
    double xyz[3];
    ast_projection_see_mean(projection, cluster->mean, xyz);
    ast_json_open(text, NULL, '{');
    ast_json_integer(text, "id", cluster->id);
    ast_json_integer(text, "count", (int64_t)cluster->count);
    ast_json_number(text, "share", cluster->share, 5);
    ast_json_xyz(text, "xyz", xyz);
    ast_json_integer(text, "age", cluster->age);
    ast_json_number(text, "spread", spread, 4);
    ast_json_string(text, "event", ast_event_names[cluster->event]);
    if (cluster->event == AST_MERGED)
        ast_json_integer(text, "into", cluster->into);
    ast_json_close(text, '}');
}

/* Of the points in the sample; without a sample, as the stream learned it. */
static double spread_of(const ast_recorded *frame, const sample *of, size_t at) {
    if (!frame->points)
        return frame->clusters[at].spread;
    double cosine = of->members[at] ? of->cosines[at] / (double)of->members[at] : NAN;
    return acos(fmin(1, fmax(-1, cosine))) * AST_DEGREES_PER_RADIAN;
}

static void put_rotation(ast_text *text, const ast_recorded_rotation *rotation) {
    ast_json_open(text, "rotation", '[');
    for (size_t i = 0; i < 4; i++)
        ast_json_number(text, NULL, rotation->quaternion[i], 6);
    ast_json_close(text, ']');
    ast_json_integer(text, "rotation_rank", rotation->rank);
    ast_json_open(text, "rotation_deviation", '[');
    for (size_t i = 0; i < 3; i++)
        ast_json_number(text, NULL, rotation->deviation[i], 4);
    ast_json_close(text, ']');
}

static void put_core(ast_text *text, const ast_recorded *frame, const ast_ranked *entries, size_t count,
                     const sample *of, const ast_projection *projection) {
    const ast_frame *about = frame->frame;
    ast_json_open(text, NULL, '{');
    ast_json_integer(text, "frame", (int64_t)about->frame);
    ast_json_string(text, "source", frame->source);
    ast_json_integer(text, "points", (int64_t)about->points);
    ast_json_integer(text, "missing", (int64_t)about->missing);
    ast_json_number(text, "milliseconds", about->seconds * 1e3, 5);
    ast_json_number(text, "objective", about->objective, 9);
    ast_json_open(text, "clusters", '[');
    for (size_t i = 0; i < count; i++) {
        size_t at = entries[i].index;
        put_cluster(text, &frame->clusters[at], spread_of(frame, of, at), projection);
    }
    ast_json_close(text, ']');
    if (frame->rotation)
        put_rotation(text, frame->rotation);
    if (frame->planes)
        ast_json_planes(text, frame->planes);
}

static void put_sample(ast_text *text, const sample *of) {
    ast_json_open(text, "sample", '{');
    ast_json_base64(text, "xyz", of->xyz, of->count * sizeof of->xyz[0]);
    ast_json_base64(text, "labels", of->labels, of->count * sizeof of->labels[0]);
    ast_json_close(text, '}');
}

static bool put_message(const ast_recorded *frame, const ast_ranked *entries, const sample *of,
                        const ast_projection *projection, ast_text *text, ast_frame_parts *parts,
                        ast_format_error *error) {
    bool good = true;
    ast_json_open(text, NULL, '{');
    ast_json_string(text, "type", "frame");
    ast_json_key(text, "data");
    parts->begin = text->size;
    put_core(text, frame, entries, parts->id_count, of, projection);
    parts->core = text->size;
    if (of->count > 0)
        put_sample(text, of);
    if (frame->image)
        good = ast_thumbnail_json(frame->image, text, "image", error);
    ast_json_close(text, '}');
    parts->end = text->size;
    /* Of all listed clusters, not only of new ones: a browser may have missed the frame in which one was new. */
    ast_json_colours(text, parts->ids, parts->id_count);
    ast_json_close(text, '}');
    return good;
}

bool ast_frame_message(const ast_recorded *frame, const ast_projection *projection, bool axial, ast_text *text,
                       ast_frame_parts *parts, ast_format_error *error) {
    sample of = {.axial = axial};
    ast_ranked *entries = choose(frame, parts);
    double *row = malloc((projection->dimension + 1) * sizeof *row);
    of.cosines = calloc(frame->count + 1, sizeof *of.cosines);
    of.members = calloc(frame->count + 1, sizeof *of.members);
    parts->ids = malloc((parts->id_count + 1) * sizeof *parts->ids);
    bool memory = entries && row && of.cosines && of.members && parts->ids, good = memory;
    for (size_t i = 0; memory && i < parts->id_count; i++)
        parts->ids[i] = frame->clusters[entries[i].index].id;
    if (memory && frame->points && frame->points->count > 0)
        take_sample(&of, frame, projection, row);
    if (memory)
        good = put_message(frame, entries, &of, projection, text, parts, error);
    free(entries);
    free(row);
    free(of.cosines);
    free(of.members);
    if (memory && !text->failed)
        return good;
    return ast_format_fail(error, "there is not enough memory for the picture of frame %" PRIu64, frame->frame->frame);
}
