/* Initialisers of the papers (two-layer nets at scale 1): the sphere, Gaussian with and without balance, the
 * 1/d variance of Min, Mallada and Vidal, Glorot and Bengio (2010), He et al. (2015). */
#include "net/net.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

static const struct {
  const char *name, *alias;
} init_names[] = {{"balanced", "INIT-BAL"},   {"balanced-gaussian", "INIT-BALG"},
                  {"gaussian", "INIT-GAUSS"}, {"mmv", "INIT-MMV"},
                  {"unb", "INIT-UNB"},        {"xavier", "glorot"},
                  {"he", "kaiming"}};

/* Streams of the seed that belong to neurons; data and training use others. */
#define NEURON_STREAM ((uint64_t)0x6e65757200000000)

RfStatus rf_init_from_name(RfContext *context, RfInit *init, const char *name) {
  for (size_t k = 0; k < sizeof init_names / sizeof *init_names; k++) {
    if (strcmp(name, init_names[k].name) == 0 || strcmp(name, init_names[k].alias) == 0) {
      *init = (RfInit)k;
      return RF_OK;
    }
  }
  if (strcmp(name, "unbalanced") == 0) {
    *init = RF_INIT_UNBALANCED;
    return RF_OK;
  }
  return rf_fail(context, RF_ERR_USAGE,
                 "--init %.100s: expected balanced, balanced-gaussian, gaussian, mmv, unb, xavier or he",
                 name);
}

const char *rf_init_name(RfInit init) { return init_names[init].name; }

static double uniform_in(RfRandom *random, double bound) {
  return (2 * rf_random_uniform(random) - 1) * bound;
}

/* One neuron (w, a) of the family. */
static void draw_neuron(RfRandom *random, double *w, double *a, RfInit init, rf_index m, rf_index d,
                        double ca) {
  double width = (double)m, inputs = d > 0 ? (double)d : 1, spread = 1;
  if (init == RF_INIT_BALANCED) {
    rf_random_direction(random, w, d);
    *a = rf_random_sign(random);
    return;
  }
  if (init == RF_INIT_XAVIER) {
    for (rf_index j = 0; j < d; j++) w[j] = uniform_in(random, sqrt(6 / ((double)d + width)));
    *a = uniform_in(random, sqrt(6 / (width + 1)));
    return;
  }
  if (init == RF_INIT_MMV) spread = sqrt(1 / inputs);
  if (init == RF_INIT_HE) spread = sqrt(2 / inputs);
  for (rf_index j = 0; j < d; j++) w[j] = spread * rf_random_gaussian(random);
  if (init == RF_INIT_GAUSSIAN)
    *a = ca * rf_random_gaussian(random);
  else if (init == RF_INIT_UNBALANCED)
    *a = rf_random_gaussian(random);
  else if (init == RF_INIT_HE)
    *a = sqrt(2 / width) * rf_random_gaussian(random);
  else
    *a = rf_random_sign(random) * rf_la_norm(w, d);
}

RfStatus rf_net_init(RfContext *context, RfNet *net, RfInit init, rf_index m, rf_index d, double leak,
                     uint64_t seed, double ca) {
  memset(net, 0, sizeof *net);
  if ((int)init < 0 || (size_t)init >= sizeof init_names / sizeof *init_names)
    return rf_fail(context, RF_ERR_USAGE, "no such initialiser");
  if (!isfinite(ca)) return rf_fail(context, RF_ERR_USAGE, "the spread of the second layer must be finite");
  RfStatus status = rf_net_new(context, net, m, d, leak);
  for (rf_index k = 0; !status && k < m; k++) {
    RfRandom random;
    rf_random_init(&random, seed, NEURON_STREAM + (uint64_t)k);
    draw_neuron(&random, net->W + k * d, net->a + k, init, m, d, ca);
  }
  return status;
}
