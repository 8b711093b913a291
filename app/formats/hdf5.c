/* SPDX-License-Identifier: MIT
 *
 * Tables in HDF5 files. libhdf5 lists the datasets. A dataset in one piece, in the machine's byte order, is mapped like
 * any other table and needs libhdf5 no more. Any other (chunked, compressed, in the other byte order) is read by
 * libhdf5, some rows at a time. libhdf5 is not safe for threads, so one lock guards it. */
#include "registry.h"

#include <string.h>

#ifdef AST_HAVE_HDF5

#include "hdf5_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* libhdf5 unpacks a chunk again for every read that needs a part of it, unless the chunk is cached. The cache holds one
 * row of chunks, but at most this many bytes. */
#define CHUNKS_MOST ((size_t)64 << 20)
#define MEMBERS_MOST 10000 /* datasets that are looked at */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct hdf5_table {
    ast_row_decoder decoder;
    hid_t file, dataset, type; /* the type of the numbers in memory */
    size_t dimension;
} hdf5_table;

/* What is collected while the file is searched. */
typedef struct search {
    hid_t file;
    ast_members *members;
    bool no_memory;
} search;

static const ast_member_words words = {"dataset", "datasets", "--dataset PATH",
                                       "floats of 2, 4 or 8 bytes or integers of 1 byte", .rooted = true};

static bool read_rows(ast_row_decoder *decoder, size_t first, size_t count, void *place);
static void close_table(ast_row_decoder *decoder);
static bool find_table(hdf5_table *hdf5, ast_file_table *table, const ast_bytes *bytes, const char *wanted,
                       ast_format_error *error);

bool ast_hdf5_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    if (bytes->memory || bytes->descriptor < 0)
        return ast_format_fail(error, "%s: HDF5 is read from files only, which are neither pipes nor compressed",
                               bytes->name);
    hdf5_table *hdf5 = malloc(sizeof *hdf5);
    if (!hdf5)
        return ast_format_no_memory(error, bytes->name);
    *hdf5 = (hdf5_table){.decoder = {.rows = read_rows,
                                     .close = close_table,
                                     .damage = ", or packed by a filter that this libhdf5 does not have"},
                         .file = H5I_INVALID_HID,
                         .dataset = H5I_INVALID_HID,
                         .type = H5I_INVALID_HID};
    *table = (ast_file_table){0};
    pthread_mutex_lock(&lock);
    ast_hdf5_voice before = ast_hdf5_silence();
    hdf5->file = H5Fopen(bytes->name, H5F_ACC_RDONLY, H5P_DEFAULT);
    bool good = hdf5->file >= 0 ? find_table(hdf5, table, bytes, how->member, error)
                                : ast_format_fail(error, "%s: cannot be opened as an HDF5 file: it is none, or damaged",
                                                  bytes->name);
    ast_hdf5_restore(before);
    pthread_mutex_unlock(&lock);
    if (good && table->decoder)
        return true;
    close_table(&hdf5->decoder);
    return good;
}

static void close_table(ast_row_decoder *decoder) {
    hdf5_table *hdf5 = (hdf5_table *)decoder;
    pthread_mutex_lock(&lock);
    ast_hdf5_voice before = ast_hdf5_silence();
    if (hdf5->type >= 0)
        H5Tclose(hdf5->type);
    if (hdf5->dataset >= 0)
        H5Dclose(hdf5->dataset);
    if (hdf5->file >= 0)
        H5Fclose(hdf5->file);
    ast_hdf5_restore(before);
    pthread_mutex_unlock(&lock);
    free(hdf5);
}

static bool read_rows(ast_row_decoder *decoder, size_t first, size_t count, void *place) {
    hdf5_table *hdf5 = (hdf5_table *)decoder;
    hsize_t from[2] = {first, 0}, size[2] = {count, hdf5->dimension};
    herr_t result = -1;
    pthread_mutex_lock(&lock);
    ast_hdf5_voice before = ast_hdf5_silence();
    hid_t space = H5Dget_space(hdf5->dataset), memory = H5Screate_simple(2, size, NULL);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, size, NULL) >= 0)
        result = H5Dread(hdf5->dataset, hdf5->type, memory, space, H5P_DEFAULT, place);
    H5Sclose(memory);
    H5Sclose(space);
    ast_hdf5_restore(before);
    pthread_mutex_unlock(&lock);
    return result >= 0;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Half and bfloat16 have no name in libhdf5: their fields tell them. */
