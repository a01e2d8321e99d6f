/* The list of commands. */
#include "cli/cli.h"

static const CliCommand *const commands[] = {
    &cli_maxmargin,
    &cli_train,
    &cli_verify,
    &cli_data_list,
    &cli_data_info,
};

const CliCommand *const *cli_commands(int *count) {
  *count = (int)(sizeof commands / sizeof commands[0]);
  return commands;
}
