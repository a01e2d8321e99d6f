/* The JSON of linear separators and class vectors, shared by several commands. */
#include "present/present.h"

#include <math.h>

void rf_json_answer(RfJson *json, const char *key, RfAnswer answer) {
  if (answer == RF_UNKNOWN)
    rf_json_null(json, key);
  else
    rf_json_boolean(json, key, answer == RF_YES);
}

/* Undecided and interrupted searches have neither answer. */
static void separable_json(RfJson *json, RfStatus status) {
  rf_json_answer(json, "separable",
                 status == RF_OK              ? RF_YES
                 : status == RF_NOT_SEPARABLE ? RF_NO
                                              : RF_UNKNOWN);
}

void rf_json_linear_margin(RfJson *json, const char *key, const RfLinearMargin *margin, bool with_intercept) {
  bool separable = margin->status == RF_OK, refuted = margin->status == RF_NOT_SEPARABLE;
  rf_json_object(json, key);
  separable_json(json, margin->status);
  rf_json_number(json, "margin", separable ? margin->margin : NAN);
  rf_json_numbers(json, "w", separable ? margin->w : NULL, margin->d);
  rf_json_number(json, "b", separable && with_intercept ? margin->b : NAN);
  rf_json_integers(json, "support", separable ? margin->support : NULL, margin->n_support);
  rf_json_numbers(json, "multipliers", separable ? margin->multipliers : NULL, margin->n);
  rf_json_numbers(json, "farkas", refuted ? margin->farkas : NULL, margin->n);
  rf_json_number(json, "stationarity", separable ? margin->stationarity : NAN);
  rf_json_integer(json, "iterations", margin->iterations);
  rf_json_number(json, "residual", refuted ? margin->farkas_residual : NAN);
  rf_json_end(json);
}

void rf_json_class_margin(RfJson *json, const char *key, const RfClassMargin *margin) {
  if (margin->empty) return rf_json_null(json, key);
  bool exists = margin->exists;
  rf_json_object(json, key);
  rf_json_numbers(json, "w", exists ? margin->w : NULL, margin->d);
  rf_json_number(json, "norm", exists ? margin->norm : NAN);
  rf_json_integers(json, "support", exists ? margin->support : NULL, margin->n_support);
  rf_json_numbers(json, "multipliers", exists ? margin->multipliers : NULL, margin->n);
  rf_json_answer(json, "spans", !exists ? RF_UNKNOWN : margin->spans ? RF_YES : RF_NO);
  rf_json_numbers(json, "farkas", margin->status == RF_NOT_SEPARABLE ? margin->farkas : NULL, margin->n);
  rf_json_number(json, "stationarity", exists ? margin->stationarity : NAN);
  rf_json_end(json);
}

void rf_json_classes(RfJson *json, const RfDataset *data) {
  rf_json_array(json, "classes");
  for (rf_index k = 0; k < data->n_classes; k++) rf_json_string(json, NULL, data->class_names[k]);
  rf_json_end(json);
}
