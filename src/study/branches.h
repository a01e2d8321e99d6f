/* The tree of continuations of a flow that meets ridges. */
#ifndef RF_STUDY_BRANCHES_H
#define RF_STUDY_BRANCHES_H

#include "flow/flow.h"

/* Choices still to be followed, breadth first: each a list of continuations for the branching points in the
 * order in which they are met. It starts with the empty list. */
typedef struct RfStudyTree {
  rf_index count, next, room;
  rf_index **lists;
  rf_index *lengths;
} RfStudyTree;

void rf_study_tree_free(RfStudyTree *tree);
RfStatus rf_study_tree_new(RfContext *context, RfStudyTree *tree);
/* After the run of list `at`: its other continuations, at every branching point met behind the end of the
 * list. */
RfStatus rf_study_tree_grow(RfContext *context, RfStudyTree *tree, rf_index at, const RfFlowResult *result);
/* "neuron 3: ++-0; neuron 5 at log t = 2.31: ..."; NULL when out of memory. */
char *rf_study_tree_name(const RfFlowResult *result);

#endif
