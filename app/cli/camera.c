/* SPDX-License-Identifier: MIT
 *
 * Cameras from the command line. Nothing is guessed: with wrong intrinsics every normal would be a little wrong, and
 * nobody would see it. */
#include "camera.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

static const char *const smoothings[] = {"guided", "tv",          "none",
                                         "planes", "planes-only", NULL}; /* in the order of ast_smooth */

#define AT(field) offsetof(ast_cli_camera, field)
static const char *const raw_types[] = {"u2", "f4", NULL};
static const ast_cli_option table[] = {
    {"intrinsics", AST_CLI_NUMBERS, "FX,FY,CX,CY", "focal lengths and principal point of the camera, in pixels",
     AT(intrinsics), 4, 0, .excludes = "camera",
     .more = "docs/depth-cameras.md describes the file *camera.json* that replaces it."},
    {"camera", AST_CLI_TEXT, "NAME", "the same for a camera that is known by name, such as kinect", AT(name),
     .more = "These cameras take images of 640 x 480 pixels: `icl-nuim`, `kinect`, `nyu`, `orbbec-astra`, "
             "`realsense-d415`, `realsense-d435`, `realsense-d455`, `tum-fr1`, `tum-fr2`, `tum-fr3` and `xtion`; and "
             "`azure-kinect` of 640 x 576 (NFOV unbinned). They are usual values: the calibration of the device is "
             "better. The scenes of the NYU v2 data set (*.mat*) need none: theirs is `nyu`."},
    {"distortion", AST_CLI_NUMBERS, "K1,K2,P1,P2,K3",
     "distortion of the lens, as OpenCV has it (Brown-Conrady); 0 for coefficients that are not known", AT(distortion),
     5, 0, .more = "Images that were undistorted already need none."},
    {"depth-scale", AST_CLI_REAL, "UNITS",
     "units of depth per metre (default: that of --camera, 5000 for folders with a depth.txt, otherwise "
     "1000)",
     AT(scale), 1e-3, 1e6, .inputs = AST_CLI_IMAGE | AST_CLI_STANDARD_DEPTH},
    {"raw", AST_CLI_PIXELS, "WIDTHxHEIGHT",
     "standard input holds raw depth frames of this size: 16-bit numbers, little-endian, without a header", AT(raw),
     .inputs = AST_CLI_STANDARD_DEPTH},
    {"raw-type", AST_CLI_CHOICE, "TYPE",
     "the numbers of --raw: u2, 16 bits, or f4, floats, which are metres unless --depth-scale is given (32FC1 of ROS)",
     AT(raw_type), .choices = raw_types, .standard = "u2", .inputs = AST_CLI_STANDARD_DEPTH},
    {"frame", AST_CLI_TEXT, "N", "the scene of the NYU v2 data set (.mat), counted from 0", AT(frame),
     .inputs = AST_CLI_SCENE, .more = "`stream` and `segment` take all if the option is not given."},
    {"smooth", AST_CLI_CHOICE, "HOW",
     "guided: a guided filter on the depth, and a normal for every pixel (the default for single images)\n"
     "planes: normals of whole walls and floors; a pixel on no plane is labelled last and starts "
     "no cluster (the default of stream and segment)\n"
     "planes-only: normals of walls and floors, and none elsewhere\n"
     "tv: also total variation of the normals; slower\n"
     "none",
     AT(smooth), .choices = smoothings, .more = "docs/depth-cameras.md says when to take which."},
    {"filter-radius", AST_CLI_INT, "PIXELS", "radius of the guided filter: a larger radius is smoother",
     AT(options.filter_radius), 1, 64, .standard = "3"},
    {"filter-epsilon", AST_CLI_REAL, "METRES",
     "smaller deviations of the depth from a plane are noise; with planes the noise of each image is measured, and "
     "counts as at least this",
     AT(options.filter_epsilon), 1e-6, 1e3, .standard = "0.005"},
    {"normal-window", AST_CLI_INT, "PIXELS",
     "normals are averaged over 2 w + 1 pixels square; this, --filter-radius or --edge-jump alone means "
     "guided",
     AT(options.window), 1, 64, .standard = "6"},
    {"edge-jump", AST_CLI_REAL, "RATIO", "relative step in depth, at 1 m, that is an edge", AT(options.jump), 1e-9, 1e6,
     .standard = "0.01"},
    {"nearest", AST_CLI_REAL, "METRES", "nearer depth is missing", AT(options.nearest), 0, 1e6, .standard = "0"},
    {"farthest", AST_CLI_REAL, "METRES", "farther depth is missing", AT(options.farthest), 0, (double)INFINITY,
     .standard = "inf"},
    {"tv-weight", AST_CLI_REAL, "X", "weight of --smooth tv: a larger weight is smoother", AT(options.tv_weight), 1e-6,
     1e6, .standard = "0.2"},
    {"tv-iterations", AST_CLI_INT, "N", "iterations of --smooth tv", AT(options.tv_iterations), 1, 100000,
     .standard = "100"},
    {0}};

