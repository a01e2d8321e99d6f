/* Layered networks by sides (Filippov): with the slope of every hidden unit on every sample fixed by its
 * side, f is a polynomial in theta. A unit whose velocity points to the kink from both sides is held on it;
 * its slope s in [leak,1] is the one for which d z/d tau = 0. */
#include "flow/layered/sides.h"
#include "flow/layered/layered_tolerances.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

struct RfSided {
  RfContext *context;
  const RfLayeredNet *net;
  const double *X, *y;
  rf_index n, hidden, P, width; /* width: largest layer */
  RfLoss loss;
  rf_index *first;         /* per layer: where its hidden inputs begin; the last layer has none */
  int32_t **index;         /* per layer: outputs x inputs, index into theta or -1 */
  double **matrix;         /* per layer: outputs x inputs at the last theta */
  int8_t *side;            /* n x hidden: 1, -1, 0 = held */
  double *slope;           /* n x hidden */
  double *z;               /* n x hidden: inputs at the last theta */
  double *scale;           /* hidden: largest |z| of the unit at the last theta, what counts as zero */
  rf_index held, room;     /* units held */
  rf_index *held_at;       /* held: i*hidden + h */
  double *held_slope;      /* held */
  double *p, *own;         /* n ; n */
  double *delta, *below;   /* width each */
  double *activation;      /* (layers+1) x width: of one sample */
  double *v, *plane;       /* P each */
  int8_t *busy;            /* n: a unit is held on this sample */
  double *marked_z[2];     /* n x hidden: at the two ends between which an event lies */
  double *marked_slope[2]; /* held: the same */
};

bool rf_sided_suits(const RfLayeredNet *net, rf_index n) {
  double work = 0;
  for (rf_index l = 0; l < net->n_layers; l++)
    work += (double)net->layers[l].outputs * (double)net->layers[l].inputs;
  return work * (double)n <= RF_SIDED_MOST;
}

void rf_sided_free(RfSided *sided) {
  if (!sided) return;
  for (rf_index l = 0; l < sided->net->n_layers; l++) {
    if (sided->index) rf_free(sided->index[l]);
    if (sided->matrix) rf_free(sided->matrix[l]);
  }
  rf_free(sided->first), rf_free(sided->index), rf_free(sided->matrix);
  rf_free(sided->side), rf_free(sided->slope), rf_free(sided->z), rf_free(sided->scale);
  rf_free(sided->held_at), rf_free(sided->held_slope), rf_free(sided->p), rf_free(sided->own);
  rf_free(sided->delta), rf_free(sided->below), rf_free(sided->activation);
  rf_free(sided->v), rf_free(sided->plane), rf_free(sided->busy);
  for (int end = 0; end < 2; end++) rf_free(sided->marked_z[end]), rf_free(sided->marked_slope[end]);
  rf_free(sided);
}

static bool make_layers(RfSided *sided) {
  const RfLayeredNet *net = sided->net;
  sided->first = RF_NEW(rf_index, net->n_layers);
  sided->index = RF_NEW(int32_t *, net->n_layers), sided->matrix = RF_NEW(double *, net->n_layers);
  if (!sided->first || !sided->index || !sided->matrix) return false;
  rf_index at = 0;
  for (rf_index l = 0; l < net->n_layers; l++) {
    rf_index out = net->layers[l].outputs, in = net->layers[l].inputs;
    sided->first[l] = at, at += out;
    sided->width = sided->width > out ? sided->width : out;
    sided->width = sided->width > in ? sided->width : in;
    sided->index[l] = RF_NEW_TABLE(int32_t, out, in), sided->matrix[l] = RF_NEW(double, out *in);
    if (!sided->index[l] || !sided->matrix[l]) return false;
    for (rf_index o = 0; o < out; o++)
      for (rf_index i = 0; i < in; i++) sided->index[l][o * in + i] = (int32_t)rf_layers_entry(net, l, o, i);
  }
  return true;
}

static double slope_of(const RfSided *sided, int8_t side) { return side > 0 ? 1 : sided->net->leak; }

