/* SPDX-License-Identifier: MIT
 *
 * Identity management: the caller names, joins, splits, forgets and locks ids of a stream between two frames. Each call
 * checks everything and reserves all memory before it changes anything. */
#include "context.h"

#include "memory.h"
#include "stream.h"
#include "stream_input.h"
#include "vectors.h"

#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status check_stream(ast_stream *s) {
    bool kept = s->options.method == AST_STREAM_DDP && s->options.lifetime > 1;
    return kept ? AST_OK
                : ast_fail(s->fault, AST_BAD_OPTION,
                           "identities are managed in streams of AST_STREAM_DDP with a lifetime of 2 or more");
}

/* *first: the first track of the id. */
static ast_status check_id(ast_stream *s, int32_t id, size_t *first) {
    *first = ast_stream_find_id(s, id);
    return *first < s->count
               ? AST_OK
               : ast_fail(s->fault, AST_BAD_DATA, "the stream has no id %d: it never had, or it died", id);
}

/* *taken: the rows as the stream takes them. */
static ast_status take_rows(ast_stream *s, const ast_points *rows, const char *what, ast_points *taken) {
    float row[AST_MAX_DIMENSION];
    ast_status status = ast_check_points(rows, s->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(rows, what, s->fault);
    if (status != AST_OK)
        return status;
    if (rows->dimension != s->options.dimension)
        return ast_fail(s->fault, AST_BAD_DATA, "the rows have %zu components; the stream has %zu", rows->dimension,
                        s->options.dimension);
    if (rows->count == 0)
        return ast_fail(s->fault, AST_BAD_DATA, "there are no rows; %s needs one or more", what);
    for (size_t i = 0; i < rows->count; i++) {
        ast_row_kind kind = ast_read_row(rows, i, row);
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            return ast_fail_row(s->fault, AST_BAD_DATA, i + 1, "has no direction; %s needs rows with numbers", what);
    }
    return ast_stream_prepare_points(s, rows, false, taken);
}

static ast_status check_new_id(ast_stream *s) {
    return s->next_id < INT32_MAX ? AST_OK
                                  : ast_fail(s->fault, AST_BAD_DATA, "the stream has used up its ids; open a new one");
}

/* NULL and "" are no name. id: that gets the name; -1: a new one. */
static ast_status check_name(ast_stream *s, const char *name, int32_t id) {
    size_t bytes = name ? strlen(name) : 0;
    if (bytes >= AST_NAME_BYTES)
        return ast_fail(s->fault, AST_BAD_OPTION, "the name has %zu bytes; a name has at most %d", bytes,
                        AST_NAME_BYTES - 1);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127)
            return ast_fail(s->fault, AST_BAD_OPTION, "the name has a control character; a name is one line of text");
    for (size_t n = 0; n < s->known.name_count && bytes; n++)
        if (s->known.names[n].id != id && strcmp(s->known.names[n].text, name) == 0)
            return ast_fail(s->fault, AST_BAD_DATA, "%s is the name of id %d already; join the two, or choose another",
                            name, s->known.names[n].id);
    return AST_OK;
}

/* Memory for so many further means, forbidden rows, and one entry each of names, pairs and log. */
static ast_status reserve(ast_stream *s, size_t means, size_t barred) {
    ast_identities *known = &s->known;
    size_t rows = known->barred_count, row_bytes = s->options.dimension * sizeof *known->barred_rows;
    bool good =
        ast_stream_reserve(s, s->count + means) && ast_stream_reserve_record_list(s, s->count + means + 1) &&
        ast_stream_reserve_apart(s, 1) &&
        ast_reserve(&known->names, &known->name_capacity, known->name_count, known->name_count + 1,
                    sizeof *known->names) &&
        ast_reserve(&known->log, &known->log_capacity, known->log_count, known->log_count + 1, sizeof *known->log) &&
        ast_reserve(&known->barred, &known->barred_capacity, rows, rows + barred, sizeof *known->barred) &&
        ast_reserve(&known->barred_rows, &known->barred_row_capacity, rows, rows + barred, row_bytes);
    return good ? AST_OK : ast_fail_memory(s->fault);
}

/* ---- Parts of changes -------------------------------------------------------------------------------------------- */

