/* Inside `certify --prove`: the KKT system of leaders in balls (prove.c), and what is decided on its box
 * (prove_box.c). */
#ifndef RF_CERTIFY_PROVE_INTERNAL_H
#define RF_CERTIFY_PROVE_INTERNAL_H

#include "certify_internal.h"

#include <arb.h>
#include <arb_mat.h>

enum { RF_PROVE_FIRST_BITS = 128, RF_PROVE_MOST_BITS = 512 };

typedef struct RfProver {
  const RfKktSystem *s;
  rf_index m, d;         /* leaders; inputs */
  rf_index size, kinks;  /* equations; kinks of leaders */
  rf_index *leader;      /* p->m: the leader that stands for it, -1 for a zero neuron */
  double *shares;        /* p->m: its size, with a sign, before division by the root of the group's squares */
  rf_index *neuron;      /* m: which neuron the leader is */
  const rf_index *place; /* of a given network: which neuron of p each one became; NULL: the same */
  rf_index *kink;        /* kinks: position in s->kinks */
  rf_index *owner;       /* kinks: its leader */
  double *start;         /* size: where Newton's method ended */
  slong bits;
  arb_mat_t v, box, F, J, inverse, shift, rest;
} RfProver;

/* The sample of kink e, and the slope of leader g at sample i (0 on a kink). */
rf_index rf_prove_kink_sample(const RfProver *prover, rf_index e);
double rf_prove_slope(const RfProver *prover, rf_index i, rf_index g);
/* out = w_g . x_i at the point v. */
void rf_prove_input(arb_t out, const RfProver *prover, const arb_mat_t v, rf_index i, rf_index g);

/* Every inequality that makes the zero in the box a KKT point; NULL when all are decided, else the one that
 * is not. least: the smallest slack. */
const char *rf_prove_inequalities(const RfProver *prover, double *least);
/* Distance, radius and margin of the enclosed point. False when the distance is not decided. */
bool rf_prove_measure(const RfProver *prover, RfProvedPoint *out, const RfNet *net, const mag_t radius);

#endif
