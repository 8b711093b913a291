/* SPDX-License-Identifier: MIT
 *
 * asterism segment: depth images in, pictures of their clusters out, an id in the same colour from the first frame to
 * the last. It is stream with something to look at: for each frame a picture, and at the end of more than one frame the
 * chart of the shares and the contact sheet. */
#include <report.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plane_shares.h"
#include "tracking.h"
#include "terminal.h"

enum { COLOR_DIRECTIONS, COLOR_PLANES };
static const char *const colors[] = {"directions", "planes", NULL};

typedef struct job {
    ast_cli_tracking tracking;
    const char *output;
    int color;                 /* what the colours stand for */
    ast_cli_frame_files files; /* of pictures */
    ast_picture picture;
    ast_sheet *sheet;
    ast_shares *shares;
    ast_cli_plane_shares planes; /* with --color planes */
    double started, clustering;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_NAME, "DIR", "the folder for the pictures, named after the images; it is made if necessary",
     AT(output), .required = "a folder for the pictures",
     .more = "Pictures of standard input are named by the frame's number, *000017.png*."},
    {"color", AST_CLI_CHOICE, "WHAT", "what has one colour: directions (parallel walls are alike), or planes",
     AT(color), .choices = colors, .standard = "directions",
     .more =
         "With planes their table is printed too: area is the largest of a frame, normal and offset are those of the "
         "last frame with the plane."},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_TRACKING_GROUPS, {0}};

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static int find_inputs(void *data) {
    job *work = data;
    work->tracking.given.planes.wanted = work->color == COLOR_PLANES;
    return ast_cli_tracking_find(data);
}

/* The contact sheet has a name that a frame's picture might have too. */
static int check_sheet(const ast_frame_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        size_t length;
        const char *stem = ast_cli_stem(list->files[i].path, &length);
        if (list->count > 1 && length == strlen("contact-sheet") && strncmp(stem, "contact-sheet", length) == 0)
            return ast_cli_fail("the picture of %s would have the name of the contact sheet", list->files[i].path);
    }
    return -1;
}

static int open_inputs(void *data) {
    job *work = data;
    ast_cli_tracking *tracking = &work->tracking;
    work->started = ast_cli_now();
    work->files =
        (ast_cli_frame_files){.option = "output", .folder = work->output, .extension = "png", .what = "pictures"};
    work->sheet = ast_sheet_open();
    work->shares = ast_shares_open();
    if (!work->sheet || !work->shares)
        return ast_cli_no_memory("the pictures");
    int code = ast_cli_tracking_open(tracking);
    return code < 0 ? check_sheet(tracking->inputs.list) : code;
}

