/* The linear systems of the implicit method for many units. J = B + U K with one block per unit,
 *
 *   B_k = D + span{g, w} terms,  U_k = E_k [s_i P x_i],  E_k = rate I - eps w w^T (rows of w), multiples of
 * w^T K_k = C diag(curvature y) [s_i x_i^T] F_k,  F_k = A [a I | w | 2 a w],  C = diag(c)(1 - 1 p^T).
 *
 * (shift - B_k) is solved by four moments, those with g and w and the last two components; F_k (shift -
 * B_k)^-1 E_k = sigma I + [g w] Omega [g w]^T. By the Woodbury identity the whole system then needs one
 * factor of order
 *
 *   samples that carry weight:  1 - C diag(curvature y) [(S^T sigma S) o X X^T + low rank terms], or
 *   classes x d:                1 - [s P x]^T C diag(curvature y) [s x] Q,  Q_p = sum over the class of F.E,
 *
 * whichever is smaller, and no block of order d is ever formed. */
#include <math.h>
#include <string.h>

#include "flow/fit/implicit_internal.h"

enum { MOMENTS = 4 };

/* One unit, linearised. */
typedef struct Block {
  double a, amplitude, rate, eps, e_a, growth, gamma; /* E and F */
  double gw, ww, gg;
  double t_g, t_w;                   /* rows of w: -B = beta 1 + w t^T + column x_s,  t = t_g g + t_w w */
  double beta, c_g, c_w;             /* column = c_g g + c_w w */
  int slot;                          /* 1: the column multiplies w.x_w; 2: a; 3: rho */
  double b_ag, b_aa, b_rg, b_ra;     /* -B, last two rows: on g.x_w and a */
  double inverse[MOMENTS * MOMENTS]; /* of the moment system at the present shift */
  double alpha;                      /* shift + beta */
  double sigma, omega[4];            /* F (shift - B)^-1 E */
} Block;

struct RfBlocks {
  rf_index max_units, n, d;
  rf_index order;    /* of the core */
  bool by_class;     /* which of the two cores */
  rf_index *carrier; /* samples that carry weight */
  rf_index rank;
  Block *block;   /* per unit */
  double *X;      /* rank x d: their rows */
  double *p, *c;  /* rank */
  double *scale;  /* rank: curvature y */
  double *slope;  /* classes x rank */
  double *g;      /* classes x d */
  double *core;   /* by class: [s P x]^T C diag(scale) [s x]; by sample: X X^T */
  double *planes; /* by sample: (2 units + projections) x rank, s g.x, s w.x and s b.x */
  rf_index projections;
  double *work;
  double *factor; /* order x order */
  int32_t *pivot;
  double *memory;
  rf_index room;
};

void rf_blocks_free(RfBlocks *blocks) {
  if (!blocks) return;
  rf_free(blocks->carrier);
  rf_free(blocks->block);
  rf_free(blocks->memory);
  rf_free(blocks->pivot);
  rf_free(blocks);
}

RfStatus rf_blocks_new(RfContext *context, RfBlocks **out, rf_index units, rf_index n, rf_index d) {
  RfBlocks *blocks = RF_NEW(RfBlocks, 1);
  *out = NULL;
  if (!blocks) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
  blocks->max_units = units, blocks->n = n, blocks->d = d;
  blocks->carrier = RF_NEW(rf_index, n);
  blocks->block = RF_NEW(Block, units);
  blocks->pivot = RF_NEW(int32_t, n);
  if (!blocks->carrier || !blocks->block || !blocks->pivot) {
    rf_blocks_free(blocks);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
  }
  *out = blocks;
  return RF_OK;
}

/* ---- one unit ------------------------------------------------------------------------------ */

/* A balanced unit in the coordinates of plain.c, w the direction of v:
 * -B = (2 mu - s g.w/|w|) 1 - s/|w| (g w^T + w g^T) + s g.w/|w|^3 w w^T,  E = s |a||w| (1 + w w^T/|w|^2),  F
 * = A s. */
