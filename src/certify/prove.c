/* An exact KKT point near the network (`certify --prove`). Newton's method ended next to a zero of the square
 * KKT system of nearest.c; here that zero is enclosed. With v the approximate zero, Y an approximate inverse
 * of the Jacobian J(v), and V the box of half-width r around v, Krawczyk's test
 *
 *     |Y F(v)|_i + sum_j |I - Y J(V)|_ij r < r   for every i
 *
 * in ball arithmetic proves that V holds exactly one zero of F [Neumaier, Interval Methods for Systems of
 * Equations, 5.1]. Then every inequality that makes the zero a KKT point is decided on V: multipliers
 * positive, slopes on the kinks inside [leak, 1], signs of the other inputs of tight samples as supposed,
 * margins of all other samples above 1. What is not decided is not proved.
 *
 * Neurons that are positive multiples of each other (of any sign at leak 1) may share their size in any way,
 * which would make J singular: one leader stands for each group, and the shares of the given network are kept
 * exactly. Zero neurons are put to 0, where they are stationary. */
#include "prove_internal.h"

#include "la/la.h"

#include <math.h>
#include <string.h>

enum { refinements = 12 };

/* ---- groups ------------------------------------------------------------------------------------------- */

static double neuron_size(const RfKktSystem *s, rf_index k) {
  return hypot(rf_la_norm(s->unknowns + k * s->p->d, s->p->d), s->unknowns[s->p->m * s->p->d + k]);
}

/* Same slopes and kinks on every tight sample, and the same direction up to sign (+1; -1 only at leak 1). */
static bool same_group(const RfKktSystem *s, rf_index j, rf_index k, double sign) {
  const RfPoint *p = s->p;
  const double *a = s->unknowns + p->m * p->d;
  double one = neuron_size(s, j), two = sign * neuron_size(s, k), worst = fabs(a[j] / one - a[k] / two);
  for (rf_index i = 0; i < p->d; i++)
    worst = fmax(worst, fabs(s->unknowns[j * p->d + i] / one - s->unknowns[k * p->d + i] / two));
  for (rf_index t = 0; t < s->n_tight; t++) {
    rf_index at = s->tight[t] * p->m;
    if (s->slopes[at + j] != s->slopes[at + k]) return false;
  }
  return worst <= RF_CERTIFY_SAME_GROUP;
}

static void find_leaders(RfProver *prover) {
  const RfKktSystem *s = prover->s;
  const RfPoint *p = s->p;
  for (rf_index k = 0; k < p->m; k++) {
    double size = neuron_size(s, k);
    prover->leader[k] = -1;
    if (p->zero[k] || !(size > 0)) continue;
    prover->shares[k] = size;
    for (rf_index g = 0; g < prover->m && prover->leader[k] < 0; g++)
      for (double sign = 1; sign >= (p->leak == 1 ? -1 : 1) && prover->leader[k] < 0; sign -= 2)
        if (same_group(s, prover->neuron[g], k, sign)) prover->leader[k] = g, prover->shares[k] = sign * size;
    if (prover->leader[k] < 0) prover->leader[k] = prover->m, prover->neuron[prover->m++] = k;
  }
}

static double group_size(const RfProver *prover, rf_index g) {
  double square = 0;
  for (rf_index k = 0; k < prover->s->p->m; k++)
    if (prover->leader[k] == g) square += prover->shares[k] * prover->shares[k];
  return sqrt(square);
}

/* The unknowns of the leaders, each of the size of its group. */
static void fill_start(RfProver *prover) {
  const RfKktSystem *s = prover->s;
  const RfPoint *p = s->p;
  const double *a = s->unknowns + p->m * p->d, *lambda = a + p->m, *nu = lambda + s->n_tight;
  double *out_a = prover->start + prover->m * prover->d, *out_lambda = out_a + prover->m;
  for (rf_index g = 0; g < prover->m; g++) {
    rf_index k = prover->neuron[g];
    double factor = group_size(prover, g) / neuron_size(s, k);
    for (rf_index j = 0; j < p->d; j++) prover->start[g * p->d + j] = factor * s->unknowns[k * p->d + j];
    out_a[g] = factor * a[k];
    for (rf_index e = 0; e < s->n_kinks; e++) {
      if (s->kinks[e] % p->m != k) continue;
      prover->kink[prover->kinks] = e, prover->owner[prover->kinks] = g;
      out_lambda[s->n_tight + prover->kinks++] = factor * nu[e];
    }
  }
  memcpy(out_lambda, lambda, (size_t)s->n_tight * sizeof *lambda);
  prover->size = prover->m * (prover->d + 1) + s->n_tight + prover->kinks;
}

