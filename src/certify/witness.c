/* Witnesses: better networks found along a descent direction. A witness is believed for its numbers alone: it
 * is scaled to min margin 1 and its norm and margins are recomputed in extended precision. */
#include "certify_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void move_to(RfNet *net, const RfPoint *p, const RfMove *move, double t) {
  for (rf_index k = 0; k < p->m; k++) {
    const double *r = move->residual + k * (p->d + 1);
    for (rf_index j = 0; j < p->d; j++) net->W[k * p->d + j] = p->W[k * p->d + j] - t * r[j];
    net->a[k] = p->a[k] - t * r[p->d];
  }
  for (rf_index e = 0; e < move->n_atoms; e++) {
    double size = sqrt(t * move->growth[e]);
    rf_index k = move->neurons[e];
    for (rf_index j = 0; j < p->d; j++) net->W[k * p->d + j] = size * move->atoms[e].direction[j];
    net->a[k] = move->atoms[e].sign * size;
  }
}

static long double norm2(const RfNet *net) {
  long double sum = 0;
  for (rf_index i = 0; i < net->m * net->d; i++) sum += (long double)net->W[i] * (long double)net->W[i];
  for (rf_index k = 0; k < net->m; k++) sum += (long double)net->a[k] * (long double)net->a[k];
  return sum;
}

static long double smallest_margin(const RfNet *net, const RfPoint *p) {
  long double least = INFINITY;
  for (rf_index i = 0; i < p->n; i++) {
    long double f = 0;
    for (rf_index k = 0; k < net->m; k++) {
      long double z = 0;
      for (rf_index j = 0; j < p->d; j++)
        z += (long double)net->W[k * p->d + j] * (long double)p->X[i * p->d + j];
      f += (long double)net->a[k] * (z > 0 ? z : (long double)net->leak * z);
    }
    f *= (long double)p->y[i];
    if (f < least) least = f;
  }
  return least;
}

/* 1 - |theta'|^2/|theta|^2 at min margin 1; minus infinity when theta' does not separate. */
static double drop_of(const RfNet *net, const RfPoint *p) {
  long double least = smallest_margin(net, p);
  return least > 0 ? (double)(1 - norm2(net) / least / (long double)p->norm2) : -INFINITY;
}

/* The same in double, to look for the best t: z has room for n rows of m. */
static double quick_drop(const RfNet *net, const RfPoint *p, double *z) {
  double least = INFINITY,
         square = rf_la_dot(net->W, net->W, net->m * net->d) + rf_la_dot(net->a, net->a, net->m);
  rf_la_product_nt(z, p->X, net->W, p->n, net->m, net->d);
  for (rf_index i = 0; i < p->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < net->m; k++) {
      double input = z[i * net->m + k];
      f += net->a[k] * (input > 0 ? input : net->leak * input);
    }
    least = fmin(least, p->y[i] * f);
  }
  return least > 0 ? 1 - square / least / p->norm2 : -INFINITY;
}

static void scale_to_margin(RfNet *net, const RfPoint *p) {
  double root = (double)sqrtl(smallest_margin(net, p)) * (1 - 2 * DBL_EPSILON); /* a hair inside */
  for (rf_index i = 0; i < net->m * net->d; i++) net->W[i] /= root;
  for (rf_index k = 0; k < net->m; k++) net->a[k] /= root;
}

RfStatus rf_witness_try(RfContext *context, RfNet *witness, double *drop, const RfPoint *p,
                        const RfMove *move) {
  RfNet net;
  RfStatus status = rf_net_new(context, &net, p->m, p->d, p->leak);
  if (status) return status;
  double *z = RF_NEW_TABLE(double, p->n, p->m);
  if (!z) {
    rf_net_free(&net);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  }
  double best = -INFINITY, best_t = 0;
  for (int halving = -2; halving <= 40; halving++) {
    double t = ldexp(1, -halving);
    move_to(&net, p, move, t);
    double found = quick_drop(&net, p, z);
    if (found > best) best = found, best_t = t;
    if (best > RF_CERTIFY_DROP && found < 0.5 * best) break;
  }
  rf_free(z);
  if (best > RF_CERTIFY_DROP && !(best <= *drop)) {
    move_to(&net, p, move, best_t);
    scale_to_margin(&net, p);
    best = drop_of(&net, p);
    if (best > RF_CERTIFY_DROP && smallest_margin(&net, p) >= 1) {
      rf_net_free(witness);
      *witness = net;
      *drop = best;
      return RF_OK;
    }
  }
  rf_net_free(&net);
  return RF_OK;
}
