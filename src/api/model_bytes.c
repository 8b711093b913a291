/* SPDX-License-Identifier: MIT
 *
 * A model as bytes (saved.h): the head, a JSON object that lists the arrays and ends at a multiple of 64 bytes, the
 * arrays, each padded to a multiple of 8 bytes, and the checksum. A model has exactly one possible header, so reading
 * needs no parser of JSON: it takes the numbers out of the text, writes the header again, and compares. */
#include "model.h"

#include "memory.h"
#include "saved.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x314c444d5f545341u /* "AST_MDL1" in memory */
#define VERSION 1
#define MOST_HEADER ((size_t)8192)
#define HEADER_STEP ((size_t)64) /* of the head and the header together */

typedef struct model_head {
    uint64_t magic, version, size, header;
} model_head;

static const ast_saved_format format = {.magic = MAGIC,
                                        .version = VERSION,
                                        .head = sizeof(model_head),
                                        .unit = 8,
                                        .name = "model",
                                        .no_magic = "this is no model",
                                        .on_version = ", so write the model again with it"};

const char *const ast_model_methods[AST_MODEL_METHODS] = {
    [AST_DP] = "dp",   [AST_SPKM] = "spkm",   [AST_MOVMF] = "movmf",     [AST_FSD] = "fsd",
    [AST_CRP] = "crp", [AST_OSPKM] = "ospkm", [AST_DPMEANS] = "dpmeans", [AST_MBSPKM] = "mbspkm"};

/* ---- The arrays -------------------------------------------------------------------------------------------------- */

enum { NUMBERS = 2 }; /* angle, background */

/* An array of the file, and the pointer to it. Names are one after the other, each with a zero at its end. */
typedef struct part {
    const char *name, *type;
    size_t item, rows, columns; /* columns 0: it has one dimension */
    const void *from;           /* NULL: the model has no such array */
    size_t field;               /* of the pointer in ast_model_info */
} part;

enum { PARTS = 15, NAMES = PARTS - 1 };

#define FIELD(name) offsetof(ast_model_info, name)

/* The arrays of a model of these numbers. */
static void list_parts(const ast_model_info *m, const double numbers[NUMBERS], size_t names, part parts[PARTS]) {
    size_t k = m->clusters, d = m->dimension;
    const part list[PARTS] = {{"numbers", "<f8", 8, NUMBERS, 0, numbers, 0},
                              {"means", "<f4", 4, k, d, m->means, FIELD(means)},
                              {"ids", "<i4", 4, k, 0, m->ids, FIELD(ids)},
                              {"counts", "<u8", 8, k, 0, m->counts, FIELD(counts)},
                              {"kappas", "<f8", 8, k, 0, m->kappas, FIELD(kappas)},
                              {"shares", "<f8", 8, k, 0, m->shares, FIELD(shares)},
                              {"lengths", "<f8", 8, k, 0, m->lengths, FIELD(lengths)},
                              {"thresholds", "<f4", 4, k, 0, m->thresholds, FIELD(thresholds)},
                              {"fits", "<f4", 4, k, 0, m->fits, FIELD(fits)},
                              {"center", "<f4", 4, d, 0, m->center, FIELD(center)},
                              {"matrix", "<f4", 4, d, d, m->matrix, FIELD(matrix)},
                              {"mapped_center", "<f4", 4, d, 0, m->mapped_center, FIELD(mapped_center)},
                              {"betas", "<f8", 8, k, 0, m->betas, FIELD(betas)},
                              {"axes", "<f4", 4, k, 6, m->axes, FIELD(axes)},
                              {"names", "|u1", 1, names, 0, m->names, FIELD(names)}};
    memcpy(parts, list, sizeof list);
}

