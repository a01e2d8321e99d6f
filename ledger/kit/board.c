/* Order and progress of a run of many claims. Longest first: with dynamic scheduling the threads then end
 * within the length of a short claim of each other (Graham's rule). */
#include "kit/board.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

/* Seconds on one core of claims that take more than two, as measured; only the order and the time left depend
 * on them. */
static const struct {
  const char *id;
  double seconds;
} measured[] = {
    {"MMV-31", 83},  {"MMV-30", 56}, {"MMV-20", 44}, {"MMV-32", 29}, {"VSS-03", 16}, {"WP-01", 15},
    {"LLWA-40", 11}, {"VSS-19", 10}, {"MMV-21", 10}, {"VSS-05", 9},  {"VSS-01", 9},  {"NB-02", 8},
    {"LLWA-41", 8},  {"LLWA-30", 7}, {"VSS-12", 7},  {"PL-19", 6},   {"NB-10", 6},   {"MMV-16", 5},
    {"PL-16", 5},    {"MMV-18", 5},  {"PL-14", 5},   {"NB-03", 4},   {"MMV-15", 4},  {"VSS-22", 4},
    {"MMV-11", 3},   {"MMV-19", 3},  {"LLWA-29", 3},
};

double rf_claim_expected(const RfClaim *claim, const RfClaimSettings *settings) {
  static const double usual[] = {0.2, 1, 600};
  if (claim->cost == RF_CLAIM_HEAVY && !settings->heavy) return 0;
  if (claim->cost == RF_CLAIM_NORMAL && settings->quick) return 0;
  for (size_t k = 0; k < sizeof measured / sizeof measured[0]; k++)
    if (strcmp(claim->id, measured[k].id) == 0) return settings->quick ? 0.3 : measured[k].seconds;
  return usual[claim->cost];
}

void rf_board_init(RfClaimBoard *board, rf_index *order, const RfContext *context,
                   const RfClaim *const *claims, rf_index count, const RfClaimSettings *settings) {
  memset(board, 0, sizeof *board);
  board->context = context, board->count = count, board->start = rf_clock_seconds();
  for (rf_index k = 0; k < count; k++) {
    double seconds = rf_claim_expected(claims[k], settings);
    rf_index at = k;
    board->total += seconds;
    for (; at > 0 && rf_claim_expected(claims[order[at - 1]], settings) < seconds; at--)
      order[at] = order[at - 1];
    order[at] = k;
  }
}

/* What is left at the pace so far, once a twentieth is done; negative before. */
static double seconds_left(const RfClaimBoard *board) {
  double spent = rf_clock_seconds() - board->start, share = board->finished / board->total;
  return share > 0.05 ? spent * (1 - share) / share : -1;
}

void rf_board_show(const RfClaimBoard *board) {
  char detail[160];
  size_t size = sizeof detail;
  double left = seconds_left(board);
  int used = rf_format(detail, size, "%lld/%lld", (long long)board->done, (long long)board->count);
  if (left >= 0)
    used += rf_format(detail + used, size - (size_t)used, ", %d:%02d left", (int)(left / 60), (int)left % 60);
  for (int lane = 0; lane < board->lanes && (size_t)used + 16 < size; lane++)
    if (board->running[lane])
      used += rf_format(detail + used, size - (size_t)used, " %.12s", board->running[lane]);
  rf_progress(board->context, "claims", board->total > 0 ? board->finished / board->total : 1, detail);
}

void rf_board_begin(RfClaimBoard *board, int lane, const char *id) {
  if (lane < RF_BOARD_LANES) board->running[lane] = id;
  if (lane < RF_BOARD_LANES && lane >= board->lanes) board->lanes = lane + 1;
  rf_board_show(board);
}

void rf_board_end(RfClaimBoard *board, int lane, double expected) {
  if (lane < RF_BOARD_LANES) board->running[lane] = NULL;
  board->done++, board->finished += expected;
  rf_board_show(board);
}
