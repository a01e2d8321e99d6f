/* Fields of `explain`: one walk through the house. */
#include "present/present_internal.h"

static const RfField explain[] = {
    RF_RUN_ROW,
    RF_SHAPE_ROW("inspect", "inspect", "what the data decide before training"),
    RF_OBJECT_ROW("predicted", "what the theory says will happen"),
    RF_STRING_ROW("predicted.theorem", "the theorem that applies; null when none does"),
    RF_STRING_ROW("predicted.limit", "the limit it predicts, in words"),
    RF_NUMBER_ROW("predicted.margin", "length", "its normalised margin; null without a prediction"),
    RF_STRING_ROW("predicted.when", "what the theorem asks of the start"),
    RF_STRING_ROW("predicted.why", "why it applies, or why none does"),
    RF_OBJECT_ROW("predicted.per_class[]", "more than two classes: the same for each; otherwise null"),
    RF_STRING_ROW("predicted.per_class[].theorem", "the theorem that applies; null when none does"),
    RF_STRING_ROW("predicted.per_class[].limit", "the limit it predicts, in words"),
    RF_NUMBER_ROW("predicted.per_class[].margin", "length",
                  "its normalised margin; null without a prediction"),
    RF_STRING_ROW("predicted.per_class[].when", "what the theorem asks of the start"),
    RF_STRING_ROW("predicted.per_class[].why", "why it applies, or why none does"),
    RF_STRING_ROW("predicted.per_class[].positive_class", "the class that is +1, against the rest"),
    RF_SHAPE_ROW("flow", "flow", "where gradient flow goes; more than two classes: only per_class"),
    RF_SHAPE_ROW("certify", "certify", "what that point is; null when the flow did not converge"),
    RF_SHAPE_ROW("maxmargin", "maxmargin", "the best margin there is"),
    RF_OBJECT_ROW("proofs[]", "with --proof DIR: the files written; null without"),
    RF_STRING_ROW("proofs[].file", "where it was written"),
    RF_STRING_ROW("proofs[].claim", "optimum | infeasible | kkt"),
    RF_NUMBER_ROW("proofs[].lower", "", "the bracket in the file: of the objective; kkt: 0"),
    RF_NUMBER_ROW("proofs[].upper", "", "kkt: the bound of the stationarity"),
    RF_NUMBER_ROW("proofs[].bytes", "", "size of the file"),
    RF_NUMBER_ROW("proofs[].seconds", "s", "time to write it"),
    RF_BOOLEAN_ROW("proofs[].accepted", "with --check: rfcheck accepts it; null without"),
    RF_STRING_ROW("proofs[].verdict", "with --check: the line that rfcheck printed; null without"),
    RF_STRING_ROW("proofs[].positive_class", "more than two classes: the class that is +1; otherwise null"),
    RF_STRING_ROW("sentences[]", "the page in ten sentences"),
};
const RfFieldTable rf_fields_explain = {
    "explain", false, "what gradient flow learns here, and whether it is the best margin", RF_ROWS(explain)};
