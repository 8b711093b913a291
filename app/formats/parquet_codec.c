/* SPDX-License-Identifier: MIT
 *
 * The codecs of Parquet, each by its own library, if the build has it. */
#include "parquet.h"

#include <string.h>

#ifdef AST_HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef AST_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef AST_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef AST_HAVE_ZLIB
#include <zlib.h>
#endif

static const char *const names[] = {"none", "snappy", "gzip", "lzo", "brotli", "lz4 (as Hadoop writes it)",
                                    "zstd", "lz4_raw"};

const char *ast_parquet_codec_name(int codec) {
    return codec >= 0 && codec < (int)(sizeof names / sizeof *names) ? names[codec] : "unknown";
}

bool ast_parquet_has_codec(int codec) {
    switch (codec) {
    case 0:
#ifdef AST_HAVE_SNAPPY
    case AST_PARQUET_SNAPPY:
#endif
#ifdef AST_HAVE_ZLIB
    case AST_PARQUET_GZIP:
#endif
#ifdef AST_HAVE_ZSTD
    case AST_PARQUET_ZSTD:
#endif
#ifdef AST_HAVE_LZ4
    case AST_PARQUET_LZ4_RAW:
#endif
        return true;
    default:
        return false;
    }
}

#ifdef AST_HAVE_ZLIB
/* One member after the other, as gzip allows. */
static bool inflate_all(const void *packed, size_t packed_size, void *place, size_t size) {
    z_stream stream = {
        .next_in = (unsigned char *)packed, .avail_in = (uInt)packed_size, .next_out = place, .avail_out = (uInt)size};
    if (inflateInit2(&stream, 15 + 32) != Z_OK)
        return false;
    int result = inflate(&stream, Z_FINISH);
    while (result == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK)
        result = inflate(&stream, Z_FINISH);
    bool good = result == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    return good;
}
#endif

bool ast_parquet_unpack(int codec, const void *packed, size_t packed_size, void *place, size_t size) {
    switch (codec) {
    case 0:
        if (packed_size != size)
            return false;
        memcpy(place, packed, size);
        return true;
#ifdef AST_HAVE_SNAPPY
    case AST_PARQUET_SNAPPY: {
        size_t room = size;
        return snappy_uncompress(packed, packed_size, place, &room) == SNAPPY_OK && room == size;
    }
#endif
#ifdef AST_HAVE_ZLIB
    case AST_PARQUET_GZIP:
        return inflate_all(packed, packed_size, place, size);
#endif
#ifdef AST_HAVE_ZSTD
    case AST_PARQUET_ZSTD:
        return ZSTD_decompress(place, size, packed, packed_size) == size;
#endif
#ifdef AST_HAVE_LZ4
    case AST_PARQUET_LZ4_RAW:
        return LZ4_decompress_safe(packed, place, (int)packed_size, (int)size) == (int)size;
#endif
    default:
        return false;
    }
}