static void linearise_plain(const RfSystem *system, Block *block) {
  double s = block->a > 0 ? 1 : -1, length = sqrt(block->ww), part = s * fabs(block->a) * length;
  block->beta = 2 * system->mu - s * block->gw / length;
  block->t_g = -s / length, block->t_w = s * block->gw / (block->ww * length);
  block->slot = 1, block->c_g = -s / length;
  block->rate = part, block->eps = -part / block->ww;
  block->a = s;
}

static void linearise(const RfSystem *system, rf_index k, bool plain, Block *block) {
  rf_index d = system->d, units = system->units;
  const double *w = system->y + k * d, *g = rf_system_g(system, k);
  double a = system->y[units * d + k], rho = system->y[units * (d + 1) + k];
  bool frozen = system->problem->freeze_second;
  memset(block, 0, sizeof *block);
  if (system->dead[k]) return;
  double gw = rf_la_quick_dot(g, w, d), ww = rf_la_quick_dot(w, w, d);
  block->gw = gw, block->ww = ww, block->gg = rf_la_quick_dot(g, g, d);
  block->a = a, block->amplitude = rf_system_amplitude(system, rho);
  block->gamma = frozen ? 1 : 2;
  block->rate = frozen ? a * exp(-rho) : a;
  block->slot = frozen ? 3 : 2;
  if (frozen) {
    block->c_g = block->rate;
    return;
  }
  if (plain) {
    linearise_plain(system, block);
    return;
  }
  block->growth = 2 * a;
  block->b_rg = -block->growth;
  if (system->balanced[k]) {
    block->beta = a * gw / ww;
    block->t_g = a / ww, block->t_w = -2 * a * gw / (ww * ww);
    block->eps = a / ww;
  } else {
    block->beta = 2 * a * gw;
    block->t_g = 2 * a;
    block->eps = 2 * a, block->e_a = 1 - 2 * a * a;
    block->c_g = -1, block->c_w = 2 * gw;
    block->b_ag = -block->e_a, block->b_aa = 4 * a * gw, block->b_ra = -2 * gw;
  }
}

/* Gauss-Jordan with row exchanges. */
static bool invert_moments(double *inverse, double *A) {
  enum { M = MOMENTS };
  memset(inverse, 0, M * M * sizeof(double));
  for (int i = 0; i < M; i++) inverse[i * M + i] = 1;
  for (int k = 0; k < M; k++) {
    int best = k;
    for (int i = k + 1; i < M; i++)
      if (fabs(A[i * M + k]) > fabs(A[best * M + k])) best = i;
    if (!(fabs(A[best * M + k]) > 0) || !isfinite(A[best * M + k])) return false;
    for (int j = 0; j < M; j++) {
      double swap = A[k * M + j];
      A[k * M + j] = A[best * M + j], A[best * M + j] = swap;
      swap = inverse[k * M + j];
      inverse[k * M + j] = inverse[best * M + j], inverse[best * M + j] = swap;
    }
    double pivot = 1 / A[k * M + k];
    for (int j = 0; j < M; j++) A[k * M + j] *= pivot, inverse[k * M + j] *= pivot;
    for (int i = 0; i < M; i++) {
      double factor = A[i * M + k];
      if (i == k || factor == 0) continue;
      for (int j = 0; j < M; j++)
        A[i * M + j] -= factor * A[k * M + j], inverse[i * M + j] -= factor * inverse[k * M + j];
    }
  }
  return true;
}

/* The solution is x_w = (v_w - from_g g - from_w w)/alpha. */
static void solve_moments(const Block *block, const double *v, double *x, double *from_g, double *from_w) {
  for (int i = 0; i < MOMENTS; i++) {
    x[i] = 0;
    for (int j = 0; j < MOMENTS; j++) x[i] += block->inverse[i * MOMENTS + j] * v[j];
  }
  *from_g = block->c_g * x[block->slot];
  *from_w = block->t_g * x[0] + block->t_w * x[1] + block->c_w * x[block->slot];
}

