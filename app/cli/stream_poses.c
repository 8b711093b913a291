/* SPDX-License-Identifier: MIT
 *
 * Poses are read whole and strictly: a row that cannot be understood would shift all that follow. Turning keeps what
 * the library must see: missing rows stay missing, infinite ones infinite. */
#include "stream_poses.h"

#include <platform.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

static const char separators[] = " \t,;\r\n";

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

enum { MATRIX = 16, TIMED = 8, PLACED = 7, QUATERNION = 4 };

/* The numbers of a line, added to those that are there; columns beyond 16 push out the first. */
static int parse_line(char *line, const char *path, size_t number, double values[MATRIX], size_t *columns) {
    char *rest = NULL;
    size_t column = 0;
    for (char *word = strtok_r(line, separators, &rest); word; word = strtok_r(NULL, separators, &rest)) {
        char *end;
        double value = strtod(word, &end);
        ++column;
        if (*end)
            return ast_cli_fail("%s: line %zu, column %zu: '%.40s' is not a number", path, number, column, word);
        if (*columns >= MATRIX)
            memmove(values, values + 1, (MATRIX - 1) * sizeof *values);
        values[*columns < MATRIX ? *columns : MATRIX - 1] = value;
        ++*columns;
    }
    return -1;
}

/* Of a quaternion that is finite and not zero. */
static void quaternion_turn(const double given[4], double turn[9]) {
    double largest = 0, square = 0, q[4];
    for (int i = 0; i < 4; i++)
        largest = fmax(largest, fabs(given[i]));
    for (int i = 0; i < 4; i++) {
        q[i] = given[i] / largest;
        square += q[i] * q[i];
    }
    double norm = sqrt(square), x = q[0] / norm, y = q[1] / norm, z = q[2] / norm, w = q[3] / norm;
    turn[0] = 1 - 2 * (y * y + z * z);
    turn[1] = 2 * (x * y - z * w);
    turn[2] = 2 * (x * z + y * w);
    turn[3] = 2 * (x * y + z * w);
    turn[4] = 1 - 2 * (x * x + z * z);
    turn[5] = 2 * (y * z - x * w);
    turn[6] = 2 * (x * z - y * w);
    turn[7] = 2 * (y * z + x * w);
    turn[8] = 1 - 2 * (x * x + y * y);
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Why a 4 x 4 matrix, row by row, is no pose; NULL if it is one. Written so that NaN is none. */
static const char *matrix_problem(const double m[MATRIX]) {
    static const double last[4] = {0, 0, 0, 1};
    double third[3];
    for (int i = 0; i < 4; i++)
        if (!(fabs(m[12 + i] - last[i]) <= 1e-6))
            return "its last row is not 0 0 0 1 (matrices are written row by row)";
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j <= i; j++)
            if (!(fabs(dot(m + 4 * i, m + 4 * j) - (i == j)) <= 0.01))
                return "its first three columns are no rotation";
    cross(m, m + 4, third);
    return dot(third, m + 8) < 0 ? "it is a reflection, and poses are rotations; --flip-y is for left-handed worlds"
                                 : NULL;
}

/* The nearest rotation, up to the few digits that a text has lost. */
static void matrix_turn(const double m[MATRIX], double turn[9]) {
    double length = sqrt(dot(m, m)), along = dot(m, m + 4) / (length * length);
    for (int i = 0; i < 3; i++) {
        turn[i] = m[i] / length;
        turn[3 + i] = m[4 + i] - along * m[i];
    }
    length = sqrt(dot(turn + 3, turn + 3));
    for (int i = 0; i < 3; i++)
        turn[3 + i] /= length;
    cross(turn, turn + 3, turn + 6);
}

/* What programs write where they have lost track: NaN or infinity anywhere, or a quaternion of zeros. */
static bool is_lost(const double *values, size_t columns) {
    size_t held = columns < MATRIX ? columns : MATRIX;
    size_t first =
        columns == MATRIX || held < PLACED ? held - (columns == MATRIX ? MATRIX : QUATERNION) : held - PLACED;
    bool finite = true, zero = columns != MATRIX;
    for (size_t i = first; i < held; i++)
        finite &= isfinite(values[i]) != 0;
    for (size_t i = held - QUATERNION; i < held; i++)
        zero &= values[i] == 0;
    return !finite || zero;
}

static int keep_pose(ast_cli_poses *poses, const ast_cli_pose *pose) {
    if (!ast_array_grow(&poses->rows, &poses->room, poses->count + 1, sizeof *poses->rows))
        return ast_cli_fail("%s: there is not enough memory for its rows", poses->path);
    poses->rows[poses->count++] = *pose;
    return -1;
}