/* ---- one sample forward and backward ------------------------------------------------------- */

static void load_matrices(RfSided *sided, const double *theta) {
  for (rf_index l = 0; l < sided->net->n_layers; l++) {
    rf_index size = sided->net->layers[l].outputs * sided->net->layers[l].inputs;
    for (rf_index e = 0; e < size; e++)
      sided->matrix[l][e] = sided->index[l][e] >= 0 ? theta[sided->index[l][e]] : 0;
  }
}

/* f(x_i); hidden inputs into z, activations into sided->activation (row l = input of layer l). */
static double forward(RfSided *sided, rf_index i) {
  const RfLayeredNet *net = sided->net;
  rf_index depth = net->n_layers, d = net->layers[0].inputs;
  double *z = sided->z + i * sided->hidden, out = 0;
  const double *slope = sided->slope + i * sided->hidden;
  memcpy(sided->activation, sided->X + i * d, (size_t)d * sizeof(double));
  for (rf_index l = 0; l < depth; l++) {
    const RfLayer *layer = &net->layers[l];
    const double *in = sided->activation + l * sided->width;
    double *next = sided->activation + (l + 1) * sided->width;
    for (rf_index o = 0; o < layer->outputs; o++) {
      double value = rf_la_dot(sided->matrix[l] + o * layer->inputs, in, layer->inputs);
      if (layer->residual) value += z[sided->first[l - 1] + o];
      if (l + 1 == depth) {
        out = value;
      } else {
        z[sided->first[l] + o] = value;
        next[o] = slope[sided->first[l] + o] * value;
      }
    }
  }
  return out;
}

/* Adds factor times the gradient of hidden input (or output) o of layer `top` to out. Needs the activations
 * of forward(i). */
static void backward(RfSided *sided, double *out, rf_index i, rf_index top, rf_index o, double factor) {
  const RfLayeredNet *net = sided->net;
  const double *slope = sided->slope + i * sided->hidden;
  memset(sided->delta, 0, (size_t)sided->width * sizeof(double));
  sided->delta[o] = factor;
  for (rf_index l = top; l >= 0; l--) {
    const RfLayer *layer = &net->layers[l];
    const double *in = sided->activation + l * sided->width;
    rf_index inputs = layer->inputs;
    memset(sided->below, 0, (size_t)sided->width * sizeof(double));
    for (rf_index r = 0; r < layer->outputs; r++) {
      double delta = sided->delta[r];
      if (delta == 0) continue;
      const int32_t *index = sided->index[l] + r * inputs;
      for (rf_index c = 0; c < inputs && !layer->fixed; c++)
        if (index[c] >= 0) out[index[c]] += delta * in[c];
      if (l > 0) rf_la_axpy(sided->below, delta, sided->matrix[l] + r * inputs, inputs);
    }
    if (l == 0) break;
    for (rf_index c = 0; c < inputs; c++) {
      sided->below[c] *= slope[sided->first[l - 1] + c];
      if (layer->residual) sided->below[c] += sided->delta[c];
    }
    double *swap = sided->delta;
    sided->delta = sided->below, sided->below = swap;
  }
}

static rf_index layer_of(const RfSided *sided, rf_index h) {
  rf_index l = sided->net->n_layers - 2;
  while (l > 0 && sided->first[l] > h) l--;
  return l;
}

/* What counts as zero is told by the inputs at hand: a trial step that is thrown away may be of any size. */
static void measure(RfSided *sided) {
  const RfLayeredNet *net = sided->net;
  memset(sided->scale, 0, (size_t)sided->hidden * sizeof(double));
  for (rf_index at = 0; at < sided->n * sided->hidden; at++)
    sided->scale[at % sided->hidden] = fmax(sided->scale[at % sided->hidden], fabs(sided->z[at]));
  for (rf_index l = 0; l + 1 < net->n_layers; l++) {
    double *own = sided->scale + sided->first[l];
    double floor = RF_LAYERED_UNIT * rf_la_max_abs(own, net->layers[l].outputs);
    for (rf_index o = 0; o < net->layers[l].outputs; o++) own[o] = fmax(own[o], floor);
  }
}

