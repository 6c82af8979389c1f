/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * The command `nmodgpu`: what its subcommands share.
 */
#ifndef NMODGPU_CMD_H
#define NMODGPU_CMD_H

/** Exit codes; `run` besides gives 126 and 127 as shells do. */
enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_CANNOT_EXECUTE = 126, CMD_NOT_FOUND = 127 };

typedef struct cmd_command {
    const char *name;
    const char *summary; /**< one line for `nmodgpu help` */
    const char *help;    /**< all of `nmodgpu NAME --help` */
    /** argv[0] is "nmodgpu NAME"; returns the exit code. */
    int (*run)(int argc, char **argv);
} cmd_command;

extern const cmd_command cmd_info;
extern const cmd_command cmd_run;
extern const cmd_command cmd_demo;
extern const cmd_command cmd_plans;

/** Not listed: child processes of ours.  `info` loads one FLINT with the drop-in before it in the first; `demo`
 *  learns in the second which backends can be used, without holding their devices itself. */
extern const cmd_command cmd_describe_flint;
extern const cmd_command cmd_usable_backends;

/** Prints one line on standard error and returns CMD_FAILED. */
int cmd_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same, pointing to --help; returns CMD_USAGE. */
int cmd_usage(const cmd_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** For an option that getopt_long has already complained about; returns CMD_USAGE. */
int cmd_usage_seen(const cmd_command *command);

/** Prints the help text; returns CMD_OK. */
int cmd_help(const cmd_command *command);

#endif
