/* Newton's method on the KKT system of a layered network with its activations as they are:
 *   theta = sum_S lambda_i y_i df_i(theta),   y_i f_i(theta) = 1 on the support S.
 * Networks have symmetries, so the system is singular along them: the step of least norm is taken, which
 * stays next to the state. The support starts with the samples that weigh something; those with a negative
 * multiplier leave, those below margin 1 enter. */
#include "layered_polish.h"

#include <math.h>
#include <string.h>

#include "reluflow/la.h"

typedef struct Polish {
  RfContext *context;
  RfLayeredNet *net;
  const double *X, *y;
  rf_index n, P, k;  /* samples, parameters, support */
  rf_index *support; /* k samples */
  double *lambda;    /* k */
  double *theta;     /* P: current point */
  double *q;         /* n: y f at the current point */
  double *weights;   /* n */
  double *G;         /* n rows of P: y_i df_i */
  double *system;    /* (P+k)^2 */
  double *step;      /* P+k */
  double *plus, *minus;
} Polish;

static void polish_free(Polish *polish) {
  rf_free(polish->support), rf_free(polish->lambda), rf_free(polish->theta), rf_free(polish->q);
  rf_free(polish->weights), rf_free(polish->G), rf_free(polish->system), rf_free(polish->step);
  rf_free(polish->plus), rf_free(polish->minus);
}

static RfStatus polish_new(Polish *polish) {
  rf_index n = polish->n, P = polish->P, size = P + n;
  polish->support = RF_NEW(rf_index, n), polish->lambda = RF_NEW(double, n);
  polish->theta = RF_NEW(double, P), polish->q = RF_NEW(double, n), polish->weights = RF_NEW(double, n);
  polish->G = RF_NEW(double, n *P), polish->system = RF_NEW(double, size *size);
  polish->step = RF_NEW(double, size), polish->plus = RF_NEW(double, P), polish->minus = RF_NEW(double, P);
  bool complete = polish->support && polish->lambda && polish->theta && polish->q && polish->weights &&
                  polish->G && polish->system && polish->step && polish->plus && polish->minus;
  return complete ? RF_OK : rf_fail(polish->context, RF_ERR_MEMORY, "out of memory for a limit");
}

/* Margins and their gradients at polish->theta. */
static RfStatus evaluate(Polish *polish) {
  memcpy(polish->net->theta, polish->theta, (size_t)polish->P * sizeof(double));
  RfStatus status = rf_layers_evaluate(polish->context, polish->q, NULL, polish->net, polish->X, polish->n);
  if (!status) status = rf_layers_jacobian(polish->context, polish->G, polish->net, polish->X, polish->n);
  for (rf_index i = 0; i < polish->n && !status; i++) {
    polish->q[i] *= polish->y[i];
    rf_la_scale(polish->G + i * polish->P, polish->y[i], polish->P);
  }
  return status;
}

/* The gradient of sum_S lambda_i y_i f_i at theta + h e_p. */
static RfStatus shifted_gradient(Polish *polish, double *out, rf_index p, double h) {
  memcpy(polish->net->theta, polish->theta, (size_t)polish->P * sizeof(double));
  polish->net->theta[p] += h;
  return rf_layers_gradient(polish->context, out, NULL, polish->net, polish->X, polish->weights, polish->n);
}

/* I - sum lambda_i y_i d2f_i by central differences (f is a polynomial between kinks), and -G_S^T, G_S. */
static RfStatus form_system(Polish *polish) {
  rf_index P = polish->P, k = polish->k, size = P + k;
  double h = 1e-5 * rf_la_norm(polish->theta, P) / sqrt((double)P);
  memset(polish->system, 0, (size_t)(size * size) * sizeof(double));
  memset(polish->weights, 0, (size_t)polish->n * sizeof(double));
  for (rf_index j = 0; j < k; j++)
    polish->weights[polish->support[j]] = polish->lambda[j] * polish->y[polish->support[j]];
  for (rf_index p = 0; p < P; p++) {
    RfStatus status = shifted_gradient(polish, polish->plus, p, h);
    if (!status) status = shifted_gradient(polish, polish->minus, p, -h);
    if (status) return status;
    for (rf_index r = 0; r < P; r++)
      polish->system[r * size + p] = (r == p) - (polish->plus[r] - polish->minus[r]) / (2 * h);
  }
  for (rf_index j = 0; j < k; j++)
    for (rf_index r = 0; r < P; r++) {
      double g = polish->G[polish->support[j] * P + r];
      polish->system[r * size + P + j] = -g;
      polish->system[(P + j) * size + r] = g;
    }
  return RF_OK;
}

