/* SPDX-License-Identifier: MIT
 *
 * Shortest augmenting paths with potentials (Jonker and Volgenant 1987) on the pairs that are allowed. Row i also has
 * column `columns` + i of its own, with gain 0, so that every row finds a column. A row's search visits only the
 * rows and columns that are connected with it.
 *
 * With cost -gain, the potentials u, v keep  cost - u - v >= 0,  = 0 for assigned pairs, and v = 0 for free columns. An
 * assignment is optimal exactly if all its pairs are tight (= 0) and all columns with v < 0 are assigned. So
 * the first of the optimal ones is found on tight pairs alone, by exchanging columns along paths. */
#include "assignment.h"

#include "memory.h"

#include <assert.h>
#include <string.h>

typedef struct matching {
    const ast_gain *pairs;
    size_t rows, columns; /* columns with those of single rows */
    size_t *first;        /* (rows + 1) of the pairs of a row */
    int64_t *u, *v;       /* (rows), (columns) */
    int32_t *owner;       /* (columns) row, or -1 */
    int32_t *column;      /* (rows) */
    int64_t *distance;    /* (columns) of those reached in the search under way */
    int32_t *from;        /* (columns) the row from which it was reached */
    int32_t *reached;     /* (columns) */
    uint8_t *state;       /* (columns) */
    size_t reached_count;
} matching;

enum { UNREACHED, REACHED, SETTLED };

static bool open_matching(matching *m, const ast_gain *pairs, size_t count, size_t rows, size_t columns) {
    size_t all = rows + columns, capacity = 0;
    *m = (matching){.pairs = pairs, .rows = rows, .columns = all};
    if (!ast_ensure_arrays(&capacity, all + 1, AST_REQUEST(m->first, all + 1), AST_REQUEST(m->u, all + 1),
                           AST_REQUEST(m->v, all + 1), AST_REQUEST(m->owner, all + 1), AST_REQUEST(m->column, all + 1),
                           AST_REQUEST(m->distance, all + 1), AST_REQUEST(m->from, all + 1),
                           AST_REQUEST(m->reached, all + 1), AST_REQUEST(m->state, all + 1)))
        return false;
    memset(m->u, 0, (all + 1) * sizeof *m->u);
    memset(m->v, 0, (all + 1) * sizeof *m->v);
    memset(m->state, UNREACHED, all + 1);
    for (size_t j = 0; j < all; j++)
        m->owner[j] = -1;
    size_t at = 0;
    for (size_t i = 0; i <= rows; i++) {
        while (at < count && (size_t)pairs[at].row < i)
            at++;
        m->first[i] = at;
    }
    return true;
}

static void close_matching(matching *m) {
    ast_free_all(m->first, m->u, m->v, m->owner, m->column, m->distance, m->from, m->reached, m->state);
}

/* The pairs of row i, its own column last: number e has this column and reduced cost. false: there is none. */
static bool pair_of(const matching *m, size_t i, size_t e, int32_t *column, int64_t *reduced) {
    size_t count = m->first[i + 1] - m->first[i];
    if (e > count)
        return false;
    const ast_gain *pair = e < count ? &m->pairs[m->first[i] + e] : NULL;
    *column = pair ? pair->column : (int32_t)(m->columns - m->rows + i);
    *reduced = -(pair ? pair->gain : 0) - m->u[i] - m->v[*column];
    return true;
}

static void reach(matching *m, int32_t column, int32_t row, int64_t distance) {
    if (m->state[column] == UNREACHED) {
        m->state[column] = REACHED;
        m->reached[m->reached_count++] = column;
    } else if (m->state[column] == SETTLED || distance >= m->distance[column]) {
        return;
    }
    m->distance[column] = distance;
    m->from[column] = row;
}

static int32_t nearest_reached(const matching *m) {
    int32_t best = -1;
    for (size_t r = 0; r < m->reached_count; r++) {
        int32_t j = m->reached[r];
        if (m->state[j] == REACHED && (best < 0 || m->distance[j] < m->distance[best]))
            best = j;
    }
    return best;
}

