/* Shared by the files of this room. */
#ifndef RF_STUDY_INTERNAL_H
#define RF_STUDY_INTERNAL_H

#include "reluflow/study.h"

/* Fill e->sentences from the results: two classes; several, from the parts. */
void rf_explain_sentences(RfExplanation *e);
void rf_explain_class_sentences(RfExplanation *e);

#endif
