/* SPDX-License-Identifier: MIT
 *
 * The hallway's sensor against its description: steps of disparity, standard deviation by depth, and holes, each of
 * which has a reason and each reason a hole. */
#include "degree.h"
#include "reference/hallway.h"
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BASELINE 0.075

typedef struct sensed {
    ast_hallway hallway;
    ast_hallway_frame frame;
    ast_hit *hits;
    uint16_t *depth;
    int32_t *truth;
} sensed;

static sensed sense(ast_hallway hallway, size_t index) {
    size_t pixels = hallway.width * hallway.height;
    sensed image = {.hallway = hallway};
    image.hits = ref_hallway_hits(&hallway, index, &image.frame);
    image.depth = ref_take(pixels, sizeof *image.depth);
    image.truth = ref_take(pixels, sizeof *image.truth);
    ast_context *context;
    ast_open(&context, 2);
    assert_int_equal(ast_hallway_render(context, &hallway, index, image.depth, image.truth, NULL), AST_OK);
    ast_close(context);
    return image;
}

static void release(sensed *image) {
    free(image->hits);
    free(image->depth);
    free(image->truth);
}

static const size_t looked_at[] = {0, 20, 45, 60, 66, 80, 119};
enum { LOOKED_AT = sizeof looked_at / sizeof *looked_at };

/* ---- Noise ------------------------------------------------------------------------------------------------------ */

static void depth_is_a_whole_number_of_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < LOOKED_AT; i++) {
        sensed image = sense(ref_hallway_smaller(1), looked_at[i]);
        double scale = 8 * BASELINE * image.hallway.camera.fx;
        size_t seen = 0;
        for (size_t p = 0; p < image.hallway.width * image.hallway.height; p++) {
            if (image.depth[p] == 0)
                continue;
            seen++;
            double steps = round(scale * 1000 / image.depth[p]);
            assert_int_equal(image.depth[p], (int)floor(scale / steps * 1000 + 0.5));
            assert_in_range(image.depth[p], 500, 8000);
        }
        assert_true(seen > image.hallway.width * image.hallway.height * 4 / 5);
        release(&image);
    }
}

typedef struct moments {
    double count, sum, square, fourth;
} moments;

/* Half a metre a bin. The deviation of noise and steps together; the width of a step is z^2 / scale. */
static void gather(moments *bins, const sensed *image) {
    double scale = 8 * BASELINE * image->hallway.camera.fx;
    for (size_t p = 0; p < image->hallway.width * image->hallway.height; p++) {
        double z = image->hits[p].depth, step = z * z / scale, sigma = 0.0012 + 0.0019 * (z - 0.4) * (z - 0.4);
        if (image->depth[p] == 0 || z > 7) /* beyond, the range would cut off a side of the noise */
            continue;
        double unit = (image->depth[p] / 1000.0 - z) / sqrt(sigma * sigma + step * step / 12);
        moments *bin = &bins[(int)(2 * z)];
        bin->count++;
        bin->sum += unit;
        bin->square += unit * unit;
        bin->fourth += unit * unit * unit * unit;
    }
}

static void noise_grows_as_described(void **state) {
    (void)state;
    moments bins[16] = {{0}};
    for (size_t i = 0; i < LOOKED_AT; i++) {
        sensed image = sense(ref_hallway_smaller(1), looked_at[i]);
        gather(bins, &image);
        release(&image);
    }
    int filled = 0;
    for (int b = 0; b < 14; b++) {
        const moments *bin = &bins[b];
        if (bin->count < 20000)
            continue;
        filled++;
        double mean = bin->sum / bin->count, deviation = sqrt(bin->square / bin->count - mean * mean);
        double kurtosis = bin->fourth / bin->count / (deviation * deviation * deviation * deviation);
        if (fabs(deviation - 1) > 0.02 || fabs(mean) > 0.08)
            fail_msg("at %.1f m the noise is %.4f of what it should be, its mean %.4f", b / 2.0, deviation, mean);
        if (fabs(kurtosis - 3) > 0.4) /* the uniform part of the steps lowers it a little */
            fail_msg("at %.1f m the noise is not normal: its kurtosis is %.3f", b / 2.0, kurtosis);
    }
    assert_true(filled >= 9);
}

/* The same pixel in other frames, other seeds and its neighbours: nothing is shared. */
static void noise_is_independent(void **state) {
    (void)state;
    ast_hallway hallway = ref_hallway_smaller(2), other = hallway;
    other.seed = 2;
    sensed a = sense(hallway, 70), b = sense(other, 70), c = sense(hallway, 70);
    size_t pixels = hallway.width * hallway.height;
    assert_memory_equal(a.depth, c.depth, pixels * sizeof *a.depth);
    double own = 0, seeds = 0, across = 0, down = 0;
    for (size_t p = 0; p + hallway.width < pixels; p++) {
        size_t below = p + hallway.width;
        if (!a.depth[p] || !b.depth[p] || !a.depth[p + 1] || !a.depth[below] || a.hits[p].depth > 4)
            continue;
        double mine = a.depth[p] / 1000.0 - a.hits[p].depth;
        own += mine * mine;
        seeds += mine * (b.depth[p] / 1000.0 - b.hits[p].depth);
        across += mine * (a.depth[p + 1] / 1000.0 - a.hits[p + 1].depth);
        down += mine * (a.depth[below] / 1000.0 - a.hits[below].depth);
    }
    assert_true(fabs(seeds / own) < 0.05 && fabs(across / own) < 0.05 && fabs(down / own) < 0.05);
    release(&a);
    release(&b);
    release(&c);
}

