/* SPDX-License-Identifier: MIT
 *
 * What the rows of options say about a command line: every typed option must be for the method, the input and the mode
 * of the run, and the sentences about those that are not are made from the masks of the rows. What the names of the
 * inputs do not tell is checked again when they are opened. */

#include <platform.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "terminal.h"

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

const char *ast_cli_join(char text[AST_CLI_LIST], const char *const *names, size_t count, const char *last) {
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && used < AST_CLI_LIST; i++) {
        const char *separator = i == 0 ? "" : i + 1 < count ? ", " : last;
        used += (size_t)snprintf(text + used, AST_CLI_LIST - used, "%s%s", separator, names[i]);
    }
    return text;
}

/* Kinds in words, wider ones first. */
static const struct {
    unsigned kinds;
    const char *many, *one;
} kind_words[] = {
    {AST_CLI_POINTS, "tables of points", "a table of points"},
    {AST_CLI_DEPTH, "depth images (.png, .pgm, .tiff, .pfm, .npy, .pcd, .mat, or a folder of images)", "a depth image"},
    {AST_CLI_SOLID, "clouds and meshes (.pcd, .ply, .obj, .stl, .las, .xyz)", "a cloud or a mesh"},
    {AST_CLI_IMAGE | AST_CLI_STANDARD_DEPTH, "depth images (.png, .pgm, .tiff, .pfm, .npy)", "a depth image"},
    {AST_CLI_TABLE, "files of points", "a table of points"},
    {AST_CLI_SPARSE, "sparse rows (.mtx, .npz)", "a file of sparse rows"},
    {AST_CLI_IMAGE, "files of depth images (.png, .pgm, .tiff, .pfm, .npy)", "a depth image"},
    {AST_CLI_SCENE, "scenes of the NYU v2 data set (.mat)", "a data set of scenes"},
    {AST_CLI_CLOUD, "clouds (.pcd, .ply, .obj, .las, .xyz)", "a cloud"},
    {AST_CLI_MESH, "meshes (.ply, .obj, .stl)", "a mesh"},
    {AST_CLI_SEVERAL, "multiple files of points", "multiple files that are read as one"},
    {AST_CLI_STANDARD_POINTS, "points on standard input", "points"},
    {AST_CLI_STANDARD_DEPTH, "depth frames on standard input", "depth images"}};
enum { KIND_WORDS = sizeof kind_words / sizeof *kind_words };

static const char *list_kinds(char text[AST_CLI_LIST], unsigned kinds) {
    const char *names[KIND_WORDS];
    size_t count = 0;
    for (size_t i = 0; i < KIND_WORDS; i++) {
        if ((kinds & kind_words[i].kinds) != kind_words[i].kinds)
            continue;
        names[count++] = kind_words[i].many;
        kinds &= ~kind_words[i].kinds;
    }
    return ast_cli_join(text, names, count, " and ");
}

static const char *word_of(unsigned kind) {
    for (size_t i = KIND_WORDS; i-- > 0;) /* the narrowest */
        if ((kind & ~kind_words[i].kinds) == 0)
            return kind_words[i].one;
    return "a table of points"; /* dense or sparse */
}

/* "--state FILE or --labels DIR": options of the command by their names, which have blanks between them. */
static const char *list_options(char text[AST_CLI_LIST], const ast_cli_command *command, const char *names) {
    char whole[8][64];
    const char *words[8];
    size_t count = 0;
    for (const char *at = names; *at && count < 8; at += strspn(at, " ")) {
        char name[48] = "";
        size_t length = strcspn(at, " ");
        memcpy(name, at, length < sizeof name ? length : sizeof name - 1);
        const ast_cli_option *option = ast_cli_find(command, name, NULL);
        if (option) {
            snprintf(whole[count], sizeof whole[count], "--%s%s%s", name, option->value ? " " : "",
                     option->value ? option->value : "");
            words[count] = whole[count];
            count++;
        }
        at += length;
    }
    return ast_cli_join(text, words, count, " or ");
}

