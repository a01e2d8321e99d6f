/* The text of proof files (docs/proof.md), for every room that writes one: tokens, exact numbers, a file that
 * is written when its buffer is full. */
#ifndef RF_OPTIMUM_PROOF_TEXT_H
#define RF_OPTIMUM_PROOF_TEXT_H

#include "core/core.h"

typedef struct RfProofText {
  void *file; /* FILE *, written when the buffer is full; NULL: only counted */
  char *buffer;
  size_t used, size;
  double bytes; /* in all */
  bool failed;
} RfProofText;

/* path NULL: the text is only counted. */
RfStatus rf_proof_open(RfContext *context, RfProofText *text, const char *path);
RfStatus rf_proof_close(RfContext *context, RfProofText *text, const char *path);
void rf_proof_word(RfProofText *text, const char *word);
void rf_proof_integer(RfProofText *text, rf_index value);
void rf_proof_number(RfProofText *text, double value); /* as %a prints it, in every locale */

#endif
