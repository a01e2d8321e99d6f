/* One walk through margin, geometry and theory. Nothing is computed here: results are collected, and what
 * depends on the samples alone is found once and lent to the parts of a multi-class set. */
#include "study/study_internal.h"
#include "net/net.h"
#include "core/core.h"

#include <math.h>
#include <string.h>

void rf_inspection_free(RfInspection *inspection) {
  if (!inspection) return;
  for (rf_index k = 0; k < inspection->n_parts; k++) {
    memset(&inspection->parts[k].sectors, 0, sizeof inspection->parts[k].sectors); /* borrowed */
    memset(&inspection->parts[k].spike, 0, sizeof inspection->parts[k].spike);
    rf_inspection_free(&inspection->parts[k]);
  }
  rf_free(inspection->parts);
  rf_sector_count_free(&inspection->sectors);
  rf_spike_free_free(&inspection->spike);
  rf_linear_margin_free(&inspection->linear);
  rf_class_margin_free(&inspection->positive);
  rf_class_margin_free(&inspection->negative);
  for (int k = 0; k < 3; k++) rf_cone_free(&inspection->cones[k]);
  rf_extremal_free(&inspection->extremal);
  rf_theory_free(&inspection->theory);
  rf_dataset_free(&inspection->part_data);
  rf_free(inspection->class_sizes);
  memset(inspection, 0, sizeof *inspection);
}

/* Outcomes of one station: a failure ends the walk, an interruption is remembered, other outcomes are in the
 * results. */
static bool passed(RfInspection *inspection, RfStatus *status, RfStatus outcome) {
  if (outcome == RF_INTERRUPTED) inspection->interrupted = true;
  *status = outcome < 0 ? outcome : RF_OK;
  return outcome >= 0;
}

static RfStatus samples_alone(RfContext *context, RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  RfStatus status;
  rf_progress(context, "sectors", -1, "");
  if (passed(inspection, &status,
             rf_geometry_count_sectors(context, &inspection->sectors, data->X, data->n, data->d, 0))) {
    rf_progress(context, "spike test", -1, "");
    passed(inspection, &status,
           rf_geometry_spike_free(context, &inspection->spike, data->X, data->n, data->d, 0));
  }
  return status;
}

/* w* lies in S+ or its mirror image in S- on orthogonally separable data only; w+ and w- are the better
 * guesses. */
static RfStatus find_cones(RfContext *context, RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  const double *hints[3] = {inspection->positive.w, inspection->negative.w, NULL};
  RfStatus status = RF_OK;
  rf_progress(context, "cones", -1, "");
  for (int k = 0; k < 3 && status == RF_OK; k++) {
    passed(inspection, &status,
           rf_geometry_cone(context, &inspection->cones[k], (RfConeKind)k, data->X, data->y, hints[k],
                            data->n, data->d));
  }
  return status;
}

static RfStatus find_margins(RfContext *context, RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  RfStatus status;
  rf_progress(context, "margins", -1, "");
  if (passed(inspection, &status,
             rf_margin_linear(context, &inspection->linear, data->X, data->y, data->n, data->d)) &&
      passed(inspection, &status,
             rf_margin_class(context, &inspection->positive, data->X, data->y, data->n, data->d, 1)))
    passed(inspection, &status,
           rf_margin_class(context, &inspection->negative, data->X, data->y, data->n, data->d, -1));
  return status;
}

static RfStatus find_extremal(RfContext *context, RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  RfExtremalSettings settings = {.leak = inspection->settings.leak,
                                 .slope = rf_loss_slope_at_zero(inspection->settings.loss),
                                 /* 0 = as many as a fraction of a second allows */ .node_limit =
                                     inspection->settings.thorough ? 1000000 : 0};
  RfStatus status;
  rf_progress(context, "extremal", -1, "");
  passed(inspection, &status,
         rf_geometry_extremal(context, &inspection->extremal, data->X, data->y, data->n, data->d, &settings));
  return status;
}

static RfStatus ask_theory(RfContext *context, RfInspection *inspection) {
  bool labels = inspection->data->y != NULL;
  RfTheoryProblem problem = {.data = inspection->data,
                             .leak = inspection->settings.leak,
                             .loss = inspection->settings.loss,
                             .linear = labels ? &inspection->linear : NULL,
                             .positive = labels ? &inspection->positive : NULL,
                             .negative = labels ? &inspection->negative : NULL,
                             .pairs = &inspection->pairs,
                             .spike = &inspection->spike,
                             .extremal = labels ? &inspection->extremal : NULL};
  RfStatus status;
  rf_progress(context, "theorems", -1, "");
  passed(inspection, &status, rf_theory_inspect(context, &inspection->theory, &problem));
  return status;
}

/* What else needs labels -1 and +1. */
static RfStatus with_labels(RfContext *context, RfInspection *inspection) {
  RfStatus status = find_cones(context, inspection);
  if (status == RF_OK) status = find_extremal(context, inspection);
  return status;
}

