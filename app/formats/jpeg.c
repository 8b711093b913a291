/* SPDX-License-Identifier: MIT
 *
 * JPEG through libjpeg, from memory, for pictures only. libjpeg leaves by longjmp when it fails, so that nothing is
 * owned by a function that it can jump out of. It would show a file that is cut short with grey below; here that is a
 * failure. */
#include "image_readers.h"

#ifndef AST_HAVE_JPEG

bool ast_jpeg_picture(ast_picture *picture, const ast_image_file *file, ast_format_error *error) {
    (void)picture;
    return ast_format_fail(error, "%s: this build has no libjpeg and reads no JPEG; convert it to PNG", file->name);
}

#else

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* A progressive image has some ten scans; a few bytes a scan can make a decoder work for hours. */
#define SCANS_MOST 200

/* A block of 8 x 8 pixels takes a bit at the very least, so a byte holds 512 pixels at most. Four times that is refused
 * before it costs memory. */
#define PIXELS_A_BYTE 2048

typedef struct jpeg_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr manager;
    struct jpeg_progress_mgr progress;
    jmp_buf leave;
    const ast_image_file *file;
    ast_picture *picture;
    ast_format_error *error;
} jpeg_decoder;

static bool decode(jpeg_decoder *decoder);
static void on_error(j_common_ptr jpeg);
static void on_message(j_common_ptr jpeg, int level);
static void on_output(j_common_ptr jpeg);
static void on_progress(j_common_ptr jpeg);

bool ast_jpeg_picture(ast_picture *picture, const ast_image_file *file, ast_format_error *error) {
    jpeg_decoder decoder = {.file = file, .picture = picture, .error = error};
    decoder.jpeg.err = jpeg_std_error(&decoder.manager);
    decoder.jpeg.client_data = &decoder;
    decoder.manager.error_exit = on_error;
    decoder.manager.emit_message = on_message;
    decoder.manager.output_message = on_output;
    decoder.progress.progress_monitor = on_progress;
    bool good = decode(&decoder);
    jpeg_destroy_decompress(&decoder.jpeg);
    return good;
}

/* ---- What libjpeg calls ------------------------------------------------------------------------------------------ */

static void on_error(j_common_ptr jpeg) {
    jpeg_decoder *decoder = jpeg->client_data;
    char message[JMSG_LENGTH_MAX], excerpt[AST_EXCERPT];
    jpeg->err->format_message(jpeg, message);
    ast_excerpt(excerpt, message, strlen(message));
    int code = jpeg->err->msg_code;
    if (code == JERR_OUT_OF_MEMORY)
        ast_format_no_memory(decoder->error, decoder->file->name);
    else if (code == JERR_INPUT_EOF || code == JWRN_JPEG_EOF)
        ast_format_fail(decoder->error, "%s: the JPEG ends too early; the file was cut short", decoder->file->name);
    else
        ast_format_fail(decoder->error, "%s: the JPEG is damaged or of a kind that cannot be read (%s)",
                        decoder->file->name, excerpt);
    longjmp(decoder->leave, 1);
}

/* Level -1 is a warning. Those that mean lost pixels are failures here. */
static void on_message(j_common_ptr jpeg, int level) {
    int code = jpeg->err->msg_code;
    if (level == -1 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                        code == JWRN_ARITH_BAD_CODE || code == JWRN_MUST_RESYNC))
        on_error(jpeg);
}

static void on_output(j_common_ptr jpeg) {
    (void)jpeg;
}

static void on_progress(j_common_ptr jpeg) {
    jpeg_decoder *decoder = jpeg->client_data;
    if (decoder->jpeg.input_scan_number <= SCANS_MOST)
        return;
    ast_format_fail(decoder->error, "%s: the JPEG has more than %d scans; no picture needs so many",
                    decoder->file->name, SCANS_MOST);
    longjmp(decoder->leave, 1);
}

/* ---- Decoding ---------------------------------------------------------------------------------------------------- */

static bool begin(jpeg_decoder *decoder) {
    j_decompress_ptr jpeg = &decoder->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->progress = &decoder->progress;
    jpeg_mem_src(jpeg, decoder->file->bytes, decoder->file->size);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_RGB;
    if ((size_t)jpeg->image_width * jpeg->image_height / PIXELS_A_BYTE > decoder->file->size)
        return ast_format_fail(decoder->error,
                               "%s: is cut short: its %zu bytes cannot hold the %u x %u pixels that it promises",
                               decoder->file->name, decoder->file->size, jpeg->image_width, jpeg->image_height);
    return ast_pixels_resize(decoder->picture, jpeg->image_width, jpeg->image_height, 3, decoder->file->name,
                             decoder->error);
}

static bool decode(jpeg_decoder *decoder) {
    j_decompress_ptr jpeg = &decoder->jpeg;
    if (setjmp(decoder->leave))
        return false;
    if (!begin(decoder))
        return false;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = decoder->picture->rgb + 3 * (size_t)jpeg->output_scanline * jpeg->output_width;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

#endif
