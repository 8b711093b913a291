/* SPDX-License-Identifier: MIT
 *
 * Completion for bash, zsh and fish, made from the tables of options when the command is built.
 * Usage: asterism-completion bash|zsh|fish FILE */
#include <stdio.h>
#include <string.h>

#include <asterism_depth.h>
#include <cli.h>

/* Calls `put` for every option of a command; --help is one of them. */
static void each_option(FILE *to, const ast_cli_command *command,
                        void (*put)(FILE *to, const ast_cli_command *command, const ast_cli_option *option)) {
    static const ast_cli_option help = {.name = "help", .kind = AST_CLI_FLAG, .help = "print help"};
    ast_cli_use groups[AST_CLI_GROUPS];
    size_t count = ast_cli_groups(command, groups);
    for (size_t g = 0; g < count; g++)
        for (const ast_cli_option *option = groups[g].group->options; option->name; option++)
            put(to, command, option);
    put(to, command, &help);
}

/* The library knows the names of cameras. */
static const char *choice(const ast_cli_option *option, size_t i) {
    if (strcmp(option->name, "camera") == 0)
        return ast_camera_name(i);
    return option->choices ? option->choices[i] : NULL;
}

static int takes_value(const ast_cli_option *option) {
    return option->kind != AST_CLI_FLAG && option->kind != AST_CLI_OFF && option->kind != AST_CLI_MAYBE;
}

static int takes_file(const ast_cli_option *option) {
    if (choice(option, 0))
        return 0;
    return option->kind == AST_CLI_TEXT || option->kind == AST_CLI_READ || option->kind == AST_CLI_NAME ||
           option->kind == AST_CLI_PAGE;
}

static void put_choices(FILE *to, const ast_cli_option *option) {
    for (size_t i = 0; choice(option, i); i++)
        fprintf(to, "%s%s", i ? " " : "", choice(option, i));
}

static void put_names(FILE *to) {
    for (size_t i = 0; ast_cli_commands[i]; i++)
        fprintf(to, "%s ", ast_cli_commands[i]->name);
    fputs("help", to);
}

/* The first line of a text without the characters that mean something to a shell. */
static void put_about(FILE *to, const char *text) {
    for (; *text && !strchr(";\n", *text); text++)
        fputc(strchr("'\"`$\\[]:", *text) ? ' ' : *text, to);
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static void bash_value(FILE *to, const ast_cli_command *command, const ast_cli_option *option) {
    if (choice(option, 0)) {
        fprintf(to, "    %s,--%s) COMPREPLY=($(compgen -W '", command->name, option->name);
        put_choices(to, option);
        fputs("' -- \"$word\")); return ;;\n", to);
    } else if (takes_value(option) && !takes_file(option)) {
        fprintf(to, "    %s,--%s) return ;;\n", command->name, option->name);
    }
}

static void bash_name(FILE *to, const ast_cli_command *command, const ast_cli_option *option) {
    (void)command;
    fprintf(to, " --%s", option->name);
}

static void put_bash(FILE *to) {
    fputs("# Completion of asterism for bash; made from the tables of options.\n_asterism() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} "
          "names=\n"
          "    COMPREPLY=()\n    if ((COMP_CWORD == 1)) || [[ $command == help ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          to);
    put_names(to);
    fputs(" --help --version' -- \"$word\"))\n        return\n    fi\n    case $command,$before in\n", to);
    for (size_t i = 0; ast_cli_commands[i]; i++)
        each_option(to, ast_cli_commands[i], bash_value);
    fputs("    esac\n    case $command in\n", to);
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        fprintf(to, "    %s) names='", ast_cli_commands[i]->name);
        each_option(to, ast_cli_commands[i], bash_name);
        fputs("' ;;\n", to);
    }
    fputs("    esac\n    if [[ $word == -* && $before != --?* || $word == --* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n    else\n"
          "        COMPREPLY=($(compgen -f -- \"$word\"))\n        compopt -o filenames 2>/dev/null\n    fi\n}\n"
          "complete -F _asterism asterism asterism-mpi\n",
          to);
}

/* ---- zsh --------------------------------------------------------------------------------------------------------- */

static void zsh_option(FILE *to, const ast_cli_command *command, const ast_cli_option *option) {
    (void)command;
    fprintf(to, " \\\n            '--%s[", option->name);
    put_about(to, option->help);
    fputc(']', to);
    if (takes_value(option)) {
        fprintf(to, ":%s:", option->value ? option->value : "value");
        if (choice(option, 0)) {
            fputc('(', to);
            put_choices(to, option);
            fputc(')', to);
        } else {
            fputs(takes_file(option) ? "_files" : " ", to);
        }
    }
    fputc('\'', to);
}

static void put_zsh(FILE *to) {
    fputs("#compdef asterism asterism-mpi\n# Completion of asterism for zsh; made from the tables of options.\n"
          "_asterism() {\n    local -a commands\n    if ((CURRENT == 2)); then\n        commands=(\n",
          to);
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        fprintf(to, "            '%s:", ast_cli_commands[i]->name);
        put_about(to, ast_cli_commands[i]->summary);
        fputs("'\n", to);
    }
    fputs("        )\n        _describe command commands\n        return\n    fi\n    local name=$words[2]\n    shift "
          "words\n"
          "    ((CURRENT--))\n    case $name in\n",
          to);
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        fprintf(to, "        %s)\n            _arguments", ast_cli_commands[i]->name);
        each_option(to, ast_cli_commands[i], zsh_option);
        fputs(" \\\n            '*:input:_files' ;;\n", to);
    }
    fputs("    esac\n}\n_asterism \"$@\"\n", to);
}

/* ---- fish -------------------------------------------------------------------------------------------------------- */

static void fish_option(FILE *to, const ast_cli_command *command, const ast_cli_option *option) {
    fprintf(to, "complete -c asterism -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (takes_value(option))
        fputs(takes_file(option) ? " -rF" : " -x", to);
    if (choice(option, 0)) {
        fputs(" -a '", to);
        put_choices(to, option);
        fputc('\'', to);
    }
    fputs(" -d '", to);
    put_about(to, option->help);
    fputs("'\n", to);
}

static void put_fish(FILE *to) {
    fputs("# Completion of asterism for fish; made from the tables of options.\n", to);
    for (size_t i = 0; ast_cli_commands[i]; i++) {
        fprintf(to, "complete -c asterism -n __fish_use_subcommand -f -a %s -d '", ast_cli_commands[i]->name);
        put_about(to, ast_cli_commands[i]->summary);
        fputs("'\n", to);
        each_option(to, ast_cli_commands[i], fish_option);
    }
    fputs("complete -c asterism-mpi -w asterism\n", to);
}

int main(int argc, char **argv) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    static void (*const put[])(FILE *) = {put_bash, put_zsh, put_fish};
    size_t shell = 0;
    while (shell < 3 && (argc != 3 || strcmp(argv[1], shells[shell]) != 0))
        shell++;
    FILE *file = shell < 3 ? fopen(argv[2], "w") : NULL;
    if (!file) {
        fprintf(stderr, "usage: asterism-completion bash|zsh|fish FILE, where FILE can be written\n");
        return 2;
    }
    put[shell](file);
    return fclose(file) != 0;
}
