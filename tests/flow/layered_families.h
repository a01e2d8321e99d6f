/* Layered networks of depth 2 to 4, dense, diagonal or with shared weights, on small random data. Problem
 * `number` of a seed is a function of the two alone. Shared by the suite and bench/random_flow.c. */
#ifndef RF_TEST_LAYERED_FAMILIES_H
#define RF_TEST_LAYERED_FAMILIES_H

#include "families.h"
#include "layers/layers.h"

enum { LAYERED_SAMPLES = 8, LAYERED_INPUTS = 4 };

typedef struct LayeredProblem {
  rf_index n, d;
  int depth, kind; /* 0 dense, 1 diagonal and a dense last layer, 2 shared and a dense last layer */
  double X[LAYERED_SAMPLES * LAYERED_INPUTS], y[LAYERED_SAMPLES], leak;
  RfLoss loss;
  RfLayeredNet net;
} LayeredProblem;

/* A layer of `inputs` outputs in which weight j of `inputs` is used on every diagonal: a circulant matrix. */
static inline RfStatus add_circulant(RfContext *context, RfLayeredNet *net, rf_index inputs) {
  int32_t pattern[LAYERED_INPUTS * LAYERED_INPUTS];
  for (rf_index r = 0; r < inputs; r++)
    for (rf_index c = 0; c < inputs; c++) pattern[r * inputs + c] = (int32_t)((c - r + inputs) % inputs);
  return rf_layers_add_shared(context, net, pattern, inputs, inputs);
}

static inline RfStatus layered_problem_new(RfContext *context, LayeredProblem *p, uint64_t seed,
                                           rf_index number) {
  RfRandom random;
  double leaks[] = {0, 0.1, 0.5, 1}, spreads[] = {1, 0.5, 0.1};
  rf_random_init(&random, seed, (uint64_t)number);
  memset(p, 0, sizeof *p);
  p->n = family_between(&random, 2, LAYERED_SAMPLES), p->d = family_between(&random, 2, LAYERED_INPUTS);
  p->depth = (int)family_between(&random, 2, 4), p->kind = (int)rf_random_below(&random, 3);
  p->leak = leaks[rf_random_below(&random, 4)];
  p->loss = rf_random_below(&random, 2) ? RF_LOSS_EXP : RF_LOSS_LOGISTIC;
  bool aside = rf_random_below(&random, 2);
  for (rf_index k = 0; k < p->n * p->d; k++) p->X[k] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < p->n; i++) {
    p->y[i] = i == 0 ? 1 : i == 1 ? -1 : rf_random_sign(&random);
    if (aside) p->X[i * p->d] = p->y[i] * (0.2 + fabs(p->X[i * p->d]));
  }
  RfStatus status = rf_layers_new(context, &p->net, p->leak);
  rf_index inputs = p->d;
  for (int l = 0; l < p->depth && !status; l++) {
    rf_index outputs = l + 1 == p->depth ? 1 : p->kind == 0 ? family_between(&random, 1, 4) : inputs;
    if (l + 1 == p->depth || p->kind == 0)
      status = rf_layers_add_dense(context, &p->net, inputs, outputs);
    else
      status = p->kind == 1 ? rf_layers_add_diagonal(context, &p->net, inputs)
                            : add_circulant(context, &p->net, inputs);
    inputs = outputs;
  }
  double spread = spreads[rf_random_below(&random, 3)];
  for (rf_index j = 0; j < p->net.n_parameters && !status; j++)
    p->net.theta[j] = spread * rf_random_gaussian(&random);
  return status;
}

#endif
