/* SPDX-License-Identifier: MIT */
#include "reference/cloud_regions.h"
#include "reference/reference.h"

#include "cloud_planes.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST = 4, LINKS = 32, SEED = 8, AIMED = 64, PLANE = 32, SAMPLES = 4096, CANDIDATES = 24 };

typedef struct patch {
    size_t leaf;
    size_t rows[AST_LEAF], count; /* points with a normal, in the order of the leaf */
    ast_scatter sums;
    double normal[3], square, share, reach;
    double low[3], high[3];
    size_t links[LINKS], link_count;
    int region; /* -1 for none */
} patch;

typedef struct region {
    size_t *members, count;     /* the patches that it grew by, in this order */
    size_t *parts, parts_count; /* the regions that became part of it, in this order */
    ast_scatter sums;
    double towards[3], area;
    ast_plane_equation flat;
} region;

typedef struct cloud {
    const float *points, *normals;
    const int32_t *labels;
    size_t count;
    bool undirected;
    double distance, area;
    const ast_cloud_kernels *kernels;
    ast_kdtree tree;
    patch *patches;
    size_t patch_count;
    region *regions;
    size_t region_count;
    int *region_of; /* (count) the region of each point, -1 for none */
    size_t joined;
} cloud;

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

static void normal_at(const cloud *c, size_t row, double *n) {
    for (size_t d = 0; d < 3; d++)
        n[d] = c->normals[3 * row + d];
}

static bool has_normal(const cloud *c, size_t row) {
    double n[3];
    normal_at(c, row, n);
    return ast_dot3(n, n) > 0 && isfinite(ast_dot3(n, n));
}

static ast_scatter sum_of_rows(const cloud *c, const patch *p) {
    ast_scatter sums = {0};
    for (size_t i = 0; i < p->count; i++) {
        const float *at = c->points + 3 * p->rows[i];
        ast_scatter one = {1, {at[0], at[1], at[2]}, {0}};
        ast_scatter_add(&sums, &one);
    }
    return sums;
}

static void sum_normals(const cloud *c, const patch *p, double *sum) {
    double n[3];
    for (int d = 0; d < 3; d++)
        sum[d] = 0;
    for (size_t i = 0; i < p->count; i++) {
        normal_at(c, p->rows[i], n);
        double length = sqrt(ast_dot3(n, n)), sign = c->undirected && ast_dot3(n, sum) < 0 ? -1 : 1;
        for (int d = 0; d < 3; d++)
            sum[d] += sign * (n[d] / length);
    }
}

/* The mean direction. Undirected normals are turned to the side of the sum of those before. */
static void find_normal(const cloud *c, patch *p) {
    double sum[3];
    sum_normals(c, p, sum);
    double length = sqrt(ast_dot3(sum, sum));
    for (int d = 0; d < 3; d++)
        p->normal[d] = length > 0 ? sum[d] / length : 0;
}

static void find_box(const cloud *c, patch *p) {
    for (size_t d = 0; d < 3; d++) {
        p->low[d] = INFINITY;
        p->high[d] = -INFINITY;
        for (size_t i = 0; i < p->count; i++) {
            p->low[d] = fmin(p->low[d], c->points[3 * p->rows[i] + d]);
            p->high[d] = fmax(p->high[d], c->points[3 * p->rows[i] + d]);
        }
    }
}

/* Neighbours may be two distances between points away; points on a line have no area, and reach half its length. */
static void measure_patch(const cloud *c, patch *p) {
    p->region = -1;
    p->sums = sum_of_rows(c, p);
    find_normal(c, p);
    find_box(c, p);
    if (p->count == 0)
        return;
    double n = (double)p->count;
    ast_principal_axes axes = ast_scatter_principal_axes(c->kernels, &p->sums, p->normal);
    const double *squares = axes.square_sums;
    p->square = squares[0] / n;
    p->share = 12 * sqrt(squares[1] * squares[2]) / (n * n);
    p->reach = fmax(2 * sqrt(p->share), sqrt(3 * squares[2] / n));
}

