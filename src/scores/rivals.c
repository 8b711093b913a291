/* SPDX-License-Identifier: MIT
 *
 * Scores of listed points by heads and tails. For each point: a score that some mean reaches, the rivals whose reach is
 * no smaller, fewer after more coordinates, and full scores of what is left. */
#include "contest.h"
#include "kinds.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define TILE 24                  /* rows whose rivals are listed together: their reaches fit the cache */
#define AHEAD 8                  /* rivals whose heads are fetched before their turn */
#define PARTS 4                  /* of the means, for first scores */
enum { LEADERS = 4, MANY = 32 }; /* rivals that are met at once, if there are more than MANY */
enum { OWN = -1, NOBODY = -2 };
#define SAME_AS_MEAN 0x1p-18f /* a score so near to 1: the point may be its cluster's only member */

/* The score that a contest begins with. */
typedef struct seed {
    float score;
    int32_t mean; /* its number, or OWN: the point's own, or NOBODY */
    bool alone;   /* the point seems to be its cluster's only member: the score is 1, and others count if they fit */
} seed;

/* A tile of listed points and their rivals. */
typedef struct tile {
    const ast_scorer *s;
    ast_chunk *c;
    const struct ast_mean_heads *means;
    const int32_t *ids; /* of the means */
    size_t first, n;    /* in the list */
    const float *heads[TILE];
    const uint8_t *bytes[TILE];
    float units[TILE], lengths[TILE], tails[2][TILE];
    float extra[TILE]; /* what is missing to the reach that the kernel finds: slack, and what the row's bytes leave */
    seed seeds[TILE];
    float limits[TILE];  /* of a reach */
    float passed[TILE];  /* the largest reach below the limit */
    size_t counts[TILE]; /* of rivals */
} tile;

/* ---- Heads of points --------------------------------------------------------------------------------------------- */

/* Finds the heads of all points of the chunk, unless they are those of an earlier pass. */
static void keep_heads(ast_scorer *s, ast_chunk *c) {
    ast_heads *h = &s->heads;
    size_t chunk = c->base / s->rows->chunk, width = h->stages.second;
    const float *some = NULL;
    if (h->kept.versions[chunk] == h->version)
        return;
    h->kept.versions[chunk] = h->version;
    ast_rows_load(s->rows, &c->rows, s->labels, c->base);
    for (size_t j = 0; j < s->rows->chunk && !some; j++)
        some = s->labels[c->base + j] == AST_MISSING ? NULL : c->rows.loaded[j];
    for (size_t j = 0; j < s->rows->chunk && some; j++) /* nobody asks for missing rows */
        c->picked[j] = s->labels[c->base + j] == AST_MISSING ? some : c->rows.loaded[j];
    if (some)
        ast_heads_project(&h->axes, s->kernels, c->picked, s->rows->chunk, width, h->kept.rows + c->base * width);
}

/* Heads of the tile's points: kept ones, or found now; or the points themselves. */
static void find_heads(tile *t) {
    const ast_heads *h = &t->s->heads;
    const float *const *rows = t->c->picked + t->first;
    size_t width = h->stages.second;
    for (size_t j = 0; j < t->n; j++)
        t->heads[j] = h->stages.raw  ? rows[j]
                      : h->kept.used ? h->kept.rows + (t->c->base + t->c->list[t->first + j]) * width
                                     : t->c->rivals.heads + j * width;
    if (!h->stages.raw && !h->kept.used)
        ast_heads_project(&h->axes, t->s->kernels, rows, t->n, width, t->c->rivals.heads);
}

/* Their bytes, and what these leave: |x - bytes| times the longest mean, at most. */
static void pack_heads(tile *t) {
    const ast_heads *h = &t->s->heads;
    const ast_stages *s = &h->stages;
    size_t count = ast_byte_count(s), coordinates = s->first - s->plain;
    const ast_basis *axes = s->raw ? NULL : &h->axes;
    for (size_t j = 0; j < t->n; j++) {
        uint8_t *bytes = t->c->rivals.bytes + j * count;
        ast_bytes_made made = {0};
        if (count) {
            made = t->s->kernels->heads.to_bytes(t->heads[j] + s->plain, coordinates, 0, AST_BYTE, bytes);
            memset(bytes + coordinates, 0, count - coordinates);
        }
        t->bytes[j] = bytes;
        t->units[j] = made.unit * s->unit;
        t->lengths[j] = made.length;
        t->extra[j] = made.error * t->means->longest * (1 + 0x1p-20f) + h->slack;
        t->tails[0][j] = ast_tail_length(axes, t->heads[j], s->first);
        t->tails[1][j] = s->raw ? t->tails[0][j] : ast_tail_length(axes, t->heads[j], s->second);
    }
}

