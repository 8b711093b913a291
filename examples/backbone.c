/* SPDX-License-Identifier: MIT
 *
 * Helices and sheets in a protein: the backbone angles phi and psi of every residue as a point, and clusters of them.
 *
 *     backbone FILE.pdb... [ANGLE]
 *
 * The choice: two angles are a point on the product of two circles, and (cos phi, sin phi, cos psi, sin psi) / sqrt 2
 * puts that product on the unit sphere in four dimensions. The cosine of two such points is the mean of the cosines of
 * the differences of phi and of psi: 25 degrees between points is about 25 degrees in both angles. A mean of points is
 * off the product, but its halves still have directions: those are the cluster's phi and psi. */
#include <asterism.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180)

typedef struct residue {
    char key[8];       /* chain, number and insertion code */
    double atom[3][3]; /* N, CA, C */
    int have[3];
} residue;

typedef struct protein {
    residue *list;
    size_t count, capacity;
} protein;

static int read_atoms(const char *path, protein *p);
static size_t backbone_points(const protein *p, float *points);
static int report(const float *points, size_t count, double angle);

/* One protein: 0, or 1 after saying what is wrong. */
static int show(const char *path, double angle) {
    protein p = {0};
    int code = 1;
    if (!read_atoms(path, &p) || p.count == 0) {
        fprintf(stderr, "backbone: %s has no atoms to read\n", path);
    } else {
        float *points = malloc(4 * p.count * sizeof *points);
        code = report(points, points ? backbone_points(&p, points) : 0, angle);
        free(points);
    }
    free(p.list);
    return code;
}

int main(int argc, char **argv) {
    char *end = "";
    double angle = argc > 2 ? strtod(argv[argc - 1], &end) : 60;
    int files = argc - 1 - (argc > 2 && *end == '\0'), code = 0;
    if (files < 1) {
        fprintf(stderr, "usage: backbone FILE.pdb... [ANGLE]\n");
        return 2;
    }
    for (int i = 1; i <= files; i++) {
        if (files > 1)
            printf("%s%s\n", i > 1 ? "\n" : "", argv[i]);
        code |= show(argv[i], files < argc - 1 ? angle : 60);
    }
    return code;
}

/* ---- Atoms ------------------------------------------------------------------------------------------------------- */

/* The residue that an ATOM line belongs to: the last one, or a new one. NULL: no memory. */
static residue *residue_of(protein *p, const char *line) {
    char key[8] = {0};
    memcpy(key, line + 21, 6);
    if (p->count > 0 && strcmp(p->list[p->count - 1].key, key) == 0)
        return &p->list[p->count - 1];
    if (p->count == p->capacity) {
        size_t capacity = 2 * p->capacity + 256;
        residue *list = realloc(p->list, capacity * sizeof *list);
        if (!list)
            return NULL;
        p->list = list;
        p->capacity = capacity;
    }
    residue *r = &p->list[p->count++];
    memset(r, 0, sizeof *r);
    memcpy(r->key, key, sizeof key);
    return r;
}

/* Columns as the PDB format fixes them; of alternatives the first counts, of models too. */
static int read_atoms(const char *path, protein *p) {
    static const char *const names[] = {" N  ", " CA ", " C  "};
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "ENDMDL", 6) != 0) {
        if (strncmp(line, "ATOM  ", 6) != 0 || strlen(line) < 54)
            continue;
        for (int a = 0; a < 3; a++) {
            if (strncmp(line + 12, names[a], 4) != 0 || (line[16] != ' ' && line[16] != 'A'))
                continue;
            residue *r = residue_of(p, line);
            for (int d = 0; r && d < 3; d++) {
                char number[9] = {0};
                memcpy(number, line + 30 + 8 * d, 8);
                r->atom[a][d] = atof(number);
                r->have[a] = 1;
            }
        }
    }
    fclose(file);
    return 1;
}

/* ---- Angles ------------------------------------------------------------------------------------------------------ */

static void subtract(const double *a, const double *b, double *c) {
    for (int d = 0; d < 3; d++)
        c[d] = a[d] - b[d];
}

