/* Continuations of a neuron on hyperplanes. With sign(a) = s, the neuron moves with dw = |a| s g and
 * g = base + sum_on c_i s_i x_i. A hyperplane with s c_i < 0 is a valley: both sides push towards it, so that
 * s_i is the minimiser of |g| over [leak,1], a free s_i meaning that the neuron slides (the projection of PL
 * Lemma A.3). One with s c_i > 0 is a ridge: a side is consistent when the field that belongs to it points
 * into it; the sides are enumerated, and several consistent choices make a branching point. */
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

enum { RIDGE_ENUMERATION = 12 }; /* more ridges than this at one point are tried by repeated best response */

typedef struct SidesWork {
  rf_index *valley, *ridge; /* positions in `on` */
  rf_index n_valley, n_ridge;
  double *columns, *low, *high, *s, *f; /* box least squares over the valleys */
  double *g;
  int8_t *choice; /* per ridge */
  int8_t *sign;   /* n_on, of the combination at hand */
  double *slope;
  int agreement; /* of the choices kept, see ridges_agree */
} SidesWork;

static void work_free(SidesWork *work) {
  rf_free(work->valley);
  rf_free(work->columns);
  rf_free(work->choice);
}

static RfStatus work_new(RfContext *context, SidesWork *work, rf_index n_on, rf_index d) {
  memset(work, 0, sizeof *work);
  work->valley = RF_NEW(rf_index, 2 * n_on);
  work->columns = RF_NEW(double, n_on *d + 4 * n_on + 2 * d);
  work->choice = RF_NEW(int8_t, 2 * n_on);
  if (!work->valley || !work->columns || !work->choice) {
    work_free(work);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory at a hyperplane");
  }
  work->ridge = work->valley + n_on;
  work->low = work->columns + n_on * d;
  work->high = work->low + n_on;
  work->s = work->high + n_on;
  work->slope = work->s + n_on;
  work->f = work->slope + n_on;
  work->g = work->f + d;
  work->sign = work->choice + n_on;
  return RF_OK;
}

/* s minimising |f' + sum c_i s_i x_i| over the valleys, where -f = f' is the field without them. */
static RfStatus valley_slopes(RfContext *context, SidesWork *work, const RfAlignField *field,
                              const rf_index *on) {
  rf_index d = field->d;
  if (work->n_valley == 1) {
    rf_index i = on[work->valley[0]];
    const double *x = field->X + i * d;
    double c = field->c[i], x2 = rf_la_dot(x, x, d);
    double s = x2 > 0 ? rf_la_dot(work->f, x, d) / (c * x2) : 1;
    work->s[0] = fmin(1, fmax(field->leak, s));
    return RF_OK;
  }
  for (rf_index v = 0; v < work->n_valley; v++) {
    rf_index i = on[work->valley[v]];
    for (rf_index j = 0; j < d; j++) work->columns[v * d + j] = field->c[i] * field->X[i * d + j];
    work->low[v] = field->leak, work->high[v] = 1;
  }
  return rf_la_box_least_squares(context, work->s, NULL, NULL, work->columns, work->f, work->low, work->high,
                                 d, work->n_valley, d, NULL);
}

/* Field, slopes and signs that belong to the ridge choices at hand. */
static RfStatus field_of_choice(RfContext *context, SidesWork *work, const RfAlignField *field,
                                const double *base, const rf_index *on) {
  rf_index d = field->d;
  memcpy(work->g, base, (size_t)d * sizeof(double));
  for (rf_index r = 0; r < work->n_ridge; r++) {
    rf_index z = work->ridge[r], i = on[z];
    work->sign[z] = work->choice[r];
    work->slope[z] = work->choice[r] > 0 ? 1 : field->leak;
    rf_la_axpy(work->g, field->c[i] * work->slope[z], field->X + i * d, d);
  }
  if (work->n_valley == 0) return RF_OK;
  for (rf_index j = 0; j < d; j++) work->f[j] = -work->g[j];
  RfStatus status = valley_slopes(context, work, field, on);
  if (status) return status;
  double width = 1 - field->leak, strength = rf_la_norm(work->f, d);
  for (rf_index v = 0; v < work->n_valley; v++) {
    rf_index z = work->valley[v], i = on[z];
    /* a small slope on a sample of weight far above the field (a wall) holds the neuron all the same */
    double s = work->s[v], push = fabs(field->c[i]) * rf_la_norm(field->X + i * d, d);
    double slack = RF_TOL_SIDE * fmin(width, push > 0 ? strength / push : width);
    int8_t side = s >= 1 - RF_TOL_SIDE * width ? 1 : s <= field->leak + slack ? -1 : 0;
    work->slope[z] = side > 0 ? 1 : side < 0 ? field->leak : s;
    work->sign[z] = side;
    rf_la_axpy(work->g, field->c[i] * work->slope[z], field->X + i * d, d);
  }
  return RF_OK;
}

/* Motion across hyperplane i relative to the sizes involved, so that rounding does not decide. */
static double push(const SidesWork *work, const RfAlignField *field, rf_index i, int sign_a) {
  const double *x = field->X + i * field->d;
  double along = sign_a * rf_la_dot(work->g, x, field->d);
  double size = rf_la_norm(x, field->d);
  double scale = size * (rf_la_norm(work->g, field->d) + fabs(field->c[i]) * size);
  return fabs(along) <= RF_TOL_SIDE * scale ? 0 : along;
}