/* ---- A point and its rivals -------------------------------------------------------------------------------------- */

static float full_score(const tile *t, size_t j, size_t mean) {
    size_t dimension = t->s->rows->dimension;
    float score = t->s->kernels->dot(t->c->picked[t->first + j], t->means->means + mean * dimension, dimension);
    return t->s->rows->axial ? fabsf(score) : score;
}

static void score(const tile *t, size_t j, ast_contest *x, size_t mean) {
    ast_contest_meet(x, full_score(t, j, mean), mean);
    t->c->rivals.products++;
}

/* The most that a rival's score can be, by all coordinates of the heads; and what it is likely to be. */
static float refined_reach(const tile *t, size_t j, ast_rival rival, float *likely) {
    const ast_heads *h = &t->s->heads;
    size_t width = h->stages.second;
    *likely = AST_NO_SCORE;
    if (h->stages.raw)
        return rival.reach;
    float product = t->s->kernels->dot(t->heads[j], t->means->rows + rival.mean * width, width);
    float tails = t->tails[1][j] * t->means->last_tails[rival.mean];
    float reach = (t->s->rows->axial ? fabsf(product) : product) + tails + h->slack;
    *likely = reach - tails / 2;
    return reach < rival.reach ? reach : rival.reach;
}

/* The rivals whose reach is no smaller than the limit by now. */
static size_t drop(const tile *t, size_t j, ast_contest *x, ast_rival *rivals, size_t count) {
    float limit = x->limit - t->extra[j], passed = AST_NO_SCORE;
    size_t left = 0;
    for (size_t r = 0; r < count; r++) {
        ast_rival rival = rivals[r];
        bool stays = rival.reach >= limit;
        passed = ast_larger(passed, stays ? AST_NO_SCORE : rival.reach);
        rivals[left] = rival;
        left += stays;
    }
    ast_contest_dismiss(x, passed + t->extra[j]);
    return left;
}

/* Has the memory of a rival's head ready. */
static void expect(const tile *t, uint32_t mean) {
    size_t width = t->s->heads.stages.second;
    for (size_t d = 0; d < width; d += AST_PANEL)
        __builtin_prefetch(t->means->rows + mean * width + d);
}

/* The rivals that are left after the second stage, in the place of those before. One that is likely to win is met at
 * once: it rules others out. */
static size_t refine(const tile *t, size_t j, ast_contest *x, ast_rival *rivals, size_t count) {
    size_t left = 0;
    for (size_t r = 0; r < count && r < AHEAD; r++)
        expect(t, rivals[r].mean);
    for (size_t r = 0; r < count; r++) {
        float likely = AST_NO_SCORE;
        ast_rival rival = {rivals[r].mean, rivals[r].reach + t->extra[j]};
        if (r + AHEAD < count)
            expect(t, rivals[r + AHEAD].mean);
        if (rival.reach >= x->limit)
            rival.reach = refined_reach(t, j, rival, &likely);
        if (rival.reach < x->limit)
            ast_contest_dismiss(x, rival.reach);
        else if (likely > x->best && !x->alone)
            score(t, j, x, rival.mean);
        else
            rivals[left++] = rival;
    }
    return left;
}

/* Full scores, those of the largest reach first as far as that is easy: the first raises the limit for the others. */
static void score_rivals(const tile *t, size_t j, ast_contest *x, ast_rival *rivals, size_t count) {
    for (size_t r = 1; r < count; r++)
        if (rivals[r].reach > rivals[0].reach) {
            ast_rival swap = rivals[r];
            rivals[r] = rivals[0];
            rivals[0] = swap;
        }
    for (size_t r = 0; r < count; r++) {
        if (rivals[r].reach < x->limit) {
            ast_contest_dismiss(x, rivals[r].reach);
            continue;
        }
        score(t, j, x, rivals[r].mean);
    }
}