static void cross(const double *a, const double *b, double *c) {
    for (int d = 0; d < 3; d++)
        c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The dihedral angle a-b-c-d in radians. */
static double dihedral(const double *a, const double *b, const double *c, const double *d) {
    double u[3], v[3], w[3], left[3], right[3], across[3];
    subtract(b, a, u);
    subtract(c, b, v);
    subtract(d, c, w);
    cross(u, v, left);
    cross(v, w, right);
    cross(left, right, across);
    return atan2(dot(across, v) / sqrt(dot(v, v)), dot(left, right));
}

static int complete(const residue *r) {
    return r->have[0] && r->have[1] && r->have[2];
}

/* A peptide bond is 1.33 Angstrom long: farther apart, the chain is broken. */
static int bonded(const residue *r, const residue *next) {
    double gap[3];
    if (!complete(r) || !complete(next))
        return 0;
    subtract(next->atom[0], r->atom[2], gap);
    return dot(gap, gap) < 2.5 * 2.5;
}

static size_t backbone_points(const protein *p, float *points) {
    size_t count = 0;
    for (size_t i = 1; i + 1 < p->count; i++) {
        const residue *before = &p->list[i - 1], *r = &p->list[i], *after = &p->list[i + 1];
        if (!bonded(before, r) || !bonded(r, after))
            continue;
        double phi = dihedral(before->atom[2], r->atom[0], r->atom[1], r->atom[2]);
        double psi = dihedral(r->atom[0], r->atom[1], r->atom[2], after->atom[0]);
        double x[4] = {cos(phi), sin(phi), cos(psi), sin(psi)};
        for (int d = 0; d < 4; d++)
            points[4 * count + (size_t)d] = (float)(x[d] * sqrt(0.5));
        count++;
    }
    return count;
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

/* Where helices and sheets lie in the plane of Ramachandran. */
static const char *shape_of(double phi, double psi) {
    if (phi > -100 && phi < -35 && psi > -80 && psi < -5)
        return "helix";
    if (phi > -180 && phi < -45 && (psi > 90 || psi < -170))
        return "sheet";
    if (phi > 30 && phi < 100 && psi > -20 && psi < 90)
        return "left-handed helix";
    return "other";
}

static int by_size(const void *a, const void *b) {
    const ast_cluster_info *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static void print_clusters(const ast_context *context, size_t count) {
    size_t clusters;
    const ast_cluster_info *info = ast_clusters(context, &clusters);
    ast_cluster_info *sorted = malloc(clusters * sizeof *sorted);
    if (!sorted)
        return;
    memcpy(sorted, info, clusters * sizeof *sorted);
    qsort(sorted, clusters, sizeof *sorted, by_size);
    printf("%zu residues, %zu clusters\n", count, clusters);
    for (size_t k = 0; k < clusters; k++) {
        const float *m = sorted[k].mean;
        double phi = atan2((double)m[1], (double)m[0]) / DEGREE, psi = atan2((double)m[3], (double)m[2]) / DEGREE;
        printf("%5.1f%% phi %7.1f psi %7.1f  %s\n", 100 * (double)sorted[k].count / (double)count, phi, psi,
               shape_of(phi, psi));
    }
    free(sorted);
}

static int report(const float *points, size_t count, double angle) {
    ast_context *context;
    ast_open(&context, 0);
    int32_t *labels = malloc((count + 1) * sizeof *labels);
    ast_options options;
    ast_report result = {.size = sizeof result};
    ast_options_init(&options);
    options.angle = angle;
    options.restarts = 20; /* orders of visit, of which the best is kept */
    ast_points view = ast_points_f4(points, count, 4);
    if (!context || !labels || count == 0 || ast_cluster(context, &view, &options, labels, &result) != AST_OK) {
        fprintf(stderr, "backbone: %s\n", context && count ? ast_message(context) : "no residue has both angles");
        ast_close(context);
        free(labels);
        return 1;
    }
    print_clusters(context, count);
    ast_close(context);
    free(labels);
    return 0;
}
