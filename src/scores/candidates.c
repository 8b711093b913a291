/* SPDX-License-Identifier: MIT
 *
 * Scores listed points by heads and tails. For each point: a score of some mean as a lower bound of the best; the
 * candidates, whose upper bounds are no smaller; fewer of them after more coordinates; full scores of the rest. */
#include "best_search.h"
#include "small_large.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define TILE 24                  /* rows whose candidates are listed together: their upper bounds fit into the cache */
#define AHEAD 8                  /* candidates whose heads are prefetched */
#define PARTS 4                  /* parts of the means, for the first scores */
enum { LEADERS = 4, MANY = 32 }; /* if a point has more than MANY candidates, LEADERS of them are scored first */
enum { OWN = -1, NOBODY = -2 };
#define SAME_AS_MEAN 0x1p-18f /* with a score this close to 1, the point may be the only member of its cluster */

/* The score that a search begins with. */
typedef struct seed {
    float score;
    int32_t mean;   /* index of the mean; OWN: the point's own mean; NOBODY: none */
    bool singleton; /* the point seems to be the only member of its cluster: the score is 1, and other means matter if
                       they fit */
} seed;

/* A tile of listed points and their candidates. */
typedef struct tile {
    const ast_scorer *s;
    ast_chunk *c;
    const struct ast_mean_heads *means;
    const int32_t *ids; /* slots of the means */
    size_t first, n;    /* in the list */
    const float *heads[TILE];
    const uint8_t *bytes[TILE];
    float units[TILE], lengths[TILE], tails[2][TILE];
    float extra[TILE]; /* added to the upper bounds of the kernel: slack, and the rounding of the row's bytes */
    seed seeds[TILE];
    float limits[TILE];  /* candidates have upper bounds of at least this */
    float passed[TILE];  /* the largest upper bound below the limit */
    size_t counts[TILE]; /* number of candidates */
} tile;

/* ---- Heads of points --------------------------------------------------------------------------------------------- */

/* Computes the heads of all points of the chunk, unless they were computed in an earlier pass. */
static void keep_heads(ast_scorer *s, ast_chunk *c) {
    ast_heads *h = &s->heads;
    size_t chunk = c->base / s->rows->chunk, width = h->stages.second;
    const float *some = NULL;
    if (h->kept.versions[chunk] == h->version)
        return;
    h->kept.versions[chunk] = h->version;
    ast_rows_load_chunk(s->rows, &c->rows, s->labels, c->base);
    for (size_t j = 0; j < s->rows->chunk && !some; j++)
        some = s->labels[c->base + j] == AST_MISSING ? NULL : c->rows.loaded[j];
    for (size_t j = 0; j < s->rows->chunk && some; j++) /* heads of missing rows are never used */
        c->picked[j] = s->labels[c->base + j] == AST_MISSING ? some : c->rows.loaded[j];
    if (some)
        ast_heads_project(&h->axes, s->kernels, c->picked, s->rows->chunk, width, h->kept.rows + c->base * width);
}

/* Heads of the tile's points: kept ones, or computed now, or the points themselves. */
static void find_heads(tile *t) {
    const ast_heads *h = &t->s->heads;
    const float *const *rows = t->c->picked + t->first;
    size_t width = h->stages.second;
    for (size_t j = 0; j < t->n; j++)
        t->heads[j] = h->stages.raw  ? rows[j]
                      : h->kept.used ? h->kept.rows + (t->c->base + t->c->list[t->first + j]) * width
                                     : t->c->candidates.heads + j * width;
    if (!h->stages.raw && !h->kept.used)
        ast_heads_project(&h->axes, t->s->kernels, rows, t->n, width, t->c->candidates.heads);
}