/* The rivals with the largest reach, in order, to the front. Returns their number. */
static size_t find_leaders(ast_rival *rivals, size_t count) {
    size_t leaders = count < LEADERS ? count : LEADERS;
    for (size_t r = 1; r < count; r++) {
        size_t to = r < leaders ? r : leaders;
        ast_rival rival = rivals[r];
        if (to == leaders) {
            if (rival.reach <= rivals[--to].reach)
                continue;
            rivals[r] = rivals[to];
        }
        for (; to > 0 && rivals[to - 1].reach < rival.reach; to--)
            rivals[to] = rivals[to - 1];
        rivals[to] = rival;
    }
    return leaders;
}

/* Where rivals are many, one of those with the largest reach has probably a better score than the seed, and rules most
 * of the others out. Returns how many were met. */
static size_t meet_leaders(const tile *t, size_t j, ast_contest *x, ast_rival *rivals, size_t count) {
    size_t met = 0, leaders = count > MANY ? find_leaders(rivals, count) : 0;
    for (; met < leaders && rivals[met].reach + t->extra[j] >= x->limit; met++)
        score(t, j, x, rivals[met].mean);
    return met;
}

/* ---- Close calls ------------------------------------------------------------------------------------------------- */

static double exact_score(const tile *t, size_t j, uint32_t mean) {
    size_t dimension = t->s->rows->dimension;
    double score = ast_exact_score(t->c->picked[t->first + j], t->means->means + mean * dimension, dimension);
    return t->s->rows->axial ? fabs(score) : score;
}

/* Settles by exact scores what the float scores leave open, unless too many means are near. */
static void call(tile *t, size_t j, const ast_contest *x) {
    ast_rival_buffer *b = &t->c->rivals;
    ast_close_call *c = &b->calls[b->call_count];
    uint32_t best = 0;
    *c = (ast_close_call){t->c->list[t->first + j], x->alone, AST_NOBODY, -INFINITY, (double)x->rest};
    for (size_t i = 0; i < x->near_count && i < AST_NEAR; i++) {
        uint32_t mean = x->near[i].mean;
        double score = exact_score(t, j, mean);
        bool wins = score > c->score || (score == c->score && mean < best);
        c->second = fmax(c->second, wins ? c->score : score);
        if (wins) {
            c->score = score;
            c->slot = t->ids[mean];
            best = mean;
        }
    }
    b->call_count += x->near_count <= AST_NEAR;
}

static bool is_open(const tile *t, const ast_contest *x) {
    return x->best < ast_deciding_score(t->s, t->c) || x->best - x->second <= t->s->margin;
}

const ast_close_call *ast_close_call_of(const ast_chunk *c, size_t at) {
    size_t first = 0, last = c->rivals.call_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (c->rivals.calls[middle].at < at)
            first = middle + 1;
        else
            last = middle;
    }
    return first < c->rivals.call_count && c->rivals.calls[first].at == at ? &c->rivals.calls[first] : NULL;
}

/* ---- A tile ------------------------------------------------------------------------------------------------------ */

static ast_head_tile head_tile(tile *t, const float *limits) {
    return (ast_head_tile){.n = t->n,
                           .floats = t->heads,
                           .bytes = t->bytes,
                           .units = t->units,
                           .lengths = t->lengths,
                           .tails = t->tails[0],
                           .limits = limits,
                           .rivals = t->c->rivals.list,
                           .counts = t->counts,
                           .reaches = t->c->rivals.reaches,
                           .room = t->c->rivals.room};
}

/* The score with the own mean: fresh in bounded passes, found now in others; AST_NO_SCORE: none is known. */
static float own_score(const tile *t, size_t j, bool bounded) {
    const ast_scorer *s = t->s;
    size_t at = t->c->list[t->first + j], dimension = s->rows->dimension;
    int32_t label = s->labels[t->c->base + at];
    float score = t->c->scores.best[at];
    if (label < 0 || (!bounded && (!s->bounds.on || s->bounds.blind)))
        return AST_NO_SCORE;
    if (!bounded)
        score =
            s->kernels->dot(t->c->picked[t->first + j], s->moves.start_means + (size_t)label * dimension, dimension);
    return s->rows->axial && score > AST_NO_SCORE ? fabsf(score) : score;
}

