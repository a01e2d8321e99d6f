/* Coordinates in which long rows do not drown short ones. A neuron that is stopped by a row of length 1e6 and
 * drawn by one of length 1e-6 ends at a cosine of 1e-12 with the long one, and an input w.x formed from
 * entries of order one knows that to four digits. Orthonormal coordinates change nothing about the flow, so
 * such data are turned: the longest row becomes a multiple of e_1, the row with the longest rest lies in the
 * span of e_1, e_2, and so on (Householder's reflections). There an input is a sum of terms of its own size.
 */
#include <math.h>
#include <string.h>

#include "flow/flow_internal.h"
#include "flow/graded.h"
#include "flow/flow_tolerances.h"

bool rf_rows_spread(const double *X, rf_index n, rf_index d) {
  double longest = 0, shortest = INFINITY;
  for (rf_index i = 0; i < n; i++) {
    double length = rf_la_norm(X + i * d, d);
    longest = fmax(longest, length);
    if (length > 0) shortest = fmin(shortest, length);
  }
  return longest > RF_TOL_ALIKE * shortest;
}

void rf_graded_free(RfGraded *graded) {
  rf_free(graded->reflections);
  memset(graded, 0, sizeof *graded);
}

/* v - 2 (u.v) u from coordinate r on. */
static void reflect(const double *u, double *v, rf_index r, rf_index d) {
  double along = rf_la_quick_dot(u + r, v + r, d - r);
  rf_la_axpy(v + r, -2 * along, u + r, d - r);
}

/* The row with the longest part from coordinate r on; -1: nothing is left. */
static rf_index longest_rest(const double *X, rf_index n, rf_index d, rf_index r) {
  double best = 0;
  rf_index at = -1;
  for (rf_index i = 0; i < n; i++) {
    double rest = rf_la_norm(X + i * d + r, d - r);
    if (rest > best) best = rest, at = i;
  }
  return at;
}

RfStatus rf_graded_new(RfContext *context, RfGraded *graded, double *X, rf_index n, rf_index d) {
  *graded = (RfGraded){.d = d, .reflections = RF_NEW_TABLE(double, d, d)};
  if (!graded->reflections) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the data");
  for (rf_index r = 0; r < d - 1; r++) {
    rf_index i = longest_rest(X, n, d, r);
    if (i < 0) break;
    double *u = graded->reflections + r * d, *x = X + i * d;
    double length = rf_la_norm(x + r, d - r), to = x[r] > 0 ? -length : length;
    memcpy(u + r, x + r, (size_t)(d - r) * sizeof(double));
    u[r] -= to;
    rf_la_scale(u + r, 1 / rf_la_norm(u + r, d - r), d - r);
    for (rf_index k = 0; k < n; k++) reflect(u, X + k * d, r, d);
    x[r] = to;
    memset(x + r + 1, 0, (size_t)(d - r - 1) * sizeof(double));
    graded->count = r + 1;
  }
  return RF_OK;
}

void rf_graded_turn(const RfGraded *graded, double *v) {
  for (rf_index r = 0; r < graded->count; r++) reflect(graded->reflections + r * graded->d, v, r, graded->d);
}

void rf_graded_back(const RfGraded *graded, double *v) {
  for (rf_index r = graded->count - 1; r >= 0; r--)
    reflect(graded->reflections + r * graded->d, v, r, graded->d);
}