static RfStatus find_pairs(RfContext *context, RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  RfStatus status;
  rf_progress(context, "inner products", -1, "");
  inspection->class_sizes = RF_NEW(rf_index, data->n_classes);
  if (!inspection->class_sizes) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  for (rf_index i = 0; i < data->n; i++) inspection->class_sizes[data->class_of[i]]++;
  RfStatus outcome = rf_geometry_pairs(context, &inspection->pairs, data->X, data->y, data->n, data->d);
  inspection->pairs_known = outcome == RF_OK;
  passed(inspection, &status, outcome);
  return status;
}

RfAnswer rf_inspection_orthogonal(const RfInspection *inspection) {
  if (!inspection->pairs_known) return RF_UNKNOWN;
  return inspection->pairs.orthogonal_separable ? RF_YES : RF_NO;
}

/* Facts about the rows of class k alone, all labelled +1. */
static RfStatus class_pairs(RfContext *context, RfPairFacts *facts, const RfDataset *data, rf_index size,
                            rf_index k) {
  rf_index cells = 0, count = 0;
  bool fits = rf_multiply_sizes(&cells, size, data->d);
  double *rows = fits ? RF_NEW(double, cells) : NULL, *ones = RF_NEW(double, size);
  RfStatus status = RF_ERR_MEMORY;
  if (rows && ones) {
    for (rf_index i = 0; i < data->n; i++) {
      if (data->class_of[i] != k) continue;
      memcpy(rows + count * data->d, data->X + i * data->d, (size_t)data->d * sizeof *rows);
      ones[count++] = 1;
    }
    status = rf_geometry_pairs(context, facts, rows, ones, count, data->d);
  } else {
    rf_fail(context, status, "out of memory");
  }
  rf_free(rows);
  rf_free(ones);
  return status;
}

/* Class against class: every cross pair is one of some part; pairs inside a class come from the class alone.
 */
static RfStatus merge_pairs(RfContext *context, RfInspection *whole) {
  RfPairFacts *pairs = &whole->pairs;
  pairs->orthogonal_separable = true;
  pairs->min_same = pairs->max_cross = pairs->sep = NAN;
  for (rf_index k = 0; k < whole->n_parts; k++) {
    RfPairFacts inside = {0};
    RfStatus status, outcome = class_pairs(context, &inside, whole->data, whole->class_sizes[k], k);
    if (!passed(whole, &status, outcome)) return status;
    whole->pairs_known = whole->pairs_known && outcome == RF_OK && whole->parts[k].pairs_known;
    pairs->min_same = fmin(pairs->min_same, inside.min_same); /* fmin and fmax pass over NaN */
    pairs->max_cross = fmax(pairs->max_cross, whole->parts[k].pairs.max_cross);
    pairs->orthogonal_separable = pairs->orthogonal_separable && inside.orthogonal_separable;
  }
  pairs->orthogonal_separable = pairs->orthogonal_separable && !(pairs->max_cross > 0);
  return RF_OK;
}

static RfStatus inspect_part(RfContext *context, RfInspection *whole, rf_index k) {
  RfInspection *part = &whole->parts[k];
  part->settings = whole->settings;
  part->sectors = whole->sectors;
  part->spike = whole->spike;
  part->data = &part->part_data;
  RfStatus status = rf_dataset_one_versus_rest(context, &part->part_data, whole->data, k);
  if (status == RF_OK) status = find_pairs(context, part);
  if (status == RF_OK) status = find_margins(context, part);
  if (status == RF_OK) status = with_labels(context, part);
  if (status == RF_OK) status = ask_theory(context, part);
  rf_free(part->part_data.X); /* a copy of the whole set's samples: not kept once per class */
  part->part_data.X = NULL;
  whole->interrupted = whole->interrupted || part->interrupted;
  return status;
}

static RfStatus inspect_parts(RfContext *context, RfInspection *whole) {
  whole->parts = RF_NEW(RfInspection, whole->data->n_classes);
  if (!whole->parts) return rf_fail(context, RF_ERR_MEMORY, "out of memory");
  whole->n_parts = whole->data->n_classes;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < whole->n_parts && status == RF_OK; k++) status = inspect_part(context, whole, k);
  return status == RF_OK ? merge_pairs(context, whole) : status;
}

RfStatus rf_study_inspect(RfContext *context, RfInspection *inspection, const RfDataset *data,
                          const RfInspectionSettings *settings) {
  *inspection = (RfInspection){.data = data, .settings = *settings};
  /* Margins first: they cost little, and are what one asks first. */
  RfStatus status = data->y ? find_margins(context, inspection) : RF_OK;
  if (status == RF_OK) status = find_pairs(context, inspection);
  if (status == RF_OK && data->y) status = with_labels(context, inspection);
  if (status == RF_OK) status = samples_alone(context, inspection);
  if (status == RF_OK && !data->y) status = inspect_parts(context, inspection);
  if (status == RF_OK) status = ask_theory(context, inspection);
  if (status != RF_OK) {
    rf_inspection_free(inspection);
    return status;
  }
  if (inspection->interrupted) return RF_INTERRUPTED;
  return data->y && inspection->linear.status == RF_UNDECIDED ? RF_UNDECIDED : RF_OK;
}
