/* Families of flow problems as other people draw them: data of one kind each, with balanced, unbalanced and
 * small starts, several losses and leaks. Problem `number` of a seed is a function of the two alone, and can
 * be written as rows and flags for the command line. Shared by the suite and the benches. */
#ifndef RF_TEST_FAMILIES_H
#define RF_TEST_FAMILIES_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reluflow/reluflow.h"
#include "core/core.h"
#include "flow/flow.h"
#include "la/la.h"
#include "net/net.h"

enum { FAMILY_SAMPLES = 64, FAMILY_INPUTS = 16 };

typedef enum Family {
  FAMILY_MIXED = 0,
  FAMILY_GAUSSIAN,
  FAMILY_GRID,
  FAMILY_CUBE,
  FAMILY_LINE,
  FAMILY_ORTHONORMAL,
  FAMILY_LENGTHS,
  FAMILY_SYMMETRIC,
  FAMILY_COUNT
} Family;

static const char *const family_names[FAMILY_COUNT] = {"mixed", "gaussian",    "grid",    "cube",
                                                       "line",  "orthonormal", "lengths", "symmetric"};

typedef struct FamilyProblem {
  rf_index n, d, m;
  double X[FAMILY_SAMPLES * FAMILY_INPUTS], y[FAMILY_SAMPLES];
  RfInit init;
  double scale;
  uint64_t seed; /* of the start */
  RfNet net;
  RfFlowStart start;
  RfFlowProblem flow;
} FamilyProblem;

static inline rf_index family_between(RfRandom *random, rf_index low, rf_index high) {
  return low + rf_random_below(random, high - low + 1);
}

static inline void family_gaussian(RfRandom *random, FamilyProblem *p) {
  for (rf_index k = 0; k < p->n * p->d; k++) p->X[k] = rf_random_gaussian(random);
}

/* Clusters on a k x k grid (or k x 1), a column of ones; labels by cluster, as on a chess board or at random.
 */
static inline void family_grid(RfRandom *random, FamilyProblem *p) {
  rf_index k = family_between(random, 2, 4), across = rf_random_below(random, 3) ? k : 1;
  rf_index each = family_between(random, 1, 32 / (k * across) > 4 ? 4 : 32 / (k * across));
  double spread = 0.3 * rf_random_uniform(random), centre = 0.5 * (double)(k - 1);
  bool chess = rf_random_below(random, 2), round = rf_random_below(random, 3) == 0;
  p->d = across > 1 ? 3 : 2, p->n = 0;
  for (rf_index r = 0; r < k; r++)
    for (rf_index c = 0; c < across; c++) {
      double label = chess ? ((r + c) % 2 ? 1 : -1) : rf_random_sign(random);
      for (rf_index e = 0; e < each; e++) {
        double *x = p->X + p->n * p->d;
        x[0] = (double)r - centre + spread * rf_random_gaussian(random);
        if (across > 1) x[1] = (double)c - centre + spread * rf_random_gaussian(random);
        for (rf_index j = 0; j + 1 < p->d && round; j++) x[j] = rint(20 * x[j]) / 20;
        x[p->d - 1] = 1;
        p->y[p->n++] = label;
      }
    }
}

/* The corners of a cube with the product of their signs as label, some moved a little, some with a constant.
 */
static inline void family_cube(RfRandom *random, FamilyProblem *p) {
  rf_index sides = family_between(random, 2, 4), constant = rf_random_below(random, 2);
  double spread = rf_random_below(random, 2) ? 0 : 0.2 * rf_random_uniform(random);
  p->n = (rf_index)1 << sides, p->d = sides + constant;
  for (rf_index i = 0; i < p->n; i++) {
    p->y[i] = 1;
    for (rf_index j = 0; j < sides; j++) {
      double sign = i >> j & 1 ? 1 : -1;
      p->X[i * p->d + j] = sign + spread * rf_random_gaussian(random);
      p->y[i] *= sign;
    }
    if (constant) p->X[i * p->d + sides] = 1;
  }
}