/* Whether a point faces as those of a patch do, within 25 degrees. */
static bool faces(const cloud *c, const patch *p, size_t row) {
    double sum[3], n[3];
    sum_normals(c, p, sum);
    normal_at(c, row, n);
    double length = sqrt(ast_dot3(n, n)), unit[3] = {n[0] / length, n[1] / length, n[2] / length};
    double dot = ast_dot3(sum, unit);
    return (c->undirected ? fabs(dot) : dot) >= 0.9 * sqrt(ast_dot3(sum, sum));
}

/* Each point of a leaf joins the first patch that faces as it does; patches of at least four points stay. */
static void cut_leaf(cloud *c, size_t leaf) {
    size_t size = ast_kdtree_leaf_size(&c->tree, leaf), count = 0;
    const int32_t *rows = c->tree.leaves[leaf].index;
    patch cut[AST_LEAF] = {0};
    for (size_t s = 0; s < size; s++) {
        size_t k = 0;
        if (!has_normal(c, (size_t)rows[s]))
            continue;
        while (k < count && !faces(c, &cut[k], (size_t)rows[s]))
            k++;
        count = k < count ? count : k + 1;
        cut[k].rows[cut[k].count++] = (size_t)rows[s];
    }
    for (size_t k = 0; k < count; k++) {
        if (cut[k].count < LEAST)
            continue;
        cut[k].leaf = leaf;
        measure_patch(c, &cut[k]);
        c->patches[c->patch_count++] = cut[k];
    }
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static bool is_near(const patch *p, const patch *q) {
    double squares = 0;
    for (int d = 0; d < 3; d++) {
        double gap = fmax(0, fmax(p->low[d] - q->high[d], q->low[d] - p->high[d]));
        squares += gap * gap;
    }
    return squares <= p->reach * p->reach;
}

static void link_patches(cloud *c) {
    for (size_t k = 0; k < c->patch_count; k++) {
        patch *p = &c->patches[k];
        for (size_t q = 0; q < c->patch_count; q++)
            if (q != k && p->link_count < LINKS && is_near(p, &c->patches[q]))
                p->links[p->link_count++] = q;
    }
}

/* ---- The noise --------------------------------------------------------------------------------------------------- */

static double facing(const cloud *c, const double *a, const double *b) {
    return c->undirected ? fabs(ast_dot3(a, b)) : ast_dot3(a, b);
}

/* The number that has half of the others before it. */
static double median(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        for (size_t j = 0; j < count; j++)
            before += numbers[j] < numbers[i] || (numbers[j] == numbers[i] && j < i);
        if (before == count / 2)
            return numbers[i];
    }
    return 0;
}

static double deviation(const cloud *c, const patch *p) {
    ast_scatter all = p->sums;
    for (size_t l = 0; l < p->link_count; l++)
        if (facing(c, p->normal, c->patches[p->links[l]].normal) >= 0.9)
            ast_scatter_add(&all, &c->patches[p->links[l]].sums);
    return sqrt(ast_scatter_principal_axes(c->kernels, &all, p->normal).square_sums[0] / (all.n - 3));
}

static double distance_by_noise(const cloud *c) {
    double *deviations = ref_take(SAMPLES + 1, sizeof *deviations), *spacings = ref_take(SAMPLES + 1, sizeof *spacings);
    double largest = 0;
    size_t count = 0;
    for (size_t k = 0; k < c->patch_count; k += 1 + c->patch_count / SAMPLES) {
        const patch *p = &c->patches[k];
        if (p->count < LEAST) /* three points lie on any plane */
            continue;
        deviations[count] = deviation(c, p);
        spacings[count++] = sqrt(p->share);
        for (int d = 0; d < 3; d++)
            largest = fmax(largest, fabs(p->sums.mean[d]));
    }
    double distance = fmax(fmax(4 * median(deviations, count), 0.25 * median(spacings, count)), 1e-6 * largest);
    free(deviations);
    free(spacings);
    return distance;
}

/* ---- Regions ----------------------------------------------------------------------------------------------------- */

static void add_towards(const cloud *c, region *r, const double *normal, double weight) {
    double sign = c->undirected && ast_dot3(r->towards, normal) < 0 ? -1 : 1;
    for (int d = 0; d < 3; d++)
        r->towards[d] += sign * weight * normal[d];
}

