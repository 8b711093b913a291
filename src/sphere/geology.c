/* SPDX-License-Identifier: MIT
 *
 * Directions in geological notation: planes by dip direction and dip, lines by trend and plunge. x is east, y north, z
 * up. */
#include "asterism_depth.h"
#include "degree.h"

#include <math.h>

/* Clockwise from north, 0 <= azimuth < 360; 0 for a vertical direction. */
static double azimuth_of(double east, double north) {
    double degrees = atan2(east, north) / AST_DEGREE;
    if (east == 0 && north == 0)
        return 0;
    if (degrees < 0)
        degrees += 360;
    return degrees < 360 ? degrees + 0.0 : 0; /* values just below 360 may round up to it; -0 becomes 0 */
}

/* The sign that makes z positive; horizontal directions get an azimuth below 180. */
static double sign_towards(const double *v, double z) {
    if (z != 0)
        return z > 0 ? 1 : -1;
    return v[0] > 0 || (v[0] == 0 && v[1] > 0) ? 1 : -1;
}

/* The azimuth of the end of v that points up (side = 1) or down (-1); NaN if v has no direction. */
static double azimuth_towards(const double *v, double side) {
    double length = hypot(hypot(v[0], v[1]), v[2]);
    if (!(length > 0) || isinf(length))
        return NAN;
    double sign = sign_towards(v, side * v[2]);
    return azimuth_of(sign * v[0], sign * v[1]);
}

void ast_angles_of(ast_feature feature, const double vector[3], double *azimuth, double *inclination) {
    static const double nowhere[3];
    const double *v = vector ? vector : nowhere;
    double towards = azimuth_towards(v, feature == AST_PLANE ? 1 : -1), level = hypot(v[0], v[1]), up = fabs(v[2]);
    if (azimuth)
        *azimuth = towards;
    if (inclination)
        *inclination = isnan(towards) ? NAN : (feature == AST_PLANE ? atan2(level, up) : atan2(up, level)) / AST_DEGREE;
}

/* Exact at multiples of 90 degrees, where sin(angle * pi / 180) is not. */
static double sine(double degrees) {
    double angle = fmod(degrees, 360);
    if (angle < 0)
        angle += 360;
    if (angle > 180)
        return -sine(angle - 180);
    if (angle > 90)
        angle = 180 - angle;
    return angle > 45 ? cos((90 - angle) * AST_DEGREE) : sin(angle * AST_DEGREE);
}

static double cosine(double degrees) {
    return sine(fmod(degrees, 360) + 90);
}

void ast_vector_of(ast_feature feature, double azimuth, double inclination, double vector[3]) {
    if (!vector)
        return;
    double level = feature == AST_PLANE ? sine(inclination) : cosine(inclination);
    vector[0] = level * sine(azimuth);
    vector[1] = level * cosine(azimuth);
    vector[2] = feature == AST_PLANE ? cosine(inclination) : -sine(inclination);
}
