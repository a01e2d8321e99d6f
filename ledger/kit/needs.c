/* How many comparisons a claim makes, at least: with --quick and in full. */
#include <string.h>

#include "kit/claims_internal.h"

static const struct {
  const char *id;
  rf_index quick, full;
} needs[] = {
    {"", 1, 1},
};

rf_index rf_claim_needs(const RfClaim *claim, bool quick) {
  for (size_t k = 0; k < sizeof needs / sizeof needs[0]; k++)
    if (strcmp(claim->id, needs[k].id) == 0) return quick ? needs[k].quick : needs[k].full;
  return 1;
}