/* Minus the residual into step; returns its size relative to |theta|. */
static double residual(Polish *polish) {
  rf_index P = polish->P, k = polish->k;
  for (rf_index r = 0; r < P; r++) polish->step[r] = -polish->theta[r];
  for (rf_index j = 0; j < k; j++) {
    rf_la_axpy(polish->step, polish->lambda[j], polish->G + polish->support[j] * P, P);
    polish->step[P + j] = 1 - polish->q[polish->support[j]];
  }
  return rf_la_norm(polish->step, P + k) / rf_la_norm(polish->theta, P);
}

/* Newton on the present support; *error: relative residual where it stopped. */
static RfStatus newton(Polish *polish, double *error) {
  rf_index P = polish->P, rank;
  double before = INFINITY;
  RfStatus status = evaluate(polish);
  *error = status ? INFINITY : residual(polish);
  for (int round = 0; round < 40 && !status && *error > 1e-15 && *error < 0.9 * before; round++) {
    before = *error;
    status = form_system(polish);
    if (!status)
      status = rf_la_least_squares(polish->context, polish->system, polish->step, P + polish->k,
                                   P + polish->k, 1e-9, &rank);
    if (status) break;
    rf_la_axpy(polish->theta, 1, polish->step, P);
    rf_la_axpy(polish->lambda, 1, polish->step + P, polish->k);
    status = evaluate(polish);
    if (!status) *error = residual(polish);
    if (!isfinite(*error)) return RF_OK;
  }
  return status;
}

/* Samples that do not push leave, samples that are too close enter; true when the support changed. */
static bool mend_support(Polish *polish) {
  rf_index worst = -1, lowest = -1, P = polish->P;
  double least = 1 - 1e-9, most_negative = -1e-12 * rf_la_dot(polish->theta, polish->theta, P);
  for (rf_index j = 0; j < polish->k; j++)
    if (polish->lambda[j] < most_negative) most_negative = polish->lambda[j], worst = j;
  if (worst >= 0) {
    polish->k--;
    for (rf_index j = worst; j < polish->k; j++)
      polish->support[j] = polish->support[j + 1], polish->lambda[j] = polish->lambda[j + 1];
    return true;
  }
  for (rf_index i = 0; i < polish->n; i++) {
    bool inside = false;
    for (rf_index j = 0; j < polish->k; j++) inside = inside || polish->support[j] == i;
    if (!inside && polish->q[i] < least) least = polish->q[i], lowest = i;
  }
  if (lowest < 0) return false;
  polish->support[polish->k] = lowest, polish->lambda[polish->k++] = 0;
  return true;
}

static double direction_distance(const double *u, const double *v, rf_index P) {
  double size_u = rf_la_norm(u, P), size_v = rf_la_norm(v, P), sum = 0;
  for (rf_index p = 0; p < P; p++) {
    double gap = u[p] / size_u - v[p] / size_v;
    sum += gap * gap;
  }
  return sqrt(sum);
}

RfStatus rf_layered_polish(RfContext *context, RfLayeredNet *net, bool *ok, double *distance, const double *p,
                           const double *X, const double *y, rf_index n) {
  rf_index P = net->n_parameters;
  Polish polish = {.context = context, .net = net, .X = X, .y = y, .n = n, .P = P};
  double *state = RF_NEW(double, P), least = INFINITY, error = INFINITY;
  RfStatus status = polish_new(&polish);
  *ok = false, *distance = NAN;
  if (!status && !state) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a limit");
  if (!status) {
    memcpy(state, net->theta, (size_t)P * sizeof(double));
    memcpy(polish.theta, state, (size_t)P * sizeof(double));
    status = evaluate(&polish);
  }
  for (rf_index i = 0; i < n && !status; i++) least = fmin(least, polish.q[i]);
  if (!status) {
    double degree = (double)rf_layers_homogeneity(net);
    rf_la_scale(polish.theta, pow(least, -1 / degree), P);
    for (rf_index i = 0; i < n; i++)
      if (p[i] > 1e-6) {
        polish.support[polish.k] = i;
        polish.lambda[polish.k++] = p[i] * rf_la_dot(polish.theta, polish.theta, P) / degree;
      }
  }
  for (int round = 0; round < 20 && !status; round++) {
    status = newton(&polish, &error);
    if (status || !(error < 1e-10) || !mend_support(&polish)) break;
    error = INFINITY;
  }
  if (!status) *distance = direction_distance(state, polish.theta, P);
  *ok = !status && error < 1e-10 && *distance < 0.1;
  if (state) memcpy(net->theta, *ok ? polish.theta : state, (size_t)P * sizeof(double));
  polish_free(&polish);
  rf_free(state);
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}
