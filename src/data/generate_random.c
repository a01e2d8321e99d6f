/* The random families. Every number comes from rf_random_* and IEEE basic operations in a fixed order. */
#include "data/generate_internal.h"

#include <math.h>
#include <string.h>

/* One stream per family. */
enum {
  STREAM_SEPARATED = 101,
  STREAM_ORTHANT,
  STREAM_MULTICLASS,
  STREAM_GAUSSIAN,
  STREAM_SYMMETRIC,
  STREAM_SHIFTED,
  STREAM_TEACHER,
  STREAM_RINGS
};

static RfStatus class_sizes(RfContext *context, rf_index *positive, rf_index *negative,
                            const RfValues *values) {
  bool parts = rf_value_given(values, "np") || rf_value_given(values, "nm");
  if (rf_value_given(values, "n")) {
    if (parts) return rf_fail(context, RF_ERR_USAGE, "gen:separated: give either n or np and nm, not both");
    rf_index n = rf_value_count(values, "n");
    *positive = (n + 1) / 2, *negative = n / 2;
    return RF_OK;
  }
  *positive = rf_value_count(values, "np"), *negative = rf_value_count(values, "nm");
  if (*positive + *negative < 1)
    return rf_fail(context, RF_ERR_USAGE, "gen:separated: np + nm must be at least 1");
  return RF_OK;
}

/* x_i = y_i r_i (cos psi e1 + sin psi xi_i) with cos 2psi = sep. <z_i,z_j>/(|x_i||x_j|) =
 * cos^2 psi + sin^2 psi <xi_i,xi_j> >= cos 2psi, attained by the antipodal xi of the first two samples. */
RfStatus rf_build_separated(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index positive = 0, negative = 0, d = rf_value_count(values, "d");
  double sep = rf_value_number(values, "sep"), c = sqrt((1 + sep) / 2), s = sqrt((1 - sep) / 2);
  RfStatus status = class_sizes(context, &positive, &negative, values);
  if (!status) status = rf_draft_new(context, draft, positive + negative, d);
  if (status) return status;
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_SEPARATED);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    rf_random_direction(&random, draft->X + i * d + 1, d - 1);
    status = rf_draft_poll(context, i);
  }
  for (rf_index j = 1; j < d && draft->n > 1; j++) draft->X[d + j] = -draft->X[j];
  for (rf_index i = 0; i < draft->n && !status; i++) {
    double *x = draft->X + i * d, y = i < positive ? 1 : -1, radius = 0.5 + rf_random_uniform(&random);
    x[0] = y * radius * c;
    for (rf_index j = 1; j < d; j++) x[j] *= y * radius * s;
    draft->label[i] = (int32_t)y;
  }
  return status;
}

/* Phuong & Lampert, section 5.1: positives in the positive orthant, negatives in the negative one, both in
 * the half-space of z = (1,-1,1,-1,...). The orthants are sampled directly by absolute values. */
RfStatus rf_build_orthant(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index d = rf_value_count(values, "d");
  RfStatus status = rf_draft_new(context, draft, rf_value_count(values, "n"), d);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_ORTHANT);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    double *x = draft->X + i * d, y = rf_random_sign(&random), product;
    do {
      product = 0;
      for (rf_index j = 0; j < d; j++) {
        x[j] = y * fabs(rf_random_gaussian(&random));
        product += j % 2 ? -x[j] : x[j];
      }
    } while (product < 0);
    draft->label[i] = (int32_t)y;
    status = rf_draft_poll(context, i);
  }
  return status;
}

/* Class k lives in the positive orthant of its own block of coordinates: products are positive within a class
 * and zero across classes. Labels go round: sample i has class i mod K. */
RfStatus rf_build_multiclass_orthant(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index d = rf_value_count(values, "d"), K = rf_value_count(values, "K");
  if (d < K) return rf_fail(context, RF_ERR_USAGE, "gen:multiclass-orthant: d must be at least K");
  RfStatus status = rf_draft_new(context, draft, rf_value_count(values, "n"), d);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_MULTICLASS);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    rf_index k = i % K;
    for (rf_index j = k * d / K; j < (k + 1) * d / K; j++)
      draft->X[i * d + j] = fabs(rf_random_gaussian(&random));
    draft->label[i] = (int32_t)(k + 1);
    status = rf_draft_poll(context, i);
  }
  return status;
}

RfStatus rf_build_gaussian(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index d = rf_value_count(values, "d"), classes = rf_value_count(values, "classes");
  RfStatus status = rf_draft_new(context, draft, rf_value_count(values, "n"), d);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_GAUSSIAN);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    for (rf_index j = 0; j < d; j++) draft->X[i * d + j] = rf_random_gaussian(&random);
    if (classes == 2)
      draft->label[i] = (int32_t)rf_random_sign(&random);
    else
      draft->label[i] = (int32_t)rf_random_below(&random, classes) + 1;
    status = rf_draft_poll(context, i);
  }
  return status;
}

