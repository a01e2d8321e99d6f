/* Every continuation of a flow that meets ridges, at its start or later: a run that takes the first way
 * everywhere tells where there are others; each of these is a list of choices for a further run, and so on.
 */
#include "study/branches.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void rf_study_tree_free(RfStudyTree *tree) {
  for (rf_index k = 0; k < tree->count; k++) rf_free(tree->lists[k]);
  rf_free(tree->lists);
  rf_free(tree->lengths);
  memset(tree, 0, sizeof *tree);
}

/* A list of `length` choices, zero for the caller to fill; NULL when out of memory. */
static rf_index *add_list(RfContext *context, RfStudyTree *tree, rf_index length) {
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

RfStatus rf_study_tree_new(RfContext *context, RfStudyTree *tree) {
  memset(tree, 0, sizeof *tree);
  return add_list(context, tree, 0) ? RF_OK : RF_ERR_MEMORY;
}

RfStatus rf_study_tree_grow(RfContext *context, RfStudyTree *tree, rf_index at, const RfFlowResult *result) {
  for (rf_index j = tree->lengths[at]; j < result->n_branches; j++)
    for (rf_index o = 1; o < result->branches[j].n_options; o++) {
      rf_index *list = add_list(context, tree, j + 1);
      if (!list) return RF_ERR_MEMORY;
      for (rf_index i = 0; i < j; i++) list[i] = result->branches[i].taken;
      list[j] = o;
    }
  return RF_OK;
}

/* Room for the words of one branching point, beside its signs. */
enum { WORDS = 96 };

char *rf_study_tree_name(const RfFlowResult *result) {
  rf_index size = 1;
  if (!rf_multiply_sizes(&size, result->n_branches, result->n + WORDS)) return NULL;
  char *name = RF_NEW(char, size + 1), *at = name;
  for (rf_index j = 0; name && j < result->n_branches; j++) {
    const RfFlowBranch *branch = &result->branches[j];
    at += rf_format(at, WORDS / 2, "%sneuron %lld", j ? "; " : "", (long long)branch->neuron);
    if (isfinite(branch->log_t)) at += rf_format(at, WORDS / 2, " at log t = %.6g", branch->log_t);
    *at++ = ':', *at++ = ' ';
    for (rf_index i = 0; i < result->n; i++) {
      int8_t side = branch->sectors[branch->taken * result->n + i];
      *at++ = side > 0 ? '+' : side < 0 ? '-' : '0';
    }
    *at = '\0';
  }
  return name;
}
