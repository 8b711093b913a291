/* SPDX-License-Identifier: MIT
 *
 * Outputs are opened before the long part of a run, so that a folder that is not there fails at once, and put in place
 * after everything else, so that a failure leaves nothing behind. */
#include "targets.h"

#include <platform.h>
#include <frames.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "interrupt.h"
#include "terminal.h"

static int same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

ast_cli_target *ast_cli_target_of(const ast_cli_common *common, const char *option) {
    for (size_t i = 0; i < common->target_count; i++)
        if (same(common->targets[i].option, option))
            return &common->targets[i];
    return NULL;
}

ast_output *ast_cli_output_of(const ast_cli_common *common, const char *option) {
    const ast_cli_target *target = ast_cli_target_of(common, option);
    return target ? target->output : NULL;
}

void ast_cli_fill_target(const ast_cli_common *common, const char *option, ast_array array) {
    ast_cli_target *target = ast_cli_target_of(common, option);
    if (target)
        target->array = array;
}

/* ---- What the names show ----------------------------------------------------------------------------------------- */

int ast_cli_check_target(const ast_cli_target *target, const char *input) {
    if (!target || !input || same(input, "-"))
        return -1;
    if (same(target->path, input))
        return ast_cli_misuse("--%s would overwrite the input %s", target->option, input);
    if (ast_same_file(target->path, input))
        return ast_cli_fail("--%s would overwrite the input %s, which %s is as well", target->option, input,
                            target->path);
    return -1;
}

int ast_cli_check_overwrite(const ast_cli_common *common, const char *input) {
    int code = -1;
    for (size_t i = 0; i < common->target_count && code < 0; i++)
        code = ast_cli_check_target(&common->targets[i], input);
    return code;
}

static int check_name(const ast_cli_common *common, const ast_cli_target *target) {
    ast_format_error error;
    const char *path = target->path;
    if (target->writes <= AST_CLI_WRITES_ROWS && !ast_output_check(path, target->writes == AST_CLI_WRITES_ROWS, &error))
        return ast_cli_misuse("--%s: %s", target->option, error.text);
    if (common->json && same(path, "-"))
        return ast_cli_misuse("--json and --%s - would both write to standard output", target->option);
    int code = -1;
    for (const ast_cli_target *other = common->targets; other < target && code < 0; other++)
        code = ast_cli_check_apart(other->option, other->path, target->option, path);
    return code;
}

int ast_cli_check_apart(const char *option, const char *path, const char *other_option, const char *other) {
    if (same(path, other))
        return ast_cli_misuse("--%s and --%s would both write to %s", option, other_option,
                              same(path, "-") ? "standard output" : path);
    if (path && other && ast_same_output(path, other))
        return ast_cli_misuse("--%s and --%s would both write to %s, which is %s as well", option, other_option, path,
                              other);
    return -1;
}

int ast_cli_check_targets(const ast_cli_common *common, const char *input) {
    int code = -1;
    for (size_t i = 0; i < common->target_count && code < 0; i++)
        code = check_name(common, &common->targets[i]);
    if (code < 0)
        code = ast_cli_check_overwrite(common, input);
    for (size_t i = 0; i < common->typed_count && code < 0; i++) {
        const ast_cli_option *option = common->typed[i];
        if (!option->writes && (option->kind == AST_CLI_READ || option->kind == AST_CLI_NAME))
            code = ast_cli_check_overwrite(common, common->values[i]);
    }
    return code;
}

int ast_cli_check_writable(const char *path) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    ast_output_abandon(output);
    return ast_cli_outcome(output != NULL, &error);
}

int ast_cli_check_folder(const char *option, const char *folder) {
    static const char *const extensions[] = {".npy", ".csv", ".tsv", ".txt", ".png", ".json"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (ast_has_extension(folder, extensions[i]) && access(folder, F_OK) != 0)
            return ast_cli_misuse("--%s %s: this is the name of a folder, for one file per frame; leave out the %s",
                                  option, folder, extensions[i]);
    return -1;
}

int ast_cli_make_folder(const char *option, const char *folder) {
    ast_format_error error;
    return ast_folder_make(folder, &error) ? -1 : ast_cli_fail("--%s: %s", option, error.text);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

int ast_cli_open_targets(const ast_cli_common *common) {
    ast_format_error error;
    ast_cli_watch_signals();
    for (ast_cli_target *target = common->targets; target < common->targets + common->target_count; target++) {
        if (target->writes == AST_CLI_WRITES_STATE)
            continue;
        target->output = ast_output_open(target->path, false, &error);
        if (!target->output)
            return ast_cli_fail("%s", error.text);
    }
    return -1;
}

int ast_cli_target_failed(const ast_cli_target *target, const ast_format_error *error) {
    if (same(target->path, "-") && ast_cli_closed())
        return AST_CLI_DONE;
    return ast_cli_fail("%s", error->text);
}

static int commit(ast_cli_target *targets, size_t count) {
    ast_format_error error;
    int code = AST_CLI_DONE;
    if (ast_cli_interrupted())
        return ast_cli_stopped();
    for (size_t i = 0; i < count && code == AST_CLI_DONE; i++) {
        ast_output *output = targets[i].output;
        targets[i].output = NULL;
        if (output && !ast_output_commit(output, &error))
            code = ast_cli_target_failed(&targets[i], &error);
    }
    return code;
}

static bool print_object(const ast_cli_printer *printer) {
    ast_text json = {0};
    ast_json_open(&json, NULL, '{');
    printer->json(printer->work, &json);
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool good = ast_text_print(&json, stdout);
    ast_text_free(&json);
    return good;
}

int ast_cli_print(const ast_cli_common *common, const ast_cli_printer *printer) {
    if (common->quiet && !common->json)
        return AST_CLI_DONE;
    if (!common->json)
        printer->table(printer->work);
    else if (!print_object(printer))
        return ast_cli_fail("there is no memory to print the result");
    return ast_cli_flush();
}

int ast_cli_deliver(const ast_cli_common *common, const ast_cli_printer *printer) {
    ast_format_error error;
    int to_stdout = 0, code = AST_CLI_DONE;
    for (size_t i = 0; i < common->target_count && code == AST_CLI_DONE; i++) {
        ast_cli_target *target = &common->targets[i];
        to_stdout |= same(target->path, "-");
        if (!target->output ||
            ((target->writes > AST_CLI_WRITES_ROWS || ast_write_array(target->output, target->array, &error)) &&
             ast_output_finish(target->output, &error)))
            continue;
        code = ast_cli_target_failed(target, &error);
        ast_output_abandon(target->output);
        target->output = NULL;
    }
    if (code == AST_CLI_DONE && !to_stdout)
        code = ast_cli_print(common, printer);
    return code == AST_CLI_DONE ? commit(common->targets, common->target_count) : code;
}

void ast_cli_abandon_targets(const ast_cli_common *common) {
    for (size_t i = 0; i < common->target_count; i++) {
        ast_output_abandon(common->targets[i].output);
        common->targets[i].output = NULL;
    }
}
