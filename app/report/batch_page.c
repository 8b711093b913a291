/* SPDX-License-Identifier: MIT
 *
 * A clustering as the data of a page: the drawn points, the clusters, the angles between their means. */
#include "sampling.h"
#include "page.h"
#include <bytes.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200 }; /* bytes of a text that a page shows */

static bool no_memory(ast_format_error *error) {
    return ast_format_fail(error, "there is not enough memory for the report");
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static bool check_labels(const ast_batch_page *page, ast_format_error *error) {
    if (page->label_count != page->points->count)
        return ast_format_fail(error, "%s has %zu labels, but there are %zu points; both must come from the same data",
                               page->labels_name, page->label_count, page->points->count);
    for (size_t i = 0; i < page->label_count; i++) {
        if (page->labels[i] >= 0 && (size_t)page->labels[i] >= page->count)
            return ast_format_fail(error, "%s: row %zu has the label %" PRId32 ", but there are %zu clusters",
                                   page->labels_name, i + 1, page->labels[i], page->count);
    }
    return true;
}

/* What is drawn, in the order of the rows. */
typedef struct drawn {
    int16_t *xyz;
    int32_t *labels;
    size_t total, count;
} drawn;

/* Stores the numbers of a point, least significant byte first on every machine. */
static void draw(drawn *out, const double xyz[3], int32_t label) {
    for (size_t k = 0; k < 3; k++)
        ast_put_little(&out->xyz[3 * out->count + k], (uint64_t)lround(xyz[k] * 32767), 2);
    ast_put_little(&out->labels[out->count++], (uint32_t)label, 4);
}

/* A labelled row has a direction; an unlabelled row may be noise or missing. */
static bool has_direction(const ast_batch_page *page, size_t index, double *row) {
    return page->labels[index] >= 0 || ast_unit_row(page->points, index, row);
}

static void draw_points(const ast_batch_page *page, const ast_projection *projection, drawn *out, double *row) {
    ast_sampling sampling = {page->seed};
    size_t left = out->total, open = out->total < AST_PAGE_POINTS ? out->total : AST_PAGE_POINTS;
    for (size_t i = 0; i < page->points->count && left > 0; i++) {
        if (!has_direction(page, i, row))
            continue;
        double xyz[3];
        if (ast_sampling_takes(&sampling, left--, open) && ast_unit_row(page->points, i, row)) {
            open--;
            ast_projection_see(projection, row, xyz);
            draw(out, xyz, page->labels[i]);
        }
    }
}

static bool put_points(const ast_batch_page *page, const ast_projection *projection, ast_text *json,
                       ast_format_error *error) {
    drawn out = {0};
    double *row = malloc((page->points->dimension + 1) * sizeof *row);
    for (size_t i = 0; row && i < page->points->count; i++)
        out.total += has_direction(page, i, row);
    size_t most = out.total < AST_PAGE_POINTS ? out.total : AST_PAGE_POINTS;
    out.xyz = malloc((3 * most + 1) * sizeof *out.xyz);
    out.labels = malloc((most + 1) * sizeof *out.labels);
    bool good = row && out.xyz && out.labels;
    if (good) {
        draw_points(page, projection, &out, row);
        ast_json_open(json, "points", '{');
        ast_json_integer(json, "total", (int64_t)out.total);
        ast_json_integer(json, "shown", (int64_t)out.count);
        ast_json_base64(json, "xyz", out.xyz, 3 * out.count * sizeof *out.xyz);
        ast_json_base64(json, "labels", out.labels, out.count * sizeof *out.labels);
        ast_json_close(json, '}');
    }
    free(row);
    free(out.xyz);
    free(out.labels);
    return good || no_memory(error);
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

int16_t *ast_map_places(const ast_map *map) {
    int16_t *places = malloc((2 * map->count + 1) * sizeof *places);
    for (size_t i = 0; places && i < 2 * map->count; i++)
        ast_put_little(&places[i], (uint64_t)lroundf(map->xy[i] * 32767), 2);
    return places;
}

static bool put_map(const ast_batch_page *page, const ast_map *map, ast_text *json, ast_format_error *error) {
    int16_t *places = ast_map_places(map);
    int32_t *labels = malloc((map->count + 1) * sizeof *labels);
    bool good = places && labels;
    if (good) {
        for (size_t i = 0; i < map->count; i++)
            ast_put_little(&labels[i], (uint32_t)page->labels[map->rows[i]], 4);
        ast_json_open(json, "map", '{');
        ast_json_integer(json, "shown", (int64_t)map->count);
        ast_json_base64(json, "xy", places, 2 * map->count * sizeof *places);
        ast_json_base64(json, "labels", labels, map->count * sizeof *labels);
        ast_json_map_names(json, page->names, map);
        ast_json_close(json, '}');
    }
    free(places);
    free(labels);
    return good || no_memory(error);
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

ast_ranked *ast_clusters_listed(const ast_cluster_info *clusters, size_t count, size_t *listed) {
    ast_ranked *entries = malloc((count + 1) * sizeof *entries);
    *listed = 0;
    for (size_t i = 0; entries && i < count; i++)
        if (clusters[i].mean)
            entries[(*listed)++] = (ast_ranked){i, clusters[i].count};
    return entries;
}

static void put_mean(ast_text *json, const float *mean, size_t dimension) {
    if (dimension > AST_PAGE_MEAN)
        return;
    ast_json_open(json, "mean", '[');
    for (size_t d = 0; d < dimension; d++)
        ast_json_number(json, NULL, (double)mean[d], 7);
    ast_json_close(json, ']');
}

/* The two angles of a notation. */
static const char *const field_keys[][2] = {
    {NULL, NULL}, {"dip_direction", "dip"}, {"strike", "dip"}, {"trend", "plunge"}, {"azimuth", NULL}};

void ast_json_field(ast_text *json, ast_field_page field) {
    if (field.notation && !field.surface)
        ast_json_string(json, "field", field_keys[field.notation][0]);
}

void ast_json_field_mean(ast_text *json, ast_field_page field, size_t dimension, const ast_cluster_info *cluster) {
    double azimuth, inclination;
    ast_notation notation = field.notation;
    if (!notation || dimension != (notation == AST_AZIMUTH ? 2 : 3))
        return;
    ast_field_angles(notation, field.axial, cluster->mean, &azimuth, &inclination);
    if (field_keys[notation][1])
        ast_json_number(json, field_keys[notation][1], inclination, 6);
    ast_json_number(json, field_keys[notation][0], azimuth, 6);
    if (field.surface)
        return;
    ast_json_number(json, "precision", cluster->precision, 6);
    ast_json_number(json, "alpha95", cluster->alpha95, 6);
}

void ast_json_keywords(ast_text *json, const char *key, const ast_keywords *keywords) {
    ast_json_open(json, key, '[');
    for (size_t i = 0; i < keywords->count; i++)
        ast_json_string(json, NULL, keywords->words[i]);
    ast_json_close(json, ']');
}

void ast_json_name(ast_text *json, const char *key, const ast_names *names, size_t row) {
    char text[TEXT + 4];
    snprintf(text, sizeof text, "row %zu", row);
    if (names && *names->list[row])
        ast_excerpt_of(text, TEXT, names->list[row], strlen(names->list[row]));
    ast_json_string(json, key, text);
}

void ast_json_map_names(ast_text *json, const ast_names *names, const ast_map *map) {
    if (!names)
        return;
    ast_json_open(json, "names", '[');
    for (size_t i = 0; i < map->count; i++)
        ast_json_name(json, NULL, names, map->rows[i]);
    ast_json_close(json, ']');
}

void ast_json_representatives(ast_text *json, const char *key, const ast_cluster_info *cluster,
                              const ast_names *names) {
    ast_json_open(json, key, '[');
    for (size_t i = 0; i < cluster->representative_count; i++)
        ast_json_name(json, NULL, names, cluster->representatives[i]);
    ast_json_close(json, ']');
}

void ast_json_cluster(ast_text *json, size_t id, const ast_cluster_info *cluster, double total) {
    ast_json_integer(json, "id", (int64_t)id);
    ast_json_integer(json, "size", (int64_t)cluster->count);
    ast_json_number(json, "share", total > 0 ? cluster->weight / total : NAN, 6);
    ast_json_number(json, "kappa", cluster->kappa, 6);
    ast_json_number(json, "spread", acos(fmin(1, fmax(-1, cluster->resultant))) * AST_DEGREES_PER_RADIAN, 5);
}

static ast_field_page field_of(const ast_batch_page *page) {
    return (ast_field_page){page->notation, page->head->axial, page->surface};
}

static void put_cluster(ast_text *json, const ast_batch_page *page, size_t id, double total,
                        const ast_projection *projection) {
    double xyz[3];
    const ast_cluster_info *cluster = &page->clusters[id];
    size_t dimension = projection->dimension;
    ast_json_open(json, NULL, '{');
    ast_json_cluster(json, id, cluster, total);
    if (isfinite(cluster->stability))
        ast_json_number(json, "stability", cluster->stability, 5);
    put_mean(json, cluster->mean, dimension);
    ast_projection_see_mean(projection, cluster->mean, xyz);
    ast_json_xyz(json, "xyz", xyz);
    ast_json_field_mean(json, field_of(page), dimension, cluster);
    if (cluster->representatives)
        ast_json_representatives(json, "representatives", cluster, page->names);
    if (page->keywords)
        ast_json_keywords(json, "keywords", &page->keywords[id]);
    ast_json_colour(json, "color", (int32_t)id);
    ast_json_close(json, '}');
}

static double angle_between(const float *a, const float *b, size_t dimension, bool axial) {
    double cosine = 0, one = 0, other = 0;
    for (size_t d = 0; d < dimension; d++) {
        cosine += (double)a[d] * (double)b[d];
        one += (double)a[d] * (double)a[d];
        other += (double)b[d] * (double)b[d];
    }
    cosine /= sqrt(one * other);
    return acos(fmin(1, fmax(-1, axial ? fabs(cosine) : cosine))) * AST_DEGREES_PER_RADIAN;
}

static void put_angles(const ast_batch_page *page, const ast_ranked *listed, size_t count, ast_text *json) {
    ast_json_open(json, "angles", '[');
    for (size_t i = 0; i < count; i++) {
        const float *mean = page->clusters[listed[i].index].mean;
        ast_text_put(json, i ? ",\n" : "");
        ast_json_open(json, NULL, '[');
        for (size_t j = 0; j < count; j++) {
            const float *other = page->clusters[listed[j].index].mean;
            double angle = i == j ? 0 : angle_between(mean, other, page->points->dimension, page->head->axial);
            ast_json_number(json, NULL, round(angle * 100) / 100, 6);
        }
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
}

static bool put_clusters(const ast_batch_page *page, const ast_projection *projection, ast_text *json,
                         ast_format_error *error) {
    size_t count;
    double total = 0;
    ast_ranked *listed = ast_clusters_listed(page->clusters, page->count, &count);
    if (!listed)
        return no_memory(error);
    count = ast_keep_largest(listed, count, AST_PAGE_CLUSTERS);
    for (size_t i = 0; i < page->count; i++)
        total += page->clusters[i].weight;
    ast_json_open(json, "clusters", '[');
    for (size_t i = 0; i < count; i++) {
        ast_text_put(json, i ? ",\n" : "");
        put_cluster(json, page, listed[i].index, total, projection);
    }
    ast_json_close(json, ']');
    if (count <= AST_PAGE_ANGLES)
        put_angles(page, listed, count, json);
    free(listed);
    return true;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool put_image(const ast_picture *image, ast_text *json, ast_format_error *error) {
    ast_output *output = ast_output_open_memory("the picture of the report", error);
    bool good = output && ast_write_picture(output, image->rgb, image->width, image->height, error);
    return ast_json_png(json, "image", output, good, error);
}

static void say(const ast_batch_page *page, const ast_map *map) {
    char all[AST_GROUPED], some[AST_GROUPED];
    ast_page_notes *notes = &page->head->notes;
    size_t labelled = 0;
    for (size_t i = 0; i < page->count; i++)
        labelled += page->clusters[i].count;
    if (labelled > AST_PAGE_POINTS)
        ast_note(notes, "A fair sample of %s of the %s points is drawn.", ast_grouped(AST_PAGE_POINTS, some),
                 ast_grouped(labelled, all));
    if (page->count > AST_PAGE_CLUSTERS)
        ast_note(notes, "The %s largest of the %s clusters are listed.", ast_grouped(AST_PAGE_CLUSTERS, some),
                 ast_grouped(page->count, all));
    if (page->count > AST_PAGE_ANGLES)
        ast_note(notes, "The angles between the means are left out: %s clusters have too many pairs.",
                 ast_grouped(page->count, all));
    if (map)
        ast_note(notes, "On the map %s rows lie near their nearest rows of %zu dimensions; far distances say little.",
                 ast_grouped(map->count, some), page->points->dimension);
    if (page->points->dimension > 3)
        ast_note(notes,
                 "The points have %zu dimensions; the sphere shows the three leading principal directions, "
                 "normalised to length one.",
                 page->points->dimension);
}

bool ast_batch_page_json(const ast_batch_page *page, ast_text *json, ast_format_error *error) {
    ast_projection projection = {0};
    ast_map own = {0};
    if (!check_labels(page, error))
        return false;
    const ast_map *map = page->map;
    bool good = ast_projection_find(&projection, page->points, error);
    if (good && !map && ast_map_suits(page->points, page->head->axial)) {
        good = ast_map_make(&own, page->points, NULL, 0, page->threads, NULL, NULL, error);
        map = &own;
    }
    if (good) {
        say(page, map);
        ast_page_begin(json, page->head, "batch", false, &projection);
        ast_json_field(json, field_of(page));
        good = put_points(page, &projection, json, error) && put_clusters(page, &projection, json, error) &&
               (!page->image || put_image(page->image, json, error)) && (!map || put_map(page, map, json, error));
        if (page->planes)
            ast_json_planes(json, page->planes);
        if (page->layers && page->layers->count)
            ast_json_layers(page->layers, page->labels, json);
        ast_json_close(json, '}');
    }
    ast_map_free(&own);
    ast_projection_free(&projection);
    return good && (!json->failed || no_memory(error));
}
