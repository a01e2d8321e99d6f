/* Closed forms inside one sector. The path is the straight line w + tau g with dtau = a dt, so the order of
 * crossings needs no times at all; the times follow from p+ = phi + alpha growing like e^{Gt} and p- = alpha
 * - phi decaying like e^{-Gt}, p+ p- = K. Each formula is taken in the form without cancellation. */
#include "flow/align/align_internal.h"

#include <math.h>

double rf_align_segment_alpha(const RfAlignSegment *segment, double phi1) {
  if (segment->K == 0) return fabs(phi1);
  double square = segment->K + phi1 * phi1;
  return square > 0 ? sqrt(square) : 0;
}

/* p+ of the start, also when phi is close to -alpha. */
static double growing_part(const RfAlignSegment *s) {
  return s->phi >= 0 ? s->alpha + s->phi : s->K / (s->alpha - s->phi);
}

double rf_align_segment_time(const RfAlignSegment *s, double phi1) {
  double alpha1 = rf_align_segment_alpha(s, phi1), step = phi1 - s->phi, sum = s->alpha + alpha1;
  if (!(step > 0)) return 0;
  if (s->phi >= 0) { /* ln(p+'/p+), p+'-p+ = step (p+ + p+')/(alpha+alpha') */
    double p = s->phi + s->alpha, p1 = phi1 + alpha1;
    return log1p(step * (p + p1) / (sum * p)) / s->G;
  }
  double q = s->alpha - s->phi;
  if (phi1 <= 0) { /* ln(p-/p-') */
    double q1 = alpha1 - phi1;
    return q1 > 0 ? log1p(step * (q + q1) / (sum * q1)) / s->G : INFINITY;
  }
  if (!(s->K > 0)) return INFINITY;
  return (log(q / s->K) + log(phi1 + alpha1)) / s->G; /* p+' p- / K */
}

/* There p-' = sqrt(-K), and p- - p-' = alpha + (-phi - sqrt(phi^2-alpha^2)). */
double rf_align_segment_turn_time(const RfAlignSegment *s) {
  double q1 = sqrt(-s->K);
  return log1p(s->alpha * (1 + s->alpha / (q1 - s->phi)) / q1) / s->G;
}

void rf_align_segment_state(const RfAlignSegment *s, double dt, double *phi1, double *alpha1,
                            double *log_factor) {
  double x = s->G * dt, p = growing_part(s), q = s->alpha - s->phi;
  if (p == 0) { /* stable manifold: phi = -alpha decays */
    *phi1 = -q / 2, *alpha1 = q / 2, *log_factor = -x;
    return;
  }
  if (x < 1) {
    *phi1 = s->phi * cosh(x) + s->alpha * sinh(x);
    *alpha1 = s->alpha * cosh(x) + s->phi * sinh(x);
    *log_factor = 0;
    if (s->phi < 0 && s->K >= 0) { /* near the stable manifold the sums cancel */
      *phi1 = (p * exp(x) - q * exp(-x)) / 2;
      *alpha1 = (p * exp(x) + q * exp(-x)) / 2;
    }
    return;
  }
  /* shift by the larger of the two parts, so that a long shrinking stretch does not underflow */
  double shift = log(fabs(p)) + x > log(fabs(q)) - x ? x : -x;
  *phi1 = (p * exp(x - shift) - q * exp(-x - shift)) / 2;
  *alpha1 = (p * exp(x - shift) + q * exp(-x - shift)) / 2;
  *log_factor = shift;
}

void rf_align_segment_growth(const RfAlignSegment *s, double *rate, double *log_amplitude) {
  double p = growing_part(s);
  *rate = p > 0 ? s->G : -s->G;
  *log_amplitude = log((p > 0 ? p : s->alpha - s->phi) / 2);
}
