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
  char *beside; /* the file that becomes the proof when it is whole */
} RfProofText;

/* path NULL: the text is only counted. The file appears when it is closed with RF_OK, whole or not at all;
 * closing returns the status that it was given, or its own failure. */
RfStatus rf_proof_open(RfContext *context, RfProofText *text, const char *path);
RfStatus rf_proof_close(RfContext *context, RfProofText *text, const char *path, RfStatus status);
void rf_proof_word(RfProofText *text, const char *word);
void rf_proof_integer(RfProofText *text, rf_index value);
void rf_proof_number(RfProofText *text, double value); /* as %a prints it, in every locale */

#endif