/* d/dtheta of the hidden input `at`, at the matrices and slopes as they are. */
static void plane_of(RfSided *sided, double *plane, rf_index at) {
  rf_index i = at / sided->hidden, h = at % sided->hidden, l = layer_of(sided, h);
  memset(plane, 0, (size_t)sided->P * sizeof(double));
  forward(sided, i);
  backward(sided, plane, i, l, h - sided->first[l], 1);
}

void rf_sided_outputs(RfSided *sided, double *q, double *held_inputs, const double *theta) {
  load_matrices(sided, theta);
  for (rf_index k = 0; k < sided->held; k++) sided->slope[sided->held_at[k]] = sided->held_slope[k];
  for (rf_index i = 0; i < sided->n; i++) q[i] = sided->y[i] * forward(sided, i);
  measure(sided);
  for (rf_index k = 0; k < sided->held && held_inputs; k++) held_inputs[k] = sided->z[sided->held_at[k]];
}

void rf_sided_gradient(RfSided *sided, double *gradient, const double *weights, const double *theta) {
  load_matrices(sided, theta);
  for (rf_index k = 0; k < sided->held; k++) sided->slope[sided->held_at[k]] = sided->held_slope[k];
  memset(gradient, 0, (size_t)sided->P * sizeof(double));
  for (rf_index i = 0; i < sided->n; i++) {
    if (weights[i] == 0) continue;
    forward(sided, i);
    backward(sided, gradient, i, sided->net->n_layers - 1, 0, weights[i]);
  }
}

void rf_sided_plane(RfSided *sided, double *gradient, rf_index k, const double *theta) {
  load_matrices(sided, theta);
  plane_of(sided, gradient, sided->held_at[k]);
}

rf_index rf_sided_held(const RfSided *sided) { return sided->held; }
double *rf_sided_slopes(RfSided *sided) { return sided->held_slope; }

/* ---- the velocity, with slopes that hold --------------------------------------------------- */

/* Adds what sample i contributes to v at the slopes as they are. */
static void add_sample(RfSided *sided, double *v, rf_index i) {
  forward(sided, i);
  backward(sided, v, i, sided->net->n_layers - 1, 0, sided->p[i] * sided->y[i]);
}

/* v of the samples on which nothing is held; where p is below rounding of the sum nothing is added. */
static void free_velocity(RfSided *sided, double *v) {
  memset(v, 0, (size_t)sided->P * sizeof(double));
  for (rf_index i = 0; i < sided->n; i++)
    if (!sided->busy[i] && sided->p[i] > RF_LAYERED_UNFELT_WEIGHT) add_sample(sided, v, i);
}

/* Where the held units are looked at: memory of one call of hold(). */
typedef struct Holding {
  double *jacobian, *speed, *shifted; /* held x held; held; held */
  double *planes;                     /* held x P: d z_k/d theta */
  double *rest, *change;              /* P each: v of the other samples; change of v by one slope */
} Holding;

/* Speeds d z_k/d tau of the held units at their present slopes; v is left behind. */
static void held_speeds(RfSided *sided, Holding *work, double *v) {
  rf_index K = sided->held, P = sided->P;
  for (rf_index k = 0; k < K; k++) sided->slope[sided->held_at[k]] = sided->held_slope[k];
  memcpy(v, work->rest, (size_t)P * sizeof *v);
  for (rf_index i = 0; i < sided->n; i++)
    if (sided->busy[i]) add_sample(sided, v, i);
  for (rf_index k = 0; k < K; k++) {
    plane_of(sided, work->planes + k * P, sided->held_at[k]);
    work->speed[k] = rf_la_dot(work->planes + k * P, v, P);
  }
}

/* Column k of the derivative of the speeds: a slope changes v through its own sample alone, and the planes of
 * that sample. */
