/* SPDX-License-Identifier: MIT
 *
 * A degree in radians: 30 * AST_DEGREE is an angle in radians, angle / AST_DEGREE one in degrees. */
#pragma once

#define AST_DEGREE (3.14159265358979323846 / 180)