/* ---- the equations in balls --------------------------------------------------------------------------- */

rf_index rf_prove_kink_sample(const RfProver *prover, rf_index e) {
  return prover->s->kinks[prover->kink[e]] / prover->s->p->m;
}

double rf_prove_slope(const RfProver *prover, rf_index i, rf_index g) {
  return prover->s->slopes[i * prover->s->p->m + prover->neuron[g]];
}

void rf_prove_input(arb_t out, const RfProver *prover, const arb_mat_t v, rf_index i, rf_index g) {
  arb_t x;
  arb_init(x);
  arb_zero(out);
  for (rf_index j = 0; j < prover->d; j++) {
    arb_set_d(x, prover->s->p->X[i * prover->d + j]);
    arb_addmul(out, arb_mat_entry(v, g * prover->d + j, 0), x, prover->bits);
  }
  arb_clear(x);
}

/* F[row] -= value; J[row][column] -= slope, either when wanted. */
static void take(arb_mat_t M, rf_index row, rf_index column, const arb_t value, slong bits) {
  if (M->r > 0) arb_sub(arb_mat_entry(M, row, column), arb_mat_entry(M, row, column), value, bits);
}

/* What tight sample t and leader g contribute to the equations of w_g, a_g and the margin of t. */
static void add_pair(const RfProver *prover, arb_mat_t F, arb_mat_t J, const arb_mat_t v, rf_index t,
                     rf_index g) {
  rf_index i = prover->s->tight[t], row_a = prover->m * prover->d + g,
           row_q = prover->m * (prover->d + 1) + t;
  double slope = rf_prove_slope(prover, i, g);
  if (slope == 0) return;
  slong bits = prover->bits;
  arb_t step, x, part, z;
  arb_init(step), arb_init(x), arb_init(part), arb_init(z);
  const arb_struct *a = arb_mat_entry(v, row_a, 0), *lambda = arb_mat_entry(v, row_q, 0);
  arb_set_d(step, prover->s->p->y[i] * slope); /* y is a sign: exact */
  rf_prove_input(z, prover, v, i, g);
  arb_mul(z, z, step, bits);
  for (rf_index j = 0; j < prover->d; j++) {
    rf_index row_w = g * prover->d + j;
    arb_set_d(x, prover->s->p->X[i * prover->d + j]);
    arb_mul(x, x, step, bits);
    arb_mul(part, lambda, x, bits);
    take(J, row_w, row_a, part, bits), take(J, row_a, row_w, part, bits);
    arb_mul(part, part, a, bits);
    take(F, row_w, 0, part, bits);
    arb_mul(part, a, x, bits);
    take(J, row_w, row_q, part, bits), take(J, row_q, row_w, part, bits);
  }
  take(J, row_a, row_q, z, bits), take(J, row_q, row_a, z, bits);
  arb_mul(part, lambda, z, bits);
  take(F, row_a, 0, part, bits);
  arb_mul(part, a, z, bits);
  take(F, row_q, 0, part, bits);
  arb_clear(step), arb_clear(x), arb_clear(part), arb_clear(z);
}

