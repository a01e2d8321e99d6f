/* Newton's method on the KKT system of a layered network, every hidden unit on its side:
 *   theta = sum_S lambda_i y_i df_i(theta; s),   y_i f_i(theta) = 1 on the support S,   z_k(theta) = 0 where
 * unit k is held on its kink with the unknown slope s_k. Networks have symmetries, so the system is singular
 * along them: the step of least norm is taken, which stays next to the state. The support starts with the
 * samples that weigh something; those with a negative multiplier leave, those below margin 1 enter. */
#include "flow/layered/polish.h"
#include "flow/layered/layered_tolerances.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

typedef struct Polish {
  RfContext *context;
  RfSided *sided;
  const double *y;
  rf_index n, P, k, K; /* samples, parameters, support, held units */
  rf_index *support;   /* k samples */
  double *lambda;      /* k */
  double *theta;       /* P: current point */
  double *q, *z;       /* n: y f at the current point; K: inputs of held units */
  double *weights;     /* n */
  const int8_t *seen;  /* n: the others are walls: no supports, but units may be held on them */
  double *walls;       /* n: y_i times the weight of a wall, any: slopes there are in the unit of it */
  double *pull;        /* P: what the walls push with, sum walls_i df_i */
  double *G;           /* k+K rows of P: y_i df_i, then dz */
  double *system;      /* (P+k+K)^2 */
  double *step, *way;  /* P+k+K each */
  double *plus;        /* P */
} Polish;

static void polish_free(Polish *polish) {
  rf_free(polish->support), rf_free(polish->lambda), rf_free(polish->theta), rf_free(polish->q);
  rf_free(polish->z), rf_free(polish->weights), rf_free(polish->G), rf_free(polish->system);
  rf_free(polish->step), rf_free(polish->way), rf_free(polish->plus), rf_free(polish->walls);
  rf_free(polish->pull);
}

static RfStatus polish_new(Polish *polish) {
  rf_index n = polish->n, P = polish->P, K = polish->K, size = P + n + K;
  polish->support = RF_NEW(rf_index, n), polish->lambda = RF_NEW(double, n);
  polish->theta = RF_NEW(double, P), polish->q = RF_NEW(double, n), polish->weights = RF_NEW(double, n);
  polish->z = RF_NEW(double, K + 1), polish->G = RF_NEW(double, (n + K) * P);
  polish->system = RF_NEW(double, size *size), polish->step = RF_NEW(double, size);
  polish->way = RF_NEW(double, size);
  polish->plus = RF_NEW(double, P), polish->walls = RF_NEW(double, n), polish->pull = RF_NEW(double, P);
  bool complete = polish->walls && polish->pull && polish->support && polish->lambda && polish->theta &&
                  polish->q && polish->weights && polish->z && polish->G && polish->system && polish->step &&
                  polish->way && polish->plus;
  return complete ? RF_OK : rf_fail(polish->context, RF_ERR_MEMORY, "out of memory for a limit");
}

/* Margins, held inputs and the rows of G at polish->theta. */
static void evaluate(Polish *polish) {
  rf_index P = polish->P;
  rf_sided_outputs(polish->sided, polish->q, polish->z, polish->theta);
  rf_sided_gradient(polish->sided, polish->pull, polish->walls, polish->theta);
  memset(polish->weights, 0, (size_t)polish->n * sizeof(double));
  for (rf_index j = 0; j < polish->k; j++) {
    rf_index i = polish->support[j];
    polish->weights[i] = polish->y[i];
    rf_sided_gradient(polish->sided, polish->G + j * P, polish->weights, polish->theta);
    polish->weights[i] = 0;
  }
  for (rf_index k = 0; k < polish->K; k++)
    rf_sided_plane(polish->sided, polish->G + (polish->k + k) * P, k, polish->theta);
}

/* By sides f is a polynomial in theta and affine in each slope: all derivatives are exact. */
static RfStatus form_system(Polish *polish) {
  rf_index P = polish->P, k = polish->k, K = polish->K, size = P + k + K;
  double *system = polish->system;
  memcpy(polish->weights, polish->walls, (size_t)polish->n * sizeof(double));
  for (rf_index j = 0; j < k; j++)
    polish->weights[polish->support[j]] = polish->lambda[j] * polish->y[polish->support[j]];
  RfStatus status = rf_sided_hessian(polish->sided, system, polish->weights, polish->theta);
  for (rf_index r = P - 1; r >= 0; r--) { /* rows of P become rows of size, in place from the last on */
    memmove(system + r * size, system + r * P, (size_t)P * sizeof(double));
    rf_la_scale(system + r * size, -1, P);
    system[r * size + r] += 1;
  }
  memset(system + P * size, 0, (size_t)((size - P) * size) * sizeof(double));
  for (rf_index j = 0; j < K; j++) {
    rf_sided_slope_change(polish->sided, polish->plus, j, polish->weights);
    for (rf_index r = 0; r < P; r++) system[r * size + P + k + j] = -polish->plus[r];
  }
  for (rf_index j = 0; j < k + K; j++)
    for (rf_index r = 0; r < P; r++) {
      if (j < k) system[r * size + P + j] = -polish->G[j * P + r];
      system[(P + j) * size + r] = polish->G[j * P + r];
    }
  return status;
}

