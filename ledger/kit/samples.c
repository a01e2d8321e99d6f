/* Small questions about samples: class sums, cones, projections on the complement of some samples. */
#include "kit/samples.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

double rf_claim_cosine(const double *u, const double *v, rf_index d) {
  return rf_la_dot(u, v, d) / (rf_la_norm(u, d) * rf_la_norm(v, d));
}

void rf_claim_class_sum(double *sum, const RfDataset *data, int side) {
  memset(sum, 0, (size_t)data->d * sizeof *sum);
  for (rf_index i = 0; i < data->n; i++)
    if (data->y[i] == side) rf_la_axpy(sum, 1, data->X + i * data->d, data->d);
}

bool rf_claim_in_cone(const double *w, const RfDataset *data, int side) {
  for (rf_index i = 0; i < data->n; i++)
    if ((rf_la_dot(w, data->X + i * data->d, data->d) > 0) != (data->y[i] == side)) return false;
  return true;
}

void rf_claim_random_conic(double *out, const RfDataset *data, RfRandom *random) {
  double norm;
  do {
    memset(out, 0, (size_t)data->d * sizeof *out);
    for (rf_index i = 0; i < data->n; i++) {
      double weight = rf_random_below(random, 3) ? 0 : -log(1 - rf_random_uniform(random));
      rf_la_axpy(out, weight * data->y[i], data->X + i * data->d, data->d);
    }
    norm = rf_la_norm(out, data->d);
  } while (norm == 0);
  rf_la_scale(out, 1 / norm, data->d);
}

/* Gram-Schmidt, twice for accuracy. */
static void remove_parts(double *v, double (*basis)[RF_CLAIM_MOST_D], rf_index size, rf_index d) {
  for (int twice = 0; twice < 2; twice++)
    for (rf_index b = 0; b < size; b++) rf_la_axpy(v, -rf_la_dot(v, basis[b], d), basis[b], d);
}

void rf_claim_off_span(double *v, const RfDataset *data, const char *sector) {
  double basis[RF_CLAIM_MOST_D][RF_CLAIM_MOST_D];
  rf_index size = 0, d = data->d;
  for (rf_index i = 0; i < data->n && size < d; i++) {
    if (sector[i] != '0') continue;
    memcpy(basis[size], data->X + i * d, (size_t)d * sizeof(double));
    double before = rf_la_norm(basis[size], d);
    remove_parts(basis[size], basis, size, d);
    double left = rf_la_norm(basis[size], d);
    if (left <= 1e-10 * before) continue;
    rf_la_scale(basis[size++], 1 / left, d);
  }
  remove_parts(v, basis, size, d);
}

double rf_claim_slope(const double *x, const double *y, rf_index count) {
  double mx = 0, my = 0, xx = 0, xy = 0;
  for (rf_index i = 0; i < count; i++) mx += x[i] / (double)count, my += y[i] / (double)count;
  for (rf_index i = 0; i < count; i++) xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my);
  return xy / xx;
}

int rf_claim_cone_of(const int8_t *sides, const RfDataset *data) {
  bool plus = true, minus = true, dead = true;
  for (rf_index i = 0; i < data->n; i++) {
    bool active = sides[i] > 0;
    dead &= !active, plus &= active == (data->y[i] > 0), minus &= active == (data->y[i] < 0);
  }
  return dead ? 0 : plus ? 1 : minus ? -1 : 2;
}
