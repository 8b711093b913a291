/* SPDX-License-Identifier: MIT
 *
 * The --poses file is read whole and strictly: a row that cannot be understood would shift all that follow. Turning
 * keeps what the library must see: missing rows stay missing, infinite ones infinite. */
#include "stream_poses.h"

#include <formats.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "terminal.h"

static const char separators[] = " \t,;\r\n";

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* The last four numbers of a line; *columns counts them all. */
static int parse_line(char *line, const char *path, size_t number, double last[4], size_t *columns) {
    *columns = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, separators, &rest); word; word = strtok_r(NULL, separators, &rest)) {
        char *end;
        double value = strtod(word, &end);
        ++*columns;
        if (*end)
            return ast_cli_fail(AST_CLI_FAILED, "%s: line %zu, column %zu: '%.40s' is not a number", path, number,
                                *columns, word);
        memmove(last, last + 1, 3 * sizeof *last);
        last[3] = value;
    }
    return -1;
}

static void rotation_of(const double q[4], double turn[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
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

static int add_pose(ast_cli_poses *poses, size_t line, const double last[4]) {
    double largest = 0, square = 0, q[4];
    for (int i = 0; i < 4; i++)
        largest = fabs(last[i]) > largest || isnan(last[i]) ? fabs(last[i]) : largest;
    for (int i = 0; i < 4; i++) {
        q[i] = last[i] / largest;
        square += q[i] * q[i];
    }
    if (!(largest > 0) || !isfinite(square))
        return ast_cli_fail(AST_CLI_FAILED,
                            "%s: line %zu: %g %g %g %g is no quaternion of a rotation: it is zero or not finite",
                            poses->path, line, last[0], last[1], last[2], last[3]);
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(square);
    if (!ast_array_grow(&poses->turns, &poses->room, poses->count + 1, sizeof *poses->turns))
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is not enough memory for its rows", poses->path);
    rotation_of(q, poses->turns[poses->count++]);
    return -1;
}

static int read_line(ast_cli_poses *poses, char *line, size_t number) {
    double last[4] = {0, 0, 0, 0};
    size_t columns;
    line += strspn(line, separators);
    if (!line[0] || line[0] == '#')
        return -1;
    int code = parse_line(line, poses->path, number, last, &columns);
    if (code >= 0)
        return code;
    if (columns < 4)
        return ast_cli_fail(AST_CLI_FAILED,
                            "%s: line %zu has %zu column%s; a pose needs at least four, the last ones "
                            "being qx qy qz qw",
                            poses->path, number, columns, columns == 1 ? "" : "s");
    return add_pose(poses, number, last);
}

int ast_cli_poses_read(ast_cli_poses *poses, const char *path) {
    poses->path = path;
    FILE *file = fopen(path, "re");
    if (!file)
        return ast_cli_fail(AST_CLI_FAILED, "%s: cannot be opened: %s", path, strerror(errno));
    char *line = NULL;
    size_t capacity = 0, number = 0;
    int code = -1;
    errno = 0;
    while (code < 0 && getline(&line, &capacity, file) >= 0)
        code = read_line(poses, line, ++number);
    if (code < 0 && !feof(file))
        code = ast_cli_fail(AST_CLI_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return code;
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

static int check_row(const ast_cli_poses *poses, uint64_t row, const char *source) {
    if (row < poses->count)
        return -1;
    return ast_cli_fail(AST_CLI_FAILED, "%s has %zu row%s, but %s is frame %" PRIu64 " of the inputs and has none",
                        poses->path, poses->count, poses->count == 1 ? "" : "s", source, row + 1);
}

int ast_cli_poses_turn_normals(const ast_cli_poses *poses, uint64_t row, const char *source, float *normals,
                               size_t count) {
    int code = check_row(poses, row, source);
    if (code >= 0)
        return code;
    double turn[9];
    memcpy(turn, poses->turns[row], sizeof turn); /* where the compiler sees that no normal overlaps it */
    for (float *x = normals; x < normals + 3 * count; x += 3) {
        double a = (double)x[0], b = (double)x[1], c = (double)x[2];
        x[0] = (float)(turn[0] * a + turn[1] * b + turn[2] * c);
        x[1] = (float)(turn[3] * a + turn[4] * b + turn[5] * c);
        x[2] = (float)(turn[6] * a + turn[7] * b + turn[8] * c);
    }
    return -1;
}

int ast_cli_poses_turn(ast_cli_poses *poses, uint64_t row, const char *source, ast_points *points) {
    int code = check_row(poses, row, source);
    if (code >= 0)
        return code;
    if (points->dimension != 3 && points->count > 0)
        return ast_cli_fail(AST_CLI_FAILED, "%s has points of %zu dimensions, but --poses turns points of 3", source,
                            points->dimension);
    if (points->count > poses->capacity) {
        free(poses->turned);
        poses->turned = malloc(points->count * 3 * sizeof *poses->turned);
        poses->capacity = poses->turned ? points->count : 0;
        if (!poses->turned)
            return ast_cli_fail(AST_CLI_FAILED, "%s: there is not enough memory to turn its points", source);
    }
    for (size_t i = 0; i < points->count; i++) {
        ast_points_row(points, i, poses->turned + 3 * i);
        turn_row(poses->turns[row], poses->turned + 3 * i);
    }
    if (points->count > 0)
        *points = ast_points_f8(poses->turned, points->count, 3);
    return -1;
}

void ast_cli_poses_free(ast_cli_poses *poses) {
    free(poses->turns);
    free(poses->turned);
}
