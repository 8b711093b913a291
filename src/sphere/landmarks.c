/* SPDX-License-Identifier: MIT
 *
 * A frame in five steps: predict the rotation; find it anew if the prediction fits badly; fit it to the modes of all
 * landmarks in view; move these landmarks; add directions that lie on no landmark. The fit is an extended Kalman filter
 * on the rotation, iterated, so that the variance about a lone direction, which is not seen, grows from frame to frame.
 */
#include "landmarks.h"

#include "degree.h"
#include "landmarks_axes.h"
#include "landmarks_modes.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

#define MOTION (3 * AST_DEGREE) /* standard deviation of the change of the rotation per frame, of a slow camera */
#define SYSTEMATIC (0.25 * AST_DEGREE) /* error of a mode that no number of points lowers, per component, */
#define PATCH 0.2                 /* if the mode has this share of the frame or more; of smaller ones it is larger */
#define FLOOR (0.03 * AST_DEGREE) /* no landmark is known better */
#define MEMORY 0.9                /* of residuals, per frame */
#define SAME 0.5                  /* part of a residual that has one direction, to be no noise */
#define USUAL 0.95                /* memory of shares, per frame */
#define LEAST_SHARE 0.004         /* of a frame, for a known landmark to count as seen */
#define OUTLIER (6 * AST_DEGREE)  /* a mode as far from its landmark is another surface */
#define SHAKY (1 * AST_DEGREE)    /* a rotation better known than this can tell that a landmark is wrong, */
#define REJECTIONS 3              /* if it is as many frames in a row */
#define OUTLIER_FIRST (40 * AST_DEGREE)
#define OUTLIER_FALLS 0.7      /* per step of the fit */
#define LINE (20 * AST_DEGREE) /* directions nearer than this to one line determine two degrees of freedom */
#define APART 18.0             /* degrees between landmarks at least */
#define WIDE 24.0              /* degrees: how far from the prediction landmarks are looked for */
#define NEAR (2 * AST_DEGREE)  /* rows belong to the same landmarks from both rotations */
#define LOST 0.75              /* share of what landmarks usually explain below which the camera has jumped */
#define SLOW (1 * AST_DEGREE)  /* per frame: it does not matter whether the camera stops */
#define SURE 0.02              /* share of a frame that another rotation must explain more */
#define STEPS 10               /* of the fit at most: it ends */
#define STILL 1e-7             /* after a step of fewer radians */
#define BIRTHS 4               /* new landmarks per frame at most, of the first frame all */

void ast_landmarks_start(ast_landmark_map *map) {
    memset(map, 0, sizeof *map);
    map->rotation[0] = map->rotation[4] = map->rotation[8] = 1;
}

/* ---- The fit ----------------------------------------------------------------------------------------------------- */

/* The inverse of a symmetric positive definite matrix. */
static void invert(const double *m, double *out) {
    double c[9] = {m[4] * m[8] - m[5] * m[5], m[2] * m[5] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                   m[2] * m[5] - m[1] * m[8], m[0] * m[8] - m[2] * m[2], m[1] * m[2] - m[0] * m[5],
                   m[1] * m[5] - m[2] * m[4], m[1] * m[2] - m[0] * m[5], m[0] * m[4] - m[1] * m[1]};
    double determinant = m[0] * c[0] + m[1] * c[1] + m[2] * c[2];
    for (int i = 0; i < 9; i++)
        out[i] = c[i] / determinant;
}

/* What of a landmark's residual is the same in all frames: an error of the landmark, not of what was seen. */
static double bias_of(const ast_landmark *landmark) {
    double same = landmark->weight > 0 ? ast_dot_of3(landmark->bias, landmark->bias) / landmark->weight : 0;
    return same > SAME * landmark->residual ? same : 0;
}

/* The variance of a component of what is seen of a landmark, if it has the share PATCH. */
static double noise_of(const ast_landmark *landmark) {
    return fmax(SYSTEMATIC * SYSTEMATIC, (landmark->residual - bias_of(landmark)) / 2);
}

/* The same for a mode. Small surfaces have worse normals: they are far away, or seen at a flat angle. */
static double variance_of(const ast_mode *mode, double noise) {
    return noise * fmax(PATCH / mode->share, 1);
}

