/* SPDX-License-Identifier: MIT
 *
 * Cameras with well-known names. The values are the published ones for depth registered to the colour camera, 640 x
 * 480. */
#include "asterism_depth.h"

#include <string.h>

typedef struct known_camera {
    const char *name;
    ast_camera camera;
    double units_per_metre;
} known_camera;

/* In alphabetical order. kinect and xtion: what the OpenNI drivers report for any such sensor; better only than no
 * calibration. tum-fr*: the calibration of the three cameras of the TUM RGB-D benchmark, depth in units of 1/5000 m.
 * icl-nuim: the ray-traced scenes, in TUM format; their fy is negative because their y axis points up, ours points
 * down. nyu: the colour camera of the NYU v2 data set, to which its depths are registered; its authors count pixels
 * from 1, we count from 0. Its depths are in metres; as 16-bit images they are usually in millimetres. */
static const known_camera known[] = {
    {"icl-nuim", {481.2, 480, 319.5, 239.5}, 5000},
    {"kinect", {525, 525, 319.5, 239.5}, 1000},
    {"nyu", {518.857901, 519.469611, 324.582449, 252.736166}, 1000},
    {"tum-fr1", {517.3, 516.5, 318.6, 255.3}, 5000},
    {"tum-fr2", {520.9, 521, 325.1, 249.7}, 5000},
    {"tum-fr3", {535.4, 539.2, 320.1, 247.6}, 5000},
    {"xtion", {525, 525, 319.5, 239.5}, 1000},
};

#define KNOWN (sizeof known / sizeof *known)

int ast_camera_named(const char *name, ast_camera *camera, double *units_per_metre) {
    for (size_t i = 0; name && i < KNOWN; i++)
        if (strcmp(name, known[i].name) == 0) {
            if (camera)
                *camera = known[i].camera;
            if (units_per_metre)
                *units_per_metre = known[i].units_per_metre;
            return 1;
        }
    return 0;
}

const char *ast_camera_name(size_t index) {
    return index < KNOWN ? known[index].name : NULL;
}
