/* Which hyperplanes a step may meet. On the cubic through its ends a unit stays within
 *   |w1 - w0| + 4/27 h (|w0'| + |w1'|)
 * of w0, so a unit that was further than that from all its hyperplanes meets none, and most units of a large
 * network need no product with the data at all. */
#include "flow/flow_internal.h"

#include <math.h>
#include <string.h>

static double distance(const double *x, const double *y, rf_index d) {
  double sum = 0;
  for (rf_index j = 0; j < d; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
  return sqrt(sum);
}

/* Must unit k be looked at? clear: the ball around clear_w of this radius meets no hyperplane. */
static bool may_meet(const RfRun *run, rf_index k, const double *f1, double h) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  const double *w0 = system->y + k * d, *f0 = run->explicit_method.stage[0] + k * d;
  if (!(system->clear[k] > 0) || system->slide[k].n_on > 0) return true;
  double away = distance(w0, system->clear_w + k * d, d), step = distance(run->y_end + k * d, w0, d);
  double bulge =
      4.0 / 27 * h * (sqrt(rf_la_quick_dot(f0, f0, d)) + sqrt(rf_la_quick_dot(f1 + k * d, f1 + k * d, d)));
  return !(away + step + bulge < 0.999 * system->clear[k]);
}

/* out (rows x n) = the chosen rows of A times X^T. */
static void chosen_product(RfRun *run, double *out, const double *A) {
  const RfSystem *system = &run->system;
  rf_index d = system->d;
  if (run->n_rows < system->units) {
    for (rf_index r = 0; r < run->n_rows; r++)
      memcpy(run->chosen + r * d, A + run->row_unit[r] * d, (size_t)d * sizeof(double));
    A = run->chosen;
  }
  rf_flow_planes_of(out, A, system->problem, run->n_rows);
}

void rf_planes_watch(RfRun *run, const double *f1, double h) {
  RfSystem *system = &run->system;
  bool all = system->units * system->n * system->d <= 4000;
  run->n_rows = 0;
  if (system->problem->leak == 1) return;
  for (rf_index k = 0; k < system->units; k++)
    if (all || (!system->dead[k] && may_meet(run, k, f1, h))) run->row_unit[run->n_rows++] = k;
  if (run->n_rows == 0) return;
  chosen_product(run, run->H1, run->y_end);
  chosen_product(run, run->Hd0, run->explicit_method.stage[0]);
  chosen_product(run, run->Hd1, f1);
}

void rf_planes_clear(RfRun *run, rf_index k, double nearest) {
  RfSystem *system = &run->system;
  system->clear[k] = nearest;
  memcpy(system->clear_w + k * system->d, run->y_end + k * system->d, (size_t)system->d * sizeof(double));
}