/* The variance of a component of a landmark: what it was estimated from was as far off as it has been since. */
static double spread_of(const ast_landmark *landmark) {
    double own = noise_of(landmark) / (SYSTEMATIC * SYSTEMATIC * landmark->information);
    return own + (landmark->weight > 0 ? bias_of(landmark) / landmark->weight / 2 : 0);
}

static double angle_between(const double *a, const double *b) {
    double across = 0, along = 0;
    for (int d = 0; d < 3; d++) {
        across += (a[d] - b[d]) * (a[d] - b[d]);
        along += (a[d] + b[d]) * (a[d] + b[d]);
    }
    return 2 * atan2(sqrt(across), sqrt(along));
}

/* From one rotation to another. */
static double angle_of_turn(const double *to, const double *from) {
    double back[9], off[9], away[3];
    for (int r = 0; r < 9; r++)
        back[r] = from[3 * (r % 3) + r / 3];
    ast_rotation_product(to, back, off);
    ast_vector_of_rotation(off, away);
    return sqrt(ast_dot_of3(away, away));
}

/* How much a mode counts: less the less certain it and its landmark are, and nothing if it is another surface. */
static double trust(const ast_landmark *landmark, const ast_mode *mode, const double *seen, double outlier) {
    double chord = 0;
    for (int d = 0; d < 3; d++)
        chord += (seen[d] - landmark->direction[d]) * (seen[d] - landmark->direction[d]);
    if (mode->share < LEAST_SHARE || chord >= outlier * outlier) /* the angle is larger */
        return 0;
    double angle = angle_between(seen, landmark->direction), rest = 1 - angle * angle / (outlier * outlier);
    double variance = variance_of(mode, noise_of(landmark)) + spread_of(landmark);
    return rest > 0 ? rest * rest / variance : 0;
}

/* One step of Gauss and Newton from the rotation: `step` corrects it. information: the prior's at first, then all. */
static void normal_equations(const ast_landmark_map *map, const ast_mode *modes, const double *rotation,
                             const double *away, double outlier, double *information, double *step) {
    double right[3], inverse[9];
    for (int r = 0; r < 3; r++)
        right[r] =
            -(information[3 * r] * away[0] + information[3 * r + 1] * away[1] + information[3 * r + 2] * away[2]);
    for (size_t k = 0; k < map->count; k++) {
        const ast_landmark *landmark = &map->list[k];
        double y[3], turn[3];
        if (modes[k].share < LEAST_SHARE)
            continue;
        ast_rotation_apply(rotation, modes[k].direction, y);
        double weight = trust(landmark, &modes[k], y, outlier);
        ast_cross3(y, landmark->direction, turn);
        for (int r = 0; r < 3; r++) {
            right[r] += weight * turn[r];
            for (int c = 0; c < 3; c++)
                information[3 * r + c] += weight * ((r == c) - y[r] * y[c]);
        }
    }
    invert(information, inverse);
    for (int r = 0; r < 3; r++)
        step[r] = inverse[3 * r] * right[0] + inverse[3 * r + 1] * right[1] + inverse[3 * r + 2] * right[2];
}

/* The most likely rotation, given the predicted one. covariance: of the prediction, then of the result; outlier: of the
 * first step, since the prediction may be far off. */
static void fit(const ast_landmark_map *map, const ast_mode *modes, const double *predicted, double *covariance,
                double *rotation, double outlier) {
    double prior[9], information[9], back[9], off[9], away[3], step[3], turn[9];
    invert(covariance, prior);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            back[3 * r + c] = predicted[3 * c + r];
    for (int i = 0; i < STEPS; i++) {
        ast_rotation_product(rotation, back, off);
        ast_vector_of_rotation(off, away);
        memcpy(information, prior, sizeof prior);
        normal_equations(map, modes, rotation, away, outlier, information, step);
        ast_rotation_of_vector(step, turn);
        ast_rotation_product(turn, rotation, off);
        ast_vector_of_rotation(off, away); /* and back: stays a rotation, however many frames there are */
        ast_rotation_of_vector(away, rotation);
        if (outlier <= OUTLIER && ast_dot_of3(step, step) < STILL * STILL)
            break;
        outlier = fmax(OUTLIER, outlier * OUTLIER_FALLS);
    }
    invert(information, covariance);
}

/* ---- After a jump ------------------------------------------------------------------------------------------------ */

