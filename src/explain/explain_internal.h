/* Shared by the files of this room. */
#ifndef RF_EXPLAIN_INTERNAL_H
#define RF_EXPLAIN_INTERNAL_H

#include "reluflow/explain.h"

/* Fills e->sentences from the results. */
void rf_explain_sentences(RfExplanation *e);

#endif
