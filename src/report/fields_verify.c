/* Fields of `verify`: the papers' claims. */
#include "report/report_internal.h"

static const RfField verify[] = {
    RF_OBJECT_ROW("claims[]", "one object per claim that ran"),
    RF_STRING_ROW("claims[].id", "as in the ledger"),
    RF_STRING_ROW("claims[].paper", "which paper"),
    RF_STRING_ROW("claims[].title", "what is claimed"),
    RF_STRING_ROW("claims[].kind",
                  "identity, bound, limit, rate, probability, construction, counter-example, figure, table"),
    RF_NUMBER_ROW("claims[].predicted", "", "what the paper predicts"),
    RF_NUMBER_ROW("claims[].observed", "", "what was seen"),
    RF_NUMBER_ROW("claims[].error", "", "the error that is judged"),
    RF_NUMBER_ROW("claims[].tolerance", "", "the largest error that passes"),
    RF_STRING_ROW("claims[].compared", "what these numbers compare: the check that came closest to failing"),
    RF_INTEGER_ROW("claims[].checks", "comparisons made"),
    RF_NUMBER_ROW("claims[].tightness", "", "largest share of a bound that was used; null without a bound"),
    RF_STRING_ROW("claims[].verdict", "pass | fail | skipped"),
    RF_STRING_ROW("claims[].printed_form",
                  "pass | fail: the form printed in the paper, where it differs; otherwise null"),
    RF_STRING_ROW("claims[].note", "what else is worth knowing"),
    RF_NUMBER_ROW("claims[].seconds", "s", "time it took"),
    RF_INTEGER_ROW("passed", "claims that passed"),
    RF_INTEGER_ROW("failed", "claims that failed"),
    RF_INTEGER_ROW("skipped", "claims that did not run"),
};
const RfFieldTable rf_fields_verify = {"verify", false, "the claims of the five papers, run",
                                       RF_ROWS(verify)};
