/* SPDX-License-Identifier: MIT */
#include "rotations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"

#define DEGREES (180 / 3.14159265358979323846)

enum { DIGITS = 17 };

/* x y z w of a rotation matrix, w not negative. From the column of the largest of the four squares, so that no digits
 * are lost. */
static void quaternion_of(const double r[9], double q[4]) {
    const double rows[4][4] = {{1 + r[0] - r[4] - r[8], r[1] + r[3], r[2] + r[6], r[7] - r[5]},
                               {r[1] + r[3], 1 - r[0] + r[4] - r[8], r[5] + r[7], r[2] - r[6]},
                               {r[2] + r[6], r[5] + r[7], 1 - r[0] - r[4] + r[8], r[3] - r[1]},
                               {r[7] - r[5], r[2] - r[6], r[3] - r[1], 1 + r[0] + r[4] + r[8]}};
    int best = 0;
    double square = 0;
    for (int i = 1; i < 4; i++)
        best = rows[i][i] > rows[best][best] ? i : best;
    for (int i = 0; i < 4; i++)
        square += rows[best][i] * rows[best][i];
    for (int i = 0; i < 4; i++)
        q[i] = rows[best][i] / (rows[best][3] < 0 ? -sqrt(square) : sqrt(square)) + 0.0;
}

ast_cli_rotation ast_cli_rotation_of(ast_stream *stream, const ast_stream_options *options, bool posed) {
    double matrix[9], covariance[9];
    ast_cli_rotation rotation = {0};
    bool finds = options->rotation && options->dimension == 3 && options->method == AST_STREAM_DDP && !options->axial &&
                 !options->exclusive;
    if (posed || !finds || ast_stream_rotation(stream, matrix, covariance, &rotation.rank) != AST_OK)
        return rotation;
    rotation.known = true;
    quaternion_of(matrix, rotation.quaternion);
    for (size_t d = 0; d < 3; d++)
        rotation.deviation[d] = fmin(sqrt(covariance[4 * d]) * DEGREES, 180);
    return rotation;
}

void ast_cli_rotation_put(ast_text *json, const ast_cli_rotation *rotation) {
    if (!rotation->known)
        return;
    ast_json_open(json, "rotation", '[');
    for (int i = 0; i < 4; i++)
        ast_json_number(json, NULL, rotation->quaternion[i], DIGITS);
    ast_json_close(json, ']');
    ast_json_integer(json, "rotation_rank", rotation->rank);
    ast_json_open(json, "rotation_deviation", '[');
    for (int i = 0; i < 3; i++)
        ast_json_number(json, NULL, rotation->deviation[i], DIGITS);
    ast_json_close(json, ']');
}

void ast_cli_axes_put(ast_text *json, const ast_world_axes *axes) {
    static const char *const kinds[] = {"none", "manhattan", "atlanta"}; /* in the order of ast_axes_kind */
    ast_json_open(json, "axes", '{');
    ast_json_string(json, "kind", kinds[axes->kind]);
    ast_json_open(json, "directions", '[');
    for (size_t a = 0; a < axes->count; a++) {
        ast_json_open(json, NULL, '[');
        for (int d = 0; d < 3; d++)
            ast_json_number(json, NULL, axes->directions[a][d], DIGITS);
        ast_json_close(json, ']');
    }
    ast_json_close(json, ']');
    ast_json_open(json, "shares", '[');
    for (size_t a = 0; a < axes->count; a++)
        ast_json_number(json, NULL, axes->shares[a], DIGITS);
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

int ast_cli_rotations_open(ast_output **output, const char *path) {
    static const char head[] = "# time tx ty tz qx qy qz qw: from the camera to the first frame; the position is not "
                               "known\n";
    ast_format_error error;
    *output = ast_output_open(path, false, &error);
    if (!*output || !ast_output_write(*output, head, sizeof head - 1, &error))
        return ast_cli_fail("%s", error.text);
    return -1;
}

int ast_cli_rotations_add(ast_output *output, const ast_frame_list *list, const ast_input_frame *frame, uint64_t number,
                          const ast_cli_rotation *rotation) {
    char row[256];
    ast_format_error error;
    bool timed =
        frame->number == AST_WHOLE && frame->index < list->count && isfinite(list->files[frame->index].seconds);
    const double *q = rotation->quaternion;
    int length = timed ? snprintf(row, sizeof row, "%.6f", list->files[frame->index].seconds)
                       : snprintf(row, sizeof row, "%" PRIu64, number);
    length +=
        snprintf(row + length, sizeof row - (size_t)length, " 0 0 0 %.9g %.9g %.9g %.9g\n", q[0], q[1], q[2], q[3]);
    return ast_output_write(output, row, (size_t)length, &error) ? -1 : ast_cli_fail("%s", error.text);
}

int ast_cli_rotations_close(ast_output *output, bool well) {
    ast_format_error error;
    if (!output || ast_output_close(output, well, &error) || !well)
        return -1;
    return ast_cli_fail("%s", error.text);
}
