/* SPDX-License-Identifier: MIT
 *
 * What a program of somebody else does with the installed library: four points, two clusters, and the version of the
 * library it runs with, which has to be that of the header it was compiled with. And one wall before a camera. */
#include <asterism_depth.h>

#include <stdio.h>
#include <string.h>

/* Whether a wall two metres away faces the camera. */
static int wall_faces_camera(ast_context *context) {
    uint16_t values[8 * 8];
    float normals[8 * 8 * 3];
    ast_depth_options options;
    ast_depth_options_init(&options);
    options.smooth = AST_SMOOTH_GUIDED; /* the image is too small for planes */
    ast_camera_named("kinect", &options.camera, &options.units_per_metre);
    ast_depth *depth;
    ast_depth_open(&depth, context, &options);
    ast_depth_image image = {sizeof image, values, 8, 8, 8 * sizeof *values};
    for (int i = 0; i < 64; i++)
        values[i] = 2000;
    int faces = depth && ast_depth_compute(depth, &image, NULL, NULL, normals, NULL) == AST_OK;
    for (int i = 0; i < 64; i++)
        faces = faces && normals[3 * i + 2] < -0.999f;
    ast_depth_close(depth);
    return faces;
}

int main(void) {
    const float xy[] = {1, 0, 1, 0.1f, 0, 1, 0.1f, 1};
    int32_t labels[4];
    char version[32];
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.angle = 20;
    ast_context *context;
    ast_open(&context, 2);
    ast_points points = ast_points_f4(xy, 4, 2);
    if (!context || ast_cluster(context, &points, &options, labels, &report) != AST_OK)
        return 1;
    if (!wall_faces_camera(context))
        return 1;
    ast_close(context);
    snprintf(version, sizeof version, "%d.%d.%d", AST_VERSION_MAJOR, AST_VERSION_MINOR, AST_VERSION_PATCH);
    printf("%zu clusters\n", report.clusters);
    return report.clusters != 2 || strcmp(version, ast_version()) != 0;
}
