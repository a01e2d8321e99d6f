/* M(lambda) of given multipliers, enclosed: local climbs for a value that is attained, the exact search for a
 * bound that nothing exceeds (docs/math.md (G.3)). */
#include "optimum/enclose.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"
#include "optimum/optimum_internal.h"

#include <math.h>
#include <string.h>

void rf_dual_norm_free(RfDualNorm *norm) {
  if (!norm) return;
  rf_free(norm->u);
  memset(norm, 0, sizeof *norm);
}

/* Best direction of one sign by climbing from every sample and the class sum. */
static double climb(RfOracle *oracle, double *best, double *u, const double *lambda, int sign) {
  const RfReduced *p = oracle->p;
  double value = 0;
  for (rf_index i = 0; i < p->n; i++) {
    if (p->y[i] * sign < 0 || lambda[i] <= 0) continue;
    memcpy(u, p->X + i * p->r, (size_t)p->r * sizeof *u);
    double now = rf_oracle_climb(oracle, lambda, u, sign);
    if (now > value) {
      value = now;
      memcpy(best, u, (size_t)p->r * sizeof *u);
    }
  }
  return value;
}

static RfStatus enclose(RfContext *context, RfDualNorm *norm, const RfReduced *p, double *lambda, int sign) {
  RfOracle oracle = {0};
  double *u = RF_NEW(double, p->r), *best = RF_NEW(double, p->r), total = 0;
  RfSearch search = {0};
  RfStatus status = RF_OK;
  if (!u || !best) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  if (!status) status = rf_oracle_new(context, &oracle, p);
  if (status) goto done;
  for (rf_index i = 0; i < p->n; i++) total += lambda[i];
  double value = climb(&oracle, best, u, lambda, sign);
  double unit = fmax(value, rf_zero_value * total); /* the search works around 1 */
  rf_la_scale(lambda, 1 / unit, p->n);
  search.target = search.best = value / unit;
  status = (p->r <= 2 ? rf_search_plane : rf_search_run)(context, &search, p, lambda, sign);
  rf_la_scale(lambda, unit, p->n);
  norm->nodes += search.nodes;
  norm->upper = fmax(norm->upper, search.upper * unit);
  if (status < 0) goto done;
  for (rf_index k = 0; k < search.found.count; k++) {
    double now = rf_oracle_value(p, lambda, search.found.u + k * p->r, sign);
    if (now <= value) continue;
    value = now;
    memcpy(best, search.found.u + k * p->r, (size_t)p->r * sizeof *best);
  }
  if (value > norm->value) {
    norm->value = value, norm->sign = sign;
    rf_reduced_direction(norm->u, p, best, 1);
  }
done:
  rf_directions_free(&search.found);
  rf_oracle_free(&oracle);
  rf_free(u), rf_free(best);
  return status;
}

RfStatus rf_optimum_dual_norm(RfContext *context, RfDualNorm *norm, const double *X, const double *y,
                              const double *lambda, rf_index n, rf_index d, double leak, int signs) {
  *norm = (RfDualNorm){.sign = signs < 0 ? -1 : 1, .u = RF_NEW(double, d)};
  if (!norm->u) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  for (rf_index i = 0; i < n; i++)
    if (!(lambda[i] >= 0 && isfinite(lambda[i])))
      return rf_fail(context, RF_ERR_USAGE, "multiplier %lld is not a number >= 0", (long long)i);
  RfReduced p;
  RfStatus status = rf_reduced_plain(context, &p, X, y, n, d, leak, signs), worst = RF_OK;
  if (status) return status;
  double *weights = RF_NEW(double, p.n);
  if (!weights) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld samples", (long long)n);
  for (rf_index i = 0; i < p.n && !status; i++) weights[i] = lambda[p.row[i]] * p.norm[i];
  for (int sign = 1; sign >= -1 && status >= 0 && p.n > 0; sign -= 2) {
    if (signs * sign < 0) continue;
    status = enclose(context, norm, &p, weights, sign);
    if (status > 0) worst = status;
  }
  if (status >= 0) status = worst;
  /* the value as the caller would compute it */
  if (status >= 0) {
    double sum = 0;
    for (rf_index i = 0; i < n; i++) sum += lambda[i] * y[i] * rf_phi(rf_la_dot(norm->u, X + i * d, d), leak);
    norm->value = norm->sign * sum;
    for (rf_index i = 0; i < p.n; i++) weights[i] = lambda[p.row[i]];
    RfStatus enclosed = rf_enclose_norm(context, &norm->upper, &p, weights, X, norm->upper);
    if (enclosed) status = enclosed;
  }
  rf_free(weights);
  rf_reduced_free(&p);
  return status;
}