/* All that is known of a region, from its lists. */
static void sum_region(const cloud *c, region *r) {
    r->sums = (ast_scatter){0};
    r->area = r->towards[0] = r->towards[1] = r->towards[2] = 0;
    for (size_t i = 0; i < r->count; i++) {
        const patch *p = &c->patches[r->members[i]];
        ast_scatter_add(&r->sums, &p->sums);
        add_towards(c, r, p->normal, p->sums.n);
        r->area += p->share * p->sums.n;
    }
    for (size_t i = 0; i < r->parts_count; i++) {
        region *part = &c->regions[r->parts[i]];
        sum_region(c, part);
        ast_scatter_add(&r->sums, &part->sums);
        add_towards(c, r, part->towards, 1);
        r->area += part->area;
    }
}

static void fit(const cloud *c, region *r) {
    double length = sqrt(ast_dot3(r->towards, r->towards));
    ast_principal_axes axes = ast_scatter_principal_axes(c->kernels, &r->sums, r->towards);
    bool aimed = r->sums.n >= AIMED || length == 0;
    for (int d = 0; d < 3; d++)
        r->flat.normal[d] = aimed ? axes.vectors[0][d] : r->towards[d] / length;
    r->flat.offset = ast_dot3(r->flat.normal, r->sums.mean);
}

static double limit_of(const cloud *c) {
    return c->distance * c->distance / 2;
}

static void add_member(cloud *c, size_t number, size_t k) {
    region *r = &c->regions[number];
    r->members[r->count++] = k;
    c->patches[k].region = (int)number;
}

static void forget_members(cloud *c, size_t number) {
    for (size_t i = 0; i < c->regions[number].count; i++)
        c->patches[c->regions[number].members[i]].region = -1;
    c->regions[number].count = 0;
}

static bool fits(const cloud *c, const region *r, const patch *p) {
    return p->region < 0 && facing(c, p->normal, r->flat.normal) >= 0.9 &&
           ast_scatter_mean_square(&p->sums, &r->flat) <= limit_of(c);
}

/* From one patch to those around it. The plane is fitted again whenever the region has grown by a quarter since the
 * last time; `fitted` is the number of points then. */
static void grow(cloud *c, size_t number, size_t seed, double fitted) {
    region *r = &c->regions[number];
    add_member(c, number, seed);
    if (fitted == 0) {
        sum_region(c, r);
        fit(c, r);
        fitted = r->sums.n;
    }
    for (size_t next = 0; next < r->count; next++) {
        const patch *from = &c->patches[r->members[next]];
        for (size_t l = 0; l < from->link_count; l++)
            if (fits(c, r, &c->patches[from->links[l]]))
                add_member(c, number, from->links[l]);
        sum_region(c, r);
        if (r->sums.n >= 1.25 * fitted) {
            fit(c, r);
            fitted = r->sums.n;
        }
    }
    fit(c, r);
}

/* The flattest patch in no region that was not tried yet, or the number of patches. */
static size_t next_seed(const cloud *c, const bool *tried) {
    size_t found = c->patch_count;
    for (size_t k = 0; k < c->patch_count; k++) {
        const patch *p = &c->patches[k];
        if (!tried[k] && p->region < 0 && p->sums.n >= SEED && p->square <= limit_of(c) &&
            (found == c->patch_count || p->square < c->patches[found].square))
            found = k;
    }
    return found;
}

/* Each region grows twice, the second time from the plane that the first found. */
static void grow_regions(cloud *c) {
    bool *tried = ref_take(c->patch_count + 1, sizeof *tried);
    for (size_t seed = next_seed(c, tried); seed < c->patch_count; seed = next_seed(c, tried)) {
        size_t number = c->region_count;
        region *r = &c->regions[number];
        tried[seed] = true;
        if (!r->members)
            r->members = ref_take(c->patch_count, sizeof *r->members);
        grow(c, number, seed, 0);
        if (r->count > 1) {
            forget_members(c, number);
            grow(c, number, seed, r->sums.n);
        }
        if (r->sums.n >= PLANE)
            c->region_count++;
        else
            forget_members(c, number);
    }
    free(tried);
}

/* ---- Joining ----------------------------------------------------------------------------------------------------- */

/* Mean square of the distances from the plane of both: noise, or for two pieces of one bent wall, which are parallel to
 * 3 degrees and go on where their patches p and q meet, a hundredth of the smaller one's size. */
