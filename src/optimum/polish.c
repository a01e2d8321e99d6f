/* Newton polish (docs/math.md (G.12)). Near the optimum the barrier shows which multipliers, neurons and
 * kinks are active. With those fixed, neuron k has direction v_k = B_k lambda, B_k the signed slopes times
 * samples, projected off the samples that it sits on, and the optimum solves sum_k c_k B_k^T B_k lambda = b
 * on the support,      |B_k lambda| = 1, smooth equations in (lambda, c). A wrong guess shows as a negative
 * multiplier or size and is corrected. */
#include "optimum/optimum_internal.h"
#include "optimum/kernels.h"
#include "reluflow/la.h"

#include <math.h>
#include <string.h>

typedef struct Polish {
  const RfReduced *p;
  rf_index n, r, K, s;             /* neurons, support size */
  const RfPattern **from;          /* K */
  double *c, *lambda;              /* K, n */
  bool *in;                        /* n: in the support */
  rf_index *support;               /* n */
  double *B, *v, *J, *rhs, *stack; /* K blocks r x s, K x r */
  double *best, residual;          /* lambda (n) then c (K) of the best iterate */
} Polish;

static void polish_free(Polish *q) {
  rf_free(q->from), rf_free(q->c), rf_free(q->lambda), rf_free(q->in), rf_free(q->support), rf_free(q->B);
  rf_free(q->v), rf_free(q->J), rf_free(q->rhs), rf_free(q->stack), rf_free(q->best);
}

static RfStatus polish_alloc(RfContext *context, Polish *q, rf_index patterns) {
  rf_index n = q->n, r = q->r, K = patterns, size = n + K;
  q->from = RF_NEW(const RfPattern *, K), q->c = RF_NEW(double, K), q->lambda = RF_NEW(double, n);
  q->in = RF_NEW(bool, n), q->support = RF_NEW(rf_index, n), q->B = RF_NEW(double, K *r *n);
  q->v = RF_NEW(double, K *r), q->J = RF_NEW(double, size *size + n * n), q->rhs = RF_NEW(double, size);
  q->stack = RF_NEW(double, K *r *n), q->best = RF_NEW(double, size);
  if (q->from && q->c && q->lambda && q->in && q->support && q->B && q->v && q->J && q->rhs && q->stack &&
      q->best)
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
    if (other->sign != pattern->sign || apart > 1e-5) continue;
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

/* B_k (r x s): columns y sign slope x, projected off the kinks. */
static void set_block(Polish *q, rf_index k) {
  const RfReduced *p = q->p;
  rf_index r = q->r, s = q->s, kinks = 0;
  const RfPattern *pattern = q->from[k];
  double *B = q->B + k * r * q->n, *Q = q->stack, length = rf_la_norm(pattern->r, r);
  memset(B, 0, (size_t)(r * s) * sizeof *B);
  for (rf_index a = 0; a < s; a++) {
    rf_index i = q->support[a];
    const double *x = p->X + i * r;
    double z = rf_short_dot(x, pattern->r, r) / length;
    if (on_kink(q, pattern, i, z) && kinks < r) {
      double *row = Q + kinks * r;
      memcpy(row, x, (size_t)r * sizeof *row);
      for (int pass = 0; pass < 2; pass++)
        for (rf_index l = 0; l < kinks; l++)
          rf_short_axpy(row, -rf_short_dot(Q + l * r, row, r), Q + l * r, r);
      double size = sqrt(rf_short_dot(row, row, r));
      if (size > 1e-9) {
        for (rf_index l = 0; l < r; l++) row[l] /= size;
        kinks++;
      }
      continue;
    }
    bool own = p->y[i] * pattern->sign > 0;
    double slope = (own ? rf_bits_get(pattern->active, i) : z > 0) ? 1 : p->leak;
    for (rf_index l = 0; l < r; l++) B[l * s + a] = p->y[i] * pattern->sign * slope * x[l];
  }
  for (rf_index a = 0; a < s; a++) /* columns off the kinks */
    for (int pass = 0; pass < 2; pass++)
      for (rf_index l = 0; l < kinks; l++) {
        double part = 0;
        for (rf_index c = 0; c < r; c++) part += Q[l * r + c] * B[c * s + a];
        for (rf_index c = 0; c < r; c++) B[c * s + a] -= part * Q[l * r + c];
      }
}

/* Residuals of both equations into rhs; returns the largest. */
static double equations(Polish *q) {
  rf_index r = q->r, s = q->s;
  double worst = 0;
  for (rf_index a = 0; a < s; a++) q->rhs[a] = q->p->b[q->support[a]];
  for (rf_index k = 0; k < q->K; k++) {
    const double *B = q->B + k * r * q->n;
    double *v = q->v + k * r;
    for (rf_index l = 0; l < r; l++) {
      v[l] = 0;
      for (rf_index a = 0; a < s; a++) v[l] += B[l * s + a] * q->lambda[q->support[a]];
    }
    for (rf_index l = 0; l < r; l++)
      for (rf_index a = 0; a < s; a++) q->rhs[a] -= q->c[k] * v[l] * B[l * s + a];
    q->rhs[s + k] = (1 - rf_short_dot(v, v, r)) / 2;
  }
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
      for (rf_index l = 0; l < r; l++) part += q->v[k * r + l] * q->B[k * r * q->n + l * s + a];
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
      memcpy(q->best, q->lambda, (size_t)q->n * sizeof(double));
      memcpy(q->best + q->n, q->c, (size_t)q->K * sizeof(double));
    } else if (step > 6 || worst > 1e3)
      break;
    if (worst < 2e-16) break;
    jacobian(q);
    status = rf_la_least_squares(context, q->J, q->rhs, q->s + q->K, q->s + q->K, 1e-12, NULL);
    for (rf_index a = 0; a < q->s && !status; a++) q->lambda[q->support[a]] += q->rhs[a];
    for (rf_index k = 0; k < q->K && !status; k++) q->c[k] += q->rhs[q->s + k];
  }
  memcpy(q->lambda, q->best, (size_t)q->n * sizeof(double));
  memcpy(q->c, q->best + q->n, (size_t)q->K * sizeof(double));
  return status == RF_ERR_NUMERIC ? RF_OK : status;
}