/* The bytes of the heads, and a bound of their rounding: |x - bytes| times the longest mean. */
static void pack_heads(tile *t) {
    const ast_heads *h = &t->s->heads;
    const ast_stages *s = &h->stages;
    size_t count = ast_byte_count(s), coordinates = s->first - s->plain;
    const ast_basis *axes = s->raw ? NULL : &h->axes;
    for (size_t j = 0; j < t->n; j++) {
        uint8_t *bytes = t->c->candidates.bytes + j * count;
        ast_bytes_made made = {0};
        if (count) {
            made = t->s->kernels->heads.to_bytes(t->heads[j] + s->plain, coordinates, 0, AST_BYTE, bytes);
            memset(bytes + coordinates, 0, count - coordinates);
        }
        t->bytes[j] = bytes;
        t->units[j] = made.unit * s->unit;
        t->lengths[j] = made.length;
        t->extra[j] = made.error * t->means->longest_bytes * (1 + 0x1p-20f) + h->slack;
        t->tails[0][j] = ast_tail_length(axes, t->heads[j], s->first);
        t->tails[1][j] = s->raw ? t->tails[0][j] : ast_tail_length(axes, t->heads[j], s->second);
    }
}

/* ---- A point and its candidates
 * -------------------------------------------------------------------------------------- */

static float full_score(const tile *t, size_t j, size_t mean) {
    size_t dimension = t->s->rows->dimension;
    float score = t->s->kernels->dot(t->c->picked[t->first + j], t->means->means + mean * dimension, dimension);
    return t->s->rows->axial ? fabsf(score) : score;
}

static void score(const tile *t, size_t j, ast_best_search *x, size_t mean) {
    ast_best_search_add(x, full_score(t, j, mean), mean);
    t->c->candidates.products++;
}

/* An upper bound of a candidate's score from all coordinates of the heads, and a likely value of the score. */
static float refined_upper_bound(const tile *t, size_t j, ast_mean_candidate candidate, float *likely) {
    const ast_heads *h = &t->s->heads;
    size_t width = h->stages.second;
    *likely = AST_NO_SCORE;
    if (h->stages.raw)
        return candidate.upper_bound;
    float product = t->s->kernels->dot(t->heads[j], t->means->rows + candidate.mean * width, width);
    float tails = t->tails[1][j] * t->means->last_tails[candidate.mean];
    float upper_bound = (t->s->rows->axial ? fabsf(product) : product) + tails + h->slack;
    *likely = upper_bound - tails / 2;
    return upper_bound < candidate.upper_bound ? upper_bound : candidate.upper_bound;
}

/* Keeps the candidates whose upper bounds are not below the present limit. Returns how many. */
static size_t discard_low(const tile *t, size_t j, ast_best_search *x, ast_mean_candidate *candidates, size_t count) {
    float limit = x->limit - t->extra[j], passed = AST_NO_SCORE;
    size_t left = 0;
    for (size_t r = 0; r < count; r++) {
        ast_mean_candidate candidate = candidates[r];
        bool stays = candidate.upper_bound >= limit;
        passed = ast_larger(passed, stays ? AST_NO_SCORE : candidate.upper_bound);
        candidates[left] = candidate;
        left += stays;
    }
    ast_best_search_discard(x, passed + t->extra[j]);
    return left;
}

/* Prefetches the head of a candidate. */
static void prefetch_head(const tile *t, uint32_t mean) {
    size_t width = t->s->heads.stages.second;
    for (size_t d = 0; d < width; d += AST_PANEL)
        __builtin_prefetch(t->means->rows + mean * width + d);
}

/* Keeps the candidates that pass the second stage. A candidate that is likely to win is scored at once: its score
 * excludes others. */
static size_t refine(const tile *t, size_t j, ast_best_search *x, ast_mean_candidate *candidates, size_t count) {
    size_t left = 0;
    for (size_t r = 0; r < count && r < AHEAD; r++)
        prefetch_head(t, candidates[r].mean);
    for (size_t r = 0; r < count; r++) {
        float likely = AST_NO_SCORE;
        ast_mean_candidate candidate = {candidates[r].mean, candidates[r].upper_bound + t->extra[j]};
        if (r + AHEAD < count)
            prefetch_head(t, candidates[r + AHEAD].mean);
        if (candidate.upper_bound >= x->limit)
            candidate.upper_bound = refined_upper_bound(t, j, candidate, &likely);
        if (candidate.upper_bound < x->limit)
            ast_best_search_discard(x, candidate.upper_bound);
        else if (likely > x->best && !x->singleton)
            score(t, j, x, candidate.mean);
        else
            candidates[left++] = candidate;
    }
    return left;
}

