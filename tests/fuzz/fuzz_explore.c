/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a message of a page of asterism explore: refused with a sentence, or options that the library takes. */
#include "fuzz.h"

#include <asterism.h>
#include <explore_parts.h>

static void read_message(const ast_explored *explored, const uint8_t *bytes, size_t size) {
    ast_explore_task task = AST_TASKS;
    ast_explore_request request;
    size_t cluster = 0;
    const char *problem = ast_explore_read(explored, (const char *)bytes, size, &task, &request, &cluster);
    if (problem) {
        require(*problem && !strchr(problem, '\n'));
        return;
    }
    ast_options options = ast_explore_options(explored, &request);
    require(task < AST_TASKS && !ast_options_problem(&options));
    require(ast_explore_same(&request, &request));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const float rows[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    ast_explored explored = {.points = ast_points_f4(rows, 4, 3), .seed = 1, .threads = 1, .angle = 20};
    read_message(&explored, bytes, size);
    explored.undirected = true;
    read_message(&explored, bytes, size);
    return 0;
}
