/* SPDX-License-Identifier: MIT
 *
 * Labels are usually 0..K-1 already: a table of marks shows this in one sweep, and then nothing is copied. */
#include "partition.h"

#include "memory.h"
#include "random.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool grow(ast_counter *counter);
static size_t slot_of(const ast_counter *counter, uint64_t key);

bool ast_counter_add(ast_counter *counter, uint64_t key, uint64_t amount, uint32_t *index) {
    if (2 * counter->used >= counter->capacity && !grow(counter))
        return false;
    size_t slot = slot_of(counter, key);
    if (counter->slots[slot] == 0) {
        assert(2 * counter->used < counter->capacity && counter->used < UINT32_MAX);
        counter->entries[counter->used++] = (ast_counter_entry){key, 0};
        counter->slots[slot] = (uint32_t)counter->used;
    }
    uint32_t position = counter->slots[slot] - 1;
    counter->entries[position].count += amount;
    if (index)
        *index = position;
    return true;
}

void ast_counter_free(ast_counter *counter) {
    ast_free_all(counter->entries, counter->slots);
    *counter = (ast_counter){0};
}

/* Linear probing: the slot that holds the key, or the empty slot where it belongs. */
static size_t slot_of(const ast_counter *counter, uint64_t key) {
    size_t mask = counter->capacity - 1, slot = ast_mix64(key) & mask;
    while (counter->slots[slot] != 0 && counter->entries[counter->slots[slot] - 1].key != key)
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow(ast_counter *counter) {
    size_t capacity = counter->capacity ? 2 * counter->capacity : 256;
    uint32_t *slots = ast_allocate_zero(capacity, sizeof *slots);
    if (!slots || !ast_grow_array(&counter->entries, counter->used, capacity / 2, sizeof *counter->entries)) {
        ast_free(slots);
        return false;
    }
    ast_free(counter->slots);
    counter->slots = slots;
    counter->capacity = capacity;
    for (size_t i = 0; i < counter->used; i++)
        slots[slot_of(counter, counter->entries[i].key)] = (uint32_t)i + 1;
    return true;
}

/* Adds the entries of rank `sender`; `part` has room for them. */
static bool add_part(ast_counter *all, const ast_comm *comm, const ast_counter *mine, ast_counter_entry *part,
                     int sender) {
    uint64_t used = mine->used;
    bool ready = true;
    ast_comm_broadcast(comm, &used, sizeof used, sender);
    if (sender == comm->rank && used)
        memcpy(part, mine->entries, used * sizeof *part);
    ast_comm_broadcast(comm, part, used * sizeof *part, sender);
    for (size_t i = 0; i < used && ready; i++)
        ready = ast_counter_add(all, part[i].key, part[i].count, NULL);
    return ready;
}

bool ast_counter_share(ast_counter *counter, const ast_comm *comm) {
    if (!ast_comm_many(comm))
        return true;
    uint64_t used;
    ast_counter all = {0};
    ast_comm_before(comm, counter->used, &used);
    ast_counter_entry *part = ast_allocate(used + 1, sizeof *part);
    bool ready = ast_comm_first_rank(comm, !part) < 0, added = true;
    for (int sender = 0; ready && sender < comm->ranks; sender++)
        added = add_part(&all, comm, counter, part, sender) && added;
    ready = ready && ast_comm_first_rank(comm, !added) < 0;
    ast_free(part);
    ast_counter_free(counter);
    *counter = all;
    return ready;
}

/* ---- Partitions ------------------------------------------------------------------------------------------------ */

/* Labels below `range`: renumbers them in order of label, without gaps. */
static bool renumber_by_table(const int32_t *labels, size_t count, size_t range, ast_partition *partition) {
    int32_t *table = ast_allocate_zero(range, sizeof *table);
    if (!table)
        return false;
    size_t clusters = 0, seen = 0;
    for (size_t i = 0; i < count && seen < range; i++) /* without gaps this ends early */
        if (labels[i] >= 0 && !table[labels[i]]) {
            table[labels[i]] = 1;
            seen++;
        }
    for (size_t label = 0; label < range; label++)
        if (table[label])
            table[label] = (int32_t)clusters++;
    partition->clusters = clusters;
    partition->cluster = labels;
    assert(clusters == seen && seen <= range);
    if (clusters < range && (partition->cluster = partition->renumbered = ast_allocate(count, sizeof *labels)))
        for (size_t i = 0; i < count; i++)
            partition->renumbered[i] = labels[i] < 0 ? -1 : table[labels[i]];
    ast_free(table);
    return partition->cluster != NULL;
}

/* Whether labels below `range`, of `count` points, are numbered by a table. */
static bool is_dense(size_t range, size_t count) {
    return range <= 4 * count + 1024;
}

static int by_key(const void *a, const void *b) {
    const ast_counter_entry *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* The new number of each label in the counter, which holds the labels of all ranks: the same as for one process. */
static int32_t *number_labels(const ast_counter *counter, size_t count) {
    ast_counter_entry *sorted = NULL;
    int32_t *number = NULL;
    uint64_t largest = 0;
    if (!ast_replace_arrays(AST_REQUEST(sorted, counter->used), AST_REQUEST(number, counter->used)))
        return NULL;
    for (size_t k = 0; k < counter->used; k++) {
        largest = counter->entries[k].key > largest ? counter->entries[k].key : largest;
        sorted[k] = (ast_counter_entry){counter->entries[k].key, k};
        number[k] = (int32_t)k;
    }
    if (is_dense(largest + 1, count)) {
        qsort(sorted, counter->used, sizeof *sorted, by_key);
        for (size_t k = 0; k < counter->used; k++)
            number[sorted[k].count] = (int32_t)k;
    }
    ast_free(sorted);
    return number;
}

static bool renumber(const int32_t *labels, size_t count, ast_counter *counter, const int32_t *number,
                     int32_t *renumbered) {
    bool ready = number && renumbered;
    for (size_t i = 0; i < count && ready; i++) {
        uint32_t index = 0;
        ready = labels[i] < 0 || ast_counter_add(counter, (uint64_t)labels[i], 0, &index);
        renumbered[i] = labels[i] < 0 || !ready ? -1 : number[index];
    }
    return ready;
}

/* Labels far apart, or multiple ranks: counts the labels of all ranks in a hash table. */
static ast_status number_by_count(ast_fault *fault, const ast_comm *comm, const int32_t *labels, size_t count,
                                  ast_partition *partition) {
    ast_counter counter = {0};
    uint64_t all;
    bool ready = true;
    for (size_t i = 0; ready && i < count; i++)
        ready = labels[i] < 0 || ast_counter_add(&counter, (uint64_t)labels[i], 1, NULL);
    ready = ast_comm_first_rank(comm, !ready) < 0 && ast_counter_share(&counter, comm);
    ast_comm_before(comm, count, &all);
    int32_t *number = ready ? number_labels(&counter, all) : NULL;
    partition->cluster = partition->renumbered = ast_allocate(count + 1, sizeof *labels);
    partition->clusters = counter.used;
    for (size_t k = 0; k < counter.used; k++)
        partition->points += counter.entries[k].count;
    ready = renumber(labels, count, &counter, number, partition->renumbered);
    ast_free(number);
    ast_counter_free(&counter);
    return ast_comm_agree(comm, ready ? AST_OK : ast_fail_memory(fault), fault);
}

ast_status ast_partition_make(ast_fault *fault, const ast_comm *comm, const int32_t *labels, size_t count,
                              ast_partition *partition) {
    int32_t largest = -1;
    size_t points = 0;
    for (size_t i = 0; i < count; i++) {
        largest = labels[i] > largest ? labels[i] : largest;
        points += labels[i] >= 0;
    }
    size_t range = (size_t)((int64_t)largest + 1);
    if (ast_comm_many(comm) || !is_dense(range, count))
        return number_by_count(fault, comm, labels, count, partition);
    partition->points = points;
    return range == 0 || renumber_by_table(labels, count, range, partition) ? AST_OK : ast_fail_memory(fault);
}

void ast_partition_free(ast_partition *partition) {
    ast_free(partition->renumbered);
    *partition = (ast_partition){0};
}
