/* Status codes and their texts, from one table. */
#include "core/core.h"

static const struct {
  RfStatus status;
  const char *text;
} status_table[] = {
    {RF_OK, "done"},
    {RF_NOT_SEPARABLE, "not separable"},
    {RF_BRANCHED, "branched"},
    {RF_UNDECIDED, "undecided"},
    {RF_LIMIT, "stopped at a work limit"},
    {RF_INTERRUPTED, "interrupted"},
    {RF_INFEASIBLE, "infeasible"},
    {RF_ERR_MEMORY, "out of memory"},
    {RF_ERR_USAGE, "bad argument"},
    {RF_ERR_INPUT, "bad input"},
    {RF_ERR_IO, "input/output error"},
    {RF_ERR_NUMERIC, "numerical failure"},
    {RF_ERR_INTERNAL, "internal error"},
};

const char *rf_status_name(RfStatus status) {
  for (size_t i = 0; i < sizeof status_table / sizeof status_table[0]; i++) {
    if (status_table[i].status == status) return status_table[i].text;
  }
  return "unknown status";
}

RfStatus rf_status_worse(RfStatus a, RfStatus b) {
  static const RfStatus order[] = {RF_INTERRUPTED, RF_UNDECIDED,  RF_LIMIT,
                                   RF_BRANCHED,    RF_INFEASIBLE, RF_NOT_SEPARABLE};
  if (a < 0 || b < 0) return a < 0 ? a : b;
  for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
    if (a == order[k] || b == order[k]) return order[k];
  return RF_OK;
}
