/* `reluflow flow --weights MODEL` where the model is given in layers. */
#ifndef RF_CLI_FLOW_LAYERED_H
#define RF_CLI_FLOW_LAYERED_H

#include "cli/cli.h"

typedef struct FlowLayered {
  const char *weights; /* the file */
  double log_scale;
  RfLoss loss;
  bool mean, verdict;
  const RfFlowSettings *settings;
} FlowLayered;

/* Runs it and writes everything that was asked for; returns the status for cli_finish. net is scaled. */
RfStatus flow_layered(CliRun *run, const RfDataset *data, RfLayeredNet *net, const FlowLayered *flow);

#endif
