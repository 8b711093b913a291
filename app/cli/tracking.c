/* SPDX-License-Identifier: MIT
 *
 * One frame after the other: read, turn, step, labels. What else is done with a frame is the subcommand's business. */
#include "tracking.h"

#include <platform.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "field.h"
#include "interrupt.h"
#include "targets.h"
#include "terminal.h"

/* In the order of ast_weight_update, behind the tracker's own, which is what is not typed (-1). */
static const char *const updates[] = {"posterior", "paper", NULL};
static const char *const revivals[] = {"any", "near", NULL};
static const char *const scores[] = {"nearest", "geodesic", NULL}; /* as ast_stream_score, behind the tracker's own */
static const char *const switches[] = {"off", "on", NULL};
static const char *const pose_times[] = {"nearest", "row", NULL}; /* in the order of the enum in stream_poses.h */

#define AT(field) offsetof(ast_stream_options, field)
static const ast_cli_option tracker_options[] = {
    {"angle", AST_CLI_REAL, "DEG",
     "how far a point may be from its mean, 0 to 180 degrees; a larger angle gives fewer clusters", AT(angle), 0, 180,
     .required = "how far a point may be from its mean, such as --angle 60",
     .more = "Take 60 for depth images of rooms and corridors."},
    {"cosine", AST_CLI_COSINE, "C", "the same as a cosine similarity, -1 to 1", AT(angle), -1, 1, .excludes = "angle"},
    {"method", AST_CLI_CHOICE, "NAME",
     "ddp: clusters move, vanish and come back\n"
     "sdp: each frame starts from the means of the one before\n"
     "dp: each frame by itself, every cluster with a new id",
     AT(method), .choices = ast_cli_stream_names, .standard = "ddp"},
    {"drift", AST_CLI_REAL, "DEG", "how far a direction moves per frame", AT(drift), 1e-9, 180, .standard = "1",
     .methods = AST_CLI_DDP, .excludes = "beta"},
    {"beta", AST_CLI_REAL, "B", "the paper's tracker with this beta, instead of --drift", AT(beta), 0, (double)INFINITY,
     .methods = AST_CLI_DDP, .more = "With `inf` directions do not move."},
    {"weight-update", AST_CLI_CHOICE, "HOW",
     "how weights change: posterior (the default with --drift) or paper (the default with --beta)", AT(weight_update),
     .choices = updates, .methods = AST_CLI_DDP},
    {"lifetime", AST_CLI_INT, "FRAMES",
     "a cluster dies after this many frames in a row without points; 0 makes every frame a clustering of "
     "its own",
     AT(lifetime), 0, 4294967295.0, .standard = "400", .methods = AST_CLI_DDP},
    {"revive", AST_CLI_CHOICE, "WHICH",
     "near: a point revives a cluster only within the angle of the cluster's last direction\n"
     "any: a point revives any cluster that explains it",
     AT(revive_near), .choices = revivals, .standard = "near", .methods = AST_CLI_DDP,
     .more = "`any` is the rule of the paper (docs/trackers.md)."},
    {"score", AST_CLI_CHOICE, "HOW",
     "nearest: the cosine with the mean, less for every frame of absence (the default)\n"
     "geodesic: the paper's, by which a mean may move to meet a point (the default with --beta or --revive any)",
     AT(score), .choices = scores, .methods = AST_CLI_DDP,
     .more = "With `nearest` a point fits a mean of few points up to a larger angle (docs/trackers.md)."},
    {"exclusive", AST_CLI_FLAG, NULL,
     "two points of a frame never share an id, as faces of one picture; at most 10000 points per frame", AT(exclusive),
     .methods = AST_CLI_DDP, .excludes = "axial beta",
     .more = "Of all assignments of points to ids that they fit it is the one with the largest sum of scores."},
    {"merge-tracked", AST_CLI_CHOICE, "HOW",
     "on: two clusters whose means are closer than half the angle in three frames in a row become one\n"
     "off: clusters never become one (the default, except for depth images and with --exclusive)",
     AT(merge_tracked), .choices = switches, .methods = AST_CLI_DDP,
     .more = "The last event of the younger one is `merged`, and `into` names the id that stays. With --exclusive two "
             "ids become one when their means agree and they were never seen in one frame."},
    {"rigid", AST_CLI_FLAG, NULL,
     "all directions turn together, as a camera sees a room: the turn is learned from the clusters in view and "
     "applied to those out of sight too; for three dimensions, without --poses",
     AT(rigid), .methods = AST_CLI_DDP, .excludes = "poses"},
    {"born-after", AST_CLI_INT, "N",
     "a cluster gets its id after N frames with points; until then they have the label -1, and the id is reserved",
     AT(born_after), .low = 1, .high = 2147483647, .standard = "1", .methods = AST_CLI_DDP},
    {"min-size", AST_CLI_COUNT, "N",
     "a cluster is born with at least N points of one frame; the points of smaller ones have the label -1",
     AT(min_size), .low = 1, .high = 2147483647, .standard = "1", .excludes = "exclusive"},
    {"max-clusters", AST_CLI_COUNT, "N",
     "maximum number of clusters kept after a frame; the longest unseen go first (default: no limit)", AT(max_clusters),
     .low = 1, .high = 2147483647},
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same", .offset = AT(axial)},
    {0}};