/* Minus the residual into step; returns its size relative to |theta|. */
static double residual(Polish *polish) {
  rf_index P = polish->P, k = polish->k;
  for (rf_index r = 0; r < P; r++) polish->step[r] = polish->pull[r] - polish->theta[r];
  for (rf_index j = 0; j < k; j++) {
    rf_la_axpy(polish->step, polish->lambda[j], polish->G + j * P, P);
    polish->step[P + j] = 1 - polish->q[polish->support[j]];
  }
  for (rf_index j = 0; j < polish->K; j++) polish->step[P + k + j] = -polish->z[j];
  return rf_la_norm(polish->step, P + k + polish->K) / rf_la_norm(polish->theta, P);
}

/* Adds factor times the step (P+k+K) to the unknowns; the residual there. */
static double move(Polish *polish, const double *step, double factor) {
  rf_index P = polish->P;
  rf_la_axpy(polish->theta, factor, step, P);
  rf_la_axpy(polish->lambda, factor, step + P, polish->k);
  rf_la_axpy(rf_sided_slopes(polish->sided), factor, step + P + polish->k, polish->K);
  evaluate(polish);
  return residual(polish);
}

/* Newton on the present support, its steps halved until the residual falls: where the system is nearly
 * singular a whole step leads far away. *error: relative residual where it stopped. */
static RfStatus newton(Polish *polish, double *error) {
  rf_index P = polish->P, size = P + polish->k + polish->K, rank;
  double before = INFINITY;
  evaluate(polish);
  *error = residual(polish);
  for (int round = 0; round < 60 && *error > RF_LAYERED_NEWTON && *error < 0.98 * before; round++) {
    before = *error;
    if (rf_context_stop(polish->context)) return RF_INTERRUPTED;
    RfStatus status = form_system(polish);
    if (!status)
      status = rf_la_least_squares(polish->context, polish->system, polish->step, size, size,
                                   RF_LAYERED_SYMMETRY, &rank);
    if (status) return status;
    memcpy(polish->way, polish->step, (size_t)size * sizeof(double));
    *error = move(polish, polish->way, 1);
    for (double part = 0.5; !(*error < before) && part > 0.01; part *= 0.5)
      *error = move(polish, polish->way, -part);
    if (!isfinite(*error)) break;
  }
  return RF_OK;
}

static void leave(Polish *polish, rf_index j) {
  polish->k--;
  for (; j < polish->k; j++)
    polish->support[j] = polish->support[j + 1], polish->lambda[j] = polish->lambda[j + 1];
}

/* Samples that do not push leave, samples that are too close enter; true when the support changed. */
static bool mend_support(Polish *polish) {
  rf_index worst = -1, lowest = -1, P = polish->P;
  double least = 1 - RF_LAYERED_BELOW,
         most_negative = -RF_LAYERED_NEGATIVE * rf_la_quick_dot(polish->theta, polish->theta, P);
  for (rf_index j = 0; j < polish->k; j++)
    if (polish->lambda[j] < most_negative) most_negative = polish->lambda[j], worst = j;
  if (worst >= 0) {
    leave(polish, worst);
    return true;
  }
  for (rf_index i = 0; i < polish->n; i++) {
    bool inside = !polish->seen[i];
    for (rf_index j = 0; j < polish->k; j++) inside = inside || polish->support[j] == i;
    if (!inside && polish->q[i] < least) least = polish->q[i], lowest = i;
  }
  if (lowest < 0) return false;
  polish->support[polish->k] = lowest, polish->lambda[polish->k++] = 0;
  return true;
}

double rf_layered_distance(const double *u, const double *v, rf_index P) {
  double size_u = rf_la_norm(u, P), size_v = rf_la_norm(v, P), sum = 0;
  for (rf_index p = 0; p < P; p++) {
    double gap = u[p] / size_u - v[p] / size_v;
    sum += gap * gap;
  }
  return sqrt(sum);
}