static double join_limit(const cloud *c, const region *a, const region *b, const patch *p, const patch *q) {
    bool smooth = facing(c, a->flat.normal, b->flat.normal) >= 0.9986 &&
                  fabs(ast_plane_distance(&a->flat, q->sums.mean)) <= c->distance &&
                  fabs(ast_plane_distance(&b->flat, p->sums.mean)) <= c->distance;
    return fmax(limit_of(c) / 2, smooth ? 0.01 * 0.01 * fmin(a->area, b->area) : 0);
}

static bool face_one_way(const cloud *c, const region *a, const region *b) {
    return facing(c, a->flat.normal, b->flat.normal) >= 0.9;
}

/* Whether the points of both lie on the plane of both; the smaller one may not be far from that of the larger one. */
static bool lie_on_one(const region *a, const region *b, const region *both, double limit) {
    const region *small = a->sums.n < b->sums.n ? a : b, *large = small == a ? b : a;
    return fabs(ast_plane_distance(&large->flat, small->sums.mean)) <= 4 * sqrt(limit) &&
           ast_scatter_mean_square(&a->sums, &both->flat) <= limit &&
           ast_scatter_mean_square(&b->sums, &both->flat) <= limit;
}

/* Region b becomes part of region a, and its patches are those of a, if the two are one plane. */
static bool join(cloud *c, size_t a, size_t b, const patch *p, const patch *q) {
    region *to = &c->regions[a], both = *to;
    if (!face_one_way(c, to, &c->regions[b]))
        return false;
    both.parts = ref_take(to->parts_count + 1, sizeof *both.parts);
    for (size_t i = 0; i < to->parts_count; i++)
        both.parts[i] = to->parts[i];
    both.parts[both.parts_count++] = b;
    sum_region(c, &both);
    fit(c, &both);
    bool good = lie_on_one(to, &c->regions[b], &both, join_limit(c, to, &c->regions[b], p, q));
    free(good ? to->parts : both.parts);
    if (!good)
        return false;
    *to = both;
    for (size_t k = 0; k < c->patch_count; k++)
        if (c->patches[k].region == (int)b)
            c->patches[k].region = (int)a;
    c->joined++;
    return true;
}

