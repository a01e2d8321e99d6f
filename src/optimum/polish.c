/* Newton polish (docs/math.md (G.12)). Near the optimum the interior point shows which multipliers, neurons
 * and kinks are active. With those fixed, neuron k has direction v_k = B_k lambda, where B_k holds the signed
 * slopes times samples, projected off the samples that the neuron sits on, and the optimum solves
 *
 *     sum_k c_k B_k^T B_k lambda = b  on the support,      |B_k lambda| = 1,
 *
 * smooth equations in (lambda, c). A wrong guess shows as a negative multiplier or size and is corrected.
 * Multipliers and sizes can be 1e5 times larger than what they add up to, so that residuals and directions
 * are computed in long double. */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "optimum/optimum_tolerances.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

typedef struct Polish {
  const RfReduced *p;
  rf_index n, r, K, s;           /* neurons, support size */
  const RfPattern **from;        /* K */
  double *c;                     /* K */
  long double *lambda, *v, *sum; /* n, K x r, n */
  bool *in;                      /* n: in the support */
  rf_index *support, *kinks;     /* n, K */
  double *slope;                 /* K x n: signed slope on every support sample, 0 on a kink */
  long double *Q;                /* K blocks r x r: orthonormal rows spanning the kinks */
  double *B, *J, *rhs, *stack;   /* K blocks r x s */
  long double *best;             /* lambda (n) then c (K) of the best iterate */
  double residual;
} Polish;

static void polish_free(Polish *q) {
  rf_free(q->from), rf_free(q->c), rf_free(q->lambda), rf_free(q->in), rf_free(q->support), rf_free(q->B);
  rf_free(q->v), rf_free(q->J), rf_free(q->rhs), rf_free(q->stack), rf_free(q->best), rf_free(q->sum);
  rf_free(q->kinks), rf_free(q->slope), rf_free(q->Q);
}

static RfStatus polish_alloc(RfContext *context, Polish *q, rf_index patterns) {
  rf_index n = q->n, r = q->r, K = patterns, size = n + K;
  q->from = RF_NEW(const RfPattern *, K), q->c = RF_NEW(double, K), q->lambda = RF_NEW(long double, n);
  q->in = RF_NEW(bool, n), q->support = RF_NEW(rf_index, n), q->B = RF_NEW(double, K *r *n);
  q->v = RF_NEW(long double, K *r), q->J = RF_NEW(double, size *size + n * n),
  q->rhs = RF_NEW(double, size + r);
  q->stack = RF_NEW(double, K *r *n), q->best = RF_NEW(long double, size),
  q->sum = RF_NEW(long double, n + r);
  q->kinks = RF_NEW(rf_index, K), q->slope = RF_NEW(double, K *n), q->Q = RF_NEW(long double, K *r *r);
  if (q->from && q->c && q->lambda && q->in && q->support && q->B && q->v && q->J && q->rhs && q->stack &&
      q->best && q->sum && q->kinks && q->slope && q->Q)
    return RF_OK;
  return rf_fail(context, RF_ERR_MEMORY, "out of memory to polish %lld neurons", (long long)K);
}

/* Same neuron under two patterns (they differ where lambda is 0): keep the larger. */
static bool merge(Polish *q, const RfPattern *pattern) {
  double a = rf_la_norm(pattern->r, q->r);
  for (rf_index k = 0; k < q->K; k++) {
    const RfPattern *other = q->from[k];
    double apart = 0, b = rf_la_norm(other->r, q->r);
    for (rf_index i = 0; i < q->r; i++) apart = fmax(apart, fabs(pattern->r[i] / a - other->r[i] / b));
    if (other->sign != pattern->sign || apart > rf_same_pattern) continue;
    q->c[k] += pattern->c;
    if (pattern->c > other->c) q->from[k] = pattern;
    return true;
  }
  return false;
}