static int begin(void *data) {
    job *work = data;
    int code = ast_cli_frame_files_check(&work->files, &work->tracking.inputs);
    if (code < 0)
        code = ast_cli_tracking_begin(data);
    return code < 0 ? ast_cli_frame_files_make(&work->files) : code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int draw(job *work) {
    ast_format_error error;
    ast_cli_tracking *tracking = &work->tracking;
    const ast_cli_frames *depth = &tracking->inputs;
    const int32_t *labels = work->color == COLOR_PLANES ? tracking->planes.of : tracking->labels;
    return ast_cli_outcome(
        ast_overlay_depth(&work->picture, &depth->frame.image, depth->options.units_per_metre, labels, &error), &error);
}

static int write_picture(const job *work) {
    ast_format_error error;
    ast_output *output;
    const ast_cli_tracking *tracking = &work->tracking;
    int code = ast_cli_frame_files_open(&work->files, &tracking->inputs.frame, tracking->frame.frame, &output);
    if (code >= 0)
        return code;
    bool good = ast_write_picture(output, work->picture.rgb, work->picture.width, work->picture.height, &error);
    return ast_cli_frame_files_close(output, good, &error);
}

static int take_frame(void *data) {
    ast_format_error error;
    job *work = data;
    ast_cli_tracking *tracking = &work->tracking;
    uint64_t number = tracking->frame.frame;
    int code = ast_cli_stream_view_frame(tracking);
    if (code < 0)
        code = draw(work);
    if (code < 0)
        code = write_picture(work);
    if (code < 0 && work->tracking.common.json)
        code = ast_cli_tracking_print(tracking);
    if (code < 0 && work->color == COLOR_PLANES)
        code = ast_cli_plane_shares_add(&work->planes, tracking->planes.planes, tracking->planes.count,
                                        tracking->inputs.width * tracking->inputs.height, number);
    if (code >= 0)
        return code;
    if (!ast_shares_add(work->shares, number, tracking->inputs.frame.source, tracking->clusters, tracking->count,
                        &error) ||
        !ast_sheet_add(work->sheet, &work->picture, number, &error))
        return ast_cli_fail("%s", error.text);
    work->clustering += tracking->frame.seconds;
    return -1;
}

static int process(job *work) {
    work->tracking.lines = work->tracking.common.json;
    work->tracking.lasting = 1;
    int code = ast_cli_tracking_run(&work->tracking, take_frame, work);
    if (code < 0 && work->tracking.frames == 0)
        code = ast_cli_fail("%s holds no depth image", ast_cli_name(work->tracking.common.inputs[0].path));
    return code;
}

/* ---- After the last frame ---------------------------------------------------------------------------------------- */

enum { SHEET, CHART, TABLE, SUMMARIES };
static const char *const summaries[SUMMARIES] = {"contact-sheet.png", "shares.svg", "shares.csv"};

static bool write_summary(const job *work, int which, ast_output *output, ast_format_error *error) {
    return which == SHEET   ? ast_sheet_write(work->sheet, output, error)
           : which == CHART ? ast_shares_write_svg(work->shares, output, error)
                            : ast_shares_write_csv(work->shares, output, error);
}

static int deliver_summary(const job *work, int which) {
    ast_format_error error;
    char *path;
    if (asprintf(&path, "%s/%s", work->output, summaries[which]) < 0)
        return ast_cli_fail("there is no memory for the name of %s", summaries[which]);
    ast_output *output = ast_output_open(path, false, &error);
    free(path);
    if (!output)
        return ast_cli_fail("%s", error.text);
    return ast_cli_frame_files_close(output, write_summary(work, which, output, &error), &error);
}

enum { MOST_ROWS = 20 };

static void print_head(const job *work, size_t clusters) {
    const ast_stream_options *options = &work->tracking.options;
    const ast_cli_frames *inputs = &work->tracking.inputs;
    char time[AST_CLI_DURATION], normals[AST_CLI_DURATION], clustering[AST_CLI_DURATION];
    double frames = (double)work->tracking.frames, seconds = ast_cli_now() - work->started;
    printf("%.0f frame%s of %zu x %zu pixels, %zu cluster%s by %s at %g degrees\n", frames, frames > 1 ? "s" : "",
           inputs->width, inputs->height, clusters, clusters == 1 ? "" : "s", ast_cli_stream_names[options->method],
           options->angle);
    printf("%s, %.3g frames a second from files to pictures; per frame %s for normals and %s for clustering\n\n",
           ast_cli_duration(seconds, time), frames / seconds,
           ast_cli_duration(work->tracking.made.seconds / frames, normals),
           ast_cli_duration(work->clustering / frames, clustering));
}

static void print_row(const ast_shares_band *band, int colour) {
    if (colour) {
        ast_colour shown = ast_palette(band->id);
        printf("\033[48;2;%d;%d;%dm    \033[0m", shown.red, shown.green, shown.blue);
    }
    printf("%8" PRId32 "  %9.1f%%  %8zu  %8" PRIu64 "  %8" PRIu64 "  %8zu\n", band->id, 100 * band->share, band->frames,
           band->first, band->last, band->returns);
}

/* The clusters, largest first, each with the colour it has in the pictures where the terminal shows colours. */
static int print(job *work) {
    size_t count;
    char name[AST_CLI_SHOWN];
    int colour = ast_cli_colour();
    if (work->tracking.common.quiet || work->tracking.common.json)
        return AST_CLI_DONE;
    ast_shares_band *bands = ast_shares_bands(work->shares, &count);
    if (!bands)
        return ast_cli_fail("there is no memory to print the result");
    print_head(work, count);
    printf("%s%8s  %10s  %8s  %8s  %8s  %8s\n", colour && work->color == COLOR_DIRECTIONS ? "    " : "", "id",
           "mean share", "frames", "first", "last", "returned");
    for (size_t i = 0; i < count && i < MOST_ROWS; i++)
        print_row(&bands[i], colour && work->color == COLOR_DIRECTIONS);
    if (count > MOST_ROWS)
        printf("   ... and %zu more\n", count - MOST_ROWS);
    if (work->color == COLOR_PLANES) {
        printf("\n");
        ast_cli_plane_shares_print(&work->planes, (size_t)work->tracking.frames, MOST_ROWS, colour);
    }
    printf("\n%s holds %s\n", ast_cli_shown(work->output, name),
           work->tracking.frames == 1 ? "the picture"
                                      : "a picture for each frame, contact-sheet.png, shares.svg and shares.csv");
    free(bands);
    return ast_cli_flush();
}

static int conclude(job *work) {
    int code = -1;
    for (int which = 0; which < SUMMARIES && work->tracking.frames > 1 && code < 0; which++)
        code = deliver_summary(work, which);
    return code < 0 ? print(work) : code;
}

static int segment(void *data) {
    job *work = data;
    int code = process(work);
    return ast_cli_stream_view_end(&work->tracking, code < 0 ? conclude(work) : code);
}

static void end(void *data) {
    job *work = data;
    ast_pixels_free(&work->picture);
    ast_sheet_close(work->sheet);
    ast_shares_close(work->shares);
    ast_cli_plane_shares_free(&work->planes);
    ast_cli_tracking_end(data);
}

static ast_cli_step *const steps[] = {find_inputs, open_inputs, begin, segment, NULL};

const ast_cli_command ast_cli_segment = {
    .name = "segment",
    .summary = "colour depth images by the directions of their surfaces",
    .usage = "segment INPUT... --intrinsics FX,FY,CX,CY --angle DEG --output DIR [options]\n"
             "segment INPUT... --camera NAME --angle DEG --output DIR [options]\n"
             "segment FOLDER_WITH_CAMERA_JSON --angle DEG --output DIR [options]",
    .about = "Clusters the surface normals of depth images, one frame after the other, and writes for each a PNG "
             "with the clusters as colours, black where there is no surface. A cluster keeps its colour. More "
             "than one frame also gives contact-sheet.png, a grid of small pictures, and shares.svg and "
             "shares.csv, how large each cluster was in each frame. INPUT is 16-bit PNG or PGM files, a folder of "
             "them, a TUM RGB-D folder, or - for standard input. With --json a line for each frame is printed, as "
             "stream does.",
    .more = "*contact-sheet.png* has at most 120 of the pictures, evenly spaced. The options of `stream` apply, except "
            "those "
            "for tables of points and for the state.",
    .examples = "asterism segment depth/ --camera kinect --angle 60 --output segments\n"
                "asterism segment depth/ --camera kinect --angle 60 --poses poses.txt --color planes \\\n"
                "    --planes planes --output segments\n"
                "asterism segment depth/ --intrinsics 535.4,539.2,320.1,247.6 --depth-scale 5000 \\\n"
                "    --angle 60 --poses poses.txt --output segments\n"
                "asterism segment frame.png --camera kinect --smooth tv --angle 60 --output segments",
    .input = "an INPUT: depth images, a folder of them, or - for standard input",
    .many = 1,
    .inputs = AST_CLI_DEPTH,
    .methods = &ast_cli_stream_methods,
    .method = AST_CLI_TRACKING_AT(options.method),
    .uses = uses,
    .job = sizeof(job),
    .defaults = ast_cli_tracking_defaults,
    .steps = steps,
    .end = end};