static int type_of_half(hid_t type) {
    size_t sign, exponent, exponent_size, fraction, fraction_size;
    if (H5Tget_fields(type, &sign, &exponent, &exponent_size, &fraction, &fraction_size) < 0 || sign != 15 ||
        fraction != 0 || exponent != fraction_size || H5Tget_order(type) != H5Tget_order(H5T_NATIVE_FLOAT))
        return -1;
    if (exponent_size == 5 && fraction_size == 10 && H5Tget_ebias(type) == 15)
        return AST_F2;
    return exponent_size == 8 && fraction_size == 7 && H5Tget_ebias(type) == 127 ? AST_B2 : -1;
}

/* The ast_type of a type in a file, or -1; and its name. */
static int type_of(hid_t type, char name[AST_EXCERPT]) {
    H5T_class_t class = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    bool is_signed = class == H5T_INTEGER && H5Tget_sign(type) != H5T_SGN_NONE;
    static const char *const classes[] = {"integer",  "float",     "time", "string",          "bits", "opaque",
                                          "compound", "reference", "enum", "variable length", "array"};
    if (class == H5T_FLOAT || class == H5T_INTEGER)
        snprintf(name, AST_EXCERPT, "%s%zu", class == H5T_FLOAT ? "f" : is_signed ? "i" : "u", size);
    else
        snprintf(name, AST_EXCERPT, "%s", class >= 0 && class <= H5T_ARRAY ? classes[class] : "unknown");
    if (class == H5T_INTEGER && size == 1)
        return is_signed ? AST_I1 : AST_U1;
    if (class != H5T_FLOAT || size > 8)
        return -1;
    return size == 2 ? type_of_half(type) : size == 4 ? AST_F4 : size == 8 ? AST_F8 : -1;
}

/* The type of these numbers in memory. Halves are taken as they are. */
static hid_t type_in_memory(ast_type type, hid_t own) {
    return H5Tcopy(type == AST_F4   ? H5T_NATIVE_FLOAT
                   : type == AST_F8 ? H5T_NATIVE_DOUBLE
                   : type == AST_I1 ? H5T_NATIVE_INT8
                   : type == AST_U1 ? H5T_NATIVE_UINT8
                                    : own);
}

/* ---- Datasets ---------------------------------------------------------------------------------------------------- */

static void describe(hid_t dataset, ast_member *member) {
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    hsize_t sizes[H5S_MAX_RANK] = {0};
    int rank = H5Sget_simple_extent_ndims(space);
    member->known = type_of(type, member->type);
    member->dimensions = rank > 0 && H5Sget_simple_extent_dims(space, sizes, NULL) == rank ? rank : 0;
    member->shape[0] = sizes[0];
    member->shape[1] = sizes[1];
    H5Tclose(type);
    H5Sclose(space);
}

static herr_t visit(hid_t root, const char *name, const H5O_info_t *info, void *data) {
    search *found = data;
    ast_members *members = found->members;
    (void)root;
    if (info->type != H5O_TYPE_DATASET || members->count == MEMBERS_MOST)
        return 0;
    found->no_memory |= !ast_array_grow(&members->list, &members->capacity, members->count + 1, sizeof *members->list);
    if (found->no_memory)
        return -1;
    ast_member *member = &members->list[members->count];
    *member = (ast_member){.known = -1};
    found->no_memory = asprintf(&member->name, "/%s", name) < 0;
    if (found->no_memory)
        return -1;
    members->count++;
    hid_t dataset = H5Dopen2(found->file, member->name, H5P_DEFAULT);
    if (dataset >= 0) {
        describe(dataset, member);
        H5Dclose(dataset);
    }
    return 0;
}

