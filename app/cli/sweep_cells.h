/* Commands as the cells of a sweep. */
#ifndef RF_CLI_SWEEP_CELLS_H
#define RF_CLI_SWEEP_CELLS_H

#include "cli/cli.h"
#include "sweep/sweep.h"

/* The command of this name, as cells; RF_ERR_USAGE when it cannot be swept. */
RfStatus sweep_command_named(RfContext *context, SweepCommand *command, const char *name);
/* How many words at words[at] belong to the command that is swept, words[0] being its name. */
int sweep_foreign_words(int count, char **words, int at);

#endif