#define TALLY 8   /* modes of a frame that are looked at */
#define ALIKE 3.0 /* degrees by which angles between two modes and between two landmarks may differ */
#define OBLIQUE (10 * AST_DEGREE)
#define GAIN 0.2      /* share of the frame that a jump explains more */
#define HELPLESS 0.35 /* of what landmarks usually explain */
#define HALF_RIGHT (45 * AST_DEGREE)
#define PER_TURN 0.05 /* share of the frame that a jump by 180 degrees must explain more than none */

/* How the modes of a frame lie on landmarks under a rotation. */
typedef struct match {
    double share;
    size_t modes;
    bool oblique; /* two of them are neither parallel nor at right angles: no other rotation matches as well */
    double turn;  /* radians from the last rotation */
} match;

static match match_of(const ast_landmark_map *map, const ast_mode *modes, size_t count, const double *rotation) {
    const double *on[TALLY];
    match m = {0};
    for (size_t a = 0; a < count; a++) {
        double y[3], best = -1;
        ast_rotation_apply(rotation, modes[a].direction, y);
        for (size_t k = 0; k < map->count; k++)
            best = fmax(best, ast_dot_of3(y, map->list[k].direction));
        if (best < cos(OUTLIER))
            continue;
        for (size_t i = 0; i < m.modes; i++) {
            double cosine = fabs(ast_dot_of3(on[i], modes[a].direction));
            m.oblique |= cosine > sin(OBLIQUE) && cosine < cos(OBLIQUE);
        }
        on[m.modes++] = modes[a].direction;
        m.share += modes[a].share;
    }
    m.turn = angle_of_turn(rotation, map->rotation);
    return m;
}

/* The rotation that maps two modes to two landmarks at the same angle; false if there is none. */
static bool rotation_of_pairs(const ast_mode *a, const ast_mode *b, const ast_landmark *j, const ast_landmark *k,
                              double *rotation) {
    ast_alignment pairs = {0};
    double seen = angle_between(a->direction, b->direction), known = angle_between(j->direction, k->direction);
    if (fabs(seen - known) > ALIKE * AST_DEGREE)
        return false;
    ast_alignment_add(&pairs, a->direction, j->direction, 1);
    ast_alignment_add(&pairs, b->direction, k->direction, 1);
    return ast_alignment_solve(&pairs, LINE, rotation);
}

/* Tries all pairs of modes on all pairs of landmarks. Of rotations that explain as much, the nearest to the last one:
 * in a room of right angles there are 24. */
static match find_anew(const ast_landmark_map *map, ast_frame_directions *sample, double *rotation) {
    ast_mode modes[TALLY];
    double candidate[9], best = -1;
    match found = {0};
    size_t count = ast_landmarks_find_modes(sample, NULL, 0, TALLY, modes);
    for (size_t pair = 0; pair < count * count; pair++)
        for (size_t both = 0; both < map->count * map->count; both++) {
            const ast_mode *a = &modes[pair / count], *b = &modes[pair % count];
            const ast_landmark *j = &map->list[both / map->count], *k = &map->list[both % map->count];
            if (a == b || j == k || !rotation_of_pairs(a, b, j, k, candidate))
                continue;
            match m = match_of(map, modes, count, candidate);
            double value = m.share - PER_TURN * m.turn / (180 * AST_DEGREE);
            if (value > best) {
                best = value;
                found = m;
                memcpy(rotation, candidate, sizeof candidate);
            }
        }
    return found;
}

/* Whether a frame is better explained by a jump than by surfaces that are new: far better, and either by angles that
 * occur once only, or because nothing else fits and the jump is one of less than half a right angle. */
static bool is_jump(const ast_landmark_map *map, const match *m, double explained, double share) {
    bool unique = m->modes > 2 && m->oblique, helpless = explained < HELPLESS * map->explained && m->turn < HALF_RIGHT;
    return share > explained + GAIN && (unique || helpless);
}

/* ---- Landmarks --------------------------------------------------------------------------------------------------- */

/* The variance that the rotation adds to a direction seen in the frame. */
static double shaky(const double *covariance, const double *y) {
    double across[3];
    for (int r = 0; r < 3; r++)
        across[r] = covariance[3 * r] * y[0] + covariance[3 * r + 1] * y[1] + covariance[3 * r + 2] * y[2];
    return (covariance[0] + covariance[4] + covariance[8] - ast_dot_of3(across, y)) / 2;
}

