/* The JSON of an inspection. */
#include "present/present_internal.h"

#include <math.h>

static void cone_json(RfJson *json, const char *key, const RfCone *cone, const RfDataset *data) {
  rf_json_object(json, key);
  rf_json_answer(json, "nonempty", cone->nonempty);
  rf_json_numbers(json, "witness", cone->nonempty == RF_YES ? cone->witness : NULL, data->d);
  rf_json_numbers(json, "farkas", cone->nonempty == RF_NO ? cone->certificate : NULL, data->n);
  rf_json_end(json);
}

static void assumption_json(RfJson *json, const char *key, RfAssumption assumption) {
  rf_json_object(json, key);
  rf_json_answer(json, "holds", assumption.holds);
  rf_json_number(json, "slack", assumption.slack);
  rf_json_end(json);
}

static void extremal_list(RfJson *json, const char *key, const RfExtremalDirection *list, rf_index count,
                          rf_index d) {
  rf_json_array(json, key);
  for (rf_index k = 0; k < count; k++) {
    rf_json_object(json, NULL);
    rf_json_numbers(json, "direction", list[k].direction, d);
    rf_json_number(json, "G", list[k].G);
    rf_json_string(json, "sector", list[k].sector);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void class_members(RfJson *json, const RfDataset *data) {
  rf_json_array(json, "classes");
  for (rf_index k = 0; k < data->n_classes; k++) rf_json_string(json, NULL, data->class_names[k]);
  rf_json_end(json);
}

static void sample_members(RfJson *json, const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  const RfPairFacts *pairs = &inspection->pairs;
  rf_json_string(json, "name", data->name);
  rf_json_string(json, "status", inspection->interrupted ? "interrupted" : "done");
  rf_json_integer(json, "n", data->n);
  rf_json_integer(json, "d", data->d);
  rf_json_integer(json, "rank", pairs->rank);
  class_members(json, data);
  rf_json_integers(json, "class_sizes", inspection->class_sizes, data->n_classes);
  if (data->y) {
    rf_json_integer(json, "n_pos", pairs->n_pos);
    rf_json_integer(json, "n_neg", pairs->n_neg);
  } else {
    rf_json_null(json, "n_pos");
    rf_json_null(json, "n_neg");
  }
  rf_json_number(json, "norm_min", pairs->norm_min);
  rf_json_number(json, "norm_max", pairs->norm_max);
  rf_json_integer(json, "duplicates", pairs->duplicates);
  rf_json_integer(json, "zeros", pairs->zeros);
  rf_json_number(json, "leak", inspection->settings.leak);
  rf_json_string(json, "loss", rf_loss_name(inspection->settings.loss));
}

static void pair_members(RfJson *json, const RfInspection *inspection) {
  const RfPairFacts *pairs = &inspection->pairs;
  bool labels = inspection->data->y != NULL;
  rf_json_object(json, "orthogonal");
  rf_json_answer(json, "separable", rf_inspection_orthogonal(inspection));
  rf_json_number(json, "min_same", pairs->min_same);
  rf_json_number(json, "max_cross", pairs->max_cross);
  rf_json_end(json);
  rf_json_number(json, "sep", pairs->zeros ? NAN : pairs->sep);
  rf_json_answer(json, "symmetric", !labels ? RF_UNKNOWN : pairs->symmetric ? RF_YES : RF_NO);
  rf_json_answer(json, "general_position", inspection->sectors.general_position);
}

static void label_members(RfJson *json, const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  rf_json_class_margin(json, "positive", &inspection->positive);
  rf_json_class_margin(json, "negative", &inspection->negative);
  rf_json_object(json, "cones");
  cone_json(json, "s_plus", &inspection->cones[RF_CONE_POSITIVE], data);
  cone_json(json, "s_minus", &inspection->cones[RF_CONE_NEGATIVE], data);
  cone_json(json, "s_dead", &inspection->cones[RF_CONE_DEAD], data);
  rf_json_end(json);
}

static void no_label_members(RfJson *json) {
  rf_json_null(json, "positive");
  rf_json_null(json, "negative");
  rf_json_null(json, "cones");
}

static void sector_members(RfJson *json, const RfInspection *inspection) {
  const RfSectorCount *sectors = &inspection->sectors;
  const RfSpikeFree *spike = &inspection->spike;
  rf_json_object(json, "spike_free");
  rf_json_answer(json, "holds", spike->holds);
  rf_json_numbers(json, "witness", spike->holds == RF_NO ? spike->witness : NULL, inspection->data->d);
  rf_json_number(json, "number", spike->number);
  rf_json_end(json);
  rf_json_object(json, "arrangements");
  rf_json_count(json, "count", sectors->known ? sectors->count : NULL);
  rf_json_answer(json, "exact", sectors->known ? (sectors->exact ? RF_YES : RF_NO) : RF_UNKNOWN);
  rf_json_count(json, "bound", sectors->bound);
  rf_json_end(json);
}

static void training_members(RfJson *json, const RfInspection *inspection) {
  const RfPrincipal *principal = &inspection->theory.principal;
  const RfExtremal *extremal = &inspection->extremal;
  rf_json_object(json, "principal");
  assumption_json(json, "a1", principal->a1);
  assumption_json(json, "a2", principal->a2);
  assumption_json(json, "a3", principal->a3);
  assumption_json(json, "a5", principal->a5);
  rf_json_number(json, "mu_plus_norm", principal->mu_plus_norm);
  rf_json_number(json, "mu_minus_norm", principal->mu_minus_norm);
  rf_json_end(json);
  rf_json_object(json, "extremal");
  extremal_list(json, "positive", extremal->positive, extremal->n_positive, inspection->data->d);
  extremal_list(json, "negative", extremal->negative, extremal->n_negative, inspection->data->d);
  rf_json_boolean(json, "complete", extremal->complete);
  rf_json_end(json);
}

static void theorem_members(RfJson *json, const RfTheory *theory) {
  rf_json_array(json, "theorems");
  for (rf_index k = 0; k < theory->n_theorems; k++) {
    rf_json_object(json, NULL);
    rf_json_string(json, "id", theory->theorems[k].id);
    rf_json_answer(json, "applies", theory->theorems[k].applies);
    rf_json_string(json, "why", theory->theorems[k].why);
    rf_json_end(json);
  }
  rf_json_end(json);
}

static void prediction_member(RfJson *json, const RfTheory *theory) {
  if (theory->n_predictions == 0) return rf_json_null(json, "prediction");
  const RfPrediction *first = &theory->predictions[0];
  rf_json_object(json, "prediction");
  rf_json_string(json, "theorem", first->theorem);
  rf_json_number(json, "margin", first->margin);
  rf_json_string(json, "when", first->when);
  rf_json_end(json);
}

static void members(RfJson *json, const RfInspection *inspection, const char *positive_class) {
  bool labels = inspection->data->y != NULL;
  sample_members(json, inspection);
  if (labels)
    rf_json_linear_margin(json, "linear", &inspection->linear, false);
  else
    rf_json_null(json, "linear");
  pair_members(json, inspection);
  if (labels)
    label_members(json, inspection);
  else
    no_label_members(json);
  sector_members(json, inspection);
  if (labels) {
    training_members(json, inspection);
  } else {
    rf_json_null(json, "principal");
    rf_json_null(json, "extremal");
  }
  theorem_members(json, &inspection->theory);
  prediction_member(json, &inspection->theory);
  rf_json_string(json, "positive_class", positive_class);
  if (inspection->n_parts == 0) return rf_json_null(json, "per_class");
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < inspection->n_parts; k++) {
    rf_json_object(json, NULL);
    members(json, &inspection->parts[k], inspection->data->class_names[k]);
    rf_json_end(json);
  }
  rf_json_end(json);
}

void rf_inspection_json(RfJson *json, const RfInspection *inspection) { members(json, inspection, NULL); }
