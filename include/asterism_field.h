/* SPDX-License-Identifier: MIT
 *
 * Field measurements: dips, strikes, trends and plunges as geologists write them, and the statistics that geologists
 * use for directions in three dimensions: whether there is a preferred direction, a cluster or a girdle, and whether
 * several sets have one mean.
 *
 * The rules at the head of asterism.h apply. docs/field.md shows the command, docs/errors.md has the formulas. */
#ifndef ASTERISM_FIELD_H
#define ASTERISM_FIELD_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Measurements as they are written -------------------------------------------------------------------------- */

/* How a measurement is written, in degrees: azimuths clockwise from north (y), x is east, z up. */
typedef enum ast_notation {
    AST_NO_NOTATION = 0,
    AST_DIP_DIRECTION = 1, /* dip direction and dip of a plane */
    AST_STRIKE_DIP = 2,    /* strike by the right-hand rule, 90 degrees before the dip direction, and dip */
    AST_TREND_PLUNGE = 3,  /* trend and plunge of a line; declination and inclination */
    AST_AZIMUTH = 4        /* an azimuth alone: a direction in the plane, x east, y north */
} ast_notation;

/* What a column holds, by its name. */
typedef enum ast_field_column {
    AST_COLUMN_OTHER = 0,
    AST_COLUMN_DIP_DIRECTION = 1,
    AST_COLUMN_DIP = 2,
    AST_COLUMN_STRIKE = 3,
    AST_COLUMN_TREND = 4,   /* trend, declination */
    AST_COLUMN_PLUNGE = 5,  /* plunge, inclination */
    AST_COLUMN_AZIMUTH = 6, /* azimuth, bearing: of what, the name does not say */
    AST_COLUMN_QUADRANT = 7 /* the letters behind a dip */
} ast_field_column;

/* "Dip direction", "dipdir", "dip_dir (deg)" and their like, in any case; NULL is AST_COLUMN_OTHER. */
AST_API ast_field_column ast_field_column_of(const char *name);

/* The angles that two words stand for: 61, 61.5, 61,5, 61S, N40E, 40 degrees with their sign. `first` is an azimuth,
 * `second` an inclination, or NULL if `first` has both (N40E/61SE, 040/61, and 61/040: three digits are an azimuth) or
 * the notation is AST_AZIMUTH. The quadrant behind a dip tells which of the two strikes is meant, that behind a plunge
 * which end of the line: the azimuth that is returned follows the notation. Empty words, "nan", "na", "n/a", "-" and
 * "?" are missing: NaN. Returns NULL, or why the words cannot be understood. Angles are not checked for their range. */
AST_API const char *ast_field_read(ast_notation notation, const char *first, const char *second, double *azimuth,
                                   double *inclination);

/* ---- Preferred direction --------------------------------------------------------------------------------------- */

typedef enum ast_shape {
    AST_SHAPE_UNIFORM = 0, /* the eigenvalues differ no more than those of uniform directions (Bingham's test, 5%), or
                              they say neither of the following */
    AST_SHAPE_CLUSTER = 1, /* Woodcock's K is at least 1 and S1 at least 1/2 */
    AST_SHAPE_GIRDLE = 2   /* K below 1 and S3 at most 1/6: the directions lie along a great circle */
} ast_shape;

/* The mean of x x' over directions in three dimensions, and a test of uniformity that sees every departure. */
typedef struct ast_orientation {
    size_t size;
    size_t count;          /* directions that are not missing and have weight */
    double effective;      /* (sum w)^2 / sum w^2 */
    double eigenvalues[3]; /* largest first, of sum 1; NaN without directions */
    double axes[3][3];     /* their unit vectors; axes[2] is the pole of a girdle */
    double shape_ratio;    /* Woodcock's K = ln(S1 / S2) / ln(S2 / S3): above 1 a cluster, below 1 a girdle */
    double strength;       /* Woodcock's C = ln(S1 / S3) */
    ast_shape shape;
    double statistic; /* Gine's F, axial: Gine's G; NaN below two directions */
    double p;         /* the probability of such a statistic or a larger one if the directions were uniform */
} ast_orientation;

/* Computes the orientation of the points, which have three components; axial 1: x and -x are the same. The statistic
 * and its p use at most AST_ORIENTATION_SAMPLE directions: every second, third, ... if there are more. */
#define AST_ORIENTATION_SAMPLE 1000
AST_API ast_status ast_orientation_of(ast_context *context, const ast_points *points, int axial,
                                      ast_orientation *orientation);

/* ---- Common means ---------------------------------------------------------------------------------------------- */

/* Each comment begins with the default. */
typedef struct ast_common_mean_options {
    size_t size;
    int axial;       /* 0. 1: x and -x are the same; sets are turned to the side of their largest eigenvector */
    int reversal;    /* 0. 1: every set but the first is turned around: are they antipodal? */
    int simulations; /* 5000. Draws of Watson's test, and resamples of the bootstrap; 100 to 1000000 */
    uint64_t seed;   /* 1 */
} ast_common_mean_options;

static inline void ast_common_mean_options_init(ast_common_mean_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->simulations = 5000;
    options->seed = 1;
}

/* Of one set. */
typedef struct ast_set_mean {
    size_t count;
    double mean[3];   /* unit vector; a set that was turned around is turned back */
    double resultant; /* R */
    double precision; /* Fisher's k = (n - 1) / (n - R) */
    double alpha95;   /* degrees */
} ast_set_mean;

/* Whether q sets of directions in three dimensions, n directions in all, have one mean direction and one concentration.
 * A p is the probability of such a statistic or a larger one if they have. */
typedef struct ast_common_mean {
    size_t size;
    double watson, watson_p; /* Watson's V_w = 2 (sum k R - |sum k R mean|); p by draws of Fisher distributions with one
                                mean and the k of each set */
    double critical;         /* the statistic that 5% of these draws exceed */
    double f, f_p;           /* Watson and Williams' F with 2 (q - 1) and 2 (n - q) degrees of freedom: equal kappas */
    double bootstrap_p;      /* of V_w, by resamples of the sets after each was turned to the common mean */
    double kappa_ratio;      /* Bartlett's corrected statistic of equal concentrations: chi-square with q - 1 degrees */
    double kappa_p;
    double mean[3];        /* the common mean: the direction of sum k R mean */
    double angle;          /* two sets: degrees between their means; otherwise the largest angle between two means */
    double critical_angle; /* two sets: the angle at which V_w is `critical` (McFadden and McElhinny); NaN otherwise */
} ast_common_mean;

/* `sets` has `count` sets, 2 or more, each of 2 or more directions; `each` (count) receives the means, and may be NULL.
 * Weights are refused. */
AST_API ast_status ast_common_mean_of(ast_context *context, const ast_points *sets, size_t count,
                                      const ast_common_mean_options *options, ast_set_mean *each,
                                      ast_common_mean *result);

#ifdef __cplusplus
}
#endif

#endif