int ast_cli_lists(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; length && (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return 1;
    return 0;
}

/* The first of these options that was typed, or NULL. */
static const char *typed_of(const ast_cli_common *common, const char *names) {
    for (size_t i = 0; i < common->typed_count; i++)
        if (ast_cli_lists(names, common->typed[i]->name))
            return common->typed[i]->name;
    return NULL;
}

/* ---- Methods ----------------------------------------------------------------------------------------------------- */

static size_t method_of(const ast_cli_command *command, const void *settings) {
    int index = *(const int *)((const char *)settings + command->method);
    return index < 0 ? 0 : (size_t)index;
}

const char *ast_cli_list_methods(char text[AST_CLI_LIST], const ast_cli_methods *methods, unsigned bits,
                                 const char *last) {
    const char *names[16];
    size_t count = 0;
    for (size_t i = 0; methods->names[i] && count < 16; i++)
        if (methods->bits[i] & bits)
            names[count++] = methods->names[i];
    return ast_cli_join(text, names, count, last);
}

static int check_methods(const ast_cli_command *command, const ast_cli_common *common) {
    const ast_cli_methods *methods = command->methods;
    char list[AST_CLI_LIST];
    size_t index = methods ? method_of(command, common) : 0;
    for (size_t i = 0; methods && i < common->typed_count; i++) {
        ast_cli_use use = {0};
        const ast_cli_option *option = ast_cli_find(command, common->typed[i]->name, &use);
        unsigned bits = option->methods ? option->methods : use.methods;
        if (bits && !(bits & methods->bits[index]))
            return ast_cli_misuse("--%s is for %s %s, not %s", option->name, methods->word,
                                  ast_cli_list_methods(list, methods, bits, " and "), methods->names[index]);
    }
    return -1;
}

/* ---- Other options, modes ---------------------------------------------------------------------------------------- */

static int check_company(const ast_cli_command *command, const ast_cli_common *common) {
    char list[AST_CLI_LIST];
    for (size_t i = 0; i < common->typed_count; i++) {
        const ast_cli_option *option = common->typed[i];
        const char *other = option->excludes ? typed_of(common, option->excludes) : NULL;
        if (other)
            return ast_cli_misuse("--%s cannot be combined with --%s", option->name, other);
        if (option->needs && !typed_of(common, option->needs))
            return ast_cli_misuse("--%s needs %s", option->name, list_options(list, command, option->needs));
    }
    return -1;
}

const char *ast_cli_blocked(const ast_cli_common *common, unsigned mode) {
    static char name[80];
    const ast_cli_methods *methods = common->command->methods;
    size_t index = methods ? method_of(common->command, common) : 0;
    if (methods && methods->not_in && (methods->not_in[index] & mode)) {
        snprintf(name, sizeof name, "%s %s", methods->word, methods->names[index]);
        return name;
    }
    for (size_t i = 0; i < common->typed_count; i++) {
        if (!(common->typed[i]->not_in & mode))
            continue;
        snprintf(name, sizeof name, "--%s", common->typed[i]->name);
        return name;
    }
    return NULL;
}

static int check_modes(const ast_cli_command *command, const ast_cli_common *common) {
    unsigned on = command->modes ? command->modes(common) : 0;
    const char *what = on & AST_CLI_AUTO ? ast_cli_blocked(common, AST_CLI_AUTO) : NULL;
    if (what)
        return ast_cli_misuse("%s cannot be combined with --angle auto", what);
    what = on & AST_CLI_ON_RANKS ? ast_cli_blocked(common, AST_CLI_ON_RANKS) : NULL;
    if (what)
        return ast_cli_misuse("%s works on one rank: start it without mpirun, or with -n 1", what);
    return -1;
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

_Static_assert(AST_CLI_TABLE == (int)AST_HOLDS_TABLE && AST_CLI_SPARSE == (int)AST_HOLDS_SPARSE &&
                   AST_CLI_IMAGE == (int)AST_HOLDS_DEPTH && AST_CLI_SCENE == (int)AST_HOLDS_SCENES &&
                   AST_CLI_CLOUD == (int)AST_HOLDS_CLOUD && AST_CLI_MESH == (int)AST_HOLDS_MESH,
               "what a file holds is a kind of input");

/* The value of an option as it was typed, or NULL. */
static const char *value_of(const ast_cli_common *common, const char *name) {
    for (size_t i = 0; i < common->typed_count; i++)
        if (strcmp(common->typed[i]->name, name) == 0)
            return common->values[i];
    return NULL;
}

int ast_cli_expects_depth(const ast_cli_common *common) {
    const ast_cli_command *command = common->command;
    if (!(command->inputs & AST_CLI_IMAGE) || !(command->inputs & AST_CLI_TABLE))
        return (command->inputs & AST_CLI_IMAGE) != 0;
    for (size_t i = 0; i < common->typed_count; i++) {
        ast_cli_use use = {0};
        const ast_cli_option *option = ast_cli_find(command, common->typed[i]->name, &use);
        unsigned inputs = option->inputs ? option->inputs : use.group->inputs;
        if (inputs && (inputs & AST_CLI_IMAGE) && !(inputs & AST_CLI_TABLE))
            return 1;
    }
    return 0;
}

/* Everything is possible where the name says nothing. */
ast_cli_input ast_cli_look_up(const ast_cli_common *common, const char *path, const char *format) {
    ast_cli_input input = {path, .format = ast_format_of(path, format)};
    input.kinds = input.format.row ? input.format.holds : AST_CLI_ANY_INPUT;
    input.format.columns = value_of(common, "columns"); /* of .xyz */
    bool array = input.kinds == AST_CLI_TABLE && ast_has_extension(path, ".npy");
    bool organised = (input.kinds & AST_CLI_CLOUD) && !(common->command->inputs & AST_CLI_CLOUD) &&
                     (common->command->inputs & AST_CLI_IMAGE) && ast_pcd_is_image(path);
    if ((array && ast_cli_expects_depth(common)) || organised) {
        input.format = ast_format_of(path, "png"); /* images.c looks at the bytes */
        input.kinds = input.format.holds;
    }
    if (strcmp(path, "-") == 0) {
        if (typed_of(common, "raw intrinsics camera"))
            input.kinds = AST_CLI_STANDARD_DEPTH;
        else if (!format)
            input.kinds = AST_CLI_STANDARD_POINTS | AST_CLI_STANDARD_DEPTH;
        else if (input.kinds == AST_CLI_TABLE)
            input.kinds = AST_CLI_STANDARD_POINTS;
    }
    return input;
}

/* Of clouds only text has columns that can be chosen. */
static int check_columns(const ast_cli_input *input) {
    ast_file_format text = ast_format_of("cloud.xyz", NULL);
    return !input->format.columns || !(input->format.holds & AST_CLI_SOLID) || input->format.row == text.row
               ? -1
               : ast_cli_misuse("--columns is for tables of points and .xyz, and %s is %s", ast_cli_name(input->path),
                                word_of(input->kinds));
}

/* The options, and the method, must be for one of the kinds that the input may be. */
static int check_kinds(const ast_cli_common *common, unsigned kinds, const char *input, int exit_code) {
    const ast_cli_command *command = common->command;
    const ast_cli_methods *methods = command->methods;
    char list[AST_CLI_LIST];
    const char *name = kinds == AST_CLI_SEVERAL ? "the input" : ast_cli_name(input), *what = word_of(kinds);
    if (!command->inputs)
        return -1;
    if (!(kinds & command->inputs) && exit_code == AST_CLI_FAILED && access(input, F_OK) != 0)
        return ast_cli_end(exit_code, "%s: cannot be opened: %s", input, strerror(errno));
    if (!(kinds & command->inputs))
        return ast_cli_end(exit_code, "%s takes %s, and %s is %s", command->name, list_kinds(list, command->inputs),
                           name, what);
    for (size_t i = 0; i < common->typed_count; i++) {
        ast_cli_use use = {0};
        const ast_cli_option *option = ast_cli_find(command, common->typed[i]->name, &use);
        unsigned inputs = option->inputs ? option->inputs : use.group->inputs;
        if (inputs && !(inputs & kinds))
            return ast_cli_end(exit_code, "--%s is for %s, and %s is %s", option->name,
                               list_kinds(list, inputs & command->inputs ? inputs & command->inputs : inputs), name,
                               what);
    }
    size_t index = methods ? method_of(command, common) : 0;
    if (methods && methods->inputs && methods->inputs[index] && !(methods->inputs[index] & kinds))
        return ast_cli_end(exit_code, "%s is %s, which %s %s does not take", name, what, methods->word,
                           methods->names[index]);
    return -1;
}

int ast_cli_rules_of_kind(const ast_cli_common *common, unsigned kind, const char *input) {
    return check_kinds(common, kind, input, AST_CLI_FAILED);
}

static int check_inputs(const ast_cli_common *common, const ast_cli_input *inputs) {
    int several = 1, code = -1;
    if (!(common->command->inputs & AST_CLI_SEVERAL) || !inputs[1].path) {
        for (; inputs->path && code < 0; inputs++) {
            code = check_kinds(common, inputs->kinds, inputs->path, AST_CLI_USAGE);
            code = code < 0 ? check_columns(inputs) : code;
        }
        return code;
    }
    for (size_t i = 0; inputs[i].path; i++)
        several &= inputs[i].kinds == AST_CLI_TABLE;
    if (!several)
        return -1; /* whoever lists them says what cannot be read as one */
    return check_kinds(common, AST_CLI_SEVERAL, inputs->path, AST_CLI_USAGE);
}

/* Where an option names the data and is not typed, there is nothing that the options about data are for. */
static int check_no_data(const ast_cli_common *common) {
    char list[AST_CLI_LIST];
    for (size_t i = 0; i < common->typed_count; i++) {
        ast_cli_use use = {0};
        const ast_cli_option *option = ast_cli_find(common->command, common->typed[i]->name, &use);
        if (option->inputs || use.group->inputs)
            return ast_cli_misuse("--%s needs %s", option->name,
                                  list_options(list, common->command, common->command->data));
    }
    return -1;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Whether an option was typed that excludes this one, and so replaces it. */
static int typed_instead(const ast_cli_common *common, const char *name) {
    for (size_t i = 0; i < common->typed_count; i++)
        if (common->typed[i]->excludes && ast_cli_lists(common->typed[i]->excludes, name))
            return 1;
    return 0;
}

static int check_required(const ast_cli_command *command, const ast_cli_common *common) {
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups);
    unsigned bit = command->methods ? command->methods->bits[method_of(command, common)] : 0;
    for (size_t i = 0; i < count; i++) {
        for (const ast_cli_option *option = groups[i].group->options; option->name; option++) {
            int applies = !option->methods || (option->methods & bit);
            if (option->required && applies && !ast_cli_typed(common, option->name) &&
                !typed_instead(common, option->name))
                return ast_cli_misuse("%s needs --%s %s, %s", command->name, option->name, option->value,
                                      option->required);
        }
    }
    return -1;
}

int ast_cli_rules(const ast_cli_command *command, const ast_cli_common *common) {
    int code = check_methods(command, common);
    if (code < 0)
        code = check_company(command, common);
    if (code < 0)
        code = check_modes(command, common);
    if (code < 0 && command->data && !common->inputs->path)
        code = check_no_data(common);
    else if (code < 0 && command->inputs)
        code = check_inputs(common, common->inputs);
    return code < 0 ? check_required(command, common) : code;
}