/* Moments (g.x_w, w.x_w, x_a, x_rho) of (shift - B) x = v, and F (shift - B)^-1 E on the span of g and w. */
static bool factor_unit(Block *block, double shift) {
  double A[MOMENTS * MOMENTS] = {0}, moments[MOMENTS], from_g, from_w;
  block->alpha = shift + block->beta;
  A[0] = block->alpha + block->gw * block->t_g;
  A[1] = block->gw * block->t_w;
  A[4] = block->ww * block->t_g;
  A[5] = block->alpha + block->ww * block->t_w;
  A[block->slot] += block->c_g * block->gg + block->c_w * block->gw;
  A[4 + block->slot] += block->c_g * block->gw + block->c_w * block->ww;
  A[8] = block->b_ag, A[10] = shift + block->b_aa;
  A[12] = block->b_rg, A[14] = block->b_ra, A[15] = shift;
  if (!invert_moments(block->inverse, A)) return false;
  if (!(fabs(block->alpha) > 0)) return false;
  double F = block->amplitude;
  block->sigma = F * block->a * block->rate / block->alpha;
  for (int j = 0; j < 2; j++) { /* u with (g.u, w.u) = (1, 0) and (0, 1) */
    double gu = j == 0, wu = j == 1;
    double v[MOMENTS] = {block->rate * gu - block->eps * block->gw * wu,
                         (block->rate - block->eps * block->ww) * wu, block->e_a * wu, block->growth * wu};
    solve_moments(block, v, moments, &from_g, &from_w);
    double last = (block->gamma == 2 ? moments[2] : 0) + block->gamma * block->a * moments[3];
    block->omega[j] = -F * block->a * from_g / block->alpha;
    block->omega[2 + j] = F * (last - block->a * (from_w + block->eps * wu) / block->alpha);
  }
  return true;
}

/* x (d+2) = (shift - B)^-1 x. */
static void solve_unit(const Block *block, const double *g, const double *w, double *x, rf_index d) {
  double v[MOMENTS] = {rf_la_quick_dot(g, x, d), rf_la_quick_dot(w, x, d), x[d], x[d + 1]}, moments[MOMENTS],
         from_g, from_w;
  solve_moments(block, v, moments, &from_g, &from_w);
  double inverse = 1 / block->alpha;
  for (rf_index j = 0; j < d; j++) x[j] = (x[j] - from_g * g[j] - from_w * w[j]) * inverse;
  x[d] = moments[2], x[d + 1] = moments[3];
}

/* ---- the core ------------------------------------------------------------------------------ */

static rf_index slide_rank(const RfSystem *system, rf_index k) {
  return system->dead[k] ? 0 : system->slide[k].rank;
}

static RfStatus make_room(RfContext *context, RfBlocks *blocks, const RfSystem *system) {
  rf_index d = system->d, classes = system->classes, rank = blocks->rank, units = system->units;
  rf_index order = blocks->order, wide = classes * d, planes = 0;
  blocks->projections = 0;
  for (rf_index k = 0; k < units; k++) blocks->projections += slide_rank(system, k);
  if (!blocks->by_class) planes = (2 * units + blocks->projections) * rank;
  rf_index core = blocks->by_class ? 2 * rank * wide + wide + d * d + 2 * wide * d : planes + rank;
  rf_index solving = 2 * wide + d + 2 + rank + classes * rank;
  rf_index need =
      rank * (d + 3) + classes * (rank + d) + 2 * order * order + planes + (core > solving ? core : solving);
  if (need > blocks->room) {
    rf_free(blocks->memory);
    blocks->room = 0;
    blocks->memory = RF_NEW(double, need);
    if (!blocks->memory) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the implicit method");
    blocks->room = need;
  }
  double *next = blocks->memory;
  blocks->X = next, next += rank * d;
  blocks->p = next, next += rank;
  blocks->c = next, next += rank;
  blocks->scale = next, next += rank;
  blocks->slope = next, next += classes * rank;
  blocks->g = next, next += classes * d;
  blocks->factor = next, next += order * order;
  blocks->core = next, next += order * order;
  blocks->planes = next, next += planes;
  blocks->work = next;
  return RF_OK;
}

static const double *unit_g(const RfBlocks *blocks, const RfSystem *system, rf_index k) {
  return blocks->g + system->class_of[k] * system->d;
}

