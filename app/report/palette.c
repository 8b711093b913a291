/* SPDX-License-Identifier: MIT
 *
 * One colour per id. The hues are those of Okabe and Ito (Color Universal Design, 2008), which people with the common
 * kinds of colour blindness can tell apart. More hues could not be told apart, so further ids differ in lightness,
 * which everybody sees. */
#include "report.h"

const char *const ast_event_names[AST_EVENTS] = {"born", "revived", "seen", "unseen", "died", "merged"};

/* In this order neighbours differ in lightness as well as in hue. The black of Okabe and Ito is left out: it stands for
 * missing. */
static const ast_colour hues[AST_PALETTE_HUES] = {
    {230, 159, 0},   /* orange */
    {0, 114, 178},   /* blue */
    {240, 228, 66},  /* yellow */
    {204, 121, 167}, /* reddish purple */
    {0, 158, 115},   /* bluish green */
    {86, 180, 233},  /* sky blue */
    {213, 94, 0}     /* vermillion */
};

/* How far each step goes towards white (positive) or black (negative). The darkest stays clearly different from
 * black. */
static const double steps[AST_PALETTE_STEPS] = {0, 0.45, -0.4, 0.7, -0.6};

static unsigned char towards(unsigned char value, double step) {
    double end = step > 0 ? 255 : 0, part = step > 0 ? step : -step;
    return (unsigned char)(value + (end - value) * part + 0.5);
}

ast_colour ast_palette(int32_t id) {
    if (id < 0)
        return (ast_colour){0, 0, 0};
    ast_colour hue = hues[id % AST_PALETTE_HUES];
    double step = steps[id / AST_PALETTE_HUES % AST_PALETTE_STEPS];
    return (ast_colour){towards(hue.red, step), towards(hue.green, step), towards(hue.blue, step)};
}

bool ast_colour_light(ast_colour colour) {
    /* Luma of Rec. 601, in integers; above the middle, black text reads better than white. */
    return 299 * colour.red + 587 * colour.green + 114 * colour.blue > 128 * 1000;
}