/* 2: the field points into every side taken; 1: it runs along the hyperplane of a minus side, which is a
 * continuation only where no other exists; 0: neither. */
static int ridges_agree(const SidesWork *work, const RfAlignField *field, const rf_index *on, int sign_a) {
  int agreement = 2;
  for (rf_index r = 0; r < work->n_ridge && agreement > 0; r++) {
    double p = push(work, field, on[work->ridge[r]], sign_a);
    int one = work->choice[r] > 0 ? (p > 0 ? 2 : 0) : p < 0 ? 2 : p == 0 ? 1 : 0;
    if (one < agreement) agreement = one;
  }
  return agreement;
}

static void keep_choice(RfSides *sides, const SidesWork *work, const RfAlignField *field, rf_index n_on) {
  rf_index d = field->d;
  bool first = sides->count == 0;
  if (sides->found && sides->count < RF_MOST_OPTIONS && n_on > 0)
    memcpy(sides->found + sides->count * n_on, work->sign, (size_t)n_on);
  bool better = !first && rf_la_norm(work->g, d) > rf_la_norm(sides->g, d) * (1 + RF_TOL_FASTER);
  if (first || better) {
    if (better && n_on > 0) memcpy(sides->other, sides->sign, (size_t)n_on);
    memcpy(sides->g, work->g, (size_t)d * sizeof(double));
    if (n_on > 0) memcpy(sides->sign, work->sign, (size_t)n_on);
    if (n_on > 0) memcpy(sides->slope, work->slope, (size_t)n_on * sizeof(double));
  } else if (n_on > 0) {
    memcpy(sides->other, work->sign, (size_t)n_on);
  }
  sides->count++;
}

static RfStatus enumerate_ridges(RfContext *context, RfSides *sides, SidesWork *work,
                                 const RfAlignField *field, const double *base, const rf_index *on,
                                 rf_index n_on, int sign_a) {
  for (unsigned mask = 0; mask < 1u << work->n_ridge; mask++) {
    for (rf_index r = 0; r < work->n_ridge; r++) work->choice[r] = mask >> r & 1u ? -1 : 1;
    RfStatus status = field_of_choice(context, work, field, base, on);
    if (status) return status;
    int agreement = ridges_agree(work, field, on, sign_a);
    if (agreement == 0 || agreement < work->agreement) continue;
    if (agreement > work->agreement) sides->count = 0;
    work->agreement = agreement;
    keep_choice(sides, work, field, n_on);
  }
  return RF_OK;
}

/* Many ridges: from all-plus and from all-minus, move every ridge to the side its field asks for, until
 * stable. */
static RfStatus best_response(RfContext *context, RfSides *sides, SidesWork *work, const RfAlignField *field,
                              const double *base, const rf_index *on, rf_index n_on, int sign_a) {
  for (int start = 1; start >= -1; start -= 2) {
    for (rf_index r = 0; r < work->n_ridge; r++) work->choice[r] = (int8_t)start;
    for (int round = 0; round < 200; round++) {
      RfStatus status = field_of_choice(context, work, field, base, on);
      if (status) return status;
      rf_index changed = -1;
      for (rf_index r = 0; r < work->n_ridge && changed < 0; r++) {
        double p = push(work, field, on[work->ridge[r]], sign_a);
        if (work->choice[r] > 0 ? !(p > 0) : !(p <= 0)) changed = r;
      }
      if (changed >= 0) {
        work->choice[changed] = (int8_t)-work->choice[changed];
        continue;
      }
      if (sides->count == 0 || memcmp(sides->sign, work->sign, (size_t)n_on) != 0)
        keep_choice(sides, work, field, n_on);
      break;
    }
  }
  return RF_OK;
}

RfStatus rf_flow_sides_distinct(RfContext *context, RfSides *sides, const RfAlignField *field,
                                const double *base, const rf_index *on, rf_index n_on, int sign_a) {
  SidesWork work;
  RfStatus status = work_new(context, &work, n_on, field->d);
  if (status) return status;
  sides->count = 0;
  for (rf_index z = 0; z < n_on; z++) {
    double tilt = sign_a * field->c[on[z]];
    if (tilt < 0) work.valley[work.n_valley++] = z;
    if (tilt > 0) work.ridge[work.n_ridge++] = z;
  }
  status = work.n_ridge <= RIDGE_ENUMERATION
               ? enumerate_ridges(context, sides, &work, field, base, on, n_on, sign_a)
               : best_response(context, sides, &work, field, base, on, n_on, sign_a);
  if (!status &&
      sides->count == 0) { /* rounding made every side look wrong: stay where the field is smallest */
    for (rf_index r = 0; r < work.n_ridge; r++) work.choice[r] = -1;
    status = field_of_choice(context, &work, field, base, on);
    if (!status) keep_choice(sides, &work, field, n_on);
  }
  for (rf_index z = 0; z < n_on && !status; z++) {
    if (field->c[on[z]] != 0) continue;
    memcpy(work.g, sides->g, (size_t)field->d * sizeof(double));
    sides->sign[z] = push(&work, field, on[z], sign_a) > 0 ? 1 : -1;
    sides->slope[z] = sides->sign[z] > 0 ? 1 : field->leak;
  }
  work_free(&work);
  return status;
}