static void forget_search(matching *m) {
    for (size_t r = 0; r < m->reached_count; r++)
        m->state[m->reached[r]] = UNREACHED;
    m->reached_count = 0;
}

/* Gives `row` the column `end`, which the search reached from it; rows on the path pass their columns on. The row
 * `rows` has the free column `given`. */
static void exchange(matching *m, int32_t row, int32_t end, int32_t given) {
    for (int32_t j = end, i = -1; i != row;) {
        i = m->from[j];
        bool stays_free = (size_t)i == m->rows;
        int32_t before = stays_free ? given : i == row ? -1 : m->column[i];
        m->owner[j] = stays_free ? -1 : i;
        if (!stays_free)
            m->column[i] = j;
        j = before;
    }
}

/* Finds the shortest path from a row without column to a free column. */
static void add_row(matching *m, int32_t row) {
    int32_t i = row, j, at = -1;
    int64_t length = 0, reduced;
    do {
        for (size_t e = 0; pair_of(m, (size_t)i, e, &j, &reduced); e++)
            reach(m, j, i, length + reduced);
        at = nearest_reached(m);
        assert(at >= 0); /* the row's own column */
        m->state[at] = SETTLED;
        length = m->distance[at];
        i = m->owner[at];
    } while (i >= 0);
    m->u[row] += length;
    for (size_t r = 0; r < m->reached_count; r++) {
        j = m->reached[r];
        if (m->state[j] != SETTLED || j == at)
            continue;
        m->u[m->owner[j]] += length - m->distance[j];
        m->v[j] -= length - m->distance[j];
    }
    exchange(m, row, at, -1);
    forget_search(m);
}

/* Reaches all columns that may be free, from the row `rows`, which stands for all free columns. */
static void reach_free(matching *m) {
    for (size_t j = 0; j < m->columns; j++)
        if (m->v[j] == 0)
            reach(m, (int32_t)j, (int32_t)m->rows, 0);
}

/* Whether row i can have column `wanted` if the rows before it keep theirs; if so, it gets it. The row that had it
 * takes another column, and so on, until the old column of i has a row again. On the way one column that was free may
 * get a row, and another one that may be free loses it. */
static bool take_column(matching *m, int32_t i, int32_t wanted) {
    int32_t old = m->column[i], at = -1, j, free_column = -1;
    int64_t reduced;
    reach(m, wanted, i, 0);
    for (size_t r = 0; r < m->reached_count && at != old; r++) {
        at = m->reached[r];
        int32_t row = m->owner[at];
        if (row < 0 && free_column < 0) {
            free_column = at;
            reach_free(m);
        }
        for (size_t e = 0; at != old && row > i && pair_of(m, (size_t)row, e, &j, &reduced); e++)
            if (reduced == 0)
                reach(m, j, row, 0);
    }
    if (at == old)
        exchange(m, i, old, free_column);
    forget_search(m);
    return at == old;
}

static void prefer_low_columns(matching *m, int32_t i) {
    int32_t j;
    int64_t reduced;
    for (size_t e = 0; pair_of(m, (size_t)i, e, &j, &reduced) && j < m->column[i]; e++)
        if (reduced == 0 && take_column(m, i, j))
            return;
}

bool ast_best_assignment(const ast_gain *pairs, size_t count, size_t rows, size_t columns, int32_t *partner) {
    matching m;
    bool good = open_matching(&m, pairs, count, rows, columns);
    for (size_t i = 0; good && i < rows; i++)
        add_row(&m, (int32_t)i);
    for (size_t i = 0; good && i < rows; i++)
        prefer_low_columns(&m, (int32_t)i);
    for (size_t i = 0; good && i < rows; i++)
        partner[i] = (size_t)m.column[i] < columns ? m.column[i] : -1;
    close_matching(&m);
    return good;
}
