/* What train shares with populations on a device. */
#ifndef RF_CLI_TRAIN_H
#define RF_CLI_TRAIN_H

#include "cli/cli.h"
#include "sweep/sweep.h"

/* Settings and start of an opened run; the data are loaded. */
RfStatus cli_train_prepare(CliRun *run, const RfDataset *data, RfLayeredNet *net, bool *layered,
                           RfTrainSettings *settings);

/* Runs a cell of any command; never prints. trained: as in CliRun. */
void cli_run_cell(const CliCommand *command, SweepAnswer *answer, int count, char **words,
                  const RfTrainResult *trained);

/* Runs cells of a sweep of train that ask for a device as populations: see SweepCommand.run_together. */
RfStatus cli_train_together(RfContext *context, const SweepPlan *plan, const rf_index *cells, rf_index count,
                            rf_index threads, SweepDeliver deliver, void *user);

#endif
