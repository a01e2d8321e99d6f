/* The peer in C: SUNDIALS CVODE on the plain weights (W, a), in the clock dtau = S dt that makes the late
 * flow as quick as it can be, with root finding on all w_k.x_i and a restart at every crossing, where the
 * right side jumps. Adams with fixed-point iteration, or BDF with GMRES; without
 * roots its error control steps over the kinks. */
#ifndef RF_BENCH_FLOW_CVODE_H
#define RF_BENCH_FLOW_CVODE_H

#ifdef RF_HAVE_CVODE
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#endif

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la/la.h"
#include "net/net.h"
#include "reluflow/reluflow.h"

typedef struct PlainFlow {
  const double *X, *y;
  rf_index n, d, m;
  double *H, *M, *c; /* m x n, m x n, n */
} PlainFlow;

/* (dW, da)/dtau at (W, a): weights c_i = y_i |loss'(q_i)| / S of the logistic loss. */
static inline void plain_field(const PlainFlow *flow, const double *theta, double *out) {
  rf_index n = flow->n, d = flow->d, m = flow->m;
  const double *W = theta, *a = theta + m * d;
  double top = -INFINITY, sum = 0;
  rf_la_product_nt(flow->H, W, flow->X, m, n, d);
  for (rf_index i = 0; i < n; i++) {
    double f = 0;
    for (rf_index k = 0; k < m; k++) f += a[k] * fmax(0, flow->H[k * n + i]);
    flow->c[i] = rf_loss_log_slope(RF_LOSS_LOGISTIC, flow->y[i] * f);
    top = fmax(top, flow->c[i]);
  }
  for (rf_index i = 0; i < n; i++) sum += flow->c[i] = exp(flow->c[i] - top);
  for (rf_index i = 0; i < n; i++) flow->c[i] *= flow->y[i] / sum;
  for (rf_index k = 0; k < m; k++) {
    double speed = 0;
    for (rf_index i = 0; i < n; i++) {
      double h = flow->H[k * n + i];
      flow->M[k * n + i] = h > 0 ? a[k] * flow->c[i] : 0;
      if (h > 0) speed += flow->c[i] * h;
    }
    out[m * d + k] = speed;
  }
  rf_la_product_nn(out, flow->M, flow->X, m, d, n);
}

#ifdef RF_HAVE_CVODE
static inline int cvode_field(realtype t, N_Vector y, N_Vector f, void *user) {
  (void)t;
  plain_field(user, NV_DATA_S(y), NV_DATA_S(f));
  return 0;
}

static inline int cvode_roots(realtype t, N_Vector y, realtype *g, void *user) {
  (void)t;
  const PlainFlow *flow = user;
  rf_la_product_nt(g, NV_DATA_S(y), flow->X, flow->m, flow->n, flow->d);
  return 0;
}

/* Runs for `budget` seconds and calls row(user, seconds, theta, crossings) about three times. Returns 0, or
 * -1 when CVODE refuses. */
static inline int cvode_run(const PlainFlow *flow, const double *start, bool stiff, bool roots, double budget,
                            void (*row)(void *user, double seconds, const double *theta, long crossings),
                            void *user) {
  sunindextype size = (sunindextype)(flow->m * (flow->d + 1));
  SUNContext context = NULL;
  if (SUNContext_Create(NULL, &context)) return -1;
  N_Vector y = N_VNew_Serial(size, context);
  void *cvode = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, context);
  SUNLinearSolver linear = NULL;
  SUNNonlinearSolver fixed = NULL;
  memcpy(NV_DATA_S(y), start, (size_t)size * sizeof(double));
  int flag = CVodeInit(cvode, cvode_field, 0, y);
  if (!flag) flag = CVodeSStolerances(cvode, 1e-8, 1e-12);
  if (!flag) flag = CVodeSetUserData(cvode, (void *)(uintptr_t)flow);
  if (!flag) flag = CVodeSetMaxNumSteps(cvode, 100000000);
  if (!flag) flag = CVodeSetInitStep(cvode, 1e-4);
  if (!flag && stiff) {
    linear = SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, context);
    flag = CVodeSetLinearSolver(cvode, linear, NULL);
  } else if (!flag) {
    fixed = SUNNonlinSol_FixedPoint(y, 0, context);
    flag = CVodeSetNonlinearSolver(cvode, fixed);
  }
  if (!flag && roots) flag = CVodeRootInit(cvode, (int)(flow->m * flow->n), cvode_roots);
  double began = rf_clock_seconds(), t = 0, shown = 0;
  long crossings = 0;
  while (flag >= 0) {
    double seconds = rf_clock_seconds() - began;
    bool over = seconds >= budget;
    if (over || seconds >= shown + budget / 3) {
      row(user, seconds, NV_DATA_S(y), crossings);
      shown = seconds;
    }
    if (over) break;
    flag = CVode(cvode, 1e30, y, &t, CV_ONE_STEP);
    if (flag == CV_ROOT_RETURN) {
      crossings++;
      flag = CVodeReInit(cvode, t, y);
    }
  }
  CVodeFree(&cvode);
  if (linear) SUNLinSolFree(linear);
  if (fixed) SUNNonlinSolFree(fixed);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return flag < 0 ? -1 : 0;
}
#endif

#endif
