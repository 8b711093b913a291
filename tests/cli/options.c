/* SPDX-License-Identifier: MIT
 *
 * Every option of every command, from the tables of the command itself, together with each method, kind of input, mode
 * and other option that it is not for: the command must exit with 2 and say so in one sentence that names the option
 * and what it is for. Nothing is read: the inputs do not exist. */
#include <asterism_depth.h>

#include <assert.h>
#include <camera.h>
#include <cli.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 32, ROOM = 4096 };

static size_t cases, wrong;

typedef struct line {
    const char *words[WORDS];
    size_t count;
    char text[WORDS][64]; /* of words that were made */
} line;

static void add(line *of, const char *word) {
    assert(of->count < WORDS - 1);
    of->words[of->count++] = word;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int run(const line *of, char *said) {
    int ends[2], status;
    size_t used = 0;
    ssize_t got;
    if (pipe(ends) != 0)
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        _exit(ast_cli_main((int)of->count, (char **)of->words)); /* as main does */
    }
    close(ends[1]);
    while (used < ROOM - 1 && (got = read(ends[0], said + used, ROOM - 1 - used)) > 0)
        used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Whether the word is in the text, and not only as a part of another one. */
static int has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || strchr(" ,", at[-1])) && strchr(" ,;\n", at[length]))
            return 1;
    return 0;
}

/* Runs the line, whose sentence must have every word of the list (NULL-terminated). */
static void refuse(const line *of, const char *const *expected) {
    char said[ROOM];
    int code = run(of, said), good = code == 2;
    const char *newline = strchr(said, '\n');
    good &= strncmp(said, "asterism: ", 10) == 0 && newline && !newline[1];
    for (; good && *expected; expected++)
        good = has_word(said, *expected) || (strchr(*expected, ' ') && strstr(said, *expected));
    cases++;
    if (good)
        return;
    wrong++;
    for (size_t i = 0; i < of->count; i++)
        printf("%s ", of->words[i]);
    printf("exited with %d and said: %s", code, said);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The option with a value that it takes: the default, if there is one, since typed is typed. */
static void add_option(line *of, const ast_cli_option *option) {
    char *text = of->text[of->count], *value = of->text[of->count + 1];
    snprintf(text, sizeof of->text[0], "--%s", option->name);
    add(of, text);
    if (option->kind == AST_CLI_FLAG || option->kind == AST_CLI_MAYBE)
        return;
    if (option->standard)
        snprintf(value, sizeof of->text[0], "%s", option->standard);
    else if (option->kind == AST_CLI_CHOICE)
        snprintf(value, sizeof of->text[0], "%s", option->choices[0]);
    else if (option->kind == AST_CLI_NUMBERS)
        snprintf(value, sizeof of->text[0], "%s", &"1,1,1,1,1"[2 * (5 - (size_t)option->low)]);
    else if (option->kind == AST_CLI_READ || option->kind == AST_CLI_PAGE)
        snprintf(value, sizeof of->text[0], "%s", option->kind == AST_CLI_READ ? "r.npy" : "r.html");
    else if (option->kind == AST_CLI_PIXELS || option->kind == AST_CLI_AMOUNT)
        snprintf(value, sizeof of->text[0], "%s", option->kind == AST_CLI_PIXELS ? "64x48" : "1G");
    else
        snprintf(value, sizeof of->text[0], "%g", option->low > 1 ? option->low : 1);
    add(of, value);
}

static void add_named(line *of, const ast_cli_command *command, const char *name) {
    const ast_cli_option *option = ast_cli_find(command, name, NULL);
    if (option)
        add_option(of, option);
}

static line begin(const ast_cli_command *command) {
    line of = {.count = 0};
    add(&of, "asterism");
    add(&of, command->name);
    return of;
}

/* The method, as the command takes it. */
static void add_method(line *of, const ast_cli_command *command, size_t method) {
    if (!command->methods)
        return;
    if (strncmp(command->methods->word, "--", 2) == 0)
        add(of, command->methods->word);
    add(of, command->methods->names[method]);
}

static const struct {
    unsigned kind;
    const char *words[4];
} inputs[] = {{AST_CLI_TABLE, {"x.csv"}},
              {AST_CLI_SPARSE, {"x.mtx"}},
              {AST_CLI_IMAGE, {"x.png"}},
              {AST_CLI_SCENE, {"x.mat"}},
              {AST_CLI_CLOUD, {"x.pcd"}},
              {AST_CLI_MESH, {"x.stl.gz"}},
              {AST_CLI_SEVERAL, {"x.csv", "y.csv"}},
              {AST_CLI_STANDARD_POINTS, {"-", "--format", "csv"}},
              {AST_CLI_STANDARD_DEPTH, {"-", "--raw", "64x48"}}};
enum { INPUTS = sizeof inputs / sizeof *inputs };

/* Data of one of these kinds, for commands that take data. Standard input needs words besides, unless `bare`. */
static void add_input(line *of, const ast_cli_command *command, unsigned kind, int bare) {
    if (command->input && !command->inputs && !command->methods)
        add(of, "x.html");
    for (size_t i = 0; i < INPUTS && command->inputs; i++) {
        if (!(inputs[i].kind & kind))
            continue;
        if (command->data)
            add(of, "--points");
        for (size_t w = 0; w < (bare ? 1 : 4) && inputs[i].words[w]; w++)
            add(of, inputs[i].words[w]);
        return;
    }
}

/* ---- What it is not for ------------------------------------------------------------------------------------------ */

typedef struct one {
    const ast_cli_command *command;
    const ast_cli_option *option;
    unsigned methods, inputs;
    char name[64]; /* with its dashes */
} one;

static void other_methods(const one *of) {
    const ast_cli_methods *methods = of->command->methods;
    for (size_t m = 0; methods && of->methods && methods->names[m]; m++) {
        const char *expected[16] = {of->name, "is for ", methods->word};
        size_t count = 3;
        if (of->methods & methods->bits[m])
            continue;
        line words = begin(of->command);
        add_input(&words, of->command, of->inputs, 0);
        add_method(&words, of->command, m);
        add_option(&words, of->option);
        for (size_t i = 0; methods->names[i]; i++)
            if (of->methods & methods->bits[i])
                expected[count++] = methods->names[i];
        refuse(&words, expected);
    }
}

/* A method that the option is for, and the angle or the number that the method needs. */
static void add_own_method(line *words, const one *of) {
    const ast_cli_methods *methods = of->command->methods;
    for (size_t m = 0; methods && methods->names[m]; m++)
        if (!of->methods || (of->methods & methods->bits[m])) {
            add_method(words, of->command, m);
            return;
        }
}

/* Whether the option itself says what standard input is. */
static int tells_kind(const ast_cli_option *option) {
    static const char *const names[] = {"format", "raw", "camera", "intrinsics"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option->name, names[i]) == 0)
            return 1;
    return 0;
}

