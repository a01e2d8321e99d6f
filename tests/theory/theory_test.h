/* Everything inspect computes before the theory, for a generator's name or for arrays. */
#ifndef THEORY_TEST_H
#define THEORY_TEST_H

#include "rf_test.h"

typedef struct Inspected {
  RfDataset data;
  RfLinearMargin linear;
  RfClassMargin positive, negative;
  RfPairFacts pairs;
  RfSpikeFree spike;
  RfExtremal extremal;
  RfTheory theory;
} Inspected;

static inline void inspected_free(Inspected *all) {
  rf_theory_free(&all->theory);
  rf_extremal_free(&all->extremal);
  rf_spike_free_free(&all->spike);
  rf_class_margin_free(&all->positive);
  rf_class_margin_free(&all->negative);
  rf_linear_margin_free(&all->linear);
  rf_dataset_free(&all->data);
}

/* all->data is set; the rest is zero. */
static inline void inspect_data(RfContext *context, Inspected *all, double leak, RfLoss loss) {
  RfDataset *data = &all->data;
  RfTheoryProblem problem = {.data = data, .leak = leak, .loss = loss};
  if (data->y) {
    RfExtremalSettings settings = {.leak = leak, .slope = rf_loss_slope_at_zero(loss)};
    assert_true(rf_margin_linear(context, &all->linear, data->X, data->y, data->n, data->d) >= 0);
    assert_true(rf_margin_class(context, &all->positive, data->X, data->y, data->n, data->d, 1) >= 0);
    assert_true(rf_margin_class(context, &all->negative, data->X, data->y, data->n, data->d, -1) >= 0);
    assert_ok(context, rf_geometry_pairs(context, &all->pairs, data->X, data->y, data->n, data->d));
    assert_true(
        rf_geometry_extremal(context, &all->extremal, data->X, data->y, data->n, data->d, &settings) >= 0);
    assert_true(rf_geometry_spike_free(context, &all->spike, data->X, data->n, data->d, 0) >= 0);
    problem.linear = &all->linear, problem.positive = &all->positive, problem.negative = &all->negative;
    problem.pairs = &all->pairs, problem.extremal = &all->extremal, problem.spike = &all->spike;
  }
  assert_ok(context, rf_theory_inspect(context, &all->theory, &problem));
}

static inline Inspected inspect_loss(RfContext *context, const char *spec, double leak, RfLoss loss) {
  Inspected all;
  memset(&all, 0, sizeof all);
  assert_ok(context, rf_data_generate(context, &all.data, spec));
  inspect_data(context, &all, leak, loss);
  return all;
}

static inline Inspected inspect(RfContext *context, const char *spec, double leak) {
  return inspect_loss(context, spec, leak, RF_LOSS_LOGISTIC);
}

static inline Inspected inspect_arrays(RfContext *context, const double *X, const double *y, rf_index n,
                                       rf_index d, double leak) {
  Inspected all;
  memset(&all, 0, sizeof all);
  assert_ok(context, rf_dataset_from_arrays(context, &all.data, X, y, n, d, NULL));
  inspect_data(context, &all, leak, RF_LOSS_LOGISTIC);
  return all;
}

static inline double dot_of(const double *a, const double *b, rf_index d) {
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += a[j] * b[j];
  return sum;
}

static inline RfDataset generated(RfContext *context, const char *spec) {
  RfDataset data;
  assert_ok(context, rf_data_generate(context, &data, spec));
  return data;
}

#endif
