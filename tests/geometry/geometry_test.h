/* What the tests of this room share: small datasets, random ones, rows read from JSON. */
#ifndef RF_GEOMETRY_TEST_H
#define RF_GEOMETRY_TEST_H

#include "rf_test.h"

#include <jansson.h>

static inline double *random_rows(RfRandom *random, rf_index n, rf_index d) {
  double *X = RF_NEW(double, n *d);
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(random);
  return X;
}

/* Small integers: many dependent, parallel, opposite and zero rows. */
static inline double *random_integers(RfRandom *random, rf_index n, rf_index d, rf_index size) {
  double *X = RF_NEW(double, n *d);
  for (rf_index i = 0; i < n * d; i++) X[i] = (double)(rf_random_below(random, 2 * size + 1) - size);
  return X;
}

static inline double *random_labels(RfRandom *random, rf_index n) {
  double *y = RF_NEW(double, n);
  for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(random);
  return y;
}

/* Orthogonally separable: positive samples in the positive orthant, negative ones in the negative orthant. */
static inline void random_orthant(RfRandom *random, double *X, double *y, rf_index n, rf_index d) {
  for (rf_index i = 0; i < n; i++) {
    y[i] = rf_random_sign(random);
    for (rf_index k = 0; k < d; k++) X[i * d + k] = y[i] * fabs(rf_random_gaussian(random));
  }
}

static inline json_t *load_json(const char *folder, const char *name) {
  char path[1024];
  json_error_t error;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  json_t *root = json_load_file(path, 0, &error);
  if (!root) fail_msg("%s: %s", path, error.text);
  return root;
}

static inline double *json_rows(const json_t *rows, rf_index *n, rf_index *d) {
  *n = (rf_index)json_array_size(rows);
  *d = (rf_index)json_array_size(json_array_get(rows, 0));
  double *X = RF_NEW(double, *n **d);
  for (rf_index i = 0; i < *n; i++)
    for (rf_index k = 0; k < *d; k++)
      X[i * *d + k] = json_number_value(json_array_get(json_array_get(rows, (size_t)i), (size_t)k));
  return X;
}

/* DS-PL2 of the catalogue. */
static const double pl2_X[10] = {2, 1, 1, 2, 3, 3, -3, 1, -1, -2};
static const double pl2_y[5] = {1, 1, 1, -1, -1};
static const double wp1_X[4] = {1.65, -0.47, -0.47, 1.35};

#endif