/* Full scores of the candidates. The largest upper bound comes first: its score raises the limit for the others. */
static void score_candidates(const tile *t, size_t j, ast_best_search *x, ast_mean_candidate *list, size_t count) {
    for (size_t r = 1; r < count; r++)
        if (list[r].upper_bound > list[0].upper_bound) {
            ast_mean_candidate swap = list[r];
            list[r] = list[0];
            list[0] = swap;
        }
    for (size_t r = 0; r < count; r++)
        if (list[r].upper_bound < x->limit)
            ast_best_search_discard(x, list[r].upper_bound);
        else
            score(t, j, x, list[r].mean);
}

/* Moves the candidates with the largest upper bounds to the front, in order. Returns their number. */
static size_t find_leaders(ast_mean_candidate *candidates, size_t count) {
    size_t leaders = count < LEADERS ? count : LEADERS;
    for (size_t r = 1; r < count; r++) {
        size_t to = r < leaders ? r : leaders;
        ast_mean_candidate candidate = candidates[r];
        if (to == leaders) {
            if (candidate.upper_bound <= candidates[--to].upper_bound)
                continue;
            candidates[r] = candidates[to];
        }
        for (; to > 0 && candidates[to - 1].upper_bound < candidate.upper_bound; to--)
            candidates[to] = candidates[to - 1];
        candidates[to] = candidate;
    }
    return leaders;
}

/* If there are many candidates, one with a large upper bound probably has a better score than the seed and excludes
 * most others. Returns how many were scored. */
static size_t score_leaders(const tile *t, size_t j, ast_best_search *x, ast_mean_candidate *candidates, size_t count) {
    size_t scored = 0, leaders = count > MANY ? find_leaders(candidates, count) : 0;
    for (; scored < leaders && candidates[scored].upper_bound + t->extra[j] >= x->limit; scored++)
        score(t, j, x, candidates[scored].mean);
    return scored;
}

/* ---- Close calls ------------------------------------------------------------------------------------------------- */

static double exact_score(const tile *t, size_t j, uint32_t mean) {
    size_t dimension = t->s->rows->dimension;
    double score = ast_exact_score(t->c->picked[t->first + j], t->means->means + mean * dimension, dimension);
    return t->s->rows->axial ? fabs(score) : score;
}

/* Decides a point by exact scores if float scores do not, unless it has too many ties. */
static void decide_exactly(tile *t, size_t j, const ast_best_search *x) {
    ast_candidate_buffer *b = &t->c->candidates;
    ast_close_call *c = &b->calls[b->call_count];
    uint32_t best = 0;
    *c = (ast_close_call){t->c->list[t->first + j], x->singleton, AST_NOBODY, -INFINITY, (double)x->rest};
    for (size_t i = 0; i < x->tie_count && i < AST_MAX_TIES; i++) {
        uint32_t mean = x->ties[i].mean;
        double score = exact_score(t, j, mean);
        bool wins = score > c->score || (score == c->score && mean < best);
        c->second = fmax(c->second, wins ? c->score : score);
        if (wins) {
            c->score = score;
            c->slot = t->ids[mean];
            best = mean;
        }
    }
    b->call_count += x->tie_count <= AST_MAX_TIES;
}

static bool is_undecided(const tile *t, const ast_best_search *x) {
    return x->best < ast_deciding_score(t->s, t->c) || x->best - x->second <= t->s->margin;
}

const ast_close_call *ast_close_call_of(const ast_chunk *c, size_t at) {
    size_t first = 0, last = c->candidates.call_count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (c->candidates.calls[middle].at < at)
            first = middle + 1;
        else
            last = middle;
    }
    return first < c->candidates.call_count && c->candidates.calls[first].at == at ? &c->candidates.calls[first] : NULL;
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
                           .candidates = t->c->candidates.list,
                           .counts = t->counts,
                           .upper_bounds = t->c->candidates.upper_bounds,
                           .room = t->c->candidates.room};
}

/* The score with the point's own mean: bounded passes have just computed it, other passes compute it here.
 * AST_NO_SCORE: unknown. */
