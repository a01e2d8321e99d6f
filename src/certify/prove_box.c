/* What is decided on the box that holds the exact zero (prove.c): the inequalities of a KKT point, and how
 * far the zero is from the given network. */
#include "prove_internal.h"

#include <math.h>

/* ---- inequalities on the box -------------------------------------------------------------------------- */

/* value > 0, and its lower bound kept when it is the least. */
static bool positive(const arb_t value, double *least) {
  if (!arb_is_positive(value)) return false;
  arf_t low;
  arf_init(low);
  arb_get_lbound_arf(low, value, RF_PROVE_FIRST_BITS);
  *least = fmin(*least, arf_get_d(low, ARF_RND_FLOOR));
  arf_clear(low);
  return true;
}

/* out = max(z, leak z). */
static void activate(arb_t out, const arb_t z, double leak, slong bits) {
  arb_t other;
  arb_init(other);
  arb_set_d(other, leak);
  arb_mul(other, other, z, bits);
  arb_max(out, z, other, bits);
  arb_clear(other);
}

/* y_i f(x_i) of the leaders on the box. */
static void margin(arb_t out, const RfProver *prover, rf_index i) {
  arb_t z;
  arb_init(z);
  arb_zero(out);
  for (rf_index g = 0; g < prover->m; g++) {
    rf_prove_input(z, prover, prover->box, i, g);
    activate(z, z, prover->s->p->leak, prover->bits);
    arb_addmul(out, arb_mat_entry(prover->box, prover->m * prover->d + g, 0), z, prover->bits);
  }
  if (prover->s->p->y[i] < 0) arb_neg(out, out);
  arb_clear(z);
}

static bool multipliers_positive(const RfProver *prover, double *least) {
  for (rf_index t = 0; t < prover->s->n_tight; t++)
    if (!positive(arb_mat_entry(prover->box, prover->m * (prover->d + 1) + t, 0), least)) return false;
  return true;
}

/* Inputs of tight samples off the kinks have the sign of their slope. At leak 1 there is nothing to decide.
 */
static bool signs_hold(const RfProver *prover, double *least) {
  const RfPoint *p = prover->s->p;
  bool holds = true;
  arb_t z;
  arb_init(z);
  for (rf_index t = 0; t < prover->s->n_tight && p->leak < 1; t++)
    for (rf_index g = 0; g < prover->m && holds; g++) {
      rf_index i = prover->s->tight[t];
      bool kink = false;
      for (rf_index e = 0; e < prover->kinks && !kink; e++)
        kink = prover->owner[e] == g && rf_prove_kink_sample(prover, e) == i;
      if (kink) continue;
      rf_prove_input(z, prover, prover->box, i, g);
      if (rf_prove_slope(prover, i, g) != 1) arb_neg(z, z);
      double scale = p->row_norm[i] * p->neuron_norm[prover->neuron[g]], own = INFINITY;
      holds = positive(z, &own);
      *least = fmin(*least, own / scale);
    }
  arb_clear(z);
  return holds;
}

/* nu / (lambda y a) strictly inside [leak, 1]. */
static bool slopes_hold(const RfProver *prover, double *least) {
  const RfKktSystem *s = prover->s;
  rf_index first = prover->m * (prover->d + 1);
  bool holds = true;
  arb_t h, bound;
  arb_init(h), arb_init(bound);
  for (rf_index e = 0; e < prover->kinks && holds; e++) {
    rf_index t = 0, i = rf_prove_kink_sample(prover, e);
    while (s->tight[t] != i) t++;
    arb_mul(h, arb_mat_entry(prover->box, first + t, 0),
            arb_mat_entry(prover->box, prover->m * prover->d + prover->owner[e], 0), prover->bits);
    if (s->p->y[i] < 0) arb_neg(h, h);
    arb_div(h, arb_mat_entry(prover->box, first + s->n_tight + e, 0), h, prover->bits);
    arb_set_d(bound, s->p->leak);
    arb_sub(bound, h, bound, prover->bits);
    holds = positive(bound, least);
    arb_sub_ui(bound, h, 1, prover->bits);
    arb_neg(bound, bound);
    holds = holds && positive(bound, least);
  }
  arb_clear(h), arb_clear(bound);
  return holds;
}

static bool margins_hold(const RfProver *prover, double *least) {
  bool holds = true;
  arb_t q;
  arb_init(q);
  for (rf_index i = 0, t = 0; i < prover->s->p->n && holds; i++) {
    if (t < prover->s->n_tight && prover->s->tight[t] == i) {
      t++; /* exactly 1, by its equation */
      continue;
    }
    margin(q, prover, i);
    arb_sub_ui(q, q, 1, prover->bits);
    holds = positive(q, least);
  }
  arb_clear(q);
  return holds;
}

const char *rf_prove_inequalities(const RfProver *prover, double *least) {
  if (!multipliers_positive(prover, least)) return "a multiplier is not decided to be positive";
  if (!signs_hold(prover, least))
    return "an input of a tight sample is 0 or not decided, with a slope at the end of [leak, 1]";
  if (!slopes_hold(prover, least)) return "a slope on a kink is not decided to lie inside (leak, 1)";
  if (!margins_hold(prover, least))
    return "a sample without a multiplier is tight, or not decided to have a margin above 1";
  return NULL;
}

/* ---- how near ------------------------------------------------------------------------------------------ */

static double upper(const arb_t value) {
  arf_t bound;
  arf_init(bound);
  arb_get_ubound_arf(bound, value, RF_PROVE_FIRST_BITS);
  double out = arf_get_d(bound, ARF_RND_CEIL);
  arf_clear(bound);
  return out;
}