static void other_inputs(const one *of) {
    for (size_t i = 0; i < INPUTS; i++) {
        unsigned kind = inputs[i].kind;
        int standard = kind >= AST_CLI_STANDARD_POINTS;
        if (!(of->command->inputs & kind & ~of->inputs) || (standard && tells_kind(of->option)))
            continue;
        const char *expected[] = {of->name, "is for ", NULL};
        line words = begin(of->command);
        add_option(&words, of->option);
        if (of->option->needs && strcmp(of->option->needs, "points") != 0)
            add_named(&words, of->command, of->option->needs);
        add_own_method(&words, of);
        add_input(&words, of->command, kind, 0);
        refuse(&words, expected);
    }
}

/* Data that the command does not take at all. */
static void check_inputs(const ast_cli_command *command) {
    for (size_t i = 0; i < INPUTS && command->inputs; i++) {
        const char *expected[] = {command->name, "takes", NULL};
        if ((command->inputs & inputs[i].kind) || inputs[i].words[1])
            continue;
        line words = begin(command);
        add_input(&words, command, inputs[i].kind, 0);
        refuse(&words, expected);
    }
}

/* Every name in a list with blanks between them. */
static void each_other(const one *of, const char *names, int needed) {
    int bare = of->option->excludes && strcmp(of->option->excludes, "format") == 0;
    for (const char *at = names; at && *at; at += strspn(at, " ")) {
        char name[64] = "", dashed[72];
        size_t length = strcspn(at, " ");
        memcpy(name, at, length);
        at += length;
        snprintf(dashed, sizeof dashed, "--%s", name);
        const char *expected[] = {of->name, needed ? "needs " : "cannot be combined with ", dashed, NULL};
        line words = begin(of->command);
        add_option(&words, of->option);
        add_own_method(&words, of);
        if (!of->command->data || strcmp(name, of->command->data) != 0)
            add_input(&words, of->command, of->inputs, bare);
        if (!needed)
            add_named(&words, of->command, name);
        refuse(&words, expected);
    }
}

static void other_modes(const one *of) {
    const char *automatic[] = {of->name, "cannot be combined with --angle auto", NULL};
    line words = begin(of->command);
    add_option(&words, of->option);
    if (of->option->not_in & AST_CLI_AUTO) {
        line by_angle = words;
        add(&by_angle, "x.npy");
        add(&by_angle, "--angle");
        add(&by_angle, "auto");
        refuse(&by_angle, automatic);
    }
}

static void check_option(const ast_cli_command *command, const ast_cli_use *use, const ast_cli_option *option) {
    one of = {.command = command,
              .option = option,
              .methods = option->methods ? option->methods : use->methods,
              .inputs = option->inputs ? option->inputs : use->group->inputs};
    snprintf(of.name, sizeof of.name, "--%s", option->name);
    if (!of.inputs)
        of.inputs = command->inputs;
    other_methods(&of);
    other_inputs(&of);
    each_other(&of, option->needs, 1);
    each_other(&of, option->excludes, 0);
    other_modes(&of);
}

/* The defaults of the rows are those of the library. */
static void check_defaults(void) {
    ast_cli_camera given = {0};
    const ast_depth_options *camera = &given.options;
    ast_depth_options options;
    ast_cli_defaults(ast_cli_camera_group.options, &given);
    ast_depth_options_init(&options);
    if (camera->filter_radius == options.filter_radius && camera->window == options.window &&
        camera->tv_iterations == options.tv_iterations && camera->filter_epsilon == options.filter_epsilon &&
        camera->jump == options.jump && camera->nearest == options.nearest && camera->farthest == options.farthest &&
        camera->tv_weight == options.tv_weight)
        return;
    wrong++;
    printf("the defaults of the options for depth images are not those of ast_depth_options_init\n");
}

int main(void) {
    for (size_t c = 0; ast_cli_commands[c]; c++) {
        ast_cli_use groups[AST_CLI_GROUPS];
        size_t count = ast_cli_groups(ast_cli_commands[c], groups);
        check_inputs(ast_cli_commands[c]);
        for (size_t g = 0; g < count; g++)
            for (const ast_cli_option *option = groups[g].group->options; option->name; option++)
                check_option(ast_cli_commands[c], &groups[g], option);
    }
    check_defaults();
    printf("%zu command lines, %zu wrong\n", cases, wrong);
    return wrong || cases < 200;
}
