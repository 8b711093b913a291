/* SPDX-License-Identifier: MIT */
#include "weights.h"

#include <assert.h>
#include <math.h>

void ast_weights_range(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range) {
    for (size_t i = 0; i < rows->count; i++) {
        if (labels[i] == AST_MISSING)
            continue;
        range->zeros |= weights[i] == 0;
        range->largest = weights[i] > range->largest ? weights[i] : range->largest;
        range->smallest = weights[i] > 0 && weights[i] < range->smallest ? weights[i] : range->smallest;
    }
}

void ast_weights_total(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range) {
    assert(range->smallest > 0);
    for (size_t i = 0; i < rows->count; i++)
        range->total += labels[i] == AST_MISSING ? 0 : weights[i] / range->smallest;
}

ast_status ast_weights_choose_unit(const ast_weight_range *range, double *unit, ast_fault *fault) {
    *unit = 0;
    if (range->largest == 0 && range->zeros)
        return ast_fail(fault, AST_BAD_DATA, "every weight is 0: at least one point must count");
    if (range->largest == 0 || (range->largest == range->smallest && !range->zeros))
        return AST_OK;
    if (isinf(range->total))
        return ast_fail(fault, AST_BAD_DATA, "the weights run from %g to %g: too far apart to be added up",
                        range->smallest, range->largest);
    *unit = ast_weight_unit_for_total(range->total);
    return AST_OK;
}

double ast_weight_unit_for_total(double total) {
    assert(total > 0 && isfinite(total));
    double unit = ldexp(1, (int)floor(62 - log2(total)));
    while (total * unit > 0x1p62)
        unit /= 2;
    while (total * (2 * unit) <= 0x1p62)
        unit *= 2;
    assert(total * unit <= 0x1p62 && total * (2 * unit) > 0x1p62);
    return unit;
}
