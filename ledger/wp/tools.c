/* Wang and Pilanci: masks of an arrangement, the programs over one cone, and the dual norm in three ways. */
#include <math.h>
#include <string.h>

#include "geometry/geometry.h"
#include "la/la.h"
#include "margin/margin.h"
#include "wp/wp.h"

void rf_wp_masks_free(RfWpMasks *masks) {
  rf_free(masks->masks);
  rf_free(masks->witnesses);
  *masks = (RfWpMasks){0};
}

RfStatus rf_wp_masks(RfContext *context, RfWpMasks *masks, const double *X, rf_index n, rf_index d) {
  RfSectors *sectors = NULL;
  rf_index capacity = 0;
  *masks = (RfWpMasks){0};
  RfStatus status = rf_geometry_sectors_new(context, &sectors, X, n, d, NULL);
  while (!status) {
    bool found;
    const uint64_t *positive;
    const double *witness;
    status = rf_geometry_sectors_next(context, sectors, &found, &positive, &witness);
    if (status || !found) break;
    if (masks->count == capacity) {
      capacity = 2 * capacity + 16;
      uint64_t *words = rf_resize(masks->masks, capacity, sizeof *words);
      if (words) masks->masks = words;
      double *rows = rf_resize(masks->witnesses, capacity * d, sizeof *rows);
      if (rows) masks->witnesses = rows;
      if (!words || !rows) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for arrangements");
    }
    if (status) break;
    masks->masks[masks->count] = positive[0];
    memcpy(masks->witnesses + masks->count++ * d, witness, (size_t)d * sizeof *witness);
  }
  rf_geometry_sectors_free(sectors);
  if (status) rf_wp_masks_free(masks);
  return status;
}

void rf_wp_masked(double *out, const double *X, rf_index n, rf_index d, uint64_t mask, const double *lam) {
  memset(out, 0, (size_t)d * sizeof *out);
  for (rf_index i = 0; i < n; i++)
    if (mask >> i & 1) rf_la_axpy(out, lam[i], X + i * d, d);
}

RfStatus rf_wp_cone_maximum(RfContext *context, double *value, double *z, const double *X, rf_index n,
                            rf_index d, uint64_t mask, const double *lam) {
  double columns[RF_WP_MOST * RF_WP_MOST_D], f[RF_WP_MOST_D], own[RF_WP_MOST];
  RfLeastSquaresInfo info;
  rf_wp_masked(f, X, n, d, mask, lam);
  rf_la_scale(f, -1, d);
  for (rf_index i = 0; i < n; i++)
    for (rf_index k = 0; k < d; k++) columns[i * d + k] = (mask >> i & 1 ? 1 : -1) * X[i * d + k];
  RfStatus status = rf_la_nnls(context, z ? z : own, NULL, &info, columns, f, d, n, d, NULL);
  *value = status ? NAN : info.residual;
  return status;
}

RfStatus rf_wp_dual_norm(RfContext *context, double *value, double *u, const double *X, rf_index n,
                         rf_index d, const double *lam, int sign) {
  double y[RF_WP_MOST], size[RF_WP_MOST];
  RfDualNorm norm;
  for (rf_index i = 0; i < n; i++) y[i] = lam[i] < 0 ? -1 : 1, size[i] = fabs(lam[i]);
  RfStatus status = rf_optimum_dual_norm(context, &norm, X, y, size, n, d, 0, sign);
  if (status) return status;
  *value = norm.upper;
  if (u) memcpy(u, norm.u, (size_t)d * sizeof *u);
  rf_dual_norm_free(&norm);
  return RF_OK;
}

double rf_wp_rectified(const double *X, rf_index n, rf_index d, const double *lam, const double *u) {
  double sum = 0;
  for (rf_index i = 0; i < n; i++) sum += lam[i] * fmax(0, rf_la_dot(X + i * d, u, d));
  return sum;
}

double rf_wp_grid_norm(const double *X, rf_index n, const double *lam, int sign) {
  const double turn = 2 * 3.14159265358979323846;
  double best = 0;
  for (rf_index k = -4 * n; k < 100000; k++) { /* a maximum may stand on a kink: these angles first */
    double angle = turn * (double)k / 100000;
    if (k < 0) {
      const double *x = X + 2 * ((-k - 1) / 4);
      angle = atan2(x[1], x[0]) + (double)((-k - 1) % 4) * turn / 4;
    }
    double u[] = {cos(angle), sin(angle)}, value = rf_wp_rectified(X, n, 2, lam, u);
    best = fmax(best, sign ? sign * value : fabs(value));
  }
  return best;
}

RfStatus rf_wp_optimum(RfContext *context, RfOptimum *optimum, const RfDataset *data) {
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  RfStatus status = rf_optimum_solve(context, optimum, data->X, data->y, data->n, data->d, &settings);
  if (!status && optimum->status != RF_OPTIMUM_PROVED) {
    rf_optimum_free(optimum);
    status = rf_fail(context, RF_ERR_NUMERIC, "the global optimum was not proved");
  }
  return status;
}

RfStatus rf_wp_class_vectors(RfContext *context, double norms[2], double *w, double *lam,
                             const RfDataset *data) {
  for (int k = 0; k < 2; k++) {
    RfClassMargin margin;
    RfStatus status = rf_margin_class(context, &margin, data->X, data->y, data->n, data->d, k == 0 ? 1 : -1);
    if (status > 0) {
      rf_class_margin_free(&margin);
      status = rf_fail(context, RF_ERR_NUMERIC, "no class vector");
    }
    if (status) return status;
    norms[k] = margin.empty ? 0 : margin.norm;
    for (rf_index j = 0; j < data->d && w; j++) w[k * data->d + j] = margin.empty ? 0 : margin.w[j];
    for (rf_index i = 0; i < data->n && lam; i++)
      if ((data->y[i] > 0) == (k == 0)) lam[i] = data->y[i] * margin.multipliers[i] / margin.norm;
    rf_class_margin_free(&margin);
  }
  return RF_OK;
}

int rf_wp_seed(const RfClaimRun *run, rf_index k) {
  return (int)(rf_claim_seed(run, "wp", (uint64_t)k) & 0x3fffffff);
}