/* Y (rank x wide): row r is s_pr P_p x_r, or without the projection, class after class. */
RF_HOT static void class_rows(const RfBlocks *blocks, const RfSystem *system, double *Y, bool projected) {
  rf_index d = system->d, wide = system->classes * d;
  for (rf_index r = 0; r < blocks->rank; r++)
    for (rf_index c = 0; c < system->classes; c++) {
      const RfSlide *slide = &system->slide[system->leader[c]];
      double s = blocks->slope[c * blocks->rank + r], *out = Y + r * wide + c * d;
      for (rf_index j = 0; j < d; j++) out[j] = s * blocks->X[r * d + j];
      for (rf_index v = 0; v < slide->rank && projected; v++)
        rf_la_axpy(out, -rf_la_quick_dot(slide->basis + v * d, out, d), slide->basis + v * d, d);
    }
}

/* rows (rank x width) = C diag(scale) rows: c_r (scale_r row_r - sum_j p_j scale_j row_j). */
RF_HOT static void weigh(const RfBlocks *blocks, double *rows, double *mean, rf_index width) {
  memset(mean, 0, (size_t)width * sizeof(double));
  for (rf_index r = 0; r < blocks->rank; r++)
    rf_la_axpy(mean, blocks->p[r] * blocks->scale[r], rows + r * width, width);
  for (rf_index r = 0; r < blocks->rank; r++) {
    double c = blocks->c[r], scale = blocks->scale[r], *row = rows + r * width;
    for (rf_index j = 0; j < width; j++) row[j] = c * (scale * row[j] - mean[j]);
  }
}

static void prepare_class_core(RfBlocks *blocks, const RfSystem *system) {
  rf_index wide = blocks->order, rank = blocks->rank;
  double *Y = blocks->work, *R = Y + rank * wide, *mean = R + rank * wide;
  class_rows(blocks, system, Y, true);
  class_rows(blocks, system, R, false);
  weigh(blocks, R, mean, wide);
  rf_la_product_tn(blocks->core, Y, R, wide, wide, rank);
}

/* s g.x and s w.x of every unit, and s b.x for the basis of what it slides on. */
RF_HOT static void prepare_sample_core(RfBlocks *blocks, const RfSystem *system) {
  rf_index d = system->d, rank = blocks->rank, units = system->units;
  double *with_g = blocks->planes, *with_w = with_g + units * rank, *H = blocks->work;
  rf_la_gram(blocks->core, blocks->X, rank, d);
  rf_la_product_nt(H, blocks->g, blocks->X, system->classes, rank, d);
  rf_la_product_nt(with_w, system->y, blocks->X, units, rank, d);
  for (rf_index k = 0; k < units; k++) {
    const double *slope = blocks->slope + system->class_of[k] * rank, *h = H + system->class_of[k] * rank;
    for (rf_index r = 0; r < rank; r++) {
      with_g[k * rank + r] = slope[r] * h[r];
      with_w[k * rank + r] *= slope[r];
    }
  }
  double *with_b = with_w + units * rank;
  for (rf_index k = 0; k < units; k++) {
    const double *slope = blocks->slope + system->class_of[k] * rank;
    for (rf_index v = 0; v < slide_rank(system, k); v++, with_b += rank) {
      rf_la_apply(with_b, blocks->X, system->slide[k].basis + v * d, rank, d, d);
      for (rf_index r = 0; r < rank; r++) with_b[r] *= slope[r];
    }
  }
}

RfStatus rf_blocks_prepare(RfContext *context, RfBlocks *blocks, const RfSystem *system,
                           const uint8_t *plain) {
  rf_index d = system->d, n = system->n, rank = rf_carriers(system, blocks->carrier);
  const RfFlowProblem *problem = system->problem;
  blocks->rank = rank;
  blocks->by_class = system->classes * d < rank;
  blocks->order = blocks->by_class ? system->classes * d : rank;
  RfStatus status = make_room(context, blocks, system);
  if (status) return status;
  for (rf_index r = 0; r < rank; r++) {
    rf_index i = blocks->carrier[r];
    memcpy(blocks->X + r * d, problem->X + i * d, (size_t)d * sizeof(double));
    blocks->p[r] = system->p[i], blocks->c[r] = system->c[i];
    blocks->scale[r] = rf_loss_curvature(problem->loss, system->q[i]) * problem->y[i];
    for (rf_index c = 0; c < system->classes; c++)
      blocks->slope[c * rank + r] = system->slope[system->leader[c] * n + i];
  }
  memcpy(blocks->g, system->g, (size_t)(system->classes * d) * sizeof(double));
  for (rf_index k = 0; k < system->units; k++) linearise(system, k, plain && plain[k], &blocks->block[k]);
  if (blocks->by_class)
    prepare_class_core(blocks, system);
  else
    prepare_sample_core(blocks, system);
  return RF_OK;
}