static float own_score(const tile *t, size_t j, bool bounded) {
    const ast_scorer *s = t->s;
    size_t at = t->c->list[t->first + j], dimension = s->rows->dimension;
    int32_t label = s->labels[t->c->base + at];
    float score = t->c->scores.best[at];
    if (label < 0 || (!bounded && (!s->bounds.on || s->bounds.invalid)))
        return AST_NO_SCORE;
    const float *row = t->c->picked[t->first + j];
    if (!bounded)
        score = s->kernels->dot(row, s->moves.start_means + (size_t)label * dimension, dimension);
    return s->rows->axial && score > AST_NO_SCORE ? fabsf(score) : score;
}

/* A mean matters if it can reach the score of the seed, and fits; for a singleton, if it fits. */
static float limit_of(const tile *t, const seed *x) {
    const ast_heads *h = &t->s->heads;
    float least = x->singleton ? h->floor : ast_larger(x->score, h->floor);
    /* below every score, above that of unused entries */
    return ast_larger(least - h->stages.keep_within, AST_NO_SCORE + 2);
}

/* Searches begin with the score of the point's own mean, if it is known. Returns whether it is known for all points. */
static bool seed_searches(tile *t, bool bounded) {
    bool all = true;
    for (size_t j = 0; j < t->n; j++) {
        float own = own_score(t, j, bounded);
        bool known = own > AST_NO_SCORE;
        bool singleton = known && own > 1 - SAME_AS_MEAN && t->s->heads.floor > AST_NO_SCORE;
        t->seeds[j] = (seed){own, known ? OWN : NOBODY, singleton};
        t->limits[j] = limit_of(t, &t->seeds[j]);
        t->c->candidates.products += known;
        all = all && known;
    }
    return all;
}

/* If no score is known, a search begins with the best of PARTS means: the one with the largest upper bound of each
 * part. */
static void find_seed(tile *t, size_t j, const float *upper_bounds) {
    size_t count = t->means->packed.count, part = count / PARTS / AST_PANEL * AST_PANEL + AST_PANEL;
    for (size_t first = 0; first < count; first += part) {
        size_t some = count - first < part ? count - first : part;
        size_t mean = first + t->s->kernels->heads.largest_upper_bound(upper_bounds + first, some);
        float score = full_score(t, j, mean);
        t->c->candidates.products++;
        if (score > t->seeds[j].score && t->ids[mean] != AST_NOBODY)
            t->seeds[j] = (seed){score, (int32_t)mean, false};
    }
    t->limits[j] = limit_of(t, &t->seeds[j]);
}

static void bound_then_select(tile *t) {
    ast_candidate_buffer *b = &t->c->candidates;
    const ast_head_kernels *kernels = &t->s->kernels->heads;
    ast_head_tile heads = head_tile(t, NULL);
    kernels->store_upper_bounds(&heads, &t->means->packed);
    for (size_t j = 0; j < t->n; j++) {
        const float *upper_bounds = b->upper_bounds + j * b->room;
        if (t->seeds[j].mean == NOBODY)
            find_seed(t, j, upper_bounds);
        t->counts[j] = kernels->select_candidates(upper_bounds, t->means->packed.count, t->limits[j] - t->extra[j],
                                                  b->list + j * b->room, &t->passed[j]);
    }
}

static void find_mean_candidates(tile *t, bool bounded) {
    float limits[TILE];
    if (!seed_searches(t, bounded) && t->s->heads.floor == AST_NO_SCORE) {
        bound_then_select(t);
        return;
    }
    for (size_t j = 0; j < t->n; j++)
        limits[j] = t->limits[j] - t->extra[j];
    ast_head_tile heads = head_tile(t, limits);
    t->s->kernels->heads.list_candidates(&heads, &t->means->packed, t->passed, t->c->scratch);
}

/* Whether a mean is the one that the search began with. */
static bool is_seed(const tile *t, size_t j, uint32_t mean) {
    const seed *x = &t->seeds[j];
    return x->mean == OWN ? t->ids[mean] == t->s->labels[t->c->base + t->c->list[t->first + j]]
                          : x->mean == (int32_t)mean;
}