static void end_change(ast_stream *s, ast_identity_event kind, int32_t id, int32_t other, size_t rows) {
    s->known.log[s->known.log_count++] =
        (ast_identity_change){.frame = s->frame, .kind = kind, .id = id, .other = other, .rows = (uint32_t)rows};
    s->changes.whole = true;
    s->records.count = 0;
    s->records.stale = true;
}

static void set_flag(const ast_stream *s, int32_t id, uint32_t flag, bool on) {
    size_t first = ast_stream_find_id(s, id);
    for (size_t k = first; k < ast_stream_end_of_id(s, first); k++)
        s->track[k].flags = on ? s->track[k].flags | flag : s->track[k].flags & ~flag;
}

static void set_name(ast_stream *s, int32_t id, const char *name) {
    ast_identities *known = &s->known;
    size_t at = 0, count = known->name_count;
    while (at < count && known->names[at].id < id)
        at++;
    bool has = at < count && known->names[at].id == id, named = name && *name;
    size_t after = count - at - has;
    memmove(known->names + at + named, known->names + at + has, after * sizeof *known->names);
    known->name_count = at + named + after;
    if (!named || !name)
        return;
    known->names[at] = (ast_stream_name_of){.id = id};
    memcpy(known->names[at].text, name, strlen(name));
    set_flag(s, id, AST_KNOWN, true);
}

/* The track of the id that is nearest to the row; *cosine with it. */
static size_t nearest_track(const ast_stream *s, int32_t id, const float *x, double *cosine) {
    size_t first = ast_stream_find_id(s, id), best = first;
    *cosine = -4;
    for (size_t k = first; k < ast_stream_end_of_id(s, first); k++) {
        double one = ast_stream_closeness(s, x, s->m + k * s->options.dimension);
        best = one > *cosine ? k : best;
        *cosine = one > *cosine ? one : *cosine;
    }
    return best;
}

/* Adds the row to the points behind track k, or takes it away again. A track of one row keeps it. */
static void shift_mean(const ast_stream *s, size_t k, const float *x, double sign) {
    const size_t dimension = s->options.dimension;
    ast_track *track = &s->track[k];
    float *m = s->m + k * dimension;
    double sum[AST_MAX_DIMENSION];
    double side = s->options.axial && ast_exact_score(m, x, dimension) < 0 ? -sign : sign;
    if (track->flags & AST_LOCKED || (sign < 0 && (track->weight <= 1 || track->rows <= 1)))
        return;
    for (size_t d = 0; d < dimension; d++)
        sum[d] = track->weight * (double)m[d] + side * (double)x[d];
    double length = ast_normalise(sum, dimension);
    if (!(length > track->weight * 0x1p-20))
        return;
    track->weight = length;
    track->rows += sign;
    for (size_t d = 0; d < dimension; d++)
        m[d] = (float)sum[d];
}

/* Adds a mean of one row to an id, whose tracks are first..end-1. */
static void insert_mean(ast_stream *s, size_t first, size_t end, int32_t id, const float *x) {
    uint32_t flags = end > first ? s->track[first].flags : AST_KNOWN;
    ast_track track = {
        .id = id, .part = (uint32_t)(end - first), .dt = 1, .flags = flags, .weight = 1, .n_prev = 1, .rows = 1};
    track.sightings = end > first ? s->track[first].sightings : s->options.born_after;
    track.dt = end > first ? s->track[first].dt : 1;
    ast_stream_insert(s, end, &track, x, x);
}

