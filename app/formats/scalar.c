/* SPDX-License-Identifier: MIT
 *
 * Converts single numbers. It is used for labels, weights and means, which are few beside the points; points are
 * converted by the library. */
#include "npy.h"

#include <math.h>
#include <string.h>

/* IEEE half: 1 sign bit, 5 of exponent with bias 15, 10 of fraction. */
static double load_half(const void *place) {
    uint16_t bits;
    memcpy(&bits, place, sizeof bits);
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double size;
    if (exponent == 31)
        size = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        size = ldexp(fraction, -24);
    else
        size = ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

static double load_float(const void *place, size_t item) {
    float single;
    double number;
    if (item == 2)
        return load_half(place);
    if (item == 8) {
        memcpy(&number, place, sizeof number);
        return number;
    }
    memcpy(&single, place, sizeof single);
    return (double)single;
}

/* bfloat16: the upper half of a float. */
static double load_brain(const void *place) {
    uint16_t half;
    memcpy(&half, place, sizeof half);
    uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    return (double)single;
}

double ast_scalar_load(const void *place, char kind, size_t item) {
    if (kind == 'f')
        return load_float(place, item);
    if (kind == 'B')
        return load_brain(place);
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    bool is_signed = kind == 'i';
    switch (item) {
    case 1:
        memcpy(&one, place, sizeof one);
        return is_signed ? (double)(int8_t)one : (double)one;
    case 2:
        memcpy(&two, place, sizeof two);
        return is_signed ? (double)(int16_t)two : (double)two;
    case 4:
        memcpy(&four, place, sizeof four);
        return is_signed ? (double)(int32_t)four : (double)four;
    default:
        memcpy(&eight, place, sizeof eight);
        return is_signed ? (double)(int64_t)eight : (double)eight;
    }
}

void ast_scalar_swap(void *data, size_t count, size_t item) {
    unsigned char *place = data;
    for (size_t i = 0; i < count; i++, place += item)
        for (size_t b = 0; b < item / 2; b++) {
            unsigned char kept = place[b];
            place[b] = place[item - 1 - b];
            place[item - 1 - b] = kept;
        }
}

void ast_scalar_flatten(double *numbers, const void *data, const ast_npy_header *header) {
    size_t stride[AST_NPY_DIMENSIONS], index[AST_NPY_DIMENSIONS] = {0};
    size_t step = header->item;
    for (int n = 0; n < header->dimensions; n++) {
        int d = header->fortran ? n : header->dimensions - 1 - n;
        stride[d] = step;
        step *= header->shape[d];
    }
    const char *place = data;
    for (size_t i = 0; i < header->elements; i++) {
        numbers[i] = ast_scalar_load(place, header->kind, header->item);
        /* The next index in C order: the last one counts up, and carries. */
        for (int d = header->dimensions - 1; d >= 0; d--) {
            place += stride[d];
            if (++index[d] < header->shape[d])
                break;
            place -= stride[d] * header->shape[d];
            index[d] = 0;
        }
    }
}
