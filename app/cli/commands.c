/* The list of commands. */
#include "cli/cli.h"

/* clang-format off: a few commands a line; those of two words come before the one that is their first word alone */
static const CliCommand *const commands[] = {
    &cli_explain,     &cli_inspect,      &cli_maxmargin,  &cli_flow,         &cli_train,
    &cli_certify,     &cli_verify,       &cli_rerun,      &cli_sweep_status, &cli_sweep_resume,
    &cli_sweep_retry, &cli_sweep_export, &cli_sweep_show, &cli_sweep_plot,   &cli_sweep,
    &cli_basins,      &cli_explore,      &cli_data_list,  &cli_data_make,    &cli_data_convert,
    &cli_data_info,
};
/* clang-format on */

const CliCommand *const *cli_commands(int *count) {
  *count = (int)(sizeof commands / sizeof commands[0]);
  return commands;
}