static void held_column(RfSided *sided, Holding *work, const double *v, rf_index k) {
  rf_index K = sided->held, P = sided->P, at = sided->held_at[k], i = at / sided->hidden;
  double *change = work->change, slope = sided->slope[at];
  memset(change, 0, (size_t)P * sizeof *change);
  add_sample(sided, change, i);
  rf_la_scale(change, -1, P);
  sided->slope[at] = slope + RF_LAYERED_SLOPE_STEP;
  add_sample(sided, change, i);
  for (rf_index r = 0; r < K; r++) {
    const double *plane = work->planes + r * P;
    double shift = rf_la_dot(plane, change, P);
    if (r != k && sided->held_at[r] / sided->hidden == i) {
      plane_of(sided, sided->plane, sided->held_at[r]);
      shift = rf_la_dot(sided->plane, v, P) + rf_la_dot(sided->plane, change, P) - work->speed[r];
    }
    work->jacobian[r * K + k] = shift / RF_LAYERED_SLOPE_STEP;
  }
  sided->slope[at] = slope;
}

/* Newton on speeds = 0; they are polynomials of the slopes, affine for units of different samples. */
static void hold(RfSided *sided, double *v) {
  rf_index K = sided->held, P = sided->P, rank;
  double *memory = RF_NEW(double, K *K + 2 * K + K * P + 2 * P), before = INFINITY;
  if (!memory) return; /* slopes stay as they were: the step controller sees it */
  Holding work = {.jacobian = memory, .speed = memory + K * K};
  work.shifted = work.speed + K, work.planes = work.shifted + K;
  work.rest = work.planes + K * P, work.change = work.rest + P;
  free_velocity(sided, work.rest);
  for (int round = 0; round < 8; round++) {
    held_speeds(sided, &work, v);
    double size = rf_la_norm(work.speed, K);
    if (!(size > RF_LAYERED_HELD * rf_la_norm(v, P)) || !(size < 0.9 * before)) break;
    before = size;
    for (rf_index k = 0; k < K; k++) held_column(sided, &work, v, k);
    for (rf_index r = 0; r < K; r++) work.shifted[r] = -work.speed[r];
    if (rf_la_least_squares(sided->context, work.jacobian, work.shifted, K, K, RF_LAYERED_RANK, &rank)) break;
    rf_la_axpy(sided->held_slope, 1, work.shifted, K);
    if (round == 7) held_speeds(sided, &work, v);
  }
  rf_free(memory);
}

double rf_sided_velocity(RfSided *sided, double *v, double *q, const double *theta) {
  rf_sided_outputs(sided, q, NULL, theta);
  double log_S = rf_loss_log_sum(q, sided->n, sided->loss, rf_loss_log_slope);
  for (rf_index i = 0; i < sided->n; i++) sided->p[i] = exp(rf_loss_log_slope(sided->loss, q[i]) - log_S);
  if (sided->held > 0)
    hold(sided, v);
  else
    free_velocity(sided, v);
  return log_S;
}

/* ---- events -------------------------------------------------------------------------------- */

/* A linear network has no kinks. */
static bool off_side(const RfSided *sided, rf_index at) {
  return sided->net->leak != 1 &&
         sided->side[at] * sided->z[at] < -RF_LAYERED_BEYOND * sided->scale[at % sided->hidden];
}

static bool slope_out(const RfSided *sided, rf_index k) {
  return sided->held_slope[k] > 1 + RF_LAYERED_SLOPE ||
         sided->held_slope[k] < sided->net->leak - RF_LAYERED_SLOPE;
}

bool rf_sided_sides_hold(const RfSided *sided) {
  for (rf_index at = 0; at < sided->n * sided->hidden; at++)
    if (off_side(sided, at)) return false;
  return true;
}

bool rf_sided_slopes_hold(const RfSided *sided) {
  for (rf_index k = 0; k < sided->held; k++)
    if (slope_out(sided, k)) return false;
  return true;
}

bool rf_sided_violated(const RfSided *sided) {
  return !(rf_sided_slopes_hold(sided) && rf_sided_sides_hold(sided));
}

void rf_sided_mark(RfSided *sided, int end) {
  memcpy(sided->marked_z[end], sided->z, (size_t)(sided->n * sided->hidden) * sizeof(double));
  if (sided->held > 0)
    memcpy(sided->marked_slope[end], sided->held_slope, (size_t)sided->held * sizeof(double));
}