/* A mean matters if it reaches the score that the contest begins with, and fits; for a point in a cluster of its own,
 * if it fits. */
static float limit_of(const tile *t, const seed *x) {
    const ast_heads *h = &t->s->heads;
    float least = x->alone ? h->floor : ast_larger(x->score, h->floor);
    return ast_larger(least - h->stages.spare, AST_NO_SCORE + 2); /* below every score, above nobody's */
}

/* Contests begin with the score of the own mean, where that is known. Returns whether all do. */
static bool begin_contests(tile *t, bool bounded) {
    bool all = true;
    for (size_t j = 0; j < t->n; j++) {
        float own = own_score(t, j, bounded);
        bool known = own > AST_NO_SCORE;
        bool alone = known && own > 1 - SAME_AS_MEAN && t->s->heads.floor > AST_NO_SCORE;
        t->seeds[j] = (seed){own, known ? OWN : NOBODY, alone};
        t->limits[j] = limit_of(t, &t->seeds[j]);
        t->c->rivals.products += known;
        all = all && known;
    }
    return all;
}

/* Where no score is known yet, a contest begins with the best of the means of the largest reach, one from each part of
 * them. */
static void find_seed(tile *t, size_t j, const float *reaches) {
    size_t count = t->means->packed.count, part = count / PARTS / AST_PANEL * AST_PANEL + AST_PANEL;
    for (size_t first = 0; first < count; first += part) {
        size_t some = count - first < part ? count - first : part;
        size_t mean = first + t->s->kernels->heads.largest(reaches + first, some);
        float score = full_score(t, j, mean);
        t->c->rivals.products++;
        if (score > t->seeds[j].score && t->ids[mean] != AST_NOBODY)
            t->seeds[j] = (seed){score, (int32_t)mean, false};
    }
    t->limits[j] = limit_of(t, &t->seeds[j]);
}

static void search_rivals(tile *t) {
    ast_rival_buffer *b = &t->c->rivals;
    const ast_head_kernels *kernels = &t->s->kernels->heads;
    ast_head_tile heads = head_tile(t, NULL);
    kernels->reaches(&heads, &t->means->packed);
    for (size_t j = 0; j < t->n; j++) {
        const float *reaches = b->reaches + j * b->room;
        if (t->seeds[j].mean == NOBODY)
            find_seed(t, j, reaches);
        t->counts[j] = kernels->select(reaches, t->means->packed.count, t->limits[j] - t->extra[j],
                                       b->list + j * b->room, &t->passed[j]);
    }
}

static void find_rivals(tile *t, bool bounded) {
    float limits[TILE];
    if (!begin_contests(t, bounded) && t->s->heads.floor == AST_NO_SCORE) {
        search_rivals(t);
        return;
    }
    for (size_t j = 0; j < t->n; j++)
        limits[j] = t->limits[j] - t->extra[j];
    ast_head_tile heads = head_tile(t, limits);
    t->s->kernels->heads.rivals(&heads, &t->means->packed, t->passed, t->c->scratch);
}

/* Whether a mean is the one that the contest began with. */
static bool is_seed(const tile *t, size_t j, uint32_t mean) {
    const seed *x = &t->seeds[j];
    return x->mean == OWN ? t->ids[mean] == t->s->labels[t->c->base + t->c->list[t->first + j]]
                          : x->mean == (int32_t)mean;
}

/* The rivals without the seed, which meets the contest first. Returns whether it is among them, as it must be. */
static bool begin_contest(tile *t, size_t j, ast_contest *x) {
    const seed *own = &t->seeds[j];
    ast_rival *rivals = t->c->rivals.list + j * t->c->rivals.room;
    size_t left = 0;
    int32_t mean = own->mean;
    float passed = t->passed[j] + t->extra[j];
    *x = (ast_contest){.best = AST_NO_SCORE,
                       .mean = NOBODY,
                       .second = passed,
                       .rest = passed,
                       .limit = t->limits[j],
                       .margin = t->s->margin,
                       .spare = t->s->heads.stages.spare,
                       .alone = own->alone};
    for (size_t r = 0; r < t->counts[j]; r++)
        if (is_seed(t, j, rivals[r].mean))
            mean = (int32_t)rivals[r].mean;
        else
            rivals[left++] = rivals[r];
    t->counts[j] = left;
    if (!own->alone && mean >= 0)
        ast_contest_meet(x, own->score, (size_t)mean);
    return mean != OWN;
}