/* 1 - core Q, with Q_p = sum_k sigma_k 1 + [g w] Omega_k [g w]^T. */
static bool factor_by_class(RfBlocks *blocks, const RfSystem *system) {
  rf_index d = system->d, wide = blocks->order;
  double *Q = blocks->work, *column = Q + d * d, *T = blocks->factor;
  for (rf_index c = 0; c < system->classes; c++) {
    memset(Q, 0, (size_t)(d * d) * sizeof(double));
    for (rf_index k = 0; k < system->units; k++) {
      const Block *block = &blocks->block[k];
      if (system->class_of[k] != c || system->dead[k]) continue;
      const double *g = unit_g(blocks, system, k), *w = system->y + k * d, *omega = block->omega;
      for (rf_index i = 0; i < d; i++) {
        double by_g = g[i] * omega[0] + w[i] * omega[2], by_w = g[i] * omega[1] + w[i] * omega[3];
        for (rf_index j = 0; j < d; j++) Q[i * d + j] += by_g * g[j] + by_w * w[j];
        Q[i * d + i] += block->sigma;
      }
    }
    for (rf_index r = 0; r < wide; r++)
      memcpy(column + r * d, blocks->core + r * wide + c * d, (size_t)d * sizeof(double));
    double *product = column + wide * d;
    rf_la_product_nn(product, column, Q, wide, d, d);
    for (rf_index r = 0; r < wide; r++)
      for (rf_index j = 0; j < d; j++) T[r * wide + c * d + j] = (r == c * d + j) - product[r * d + j];
  }
  return rf_la_lu(T, blocks->pivot, wide);
}

/* 1 - C diag(scale) [(S^T sigma S) o X X^T + sum_k (s g.x, s w.x) Omega (s g.x, s w.x)^T - projections]. */
RF_HOT static bool factor_by_sample(RfBlocks *blocks, const RfSystem *system) {
  rf_index rank = blocks->rank, units = system->units;
  double *T = blocks->factor, *one = blocks->work, *two = one + units * rank;
  double *mean = two + (units + blocks->projections) * rank;
  const double *with_g = blocks->planes, *with_w = with_g + units * rank;
  for (rf_index k = 0; k < units; k++) {
    const double *slope = blocks->slope + system->class_of[k] * rank;
    for (rf_index r = 0; r < rank; r++) {
      one[k * rank + r] = slope[r];
      two[k * rank + r] = blocks->block[k].sigma * slope[r];
    }
  }
  rf_la_product_tn(T, one, two, rank, rank, units);
  for (rf_index i = 0; i < rank * rank; i++) T[i] *= blocks->core[i];
  for (rf_index k = 0; k < units; k++) {
    const double *omega = blocks->block[k].omega;
    for (rf_index i = k * rank; i < (k + 1) * rank; i++) {
      one[i] = omega[0] * with_g[i] + omega[1] * with_w[i];
      two[i] = omega[2] * with_g[i] + omega[3] * with_w[i];
    }
  }
  double *row = two + units * rank;
  const double *with_b = with_w + units * rank;
  for (rf_index k = 0; k < units; k++) /* a unit that slides sees projected samples */
    for (rf_index v = 0; v < slide_rank(system, k); v++, row += rank, with_b += rank)
      for (rf_index r = 0; r < rank; r++) row[r] = -blocks->block[k].sigma * with_b[r];
  rf_la_add_product_tn(T, blocks->planes, one, rank, rank, 2 * units + blocks->projections);
  weigh(blocks, T, mean, rank);
  for (rf_index i = 0; i < rank * rank; i++) T[i] = -T[i];
  for (rf_index r = 0; r < rank; r++) T[r * rank + r] += 1;
  return rf_la_lu(T, blocks->pivot, rank);
}

