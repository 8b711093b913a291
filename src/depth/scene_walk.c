/* SPDX-License-Identifier: MIT
 *
 * The walk: along a corridor in +x, left round the corner, and on in +y. A person carries the camera at eye height,
 * bobs with every step, sways with every second step, looks slightly down, and turns the head before the body. */
#include "scene.h"

#include <math.h>

#define TURNS_PER_DEGREE (1 / 360.0)
#define PI 3.14159265358979323846

/* The path of the feet, in metres: straight, a quarter circle about the inner corner, straight. */
#define START 3.4
#define CORNER_X 7.6
#define CORNER_Y 1.3
#define RADIUS 1.3
#define TURN_BEGINS (CORNER_X - START)
#define TURN_ENDS (TURN_BEGINS + RADIUS * PI / 2)
#define LENGTH (TURN_ENDS + 3.4)

/* The head turns along this part of the path. */
#define LOOK_BEGINS (TURN_BEGINS - 0.6)
#define LOOK_ENDS (TURN_ENDS + 0.1)

#define EYES 1.55
#define STEP 0.75    /* metres: one bob */
#define STRIDE 1.5   /* two steps: one sway */
#define BOB 0.02     /* metres, up and down */
#define SWAY 0.025   /* metres, left and right */
#define DOWN 11.0    /* degrees below the horizon */
#define STEPPING 8.0 /* degrees more in the middle of the turn, to look where the feet go */
#define NOD 0.6      /* degrees */
#define GAZE 2.0     /* degrees, left and right */
#define TILT 0.8     /* degrees, of the horizon */

/* The sine of an angle in turns, by its series after reduction to a quarter turn: accurate to 1e-15. */
static double sine(double turns) {
    turns -= floor(turns + 0.5);
    if (turns > 0.25)
        turns = 0.5 - turns;
    if (turns < -0.25)
        turns = -0.5 - turns;
    double x = 2 * PI * turns, term = x, sum = x;
    for (int k = 2; k <= 20; k += 2) {
        term *= -x * x / (k * (k + 1));
        sum += term;
    }
    return sum;
}

static double cosine(double turns) {
    return sine(turns + 0.25);
}

/* Rises from 0 to 1 with x, with zero slope at both ends. */
static double ease(double x) {
    x = x < 0 ? 0 : x > 1 ? 1 : x;
    return x * x * x * (10 - x * (15 - 6 * x));
}

/* product = a b for quaternions x y z w; product must be neither of them. */
static void multiply(const double *a, const double *b, double *product) {
    product[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    product[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
    product[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
    product[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* Camera to world: rotates about the world's z, permutes the axes (forward is +x, right -y, down -z), then rotates
 * about the camera's own x and z. */
static void rotation_of(double yaw, double pitch, double roll, double *rotation) {
    const double about_z[4] = {0, 0, sine(yaw / 2), cosine(yaw / 2)};
    const double renamed[4] = {-0.5, 0.5, -0.5, 0.5};
    const double about_x[4] = {sine(pitch / 2), 0, 0, cosine(pitch / 2)};
    const double about_forward[4] = {0, 0, sine(roll / 2), cosine(roll / 2)};
    double heading[4], nodding[4];
    multiply(about_z, renamed, heading);
    multiply(heading, about_x, nodding);
    multiply(nodding, about_forward, rotation);
}

/* The point of the path at `along`, and the heading there. */
static void point_on_path(double along, double *x, double *y, double *heading) {
    double turned = (along - TURN_BEGINS) / (2 * PI * RADIUS);
    *heading = turned < 0 ? 0 : turned > 0.25 ? 0.25 : turned;
    *x = CORNER_X + RADIUS * sine(*heading);
    *y = CORNER_Y - RADIUS * cosine(*heading);
    if (along < TURN_BEGINS)
        *x += along - TURN_BEGINS;
    if (along > TURN_ENDS)
        *y += along - TURN_ENDS;
}

void ast_scene_walk(size_t index, size_t frames, ast_hallway_frame *frame) {
    double along = frames > 1 ? LENGTH * ((double)index / (double)(frames - 1)) : 0;
    double step = along / STEP, stride = along / STRIDE, sway = SWAY * sine(stride), x, y, heading;
    point_on_path(along, &x, &y, &heading);
    frame->position[0] = x - sway * sine(heading);
    frame->position[1] = y + sway * cosine(heading);
    frame->position[2] = EYES + BOB * sine(step);
    double turned = ease((along - LOOK_BEGINS) / (LOOK_ENDS - LOOK_BEGINS)), amid = 4 * turned * (1 - turned);
    double yaw = 0.25 * turned + GAZE * TURNS_PER_DEGREE * sine(stride + 0.1);
    double pitch = -(DOWN + STEPPING * amid) * TURNS_PER_DEGREE + NOD * TURNS_PER_DEGREE * sine(step + 0.3);
    rotation_of(yaw, pitch, TILT * TURNS_PER_DEGREE * sine(stride + 0.2), frame->rotation);
    frame->seconds = (double)index / 30;
}