/* Rows that fit a mean of the id count in it; others become further means. */
static void add_rows(ast_stream *s, int32_t id, const ast_points *rows) {
    float x[AST_MAX_DIMENSION];
    for (size_t i = 0; i < rows->count; i++) {
        double cosine;
        ast_read_row(rows, i, x);
        size_t first = ast_stream_find_id(s, id);
        if (first == s->count) {
            insert_mean(s, s->count, s->count, id, x);
            continue;
        }
        size_t near = nearest_track(s, id, x, &cosine);
        if (cosine >= ast_stream_fit_limit(s, s->track[near].rows))
            shift_mean(s, near, x, 1);
        else
            insert_mean(s, first, ast_stream_end_of_id(s, first), id, x);
    }
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static ast_status name_id(ast_stream *s, int32_t id, const char *name) {
    size_t first;
    ast_status status = check_id(s, id, &first);
    if (status == AST_OK)
        status = check_name(s, name, id);
    if (status == AST_OK)
        status = reserve(s, 0, 0);
    if (status != AST_OK)
        return status;
    set_name(s, id, name);
    end_change(s, AST_IDENTITY_NAMED, id, -1, 0);
    return AST_OK;
}

static ast_status enroll(ast_stream *s, const ast_points *rows, const char *name, int32_t *id) {
    size_t first;
    ast_points taken;
    ast_status status = ast_check_pointer(id, "id", s->fault);
    if (status == AST_OK)
        status = take_rows(s, rows, "an identity", &taken);
    if (status != AST_OK)
        return status;
    status = *id < 0 ? check_new_id(s) : check_id(s, *id, &first);
    if (status == AST_OK && *id >= 0 && name)
        status = ast_fail(s->fault, AST_BAD_OPTION, "rows of id %d come without a name; ast_stream_name names it", *id);
    if (status == AST_OK)
        status = check_name(s, name, -1);
    if (status == AST_OK)
        status = reserve(s, rows->count, 0);
    if (status != AST_OK)
        return status;
    *id = *id < 0 ? s->next_id++ : *id;
    add_rows(s, *id, &taken);
    if (name)
        set_name(s, *id, name);
    end_change(s, AST_IDENTITY_ENROLLED, *id, -1, rows->count);
    return AST_OK;
}

static ast_status join(ast_stream *s, int32_t from, int32_t into) {
    size_t first;
    ast_status status = check_id(s, from, &first);
    if (status == AST_OK)
        status = check_id(s, into, &first);
    if (status == AST_OK && from == into)
        status = ast_fail(s->fault, AST_BAD_OPTION, "id %d cannot be joined into itself", from);
    if (status == AST_OK)
        status = reserve(s, 1, 0);
    if (status != AST_OK)
        return status;
    ast_stream_retire_id(s, from, into);
    ast_stream_join_ids(s, from, into);
    ast_identities_prune(s);
    end_change(s, AST_IDENTITY_JOINED, from, into, 0);
    return AST_OK;
}

/* Mean number `mean` of several becomes an id of its own. */
static void split_mean(ast_stream *s, int32_t id, size_t mean, int32_t born) {
    const size_t dimension = s->options.dimension, k = ast_stream_find_id(s, id) + mean;
    ast_track track = s->track[k];
    float m[AST_MAX_DIMENSION], u[AST_MAX_DIMENSION];
    memcpy(m, s->m + k * dimension, dimension * sizeof *m);
    memcpy(u, s->data_direction + k * dimension, dimension * sizeof *u);
    track.id = born;
    track.part = 0;
    track.met = (ast_met){0};
    ast_stream_remove(s, k);
    ast_stream_insert(s, s->count, &track, m, u);
}

static void split_rows(ast_stream *s, int32_t id, const ast_points *rows, int32_t born) {
    float x[AST_MAX_DIMENSION];
    double cosine;
    for (size_t i = 0; i < rows->count; i++) {
        ast_read_row(rows, i, x);
        shift_mean(s, nearest_track(s, id, x, &cosine), x, -1);
    }
    add_rows(s, born, rows);
    set_flag(s, born, AST_KNOWN, false);
}

static ast_status split(ast_stream *s, int32_t id, const ast_points *rows, size_t mean, int32_t *born) {
    size_t first;
    ast_points taken;
    ast_status status = ast_check_pointer(born, "born", s->fault);
    if (status == AST_OK)
        status = check_id(s, id, &first);
    if (status == AST_OK && rows)
        status = take_rows(s, rows, "a split", &taken);
    if (status != AST_OK)
        return status;
    size_t means = ast_stream_end_of_id(s, first) - first;
    if (!rows && (mean >= means || means == 1))
        return ast_fail(s->fault, AST_BAD_OPTION, "id %d has %zu mean%s, so mean %zu (counting from 0) cannot leave it",
                        id, means, means == 1 ? "" : "s", mean);
    status = check_new_id(s);
    if (status == AST_OK)
        status = reserve(s, rows ? rows->count : 1, 0);
    if (status != AST_OK)
        return status;
    *born = s->next_id++;
    if (rows)
        split_rows(s, id, &taken, *born);
    else
        split_mean(s, id, mean, *born);
    ast_stream_keep_apart(s, id, *born);
    end_change(s, AST_IDENTITY_SPLIT, id, *born, rows ? rows->count : 0);
    return AST_OK;
}

/* Forbidden rows of other ids that fit a mean of this one are its rows. */
static void forget_rows(ast_stream *s, int32_t id) {
    ast_identities *known = &s->known;
    const size_t dimension = s->options.dimension;
    size_t kept = 0;
    for (size_t b = 0; b < known->barred_count; b++) {
        double cosine;
        size_t near = nearest_track(s, id, known->barred_rows + b * dimension, &cosine);
        if (known->barred[b] == id || cosine >= ast_stream_fit_limit(s, s->track[near].rows))
            continue;
        memmove(known->barred_rows + kept * dimension, known->barred_rows + b * dimension,
                dimension * sizeof *known->barred_rows);
        known->barred[kept++] = known->barred[b];
    }
    memset(known->barred_rows + kept * dimension, 0,
           (known->barred_count - kept) * dimension * sizeof *known->barred_rows);
    known->barred_count = kept;
}

static ast_status forget(ast_stream *s, int32_t id) {
    size_t first;
    ast_status status = check_id(s, id, &first);
    if (status == AST_OK)
        status = reserve(s, 0, 1);
    if (status != AST_OK)
        return status;
    forget_rows(s, id);
    while (first < s->count && s->track[first].id == id)
        ast_stream_remove(s, first);
    set_name(s, id, NULL);
    ast_stream_retire_id(s, id, -1);
    ast_identities_prune(s);
    end_change(s, AST_IDENTITY_FORGOTTEN, id, -1, 0);
    if (s->records.means)
        memset(s->records.means, 0, s->records.mean_capacity * s->options.dimension * sizeof *s->records.means);
    return AST_OK;
}

static ast_status forbid(ast_stream *s, int32_t id, const ast_points *rows) {
    ast_identities *known = &s->known;
    const size_t dimension = s->options.dimension;
    size_t first;
    ast_points taken;
    ast_status status = check_id(s, id, &first);
    if (status == AST_OK)
        status = take_rows(s, rows, "forbidding", &taken);
    if (status == AST_OK && s->options.rigid)
        status = ast_fail(s->fault, AST_BAD_OPTION, "rows cannot be forbidden in a stream that is rigid");
    if (status == AST_OK)
        status = reserve(s, 0, rows->count);
    if (status != AST_OK)
        return status;
    size_t at = 0, count = rows->count;
    while (at < known->barred_count && known->barred[at] <= id)
        at++;
    memmove(known->barred + at + count, known->barred + at, (known->barred_count - at) * sizeof *known->barred);
    memmove(known->barred_rows + (at + count) * dimension, known->barred_rows + at * dimension,
            (known->barred_count - at) * dimension * sizeof *known->barred_rows);
    for (size_t i = 0; i < count; i++) {
        ast_read_row(&taken, i, known->barred_rows + (at + i) * dimension);
        known->barred[at + i] = id;
    }
    known->barred_count += count;
    end_change(s, AST_IDENTITY_FORBIDDEN, id, -1, count);
    return AST_OK;
}

static ast_status lock(ast_stream *s, int32_t id, bool on) {
    size_t first;
    ast_status status = check_id(s, id, &first);
    if (status == AST_OK)
        status = reserve(s, 0, 0);
    if (status != AST_OK)
        return status;
    set_flag(s, id, AST_LOCKED, on);
    end_change(s, on ? AST_IDENTITY_LOCKED : AST_IDENTITY_UNLOCKED, id, -1, 0);
    return AST_OK;
}

static ast_status set(ast_stream *s, const ast_stream_options *options) {
    const char *problem = ast_size_problem(options, sizeof *options);
    ast_stream_options mine = s->options;
    if (!problem) {
        mine.angle = options->angle;
        mine.drift = options->drift;
        mine.lifetime = options->lifetime;
        problem = ast_stream_options_problem(&mine);
    }
    if (!problem && mine.lifetime < 2)
        problem = "the lifetime must be at least 2: with less every id ends with its frame";
    ast_status status = problem ? ast_fail_option(problem, s->fault) : reserve(s, 0, 0);
    if (status != AST_OK)
        return status;
    s->options = mine;
    end_change(s, AST_IDENTITY_SET, -1, -1, 0);
    return AST_OK;
}

/* ---- Entry points ------------------------------------------------------------------------------------------------ */

/* Begins a call; false: the stream does not take it, and *status is what to return. */
static bool begin(ast_stream *s, const char *function, ast_status *status) {
    *status = AST_BAD_OPTION;
    if (!ast_enter_call(s ? s->context : NULL, function))
        return false;
    *status = check_stream(s);
    if (*status != AST_OK)
        ast_leave(s->context, *status);
    return *status == AST_OK;
}

#define ENTRY(stream, call)                                                                                            \
    ast_status status;                                                                                                 \
    return begin(stream, __func__, &status) ? ast_leave((stream)->context, call) : status

ast_status ast_stream_name(ast_stream *s, int32_t id, const char *name) {
    ENTRY(s, name_id(s, id, name));
}

ast_status ast_stream_enroll(ast_stream *s, const ast_points *rows, const char *name, int32_t *id) {
    ENTRY(s, enroll(s, rows, name, id));
}

ast_status ast_stream_join(ast_stream *s, int32_t from, int32_t into) {
    ENTRY(s, join(s, from, into));
}

ast_status ast_stream_split(ast_stream *s, int32_t id, const ast_points *rows, size_t mean, int32_t *born) {
    ENTRY(s, split(s, id, rows, mean, born));
}

ast_status ast_stream_forget(ast_stream *s, int32_t id) {
    ENTRY(s, forget(s, id));
}

ast_status ast_stream_forbid(ast_stream *s, int32_t id, const ast_points *rows) {
    ENTRY(s, forbid(s, id, rows));
}

ast_status ast_stream_lock(ast_stream *s, int32_t id) {
    ENTRY(s, lock(s, id, true));
}

ast_status ast_stream_unlock(ast_stream *s, int32_t id) {
    ENTRY(s, lock(s, id, false));
}

ast_status ast_stream_set(ast_stream *s, const ast_stream_options *options) {
    ENTRY(s, set(s, options));
}

/* ---- What is known ----------------------------------------------------------------------------------------------- */

static size_t count_barred(const ast_identities *known, int32_t id) {
    size_t count = 0;
    for (size_t b = 0; b < known->barred_count; b++)
        count += known->barred[b] == id;
    return count;
}

static size_t list_ids(ast_stream *s) {
    ast_identities *known = &s->known;
    size_t count = 0, name = 0;
    for (size_t k = 0, end; k < s->count; k = end) {
        const ast_track *track = &s->track[k];
        end = ast_stream_end_of_id(s, k);
        while (name < known->name_count && known->names[name].id < track->id)
            name++;
        bool named = name < known->name_count && known->names[name].id == track->id;
        ast_identity one = {.id = track->id,
                            .means = end - k,
                            .mean = s->m + k * s->options.dimension,
                            .age = track->dt - 1,
                            .locked = (track->flags & AST_LOCKED) != 0,
                            .forbidden = known->barred_count ? count_barred(known, track->id) : 0,
                            .name = named ? known->names[name].text : NULL};
        for (size_t e = k; e < end; e++)
            one.weight += s->track[e].weight;
        known->list[count++] = one;
    }
    return count;
}

const ast_identity *ast_stream_list(ast_stream *s, size_t record, size_t *count) {
    if (count)
        *count = 0;
    if (!ast_enter(s ? s->context : NULL))
        return NULL;
    ast_identities *known = &s->known;
    if (!ast_reserve(&known->list, &known->list_capacity, 0, s->count + 1, sizeof *known->list)) {
        ast_leave(s->context, ast_fail_memory(s->fault));
        return NULL;
    }
    size_t found = list_ids(s);
    ast_leave(s->context, AST_OK);
    return ast_records_of_size(known->list, found, sizeof(ast_identity), record, count);
}

const ast_identity_change *ast_stream_changes(const ast_stream *s, size_t record, size_t *count) {
    return ast_records_of_size(s ? s->known.log : NULL, s ? s->known.log_count : 0, sizeof(ast_identity_change), record,
                               count);
}
