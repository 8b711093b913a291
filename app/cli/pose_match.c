/* SPDX-License-Identifier: MIT
 *
 * Which pose belongs to which frame: by row, by time (trackers deliver poses more often than a camera delivers images),
 * or by the name of the file. */
#include "stream_poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame_files.h"
#include "terminal.h"

/* Seconds. A hand-held camera turns by several degrees in a tenth of a second; a second is another clock. */
#define NEAR 0.1
#define SAME_CLOCK 1.0

static int make_room(ast_cli_poses *poses, size_t frames) {
    poses->chosen = malloc((frames + 1) * sizeof *poses->chosen);
    poses->frames = frames;
    return poses->chosen ? -1 : ast_cli_no_memory("the poses of the frames");
}

/* ---- By time ----------------------------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    double one = ((const ast_cli_pose *)a)->seconds, other = ((const ast_cli_pose *)b)->seconds;
    return (one > other) - (one < other);
}

/* Of rows in order of time. The earlier one of two that are equally near. */
static size_t nearest_row(const ast_cli_poses *poses, double seconds) {
    size_t low = 0, high = poses->count - 1;
    while (low < high) { /* the first row that is not earlier, or the last row */
        size_t middle = low + (high - low) / 2;
        if (poses->rows[middle].seconds < seconds)
            low = middle + 1;
        else
            high = middle;
    }
    bool before = low > 0 && seconds - poses->rows[low - 1].seconds <= fabs(poses->rows[low].seconds - seconds);
    return before ? low - 1 : low;
}

static int match_times(ast_cli_poses *poses, const ast_frame_list *list) {
    int code = make_room(poses, list->count);
    if (code >= 0)
        return code;
    size_t far = 0, farthest = 0;
    double least = INFINITY, most = -1;
    qsort(poses->rows, poses->count, sizeof *poses->rows, compare_times);
    for (size_t i = 0; i < list->count; i++) {
        double seconds = list->files[i].seconds;
        poses->chosen[i] = nearest_row(poses, seconds);
        double off = fabs(poses->rows[poses->chosen[i]].seconds - seconds);
        far += off > NEAR;
        least = off < least ? off : least;
        if (off > most) {
            most = off;
            farthest = i;
        }
    }
    if (least > SAME_CLOCK)
        return ast_cli_fail("%s: its times, from %.3f to %.3f, are not those of the frames: the first of %zu is %s at "
                            "%.3f, and the nearest pose of any is %.1f seconds away",
                            poses->path, poses->rows[0].seconds, poses->rows[poses->count - 1].seconds, list->count,
                            list->files[0].path, list->files[0].seconds, least);
    if (far > 0)
        ast_cli_warn("%zu of %zu frames have no pose in %s within %g s; that of %s is %.2f s away", far, list->count,
                     poses->path, NEAR, list->files[farthest].path, most);
    return -1;
}

static bool frames_have_times(const ast_frame_list *list) {
    bool timed = list->count > 0;
    for (size_t i = 0; i < list->count; i++)
        timed &= isfinite(list->files[i].seconds);
    return timed;
}

static bool poses_have_times(const ast_cli_poses *poses) {
    bool timed = poses->count > 0;
    for (size_t i = 0; i < poses->count; i++)
        timed &= isfinite(poses->rows[i].seconds);
    return timed;
}

/* ---- By name ----------------------------------------------------------------------------------------------------- */

/* The name that a frame and its pose have in common: frame-000017 of frame-000017.depth.png and frame-000017.pose.txt.
 */
static const char *common_name(const char *path, size_t *length) {
    static const char *const kinds[] = {".depth", ".pose"};
    const char *stem = ast_cli_stem(path, length);
    for (size_t i = 0; i < 2; i++) {
        size_t kind = strlen(kinds[i]);
        if (*length > kind && strncmp(stem + *length - kind, kinds[i], kind) == 0) {
            *length -= kind;
            break;
        }
    }
    return stem;
}

static int compare_names(const void *a, const void *b) {
    size_t length_a, length_b;
    const char *name_a = common_name(**(char **const *)a, &length_a),
               *name_b = common_name(**(char **const *)b, &length_b);
    int order = strncmp(name_a, name_b, length_a < length_b ? length_a : length_b);
    return order != 0 ? order : (length_a > length_b) - (length_a < length_b);
}

/* The first frame without a pose of its name, or list->count. `sorted` points to the paths of the poses. */
static size_t match_names(ast_cli_poses *poses, const ast_frame_list *list, char ***sorted) {
    size_t i;
    for (i = 0; i < poses->count; i++)
        sorted[i] = &poses->files.paths[i];
    qsort(sorted, poses->count, sizeof *sorted, compare_names);
    for (i = 0; i < list->count; i++) {
        char **wanted = &list->files[i].path;
        char ***found = bsearch(&wanted, sorted, poses->count, sizeof *sorted, compare_names);
        if (!found)
            break;
        poses->chosen[i] = (size_t)(*found - poses->files.paths);
    }
    return i;
}

static int match_files(ast_cli_poses *poses, const ast_frame_list *list, size_t frames) {
    if (frames == SIZE_MAX)
        return -1;
    char ***sorted = malloc(poses->count * sizeof *sorted);
    int code = sorted ? make_room(poses, list->count) : ast_cli_no_memory("the poses of the frames");
    size_t without = code < 0 ? match_names(poses, list, sorted) : 0;
    free(sorted);
    if (code >= 0 || without == list->count)
        return code;
    if (frames != poses->count)
        return ast_cli_fail("%s holds %zu pose%s for %zu frames, and none has the name of %s", poses->path,
                            poses->count, poses->count == 1 ? "" : "s", frames, list->files[without].path);
    free(poses->chosen); /* by order */
    poses->chosen = NULL;
    return -1;
}

/* ---- All three --------------------------------------------------------------------------------------------------- */

/* Rows that do not match the frames one by one would turn the wrong ones. */
static int match_rows(const ast_cli_poses *poses, const ast_frame_list *list, size_t frames, bool timed) {
    size_t rows = poses->count;
    if (frames == SIZE_MAX || frames == rows)
        return -1;
    const char *hint = !list->depth || !poses_have_times(poses) ? ""
                       : timed                                  ? "; leave out --pose-times row to match them by time"
                               : "; if the names of the frames are times, --pose-times nearest matches them";
    return ast_cli_fail("%s has %zu row%s, but there are %zu frames; it needs one row a frame%s", poses->path, rows,
                        rows == 1 ? "" : "s", frames, hint);
}

int ast_cli_poses_match(ast_cli_poses *poses, const ast_frame_list *list, size_t frames, int how) {
    bool timed = frames_have_times(list), nearest = how == AST_CLI_POSES_NEAREST;
    if (nearest && !poses_have_times(poses))
        return ast_cli_fail("%s: --pose-times nearest needs rows of time tx ty tz qx qy qz qw", poses->path);
    if (nearest && !timed)
        return ast_cli_fail("--pose-times nearest needs the times of the frames: a depth.txt, or file names that are "
                            "numbers, such as 1305031453.374112.png");
    if (poses->files.count > 0)
        return match_files(poses, list, frames);
    size_t known = timed && frames == SIZE_MAX ? list->count : frames;
    bool by_time = nearest || (how != AST_CLI_POSES_ROW && timed && known != poses->count && poses_have_times(poses));
    return by_time ? match_times(poses, list) : match_rows(poses, list, frames, timed);
}
