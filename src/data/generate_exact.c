/* Generators without randomness: the small data sets of the five papers and a few classics. Only IEEE basic
 * operations, square roots and this library's own sine and cosine, so the bytes are the same everywhere. */
#include "data/generate_internal.h"

#include <math.h>
#include <string.h>

#define FILL(context, draft, points, labels)                                                                 \
  rf_draft_fill(context, draft, &(points)[0][0], labels, (rf_index)(sizeof(labels) / sizeof *(labels)),      \
                (rf_index)(sizeof *(points) / sizeof(double)))

/* Wang & Pilanci, appendix F.1: <x1,x2> = -1.41. */
RfStatus rf_build_spiky_pair(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1.65, -0.47}, {-0.47, 1.35}};
  static const int32_t labels[] = {1, -1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_spike_free_pair(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1.65, 0.47}, {0.47, 1.35}};
  static const int32_t labels[] = {1, 1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_pair_classes(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1.65, -0.47}, {-0.47, 1.35}};
  static const int32_t labels[] = {1, 2};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_axes_classes(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const int32_t labels[] = {1, 2, 3};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_planar(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{2, 1}, {1, 2}, {3, 3}, {-3, 1}, {-1, -2}};
  static const int32_t labels[] = {1, 1, 1, -1, -1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_symmetric_six(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{0.3, 0.6},   {0.3, -0.6}, {0.8, 0.5},
                                     {-0.3, -0.6}, {-0.3, 0.6}, {-0.8, -0.5}};
  static const int32_t labels[] = {1, 1, 1, -1, -1, -1};
  return FILL(context, draft, points, labels);
}

/* cot(beta) for the root beta in (0, pi/4] of (2 sin^2 b + cos b) leak^2 - (1 + cos b) leak + cos 2b = 0
 * (Lyu, Li, Wang, Arora, appendix I.1.1). The left side falls from (1-leak)^2 at 0 to
 * -(1+sqrt(1/2)) leak (1-leak) at pi/4, so bisection down to neighbouring numbers finds the root. */
static double cotangent_of_beta(double leak) {
  double low = 0, high = 0.78539816339744830962, s, c;
  if (leak == 0) return 1;
  for (int step = 0; step < 200; step++) {
    double middle = 0.5 * (low + high);
    if (!(middle > low && middle < high)) break;
    rf_portable_sincos(middle, &s, &c);
    double value = (2 * s * s + c) * leak * leak - (1 + c) * leak + (1 - 2 * s * s);
    if (value > 0)
      low = middle;
    else
      high = middle;
  }
  rf_portable_sincos(high, &s, &c);
  return c / s;
}

RfStatus rf_build_kkt_left(RfContext *context, RfDraft *draft, const RfValues *values) {
  double t = cotangent_of_beta(rf_value_number(values, "leak"));
  const double points[][2] = {{1, t}, {1, 0}, {1, -t}, {-1, -t}, {-1, 0}, {-1, t}};
  static const int32_t labels[] = {1, 1, 1, -1, -1, -1};
  return FILL(context, draft, points, labels);
}

/* Base data whose max-margin direction is the first axis, then the three hints of Definition 6.1:
 * (H,0), (eps,K), (eps,-K), all positive. */
static RfStatus append_hints(RfContext *context, RfDraft *draft, const RfDraft *base,
                             const RfValues *values) {
  RfStatus status = rf_draft_new(context, draft, base->n + 3, base->d);
  if (status) return status;
  double H = rf_value_number(values, "H"), K = rf_value_number(values, "K"),
         eps = rf_value_number(values, "eps");
  const double hints[3][2] = {{H, 0}, {eps, K}, {eps, -K}};
  memcpy(draft->X, base->X, (size_t)(base->n * base->d) * sizeof(double));
  memcpy(draft->label, base->label, (size_t)base->n * sizeof *base->label);
  for (rf_index k = 0; k < 3; k++) {
    draft->X[(base->n + k) * base->d] = hints[k][0];
    draft->X[(base->n + k) * base->d + 1] = hints[k][1];
    draft->label[base->n + k] = 1;
  }
  return RF_OK;
}

RfStatus rf_build_hinted(RfContext *context, RfDraft *draft, const RfValues *values) {
  static const double square[][2] = {{0.5, 0.5}, {0.5, -0.5}, {-0.5, 0.5}, {-0.5, -0.5}};
  static const int32_t square_labels[] = {1, 1, -1, -1};
  const char *name = rf_value_text(values, "base");
  RfDraft base = {0};
  RfStatus status;
  if (strcmp(name, "square") == 0)
    status = FILL(context, &base, square, square_labels);
  else if (strcmp(name, "six") == 0)
    status = rf_build_symmetric_six(context, &base, values);
  else
    return rf_fail(context, RF_ERR_USAGE, "gen:hinted: base must be square or six, got '%.40s'", name);
  if (!status) status = append_hints(context, draft, &base, values);
  rf_draft_free(&base);
  return status;
}

/* Positives (x,+-1,c) for x in {e,20,25,30,35}; negatives (-e2,0,c), (-1,0,c). */
RfStatus rf_build_stripes(RfContext *context, RfDraft *draft, const RfValues *values) {
  double e = rf_value_number(values, "e"), e2 = rf_value_number(values, "e2"),
         c = rf_value_number(values, "c");
  const double points[][3] = {{e, 1, c},  {e, -1, c},  {20, 1, c}, {20, -1, c}, {25, 1, c},  {25, -1, c},
                              {30, 1, c}, {30, -1, c}, {35, 1, c}, {35, -1, c}, {-e2, 0, c}, {-1, 0, c}};
  static const int32_t labels[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_vee(RfContext *context, RfDraft *draft, const RfValues *values) {
  double h = rf_value_number(values, "h");
  const double points[][2] = {{1, h}, {-1, h}};
  static const int32_t labels[] = {1, 1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_vee_down(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 0.25}, {-1, 0.25}, {0, -1}};
  static const int32_t labels[] = {1, 1, 1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_point(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 2}};
  static const int32_t labels[] = {1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_diagonal_point(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 1}};
  static const int32_t labels[] = {1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_two_patch(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  double r = sqrt(0.5);
  const double points[][4] = {{4, r, -4, r}};
  static const int32_t labels[] = {1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_cross(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};
  static const int32_t labels[] = {1, 1, 1, 1};
  return FILL(context, draft, points, labels);
}

/* (1,0) and (sin t, cos t); sep = sin t may be given instead of t. */
RfStatus rf_build_pair(RfContext *context, RfDraft *draft, const RfValues *values) {
  double s, c;
  rf_portable_sincos(rf_value_number(values, "t"), &s, &c);
  if (rf_value_given(values, "sep")) {
    if (rf_value_given(values, "t"))
      return rf_fail(context, RF_ERR_USAGE, "gen:pair: give either t or sep, not both");
    s = rf_value_number(values, "sep"), c = sqrt((1 - s) * (1 + s));
  }
  const double points[][2] = {{1, 0}, {s, c}};
  static const int32_t labels[] = {1, 1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_boundary_negative(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 0}};
  static const int32_t labels[] = {-1};
  return FILL(context, draft, points, labels);
}

RfStatus rf_build_boundary_positive(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 0}};
  static const int32_t labels[] = {1};
  return FILL(context, draft, points, labels);
}

/* Rows of the identity, the first np positive. */
RfStatus rf_build_orthogonal(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index n = rf_value_count(values, "n");
  rf_index d = rf_value_given(values, "d") ? rf_value_count(values, "d") : n;
  rf_index positive = rf_value_given(values, "np") ? rf_value_count(values, "np") : (n + 1) / 2;
  if (d < n) return rf_fail(context, RF_ERR_USAGE, "gen:orthogonal: d must be at least n");
  if (positive > n) return rf_fail(context, RF_ERR_USAGE, "gen:orthogonal: np must be at most n");
  RfStatus status = rf_draft_new(context, draft, n, d);
  if (status) return status;
  for (rf_index i = 0; i < n; i++) {
    draft->X[i * d + i] = 1;
    draft->label[i] = i < positive ? 1 : -1;
  }
  return RF_OK;
}

RfStatus rf_build_xor(RfContext *context, RfDraft *draft, const RfValues *values) {
  (void)values;
  static const double points[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  static const int32_t labels[] = {1, -1, -1, 1};
  return FILL(context, draft, points, labels);
}
