/* SPDX-License-Identifier: MIT
 *
 * What a program of somebody else does with the installed library: four points, two clusters, and the version of the
 * library it runs with, which has to be that of the header it was compiled with. */
#include <asterism.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    const float xy[] = {1, 0, 1, 0.1f, 0, 1, 0.1f, 1};
    int32_t labels[4];
    char version[32];
    ast_options options;
    ast_report report;
    ast_options_init(&options);
    options.angle = 20;
    ast_context *context = ast_open(2);
    ast_points points = ast_points_f4(xy, 4, 2);
    if (!context || ast_cluster(context, &points, &options, labels, &report) != AST_OK)
        return 1;
    ast_close(context);
    snprintf(version, sizeof version, "%d.%d.%d", AST_VERSION_MAJOR, AST_VERSION_MINOR, AST_VERSION_PATCH);
    printf("%zu clusters\n", report.clusters);
    return report.clusters != 2 || strcmp(version, ast_version()) != 0;
}
