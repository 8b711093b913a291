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

void ast_dip(const double normal[3], double *dip_direction, double *dip) {
    *dip_direction = azimuth_towards(normal, 1);
    *dip = isnan(*dip_direction) ? NAN : atan2(hypot(normal[0], normal[1]), fabs(normal[2])) / AST_DEGREE;
}

void ast_trend(const double line[3], double *trend, double *plunge) {
    *trend = azimuth_towards(line, -1);
    *plunge = isnan(*trend) ? NAN : atan2(fabs(line[2]), hypot(line[0], line[1])) / AST_DEGREE;
}

/* Exact at multiples of 90 degrees, where sin(angle * pi / 180) is not. */
static double sine(double degrees) {
    double turns = fmod(degrees, 360);
    if (turns < 0)
        turns += 360;
    if (turns > 180)
        return -sine(turns - 180);
    if (turns > 90)
        turns = 180 - turns;
    return turns > 45 ? cos((90 - turns) * AST_DEGREE) : sin(turns * AST_DEGREE);
}

static double cosine(double degrees) {
    return sine(fmod(degrees, 360) + 90);
}

void ast_pole(double dip_direction, double dip, double pole[3]) {
    pole[0] = sine(dip) * sine(dip_direction);
    pole[1] = sine(dip) * cosine(dip_direction);
    pole[2] = cosine(dip);
}

void ast_line(double trend, double plunge, double line[3]) {
    line[0] = cosine(plunge) * sine(trend);
    line[1] = cosine(plunge) * cosine(trend);
    line[2] = -sine(plunge);
}
