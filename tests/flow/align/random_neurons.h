/* Random neurons on random data, for proofs of alignment: n <= 50, d <= 10, every leak, balanced and
 * unbalanced starts, frozen second layers; data in general position, on an integer grid, with mirrored
 * copies, or with starts on their hyperplanes, where ties are exact. */
#ifndef RF_RANDOM_NEURONS_H
#define RF_RANDOM_NEURONS_H

#include <math.h>
#include <string.h>

#include "reluflow/reluflow.h"
#include "core/core.h"
#include "flow/flow.h"

enum { NEURON_SAMPLES = 50, NEURON_INPUTS = 10, NEURONS_AT_ONCE = 20 };
enum { NEURONS_GENERAL = 0, NEURONS_GRID, NEURONS_COPIES, NEURONS_ON_PLANES, NEURON_FAMILIES };

typedef struct RandomNeurons {
  double X[NEURON_SAMPLES * NEURON_INPUTS], y[NEURON_SAMPLES];
  RfFlowStart start;
  RfFlowProblem flow;
} RandomNeurons;

static inline const char *random_neurons_name(int family) {
  const char *names[] = {"general position", "integer grid", "mirrored copies", "starts on hyperplanes"};
  return names[family];
}

static inline void random_neurons_data(RfRandom *random, RandomNeurons *p, int family, rf_index n,
                                       rf_index d) {
  for (rf_index k = 0; k < n * d; k++)
    p->X[k] =
        family == NEURONS_GENERAL ? rf_random_gaussian(random) : (double)(rf_random_below(random, 7) - 3);
  for (rf_index i = 0; i < n; i++) p->y[i] = rf_random_sign(random);
  for (rf_index i = 1; i < n && family == NEURONS_COPIES; i++) {
    if (rf_random_below(random, 2)) continue;
    rf_index from = rf_random_below(random, i);
    double sign = rf_random_sign(random);
    for (rf_index j = 0; j < d; j++) p->X[i * d + j] = sign * p->X[from * d + j];
  }
}

/* Problem `number` of the seed, with NEURONS_AT_ONCE neurons. */
static inline RfStatus random_neurons_new(RfContext *context, RandomNeurons *p, int family, uint64_t seed,
                                          rf_index number) {
  RfRandom random;
  RfNet net = {0};
  rf_random_init(&random, seed, (uint64_t)number);
  memset(p, 0, sizeof *p);
  rf_index n = 1 + rf_random_below(&random, NEURON_SAMPLES), d = 1 + rf_random_below(&random, NEURON_INPUTS);
  double leaks[] = {0, 0, 0.1, 0.5, 0.9, 1}, leak = leaks[rf_random_below(&random, 6)];
  random_neurons_data(&random, p, family, n, d);
  if (rf_random_below(&random, 3) == 0) leak = rf_random_uniform(&random);
  RfInit inits[] = {RF_INIT_BALANCED, RF_INIT_BALANCED_GAUSSIAN, RF_INIT_GAUSSIAN, RF_INIT_HE};
  RfStatus status = rf_net_init(context, &net, inits[rf_random_below(&random, 4)], NEURONS_AT_ONCE, d, leak,
                                (uint64_t)number, 1);
  for (rf_index k = 0; !status && k < net.m * d && family == NEURONS_ON_PLANES; k++)
    net.W[k] =
        (double)(rf_random_below(&random, 3) - 1); /* powers of two stay exact on the way to unit length */
  if (!status) status = rf_flow_start_from_net(context, &p->start, &net);
  if (!status && family == NEURONS_ON_PLANES) /* not of unit length, but exactly on their hyperplanes */
    for (rf_index k = 0; k < net.m; k++)
      for (rf_index j = 0; j < d; j++) p->start.directions[k * (d + 1) + j] = 0.25 * net.W[k * d + j];
  p->flow = (RfFlowProblem){.X = p->X,
                            .y = p->y,
                            .n = n,
                            .d = d,
                            .leak = leak,
                            .start = &p->start,
                            .in_limit = true,
                            .freeze_second = rf_random_below(&random, 12) == 0};
  rf_net_free(&net);
  return status;
}

#endif