/* Active: what is larger than its own slack, both measured against the largest of their kind. */
static void identify(Polish *q, const RfMaster *master) {
  const double *lambda = rf_master_lambda(master);
  double largest = 0, total = 0, mu = rf_master_mu(master);
  for (rf_index j = 0; j < rf_master_count(master); j++) total += rf_master_pattern(master, j)->c;
  for (rf_index i = 0; i < q->n; i++) largest = fmax(largest, lambda[i]);
  q->K = 0;
  for (rf_index j = 0; j < rf_master_count(master); j++) {
    const RfPattern *pattern = rf_master_pattern(master, j);
    if (pattern->c / total <= 1 - pattern->v || merge(q, pattern)) continue;
    q->c[q->K] = pattern->c;
    q->from[q->K++] = pattern;
  }
  for (rf_index i = 0; i < q->n; i++) {
    q->lambda[i] = lambda[i];
    q->in[i] = lambda[i] / largest > mu / lambda[i];
  }
}

static void list_support(Polish *q) {
  q->s = 0;
  for (rf_index i = 0; i < q->n; i++) {
    if (q->in[i])
      q->support[q->s++] = i;
    else
      q->lambda[i] = 0;
  }
}

/* A sample of the opposite class that the neuron sits on. */
static bool on_kink(const Polish *q, const RfPattern *pattern, rf_index i, double z) {
  double leak = q->p->leak, part = (pattern->m[i] - leak) / (1 - leak);
  return q->p->y[i] * pattern->sign < 0 && fmin(part, 1 - part) > fabs(z);
}

static long double wide_dot(const long double *x, const long double *y, rf_index r) {
  long double sum = 0;
  for (rf_index k = 0; k < r; k++) sum += x[k] * y[k];
  return sum;
}

/* Subtracts the parts of x along the orthonormal rows Q. */
static void wide_project(long double *x, const long double *Q, rf_index rows, rf_index r) {
  for (int pass = 0; pass < 2; pass++)
    for (rf_index l = 0; l < rows; l++) {
      long double part = wide_dot(Q + l * r, x, r);
      for (rf_index k = 0; k < r; k++) x[k] -= part * Q[l * r + k];
    }
}

static void add_kink(Polish *q, rf_index k, const double *x) {
  rf_index r = q->r, count = q->kinks[k];
  if (count == r) return;
  long double *row = q->Q + (k * r + count) * r;
  for (rf_index l = 0; l < r; l++) row[l] = x[l];
  wide_project(row, q->Q + k * r * r, count, r);
  long double size = sqrtl(wide_dot(row, row, r));
  if (size < rf_dependent_row) return;
  for (rf_index l = 0; l < r; l++) row[l] /= size;
  q->kinks[k]++;
}

/* Slopes, kinks, and B_k (r x s): columns y sign slope x, projected off the kinks. */
static void set_block(Polish *q, rf_index k) {
  const RfReduced *p = q->p;
  rf_index r = q->r, s = q->s;
  const RfPattern *pattern = q->from[k];
  double *B = q->B + k * r * q->n, *slope = q->slope + k * q->n, length = rf_la_norm(pattern->r, r);
  long double *column = q->sum;
  q->kinks[k] = 0;
  for (rf_index a = 0; a < s; a++) {
    rf_index i = q->support[a];
    const double *x = p->X + i * r;
    double z = rf_short_dot(x, pattern->r, r) / length;
    bool own = p->y[i] * pattern->sign > 0, kink = on_kink(q, pattern, i, z);
    bool on = own ? rf_bits_get(pattern->active, i) : z > 0;
    slope[a] = kink ? 0 : p->y[i] * pattern->sign * (on ? 1 : p->leak);
    if (kink) add_kink(q, k, x);
  }
  for (rf_index a = 0; a < s; a++) {
    const double *x = p->X + q->support[a] * r;
    for (rf_index l = 0; l < r; l++) column[l] = slope[a] * x[l];
    wide_project(column, q->Q + k * r * r, q->kinks[k], r);
    for (rf_index l = 0; l < r; l++) B[l * s + a] = (double)column[l];
  }
}

