/* Every continuation of a flow that meets ridges, at its start or later: a run that takes the first way
 * everywhere tells where there are others; each of these is a list of choices for a further run, and so on.
 */
#include "cli/flow_branches.h"
#include "present/present.h"

#include <math.h>
#include <string.h>

void flow_tree_free(FlowTree *tree) {
  for (rf_index k = 0; k < tree->count; k++) rf_free(tree->lists[k]);
  rf_free(tree->lists);
  rf_free(tree->lengths);
  memset(tree, 0, sizeof *tree);
}

/* A list of `length` choices, zero for the caller to fill; NULL when out of memory. */
static rf_index *add_list(RfContext *context, FlowTree *tree, rf_index length) {
  if (tree->count == tree->room) {
    rf_index grown = 2 * tree->room + 16;
    rf_index **lists = rf_resize(tree->lists, grown, sizeof *lists);
    if (lists) tree->lists = lists;
    rf_index *lengths = lists ? rf_resize(tree->lengths, grown, sizeof *lengths) : NULL;
    if (lengths) tree->lengths = lengths, tree->room = grown;
  }
  rf_index *list = tree->count < tree->room ? RF_NEW(rf_index, length + 1) : NULL;
  if (!list) {
    rf_fail(context, RF_ERR_MEMORY, "out of memory for branches");
    return NULL;
  }
  tree->lengths[tree->count] = length;
  tree->lists[tree->count++] = list;
  return list;
}

RfStatus flow_tree_new(RfContext *context, FlowTree *tree) {
  memset(tree, 0, sizeof *tree);
  return add_list(context, tree, 0) ? RF_OK : RF_ERR_MEMORY;
}

RfStatus flow_tree_grow(RfContext *context, FlowTree *tree, rf_index at, const RfFlowResult *result) {
  for (rf_index j = tree->lengths[at]; j < result->n_branches; j++)
    for (rf_index o = 1; o < result->branches[j].n_options; o++) {
      rf_index *list = add_list(context, tree, j + 1);
      if (!list) return RF_ERR_MEMORY;
      for (rf_index i = 0; i < j; i++) list[i] = result->branches[i].taken;
      list[j] = o;
    }
  return RF_OK;
}

char *flow_tree_name(const RfFlowResult *result) {
  RfText name = {0};
  for (rf_index j = 0; j < result->n_branches; j++) {
    const RfFlowBranch *branch = &result->branches[j];
    rf_text_addf(&name, "%sneuron %lld", j ? "; " : "", (long long)branch->neuron);
    if (isfinite(branch->log_t)) rf_text_addf(&name, " at log t = %.6g", branch->log_t);
    rf_text_add(&name, ": ");
    for (rf_index i = 0; i < result->n; i++) {
      int8_t side = branch->sectors[branch->taken * result->n + i];
      rf_text_add(&name, side > 0 ? "+" : side < 0 ? "-" : "0");
    }
  }
  char *text = name.failed ? NULL : rf_copy_text(rf_text_string(&name));
  rf_text_free(&name);
  return text;
}