const ast_cli_group ast_cli_tracker_group = {.options = tracker_options};

#undef AT
#define AT(field) offsetof(ast_cli_tracking_settings, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_NAME, "DIR",
     "write one int32 .npy of ids per frame, -1 for missing rows, named after the file or, for arrays and "
     "standard input, 000000.npy and so on; for depth images, an array of the image's shape; the folder "
     "is made if necessary",
     .offset = AT(labels)},
    {"weights", AST_CLI_NAME, "DIR",
     "read how much each point counts, as its quality: one file of numbers per frame, named as those of --labels, "
     ".npy, "
     ".csv or .txt",
     AT(weights), .inputs = AST_CLI_POINTS,
     .more = "A weight says how much a point moves its mean, in points. A point of weight 0 is late."},
    {"min-quality", AST_CLI_REAL, "Q",
     "points of a smaller weight are late: they get an id, but start no cluster and move no mean",
     AT(options.min_quality), 0, 1048576, .standard = "0", .needs = "weights", .inputs = AST_CLI_POINTS},
    {"late", AST_CLI_NAME, "DIR", "read which points are late, not 0: one file of numbers per frame, as --weights",
     AT(late), .inputs = AST_CLI_POINTS},
    {"center-file", AST_CLI_READ, "FILE",
     "subtract this row, the mean of such points as unit vectors (cluster --center-file writes it), from every point: "
     "many networks put all faces into a narrow cone",
     AT(center), .inputs = AST_CLI_POINTS, .excludes = "axial"},
    {"similarity", AST_CLI_NAME, "DIR",
     "write one float32 .npy of three columns per frame: the cosine of each row with the mean of its id, the largest "
     "cosine with another id, and that id; NaN, NaN and -1 where there is none",
     .offset = AT(similarity)},
    {"rows", AST_CLI_FLAG, NULL,
     "lines have the id of every row, and how sure it is: rows, similarity, margin, runner_up", .offset = AT(rows)},
    {"all", AST_CLI_FLAG, NULL, "lines have unseen clusters too", .offset = AT(all)},
    {"rotations", AST_CLI_NAME, "FILE",
     "write the rotation of the camera in each frame, from the camera to the first frame: rows of time 0 0 0 qx qy qz "
     "qw, as TUM has them, with the frame's number if it has no time",
     AT(rotations), .methods = AST_CLI_DDP, .excludes = "poses axial exclusive",
     .more = "It is found from the directions in view; docs/rotation.md says how well."},
    {"frame-axes", AST_CLI_FLAG, NULL,
     "lines have the axes of the building that the directions of the frame support: manhattan, atlanta or none",
     AT(frame_axes), .methods = AST_CLI_DDP, .excludes = "axial exclusive",
     .more = "The first axis is the vertical. `shares` says how many points face along each axis or against it."},
    {"poses", AST_CLI_NAME, "FILE",
     "camera poses, camera to world: points are turned into the world. Text with one row per frame, time tx ty "
     "tz qx qy qz qw or the 16 numbers of a 4 x 4 matrix; or a folder with one text of 4 x 4 numbers per frame",
     AT(poses), .more = "docs/depth-cameras.md says which row belongs to which frame."},
    {"pose-times", AST_CLI_CHOICE, "HOW",
     "nearest: each frame takes the row of --poses whose time is nearest\n"
     "row: the rows belong to the frames in order",
     AT(pose_times), .choices = pose_times, .needs = "poses",
     .more = "With `nearest` names that are whole numbers are times too."},
    {"flip-y", AST_CLI_FLAG, NULL,
     "negate the y of the camera's points before a pose turns them, for left-handed worlds such as ICL-NUIM",
     AT(flip_y), .needs = "poses"},
    {"strict", AST_CLI_FLAG, NULL, "a depth image that is missing or cannot be read is an error, not a warning",
     AT(strict), .more = "Tables that cannot be read are errors in any case."},
    {0}};

