/* Objects that several commands share. */
#include "present/present_internal.h"

static const RfField separator[] = {
    RF_BOOLEAN_ROW("separable", "some w through the origin has y_i w.x_i > 0 for every sample"),
    RF_NUMBER_ROW("margin", "length", "min_i y_i w.x_i of the unit vector w; null when not separable"),
    RF_NUMBER_ROW("w[]", "", "unit max-margin vector, w/margin = sum_i multipliers_i y_i x_i"),
    RF_NUMBER_ROW("b", "length", "intercept of --intercept: y_i (w.x_i + b) >= margin; null without it"),
    RF_INTEGER_ROW("support[]", "rows whose margin is within 1e-9 (relative) of the smallest"),
    RF_NUMBER_ROW("multipliers[]", "1/length^2", "n values >= 0, zero off the support"),
    RF_NUMBER_ROW(
        "farkas[]", "",
        "when not separable: n values >= 0 that sum to 1 with sum_i f_i y_i x_i = 0; otherwise null"),
    RF_NUMBER_ROW("stationarity", "",
                  "|w/margin - sum_i multipliers_i y_i x_i| / |w/margin|, recomputed at the end"),
    RF_INTEGER_ROW("iterations", "changes of the active set until the end"),
    RF_NUMBER_ROW("residual", "",
                  "|sum_i farkas_i y_i x_i| / max_i |x_i|, recomputed at the end; null when separable"),
};
const RfFieldTable rf_fields_separator = {
    "separator", true, "a max-margin linear separator, or the proof that none exists", RF_ROWS(separator)};

static const RfField class_vector[] = {
    RF_NUMBER_ROW("w[]", "1/length",
                  "the shortest w with w.x_i >= 1 on the class (not normalised); null when none exists"),
    RF_NUMBER_ROW("norm", "1/length", "|w|"),
    RF_INTEGER_ROW("support[]", "rows with w.x_i = 1 to 1e-9"),
    RF_NUMBER_ROW("multipliers[]", "1/length^2",
                  "n values >= 0, zero off the support, w = sum_i multipliers_i x_i"),
    RF_BOOLEAN_ROW("spans", "the support rows span the whole space"),
    RF_NUMBER_ROW("farkas[]", "",
                  "when no such w exists: n values >= 0 on the class that sum to 1 with sum_i f_i x_i = 0"),
    RF_NUMBER_ROW("stationarity", "", "|w - sum_i multipliers_i x_i| / |w|, recomputed at the end"),
};
const RfFieldTable rf_fields_class_vector = {"class_vector", true, "the min-norm vector of one class",
                                             RF_ROWS(class_vector)};

static const RfField witness[] = {
    RF_BOOLEAN_ROW("nonempty", "the cone holds a non-zero vector; null = not decided"),
    RF_NUMBER_ROW("witness[]", "", "a unit vector inside; null when empty"),
    RF_NUMBER_ROW("farkas[]", "", "when empty: n weights that prove it, see docs/math.md; otherwise null"),
};
const RfFieldTable rf_fields_witness = {"cone", true, "is a cone empty, with the proof", RF_ROWS(witness)};

static const RfField slack[] = {
    RF_BOOLEAN_ROW("holds", "the assumption holds; null = not decided, or it does not apply to these data"),
    RF_NUMBER_ROW("slack", "", "positive when it holds with room, negative when it fails by that much"),
};
const RfFieldTable rf_fields_slack = {"assumption", true, "an assumption of a paper and by how much it holds",
                                      RF_ROWS(slack)};