/* ---- Holes ------------------------------------------------------------------------------------------------------ */

static double angle_to_normal(const sensed *image, size_t p) {
    double ray[3];
    ref_hallway_ray(&image->hallway.camera, p % image->hallway.width, p / image->hallway.width, ray);
    double length = sqrt(ray[0] * ray[0] + ray[1] * ray[1] + 1);
    return acos(fmin(1, (double)image->hits[p].normal_dot_ray / length)) / AST_DEGREE;
}

/* The largest step of disparity to a neighbour, in pixels. */
static double largest_step(const sensed *image, size_t p) {
    size_t width = image->hallway.width, height = image->hallway.height, u = p % width, v = p / width;
    double scale = BASELINE * image->hallway.camera.fx, here = scale / image->hits[p].depth, largest = 0;
    for (int i = 0; i < 4; i++) {
        size_t x = u + (size_t)(i == 0) - (size_t)(i == 1), y = v + (size_t)(i == 2) - (size_t)(i == 3);
        if (x < width && y < height)
            largest = fmax(largest, fabs(here - scale / image->hits[y * width + x].depth));
    }
    return largest;
}

/* Whether something stands between the surface and the projector, BASELINE to the right of the camera. */
static bool is_shaded(const sensed *image, size_t p) {
    const double to_right[3] = {BASELINE, 0, 0};
    double projector[3], point[3], at[3];
    ref_hallway_turn(image->frame.rotation, to_right, projector);
    ref_hallway_point(&image->hallway, &image->frame, p % image->hallway.width, p / image->hallway.width,
                      image->hits[p].depth, point);
    for (int a = 0; a < 3; a++)
        projector[a] += image->frame.position[a];
    for (double share = 0.004; share < 0.9; share += 0.004) {
        for (int a = 0; a < 3; a++)
            at[a] = point[a] + share * (projector[a] - point[a]);
        if (!ref_hallway_free(at))
            return true;
    }
    return false;
}

/* What the holes of an image come from. Shadows are compared where they are more than one pixel wide: their outlines
 * fall between two pixels. */
typedef struct reasons {
    size_t grazing, edges, shaded;
    size_t lit, none; /* in the shadow and no hole; a hole without a reason */
} reasons;

static void count_reasons(reasons *sum, const sensed *image) {
    bool left, shaded = is_shaded(image, 0), right = is_shaded(image, 1);
    for (size_t p = 1; p + 1 < image->hallway.width * image->hallway.height; p++) {
        left = shaded, shaded = right, right = is_shaded(image, p + 1);
        double angle = angle_to_normal(image, p), step = largest_step(image, p);
        bool hole = image->depth[p] == 0;
        assert_int_equal(image->truth[p], hole ? -1 : image->hits[p].direction);
        if (fabs(angle - 80) < 1e-3 || fabs(step - 0.375) < 1e-9)
            continue;
        if (!hole && (angle > 80 || step > 0.375))
            fail_msg("pixel %zu: at %.2f degrees, a step of %.2f pixels, and no hole", p, angle, step);
        sum->grazing += angle > 80;
        sum->edges += step > 0.375;
        sum->shaded += shaded && hole;
        sum->lit += left && shaded && right && !hole;
        bool far = image->hits[p].depth > 6.5; /* noise alone may carry it out of range */
        sum->none += hole && !left && !shaded && !right && angle < 80 && step < 0.375 && !far;
    }
}

static void every_hole_has_a_reason(void **state) {
    (void)state;
    reasons sum = {0};
    for (size_t i = 0; i < LOOKED_AT; i += 4) {
        sensed image = sense(ref_hallway_smaller(2), looked_at[i]);
        count_reasons(&sum, &image);
        release(&image);
    }
    assert_true(sum.grazing > 1000 && sum.edges > 750 && sum.shaded > 350);
    assert_true(sum.lit == 0);
    assert_true(sum.none == 0);
}

/* Farther than 8 m there is nothing, but without noise there is. */
static void range_ends(void **state) {
    (void)state;
    sensed image = sense(ref_hallway_smaller(2), 70);
    size_t far = 0;
    for (size_t p = 0; p < image.hallway.width * image.hallway.height; p++)
        if (image.hits[p].depth > 8.7) { /* the end of the corridor, by more than five deviations */
            far++;
            assert_int_equal(image.depth[p], 0);
        }
    assert_true(far > 100);
    release(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_a_whole_number_of_steps),
        cmocka_unit_test(noise_grows_as_described),
        cmocka_unit_test(noise_is_independent),
        cmocka_unit_test(every_hole_has_a_reason),
        cmocka_unit_test(range_ends),
    };
    return cmocka_run_group_tests_name("the hallway's sensor", tests, NULL, NULL);
}