static void add_kink(const RfProver *prover, arb_mat_t F, arb_mat_t J, const arb_mat_t v, rf_index e) {
  rf_index i = rf_prove_kink_sample(prover, e), g = prover->owner[e],
           row = prover->m * (prover->d + 1) + prover->s->n_tight + e;
  arb_t x, part;
  arb_init(x), arb_init(part);
  if (F->r > 0) rf_prove_input(arb_mat_entry(F, row, 0), prover, v, i, g);
  for (rf_index j = 0; j < prover->d; j++) {
    arb_set_d(x, prover->s->p->X[i * prover->d + j]);
    take(J, g * prover->d + j, row, x, prover->bits);
    if (J->r > 0) arb_set(arb_mat_entry(J, row, g * prover->d + j), x);
    arb_mul(part, arb_mat_entry(v, row, 0), x, prover->bits);
    take(F, g * prover->d + j, 0, part, prover->bits);
  }
  arb_clear(x), arb_clear(part);
}

/* F and J over the balls v; an empty matrix is not wanted. */
static void evaluate(const RfProver *prover, arb_mat_t F, arb_mat_t J, const arb_mat_t v) {
  rf_index own = prover->m * (prover->d + 1), tight = prover->s->n_tight;
  arb_mat_zero(F), arb_mat_zero(J);
  for (rf_index r = 0; r < prover->size; r++) {
    if (F->r > 0 && r < own) arb_set(arb_mat_entry(F, r, 0), arb_mat_entry(v, r, 0));
    if (F->r > 0 && r >= own && r < own + tight) arb_one(arb_mat_entry(F, r, 0));
    if (J->r > 0 && r < own) arb_one(arb_mat_entry(J, r, r));
  }
  for (rf_index t = 0; t < tight; t++)
    for (rf_index g = 0; g < prover->m; g++) add_pair(prover, F, J, v, t, g);
  for (rf_index e = 0; e < prover->kinks; e++) add_kink(prover, F, J, v, e);
}

/* ---- Krawczyk ----------------------------------------------------------------------------------------- */

static void to_midpoints(arb_mat_t v) {
  for (slong r = 0; r < v->r; r++) mag_zero(arb_radref(arb_mat_entry(v, r, 0)));
}

/* Newton's method in the working precision; shift is the last step Y F(v). False when J is singular. */
static bool refine(RfProver *prover) {
  arb_mat_t none;
  arb_mat_init(none, 0, 0);
  for (rf_index r = 0; r < prover->size; r++) arb_set_d(arb_mat_entry(prover->v, r, 0), prover->start[r]);
  evaluate(prover, none, prover->J, prover->v);
  bool regular = arb_mat_approx_inv(prover->inverse, prover->J, prover->bits) != 0;
  for (int step = 0; step < refinements && regular; step++) {
    evaluate(prover, prover->F, none, prover->v);
    arb_mat_mul(prover->shift, prover->inverse, prover->F, prover->bits);
    arb_mat_sub(prover->v, prover->v, prover->shift, prover->bits);
    to_midpoints(prover->v);
  }
  if (regular) {
    evaluate(prover, prover->F, none, prover->v);
    arb_mat_mul(prover->shift, prover->inverse, prover->F, prover->bits);
  }
  arb_mat_clear(none);
  return regular;
}

/* A half-width that the last Newton step leaves room in: eight times its size, and what the precision knows.
 */
static void choose_radius(mag_t radius, const RfProver *prover) {
  mag_t one, size;
  mag_init(one), mag_init(size);
  mag_zero(radius);
  for (rf_index r = 0; r < prover->size; r++) {
    arb_get_mag(one, arb_mat_entry(prover->shift, r, 0));
    mag_max(radius, radius, one);
    arb_get_mag(one, arb_mat_entry(prover->v, r, 0));
    mag_max(size, size, one);
  }
  mag_mul_2exp_si(radius, radius, 3);
  mag_mul_2exp_si(size, size, -prover->bits + 16);
  mag_max(radius, radius, size);
  mag_clear(one), mag_clear(size);
}