/* v_k = B_k lambda. */
static void set_direction(Polish *q, rf_index k) {
  rf_index r = q->r;
  long double *v = q->v + k * r;
  memset(v, 0, (size_t)r * sizeof *v);
  for (rf_index a = 0; a < q->s; a++) {
    const double *x = q->p->X + q->support[a] * r;
    long double weight = q->slope[k * q->n + a] * q->lambda[q->support[a]];
    for (rf_index l = 0; l < r; l++) v[l] += weight * x[l];
  }
  wide_project(v, q->Q + k * r * r, q->kinks[k], r);
}

/* Residuals of both equations into rhs; returns the largest. */
static double equations(Polish *q) {
  rf_index r = q->r, s = q->s;
  double worst = 0;
  for (rf_index a = 0; a < s; a++) q->sum[a] = q->p->b[q->support[a]];
  for (rf_index k = 0; k < q->K; k++) {
    set_direction(q, k);
    const long double *v = q->v + k * r;
    for (rf_index a = 0; a < s; a++) {
      const double *x = q->p->X + q->support[a] * r;
      long double dot = 0;
      for (rf_index l = 0; l < r; l++) dot += v[l] * x[l];
      q->sum[a] -= q->c[k] * q->slope[k * q->n + a] * dot;
    }
    q->rhs[s + k] = (double)((1 - wide_dot(v, v, r)) / 2);
  }
  for (rf_index a = 0; a < s; a++) q->rhs[a] = (double)q->sum[a];
  for (rf_index a = 0; a < s + q->K; a++) worst = fmax(worst, fabs(q->rhs[a]));
  return worst;
}

/* J = [ sum c B^T B , columns B^T v ; rows v^T B , 0 ]. */
static void jacobian(Polish *q) {
  rf_index r = q->r, s = q->s, size = s + q->K;
  double *sum = q->J + (q->n + q->K) * (q->n + q->K);
  for (rf_index k = 0; k < q->K; k++)
    for (rf_index l = 0; l < r; l++)
      for (rf_index a = 0; a < s; a++)
        q->stack[(k * r + l) * s + a] = sqrt(fmax(q->c[k], 0)) * q->B[k * r * q->n + l * s + a];
  rf_la_product_tn(sum, q->stack, q->stack, s, s, q->K * r);
  memset(q->J, 0, (size_t)(size * size) * sizeof(double));
  for (rf_index a = 0; a < s; a++) memcpy(q->J + a * size, sum + a * s, (size_t)s * sizeof(double));
  for (rf_index k = 0; k < q->K; k++)
    for (rf_index a = 0; a < s; a++) {
      double part = 0;
      for (rf_index l = 0; l < r; l++) part += (double)q->v[k * r + l] * q->B[k * r * q->n + l * s + a];
      q->J[a * size + s + k] = q->J[(s + k) * size + a] = part;
    }
}

static RfStatus newton(RfContext *context, Polish *q) {
  RfStatus status = RF_OK;
  q->residual = INFINITY;
  for (rf_index k = 0; k < q->K; k++) set_block(q, k);
  for (int step = 0; step < 25 && !status; step++) {
    double worst = equations(q);
    if (!(worst < INFINITY)) break;
    if (worst < q->residual) {
      q->residual = worst;
      memcpy(q->best, q->lambda, (size_t)q->n * sizeof *q->best);
      for (rf_index k = 0; k < q->K; k++) q->best[q->n + k] = q->c[k];
    } else if (step > 6 || worst > 1e3)
      break;
    if (worst < rf_newton_done) break;
    jacobian(q);
    status = rf_la_least_squares(context, q->J, q->rhs, q->s + q->K, q->s + q->K, rf_newton_rank, NULL);
    for (rf_index a = 0; a < q->s && !status; a++) q->lambda[q->support[a]] += q->rhs[a];
    for (rf_index k = 0; k < q->K && !status; k++) q->c[k] += q->rhs[q->s + k];
  }
  memcpy(q->lambda, q->best, (size_t)q->n * sizeof *q->best);
  for (rf_index k = 0; k < q->K; k++) q->c[k] = (double)q->best[q->n + k];
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}