static double largest_norm(const double *X, rf_index n, rf_index d) {
  double largest = 0;
  for (rf_index i = 0; i < n; i++) {
    double square = 0;
    for (rf_index j = 0; j < d; j++) square += X[i * d + j] * X[i * d + j];
    largest = fmax(largest, square);
  }
  return sqrt(largest);
}

/* h positives: (g,+-0.5,0,...) fix the separator e1; the others have a first coordinate in [g,2g] and
 * N(0.1,0.2^2) elsewhere. All are divided by the largest norm, then negated copies are added as negatives. */
RfStatus rf_build_symmetric(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index h = rf_value_count(values, "h"), d = rf_value_count(values, "d");
  double g = rf_value_number(values, "g");
  RfStatus status = rf_draft_new(context, draft, 2 * h, d);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_SYMMETRIC);
  for (rf_index i = 0; i < h && !status; i++) {
    double *x = draft->X + i * d;
    x[0] = i < 2 ? g : g * (1 + rf_random_uniform(&random));
    if (i < 2) x[1] = i ? -0.5 : 0.5;
    for (rf_index j = 1; j < d && i >= 2; j++) x[j] = 0.1 + 0.2 * rf_random_gaussian(&random);
    status = rf_draft_poll(context, i);
  }
  if (status) return status;
  double norm = largest_norm(draft->X, h, d);
  for (rf_index k = 0; k < h * d; k++) {
    draft->X[k] /= norm;
    draft->X[h * d + k] = -draft->X[k];
  }
  for (rf_index i = 0; i < 2 * h; i++) draft->label[i] = i < h ? 1 : -1;
  return RF_OK;
}

/* Lyu, Li, Wang, Arora, table 1: the label is the sign of the first coordinate, which is then moved away from
 * 0 by `shift`; a constant column is appended. */
RfStatus rf_build_shifted(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index d = rf_value_count(values, "d");
  double shift = rf_value_number(values, "shift");
  RfStatus status = rf_draft_new(context, draft, rf_value_count(values, "n"), d + 1);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_SHIFTED);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    double *x = draft->X + i * (d + 1);
    for (rf_index j = 0; j < d; j++) x[j] = rf_random_gaussian(&random);
    draft->label[i] = x[0] > 0 ? 1 : -1;
    x[0] += shift * draft->label[i];
    x[d] = rf_value_number(values, "bias");
    status = rf_draft_poll(context, i);
  }
  return status;
}

/* x ~ N(0,I) kept when |<x,v>| >= margin, label = sign<x,v>, v uniform on the sphere. The part along v is
 * drawn on its own, which is the same distribution and makes rejection independent of d. */
RfStatus rf_build_teacher(RfContext *context, RfDraft *draft, const RfValues *values) {
  rf_index d = rf_value_count(values, "d");
  double margin = rf_value_number(values, "margin"), *v = RF_NEW(double, d);
  RfStatus status = v ? rf_draft_new(context, draft, rf_value_count(values, "n"), d)
                      : rf_fail(context, RF_ERR_MEMORY, "out of memory for a direction");
  if (status) goto done;
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_TEACHER);
  rf_random_direction(&random, v, d);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    double *x = draft->X + i * d, along = 0, part;
    do { part = rf_random_gaussian(&random); } while (fabs(part) < margin || part == 0);
    for (rf_index j = 0; j < d; j++) {
      x[j] = rf_random_gaussian(&random);
      along += x[j] * v[j];
    }
    for (rf_index j = 0; j < d; j++) x[j] += (part - along) * v[j];
    draft->label[i] = part > 0 ? 1 : -1;
    status = rf_draft_poll(context, i);
  }
done:
  rf_free(v);
  return status;
}

/* Two concentric rings in the plane, samples by turns: the inner one is positive. */
RfStatus rf_build_rings(RfContext *context, RfDraft *draft, const RfValues *values) {
  double inner = rf_value_number(values, "inner"), outer = rf_value_number(values, "outer"),
         noise = rf_value_number(values, "noise");
  RfStatus status = rf_draft_new(context, draft, rf_value_count(values, "n"), 2);
  RfRandom random;
  rf_random_init(&random, values->seed, STREAM_RINGS);
  for (rf_index i = 0; i < draft->n && !status; i++) {
    double *x = draft->X + i * 2, radius = (i % 2 ? outer : inner) + noise * rf_random_gaussian(&random);
    rf_random_direction(&random, x, 2);
    x[0] *= radius, x[1] *= radius;
    draft->label[i] = i % 2 ? -1 : 1;
    status = rf_draft_poll(context, i);
  }
  return status;
}