/* A pose from the last numbers of a row: `columns` in all, at most 16 of them at hand. */
static int add_pose(ast_cli_poses *poses, const char *path, size_t line, const double *values, size_t columns) {
    ast_cli_pose pose = {.seconds = columns == TIMED ? values[0] : (double)NAN};
    size_t held = columns < MATRIX ? columns : MATRIX;
    pose.lost = is_lost(values, columns);
    if (pose.lost)
        return keep_pose(poses, &pose);
    const char *problem = columns == MATRIX ? matrix_problem(values) : NULL;
    if (problem)
        return ast_cli_fail("%s: line %zu: the 4 x 4 matrix is no pose: %s", path, line, problem);
    if (columns == MATRIX)
        matrix_turn(values, pose.turn);
    else
        quaternion_turn(values + held - QUATERNION, pose.turn);
    for (int i = 1; poses->flip && i < 9; i += 3)
        pose.turn[i] = -pose.turn[i];
    for (size_t i = 0; i < 3; i++)
        pose.at[i] = columns == MATRIX   ? values[4 * i + 3]
                     : columns >= PLACED ? values[held - PLACED + i]
                                         : (double)NAN;
    return keep_pose(poses, &pose);
}

/* What is read from one text: a pose per line or, of a folder's files, one matrix in all. */
typedef struct text {
    const char *path;
    size_t line, columns;
    double values[MATRIX];
} text;

static int read_row(ast_cli_poses *poses, text *t) {
    if (t->columns < QUATERNION)
        return ast_cli_fail("%s: line %zu has %zu column%s; a pose needs at least four, the last ones "
                            "being qx qy qz qw",
                            t->path, t->line, t->columns, t->columns == 1 ? "" : "s");
    int code = add_pose(poses, t->path, t->line, t->values, t->columns);
    t->columns = 0;
    return code;
}