/* Points on a line in rising order, labels alternating (or in runs), a column of ones. */
static inline void family_line(RfRandom *random, FamilyProblem *p) {
  p->n = family_between(random, 2, 16), p->d = 2;
  double at = -1, label = 1;
  bool even = rf_random_below(random, 3) == 0;
  for (rf_index i = 0; i < p->n; i++) {
    at += even ? 2 / (double)p->n : (0.1 + rf_random_uniform(random)) * 2 / (double)p->n;
    p->X[2 * i] = at, p->X[2 * i + 1] = 1;
    p->y[i] = label;
    if (rf_random_below(random, 5)) label = -label;
  }
}

/* Rows of the identity; orthonormal rows in general position; or rows barely separated by the first axis. */
static inline void family_orthonormal(RfRandom *random, FamilyProblem *p) {
  rf_index kind = rf_random_below(random, 3);
  p->d = family_between(random, 2, 8), p->n = family_between(random, 2, kind == 2 ? 12 : p->d);
  family_gaussian(random, p);
  for (rf_index i = 0; i < p->n; i++) {
    double *x = p->X + i * p->d;
    p->y[i] = rf_random_sign(random);
    if (kind == 0)
      for (rf_index j = 0; j < p->d; j++) x[j] = i == j;
    for (rf_index b = 0; b < 2 * i && kind == 1; b++) { /* twice is enough */
      const double *other = p->X + b % i * p->d;
      double along = rf_la_dot(x, other, p->d);
      for (rf_index j = 0; j < p->d; j++) x[j] -= along * other[j];
    }
    double length = rf_la_norm(x, p->d);
    for (rf_index j = 0; j < p->d && kind == 1; j++) x[j] /= length;
    if (kind == 2) x[0] = p->y[i] * 0.02 * (0.5 + rf_random_uniform(random));
  }
}

static inline void family_symmetric(RfRandom *random, FamilyProblem *p) {
  rf_index half = p->n / 2;
  rf_index kind = rf_random_below(random, 3);
  family_gaussian(random, p);
  p->n = 2 * half;
  for (rf_index i = half; i < p->n; i++) {
    double sign = kind == 0 ? -1 : kind == 1 ? 1 : rf_random_sign(random);
    for (rf_index j = 0; j < p->d; j++) p->X[i * p->d + j] = sign * p->X[(i - half) * p->d + j];
    p->y[i] = sign * p->y[i - half];
  }
}

static inline void family_data(RfRandom *random, FamilyProblem *p, Family family) {
  bool small = family == FAMILY_MIXED || family == FAMILY_SYMMETRIC || family == FAMILY_LENGTHS;
  p->n = family_between(random, 2, small ? 12 : 24), p->d = family_between(random, 1, small ? 5 : 10);
  for (rf_index i = 0; i < p->n; i++) p->y[i] = rf_random_sign(random);
  bool whole = rf_random_below(random, 4) == 0, aside = rf_random_below(random, 2);
  switch (family) {
  case FAMILY_GRID: family_grid(random, p); break;
  case FAMILY_CUBE: family_cube(random, p); break;
  case FAMILY_LINE: family_line(random, p); break;
  case FAMILY_ORTHONORMAL: family_orthonormal(random, p); break;
  case FAMILY_SYMMETRIC: family_symmetric(random, p); break;
  default:
    family_gaussian(random, p);
    for (rf_index k = 0; k < p->n * p->d && family == FAMILY_MIXED && whole; k++)
      p->X[k] = rint(1.5 * p->X[k]);
    for (rf_index i = 0; i < p->n && family == FAMILY_MIXED && aside && !whole; i++)
      p->X[i * p->d] = p->y[i] * (0.2 + fabs(p->X[i * p->d]));
    for (rf_index i = 0; i < p->n && family == FAMILY_LENGTHS; i++) {
      double length = pow(10, 12 * rf_random_uniform(random) - 6);
      for (rf_index j = 0; j < p->d; j++) p->X[i * p->d + j] *= length;
    }
  }
  double sum = 0;
  for (rf_index i = 0; i < p->n; i++) sum += p->y[i];
  if (fabs(sum) == (double)p->n) p->y[0] = -p->y[0]; /* both classes, as the command line wants */
}