/* The state at min margin 1, and the samples that weigh something with their multipliers. */
static bool begin(Polish *polish, const double *state, const double *p, double degree, double weighs) {
  double least = INFINITY;
  polish->k = 0;
  memcpy(polish->theta, state, (size_t)polish->P * sizeof(double));
  rf_sided_outputs(polish->sided, polish->q, polish->z, polish->theta);
  for (rf_index i = 0; i < polish->n; i++)
    if (polish->seen[i]) least = fmin(least, polish->q[i]);
  if (!(least > 0)) return false;
  rf_la_scale(polish->theta, pow(least, -1 / degree), polish->P);
  double square = rf_la_quick_dot(polish->theta, polish->theta, polish->P);
  const double *weights = rf_sided_weights(polish->sided);
  for (rf_index i = 0; i < polish->n; i++)
    polish->walls[i] = polish->seen[i] ? 0 : weights[i] * polish->y[i] * square / degree;
  for (rf_index i = 0; i < polish->n; i++)
    if (p[i] > weighs) polish->support[polish->k] = i, polish->lambda[polish->k++] = p[i] * square / degree;
  return true;
}

/* Newton, and changes of the support, until both are settled; false when they do not. More samples than the
 * network can give one margin have no common solution: `without` (>= 0) is left out from the start. */
static RfStatus solve(Polish *polish, double *error, rf_index without) {
  RfStatus status = RF_OK;
  *error = INFINITY;
  for (rf_index j = polish->k - 1; j >= 0; j--)
    if (polish->support[j] == without) leave(polish, j);
  for (int round = 0; round < 20 && !status; round++) {
    status = newton(polish, error);
    if (status || !(*error < RF_LAYERED_SOLVED) || !mend_support(polish)) break;
    *error = INFINITY;
    if (without >= 0 && polish->support[polish->k - 1] == without) break; /* it belongs to the support */
  }
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}

/* Samples up to which each of them is left out in turn. */
enum { MOST_TURNS = 32 };

/* One try from the state: result->ok when it ends in a KKT point close by, in polish. */
static RfStatus attempt(Polish *polish, RfLayeredPolish *result, double *error, const double *slopes,
                        const double *theta, const double *p, double degree, double weighs,
                        rf_index without) {
  RfSided *sided = polish->sided;
  RfStatus status = RF_OK;
  if (polish->K > 0) memcpy(rf_sided_slopes(sided), slopes, (size_t)polish->K * sizeof(double));
  *error = INFINITY;
  if (begin(polish, theta, p, degree, weighs)) status = solve(polish, error, without);
  if (status || !(*error < RF_LAYERED_SOLVED)) return status;
  result->distance = rf_layered_distance(theta, polish->theta, polish->P);
  bool close = result->distance < RF_LAYERED_REACH;
  result->ok = close && rf_sided_slopes_hold(sided) && rf_sided_sides_hold(sided);
  result->across = result->across || (close && !result->ok);
  return RF_OK;
}

RfStatus rf_layered_polish(RfContext *context, RfLayeredPolish *result, RfSided *sided, double *theta,
                           double *lambda, const double *p, const double *y, rf_index n, rf_index P,
                           double degree) {
  rf_index K = rf_sided_held(sided);
  Polish polish = {.context = context, .sided = sided, .y = y, .n = n, .P = P, .K = K};
  polish.seen = rf_sided_seen(sided);
  double *slopes = RF_NEW(double, K + 1), error = INFINITY;
  *result = (RfLayeredPolish){.distance = NAN, .residual = NAN, .held = K};
  RfStatus status = polish_new(&polish);
  if (!status && !slopes) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a limit");
  if (!status && K > 0) memcpy(slopes, rf_sided_slopes(sided), (size_t)K * sizeof(double));
  /* Samples that weigh little may be no supports, and too many of them leave Newton nowhere to go: then
   * fewer, and then without each of the samples that weigh in turn. */
  for (double weighs = RF_LAYERED_WEIGHS; weighs < 1 && !status && !result->ok; weighs *= RF_LAYERED_FEWER)
    status = attempt(&polish, result, &error, slopes, theta, p, degree, weighs, -1);
  for (rf_index i = 0; i < n && n <= MOST_TURNS && !status && !result->ok; i++)
    if (p[i] > RF_LAYERED_WEIGHS)
      status = attempt(&polish, result, &error, slopes, theta, p, degree, RF_LAYERED_WEIGHS, i);
  if (!status && result->ok) {
    result->residual = error;
    memcpy(theta, polish.theta, (size_t)P * sizeof(double));
    memset(lambda, 0, (size_t)n * sizeof(double));
    for (rf_index j = 0; j < polish.k; j++) lambda[polish.support[j]] = fmax(0, polish.lambda[j]);
  }
  if (slopes && K > 0) memcpy(rf_sided_slopes(sided), slopes, (size_t)K * sizeof(double));
  polish_free(&polish);
  rf_free(slopes);
  return status;
}