const ast_cli_group ast_cli_camera_group = {
    .title = "Options for depth images", .options = table, .inputs = AST_CLI_DEPTH};

void ast_cli_camera_resolve(ast_cli_camera *camera, const ast_cli_common *common, ast_smooth usual) {
    bool pixels = ast_cli_typed(common, "filter-radius") || ast_cli_typed(common, "normal-window") ||
                  ast_cli_typed(common, "edge-jump");
    if (camera->smooth < 0)
        camera->smooth = pixels ? AST_SMOOTH_GUIDED : (int)usual;
}

ast_frame_kind ast_cli_camera_kind(const ast_cli_input *input) {
    if (strcmp(input->path, "-") != 0)
        return AST_AS_NAMED;
    return input->kinds == AST_CLI_STANDARD_DEPTH ? AST_AS_DEPTH : AST_AS_TABLES;
}

/* ---- The camera -------------------------------------------------------------------------------------------------- */

static const char *list_cameras(char text[AST_CLI_LIST]) {
    const char *names[32];
    size_t count = 0;
    while (count < 32 && (names[count] = ast_camera_name(count)))
        count++;
    return ast_cli_join(text, names, count, " and ");
}

static int set_camera(const ast_cli_camera *given, const char *input, ast_depth_options *options) {
    char names[AST_CLI_LIST];
    const char *name = given->name;
    list_cameras(names);
    const double *numbers = given->intrinsics;
    if (isnan(numbers[0]) && !name)
        return ast_cli_misuse("%s: depth images need --intrinsics fx,fy,cx,cy or --camera NAME; known cameras are %s",
                              ast_cli_name(input), names);
    if (numbers[0] > 0 && numbers[1] < 0)
        return ast_cli_misuse(
            "--intrinsics FX,FY,CX,CY: the focal length %g is negative, as left-handed worlds have it; "
            "give %g, and --flip-y with --poses",
            numbers[1], -numbers[1]);
    if (!isnan(numbers[0]) && !(numbers[0] > 0 && numbers[1] > 0))
        return ast_cli_misuse("--intrinsics FX,FY,CX,CY: the focal lengths %g and %g must be above 0", numbers[0],
                              numbers[1]);
    if (!isnan(numbers[0]))
        options->camera = (ast_camera){numbers[0], numbers[1], numbers[2], numbers[3]};
    if (name && !ast_camera_named(name, &options->camera, &options->units_per_metre))
        return ast_cli_misuse("--camera: there is no '%s'; known cameras are %s", name, names);
    return -1;
}

int ast_cli_camera_set(const ast_cli_camera *camera, const char *input, ast_depth_options *options) {
    *options = camera->options;
    options->size = sizeof *options;
    int code = set_camera(camera, input, options);
    if (code >= 0)
        return code;
    if (!isnan(camera->scale))
        options->units_per_metre = camera->scale;
    if (!isnan(camera->distortion[0]))
        memcpy(options->distortion, camera->distortion, sizeof options->distortion);
    options->smooth = (ast_smooth)camera->smooth;
    ast_depth_options whole = *options;
    whole.units_per_metre =
        options->units_per_metre > 0 ? options->units_per_metre : 1000; /* any: it is not known yet */
    const char *problem = ast_depth_options_problem(&whole);
    return problem ? ast_cli_misuse("%s", problem) : -1;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

int ast_cli_camera_scene(const ast_cli_camera *camera, const ast_cli_input *input, ast_frame_list *list) {
    const char *text = camera->frame;
    list->one_scene = text && input->format.holds == AST_HOLDS_SCENES;
    if (!list->one_scene)
        return -1;
    if (strlen(text) > 9 || text[strspn(text, "0123456789")])
        return ast_cli_misuse("--frame must be the number of a scene, counted from 0, not '%s'", text);
    list->scene = strtoull(text, NULL, 10);
    return -1;
}