/* The own cluster is not in the table as it was. */
static void score_in_full(const tile *t, size_t at) {
    ast_scores to = {t->c->compact.best + at, t->c->compact.second + at, t->c->compact.id + at};
    t->s->kernels->score_rows(t->c->picked + at, 1, t->c->table, to, t->c->scratch);
    t->c->rivals.products += t->c->table->count;
}

static void end_contest(tile *t, size_t j) {
    ast_contest x;
    const seed *own = &t->seeds[j];
    ast_rival *rivals = t->c->rivals.list + j * t->c->rivals.room;
    size_t at = t->first + j;
    if (!begin_contest(t, j, &x)) {
        score_in_full(t, at);
        return;
    }
    size_t met = meet_leaders(t, j, &x, rivals, t->counts[j]);
    rivals += met;
    size_t left = drop(t, j, &x, rivals, t->counts[j] - met);
    score_rivals(t, j, &x, rivals, refine(t, j, &x, rivals, left));
    if (x.alone ? ast_larger(x.best, x.rest) + t->s->margin >= t->s->heads.floor : is_open(t, &x))
        call(t, j, &x);
    t->c->compact.best[at] = x.alone ? own->score : x.best;
    t->c->compact.second[at] = x.alone ? ast_larger(x.best, x.second) : x.second;
    t->c->compact.id[at] = x.alone      ? t->s->labels[t->c->base + t->c->list[at]]
                           : x.mean < 0 ? AST_NOBODY
                                        : t->ids[x.mean];
}

static void score_tile(tile *t, bool bounded) {
    find_heads(t);
    pack_heads(t);
    find_rivals(t, bounded);
    for (size_t j = 0; j < t->n; j++)
        end_contest(t, j);
}

/* ---- A list ------------------------------------------------------------------------------------------------------ */

static bool reserve(ast_rival_buffer *b, size_t means, const ast_stages *stages, size_t chunk) {
    size_t room = means / AST_PANEL * AST_PANEL + AST_PANEL,
           width = stages->second + ast_byte_count(stages) / sizeof(float);
    if (!b->calls)
        b->calls = ast_allocate(chunk, sizeof *b->calls);
    if (!b->calls)
        return false;
    if (room > b->room || width > b->width) {
        ast_free_all(b->list, b->reaches, b->heads);
        room = (room + room / 4) / AST_PANEL * AST_PANEL;
        b->list = ast_allocate(TILE * room, sizeof *b->list);
        b->reaches = ast_allocate(TILE * room, sizeof *b->reaches);
        b->heads = ast_allocate(TILE * width, sizeof *b->heads);
        bool ready = b->list && b->reaches && b->heads;
        b->room = ready ? room : 0;
        b->width = ready ? width : 0;
    }
    b->bytes = b->room ? (uint8_t *)(b->heads + TILE * stages->second) : NULL;
    return b->room > 0;
}

bool ast_heads_ready(ast_scorer *s, ast_chunk *c, const ast_table *table) {
    if (!s->heads.on || table != c->table || table->count < ast_least_means(&s->heads))
        return false;
    if (!reserve(&c->rivals, table->count, &s->heads.stages, s->rows->chunk) ||
        !ast_mean_heads_sync(&s->heads, s->kernels, c->table, NULL))
        return false;
    if (s->heads.kept.used)
        keep_heads(s, c);
    return true;
}

size_t ast_heads_score(ast_scorer *s, ast_chunk *c, size_t n, bool bounded) {
    tile t = {.s = s, .c = c, .means = c->table->heads, .ids = c->table->ids};
    for (t.first = 0; t.first < n && (t.first == 0 || !ast_pool_stopped(s->pool, c->worker)); t.first += TILE) {
        t.n = n - t.first < TILE ? n - t.first : TILE;
        score_tile(&t, bounded);
    }
    return t.first < n ? t.first : n;
}