/* small_net: at most six neurons and order-one starts more often, for the second opinion. */
static inline RfStatus family_problem_new(RfContext *context, FamilyProblem *p, Family family, uint64_t seed,
                                          rf_index number, bool small_net) {
  RfRandom random;
  rf_random_init(&random, seed, (uint64_t)number * FAMILY_COUNT + (uint64_t)family);
  memset(p, 0, sizeof *p);
  family_data(&random, p, family);
  bool wide = family == FAMILY_GRID || family == FAMILY_CUBE || family == FAMILY_LINE;
  rf_index widths[] = {4, 8, 16, 32, 64};
  p->m = wide ? widths[rf_random_below(&random, 5)]
              : family_between(&random, 1, family == FAMILY_GAUSSIAN ? 20 : 8);
  if (small_net) p->m = family_between(&random, 1, 6);
  double leaks[] = {0, 0.01, 0.1, 0.5, 1}, scales[] = {1e-1, 1e-3, 1e-6};
  RfInit inits[] = {RF_INIT_BALANCED, RF_INIT_GAUSSIAN, RF_INIT_HE};
  rf_index start = rf_random_below(&random, 3);
  p->init = inits[start == 2   ? rf_random_below(&random, 2)
                  : start == 1 ? 1 + rf_random_below(&random, 2)
                               : 0];
  p->scale = start == 2 ? scales[rf_random_below(&random, 3)] : 1;
  p->seed = (uint64_t)rf_random_below(&random, 1000000);
  double leak = leaks[rf_random_below(&random, 5)];
  RfStatus status = rf_net_init(context, &p->net, p->init, p->m, p->d, leak, p->seed, 1);
  if (!status) status = rf_flow_start_from_net(context, &p->start, &p->net);
  p->flow = (RfFlowProblem){.X = p->X,
                            .y = p->y,
                            .n = p->n,
                            .d = p->d,
                            .leak = leak,
                            .loss = rf_random_below(&random, 2) ? RF_LOSS_EXP : RF_LOSS_LOGISTIC,
                            .start = &p->start,
                            .log_scale = log(p->scale)};
  return status;
}

static inline void family_problem_free(FamilyProblem *p) {
  rf_net_free(&p->net);
  rf_flow_start_free(&p->start);
}

/* A shell command that repeats the run: rows by printf, and the flags. */
static inline void family_problem_print(FILE *out, const FamilyProblem *p, const char *until) {
  fprintf(out, "printf -- '");
  for (rf_index i = 0; i < p->n; i++) {
    for (rf_index j = 0; j < p->d; j++) fprintf(out, "%.17g,", p->X[i * p->d + j]);
    fprintf(out, "%g\\n", p->y[i]);
  }
  fprintf(out, "' | reluflow flow - --width %lld --init %s --scale %g --seed %llu --leak %g --loss %s%s\n",
          (long long)p->m, rf_init_name(p->init), p->scale, (unsigned long long)p->seed, p->flow.leak,
          rf_loss_name(p->flow.loss), until ? until : "");
}

/* Whether a pinned problem was left open: the rounding of another BLAS or libm may do that to a few; none may
 * be decided otherwise, which the caller asserts. */
static inline bool family_left_open(const RfFlowLimit *limit, RfFlowOutcome pinned) {
  return limit->outcome == RF_FLOW_UNDECIDED && pinned != RF_FLOW_UNDECIDED;
}

#endif
