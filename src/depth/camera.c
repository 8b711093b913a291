/* SPDX-License-Identifier: MIT
 *
 * Cameras with well-known names. The values are the published ones, for 640 x 480 pixels and, where nothing else is
 * said below, for depth registered to the colour camera. */
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
 * from 1, we count from 0. Its depths are in metres; as 16-bit images they are usually in millimetres. azure-kinect:
 * the depth camera in its narrow mode (NFOV unbinned), 640 x 576, before its distortion is removed. orbbec-astra and
 * realsense: the depth camera itself, not registered to the colour camera, rounded from what devices report, which
 * differ by one percent. The factory calibration of the device is better. */
static const known_camera known[] = {
    {"azure-kinect", {504.5, 504.5, 320.5, 330}, 1000}, {"icl-nuim", {481.2, 480, 319.5, 239.5}, 5000},
    {"kinect", {525, 525, 319.5, 239.5}, 1000},         {"nyu", {518.857901, 519.469611, 324.582449, 252.736166}, 1000},
    {"orbbec-astra", {575, 575, 319.5, 239.5}, 1000},   {"realsense-d415", {610, 610, 319.5, 239.5}, 1000},
    {"realsense-d435", {385, 385, 319.5, 239.5}, 1000}, {"realsense-d455", {388, 388, 319.5, 239.5}, 1000},
    {"tum-fr1", {517.3, 516.5, 318.6, 255.3}, 5000},    {"tum-fr2", {520.9, 521, 325.1, 249.7}, 5000},
    {"tum-fr3", {535.4, 539.2, 320.1, 247.6}, 5000},    {"xtion", {525, 525, 319.5, 239.5}, 1000},
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