/* Pairs of neighbouring patches in order, again and again until no pair joins. */
static void join_regions(cloud *c) {
    for (bool joined = true; joined;) {
        joined = false;
        for (size_t k = 0; k < c->patch_count; k++)
            for (size_t l = 0; l < c->patches[k].link_count; l++) {
                const patch *p = &c->patches[k], *q = &c->patches[p->links[l]];
                if (p->region < 0 || q->region < 0 || p->region == q->region)
                    continue;
                const patch *first = p->region < q->region ? p : q, *second = first == p ? q : p;
                joined |= join(c, (size_t)first->region, (size_t)second->region, first, second);
            }
    }
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void add_candidate(size_t *list, size_t *count, int number) {
    for (size_t i = 0; i < *count; i++)
        if (list[i] == (size_t)number)
            return;
    if (number >= 0 && *count < CANDIDATES)
        list[(*count)++] = (size_t)number;
}

/* The regions of the patches of a leaf, and then of the patches around them. */
static size_t find_candidates(const cloud *c, size_t leaf, size_t *list) {
    size_t count = 0;
    for (size_t k = 0; k < c->patch_count; k++)
        if (c->patches[k].leaf == leaf)
            add_candidate(list, &count, c->patches[k].region);
    for (size_t k = 0; k < c->patch_count; k++)
        for (size_t l = 0; c->patches[k].leaf == leaf && l < c->patches[k].link_count; l++)
            add_candidate(list, &count, c->patches[c->patches[k].links[l]].region);
    return count;
}

/* The nearest plane that is within reach and faces the point's way by 60 degrees; the first of equals. */
static int nearest_plane(const cloud *c, size_t row, const size_t *list, size_t count) {
    double p[3], n[3], least = INFINITY;
    int found = -1;
    normal_at(c, row, n);
    for (size_t d = 0; d < 3; d++)
        p[d] = c->points[3 * row + d];
    for (size_t i = 0; i < count; i++) {
        const region *r = &c->regions[list[i]];
        double reach = fmax(c->distance, 3 * sqrt(ast_scatter_mean_square(&r->sums, &r->flat)));
        double away = fabs(ast_plane_distance(&r->flat, p));
        if (away < least && away <= reach && facing(c, n, r->flat.normal) >= 0.5 * sqrt(ast_dot3(n, n))) {
            least = away;
            found = (int)list[i];
        }
    }
    return found;
}

static void assign_points(cloud *c) {
    for (size_t i = 0; i < c->count; i++)
        c->region_of[i] = -1;
    for (size_t leaf = 0; leaf < ast_kdtree_leaves(&c->tree); leaf++) {
        size_t list[CANDIDATES], count = find_candidates(c, leaf, list);
        for (size_t s = 0; s < ast_kdtree_leaf_size(&c->tree, leaf); s++) {
            size_t row = (size_t)c->tree.leaves[leaf].index[s];
            c->region_of[row] = nearest_plane(c, row, list, count);
        }
    }
}

/* ---- Planes ------------------------------------------------------------------------------------------------------ */

/* The points of a region, summed about its mean so that a cloud far from the origin loses no digits. */
static ast_scatter sum_of_points(const cloud *c, int number) {
    const double *middle = c->regions[number].sums.mean;
    double sum[3] = {0}, square[6] = {0};
    ast_scatter all = {0};
    for (size_t i = 0; i < c->count; i++)
        for (size_t a = 0, e = 0; a < 3 && c->region_of[i] == number; a++) {
            double d = c->points[3 * i + a] - middle[a];
            sum[a] += d;
            for (size_t b = a; b < 3; b++, e++)
                square[e] += d * (c->points[3 * i + b] - middle[b]);
            all.n += a == 0;
        }
    for (size_t a = 0, e = 0; a < 3; a++) {
        all.mean[a] = middle[a] + sum[a] / all.n;
        for (size_t b = a; b < 3; b++, e++)
            all.products[e] = square[e] - sum[a] * sum[b] / all.n;
    }
    return all;
}

/* Nine tenths of a region's patches have no more area per point. */
static double share_of(const cloud *c, int number) {
    size_t all = 0;
    for (size_t k = 0; k < c->patch_count; k++)
        all += c->patches[k].region == number;
    size_t rank = (size_t)(0.9 * (double)(all - 1));
    for (size_t k = 0; k < c->patch_count; k++) {
        size_t before = 0;
        double share = c->patches[k].share;
        for (size_t j = 0; j < c->patch_count && c->patches[k].region == number; j++)
            before += c->patches[j].region == number &&
                      (c->patches[j].share < share || (c->patches[j].share == share && j < k));
        if (c->patches[k].region == number && before == rank)
            return share;
    }
    return 0;
}

/* The label of most points, the lowest of equals. */
static int32_t label_of(const cloud *c, int number) {
    size_t most = 0;
    int32_t found = -1;
    for (size_t i = 0; i < c->count; i++) {
        int32_t label = c->labels[i];
        size_t alike = 0;
        for (size_t j = 0; j < c->count && c->region_of[i] == number && label >= 0; j++)
            alike += c->region_of[j] == number && c->labels[j] == label;
        if (alike > most || (alike == most && alike > 0 && label < found)) {
            most = alike;
            found = label;
        }
    }
    return found;
}

/* By the library: the area of the points along the widest axis and across it. */
static double area_of(const cloud *c, int number, const double *centroid, const ast_principal_axes *axes) {
    const double *normal = axes->vectors[0], *along = axes->vectors[2];
    double across[3], area = 0, (*at)[2] = ref_take(c->count, sizeof *at);
    ast_polygons outline = {0};
    ast_plane_grid sheet = {0};
    size_t count = 0;
    for (int d = 0; d < 3; d++)
        across[d] = along[(d + 1) % 3] * normal[(d + 2) % 3] - along[(d + 2) % 3] * normal[(d + 1) % 3];
    for (size_t i = 0; i < c->count; i++) {
        double from[3];
        for (size_t d = 0; d < 3; d++)
            from[d] = c->points[3 * i + d] - centroid[d];
        if (c->region_of[i] != number)
            continue;
        at[count][0] = ast_dot3(from, along);
        at[count++][1] = ast_dot3(from, across);
    }
    ast_cloud_extent(at, count, share_of(c, number), &outline, &sheet, &area);
    ast_polygons_free(&outline);
    free(at);
    return area;
}

static ast_plane_info plane_of_region(const cloud *c, int number) {
    ast_plane_info plane = {.id = -1};
    for (size_t i = 0; i < c->count; i++)
        plane.count += c->region_of[i] == number;
    if (plane.count < PLANE)
        return plane;
    ast_scatter sums = sum_of_points(c, number);
    ast_principal_axes axes = ast_scatter_principal_axes(c->kernels, &sums, c->regions[number].towards);
    for (int d = 0; d < 3; d++) {
        plane.normal[d] = axes.vectors[0][d] + 0.0; /* no negative zeros */
        plane.centroid[d] = sums.mean[d];
    }
    plane.offset = ast_dot3(plane.normal, plane.centroid);
    plane.rms = sqrt(axes.square_sums[0] / sums.n);
    plane.area = area_of(c, number, plane.centroid, &axes);
    plane.direction = label_of(c, number);
    return plane;
}

/* The largest plane that has no id yet, the first of equals; the number of regions if those left are too small. */
static size_t next_plane(const cloud *c, const ast_plane_info *all, double least) {
    size_t found = c->region_count;
    for (size_t k = 0; k < c->region_count; k++)
        if (all[k].id < 0 && all[k].area > 0 && all[k].area >= least &&
            (found == c->region_count || all[k].area > all[found].area))
            found = k;
    return found;
}

static void number_planes(const cloud *c, ref_cloud_planes *found) {
    ast_plane_info *all = ref_take(c->region_count + 1, sizeof *all);
    double sum = 0;
    for (size_t k = 0; k < c->region_count; k++) {
        all[k] = plane_of_region(c, (int)k);
        sum += all[k].area > 0 ? all[k].area : 0;
    }
    double least = c->area < 0 ? 1e-3 * sum : c->area;
    for (size_t k = next_plane(c, all, least); k < c->region_count; k = next_plane(c, all, least)) {
        all[k].id = (int32_t)found->count;
        found->planes[found->count++] = all[k];
    }
    for (size_t i = 0; i < c->count; i++)
        found->plane_of[i] = c->region_of[i] < 0 ? -1 : all[c->region_of[i]].id;
    free(all);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void close_cloud(cloud *c) {
    for (size_t k = 0; k < c->patch_count; k++) {
        free(c->regions[k].members);
        free(c->regions[k].parts);
    }
    ast_kdtree_free(&c->tree);
    free(c->patches);
    free(c->regions);
    free(c->region_of);
}

void ref_cloud_planes_find(ref_cloud_planes *found, const float *points, const float *normals, const int32_t *labels,
                           size_t count, const ast_plane_options *options) {
    ast_pool *pool;
    cloud c = {.points = points,
               .normals = normals,
               .labels = labels,
               .count = count,
               .undirected = options->undirected,
               .distance = options->distance,
               .area = options->area,
               .kernels = ast_cloud_kernels_choose("base"),
               .patches = ref_take(count / LEAST + 1, sizeof(patch)),
               .region_of = ref_take(count + 1, sizeof(int))};
    if (ast_pool_open(&pool, 1) != AST_OK || !ast_kdtree_build(&c.tree, pool, points, count))
        abort();
    ast_pool_close(pool);
    for (size_t leaf = 0; leaf < ast_kdtree_leaves(&c.tree); leaf++)
        cut_leaf(&c, leaf);
    c.regions = ref_take(c.patch_count + 1, sizeof *c.regions);
    link_patches(&c);
    c.distance = c.distance > 0 ? c.distance : distance_by_noise(&c);
    grow_regions(&c);
    join_regions(&c);
    assign_points(&c);
    *found = (ref_cloud_planes){.plane_of = ref_take(count + 1, sizeof *found->plane_of),
                                .planes = ref_take(c.region_count + 1, sizeof *found->planes),
                                .patches = c.patch_count,
                                .joined = c.joined};
    for (size_t k = 0; k < c.patch_count; k++)
        found->full += c.patches[k].link_count == LINKS;
    number_planes(&c, found);
    close_cloud(&c);
}

void ref_cloud_planes_free(ref_cloud_planes *found) {
    free(found->plane_of);
    free(found->planes);
    *found = (ref_cloud_planes){0};
}
