/* SPDX-License-Identifier: MIT
 *
 * Outputs are opened before the long part of a run, so that a folder that is not there fails at once, and put in place
 * after everything else, so that a failure leaves nothing behind. */
#include "targets.h"

#include <frames.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "interrupt.h"
#include "terminal.h"

static int same(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

/* ---- What the names show ----------------------------------------------------------------------------------------- */

int ast_cli_check_overwrite(const ast_cli_target *targets, size_t count, const char *input) {
    if (!input || same(input, "-"))
        return -1;
    for (size_t i = 0; i < count; i++) {
        const char *path = targets[i].path;
        if (same(path, input))
            return ast_cli_misuse("--%s would overwrite the input %s", targets[i].option, input);
        if (path && ast_same_file(path, input))
            return ast_cli_fail("--%s would overwrite the input %s, which %s is as well", targets[i].option, input,
                                path);
    }
    return -1;
}

int ast_cli_check_targets(const ast_cli_target *targets, size_t count, const char *input, int json) {
    ast_format_error error;
    for (size_t i = 0; i < count; i++) {
        const char *path = targets[i].path;
        if (path && !targets[i].own && !ast_output_check(path, targets[i].table, &error))
            return ast_cli_misuse("--%s: %s", targets[i].option, error.text);
        if (path && targets[i].extension && !same(path, "-") && !ast_has_extension(path, targets[i].extension))
            return ast_cli_misuse("--%s %s: the name must end in %s", targets[i].option, path, targets[i].extension);
        if (json && same(path, "-"))
            return ast_cli_misuse("--json and --%s - would both write to standard output", targets[i].option);
        for (size_t j = 0; j < i; j++) {
            if (same(targets[j].path, path))
                return ast_cli_misuse("--%s and --%s would both write to %s", targets[j].option, targets[i].option,
                                      same(path, "-") ? "standard output" : path);
        }
    }
    return ast_cli_check_overwrite(targets, count, input);
}

/* NULL without memory. */
static char *numbered(const char *name, size_t number) {
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash + 1 : name, '.');
    int stem = (int)(dot ? (size_t)(dot - name) : strlen(name));
    char *copy = NULL;
    return asprintf(&copy, "%.*s-%06zu%s", stem, name, number, dot ? dot : "") < 0 ? NULL : copy;
}

int ast_cli_numbered(const char **const *names, size_t count, size_t number) {
    int code = -1;
    for (size_t i = 0; i < count; i++) {
        const char *name = *names[i];
        if (!name)
            continue;
        *names[i] = code < 0 && !same(name, "-") ? numbered(name, number) : NULL;
        if (code < 0 && same(name, "-"))
            code = ast_cli_misuse("--frame all writes files for each scene, which - cannot be");
        else if (code < 0 && !*names[i])
            code = ast_cli_fail("there is no memory for the name of %s", name);
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

int ast_cli_open_targets(ast_cli_target *targets, size_t count) {
    ast_format_error error;
    ast_cli_watch_signals();
    for (size_t i = 0; i < count; i++) {
        if (!targets[i].path)
            continue;
        targets[i].output = ast_output_open(targets[i].path, false, &error);
        if (!targets[i].output) {
            ast_cli_abandon_targets(targets, count);
            return ast_cli_fail("%s", error.text);
        }
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

int ast_cli_deliver(ast_cli_target *targets, size_t count, const ast_cli_common *common,
                    const ast_cli_printer *printer) {
    ast_format_error error;
    int to_stdout = 0, code = AST_CLI_DONE;
    for (size_t i = 0; i < count && code == AST_CLI_DONE; i++) {
        ast_output *output = targets[i].output;
        to_stdout |= same(targets[i].path, "-");
        if (!output || ((targets[i].own || ast_write_array(output, targets[i].array, &error)) &&
                        ast_output_finish(output, &error)))
            continue;
        code = ast_cli_target_failed(&targets[i], &error);
        ast_output_abandon(output);
        targets[i].output = NULL;
    }
    if (code == AST_CLI_DONE && !to_stdout)
        code = ast_cli_print(common, printer);
    return code == AST_CLI_DONE ? commit(targets, count) : code;
}

void ast_cli_abandon_targets(ast_cli_target *targets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ast_output_abandon(targets[i].output);
        targets[i].output = NULL;
    }
}
