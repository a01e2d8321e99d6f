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

const char *rf_status_text(RfStatus status) {
  for (size_t i = 0; i < sizeof status_table / sizeof status_table[0]; i++) {
    if (status_table[i].status == status) return status_table[i].text;
  }
  return "unknown status";
}