/* Where a straight line from `low` (inside, or outside by rounding) to `high` passes -aim. */
static double passes(double low, double high, double aim) {
  return low <= -aim || low <= high ? 0 : (low + aim) / (low - high);
}

double rf_sided_event(const RfSided *sided, double *over) {
  double first = 1;
  *over = 0;
  for (rf_index at = 0; at < sided->n * sided->hidden; at++) {
    double beyond = RF_LAYERED_BEYOND * sided->scale[at % sided->hidden], side = sided->side[at];
    double high = side * sided->marked_z[1][at];
    if (sided->net->leak == 1 || !(high < -beyond)) continue;
    *over = fmax(*over, -high / beyond);
    first = fmin(first, passes(side * sided->marked_z[0][at], high, RF_LAYERED_AIM * beyond));
  }
  for (rf_index k = 0; k < sided->held; k++) {
    double low = sided->marked_slope[0][k], high = sided->marked_slope[1][k], leak = sided->net->leak;
    double out = fmax(high - 1, leak - high);
    if (!(out > RF_LAYERED_SLOPE)) continue;
    *over = fmax(*over, out / RF_LAYERED_SLOPE);
    first = fmin(first, high > 1 ? passes(1 - low, 1 - high, RF_LAYERED_AIM * RF_LAYERED_SLOPE)
                                 : passes(low - leak, high - leak, RF_LAYERED_AIM * RF_LAYERED_SLOPE));
  }
  return first;
}

static RfStatus add_held(RfSided *sided, rf_index at) {
  if (sided->held == sided->room) {
    rf_index room = sided->room ? 2 * sided->room : 16;
    rf_index *units = RF_NEW(rf_index, room);
    double *slopes = RF_NEW(double, room), *low = RF_NEW(double, room), *high = RF_NEW(double, room);
    if (!units || !slopes || !low || !high) {
      rf_free(units), rf_free(slopes), rf_free(low), rf_free(high);
      return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
    }
    for (rf_index k = 0; k < sided->held; k++) units[k] = sided->held_at[k], slopes[k] = sided->held_slope[k];
    rf_free(sided->held_at), rf_free(sided->held_slope);
    rf_free(sided->marked_slope[0]), rf_free(sided->marked_slope[1]);
    sided->marked_slope[0] = low, sided->marked_slope[1] = high;
    sided->held_at = units, sided->held_slope = slopes, sided->room = room;
  }
  sided->side[at] = 0;
  sided->busy[at / sided->hidden] = 1;
  sided->held_at[sided->held] = at;
  sided->held_slope[sided->held++] = 0.5 * (1 + sided->net->leak);
  return RF_OK;
}

static void let_go(RfSided *sided, rf_index k, int8_t side) {
  rf_index at = sided->held_at[k];
  sided->held--;
  for (rf_index j = k; j < sided->held; j++)
    sided->held_at[j] = sided->held_at[j + 1], sided->held_slope[j] = sided->held_slope[j + 1];
  sided->side[at] = side, sided->slope[at] = slope_of(sided, side);
  sided->busy[at / sided->hidden] = 0;
  for (rf_index j = 0; j < sided->held; j++) sided->busy[sided->held_at[j] / sided->hidden] = 1;
}

/* d z/d tau of unit `at` when it is on `side`, the others held. */
static double speed_on(RfSided *sided, rf_index at, int8_t side, const double *theta) {
  sided->side[at] = side, sided->slope[at] = slope_of(sided, side);
  rf_sided_velocity(sided, sided->v, sided->own, theta);
  plane_of(sided, sided->plane, at);
  return rf_la_dot(sided->plane, sided->v, sided->P);
}

/* Towards the kink from both sides: held. Away on both: it goes on to the other side. */
static RfStatus decide(RfSided *sided, rf_index at, int8_t from, const double *theta) {
  double above = speed_on(sided, at, 1, theta), below = speed_on(sided, at, -1, theta);
  if (above < 0 && below > 0) return add_held(sided, at);
  int8_t side = above >= 0 && below >= 0 ? 1 : above <= 0 && below <= 0 ? -1 : (int8_t)-from;
  sided->side[at] = side, sided->slope[at] = slope_of(sided, side);
  return RF_OK;
}