const ast_cli_group ast_cli_tracking_group = {.options = options_table};

/* Normals of pixels, in place of planes, have a shade of every direction in clutter, and the last passes over a frame
 * move the borders between them by a pixel. Ten passes bound the time: frames of 1.4 s became 0.15. */
enum { PIXEL_PASSES = 10 };

/* What follows from more than one option, and whether the library takes it. */
static int resolve(ast_cli_tracking_settings *given) {
    ast_stream_options *options = &given->options, any;
    options->weight_update += 1;
    options->score += 1;
    options->max_iterations = given->passes.max_iterations;
    options->parallel = (ast_parallel)given->passes.parallel;
    options->bounds = given->passes.bounds;
    any = *options;
    any.dimension = 3; /* the true one is not known yet */
    any.revive_near = options->revive_near != 0;
    any.merge_tracked = 0;
    const char *problem = ast_stream_options_problem(&any);
    return problem ? ast_cli_misuse("%s", problem) : -1;
}

void ast_cli_tracking_defaults(void *data) {
    ast_stream_options_init(&((ast_cli_tracking *)data)->given.options);
}

int ast_cli_tracking_find(void *data) {
    ast_cli_tracking *tracking = data;
    ast_cli_tracking_settings *given = &tracking->given;
    const ast_cli_common *common = &tracking->common;
    /* Guided normals would split walls at the steps of a sensor. */
    ast_cli_camera_resolve(&given->camera, common, AST_SMOOTH_PLANES);
    ast_cli_camera_beside(&given->camera, common->inputs);
    int code = resolve(given);
    if (code < 0)
        code = ast_cli_check_apart("labels", given->labels, "plane-labels", given->planes.labels);
    if (code < 0 && !(given->list = calloc(1, sizeof *given->list)))
        code = ast_cli_no_memory("the list of inputs");
    if (code >= 0)
        return code;
    given->list->number_times = given->pose_times == AST_CLI_POSES_NEAREST;
    given->list->strict = given->strict;
    code = ast_cli_frames_list(given->list, &given->camera, &given->source, common, given->poses);
    if (code < 0 && given->options.merge_tracked < 0) /* pieces of one surface */
        given->options.merge_tracked =
            (given->list->depth || given->options.exclusive) && given->options.method == AST_STREAM_DDP;
    bool planes = given->camera.smooth == AST_SMOOTH_PLANES || given->camera.smooth == AST_SMOOTH_PLANES_ONLY;
    if (code < 0 && given->list->depth && !planes && !ast_cli_typed(common, "max-iterations"))
        given->options.max_iterations = PIXEL_PASSES;
    return code < 0 && given->view.view != SIZE_MAX ? ast_cli_serving_check("--view", given->view.bind) : code;
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static int open_poses(ast_cli_tracking *tracking) {
    const ast_cli_tracking_settings *given = &tracking->given;
    tracking->poses.flip = given->flip_y;
    int code = ast_cli_poses_read(&tracking->poses, given->poses);
    return code < 0 ? ast_cli_poses_match(&tracking->poses, given->list, ast_frames_count(tracking->inputs.frames),
                                          given->pose_times)
                    : code;
}

int ast_cli_tracking_open(void *data) {
    ast_cli_tracking *tracking = data;
    const ast_cli_tracking_settings *given = &tracking->given;
    tracking->options = given->options;
    tracking->files = (ast_cli_frame_files){
        .option = "labels", .folder = given->labels, .extension = "npy", .what = "labels", .durable = given->durable};
    tracking->similarity_files = (ast_cli_frame_files){.option = "similarity",
                                                       .folder = given->similarity,
                                                       .extension = "npy",
                                                       .what = "similarities",
                                                       .durable = given->durable};
    tracking->row_files.weights = given->weights;
    tracking->row_files.late = given->late;
    tracking->inputs.go_on = !given->strict;
    int code = ast_cli_frames_open(&tracking->inputs, given->list, &given->camera, &given->source, given->points,
                                   given->dimension);
    if (code < 0 && given->poses)
        code = open_poses(tracking);
    if (code < 0)
        code = ast_cli_open_context(&tracking->common, &tracking->context);
    if (code < 0)
        ast_set_cancel(tracking->context, NULL, NULL); /* only a step is cut short */
    tracking->inputs.options.planes = ast_cli_planes_wanted(&given->planes);
    if (code < 0)
        code = ast_cli_stream_planes_open(&tracking->planes, &given->planes, tracking->context, given->durable);
    ast_cli_watch_signals();
    return code;
}

int ast_cli_tracking_dimension(ast_cli_tracking *tracking, size_t dimension, const char *name) {
    tracking->options.dimension = dimension;
    if (tracking->options.rigid && dimension != 3)
        return ast_cli_fail("%s has points of %zu dimensions, and --rigid is for 3", name, dimension);
    if ((tracking->given.rotations || tracking->given.frame_axes) && dimension != 3)
        return ast_cli_fail("%s has points of %zu dimensions, and --%s is for 3", name, dimension,
                            tracking->given.rotations ? "rotations" : "frame-axes");
    if (tracking->given.center) {
        int code = ast_cli_read_center(tracking->given.center, dimension, &tracking->center);
        if (code >= 0)
            return code;
        tracking->options.center = tracking->center;
    }
    const char *problem = ast_stream_options_problem(&tracking->options);
    if (problem)
        return ast_cli_fail("%s: %s", name, problem);
    ast_stream_open(&tracking->stream, tracking->context, &tracking->options);
    if (!tracking->stream)
        return ast_cli_fail("%s: %s", name, ast_message(tracking->context));
    return -1;
}

int ast_cli_tracking_begin(void *data) {
    ast_cli_tracking *tracking = data;
    int code = ast_cli_frame_files_check(&tracking->files, &tracking->inputs);
    if (code < 0)
        code = ast_cli_frame_files_check(&tracking->similarity_files, &tracking->inputs);
    if (code < 0)
        code = ast_cli_stream_planes_check(&tracking->planes, &tracking->inputs);
    if (code < 0 && tracking->given.rotations)
        code = ast_cli_rotations_open(&tracking->rotations, tracking->given.rotations);
    if (code < 0)
        code = ast_cli_stream_view_open(tracking);
    if (code < 0)
        code = ast_cli_frame_files_make(&tracking->files);
    if (code < 0)
        code = ast_cli_frame_files_make(&tracking->similarity_files);
    return code < 0 ? ast_cli_stream_planes_begin(&tracking->planes) : code;
}

void ast_cli_tracking_end(void *data) {
    ast_cli_tracking *tracking = data;
    ast_cli_stream_view_close(&tracking->view);
    (void)ast_cli_rotations_close(tracking->rotations, false);
    ast_stream_close(tracking->stream);
    ast_cli_stream_planes_close(&tracking->planes);
    ast_cli_frame_normals_close(&tracking->made);
    ast_frames_close(tracking->inputs.frames);
    ast_close(tracking->context);
    ast_cli_poses_free(&tracking->poses);
    ast_cli_row_files_free(&tracking->row_files);
    free(tracking->center);
    free(tracking->seen);
    free(tracking->labels);
    free(tracking->compared);
    free(tracking->runners_up);
    free(tracking->vectors);
    if (tracking->given.list)
        ast_frame_list_free(tracking->given.list);
    free(tracking->given.list);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* A frame without points may not know its dimension; it fits any stream. */
static int check_dimension(ast_cli_tracking *tracking, ast_points *points) {
    const ast_cli_tracking_settings *given = &tracking->given;
    const char *source = tracking->inputs.frame.source;
    /* Raw frames are D wide as they come, before --columns. */
    size_t wanted = given->source.columns || ast_cli_field_notation(&given->source) ? 0 : given->dimension;
    if (tracking->stream)
        wanted = tracking->options.dimension;
    if (points->count == 0 && points->dimension == 0) {
        if (!wanted)
            return ast_cli_fail("%s holds no points, and no frame before it says how many dimensions "
                                "they have; --dimension D can",
                                source);
        points->dimension = wanted;
    }
    if (wanted && points->dimension != wanted)
        return ast_cli_fail("%s has points of %zu dimensions, but %s %zu", source, points->dimension,
                            !tracking->stream ? "--dimension is"
                            : tracking->next  ? "those of the frames before it have"
                                              : "the rows of --enroll have",
                            wanted);
    return tracking->stream ? -1 : ast_cli_tracking_dimension(tracking, points->dimension, source);
}

static int make_room(ast_cli_tracking *tracking, size_t count) {
    if (tracking->labels && count <= tracking->capacity)
        return -1;
    free(tracking->labels);
    tracking->capacity = count > 2 * tracking->capacity ? count : 2 * tracking->capacity;
    tracking->labels = malloc((tracking->capacity ? tracking->capacity : 1) * sizeof *tracking->labels);
    if (!tracking->labels)
        return ast_cli_fail("%s: there is no memory for %zu labels", tracking->inputs.frame.source, count);
    return -1;
}

static int write_labels(const ast_cli_tracking *tracking) {
    ast_format_error error;
    ast_output *output;
    const ast_cli_frames *inputs = &tracking->inputs;
    int code = ast_cli_frame_files_open(&tracking->files, &inputs->frame, tracking->frame.frame, &output);
    if (code >= 0)
        return code;
    size_t rows = inputs->list->depth ? inputs->height : tracking->frame.points;
    bool good = ast_write_array(output, ast_label_array(tracking->labels, rows, inputs->width), &error);
    return ast_cli_frame_files_close(output, good, &error);
}

static int write_similarity(const ast_cli_tracking *tracking, float *table) {
    ast_format_error error;
    ast_output *output;
    size_t count = tracking->frame.points;
    for (size_t i = 0; i < count; i++) {
        table[3 * i] = tracking->compared[i];
        table[3 * i + 1] = tracking->compared[count + i];
        table[3 * i + 2] = (float)tracking->runners_up[i];
    }
    int code =
        ast_cli_frame_files_open(&tracking->similarity_files, &tracking->inputs.frame, tracking->frame.frame, &output);
    if (code >= 0)
        return code;
    bool good = ast_write_array(output, ast_value_array(table, count, 3), &error);
    return ast_cli_frame_files_close(output, good, &error);
}

/* How sure the ids are, for --similarity and --rows: (2, points) cosines and room for the table, (points) ids. */
static int compare(ast_cli_tracking *tracking, const ast_points *points) {
    size_t count = points->count;
    free(tracking->compared);
    free(tracking->runners_up);
    tracking->compared = malloc((5 * count + 1) * sizeof *tracking->compared);
    tracking->runners_up = malloc((count + 1) * sizeof *tracking->runners_up);
    if (!tracking->compared || !tracking->runners_up)
        return ast_cli_fail("%s: there is no memory for %zu similarities", tracking->inputs.frame.source, count);
    ast_status status = ast_stream_compare(tracking->stream, points, tracking->labels, tracking->compared,
                                           tracking->compared + count, tracking->runners_up);
    int code = ast_cli_status(status, tracking->context, tracking->inputs.frame.source);
    return code < 0 && tracking->given.similarity ? write_similarity(tracking, tracking->compared + 2 * count) : code;
}

static int turn(ast_cli_tracking *tracking, ast_points *points) {
    const ast_cli_frames *inputs = &tracking->inputs;
    if (inputs->list->depth)
        return ast_cli_poses_turn_normals(&tracking->poses, &inputs->frame, tracking->made.normals, points->count);
    return ast_cli_poses_turn(&tracking->poses, &inputs->frame, points);
}

/* A frame that a signal cuts short counts as not found: the stream is as it was before it. */
static int step(ast_cli_tracking *tracking, const ast_points *points, int *found) {
    tracking->frame.size = sizeof tracking->frame;
    ast_set_cancel(tracking->context, ast_cli_cancel, NULL);
    ast_status status = ast_stream_step(tracking->stream, points, tracking->labels, &tracking->frame);
    *found = status != AST_CANCELLED;
    int code = *found ? ast_cli_status(status, tracking->context, tracking->inputs.frame.source) : -1;
    ast_set_cancel(tracking->context, NULL, NULL); /* frames are read to their end */
    return code;
}

static int find_axes(ast_cli_tracking *tracking) {
    tracking->axes.size = sizeof tracking->axes;
    return ast_cli_status(ast_stream_axes(tracking->stream, &tracking->axes), tracking->context,
                          tracking->inputs.frame.source);
}

#define CONE_DIMENSION 8   /* in more dimensions rows are embeddings */
#define CONE_ROWS 1000     /* from so many rows on, */
#define CONE_CLUSTERS 10   /* of so many clusters, */
#define CONE_RESULTANT 0.7 /* with such a mean they are in a narrow cone */

static void add_row(ast_cli_tracking *tracking, const ast_points *points, size_t i, double *row) {
    double square = 0;
    ast_points_row(points, i, row);
    for (size_t d = 0; d < points->dimension; d++)
        square += row[d] * row[d];
    if (!(square > 0) || isinf(square))
        return;
    double length = sqrt(square);
    for (size_t d = 0; d < points->dimension; d++)
        tracking->seen[d] += row[d] / length;
    tracking->rows_seen++;
}

/* Says once that the rows of the stream lie in a narrow cone, where an angle between people is hard to choose. */
static int warn_of_cone(ast_cli_tracking *tracking, const ast_points *points) {
    size_t dimension = points->dimension;
    if (tracking->center || dimension <= CONE_DIMENSION || points->starts || tracking->options.axial ||
        tracking->common.quiet || tracking->rows_seen == UINT64_MAX)
        return -1;
    double *row = malloc(dimension * sizeof *row), square = 0;
    if (!tracking->seen)
        tracking->seen = calloc(dimension, sizeof *tracking->seen);
    if (!row || !tracking->seen) {
        free(row);
        return ast_cli_fail("there is no memory for a row of %zu numbers", dimension);
    }
    for (size_t i = 0; i < points->count; i++)
        add_row(tracking, points, i, row);
    free(row);
    for (size_t d = 0; d < dimension; d++)
        square += tracking->seen[d] * tracking->seen[d];
    double resultant = sqrt(square) / (double)tracking->rows_seen;
    if (tracking->rows_seen < CONE_ROWS || tracking->count < CONE_CLUSTERS)
        return -1;
    if (resultant > CONE_RESULTANT)
        ast_cli_warn("the rows lie in a narrow cone (the length of their mean is %.2f), where all angles are small: "
                     "--center-file with the mean of many other such rows makes an angle easier to choose",
                     resultant);
    tracking->rows_seen = UINT64_MAX;
    return -1;
}

static int take_frame(ast_cli_tracking *tracking, ast_points *points, int *found) {
    const char *source = tracking->inputs.frame.source;
    const ast_cli_source *how = &tracking->given.source;
    int code = -1;
    if (ast_cli_field_notation(how))
        code = ast_cli_field_points(how, source, points, &tracking->vectors, &tracking->vector_capacity);
    if (code < 0)
        code = check_dimension(tracking, points);
    if (code < 0 && tracking->given.poses)
        code = turn(tracking, points);
    if (code < 0)
        code = make_room(tracking, points->count);
    if (code < 0 && (tracking->given.weights || tracking->given.late))
        code = ast_cli_row_files_read(&tracking->row_files, &tracking->inputs.frame, tracking->next, points);
    if (code < 0)
        code = step(tracking, points, found);
    tracking->next = tracking->frame.frame + 1;
    if (code < 0 && *found && tracking->given.labels)
        code = write_labels(tracking);
    if (code < 0 && *found && (tracking->given.similarity || tracking->given.rows))
        code = compare(tracking, points);
    if (code < 0 && *found)
        code = ast_cli_stream_planes_take(&tracking->planes, &tracking->inputs, tracking->made.frame, tracking->context,
                                          tracking->given.poses ? &tracking->poses : NULL, tracking->labels,
                                          tracking->frame.frame);
    if (code < 0 && *found) {
        tracking->rotation = ast_cli_rotation_of(tracking->stream, &tracking->options, tracking->given.poses != NULL);
        if (tracking->given.frame_axes)
            code = find_axes(tracking);
        if (code < 0 && tracking->rotations)
            code = ast_cli_rotations_add(tracking->rotations, tracking->given.list, &tracking->inputs.frame,
                                         tracking->frame.frame, &tracking->rotation);
        ast_cli_missing_note(&tracking->made, &tracking->inputs, tracking->frame.missing, tracking->options.angle);
        tracking->points = *points;
        tracking->clusters = ast_stream_clusters(tracking->stream, &tracking->count);
        code = code < 0 ? warn_of_cone(tracking, points) : code;
    }
    return code;
}

/* Leaves out a frame whose pose is lost: where its surfaces are is not known. Said once, and counted. */
static int leave_out(ast_cli_tracking *tracking) {
    const char *source = tracking->inputs.frame.source, *path = tracking->poses.path;
    if (tracking->given.strict)
        return ast_cli_fail("%s: the pose of %s is lost: it is not finite, or a quaternion of zeros", path, source);
    if (tracking->lost++ == 0)
        ast_cli_warn(
            "%s: the pose of %s is lost (not finite, or a quaternion of zeros); frames without a pose are left "
            "out",
            path, source);
    return -1;
}

/* As ast_cli_frames_next, past the frames whose pose is lost. */
static int next_placed(ast_cli_tracking *tracking, int *found) {
    int code = ast_cli_frames_next(&tracking->inputs, found);
    while (code < 0 && *found && tracking->given.poses &&
           ast_cli_poses_lost(&tracking->poses, &tracking->inputs.frame)) {
        code = leave_out(tracking);
        if (code < 0)
            code = ast_cli_frames_next(&tracking->inputs, found);
    }
    if (code < 0 && !*found && tracking->lost > 1)
        ast_cli_warn("%" PRIu64 " frames were left out, because their pose is lost", tracking->lost);
    return code;
}

static int next_frame(ast_cli_tracking *tracking, int *found) {
    ast_points points;
    *found = 0;
    if (ast_cli_interrupted())
        return -1;
    ast_cli_frames *inputs = &tracking->inputs;
    int code = next_placed(tracking, found);
    if (!inputs->said && inputs->remark[0]) {
        ast_cli_say_remark(&tracking->common, inputs->remark);
        inputs->said = true;
    }
    if (code < 0 && *found)
        code = ast_cli_frame_points(&tracking->made, &tracking->inputs, tracking->context, &points);
    if (code < 0 && *found && inputs->frame.index == 0 && !inputs->list->depth)
        ast_cli_say_table(&tracking->common, inputs->frame.source, &points);
    return code < 0 && *found ? take_frame(tracking, &points, found) : code;
}

static size_t frames_left(const ast_cli_tracking *tracking) {
    size_t all = ast_frames_count(tracking->inputs.frames);
    return all == SIZE_MAX ? SIZE_MAX : all - (size_t)tracking->inputs.frame.index - 1;
}

int ast_cli_tracking_run(ast_cli_tracking *tracking, int (*take)(void *work), void *work) {
    ast_cli_progress progress;
    ast_cli_progress_start(&progress, &tracking->common, 0);
    progress.show &= tracking->common.progress || !tracking->lines || !isatty(STDOUT_FILENO);
    int code = -1, found = 1;
    while (code < 0 && found) {
        code = next_frame(tracking, &found);
        if (code >= 0 || !found)
            break;
        code = take(work);
        tracking->frames += code < 0;
        if (code < 0)
            ast_cli_progress_frame(&progress, &tracking->frame, tracking->frames, frames_left(tracking));
    }
    ast_cli_progress_end(&progress);
    ast_cli_missing_end(&tracking->made, tracking->frames);
    if (code < 0 && tracking->rotations) {
        code = ast_cli_rotations_close(tracking->rotations, true);
        tracking->rotations = NULL;
    }
    if (code < 0 && ast_cli_interrupted())
        code = ast_cli_end(AST_CLI_SIGNAL + ast_cli_interrupted(), "stopped after %" PRIu64 " frame%s of this run",
                           tracking->frames, tracking->frames == 1 ? "" : "s");
    return code;
}