/* The least margin of the given network, in balls. */
static void least_margin(arb_t least, const RfProver *prover, const RfNet *net) {
  const RfPoint *p = prover->s->p;
  arb_t q, z, part, x;
  arb_init(q), arb_init(z), arb_init(part), arb_init(x);
  for (rf_index i = 0; i < p->n; i++) {
    arb_zero(q);
    for (rf_index k = 0; k < net->m; k++) {
      arb_zero(z);
      for (rf_index j = 0; j < net->d; j++) {
        arb_set_d(x, p->X[i * net->d + j]), arb_set_d(part, net->W[k * net->d + j]);
        arb_addmul(z, x, part, prover->bits);
      }
      activate(z, z, p->leak, prover->bits);
      arb_set_d(part, net->a[k]);
      arb_addmul(q, part, z, prover->bits);
    }
    if (p->y[i] < 0) arb_neg(q, q);
    if (i == 0)
      arb_set(least, q);
    else
      arb_min(least, least, q, prover->bits);
  }
  arb_clear(q), arb_clear(z), arb_clear(part), arb_clear(x);
}

/* square += (share * leader - given / root)^2 and norm += given^2 for one weight. */
static void add_weight(arb_t square, arb_t norm, const arb_t share, const arb_struct *leader, double given,
                       const arb_t root, slong bits) {
  arb_t one, other;
  arb_init(one), arb_init(other);
  arb_set_d(one, given);
  arb_addmul(norm, one, one, bits);
  arb_div(one, one, root, bits);
  if (leader) {
    arb_mul(other, share, leader, bits);
    arb_sub(one, one, other, bits);
  }
  arb_addmul(square, one, one, bits);
  arb_clear(one), arb_clear(other);
}

static rf_index leader_of(const RfProver *prover, rf_index k) {
  return prover->leader[prover->place ? prover->place[k] : k];
}

/* The size of neuron k of the given network within its group; any would do, these are near. */
static double share_of(const RfProver *prover, const RfNet *net, rf_index k) {
  if (!prover->place) return prover->shares[k];
  return copysign(hypot(rf_la_norm(net->W + k * net->d, net->d), net->a[k]),
                  prover->shares[prover->place[k]]);
}

/* |theta' - theta| / |theta|, theta the given network at least margin 1, theta' anywhere in the box. */
static void measure(const RfProver *prover, RfProvedPoint *out, const RfNet *net) {
  slong bits = prover->bits;
  arb_t root, square, norm, share, part;
  arb_init(root), arb_init(square), arb_init(norm), arb_init(share), arb_init(part);
  least_margin(root, prover, net);
  arb_sqrt(root, root, bits);
  for (rf_index k = 0; k < net->m; k++) {
    rf_index g = leader_of(prover, k);
    arb_zero(share);
    if (g >= 0) { /* share of its group, squares of all shares summing to 1 */
      for (rf_index other = 0; other < net->m; other++) {
        arb_set_d(part, leader_of(prover, other) == g ? share_of(prover, net, other) : 0);
        arb_addmul(share, part, part, bits);
      }
      arb_sqrt(share, share, bits);
      arb_set_d(part, share_of(prover, net, k));
      arb_div(share, part, share, bits);
    }
    for (rf_index j = 0; j < net->d; j++)
      add_weight(square, norm, share, g < 0 ? NULL : arb_mat_entry(prover->box, g * net->d + j, 0),
                 net->W[k * net->d + j], root, bits);
    add_weight(square, norm, share, g < 0 ? NULL : arb_mat_entry(prover->box, prover->m * net->d + g, 0),
               net->a[k], root, bits);
  }
  arb_sqrtpos(square, square, bits); /* a sum of squares: its ball may reach below 0, it does not */
  arb_sqrtpos(norm, norm, bits);
  arb_div(norm, norm, root, bits);
  arb_div(square, square, norm, bits);
  out->distance = upper(square);
  arb_clear(root), arb_clear(square), arb_clear(norm), arb_clear(share), arb_clear(part);
}

/* 1 / |theta'|^2, and how well theta' is known. */
static void enclose_margin(const RfProver *prover, RfProvedPoint *out, const mag_t radius) {
  arb_t norm2, part;
  arf_t bound;
  arb_init(norm2), arb_init(part), arf_init(bound);
  rf_index own = prover->m * (prover->d + 1);
  for (rf_index r = 0; r < own; r++)
    arb_addmul(norm2, arb_mat_entry(prover->box, r, 0), arb_mat_entry(prover->box, r, 0), prover->bits);
  arb_inv(part, norm2, prover->bits);
  out->margin_upper = upper(part);
  arb_get_lbound_arf(bound, part, RF_PROVE_FIRST_BITS);
  out->margin_lower = arf_get_d(bound, ARF_RND_FLOOR);
  arb_set_ui(part, (ulong)own);
  arb_div(part, part, norm2, prover->bits);
  arb_sqrt(part, part, prover->bits);
  out->radius = upper(part) * mag_get_d(radius) * (1 + RF_CERTIFY_PROPORTIONAL);
  arb_clear(norm2), arb_clear(part), arf_clear(bound);
}

bool rf_prove_measure(const RfProver *prover, RfProvedPoint *out, const RfNet *net, const mag_t radius) {
  enclose_margin(prover, out, radius);
  measure(prover, out, net);
  return isfinite(out->distance);
}
