/* Columns for the slopes of hidden units on their kinks, generated where they help. With all slopes of a
 * sample given, df_i is one pass forward and one backward; it is linear in each slope, so the best choice for
 * a residual is found slope by slope, and for units of one layer at once. */
#include "certify/layered_slopes.h"

#include <math.h>
#include <string.h>

#include "certify_tolerances.h"
#include "reluflow/certify.h"
#include "la/la.h"

/* Entries of all matrices up to which this is done; rounds of new columns. */
enum { MOST_ENTRIES = 1000000, ROUNDS = 200, SWEEPS = 8 };
/* Kinks of a sample up to which every choice of their slopes is tried. */
enum { MOST_BITS = 5 };

typedef struct Slopes {
  RfContext *context;
  const RfLayeredNet *net;
  const double *X;
  rf_index n, P, hidden, width;
  double *z, *slope;  /* n x hidden: inputs; slope of every unit on every sample */
  uint8_t *kink;      /* n x hidden */
  rf_index *kinks;    /* n */
  double *activation; /* (layers + 1) x width, of one sample */
  double *delta, *below;
} Slopes;

static void slopes_free(Slopes *s) {
  rf_free(s->z), rf_free(s->slope), rf_free(s->kink), rf_free(s->kinks);
  rf_free(s->activation), rf_free(s->delta), rf_free(s->below);
}

static RfStatus slopes_new(Slopes *s) {
  const RfLayeredNet *net = s->net;
  s->hidden = rf_layers_hidden(net), s->P = net->n_parameters;
  for (rf_index l = 0; l < net->n_layers; l++) {
    rf_index out = net->layers[l].outputs, in = net->layers[l].inputs;
    s->width = out > s->width ? out : s->width, s->width = in > s->width ? in : s->width;
  }
  s->z = RF_NEW(double, s->n * s->hidden + 1), s->slope = RF_NEW(double, s->n * s->hidden + 1);
  s->kink = RF_NEW(uint8_t, s->n * s->hidden + 1), s->kinks = RF_NEW(rf_index, s->n);
  s->activation = RF_NEW(double, (net->n_layers + 1) * s->width);
  s->delta = RF_NEW(double, s->width), s->below = RF_NEW(double, s->width);
  bool complete = s->z && s->slope && s->kink && s->kinks && s->activation && s->delta && s->below;
  return complete ? RF_OK : rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a certificate");
}

/* Inputs, kinks, and slopes with leak at every kink. */
static RfStatus find_kinks(Slopes *s) {
  double *out = RF_NEW(double, s->n), kink = rf_certify_tolerances(s->context).kink;
  RfStatus status = out ? rf_layers_evaluate(s->context, out, s->z, s->net, s->X, s->n)
                        : rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a certificate");
  double largest = status ? 0 : rf_la_max_abs(s->z, s->n * s->hidden);
  for (rf_index at = 0; at < s->n * s->hidden && !status; at++) {
    s->kink[at] = fabs(s->z[at]) <= kink * largest;
    s->slope[at] = s->z[at] > 0 && !s->kink[at] ? 1 : s->net->leak;
    s->kinks[at / s->hidden] += s->kink[at];
  }
  rf_free(out);
  return status;
}

/* df_i by the slopes at hand; a unit on its kink passes nothing on. */
static void gradient(Slopes *s, double *out, rf_index i) {
  const RfLayeredNet *net = s->net;
  const double *z = s->z + i * s->hidden, *slope = s->slope + i * s->hidden;
  const uint8_t *kink = s->kink + i * s->hidden;
  rf_index d = net->layers[0].inputs, first = 0;
  memset(out, 0, (size_t)s->P * sizeof(double));
  memcpy(s->activation, s->X + i * d, (size_t)d * sizeof(double));
  for (rf_index l = 0; l + 1 < net->n_layers; first += net->layers[l++].outputs)
    for (rf_index o = 0; o < net->layers[l].outputs; o++)
      s->activation[(l + 1) * s->width + o] = kink[first + o] ? 0 : slope[first + o] * z[first + o];
  s->delta[0] = 1;
  for (rf_index l = net->n_layers - 1; l >= 0; l--) {
    const double *in = s->activation + l * s->width;
    rf_index inputs = net->layers[l].inputs;
    memset(s->below, 0, (size_t)inputs * sizeof(double));
    for (rf_index o = 0; o < net->layers[l].outputs; o++)
      for (rf_index e = 0; e < inputs && s->delta[o] != 0; e++) {
        rf_index at = rf_layers_entry(net, l, o, e);
        if (at < 0) continue;
        out[at] += s->delta[o] * in[e];
        s->below[e] += s->delta[o] * net->theta[at];
      }
    if (l == 0) break;
    first -= net->layers[l - 1].outputs;
    for (rf_index e = 0; e < inputs; e++) s->delta[e] = s->below[e] * slope[first + e];
  }
}

/* From the slopes as they are, one after the other, to where none alone helps y_i <df_i, rest>. */
static double improve(Slopes *s, double *column, rf_index i, double label, const double *rest) {
  double *slope = s->slope + i * s->hidden, best;
  const uint8_t *kink = s->kink + i * s->hidden;
  gradient(s, column, i);
  best = label * rf_la_dot(column, rest, s->P);
  bool changed = true;
  for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
    changed = false;
    for (rf_index h = s->hidden - 1; h >= 0; h--) {
      if (!kink[h]) continue;
      double before = slope[h];
      slope[h] = before == 1 ? s->net->leak : 1;
      gradient(s, column, i);
      double value = label * rf_la_dot(column, rest, s->P);
      if (value > best)
        best = value, changed = true;
      else
        slope[h] = before;
    }
  }
  return best;
}