RfStatus rf_sided_apply(RfSided *sided, const double *theta) {
  RfStatus status = RF_OK;
  for (rf_index k = sided->held - 1; k >= 0; k--)
    if (slope_out(sided, k)) let_go(sided, k, sided->held_slope[k] > 1 ? 1 : -1);
  rf_index count = sided->n * sided->hidden;
  int8_t *marked = RF_NEW(int8_t, count);
  if (!marked) return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for an event");
  for (rf_index at = 0; at < count; at++) marked[at] = off_side(sided, at) ? sided->side[at] : 0;
  for (rf_index at = 0; at < count && !status; at++)
    if (marked[at]) status = decide(sided, at, marked[at], theta);
  rf_free(marked);
  return status;
}

RfStatus rf_sided_project(RfSided *sided, double *theta) {
  rf_index K = sided->held, P = sided->P, rank, most = K > P ? K : P;
  if (K == 0) return RF_OK;
  double *planes = RF_NEW(double, K *P), *step = RF_NEW(double, most);
  RfStatus status =
      planes && step ? RF_OK : rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
  for (rf_index k = 0; k < K && !status; k++) {
    rf_sided_plane(sided, planes + k * P, k, theta);
    step[k] = -sided->z[sided->held_at[k]];
  }
  if (!status) status = rf_la_least_squares(sided->context, planes, step, K, P, RF_LAYERED_RANK, &rank);
  if (!status) rf_la_axpy(theta, 1, step, P);
  rf_free(planes), rf_free(step);
  return status;
}

RfStatus rf_sided_new(RfContext *context, RfSided **out, const RfLayeredNet *net, const double *X,
                      const double *y, rf_index n, RfLoss loss) {
  RfSided *sided = *out = RF_NEW(RfSided, 1);
  if (!sided) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a flow");
  rf_index hidden = rf_layers_hidden(net), P = net->n_parameters;
  *sided = (RfSided){.context = context, .net = net, .X = X, .y = y, .n = n, .hidden = hidden, .P = P};
  sided->loss = loss;
  bool complete = make_layers(sided);
  sided->side = RF_NEW_TABLE(int8_t, n, hidden), sided->slope = RF_NEW(double, n *hidden);
  sided->z = RF_NEW(double, n *hidden), sided->scale = RF_NEW(double, hidden);
  sided->p = RF_NEW(double, n), sided->own = RF_NEW(double, n);
  sided->v = RF_NEW(double, P), sided->plane = RF_NEW(double, P), sided->busy = RF_NEW(int8_t, n);
  sided->marked_z[0] = RF_NEW(double, n *hidden), sided->marked_z[1] = RF_NEW(double, n *hidden);
  sided->delta = RF_NEW(double, sided->width), sided->below = RF_NEW(double, sided->width);
  sided->activation = RF_NEW(double, (net->n_layers + 1) * sided->width);
  complete = complete && sided->side && sided->slope && sided->z && sided->scale && sided->p && sided->own &&
             sided->v && sided->plane && sided->delta && sided->below && sided->activation && sided->busy &&
             sided->marked_z[0] && sided->marked_z[1];
  if (!complete) {
    rf_sided_free(sided);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a flow");
  }
  load_matrices(sided, net->theta);
  /* Sides layer by layer: those below decide what the next layer sees. A unit on its kink starts on the lower
   * side, as phi'(0) = leak says. */
  for (rf_index l = 0; l + 1 < net->n_layers; l++)
    for (rf_index i = 0; i < n; i++) {
      forward(sided, i);
      for (rf_index o = 0; o < net->layers[l].outputs; o++) {
        rf_index h = sided->first[l] + o, at = i * hidden + h;
        sided->side[at] = sided->z[at] > 0 ? 1 : -1;
        sided->slope[at] = slope_of(sided, sided->side[at]);
      }
    }
  return RF_OK;
}