/* Whether a mode that is another surface than the landmark says that the landmark is wrong: it was found on a distant
 * or narrow surface, and for some frames something larger has been in its place. Then it starts again from the mode. */
static bool starts_again(ast_landmark *landmark, const ast_mode *mode, const double *y, double usual, double turned) {
    if (mode->share < usual || turned > SHAKY * SHAKY || ++landmark->rejected < REJECTIONS)
        return false;
    landmark->rejected = 0;
    memcpy(landmark->direction, y, sizeof landmark->direction);
    landmark->information = 0;
    landmark->residual = landmark->weight = 0;
    memset(landmark->bias, 0, sizeof landmark->bias);
    return true;
}

/* How far a landmark is off, in a frame that counts so much. */
static void remember(ast_landmark *landmark, const double *y, double weight) {
    double angle = angle_between(y, landmark->direction);
    landmark->weight = MEMORY * landmark->weight + (1 - MEMORY) * weight;
    landmark->residual = MEMORY * landmark->residual + (1 - MEMORY) * weight * angle * angle;
    for (int d = 0; d < 3; d++)
        landmark->bias[d] = MEMORY * landmark->bias[d] + (1 - MEMORY) * weight * (y[d] - landmark->direction[d]);
}

/* A landmark and its mode become one estimate, by their information. */
static void move(ast_landmark_map *map, size_t k, const ast_mode *mode) {
    ast_landmark *landmark = &map->list[k];
    double y[3], usual = landmark->usual, part = 1;
    landmark->usual = USUAL * usual + (1 - USUAL) * mode->share;
    if (mode->share < LEAST_SHARE)
        return;
    ast_rotation_apply(map->rotation, mode->direction, y);
    double turned = shaky(map->covariance, y);
    if (trust(landmark, mode, y, OUTLIER) > 0) {
        landmark->rejected = 0;
        remember(landmark, y, mode->share / PATCH);
        part = spread_of(landmark) / (spread_of(landmark) + variance_of(mode, noise_of(landmark)) + turned);
    } else if (!starts_again(landmark, mode, y, usual, turned))
        return;
    for (int d = 0; d < 3; d++) {
        double way = part * (y[d] - landmark->direction[d]);
        landmark->direction[d] += way;
        landmark->bias[d] -= landmark->weight * way;
    }
    double length = sqrt(ast_dot_of3(landmark->direction, landmark->direction));
    for (int d = 0; d < 3; d++)
        landmark->direction[d] /= length;
    landmark->information += 1 / (variance_of(mode, SYSTEMATIC * SYSTEMATIC) + turned);
    landmark->information = fmin(landmark->information, 1 / (FLOOR * FLOOR));
    landmark->share = mode->share;
    landmark->frames++;
    landmark->last_seen = map->frame;
}

/* The place of a new landmark: a free one, or that of the landmark of the fewest frames. */
static ast_landmark *make_room(ast_landmark_map *map) {
    if (map->count < AST_LANDMARKS)
        return &map->list[map->count++];
    ast_landmark *least = map->list;
    for (size_t k = 1; k < map->count; k++)
        if (map->list[k].frames < least->frames ||
            (map->list[k].frames == least->frames && map->list[k].last_seen < least->last_seen))
            least = &map->list[k];
    return least;
}

static void add_landmarks(ast_landmark_map *map, ast_frame_directions *sample) {
    ast_mode modes[AST_LANDMARKS];
    double known[AST_LANDMARKS][3];
    const double *c = map->covariance;
    ast_landmarks_expected_directions(map, map->rotation, known);
    size_t most = map->frame == 0 ? TALLY : BIRTHS;
    size_t count = ast_landmarks_find_modes(sample, known, map->count, most, modes);
    for (size_t i = 0; i < count; i++) {
        double y[3];
        bool apart = true;
        ast_rotation_apply(map->rotation, modes[i].direction, y);
        for (size_t k = 0; k < map->count; k++)
            apart &= angle_between(y, map->list[k].direction) >= APART * AST_DEGREE;
        if (!apart)
            continue;
        *make_room(map) = (ast_landmark){
            .direction = {y[0], y[1], y[2]},
            .information = 1 / (variance_of(&modes[i], SYSTEMATIC * SYSTEMATIC) + (c[0] + c[4] + c[8]) / 3),
            .share = modes[i].share,
            .usual = modes[i].share,
            .frames = 1,
            .last_seen = map->frame};
    }
}

