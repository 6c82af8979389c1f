/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The command `nmodgpu`: finds the subcommand.  Each subcommand has a file of its own.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "nmodgpu.h"

static const cmd_command *const commands[] = {&cmd_run, &cmd_info, &cmd_demo, &cmd_plans};
#define COMMANDS (sizeof commands / sizeof commands[0])
static const cmd_command *const hidden[] = {&cmd_describe_flint, &cmd_usable_backends};
#define HIDDEN (sizeof hidden / sizeof hidden[0])

static void complain(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
static void complain(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("nmodgpu: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int cmd_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    return CMD_FAILED;
}

int cmd_usage(const cmd_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    return cmd_usage_seen(command);
}

int cmd_usage_seen(const cmd_command *command)
{
    fprintf(stderr, "Try 'nmodgpu %s --help'.\n", command->name);
    return CMD_USAGE;
}

int cmd_help(const cmd_command *command)
{
    fputs(command->help, stdout);
    return CMD_OK;
}

static int print_help(void)
{
    puts("nmodgpu: exact products of matrices over Z/pZ on the GPU, for programs that use FLINT.\n"
         "\n"
         "Usage: nmodgpu COMMAND [OPTIONS]\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
    puts("  version  print the version\n"
         "  help     print this text, or that of a command: nmodgpu help run\n"
         "\n"
         "Examples:\n"
         "  nmodgpu run ./my_flint_program     run a program with its products on the GPU\n"
         "  nmodgpu info                       what is here: backends, devices, FLINT, settings\n"
         "  nmodgpu demo                       see it working\n"
         "\n"
         "Exit status: 0 done, 1 failed, 2 wrong usage.");
    return CMD_OK;
}

static int print_version(void)
{
    printf("nmodgpu %s\n", nmodgpu_version());
    return CMD_OK;
}

static const cmd_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    for (size_t i = 0; i < HIDDEN; i++)
        if (strcmp(name, hidden[i]->name) == 0)
            return hidden[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "nmodgpu: there is no command '%s'\nTry 'nmodgpu help'.\n", name);
    return CMD_USAGE;
}

static int print_help_of(const char *name)
{
    const cmd_command *command = find_command(name);
    return command ? cmd_help(command) : unknown_command(name);
}

static int is_any(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs("nmodgpu: which command?\nTry 'nmodgpu help'.\n", stderr);
        return CMD_USAGE;
    }
    const char *word = argv[1];
    if (is_any(word, "help", "--help", "-h"))
        return argc > 2 ? print_help_of(argv[2]) : print_help();
    if (is_any(word, "version", "--version", "-V"))
        return print_version();
    const cmd_command *command = find_command(word);
    if (!command)
        return unknown_command(word);
    char title[64]; /* getopt_long begins its messages with argv[0] */
    snprintf(title, sizeof title, "nmodgpu %s", command->name);
    argv[1] = title;
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "nmodgpu: standard output: %s\n", strerror(errno));
        status = status == CMD_OK ? CMD_FAILED : status;
    }
    return status;
}
