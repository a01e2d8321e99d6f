/* The list of commands. */
#include "cli/cli.h"

/* clang-format off: one command a line */
static const CliCommand *const commands[] = {
    &cli_explain, &cli_inspect,   &cli_maxmargin, &cli_flow,         &cli_train,     &cli_certify,
    &cli_verify,  &cli_data_list, &cli_data_make, &cli_data_convert, &cli_data_info,
};
/* clang-format on */

const CliCommand *const *cli_commands(int *count) {
  *count = (int)(sizeof commands / sizeof commands[0]);
  return commands;
}
