/* Order and progress of a run of many claims. */
#ifndef RF_CLAIMS_BOARD_H
#define RF_CLAIMS_BOARD_H

#include "kit/claims_internal.h"

/* About how long a claim takes on one core with these settings, in seconds; 0 for one that is left out. */
double rf_claim_expected(const RfClaim *claim, const RfClaimSettings *settings);

enum { RF_BOARD_LANES = 64 };

/* What runs, what is done, how long the rest may take. One thread at a time may touch it. */
typedef struct RfClaimBoard {
  const RfContext *context; /* whose progress callback is told */
  rf_index count, done;
  int lanes;
  double start, total, finished; /* clock; expected seconds of all, and of those done */
  const char *running[RF_BOARD_LANES];
} RfClaimBoard;

/* order[count]: the longest first, so that all threads end at about the same time; ties as given. */
void rf_board_init(RfClaimBoard *board, rf_index *order, const RfContext *context,
                   const RfClaim *const *claims, rf_index count, const RfClaimSettings *settings);
void rf_board_begin(RfClaimBoard *board, int lane, const char *id);
void rf_board_end(RfClaimBoard *board, int lane, double expected);
/* Tells the progress callback. */
void rf_board_show(const RfClaimBoard *board);

#endif