static int read_text(ast_cli_poses *poses, text *t, bool rows) {
    FILE *file = fopen(t->path, "re");
    if (!file)
        return ast_cli_fail("%s: cannot be opened: %s", t->path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    int code = -1;
    errno = 0;
    while (code < 0 && getline(&line, &capacity, file) >= 0) {
        char *start = line + strspn(line, separators);
        t->line++;
        if (!start[0] || start[0] == '#')
            continue;
        code = parse_line(start, t->path, t->line, t->values, &t->columns);
        if (code < 0 && rows)
            code = read_row(poses, t);
    }
    if (code < 0 && !feof(file))
        code = ast_cli_fail("%s: cannot be read: %s", t->path, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

static int read_matrix(ast_cli_poses *poses, const char *path) {
    text t = {.path = path};
    int code = read_text(poses, &t, false);
    if (code < 0 && t.columns != MATRIX)
        code = ast_cli_fail("%s: has %zu number%s, but a pose is the 16 of a 4 x 4 matrix", path, t.columns,
                            t.columns == 1 ? "" : "s");
    return code < 0 ? add_pose(poses, path, t.line, t.values, MATRIX) : code;
}

/* Keeps the texts of a folder, or those called NAME.pose.txt if there are any. */
static void keep_texts(ast_folder *files) {
    bool named = false;
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++)
        named |= ast_has_extension(files->paths[i], ".pose.txt");
    for (size_t i = 0; i < files->count; i++) {
        if (ast_has_extension(files->paths[i], named ? ".pose.txt" : ".txt"))
            files->paths[kept++] = files->paths[i];
        else
            free(files->paths[i]);
    }
    files->count = kept;
}

static int read_folder(ast_cli_poses *poses) {
    ast_format_error error;
    if (!ast_folder_list(&poses->files, poses->path, &error))
        return ast_cli_fail("%s", error.text);
    keep_texts(&poses->files);
    int code = -1;
    if (poses->files.count == 0)
        code = ast_cli_fail("%s: holds no pose: .txt files with a 4 x 4 matrix each are needed", poses->path);
    for (size_t i = 0; i < poses->files.count && code < 0; i++)
        code = read_matrix(poses, poses->files.paths[i]);
    return code;
}

int ast_cli_poses_read(ast_cli_poses *poses, const char *path) {
    poses->path = path;
    int code = ast_is_folder(path) ? read_folder(poses) : read_text(poses, &(text){.path = path}, true);
    size_t lost = 0;
    while (lost < poses->count && poses->rows[lost].lost)
        lost++;
    if (code >= 0 || poses->count == 0 || lost < poses->count)
        return code;
    return ast_cli_fail("%s: none of its poses is known: all %zu are not finite, or quaternions of zeros", path, lost);
}

/* ---- Turning ----------------------------------------------------------------------------------------------------- */

/* x becomes R x. Numbers so large or small that the sums would leave the range of doubles are brought near 1 first:
 * only the direction counts. */
static void turn_row(const double turn[9], double x[3]) {
    double largest = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
    if (isinf(largest))
        return;
    double y[3], scale = largest > 0 && (largest < 1e-100 || largest > 1e100) ? largest : 1;
    for (int i = 0; i < 3; i++)
        y[i] = turn[3 * i] * (x[0] / scale) + turn[3 * i + 1] * (x[1] / scale) + turn[3 * i + 2] * (x[2] / scale);
    memcpy(x, y, sizeof y);
}

static int find_pose(const ast_cli_poses *poses, const ast_input_frame *frame, const ast_cli_pose **pose) {
    uint64_t row = frame->index;
    if (poses->chosen && (frame->number != AST_WHOLE || row >= poses->frames))
        return ast_cli_fail("%s: has many frames, and its name is one time for all of them; give "
                            "--pose-times row",
                            frame->path);
    if (poses->chosen)
        row = poses->chosen[row];
    if (row >= poses->count)
        return ast_cli_fail("%s has %zu row%s, but %s is frame %" PRIu64 " of the inputs and has none", poses->path,
                            poses->count, poses->count == 1 ? "" : "s", frame->source, row + 1);
    *pose = &poses->rows[row];
    return -1;
}

bool ast_cli_poses_lost(const ast_cli_poses *poses, const ast_input_frame *frame) {
    uint64_t row = frame->index;
    if (poses->chosen)
        row = row < poses->frames ? poses->chosen[row] : UINT64_MAX;
    return row < poses->count && poses->rows[row].lost;
}

int ast_cli_poses_matrix(const ast_cli_poses *poses, const ast_input_frame *frame, double matrix[12]) {
    const ast_cli_pose *pose = NULL;
    int code = find_pose(poses, frame, &pose);
    if (code >= 0)
        return code;
    for (int r = 0; r < 3; r++) {
        if (!isfinite(pose->at[r]))
            return ast_cli_fail(
                "%s: the pose of %s has no position; planes need rows of tx ty tz qx qy qz qw, or 4 x 4 "
                "matrices",
                poses->path, frame->source);
        memcpy(matrix + 4 * r, pose->turn + 3 * r, 3 * sizeof *matrix);
        matrix[4 * r + 3] = pose->at[r];
    }
    return -1;
}

int ast_cli_poses_turn_normals(const ast_cli_poses *poses, const ast_input_frame *frame, float *normals, size_t count) {
    const ast_cli_pose *pose = NULL;
    int code = find_pose(poses, frame, &pose);
    if (code >= 0)
        return code;
    double turn[9];
    memcpy(turn, pose->turn, sizeof turn); /* where the compiler sees that no normal overlaps it */
    for (float *x = normals; x < normals + 3 * count; x += 3) {
        double a = (double)x[0], b = (double)x[1], c = (double)x[2];
        x[0] = (float)(turn[0] * a + turn[1] * b + turn[2] * c);
        x[1] = (float)(turn[3] * a + turn[4] * b + turn[5] * c);
        x[2] = (float)(turn[6] * a + turn[7] * b + turn[8] * c);
    }
    return -1;
}

int ast_cli_poses_turn(ast_cli_poses *poses, const ast_input_frame *frame, ast_points *points) {
    const char *source = frame->source;
    const ast_cli_pose *pose = NULL;
    int code = find_pose(poses, frame, &pose);
    if (code >= 0)
        return code;
    if (points->dimension != 3 && points->count > 0)
        return ast_cli_fail("%s has points of %zu dimensions, but --poses turns points of 3", source,
                            points->dimension);
    if (points->count > poses->capacity) {
        free(poses->turned);
        poses->turned = malloc(points->count * 3 * sizeof *poses->turned);
        poses->capacity = poses->turned ? points->count : 0;
        if (!poses->turned)
            return ast_cli_fail("%s: there is not enough memory to turn its points", source);
    }
    for (size_t i = 0; i < points->count; i++) {
        ast_points_row(points, i, poses->turned + 3 * i);
        turn_row(pose->turn, poses->turned + 3 * i);
    }
    if (points->count > 0)
        *points = ast_points_f8(poses->turned, points->count, 3);
    return -1;
}

void ast_cli_poses_free(ast_cli_poses *poses) {
    free(poses->rows);
    free(poses->chosen);
    ast_folder_free(&poses->files);
    free(poses->turned);
}