bool rf_blocks_factor(RfBlocks *blocks, const RfSystem *system, double shift) {
  for (rf_index k = 0; k < system->units; k++)
    if (!factor_unit(&blocks->block[k], shift)) return false;
  return blocks->by_class ? factor_by_class(blocks, system) : factor_by_sample(blocks, system);
}

/* ---- solving ------------------------------------------------------------------------------- */

/* V (classes x d) = sum over each class of F z. */
RF_HOT static void gather(const RfBlocks *blocks, const RfSystem *system, const double *x, double *V) {
  rf_index d = system->d, b = d + 2;
  memset(V, 0, (size_t)(system->classes * d) * sizeof(double));
  for (rf_index k = 0; k < system->units; k++) {
    const Block *block = &blocks->block[k];
    const double *w = system->y + k * d, *z = x + k * b;
    double *v = V + system->class_of[k] * d;
    if (system->dead[k]) continue;
    double last = (block->gamma == 2 ? z[d] : 0) + block->gamma * block->a * z[d + 1];
    for (rf_index j = 0; j < d; j++) v[j] += block->amplitude * (block->a * z[j] + last * w[j]);
  }
}

/* V = [s P x]^T T^-1 C diag(scale) [s x] V, on samples. */
RF_HOT static void through_samples(const RfBlocks *blocks, const RfSystem *system, double *V, double *work) {
  rf_index d = system->d, rank = blocks->rank, classes = system->classes;
  double *s = work, *H = s + rank;
  rf_la_product_nt(H, V, blocks->X, classes, rank, d);
  memset(s, 0, (size_t)rank * sizeof(double));
  for (rf_index c = 0; c < classes; c++)
    for (rf_index r = 0; r < rank; r++) s[r] += blocks->slope[c * rank + r] * H[c * rank + r];
  double mean;
  weigh(blocks, s, &mean, 1);
  rf_la_lu_solve(blocks->factor, blocks->pivot, s, rank);
  for (rf_index c = 0; c < classes; c++)
    for (rf_index r = 0; r < rank; r++) H[c * rank + r] = blocks->slope[c * rank + r] * s[r];
  rf_la_product_nn(V, H, blocks->X, classes, d, rank);
  for (rf_index c = 0; c < classes; c++) {
    const RfSlide *slide = &system->slide[system->leader[c]];
    double *v = V + c * d;
    for (rf_index j = 0; j < slide->rank; j++)
      rf_la_axpy(v, -rf_la_quick_dot(slide->basis + j * d, v, d), slide->basis + j * d, d);
  }
}

void rf_blocks_solve(RfBlocks *blocks, const RfSystem *system, double *x) {
  rf_index d = system->d, b = d + 2, wide = system->classes * d;
  double *V = blocks->work, *e = V + wide, *work = e + b;
  for (rf_index k = 0; k < system->units; k++)
    if (!system->dead[k])
      solve_unit(&blocks->block[k], unit_g(blocks, system, k), system->y + k * d, x + k * b, d);
    else
      rf_la_scale(x + k * b, 1 / blocks->block[k].alpha, b);
  gather(blocks, system, x, V);
  if (blocks->by_class) {
    rf_la_apply(work, blocks->core, V, wide, wide, wide);
    memcpy(V, work, (size_t)wide * sizeof(double));
    rf_la_lu_solve(blocks->factor, blocks->pivot, V, wide);
  } else {
    through_samples(blocks, system, V, work);
  }
  for (rf_index k = 0; k < system->units; k++) {
    const Block *block = &blocks->block[k];
    const double *w = system->y + k * d, *v = V + system->class_of[k] * d;
    if (system->dead[k]) continue;
    double wv = rf_la_quick_dot(w, v, d);
    for (rf_index j = 0; j < d; j++) e[j] = block->rate * v[j] - block->eps * wv * w[j];
    e[d] = block->e_a * wv, e[d + 1] = block->growth * wv;
    solve_unit(block, unit_g(blocks, system, k), w, e, d);
    rf_la_axpy(x + k * b, 1, e, b);
    rf_system_project(system, k, x + k * b); /* rounding across a hyperplane would be a margin */
  }
}