/* Opens the dataset with room for the chunks of the rows at hand. */
static hid_t open_dataset(hid_t file, const char *name, size_t dimension) {
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), access = H5I_INVALID_HID;
    hid_t made = H5Dget_create_plist(dataset), type = H5Dget_type(dataset);
    hsize_t chunk[2] = {0};
    if (H5Pget_layout(made) == H5D_CHUNKED && H5Pget_chunk(made, 2, chunk) == 2 && chunk[1] > 0) {
        hsize_t across = dimension / chunk[1] + 1; /* chunks that a row is in */
        double size = 2.0 * (double)across * (double)chunk[0] * (double)chunk[1] * (double)H5Tget_size(type);
        size_t kept = size < (double)CHUNKS_MOST ? (size_t)size + 1 : CHUNKS_MOST;
        access = H5Pcreate(H5P_DATASET_ACCESS);
        H5Pset_chunk_cache(access, H5D_CHUNK_CACHE_NSLOTS_DEFAULT, kept, 1);
        H5Dclose(dataset);
        dataset = H5Dopen2(file, name, access);
        H5Pclose(access);
    }
    H5Tclose(type);
    H5Pclose(made);
    return dataset;
}

/* Whether the numbers are in one piece of this very file, as they are in memory: then it is only a place. */
static bool in_place(const hdf5_table *hdf5, ast_file_table *table, const ast_bytes *bytes) {
    hid_t own = H5Dget_type(hdf5->dataset), made = H5Dget_create_plist(hdf5->dataset);
    haddr_t offset = HADDR_UNDEF;
    if (H5Tequal(own, hdf5->type) > 0 && H5Pget_layout(made) == H5D_CONTIGUOUS && H5Pget_external_count(made) == 0)
        offset = H5Dget_offset(hdf5->dataset);
    H5Pclose(made);
    H5Tclose(own);
    uint64_t size = (uint64_t)table->row_stride * table->count;
    if (offset == HADDR_UNDEF || offset > bytes->size || size > bytes->size - offset)
        return false;
    table->offset = (size_t)offset;
    table->swapped = false; /* the types are equal */
    return true;
}

static bool open_member(hdf5_table *hdf5, ast_file_table *table, const ast_member *member, const ast_bytes *bytes,
                        ast_format_error *error) {
    char name[AST_EXCERPT];
    ast_excerpt(name, member->name, strlen(member->name));
    if (!ast_table_set(table, (ast_type)member->known, member->shape[0], member->shape[1], 0))
        return ast_format_fail(error, "%s: dataset %s of %llu x %llu numbers is larger than any memory", bytes->name,
                               name, (unsigned long long)member->shape[0], (unsigned long long)member->shape[1]);
    hdf5->dimension = table->dimension;
    hdf5->dataset = open_dataset(hdf5->file, member->name, table->dimension);
    if (hdf5->dataset < 0)
        return ast_format_fail(error, "%s: dataset %s cannot be opened: the file is damaged", bytes->name, name);
    if (H5Dget_storage_size(hdf5->dataset) == 0)
        return ast_format_fail(error, "%s: dataset %s of %llu x %llu numbers was never written", bytes->name, name,
                               (unsigned long long)member->shape[0], (unsigned long long)member->shape[1]);
    hid_t own = H5Dget_type(hdf5->dataset);
    hdf5->type = type_in_memory(table->type, own);
    H5Tclose(own);
    if (hdf5->type < 0)
        return ast_format_no_memory(error, bytes->name);
    table->swapped = false;
    if (!in_place(hdf5, table, bytes))
        table->decoder = &hdf5->decoder;
    return true;
}

static bool find_table(hdf5_table *hdf5, ast_file_table *table, const ast_bytes *bytes, const char *wanted,
                       ast_format_error *error) {
    ast_members members = {0};
    search found = {hdf5->file, &members, false};
    const ast_member *member;
    bool good = H5Ovisit(hdf5->file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &found) >= 0;
    if (found.no_memory)
        ast_format_no_memory(error, bytes->name);
    else if (!good)
        ast_format_fail(error, "%s: its datasets cannot be listed: the file is damaged", bytes->name);
    good = good && ast_members_choose(&members, wanted, &words, bytes->name, &member, error) &&
           open_member(hdf5, table, member, bytes, error);
    ast_members_free(&members);
    return good;
}

#else

bool ast_hdf5_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    (void)table, (void)how;
    return ast_format_fail(error, "%s: this build cannot read HDF5 files: libhdf5 was not there when it was made",
                           bytes->name);
}

#endif