/* Begins the search with the seed and removes it from the candidates. false: the point's own mean is not among them. */
static bool begin_search(tile *t, size_t j, ast_best_search *x) {
    const seed *own = &t->seeds[j];
    ast_mean_candidate *candidates = t->c->candidates.list + j * t->c->candidates.room;
    size_t left = 0;
    int32_t mean = own->mean;
    float passed = t->passed[j] + t->extra[j];
    *x = (ast_best_search){.best = AST_NO_SCORE,
                           .mean = NOBODY,
                           .second = passed,
                           .rest = passed,
                           .limit = t->limits[j],
                           .margin = t->s->margin,
                           .keep_within = t->s->heads.stages.keep_within,
                           .singleton = own->singleton};
    for (size_t r = 0; r < t->counts[j]; r++)
        if (is_seed(t, j, candidates[r].mean))
            mean = (int32_t)candidates[r].mean;
        else
            candidates[left++] = candidates[r];
    t->counts[j] = left;
    if (!own->singleton && mean >= 0)
        ast_best_search_add(x, own->score, (size_t)mean);
    return mean != OWN;
}

static void finish_search(tile *t, size_t j) {
    ast_best_search x;
    const seed *own = &t->seeds[j];
    ast_mean_candidate *candidates = t->c->candidates.list + j * t->c->candidates.room;
    size_t at = t->first + j;
    if (!begin_search(t, j, &x)) { /* the point's own cluster is no longer in the table with the same mean */
        t->s->kernels->score_rows(t->c->picked + at, 1, t->c->table, ast_scores_at(t->c->compact, at), t->c->scratch);
        t->c->candidates.products += t->c->table->count;
        return;
    }
    size_t scored = score_leaders(t, j, &x, candidates, t->counts[j]);
    candidates += scored;
    size_t left = discard_low(t, j, &x, candidates, t->counts[j] - scored);
    score_candidates(t, j, &x, candidates, refine(t, j, &x, candidates, left));
    if (x.singleton ? ast_larger(x.best, x.rest) + t->s->margin >= t->s->heads.floor : is_undecided(t, &x))
        decide_exactly(t, j, &x);
    t->c->compact.best[at] = x.singleton ? own->score : x.best;
    t->c->compact.second[at] = x.singleton ? ast_larger(x.best, x.second) : x.second;
    t->c->compact.id[at] = x.singleton  ? t->s->labels[t->c->base + t->c->list[at]]
                           : x.mean < 0 ? AST_NOBODY
                                        : t->ids[x.mean];
}

static void score_tile(tile *t, bool bounded) {
    find_heads(t);
    pack_heads(t);
    find_mean_candidates(t, bounded);
    for (size_t j = 0; j < t->n; j++)
        finish_search(t, j);
}

/* ---- A list ------------------------------------------------------------------------------------------------------ */

static bool reserve(ast_candidate_buffer *b, size_t means, const ast_stages *stages, size_t chunk) {
    size_t room = means / AST_PANEL * AST_PANEL + AST_PANEL;
    size_t width = stages->second + ast_byte_count(stages) / sizeof(float);
    if (!b->calls && !ast_replace_arrays(AST_REQUEST(b->calls, chunk)))
        return false;
    if (room > b->room || width > b->width) {
        room = (room + room / 4) / AST_PANEL * AST_PANEL;
        bool ready = ast_replace_arrays(AST_REQUEST(b->list, TILE * room), AST_REQUEST(b->upper_bounds, TILE * room),
                                        AST_REQUEST(b->heads, TILE * width));
        b->room = ready ? room : 0;
        b->width = ready ? width : 0;
    }
    b->bytes = b->room ? (uint8_t *)(b->heads + TILE * stages->second) : NULL;
    return b->room > 0;
}

bool ast_heads_ready(ast_scorer *s, ast_chunk *c, const ast_mean_table *table) {
    if (!s->heads.on || table != c->table || table->count < ast_least_means(&s->heads))
        return false;
    if (!reserve(&c->candidates, table->count, &s->heads.stages, s->rows->chunk) ||
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