/* Degrees of freedom that the landmarks of this frame determine. */
static uint64_t rank_of(const ast_landmark_map *map) {
    uint64_t rank = 0;
    for (size_t j = 0; j < map->count; j++)
        for (size_t k = 0; k <= j; k++) {
            const ast_landmark *one = &map->list[j], *other = &map->list[k];
            if (one->last_seen != map->frame || other->last_seen != map->frame)
                continue;
            double angle = angle_between(one->direction, other->direction);
            bool line = angle < LINE || angle > 180 * AST_DEGREE - LINE;
            rank = !line ? 3 : rank < 2 ? 2 : rank;
        }
    return rank;
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

/* The share of the frame that lies on landmarks. */
static double explained_by(const ast_landmark_map *map, const ast_mode *modes, const double *rotation) {
    double share = 0;
    for (size_t k = 0; k < map->count; k++) {
        double y[3];
        ast_rotation_apply(rotation, modes[k].direction, y);
        share += trust(&map->list[k], &modes[k], y, OUTLIER) > 0 ? modes[k].share : 0;
    }
    return share;
}

/* The shortest way from the rotation to one that takes a mode onto its landmark. */
static void turn_onto(const double *rotation, const double *y, const double *landmark, double *turned) {
    double axis[3], turn[9];
    ast_cross3(y, landmark, axis);
    double sine = sqrt(ast_dot_of3(axis, axis)), angle = angle_between(y, landmark);
    for (int d = 0; d < 3 && sine > 0; d++)
        axis[d] *= angle / sine;
    ast_rotation_of_vector(axis, turn);
    ast_rotation_product(turn, rotation, turned);
}

/* A fit may have settled on small surfaces, and left out a large one: tries again from each mode that is off its
 * landmark, and takes the rotation that explains most. Returns how much. */
static double settle(const ast_landmark_map *map, const ast_mode *modes, const double *predicted, const double *prior,
                     double *covariance, double *rotation) {
    double share = explained_by(map, modes, rotation);
    for (size_t k = 0; k < map->count; k++) {
        double y[3], other[9], spread[9];
        ast_rotation_apply(rotation, modes[k].direction, y);
        if (modes[k].share < SURE || trust(&map->list[k], &modes[k], y, OUTLIER) > 0)
            continue;
        turn_onto(rotation, y, map->list[k].direction, other);
        memcpy(spread, prior, sizeof spread);
        fit(map, modes, predicted, spread, other, 2 * OUTLIER);
        double more = explained_by(map, modes, other);
        if (more > share + SURE) {
            share = more;
            memcpy(rotation, other, sizeof other);
            memcpy(covariance, spread, sizeof spread);
        }
    }
    return share;
}

/* The rotation from one prediction, and how much of the frame lies on landmarks then. */
static double estimate(const ast_landmark_map *map, ast_frame_directions *sample, const double *predicted,
                       double *covariance, double *rotation, ast_mode *modes) {
    double before[9];
    size_t ends[AST_LANDMARKS + 1] = {0}; /* of the landmarks' rows */
    memcpy(rotation, predicted, sizeof before);
    memcpy(before, covariance, sizeof before);
    for (int round = 0; round < 2; round++) { /* the second looks where the first has found the frame */
        if (round == 0 || angle_of_turn(rotation, predicted) > NEAR)
            ast_landmarks_divide(map, sample, rotation, round ? AST_NARROW : WIDE, ends);
        ast_landmarks_find_in_frame(map, sample, ends, rotation, round ? AST_NARROW : WIDE, modes);
        memcpy(covariance, before, sizeof before);
        fit(map, modes, predicted, covariance, rotation, OUTLIER_FIRST);
    }
    return settle(map, modes, predicted, before, covariance, rotation);
}

/* One attempt to explain a frame. */
typedef struct attempt {
    double rotation[9], covariance[9], explained;
    ast_mode modes[AST_LANDMARKS];
} attempt;

static void try_from(const ast_landmark_map *map, ast_frame_directions *sample, const double *predicted,
                     const double *covariance, attempt *a) {
    memcpy(a->covariance, covariance, sizeof a->covariance);
    a->explained = estimate(map, sample, predicted, a->covariance, a->rotation, a->modes);
}

/* From the last rotation turned on as it turned before, or from the last one if that explains more: a camera that
 * stopped. */
static void follow(const ast_landmark_map *map, ast_frame_directions *sample, attempt *best) {
    double turn[9], further[9], covariance[9];
    memcpy(covariance, map->covariance, sizeof covariance);
    for (int d = 0; d < 9; d += 4)
        covariance[d] += MOTION * MOTION + ast_dot_of3(map->velocity, map->velocity);
    ast_rotation_of_vector(map->velocity, turn);
    ast_rotation_product(turn, map->rotation, further);
    try_from(map, sample, further, covariance, best);
    if (ast_dot_of3(map->velocity, map->velocity) < SLOW * SLOW)
        return;
    attempt still;
    try_from(map, sample, map->rotation, covariance, &still);
    if (still.explained > best->explained + SURE)
        *best = still;
}

static void find_rotation(ast_landmark_map *map, ast_frame_directions *sample, ast_mode *modes) {
    static const double anything[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double back[9], off[9], step[3];
    attempt best, jumped;
    follow(map, sample, &best);
    if (best.explained < LOST * map->explained && map->count > 1) {
        double anew[9];
        memcpy(anew, best.rotation, sizeof anew);
        match m = find_anew(map, sample, anew);
        try_from(map, sample, anew, anything, &jumped);
        if (is_jump(map, &m, best.explained, jumped.explained))
            best = jumped;
    }
    for (int r = 0; r < 9; r++)
        back[r] = map->rotation[3 * (r % 3) + r / 3];
    ast_rotation_product(best.rotation, back, off);
    ast_vector_of_rotation(off, step);
    for (int d = 0; d < 3; d++)
        map->velocity[d] = 0.5 * map->velocity[d] + 0.5 * step[d];
    memcpy(map->rotation, best.rotation, sizeof best.rotation);
    memcpy(map->covariance, best.covariance, sizeof best.covariance);
    memcpy(modes, best.modes, map->count * sizeof *modes);
    map->explained = map->explained > 0 ? MEMORY * map->explained + (1 - MEMORY) * best.explained : best.explained;
}

void ast_landmarks_step(ast_landmark_map *map, ast_frame_directions *sample) {
    ast_mode modes[AST_LANDMARKS];
    size_t known = map->count;
    if (known > 0) {
        find_rotation(map, sample, modes);
        for (size_t k = 0; k < known; k++)
            move(map, k, &modes[k]);
    }
    if (sample->rows.count > 0)
        add_landmarks(map, sample);
    map->rank = rank_of(map);
    ast_landmarks_find_axes(map, sample);
    map->frame += sample->rows.count > 0 || map->frame > 0;
}

bool ast_landmarks_are_possible(const ast_landmark_map *map) {
    const double *numbers[] = {
        map->rotation,       map->covariance, map->velocity, &map->explained, &map->building.directions[0][0],
        map->building.shares};
    const size_t counts[] = {9, 9, 3, 1, 3 * AST_BUILDING_AXES, AST_BUILDING_AXES};
    bool good = map->count <= AST_LANDMARKS && map->rank <= 3 && map->axes_kind <= AST_ATLANTA_LINES &&
                map->building.kind <= AST_ATLANTA_LINES && map->building.count <= AST_BUILDING_AXES;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < counts[i]; k++)
            good = good && isfinite(numbers[i][k]);
    for (size_t k = 0; good && k < map->count; k++) {
        const ast_landmark *l = &map->list[k];
        good = fabs(ast_dot_of3(l->direction, l->direction) - 1) < 1e-3 && l->information > 0 &&
               isfinite(l->information) && isfinite(l->residual) && isfinite(l->weight) &&
               isfinite(l->bias[0] + l->bias[1] + l->bias[2]) && isfinite(l->share) && isfinite(l->usual);
    }
    return good;
}

void ast_landmarks_expect_rotation(ast_landmark_map *map, const double *rotation) {
    double turned[9], back[9], third[3];
    ast_cross3(rotation, rotation + 3, third);
    if (ast_dot_of3(third, rotation + 6) < 0) /* a mirror is no motion of a camera */
        return;
    for (int r = 0; r < 9; r++)
        back[r] = rotation[3 * (r % 3) + r / 3];
    ast_rotation_product(map->rotation, back, turned);
    memcpy(map->rotation, turned, sizeof turned);
    memset(map->velocity, 0, sizeof map->velocity);
}
