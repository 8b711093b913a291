/* SPDX-License-Identifier: MIT
 *
 * Files in, files out: everything the command knows about formats. This room knows no algorithm; it sees the public
 * headers and the libraries that decode files, and it never prints and never exits.
 *
 *     ast_format_error error;
 *     ast_input input;
 *     if (!ast_input_open(&input, "points.npy", NULL, &error))
 *         fprintf(stderr, "asterism: %s\n", error.text);
 *     ... input.points is a view for ast_cluster ...
 *     ast_input_close(&input);
 *
 * The one idea: a reader hands out a view (`ast_points`), so that a mapped file, a Fortran array, a range of columns
 * and a transposed table are all the same to whoever reads it, and none of them is copied.
 *
 * Every function that can fail returns false (or NULL) and fills the error with one sentence without a newline. The
 * sentence names the file, and the line and column where there are any: "points.csv: line 17, column 3: 'abc' is not
 * a number". Outputs of a function that fails are left empty, so that closing or freeing them is harmless. */
#ifndef ASTERISM_FORMATS_H
#define ASTERISM_FORMATS_H

#include "asterism.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ast_format_error {
    char text[512];
} ast_format_error;

/* Fills in the sentence, cut to fit, and returns false. */
bool ast_format_fail(ast_format_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for the lack of memory. */
bool ast_format_no_memory(ast_format_error *error, const char *name);

/* The sentence "cannot start the thread that ...: ..." for a number of errno. */
bool ast_format_no_thread(ast_format_error *error, const char *what, int problem);

/* Whether the sentence is about memory or threads that are lacking, so that another file would not do better. */
bool ast_format_is_lack(const ast_format_error *error);

/* What is safe to quote of a file: at most 40 bytes, no control characters, no half of a UTF-8 character. */
#define AST_EXCERPT 48
void ast_excerpt(char excerpt[AST_EXCERPT], const char *text, size_t length);

/* The same with at most `most` bytes: `excerpt` has room for `most` + 4. */
void ast_excerpt_of(char *excerpt, size_t most, const char *text, size_t length);

/* The bytes of the character at `text` if terminals obey it instead of showing it: control characters (U+0000 to
 * U+001F, U+007F to U+009F), separators of lines, and what changes the direction of the text behind it. 0: it is
 * harmless, or the text ends there. */
size_t ast_harmful(const char *text);

/* Puts '?' in the place of the bytes of all such characters. */
void ast_make_harmless(char *text);

/* Whether the path ends in the extension, such as ".ply", in upper or lower case, and has a name before it. */
bool ast_has_extension(const char *path, const char *extension);

/* The place of the word in the list, which NULL ends; -1: it is not there. */
int ast_find_word(const char *const *words, const char *word);

/* Makes room for `needed` items of `size` bytes in an array from malloc(), at least doubling it; `array` is the address
 * of the pointer to it. False without memory: then nothing has changed. */
bool ast_array_grow(void *array, size_t *capacity, size_t needed, size_t size);

/* ---- What a file is -------------------------------------------------------------------------------------------- */

/* What a file of a format may hold, as bits. */
enum {
    AST_HOLDS_TABLE = 1,
    AST_HOLDS_SPARSE = 2,
    AST_HOLDS_DEPTH = 4,  /* a depth image */
    AST_HOLDS_SCENES = 8, /* the scenes of NYU v2 */
    AST_HOLDS_CLOUD = 16, /* points in space */
    AST_HOLDS_MESH = 32,  /* and faces between them */
    AST_HOLDS_SOLID = AST_HOLDS_CLOUD | AST_HOLDS_MESH
};

/* The format of a file. It is looked up once, and the value is passed to the reader. */
typedef struct ast_file_format {
    const struct ast_format *row; /* of the table of formats (registry.h); NULL: unknown */
    unsigned holds;               /* 0: unknown */
    bool compressed;              /* by gzip */
    const char *columns;          /* of .xyz: which are x, y, z, and the normal's; NULL: 1-3. The caller's */
} ast_file_format;

/* Looks it up without opening anything: depth images and scenes by the extension of the path, anything else by `name`,
 * such as "npy" or "csv.gz", or if that is NULL by the extension. */
ast_file_format ast_format_of(const char *path, const char *name);

/* Whether rows of such a file can be read one by one: it is a binary table that is not compressed. */
bool ast_format_has_rows(ast_file_format format);

/* A file of an input. */
typedef struct ast_input_file {
    char *path;
    ast_file_format format;
    double seconds; /* the time stamp in a depth.txt, or the name if that is one; otherwise NaN */
    uint64_t scene; /* of a data set, from 0, otherwise AST_WHOLE (frames.h) */
} ast_input_file;

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* Whether the first line of a text is a header. Automatic: if it has text and no number in the wanted columns, or the
 * numbers of the columns, from 0 or 1 on. */
typedef enum ast_header { AST_HEADER_AUTO, AST_HEADER_YES, AST_HEADER_NO } ast_header;

/* The words of a text, for a reader of what is written in other ways than numbers. */
typedef struct ast_words {
    const char *file; /* its name, for sentences */
    char **header;    /* (columns) NULL: there is none */
    char **list;      /* (rows, columns) */
    uint64_t *lines;  /* (rows) 1-based, in the file */
    size_t *numbers;  /* (columns) of the columns in the file, 1-based */
    size_t rows, columns;
    bool chosen; /* the columns are those of a list of the user's */
} ast_words;

/* Who turns words into numbers. `data` is handed to every function. */
typedef struct ast_cell_reader {
    bool (*is_value)(const char *word); /* a word of a row, not of a header; "" is one */
    bool (*is_name)(const char *word);  /* the name of a column that the reader knows */
    /* *numbers (rows, *width) becomes an array for free(). `remark` is that of the options, or NULL. */
    bool (*convert)(const ast_words *words, void *data, float **numbers, size_t *width, char *remark,
                    ast_format_error *error);
    void *data;
} ast_cell_reader;

/* How a file is to be read; zeros: by its extension, all columns, rows are points. The strings are the caller's and are
 * not kept. */
typedef struct ast_input_options {
    ast_file_format known; /* the format, if it was looked up before; otherwise `format` and the path decide */
    const char *format;  /* "npy", "csv", "tsv", "txt", "dat", "mtx", "npz", "fbin", "u8bin", "i8bin", "fvecs", "bvecs"
                            or "safetensors", each also with ".gz" appended, "h5" or "parquet"; NULL: by the file's
                            extension */
    const char *columns; /* which columns of the file, 1-based, in the order they are wanted, such as "2-101" or
                            "1,3,5-7", or names in the header of a text, such as "dec,inc"; NULL: all. Counted as the
                            file is written, before `transpose` */
    bool transpose;      /* the columns of the file are the points, not its rows */
    const char *tensor;  /* which tensor of a .safetensors file; NULL: the only one that can be points */
    const char *dataset; /* the same for the datasets of an .h5 file */
    const char *column;  /* the same for the columns of lists of a .parquet file, and for the other two */
    bool empty;          /* a text without a single row is no error: it has 0 points, and 0 dimensions */
    const char *names;   /* the column of a text or of a .parquet file that holds a name for each row, by number (of a
                            text) or by its name; it is no coordinate; NULL: none */
    ast_header header;   /* of a text */
    /* NULL, or called with the names of the columns if a text has a header and two columns are read: false refuses it
     */
    bool (*check_header)(char *const names[2], const char *file, ast_format_error *error);
    const ast_cell_reader *words; /* NULL, or who reads the words of a text; it stays until the input is read. Not
                                     together with `transpose` */
    char *remark; /* NULL, or AST_REMARK bytes that stay until the input is read: they receive a sentence if a text
                   has a header of numbers, or an index column that is left out; untouched otherwise */
} ast_input_options;
enum { AST_REMARK = 512 };

/* A name for each row. */
typedef struct ast_names {
    char **list; /* (count) */
    size_t count, capacity;
} ast_names;
bool ast_names_add(ast_names *names, char *name); /* takes the name, from malloc(); false without memory */
void ast_names_free(ast_names *names);

/* Reads a text with one name per line; .gz too. */
bool ast_read_names(const char *path, ast_names *names, ast_format_error *error);

/* What can be seen without opening anything: an unknown extension or format, "-" without a format, a bad column list.
 * The command asks this first, because it is wrong usage (exit 2), while whatever ast_input_open finds is exit 1.
 * `options` may be NULL for the defaults, here and below. */
bool ast_input_check(const char *path, const ast_input_options *options, ast_format_error *error);

/* Whether a column list can be understood; the sentence quotes the list but names no option. */
bool ast_columns_check(const char *columns, ast_format_error *error);

/* Numbers in memory, in the machine's byte order and aligned. */
typedef struct ast_body {
    const void *data;
    void *owned;  /* to free(), or NULL */
    void *mapped; /* to ast_unmap(), or NULL */
    size_t mapped_size;
} ast_body;

/* A file of points, or several of one binary format as one table. It is opened, then read whole into `points`, or by
 * rows through `source`. Closing it ends the view. */
typedef struct ast_input {
    ast_points points;    /* once it is read; weights are NULL: set them if there are any */
    size_t height, width; /* of an H x W x D array, whose pixels are the points, row by row; 0 otherwise */
    ast_source source;    /* the rows of regular files of a binary format, read as they are needed; count 0: how many
                             rows there are is known after reading only */
    bool unmapped;        /* reading them all takes memory: they are compressed or in pieces (.h5) */
    uint64_t size;        /* bytes of a regular file */
    uint64_t allowed;     /* to be set between opening and reading: bytes of memory that a pipe or a compressed table
                             may take; 0: any */
    ast_names names;      /* with options->names */
    struct ast_opened *opened; /* private: the open files */
    ast_body body;             /* private: what the points are a view of */
} ast_input;

/* Opens a table of points. `path` "-" is standard input and needs options->format; pipes and named pipes work.
 *
 * .npy: versions 1 to 3, f2, f4 or f8 of either byte order, or i1, C or Fortran order, two dimensions, N x D, or three,
 * H x W x D: a point for each pixel of an image. A regular file in the machine's byte order is mapped, nothing is
 * copied; the other byte order, pipes and columns that are not evenly spaced are read into memory. The header is
 * checked against the size of the file before anything is allocated.
 *
 * .csv .tsv .txt .dat: one row a line, separated by commas, tabs, semicolons or blanks, whichever yields the most
 * numbers; .tsv: by tabs. A first line that has text and no number in the wanted columns is a header, and so is one
 * of the numbers 0 to D-1 or 1 to D, unless the next row is of the same kind. A first column of whole numbers that go
 * up by one is left out if it has no name in the header, or if there is no header, three rows and three columns, and
 * there is no list of columns. Blank lines are skipped. A line that begins with '#' is a comment, except after the
 * first row when column 1 is not wanted and the line is a full row otherwise (a word table may hold the word "#"). CR,
 * LF and CRLF end lines; a UTF-8 mark at the start is skipped; fields may stand in double quotes unless blanks separate
 * them. An empty field, "nan" and "NA" are missing (NaN). Rows of unequal length, text, infinity and numbers too large
 * for float are errors. Numbers are stored as AST_F4, rounded from double; tiny ones become zero.
 *
 * .mtx: MatrixMarket, coordinate, real, integer or pattern (every entry is 1), general. .npz: what
 * scipy.sparse.save_npz writes of a csr, csc or coo matrix, stored or deflated. Both become sparse rows in double
 * (points.starts is not NULL), sorted; the entries may stand in any order, and those of one place are added up. An
 * index out of range, an infinity, and entries that are not as many as the file promises are errors; NaN makes its row
 * missing. Columns cannot be picked.
 *
 * .fbin .u8bin .i8bin: two uint32, the numbers of rows and columns, and the rows. .fvecs .bvecs: each row begins with
 * its dimension, an int32, which must be the same for all. .safetensors: a tensor of two dimensions, F64, F32, F16,
 * BF16, I8 or U8. All of them have the lowest byte first, are mapped, and are checked against the size of the file. .h5
 * .hdf5: a dataset of two dimensions of such numbers, from a regular file; contiguous ones are mapped, others are read
 * by libhdf5. .parquet: a column of lists of such numbers (a null or an empty list is a missing row), from a regular
 * file, decoded here.
 *
 * Infinity in a binary file, the limits on N and D, and missing rows are the library's business, except that a table
 * without a single row or column is an error here. */
bool ast_input_open(ast_input *input, const char *path, const ast_input_options *options, ast_format_error *error);

/* The two steps of ast_input_open, for whoever decides in between whether a table fits into memory. The files must
 * outlive the input. More than one must be tables (N x D) of one binary format, one dimension and one type, whose rows
 * can be read one by one: their rows follow one another. */
bool ast_input_begin(ast_input *input, const ast_input_file *files, size_t count, const ast_input_options *options,
                     ast_format_error *error);
bool ast_input_read(ast_input *input, ast_format_error *error); /* one file; closes the input on failure */

/* Reads `count` rows from number `first` on into `points`, of one file or several. */
bool ast_input_read_rows(ast_input *input, size_t first, size_t count, ast_format_error *error);

/* Whether rows can be read one by one: in C order and in the machine's byte order, with all columns and rows as they
 * are. The sentence says what is in the way otherwise. */
bool ast_input_by_rows(const ast_input *input, ast_format_error *error);

/* The file that holds a row, counted from 0, and the row's number there. Only while the files are open, as below. */
const char *ast_input_row_file(const ast_input *input, size_t row, size_t *own);

/* Whether a row could not be read, and the sentence. */
bool ast_input_failed(const ast_input *input, ast_format_error *error);

/* As ast_input_open, from bytes in memory, which must outlive the input; `name` stands for the file in sentences and
 * options->format must be set. */
bool ast_input_open_memory(ast_input *input, const char *name, const void *bytes, size_t size,
                           const ast_input_options *options, ast_format_error *error);

/* Puts (count, dimension) row-major floats from malloc() in the place of what was read; closing frees them. */
void ast_input_replace(ast_input *input, float *values, size_t count, size_t dimension);

/* Ends the view and frees what it needs. Fine on a zeroed, closed or failed input. */
void ast_input_close(ast_input *input);

/* Reads labels: any integer (or bool) .npy array, or floats with whole values, flattened in C order whatever its shape
 * (so N, N x 1 and H x W all work); or text with any number of whole numbers a line, options->columns picking one for
 * tables. `transpose` is ignored. Values must fit int32. *labels is the caller's to free(). */
bool ast_read_labels(const char *path, const ast_input_options *options, int32_t **labels, size_t *count,
                     ast_format_error *error);

/* Reads numbers, for weights: an .npy array of floats or integers with one dimension or N x 1 or 1 x N, or text with
 * one row or one column. *numbers is the caller's to free(). */
bool ast_read_numbers(const char *path, const ast_input_options *options, double **numbers, size_t *count,
                      ast_format_error *error);

/* Reads a small table such as the means, as row-major floats: what ast_input_open reads, copied and converted.
 * *values is the caller's to free(). */
bool ast_read_matrix(const char *path, const ast_input_options *options, float **values, size_t *rows, size_t *columns,
                     ast_format_error *error);

/* The whole of a regular file, whatever it holds. *bytes is the caller's to free(), and not NULL for an empty file. */
bool ast_read_file(const char *path, unsigned char **bytes, size_t *size, ast_format_error *error);

/* All `size` bytes at `offset` of an open file, from any thread: 0, or errno, or -1 if the file ends before. */
int ast_read_at(int descriptor, uint64_t offset, void *bytes, size_t size);
int ast_write_at(int descriptor, uint64_t offset, const void *bytes, size_t size);

/* Bytes of one row of a source. */
size_t ast_source_row(const ast_source *source);

/* Number `at` of the starts or the columns of sparse rows. */
size_t ast_points_index(const ast_points *points, const void *array, size_t at);

/* One row of a view, dense or sparse, as doubles: `row` has room for points->dimension of them. */
void ast_points_row(const ast_points *points, size_t index, double *row);

/* ---- Labels that do not fit into memory ------------------------------------------------------------------------ */

/* A file without a name that is gone with the process, for labels that have no room in memory. It is made where
 * `beside` will be written, if that is a file, otherwise in TMPDIR or /var/tmp. */
typedef struct ast_scratch {
    char *folder; /* for sentences */
    int descriptor;
    int reason; /* why writing or reading failed: errno, or -1 if the file is cut short; 0: it did not */
} ast_scratch;

bool ast_scratch_open(ast_scratch *scratch, const char *beside, ast_format_error *error);
int ast_scratch_write(ast_scratch *scratch, uint64_t offset, const void *bytes, size_t size); /* 0, or it failed; ... */
int ast_scratch_read(ast_scratch *scratch, uint64_t offset, void *bytes, size_t size); /* ... from any thread, too */
bool ast_scratch_failed(const ast_scratch *scratch, ast_format_error *error);
void ast_scratch_close(ast_scratch *scratch);

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* A file being written. Where the target is absent or a regular file the bytes go to a temporary file beside it, and
 * the target changes in one step at the commit; a symbolic link is followed, and an existing file keeps its
 * permissions. A device or a pipe is written in place. "-" (and /dev/stdout) is standard output, which stays open. */
typedef struct ast_output ast_output;

/* What can be seen from the name alone: the writers below choose by extension (.npy; .csv .tsv .txt; none and "-" are
 * text; `table`, of rows of floats: .fvecs and .fbin). False for any other extension. */
bool ast_output_check(const char *path, bool table, ast_format_error *error);

/* Whether two outputs, files or folders, are one, however their paths are spelled and whether it is there or not: links
 * are followed, and hard links are one file. A device such as /dev/null can be written twice. */
bool ast_same_output(const char *a, const char *b);

/* NULL on failure. `durable`: sync the file, and its folder after the rename, to disk. */
ast_output *ast_output_open(const char *path, bool durable, ast_format_error *error);

/* The same for a file that one process writes again and again. The temporary file has a name for a moment before it is
 * renamed. If the process is killed in that moment, the next process that writes the file removes the leftover. */
ast_output *ast_output_open_sole(const char *path, bool durable, ast_format_error *error);

/* Bytes in memory instead of a file, for what goes into another file; `name` is for sentences. */
ast_output *ast_output_open_memory(const char *name, ast_format_error *error);

/* What was written into memory, with a zero behind it; *bytes is the caller's to free(), NULL after a failure. Frees
 * the output in any case. */
bool ast_output_take(ast_output *output, unsigned char **bytes, size_t *size, ast_format_error *error);

/* Buffered. After a failure the only thing left to do with the output is to abandon it. */
bool ast_output_write(ast_output *output, const void *bytes, size_t size, ast_format_error *error);

/* Writes out what is buffered and closes the temporary file, so that every write error shows before anything is
 * renamed. The target is still as it was. Only a commit or an abandon may follow. */
bool ast_output_finish(ast_output *output, ast_format_error *error);

/* Finishes if need be, puts the file in place and frees the output, also on failure (which leaves the target as it
 * was). */
bool ast_output_commit(ast_output *output, ast_format_error *error);

/* Removes the temporary file and frees the output. NULL is fine. What went to a device or pipe stays written. */
void ast_output_abandon(ast_output *output);

/* Commits the output if `good`, otherwise abandons it. Returns whether the file is in place; false for NULL. */
bool ast_output_close(ast_output *output, bool good, ast_format_error *error);

/* For several processes that write one file. Where the output is a file that is renamed at the commit, `name` (room
 * bytes) becomes that of the temporary file, into which others may write; otherwise "". Nothing was written before. */
bool ast_output_share(ast_output *output, char *name, size_t room, ast_format_error *error);

/* Another process's bytes, at `offset` in the file of that name. */
bool ast_write_part(const char *name, uint64_t offset, const void *bytes, size_t size, ast_format_error *error);

/* An array of up to three dimensions, in C order: int32 or float32. */
typedef struct ast_array {
    const int32_t *integers; /* one of both, the other is NULL */
    const float *reals;
    size_t dimensions, sizes[3];
} ast_array;

/* A vector (columns 0) or a row-major table. */
static inline ast_array ast_label_array(const int32_t *labels, size_t rows, size_t columns) {
    return (ast_array){.integers = labels, .dimensions = columns ? 2 : 1, .sizes = {rows, columns}};
}
static inline ast_array ast_value_array(const float *values, size_t rows, size_t columns) {
    return (ast_array){.reals = values, .dimensions = columns ? 2 : 1, .sizes = {rows, columns}};
}

/* Writes the array as .npy of its shape, or as text: a line for each index but the last, with as many digits as reading
 * it back needs, separated by commas (.csv), tabs (.tsv) or blanks. A vector has a number per line. A table of floats
 * can be .fvecs or .fbin. */
bool ast_write_array(ast_output *output, ast_array array, ast_format_error *error);

/* The same in parts: `count` numbers of an array of this shape, from number `first` on. The part that begins with
 * number 0 also has what comes before it. */
bool ast_write_array_part(ast_output *output, ast_array part, size_t first, size_t count, ast_format_error *error);

#endif