/* Removes what came out negative; true when something did. */
static bool correct(Polish *q) {
  rf_index kept = 0;
  bool changed = false;
  double total = 0, largest = 0;
  for (rf_index k = 0; k < q->K; k++) total += fabs(q->c[k]);
  for (rf_index i = 0; i < q->n; i++) largest = fmax(largest, fabs(q->lambda[i]));
  for (rf_index k = 0; k < q->K; k++) {
    if (q->c[k] < -1e-12 * total) {
      changed = true;
      continue;
    }
    q->c[kept] = fmax(q->c[k], 0), q->from[kept++] = q->from[k];
  }
  q->K = kept;
  for (rf_index i = 0; i < q->n; i++) {
    if (q->in[i] && q->lambda[i] < -1e-12 * largest) q->in[i] = false, changed = true;
    q->lambda[i] = fmax(q->lambda[i], 0);
  }
  return changed;
}

static RfStatus take(RfContext *context, RfAtoms *out, const Polish *q) {
  RfStatus status = RF_OK;
  equations((Polish *)q);
  for (rf_index k = 0; k < q->K && !status; k++) {
    double *v = q->v + k * q->r, size = rf_la_norm(v, q->r);
    if (!(size > 0) || !(q->c[k] > 0)) continue;
    rf_la_scale(v, 1 / size, q->r);
    status = rf_atoms_add(context, out, v, q->c[k], q->from[k]->sign);
  }
  return status;
}

/* Several solutions of the equations can exist: the one meant is near the master's multipliers and its
 * objective. */
static bool agrees(const Polish *q, const RfMaster *master) {
  const double *lambda = rf_master_lambda(master);
  double moved = 0, total = 0, now = 0, before = 0;
  for (rf_index i = 0; i < q->n; i++) {
    moved += fabs(q->lambda[i] - lambda[i]), total += lambda[i];
    now += q->p->b[i] * q->lambda[i], before += q->p->b[i] * lambda[i];
  }
  double gap = rf_master_gap(master);
  return moved <= fmin(0.1, 1e3 * sqrt(gap)) * total && fabs(now - before) <= 3 * gap * before;
}

RfStatus rf_optimum_polish(RfContext *context, RfAtoms *atoms, double *lambda, bool *improved,
                           const RfReduced *p, const RfMaster *master) {
  Polish q = {.p = p, .n = p->n, .r = p->r};
  RfAtoms fresh = {.r = p->r};
  *improved = false;
  RfStatus status = polish_alloc(context, &q, rf_master_count(master));
  if (status) goto done;
  identify(&q, master);
  bool settled = false;
  for (int attempt = 0; attempt < 8 && !settled && !status; attempt++) {
    list_support(&q);
    if (q.s == 0 || q.K == 0) break;
    status = newton(context, &q);
    settled = !correct(&q);
  }
  if (status || !settled || !(q.residual < 1e-9) || !agrees(&q, master)) goto done;
  status = take(context, &fresh, &q);
  if (status) goto done;
  double now = rf_atoms_objective(p, &fresh, NULL), before = rf_atoms_objective(p, atoms, NULL);
  if (now <= before * (1 + 1e-9)) {
    RfAtoms old = *atoms;
    *atoms = fresh, fresh = old;
    memcpy(lambda, q.lambda, (size_t)p->n * sizeof *lambda);
    *improved = true;
  }
done:
  rf_atoms_free(&fresh);
  polish_free(&q);
  return status;
}
