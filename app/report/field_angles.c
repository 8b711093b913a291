/* SPDX-License-Identifier: MIT
 *
 * A mean in the notation of the field. */
#include "report.h"

#include <asterism_depth.h>

#include <math.h>

/* A direction keeps its sense: one that points up has a negative plunge, as an inclination has. */
static void trend_and_plunge(const double v[3], double *trend, double *plunge) {
    double degrees = atan2(v[0], v[1]) * AST_DEGREES_PER_RADIAN;
    *trend = degrees < 0 ? degrees + 360 : degrees + 0.0;
    *trend = *trend < 360 ? *trend : 0;
    *plunge = -atan2(v[2], hypot(v[0], v[1])) * AST_DEGREES_PER_RADIAN + 0.0;
}

void ast_field_angles(ast_notation notation, int axial, const float *mean, double *azimuth, double *inclination) {
    const double v[3] = {(double)mean[0], (double)mean[1], notation == AST_AZIMUTH ? 0 : (double)mean[2]};
    if (notation == AST_AZIMUTH) {
        *azimuth = fmod(atan2(v[0], v[1]) * AST_DEGREES_PER_RADIAN + 360, axial ? 180 : 360);
        *inclination = NAN;
        return;
    }
    if (notation == AST_TREND_PLUNGE && !axial)
        trend_and_plunge(v, azimuth, inclination);
    else
        ast_angles_of(notation == AST_TREND_PLUNGE ? AST_LINE : AST_PLANE, v, azimuth, inclination);
    if (notation == AST_STRIKE_DIP)
        *azimuth = fmod(*azimuth + 270, 360);
}
