/* SPDX-License-Identifier: MIT
 *
 * Any bytes as the lines of asterism stream, from which view makes a page. */
#include "fuzz_memory_file.h"

#include <cli.h>
#include <view.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static memory_file file;
    ast_page_head head = {.title = "fuzz", .command = "fuzz"};
    ast_text json = {0};
    int code = ast_cli_view_lines(as_file(&file, bytes, size), &head, &json);
    require(code == -1 || code == AST_CLI_FAILED);
    ast_text_free(&json);
    return 0;
}