/* The test above on the box of this half-width. */
static bool contracts(RfProver *prover, const mag_t radius) {
  arb_mat_t none;
  arb_mat_init(none, 0, 0);
  arb_mat_set(prover->box, prover->v);
  for (rf_index r = 0; r < prover->size; r++) arb_add_error_mag(arb_mat_entry(prover->box, r, 0), radius);
  evaluate(prover, none, prover->J, prover->box);
  arb_mat_mul(prover->rest, prover->inverse, prover->J, prover->bits);
  mag_t sum, one;
  mag_init(sum), mag_init(one);
  bool inside = true;
  for (rf_index r = 0; r < prover->size && inside; r++) {
    arb_sub_ui(arb_mat_entry(prover->rest, r, r), arb_mat_entry(prover->rest, r, r), 1, prover->bits);
    mag_zero(sum);
    for (rf_index c = 0; c < prover->size; c++) {
      arb_get_mag(one, arb_mat_entry(prover->rest, r, c));
      mag_add(sum, sum, one);
    }
    mag_mul(sum, sum, radius);
    arb_get_mag(one, arb_mat_entry(prover->shift, r, 0));
    mag_add(sum, sum, one);
    inside = mag_cmp(sum, radius) < 0;
  }
  mag_clear(sum), mag_clear(one);
  arb_mat_clear(none);
  return inside;
}

/* ---- together ----------------------------------------------------------------------------------------- */

/* One attempt; NULL when it is proved, else the reason. */
static const char *attempt(RfProver *prover, RfProvedPoint *out, const RfNet *net) {
  double least = INFINITY;
  if (!refine(prover)) return "the KKT equations are singular there: multipliers or weights are not unique";
  mag_t radius;
  mag_init(radius);
  choose_radius(radius, prover);
  const char *why = contracts(prover, radius) ? NULL : "the KKT equations are too ill-conditioned there";
  if (!why) why = rf_prove_inequalities(prover, &least);
  if (!why && !rf_prove_measure(prover, out, net, radius)) why = "the distance is not decided";
  out->slack = why ? NAN : least;
  mag_clear(radius);
  return why;
}

static void matrices(RfProver *prover, bool make) {
  arb_mat_struct *columns[] = {prover->v, prover->box, prover->F, prover->shift};
  arb_mat_struct *squares[] = {prover->J, prover->inverse, prover->rest};
  for (int k = 0; k < 4; k++)
    if (make)
      arb_mat_init(columns[k], prover->size, 1);
    else
      arb_mat_clear(columns[k]);
  for (int k = 0; k < 3; k++)
    if (make)
      arb_mat_init(squares[k], prover->size, prover->size);
    else
      arb_mat_clear(squares[k]);
}

static void climb(RfContext *context, RfProver *prover, RfProvedPoint *out, const RfNet *net) {
  matrices(prover, true);
  for (prover->bits = RF_PROVE_FIRST_BITS; prover->bits <= RF_PROVE_MOST_BITS && !out->proved;
       prover->bits *= 2) {
    const char *why = attempt(prover, out, net);
    out->bits = prover->bits;
    out->proved = !why;
    out->why = why ? why : "an exact KKT point lies within this distance";
    if (rf_context_stop(context)) break;
  }
  matrices(prover, false);
  out->equations = prover->size, out->tight = prover->s->n_tight, out->kinks = prover->kinks;
}

RfStatus rf_certify_prove(RfContext *context, RfProvedPoint *proved, const RfKktSystem *system,
                          const RfNet *net, const rf_index *place) {
  proved->why = "no KKT point was found near the network";
  if (!system->p) return RF_OK;
  rf_index m = system->p->m, room = m * (net->d + 1) + system->n_tight + system->n_kinks;
  RfProver prover = {.s = system,
                     .d = net->d,
                     .place = place,
                     .leader = RF_NEW(rf_index, 2 * m + 2 * system->n_kinks),
                     .shares = RF_NEW(double, m + room)};
  RfStatus status = RF_OK;
  if (!prover.leader || !prover.shares) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory to prove a KKT point");
  } else {
    prover.neuron = prover.leader + m, prover.kink = prover.neuron + m;
    prover.owner = prover.kink + system->n_kinks, prover.start = prover.shares + m;
    find_leaders(&prover);
    fill_start(&prover);
    climb(context, &prover, proved, net);
  }
  rf_free(prover.leader);
  rf_free(prover.shares);
  return status;
}
