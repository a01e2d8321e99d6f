/* Shared by the files of this room. */
#ifndef RF_EXPLAIN_INTERNAL_H
#define RF_EXPLAIN_INTERNAL_H

#include "reluflow/explain.h"

/* Fill e->sentences from the results: two classes; several, from the parts. */
void rf_explain_sentences(RfExplanation *e);
void rf_explain_class_sentences(RfExplanation *e);
/* "Theorem 1 of Phuong and Lampert" for PL-Thm1. */
void rf_explain_theorem(char *out, size_t size, const char *id);
RfFlowReport rf_explain_flow_report(const RfExplanation *e, int detail);

#endif
