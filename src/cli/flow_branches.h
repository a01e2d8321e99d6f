/* `reluflow flow --branches all`: every continuation of a start that lies on ridges. */
#ifndef RF_CLI_FLOW_BRANCHES_H
#define RF_CLI_FLOW_BRANCHES_H

#include "reluflow/reluflow.h"

/* One start per combination of continuations of the neurons that branch at t = 0. */
typedef struct FlowChoices {
  rf_index count;
  RfFlowStart *starts;
  char **names; /* "neuron 3: ++-0; neuron 5: ..." */
} FlowChoices;

void flow_choices_free(FlowChoices *choices);
/* At most `most` combinations; none when nothing branches at t = 0. */
RfStatus flow_choices_new(RfContext *context, FlowChoices *choices, const RfFlowProblem *problem,
                          const RfAlignment *alignment, rf_index most);

#endif
