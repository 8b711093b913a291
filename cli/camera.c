/* SPDX-License-Identifier: MIT
 *
 * Cameras from the command line. Nothing is guessed: with wrong intrinsics every normal would be a little wrong, and
 * nobody would see it. */
#include "camera.h"

#include <images.h>

#include <depth_frames.h>
#include <math.h>
#include <nyu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "terminal.h"

static const char *const smoothings[] = {"guided", "tv", "none", "planes", NULL}; /* in the order of ast_smooth */

#define AT(field) offsetof(ast_cli_camera, field)
const ast_cli_option ast_cli_camera_options[] = {
    {"intrinsics", AST_CLI_TEXT, "FX,FY,CX,CY", "focal lengths and principal point of the camera, in pixels",
     AT(intrinsics), 0, 0, NULL},
    {"camera", AST_CLI_TEXT, "NAME", "the same for a camera that is known by name, such as kinect", AT(name), 0, 0,
     NULL},
    {"depth-scale", AST_CLI_REAL, "UNITS",
     "units of depth in a metre (default: that of --camera, 5000\n"
     "for folders with a depth.txt, otherwise 1000)",
     AT(scale), 1e-3, 1e9, NULL},
    {"raw", AST_CLI_TEXT, "WIDTHxHEIGHT",
     "standard input holds raw depth frames of this size: 16-bit\n"
     "numbers, little-endian, without any header",
     AT(raw), 0, 0, NULL},
    {"frame", AST_CLI_TEXT, "N|all",
     "which scene of the NYU v2 data set (.mat), counted from 0;\n"
     "all: one after the other",
     AT(frame), 0, 0, NULL},
    {"smooth", AST_CLI_CHOICE, "HOW",
     "guided: a guided filter on the depth, and a normal for\n"
     "every pixel (the default for single images)\n"
     "planes: normals of whole walls and floors, and none\n"
     "elsewhere (the default of stream and segment)\n"
     "tv: also total variation of the normals; slower\n"
     "none",
     AT(smooth), 0, 0, smoothings},
    {"filter-radius", AST_CLI_COUNT, "PIXELS", "of the guided filter: larger is smoother", AT(filter_radius), 1, 1000,
     NULL},
    {"filter-epsilon", AST_CLI_REAL, "METRES", "depth that strays less than this from a plane is noise",
     AT(filter_epsilon), 0, 1e6, NULL},
    {"normal-window", AST_CLI_COUNT, "PIXELS",
     "normals are averaged over 2 w + 1 pixels square (default 6);\n"
     "this, --filter-radius or --edge-jump alone means guided",
     AT(window), 0, 1000, NULL},
    {"edge-jump", AST_CLI_REAL, "RATIO", "relative step in depth, at 1 m, that is an edge", AT(jump), 0, 1e6, NULL},
    {"nearest", AST_CLI_REAL, "METRES", "what is nearer counts as missing", AT(nearest), 0, 1e6, NULL},
    {"farthest", AST_CLI_REAL, "METRES", "what is farther counts as missing", AT(farthest), 0, (double)INFINITY, NULL},
    {"tv-weight", AST_CLI_REAL, "X", "of --smooth tv: larger is smoother", AT(tv_weight), 0, 1e6, NULL},
    {"tv-iterations", AST_CLI_COUNT, "N", "of --smooth tv", AT(tv_iterations), 1, 100000, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

ast_cli_camera ast_cli_camera_default(void) {
    ast_depth_options options;
    ast_depth_options_init(&options);
    return (ast_cli_camera){.scale = NAN,
                            .smooth = -1,
                            .usual = AST_SMOOTH_GUIDED,
                            .filter_epsilon = options.filter_epsilon,
                            .jump = options.jump,
                            .nearest = options.nearest,
                            .farthest = options.farthest,
                            .tv_weight = options.tv_weight,
                            .filter_radius = (size_t)options.filter_radius,
                            .window = SIZE_MAX,
                            .tv_iterations = (size_t)options.tv_iterations};
}

int ast_cli_camera_sees(const ast_cli_camera *camera, const char *input) {
    if (strcmp(input, "-") == 0)
        return camera->raw || camera->intrinsics || camera->name;
    return ast_depth_input(input);
}

const char *ast_cli_camera_given(const ast_cli_camera *camera) {
    ast_cli_camera none = ast_cli_camera_default();
    return camera->intrinsics                              ? "intrinsics"
           : camera->name                                  ? "camera"
           : camera->raw                                   ? "raw"
           : camera->frame                                 ? "frame"
           : !isnan(camera->scale)                         ? "depth-scale"
           : camera->smooth >= 0                           ? "smooth"
           : camera->filter_radius != none.filter_radius   ? "filter-radius"
           : camera->filter_epsilon != none.filter_epsilon ? "filter-epsilon"
           : camera->window != none.window                 ? "normal-window"
           : camera->jump != none.jump                     ? "edge-jump"
           : camera->nearest != none.nearest               ? "nearest"
           : camera->farthest != none.farthest             ? "farthest"
           : camera->tv_weight != none.tv_weight           ? "tv-weight"
           : camera->tv_iterations != none.tv_iterations   ? "tv-iterations"
                                                           : NULL;
}

int ast_cli_camera_unused(const ast_cli_camera *camera, const char *input) {
    const char *idle = ast_cli_camera_given(camera);
    if (!idle)
        return -1;
    return ast_cli_fail(AST_CLI_USAGE,
                        "--%s is for depth images (.png, .pgm, .mat, or a folder of images), and %s is none", idle,
                        ast_cli_name(input));
}

/* ---- The camera -------------------------------------------------------------------------------------------------- */

/* Four numbers with commas between them, and nothing else. */
static int parse_intrinsics(const char *text, ast_camera *camera) {
    double *fields[] = {&camera->fx, &camera->fy, &camera->cx, &camera->cy};
    const char *rest = text;
    for (int i = 0; i < 4; i++) {
        char *end;
        *fields[i] = strtod(rest, &end);
        if (end == rest || !isfinite(*fields[i]) || *end != (i < 3 ? ',' : 0))
            return 0;
        rest = end + 1;
    }
    return camera->fx > 0 && camera->fy > 0;
}

/* "a, b and c": the cameras there are. */
static void list_cameras(char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; ast_camera_name(i) && used < size; i++) {
        const char *separator = i == 0 ? "" : ast_camera_name(i + 1) ? ", " : " and ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, ast_camera_name(i));
    }
}

const char *ast_cli_camera_called(const ast_cli_camera *camera, const char *input) {
    return camera->name || camera->intrinsics || !ast_nyu_extension(input) ? camera->name : "nyu";
}

static int set_camera(const ast_cli_camera *given, const char *input, ast_depth_options *options) {
    char names[512] = "";
    const char *name = ast_cli_camera_called(given, input);
    list_cameras(names, sizeof names);
    if (given->intrinsics && given->name)
        return ast_cli_fail(AST_CLI_USAGE, "--intrinsics and --camera both say what the camera is; give one of them");
    if (!given->intrinsics && !name)
        return ast_cli_fail(AST_CLI_USAGE,
                            "%s: depth images need --intrinsics fx,fy,cx,cy or --camera NAME; known cameras are %s",
                            ast_cli_name(input), names);
    if (given->intrinsics && !parse_intrinsics(given->intrinsics, &options->camera))
        return ast_cli_fail(AST_CLI_USAGE,
                            "--intrinsics must be four numbers fx,fy,cx,cy in pixels, such as 525,525,319.5,239.5, the "
                            "first two above 0, not '%s'",
                            given->intrinsics);
    if (name && !ast_camera_named(name, &options->camera, &options->units_per_metre))
        return ast_cli_fail(AST_CLI_USAGE, "--camera: there is no '%s'; known cameras are %s", name, names);
    return -1;
}

/* Who says how normals of pixels are made wants those. */
static ast_smooth smooth_of(const ast_cli_camera *camera) {
    ast_cli_camera none = ast_cli_camera_default();
    if (camera->smooth >= 0)
        return (ast_smooth)camera->smooth;
    bool pixels =
        camera->filter_radius != none.filter_radius || camera->window != none.window || camera->jump != none.jump;
    return pixels ? AST_SMOOTH_GUIDED : (ast_smooth)camera->usual;
}

int ast_cli_camera_set(const ast_cli_camera *camera, const char *input, ast_depth_options *options) {
    ast_depth_options_init(options);
    double usual = options->units_per_metre;
    options->units_per_metre = 0;
    int code = set_camera(camera, input, options);
    if (code >= 0)
        return code;
    if (!isnan(camera->scale) && ast_nyu_extension(input))
        return ast_cli_fail(AST_CLI_USAGE, "--depth-scale is for images: the scenes of %s are in metres", input);
    if (!isnan(camera->scale))
        options->units_per_metre = camera->scale;
    options->smooth = smooth_of(camera);
    options->filter_radius = (int)camera->filter_radius;
    options->filter_epsilon = camera->filter_epsilon;
    if (camera->window != SIZE_MAX)
        options->window = (int)camera->window;
    options->jump = camera->jump;
    options->nearest = camera->nearest;
    options->farthest = camera->farthest;
    options->tv_weight = camera->tv_weight;
    options->tv_iterations = (int)camera->tv_iterations;
    ast_depth_options whole = *options;
    whole.units_per_metre = options->units_per_metre > 0 ? options->units_per_metre : usual;
    const char *problem = ast_depth_options_problem(&whole);
    return problem ? ast_cli_fail(AST_CLI_USAGE, "%s", problem) : -1;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

int ast_cli_camera_every(const ast_cli_camera *camera) {
    return camera->frame && strcmp(camera->frame, "all") == 0;
}

int ast_cli_camera_frame(const ast_cli_camera *camera, const char *input, int *one, uint64_t *scene) {
    const char *text = camera->frame;
    *one = text && !ast_cli_camera_every(camera);
    *scene = 0;
    if (!text)
        return -1;
    if (!ast_nyu_extension(input))
        return ast_cli_fail(AST_CLI_USAGE, "--frame is for scenes of the NYU v2 data set (.mat), and %s is none",
                            ast_cli_name(input));
    if (*one && (strlen(text) > 9 || text[strspn(text, "0123456789")]))
        return ast_cli_fail(AST_CLI_USAGE, "--frame must be all or the number of a scene, counted from 0, not '%s'",
                            text);
    *scene = *one ? strtoull(text, NULL, 10) : 0;
    return -1;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

/* Digits alone, up to 2^27: what asterism_depth.h takes. */
static size_t parse_side(const char *text, const char *end) {
    size_t side = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || side > AST_PIXELS_MOST)
            return 0;
        side = 10 * side + (size_t)(*text - '0');
    }
    return side;
}

int ast_cli_size(const char *option, const char *text, size_t *width, size_t *height) {
    const char *cross = strchr(text, 'x');
    *width = cross ? parse_side(text, cross) : 0;
    *height = cross ? parse_side(cross + 1, cross + strlen(cross)) : 0;
    if (*width && *height && *width <= AST_PIXELS_MOST / *height)
        return -1;
    return ast_cli_fail(AST_CLI_USAGE, "--%s must be WIDTHxHEIGHT in pixels, such as 640x480, not '%s'", option, text);
}

int ast_cli_camera_raw(const ast_cli_camera *camera, size_t *width, size_t *height) {
    *width = *height = 0;
    return camera->raw ? ast_cli_size("raw", camera->raw, width, height) : -1;
}
