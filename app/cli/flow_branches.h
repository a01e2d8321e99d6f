/* `reluflow flow --branches all`: the tree of continuations. */
#ifndef RF_CLI_FLOW_BRANCHES_H
#define RF_CLI_FLOW_BRANCHES_H

#include "reluflow/reluflow.h"

/* Choices still to be followed, breadth first: each a list of continuations for the branching points in the
 * order in which they are met. It starts with the empty list. */
typedef struct FlowTree {
  rf_index count, next, room;
  rf_index **lists;
  rf_index *lengths;
} FlowTree;

void flow_tree_free(FlowTree *tree);
RfStatus flow_tree_new(RfContext *context, FlowTree *tree);
/* After the run of list `at`: its other continuations, at every branching point met behind the end of the
 * list. */
RfStatus flow_tree_grow(RfContext *context, FlowTree *tree, rf_index at, const RfFlowResult *result);
/* "neuron 3: ++-0; neuron 5 at log t = 2.31: ..."; NULL when out of memory. */
char *flow_tree_name(const RfFlowResult *result);

#endif
