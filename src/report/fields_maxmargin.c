/* Fields of `maxmargin`: linear, per-class and global max margin. */
#include "report/report_internal.h"

static const RfField maxmargin[] = {
    RF_STRING_ROW("name", "the dataset as it was asked for"),
    RF_INTEGER_ROW("n", "samples"),
    RF_INTEGER_ROW("d", "dimension, with the column of --bias"),
    RF_STRING_ROW("classes[]", "labels as they stood in the file, sorted"),
    RF_SHAPE_ROW("linear", "separator", "hard-margin linear separator"),
    RF_SHAPE_ROW("positive", "class_vector",
                 "min-norm vector of the positive class; null for an empty class"),
    RF_SHAPE_ROW("negative", "class_vector",
                 "min-norm vector of the negative class; null for an empty class"),
    RF_OBJECT_ROW("global", "the best margin of any two-layer network; null with --linear"),
    RF_NUMBER_ROW(
        "global.objective", "1/length",
        "|theta|^2 / 2 = sum_j |u_j| at smallest margin 1, u_j = |a_j| w_j; for several classes the sum"),
    RF_NUMBER_ROW("global.lower", "1/length", "certified lower bound of the objective"),
    RF_NUMBER_ROW("global.gap", "", "(objective - lower) / objective"),
    RF_NUMBER_ROW("global.margin", "length", "best normalised margin, 1 / (2 objective)"),
    RF_STRING_ROW("global.status", "optimal | limit | interrupted | infeasible"),
    RF_OBJECT_ROW("global.neurons[]", "an optimal network"),
    RF_NUMBER_ROW("global.neurons[].u[]", "1/length", "|a_j| w_j"),
    RF_INTEGER_ROW("global.neurons[].sign", "sign of a_j: 1 or -1"),
    RF_STRING_ROW("global.neurons[].pattern", "sign of u_j.x_i for every sample: a string of + - 0"),
    RF_NUMBER_ROW("global.lambda[]", "", "dual vector, n values >= 0"),
    RF_INTEGER_ROW("global.width_needed", "neurons that the optimum needs"),
    RF_NUMBER_ROW("global.leak", "", "slope of the activation for non-positive inputs"),
    RF_STRING_ROW("global.method", "how it was solved"),
    RF_INTEGER_ROW("global.patterns_seen", "patterns that the solver looked at"),
    RF_STRING_ROW("positive_class", "in per_class: the class that is +1, against the rest"),
    RF_SHAPE_ROW("per_class[]", "maxmargin",
                 "more than two classes: one object per class against the rest; otherwise null"),
};
const RfFieldTable rf_fields_maxmargin = {"maxmargin", false, "linear, per-class and global max margin",
                                          RF_ROWS(maxmargin)};