/* SIZE_MAX: more than there can be. */
static size_t part_bytes(const part *p) {
    size_t columns = p->columns ? p->columns : 1;
    if (p->rows > SIZE_MAX / 16 / p->item / columns)
        return SIZE_MAX;
    return (p->rows * columns * p->item + 7) / 8 * 8;
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

typedef struct header_text {
    char text[MOST_HEADER];
    size_t size;
} header_text;

#define PUT(h, ...) ((h)->size += (size_t)snprintf((h)->text + (h)->size, MOST_HEADER - (h)->size, __VA_ARGS__))

/* Offsets are from the first byte behind the header. false: the arrays have more bytes than there can be. */
static bool write_header(const ast_model_info *m, const part parts[PARTS], header_text *h, size_t *arrays) {
    const char *comma = "";
    h->size = *arrays = 0;
    PUT(h, "{\"asterism\": \"model\", \"method\": \"%s\", \"dimension\": %zu, \"clusters\": %zu, \"axial\": %s, ",
        ast_model_methods[m->method], m->dimension, m->clusters, m->axial ? "true" : "false");
    PUT(h, "\"next_id\": %d,\n \"arrays\": {", m->next_id);
    for (const part *p = parts; p < parts + PARTS; p++) {
        size_t bytes = p->from ? part_bytes(p) : 0;
        if (!p->from)
            continue;
        if (bytes > SIZE_MAX / 2 - *arrays)
            return false;
        PUT(h, "%s\n  \"%s\": {\"type\": \"%s\", \"shape\": [%zu", comma, p->name, p->type, p->rows);
        if (p->columns)
            PUT(h, ", %zu", p->columns);
        PUT(h, "], \"offset\": %zu}", *arrays);
        comma = ",";
        *arrays += bytes;
    }
    PUT(h, "}}");
    while ((sizeof(model_head) + h->size + 1) % HEADER_STEP != 0)
        PUT(h, " ");
    PUT(h, "\n");
    assert(h->size < MOST_HEADER);
    return true;
}

/* The whole number behind this text, or 0 without the text. */
static size_t number_after(const char *text, const char *before) {
    const char *at = strstr(text, before);
    return at ? (size_t)strtoull(at + strlen(before), NULL, 10) : 0;
}

/* Takes the numbers, and which arrays there are, out of a header. Arrays that are there get a pointer that is not NULL.
 * Returns the bytes of the names. */
static size_t scan_header(const char *text, ast_model_info *m) {
    char word[64];
    part parts[PARTS];
    const double numbers[NUMBERS] = {0};
    *m = (ast_model_info){.size = sizeof *m,
                          .dimension = number_after(text, "\"dimension\": "),
                          .clusters = number_after(text, "\"clusters\": "),
                          .axial = strstr(text, "\"axial\": true") != NULL,
                          .next_id = (int32_t)number_after(text, "\"next_id\": ")};
    for (int i = 0; i < AST_MODEL_METHODS; i++) {
        snprintf(word, sizeof word, "\"method\": \"%s\"", ast_model_methods[i]);
        m->method = strstr(text, word) ? (ast_method)i : m->method;
    }
    list_parts(m, numbers, 0, parts);
    for (const part *p = parts + 1; p < parts + PARTS; p++) {
        const void *there = m;
        snprintf(word, sizeof word, "\n  \"%s\": {", p->name);
        if (strstr(text, word))
            memcpy((char *)m + p->field, &there, sizeof there);
    }
    return number_after(text, "\n  \"names\": {\"type\": \"|u1\", \"shape\": [");
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static size_t names_bytes(const ast_model_info *m) {
    size_t bytes = 0;
    for (size_t k = 0; m->names && k < m->clusters; k++)
        bytes += strlen(m->names[k]) + 1;
    return bytes;
}

static void put_names(const ast_model_info *m, unsigned char *at) {
    for (size_t k = 0; k < m->clusters; k++)
        at = ast_saved_put(at, m->names[k], strlen(m->names[k]) + 1);
}

ast_status ast_model_write(const ast_model_info *m, unsigned char **bytes, size_t *size, ast_fault *fault) {
    const double numbers[NUMBERS] = {m->angle, m->background};
    part parts[PARTS];
    header_text header;
    size_t arrays;
    list_parts(m, numbers, names_bytes(m), parts);
    bool fits = write_header(m, parts, &header, &arrays);
    *size = sizeof(model_head) + header.size + arrays + sizeof(uint64_t);
    *bytes = fits ? ast_allocate_zero(*size, 1) : NULL;
    if (!*bytes)
        return ast_fail_memory(fault);
    const model_head head = {MAGIC, VERSION, *size, header.size};
    unsigned char *at = ast_saved_put(*bytes, &head, sizeof head);
    at = ast_saved_put(at, header.text, header.size);
    for (const part *p = parts; p < parts + PARTS; p++) {
        if (!p->from)
            continue;
        if (p == parts + NAMES)
            put_names(m, at);
        else
            ast_saved_put(at, p->from, p->rows * (p->columns ? p->columns : 1) * p->item);
        at += part_bytes(p);
    }
    ast_saved_close(*bytes, at);
    return AST_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static ast_status damaged(ast_fault *fault, const char *what) {
    return ast_fail(fault, AST_BAD_DATA, "the model is damaged: %s", what);
}

/* The names are that many texts with a zero at the end of each. */
static ast_status read_names(ast_model *model, const char *text, size_t size, ast_fault *fault) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == 0;
    if (count != model->info.clusters || text[size - 1] != 0)
        return damaged(fault, "its names are not those of its clusters");
    model->names = ast_allocate(count, sizeof *model->names);
    if (!model->names)
        return ast_fail_memory(fault);
    for (size_t k = 0; k < count; text += strlen(text) + 1)
        model->names[k++] = text;
    model->info.names = model->names;
    return AST_OK;
}

/* The pointers of the info become those into the bytes. */
static ast_status point_at(ast_model *model, const part parts[PARTS], unsigned char *at, ast_fault *fault) {
    ast_status status = AST_OK;
    double numbers[NUMBERS];
    for (const part *p = parts; p < parts + PARTS && status == AST_OK; p++) {
        const void *here = at;
        if (!p->from)
            continue;
        if (p == parts)
            memcpy(numbers, at, sizeof numbers);
        else if (p == parts + NAMES)
            status = read_names(model, here, p->rows, fault);
        else
            memcpy((char *)&model->info + p->field, &here, sizeof here);
        at += part_bytes(p);
    }
    model->info.angle = numbers[0];
    model->info.background = numbers[1];
    return status;
}

ast_status ast_model_read(ast_model *model, ast_fault *fault) {
    const double numbers[NUMBERS] = {0};
    model_head head;
    part parts[PARTS];
    header_text header;
    size_t arrays;
    char text[MOST_HEADER];
    ast_status status = ast_saved_check(&format, model->bytes, model->size, fault);
    if (status != AST_OK)
        return status;
    memcpy(&head, model->bytes, sizeof head);
    if (head.header >= MOST_HEADER || head.header > model->size - sizeof head - sizeof(uint64_t))
        return damaged(fault, "its header is too long");
    memcpy(text, model->bytes + sizeof head, head.header);
    text[head.header] = 0;
    size_t names = scan_header(text, &model->info);
    list_parts(&model->info, numbers, names, parts);
    if ((model->info.names && names == 0) || !write_header(&model->info, parts, &header, &arrays) ||
        header.size != head.header || memcmp(header.text, text, header.size) != 0)
        return damaged(fault, "its header is none that this version writes");
    if (model->size != sizeof head + header.size + arrays + sizeof(uint64_t))
        return damaged(fault, "its size does not match its arrays");
    status = point_at(model, parts, model->bytes + sizeof head + header.size, fault);
    const char *problem = status == AST_OK ? ast_model_problem(&model->info) : NULL;
    return problem ? damaged(fault, problem) : status;
}
