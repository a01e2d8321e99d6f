/* Which samples are seen, and what they weigh. A sample on which no way through the network is open pushes
 * nobody, and its weight stays what it is while those of the others fall: it is no part of S, or it would
 * stop the clock. It is a wall, whose kinks hold who comes there with a slope as small as its weight is
 * large, or let it cross. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

/* Does hidden unit `at` let anything through where all that are held are below their kinks, but for the group
 * that `above` leads (-1: none)? */
static bool lets_through(const RfSided *sided, rf_index at, rf_index above) {
  if (sided->net->leak > 0 || sided->side[at] != 0) return sided->net->leak > 0 || sided->side[at] > 0;
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->follower[f] == at) return (sided->leader[at] == above) == (sided->turned[at] > 0);
  return at == above;
}

/* Is some way through the network open on sample i? sided->open: inputs of a layer that are reached, and z.
 */
static bool is_seen(RfSided *sided, rf_index i, rf_index above) {
  const RfLayeredNet *net = sided->net;
  rf_index d = net->layers[0].inputs;
  int8_t *in = sided->open, *z = in + sided->width, *next = z + sided->width;
  bool any = net->leak > 0;
  for (rf_index c = 0; c < d; c++) in[c] = sided->X[i * d + c] != 0;
  for (rf_index l = 0; l < net->n_layers && net->leak == 0; l++) {
    const RfLayer *layer = &net->layers[l];
    any = false;
    for (rf_index o = 0; o < layer->outputs; o++) {
      const int32_t *index = sided->index[l] + o * layer->inputs;
      next[o] = layer->residual && z[o];
      for (rf_index c = 0; c < layer->inputs && !next[o]; c++) next[o] = index[c] >= 0 && in[c];
      any = any || next[o];
    }
    memcpy(z, next, (size_t)layer->outputs);
    for (rf_index o = 0; o < layer->outputs && l + 1 < net->n_layers; o++)
      in[o] = z[o] && lets_through(sided, i * sided->hidden + sided->first[l] + o, above);
  }
  return any;
}

const int8_t *rf_sided_seen(RfSided *sided) {
  for (rf_index i = 0; i < sided->n; i++) sided->seen[i] = is_seen(sided, i, -1);
  return sided->seen;
}

double rf_sided_unseen_by(RfSided *sided, const double *theta) {
  const int8_t *seen = rf_sided_seen(sided);
  double nearest = INFINITY;
  rf_sided_outputs(sided, sided->own, NULL, theta);
  for (rf_index at = 0; at < sided->n * sided->hidden; at++) {
    if (seen[at / sided->hidden] || sided->side[at] >= 0) continue;
    nearest = fmin(nearest, -sided->z[at] / sided->scale[at % sided->hidden]);
  }
  return nearest;
}

const double *rf_sided_weights(const RfSided *sided) { return sided->p; }

/* Slopes of the group of held unit k where it alone shuts off a sample: the slope that holds it is small in
 * the measure in which the weight beside S is large, and p is 1 instead. Other samples that its units are on
 * have their own p. */
static void find_top(RfSided *sided, rf_index k, const double *q, double log_S) {
  rf_index at = sided->held_at[k], hidden = sided->hidden;
  for (rf_index f = -1; f < sided->followers; f++) {
    rf_index unit = f < 0 ? at : sided->follower[f], i = unit / hidden;
    if (f >= 0 && sided->leader[unit] != at) continue;
    bool shut = !sided->seen[i] && is_seen(sided, i, at);
    double log_p = shut ? rf_loss_log_slope(sided->loss, q[i]) - log_S : 0;
    sided->top[unit] = exp(fmin(fmax(log_p, 0), RF_LAYERED_WALL));
  }
}

double rf_sided_weigh(RfSided *sided, const double *q) {
  const int8_t *seen = rf_sided_seen(sided);
  double *some = sided->square;
  rf_index count = 0;
  for (rf_index i = 0; i < sided->n; i++)
    if (seen[i]) some[count++] = q[i];
  double log_S = count > 0 ? rf_loss_log_sum(some, count, sided->loss, rf_loss_log_slope) : -INFINITY;
  for (rf_index i = 0; i < sided->n; i++) {
    double log_p = rf_loss_log_slope(sided->loss, q[i]) - log_S;
    sided->p[i] = exp(seen[i] ? log_p : fmin(log_p, 0));
  }
  for (rf_index k = 0; k < sided->held; k++) find_top(sided, k, q, log_S);
  return log_S;
}
