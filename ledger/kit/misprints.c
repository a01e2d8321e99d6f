/* The misprints of all papers as one list, and evidence on them. */
#include <stdio.h>
#include <string.h>

#include "kit/claims_internal.h"

static const RfMisprintTable *const papers[] = {&rf_misprints_wp, &rf_misprints_llwa, &rf_misprints_vss,
                                                &rf_misprints_mmv, &rf_misprints_pl};
enum { n_papers = sizeof papers / sizeof papers[0] };

rf_index rf_misprints_count(void) {
  rf_index total = 0;
  for (int p = 0; p < n_papers; p++) total += papers[p]->count;
  return total;
}

const RfMisprint *rf_misprint_at(rf_index k) {
  int p = 0;
  while (k >= papers[p]->count) k -= papers[p++]->count;
  return &papers[p]->misprints[k];
}

void rf_claim_misprint(RfClaimRun *run, const char *id, const char *what, double printed, double corrected,
                       double observed, bool printed_holds) {
  RfClaimResult *result = run->result;
  const RfMisprint *misprint = NULL;
  for (rf_index k = 0; k < rf_misprints_count() && !misprint; k++)
    if (strcmp(rf_misprint_at(k)->id, id) == 0) misprint = rf_misprint_at(k);
  rf_claim_true(run, id, misprint && result->n_misprints < RF_CLAIM_MISPRINTS);
  if (!misprint || result->n_misprints == RF_CLAIM_MISPRINTS) return;
  result->misprints[result->n_misprints++] = (RfMisprintEvidence){.misprint = misprint,
                                                                  .what = what,
                                                                  .printed = printed,
                                                                  .corrected = corrected,
                                                                  .observed = observed,
                                                                  .printed_holds = printed_holds};
  if (!printed_holds || result->printed == RF_PRINTED_SAME) rf_claim_printed(run, printed_holds);
}