/* Removes what came out negative; true when something did. */
static bool correct(Polish *q) {
  rf_index kept = 0;
  bool changed = false;
  double total = 0, largest = 0;
  for (rf_index k = 0; k < q->K; k++) total += fabs(q->c[k]);
  for (rf_index i = 0; i < q->n; i++) largest = fmax(largest, fabs((double)q->lambda[i]));
  for (rf_index k = 0; k < q->K; k++) {
    if (q->c[k] < -rf_negative * total) {
      changed = true;
      continue;
    }
    q->c[kept] = fmax(q->c[k], 0), q->from[kept++] = q->from[k];
  }
  q->K = kept;
  for (rf_index i = 0; i < q->n; i++) {
    if (q->in[i] && q->lambda[i] < -rf_negative * largest) q->in[i] = false, changed = true;
    if (q->lambda[i] < 0) q->lambda[i] = 0;
  }
  return changed;
}

static RfStatus take(RfContext *context, RfAtoms *out, Polish *q, double *u) {
  RfStatus status = RF_OK;
  equations(q);
  for (rf_index k = 0; k < q->K && !status; k++) {
    const long double *v = q->v + k * q->r;
    long double size = sqrtl(wide_dot(v, v, q->r));
    if (!(size > 0) || !(q->c[k] > 0)) continue;
    for (rf_index l = 0; l < q->r; l++) u[l] = (double)(v[l] / size);
    status = rf_atoms_add(context, out, u, q->c[k], q->from[k]->sign);
  }
  return status;
}

/* Residual that counts as solved: the terms of the margins add up to sum c, those of r_k to sum lambda. */
static double accuracy(const Polish *q) {
  double sizes = 0, weights = 0;
  for (rf_index k = 0; k < q->K; k++) sizes += q->c[k];
  for (rf_index i = 0; i < q->n; i++) weights += (double)q->lambda[i];
  return rf_newton_believed + rf_newton_noise * sizes * weights;
}

/* Several solutions of the equations can exist: the one meant is near the master's multipliers and its
 * objective. */
static bool agrees(const Polish *q, const RfMaster *master) {
  const double *lambda = rf_master_lambda(master);
  double moved = 0, total = 0, now = 0, before = 0;
  for (rf_index i = 0; i < q->n; i++) {
    double mine = (double)q->lambda[i];
    moved += fabs(mine - lambda[i]), total += lambda[i];
    now += q->p->b[i] * mine, before += q->p->b[i] * lambda[i];
  }
  double gap = rf_master_gap(master);
  return moved <= fmin(0.1, 1e3 * sqrt(gap)) * total && fabs(now - before) <= 3 * gap * before;
}

RfStatus rf_optimum_polish(RfContext *context, RfAtoms *atoms, double *lambda, bool *improved,
                           const RfReduced *p, const RfMaster *master) {
  Polish q = {.p = p, .n = p->n, .r = p->r};
  RfAtoms fresh = {.r = p->r};
  *improved = false;
  double *rounded = RF_NEW(double, p->n);
  RfStatus status = polish_alloc(context, &q, rf_master_count(master));
  if (!status && !rounded) status = rf_fail(context, RF_ERR_MEMORY, "out of memory to polish");
  if (status) goto done;
  identify(&q, master);
  bool settled = false;
  for (int attempt = 0; attempt < 8 && !settled && !status; attempt++) {
    list_support(&q);
    if (q.s == 0 || q.K == 0) break;
    status = newton(context, &q);
    settled = !correct(&q);
  }
  if (status || !settled || !(q.residual < accuracy(&q)) || !agrees(&q, master)) goto done;
  for (rf_index i = 0; i < p->n; i++) rounded[i] = (double)q.lambda[i];
  status = take(context, &fresh, &q, q.rhs);
  if (!status) status = rf_atoms_refit(context, &fresh, p, rounded);
  if (status) goto done;
  double now = rf_atoms_objective(p, &fresh, NULL), before = rf_atoms_objective(p, atoms, NULL);
  if (now <= before * (1 + rf_polish_worse)) {
    RfAtoms old = *atoms;
    *atoms = fresh, fresh = old;
    memcpy(lambda, rounded, (size_t)p->n * sizeof *lambda);
    *improved = true;
  }
done:
  rf_atoms_free(&fresh);
  rf_free(rounded);
  polish_free(&q);
  return status;
}