/* Slopes at the kinks of sample i from the bits of `choice`, the last bit again and again. */
static void set_slopes(Slopes *s, rf_index i, rf_index choice) {
  rf_index bit = 0;
  for (rf_index h = 0; h < s->hidden; h++)
    if (s->kink[i * s->hidden + h]) {
      s->slope[i * s->hidden + h] = choice >> bit & 1 ? 1 : s->net->leak;
      if (bit + 1 < MOST_BITS) bit++;
    }
}

/* The slopes at the kinks of sample i for which y_i <df_i, rest> is largest. Units of several layers help
 * only together: every choice of up to MOST_BITS of them is a start. */
static double best_slopes(Slopes *s, double *column, rf_index i, double label, const double *rest) {
  rf_index bits = s->kinks[i] < MOST_BITS ? s->kinks[i] : MOST_BITS, most = (rf_index)1 << bits, chosen = 0;
  bool all = s->kinks[i] <= MOST_BITS;
  double best = -INFINITY;
  for (rf_index choice = 0; choice < most; choice += all ? 1 : most - 1) {
    set_slopes(s, i, choice);
    if (all) gradient(s, column, i);
    double value = all ? label * rf_la_dot(column, rest, s->P) : improve(s, column, i, label, rest);
    if (value > best) best = value, chosen = choice;
  }
  set_slopes(s, i, chosen);
  if (!all) best = improve(s, column, i, label, rest);
  gradient(s, column, i);
  return best;
}

static RfStatus generate(Slopes *s, double *lambda, double *rest, const double *y, const double *q,
                         double *columns, rf_index *owner, const double *target) {
  rf_index rows = s->P + 1, count = s->n;
  double norm = rf_la_norm(target, rows), before_left = INFINITY, *x = RF_NEW(double, 2 * s->n + rows);
  RfLeastSquaresInfo info;
  RfStatus status = x ? RF_OK : rf_fail(s->context, RF_ERR_MEMORY, "out of memory for a certificate");
  for (int round = 0; round < ROUNDS && !status; round++) {
    rf_index before = count;
    double left = rf_la_norm(rest, rows);
    if (left <= RF_CERTIFY_SLOPES * s->context->tol.kkt * norm || !(left < before_left)) break;
    before_left = left;
    for (rf_index i = 0; i < s->n; i++) {
      double *column = columns + count * rows;
      if (s->kinks[i] == 0) continue;
      double extra = 2 / norm * (q[i] - 1), gain = best_slopes(s, column, i, y[i], rest) + extra * rest[s->P];
      rf_la_scale(column, y[i], s->P);
      column[s->P] = extra;
      if (gain > RF_CERTIFY_GAIN * left * rf_la_norm(column, rows)) owner[count++] = i;
    }
    if (count == before) break;
    double solver = s->context->tol.solver; /* what duals leave, a residual leaves the root of */
    s->context->tol.solver = fmin(solver, RF_CERTIFY_DUAL);
    status = rf_la_nnls(s->context, x, rest, &info, columns, target, rows, count, rows, NULL);
    s->context->tol.solver = solver;
    if (status < 0) break;
    status = RF_OK;
    memset(lambda, 0, (size_t)s->n * sizeof(double));
    for (rf_index c = 0; c < count; c++) lambda[owner[c]] += x[c];
    rf_index kept = s->n; /* columns without weight can come again */
    for (rf_index c = s->n; c < count; c++) {
      if (!(x[c] > 0) || kept == s->n + rows) continue;
      memmove(columns + kept * rows, columns + c * rows, (size_t)rows * sizeof(double));
      owner[kept++] = owner[c];
    }
    count = kept;
  }
  rf_free(x);
  return status;
}

RfStatus rf_certify_layered_slopes(RfContext *context, double *lambda, double *rest, const RfLayeredNet *net,
                                   const double *X, const double *y, const double *q, const double *columns,
                                   const double *target, rf_index n) {
  Slopes s = {.context = context, .net = net, .X = X, .n = n};
  rf_index rows = net->n_parameters + 1, entries = 0, kinks = 0, size = 0;
  for (rf_index l = 0; l < net->n_layers; l++) entries += net->layers[l].outputs * net->layers[l].inputs;
  if (entries > MOST_ENTRIES / n) return RF_OK;
  RfStatus status = slopes_new(&s);
  if (!status) status = find_kinks(&s);
  for (rf_index i = 0; i < n && !status; i++) kinks += s.kinks[i];
  double *all = NULL;
  rf_index most = 2 * n + rows, *owner = RF_NEW(rf_index, most); /* a solution has at most `rows` columns */
  if (rf_multiply_sizes(&size, most, rows)) all = kinks > 0 ? RF_NEW(double, size) : NULL;
  if (!status && (!owner || (kinks > 0 && !all)))
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for a certificate");
  if (!status && kinks > 0) {
    memcpy(all, columns, (size_t)(n * rows) * sizeof(double));
    for (rf_index i = 0; i < n; i++) owner[i] = i;
    status = generate(&s, lambda, rest, y, q, all, owner, target);
  }
  rf_free(all), rf_free(owner);
  slopes_free(&s);
  return status;
}
