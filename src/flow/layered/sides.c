/* Layered networks by sides (Filippov): with the slope of every hidden unit on every sample fixed by its
 * side, f is a polynomial in theta. A unit whose velocity points to the kink from both sides is held on it;
 * its slope s in [leak,1] is the one for which d z/d tau = 0. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

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
    if (sided->inputs) rf_free(sided->inputs[l]);
  }
  rf_free(sided->first), rf_free(sided->index), rf_free(sided->matrix);
  rf_free(sided->inputs), rf_free(sided->rows), rf_free(sided->deltas), rf_free(sided->square);
  rf_free(sided->gradient), rf_free(sided->felt), rf_free(sided->start_slope), rf_free(sided->slack);
  rf_free(sided->firm), rf_free(sided->follower), rf_free(sided->leader), rf_free(sided->turned);
  rf_free(sided->touched), rf_free(sided->lower), rf_free(sided->mean), rf_free(sided->lower_inputs),
      rf_free(sided->marked_firm[0]), rf_free(sided->marked_firm[1]);
  rf_free(sided->side), rf_free(sided->slope), rf_free(sided->z), rf_free(sided->scale);
  rf_free(sided->held_at), rf_free(sided->held_slope), rf_free(sided->p), rf_free(sided->own);
  rf_free(sided->seen), rf_free(sided->top), rf_free(sided->open);
  rf_free(sided->delta), rf_free(sided->below), rf_free(sided->activation);
  rf_free(sided->v), rf_free(sided->plane), rf_free(sided->busy);
  for (int end = 0; end < 2; end++) rf_free(sided->marked_z[end]), rf_free(sided->marked_slope[end]);
  rf_free(sided);
}

static bool make_layers(RfSided *sided) {
  const RfLayeredNet *net = sided->net;
  sided->first = RF_NEW(rf_index, net->n_layers);
  sided->index = RF_NEW(int32_t *, net->n_layers), sided->matrix = RF_NEW(double *, net->n_layers);
  sided->inputs = RF_NEW(double *, net->n_layers);
  if (!sided->first || !sided->index || !sided->matrix || !sided->inputs) return false;
  rf_index at = 0, largest = 0;
  for (rf_index l = 0; l < net->n_layers; l++) {
    rf_index out = net->layers[l].outputs, in = net->layers[l].inputs;
    sided->first[l] = at, at += out;
    sided->width = sided->width > out ? sided->width : out;
    sided->width = sided->width > in ? sided->width : in;
    sided->index[l] = RF_NEW_TABLE(int32_t, out, in), sided->matrix[l] = RF_NEW(double, out *in);
    sided->inputs[l] = RF_NEW(double, sided->n *in);
    if (!sided->index[l] || !sided->matrix[l] || !sided->inputs[l]) return false;
    largest = largest > out * in ? largest : out * in;
    for (rf_index e = 0; e < out * in; e++)
      sided->index[l][e] = (int32_t)rf_layers_entry(net, l, e / in, e % in);
  }
  sided->rows = RF_NEW(double, sided->n * sided->width),
  sided->deltas = RF_NEW(double, sided->n * sided->width);
  sided->square = RF_NEW(double, sided->n), sided->felt = RF_NEW(rf_index, sided->n);
  sided->gradient = RF_NEW(double, largest);
  memcpy(sided->inputs[0], sided->X, (size_t)(sided->n * net->layers[0].inputs) * sizeof(double));
  return sided->rows && sided->deltas && sided->square && sided->felt && sided->gradient;
}

/* ---- one sample forward and backward ------------------------------------------------------- */

static void load_matrices(RfSided *sided, const double *theta) {
  sided->norm = rf_la_norm(theta, sided->P);
  for (rf_index l = 0; l < sided->net->n_layers; l++) {
    rf_index size = sided->net->layers[l].outputs * sided->net->layers[l].inputs;
    for (rf_index e = 0; e < size; e++)
      sided->matrix[l][e] = sided->index[l][e] >= 0 ? theta[sided->index[l][e]] : 0;
  }
}

double rf_sided_forward(RfSided *sided, rf_index i) {
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
      double value = rf_la_quick_dot(sided->matrix[l] + o * layer->inputs, in, layer->inputs);
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

/* The same for all samples, one product a layer; inputs of the layers stay in sided->inputs. */
static void forward_all(RfSided *sided, double *f) {
  const RfLayeredNet *net = sided->net;
  rf_index n = sided->n, depth = net->n_layers, hidden = sided->hidden;
  for (rf_index l = 0; l < depth; l++) {
    const RfLayer *layer = &net->layers[l];
    rf_index out = layer->outputs;
    double *values = l + 1 == depth ? f : sided->rows;
    rf_la_product_nt(values, sided->inputs[l], sided->matrix[l], n, out, layer->inputs);
    for (rf_index i = 0; i < n && l + 1 < depth; i++) {
      double *z = sided->z + i * hidden + sided->first[l], *next = sided->inputs[l + 1] + i * out;
      const double *slope = sided->slope + i * hidden + sided->first[l];
      for (rf_index o = 0; o < out; o++) {
        z[o] = values[i * out + o];
        if (layer->residual) z[o] += z[o - out];
        next[o] = slope[o] * z[o];
      }
    }
    if (l + 1 == depth && layer->residual)
      for (rf_index i = 0; i < n; i++) f[i] += sided->z[i * hidden + sided->first[l - 1]];
  }
}

/* Adds factor times the gradient of hidden input (or output) o of layer `top` to out; the size of it, were
 * all weights their own. Needs the activations of rf_sided_forward. */
static double backward(RfSided *sided, double *out, rf_index i, rf_index top, rf_index o, double factor) {
  const RfLayeredNet *net = sided->net;
  const double *slope = sided->slope + i * sided->hidden;
  memset(sided->delta, 0, (size_t)sided->width * sizeof(double));
  double square = 0;
  sided->delta[o] = factor;
  for (rf_index l = top; l >= 0; l--) {
    const RfLayer *layer = &net->layers[l];
    const double *in = sided->activation + l * sided->width;
    rf_index inputs = layer->inputs;
    square += rf_la_quick_dot(in, in, inputs) * rf_la_quick_dot(sided->delta, sided->delta, layer->outputs);
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
  return sqrt(square);
}

/* The same over all ways past its kinks, forward passes included; the size as it is for one of them. */
static double backward_all(RfSided *sided, double *out, rf_index i, rf_index top, rf_index o, double factor) {
  RfSidedCells cells;
  double size = 0;
  rf_sided_cells(sided, &cells, i);
  for (rf_index c = 0; c < cells.count; c++) {
    double weight = rf_sided_cell(sided, &cells, c);
    rf_sided_forward(sided, i);
    size = fmax(size, backward(sided, out, i, top, o, factor * weight));
  }
  rf_sided_cells_end(sided, &cells);
  return size;
}

/* f(x_i) and the hidden inputs as the mean over all ways past its kinks, where it has several: beside its
 * kinks it is then the function whose gradient is taken. */
static double forward_cells(RfSided *sided, rf_index i, double f) {
  RfSidedCells cells;
  double *z = sided->z + i * sided->hidden, *mean = sided->mean;
  rf_sided_cells(sided, &cells, i);
  if (cells.count == 1) return f;
  f = 0, memset(mean, 0, (size_t)sided->hidden * sizeof(double));
  for (rf_index c = 0; c < cells.count; c++) {
    double weight = rf_sided_cell(sided, &cells, c);
    f += weight * rf_sided_forward(sided, i);
    rf_la_axpy(mean, weight, z, sided->hidden);
  }
  memcpy(z, mean, (size_t)sided->hidden * sizeof(double));
  rf_sided_cells_end(sided, &cells);
  return f;
}

static rf_index layer_of(const RfSided *sided, rf_index h) {
  rf_index l = sided->net->n_layers - 2;
  while (l > 0 && sided->first[l] > h) l--;
  return l;
}

rf_index rf_sided_layer_of(const RfSided *sided, rf_index at) { return layer_of(sided, at % sided->hidden); }

/* What counts as zero is told by the inputs at hand: a trial step that is thrown away may be of any size. At
 * an event theta is known to some part of |theta|, and with it the inputs of a unit whose weights pass zero.
 */
static void measure(RfSided *sided) {
  const RfLayeredNet *net = sided->net;
  memset(sided->scale, 0, (size_t)sided->hidden * sizeof(double));
  for (rf_index i = 0; i < sided->n; i++) {
    const double *z = sided->z + i * sided->hidden;
    for (rf_index h = 0; h < sided->hidden; h++)
      if (fabs(z[h]) > sided->scale[h]) sided->scale[h] = fabs(z[h]);
  }
  for (rf_index l = 0; l + 1 < net->n_layers; l++) {
    double *own = sided->scale + sided->first[l], longest = 0;
    rf_index inputs = net->layers[l].inputs, outputs = net->layers[l].outputs;
    for (rf_index i = 0; i < sided->n; i++)
      longest = fmax(longest, rf_la_norm(sided->inputs[l] + i * inputs, inputs));
    double floor =
        fmax(RF_LAYERED_UNIT * rf_la_max_abs(own, outputs), RF_LAYERED_WEIGHT * sided->norm * longest);
    for (rf_index o = 0; o < outputs; o++) own[o] = fmax(own[o], floor);
  }
}

void rf_sided_plane_of(RfSided *sided, double *plane, rf_index at) {
  rf_index i = at / sided->hidden, h = at % sided->hidden, l = layer_of(sided, h);
  memset(plane, 0, (size_t)sided->P * sizeof(double));
  backward_all(sided, plane, i, l, h - sided->first[l], 1);
}

void rf_sided_outputs(RfSided *sided, double *q, double *held_inputs, const double *theta) {
  load_matrices(sided, theta);
  rf_sided_put_slopes(sided);
  forward_all(sided, q);
  for (rf_index i = 0; i < sided->n && sided->followers > 0; i++)
    if (sided->busy[i]) q[i] = forward_cells(sided, i, q[i]);
  for (rf_index i = 0; i < sided->n; i++) q[i] *= sided->y[i];
  measure(sided);
  for (rf_index k = 0; k < sided->held && held_inputs; k++) held_inputs[k] = sided->z[sided->held_at[k]];
}

void rf_sided_gradient(RfSided *sided, double *gradient, const double *weights, const double *theta) {
  load_matrices(sided, theta);
  rf_sided_put_slopes(sided);
  memset(gradient, 0, (size_t)sided->P * sizeof(double));
  for (rf_index i = 0; i < sided->n; i++) {
    if (weights[i] == 0) continue;
    backward_all(sided, gradient, i, sided->net->n_layers - 1, 0, weights[i]);
  }
}

void rf_sided_plane(RfSided *sided, double *gradient, rf_index k, const double *theta) {
  load_matrices(sided, theta);
  rf_sided_plane_of(sided, gradient, sided->held_at[k]);
}

rf_index rf_sided_held(const RfSided *sided) { return sided->held; }
double *rf_sided_slopes(RfSided *sided) { return sided->held_slope; }

/* ---- the velocity, with slopes that hold --------------------------------------------------- */

double rf_sided_add_sample(RfSided *sided, double *v, rf_index i) {
  return backward_all(sided, v, i, sided->net->n_layers - 1, 0, sided->p[i] * sided->y[i]);
}

void rf_sided_add_output(RfSided *sided, double *out, rf_index i, double factor) {
  backward_all(sided, out, i, sided->net->n_layers - 1, 0, factor);
}

void rf_sided_deltas(RfSided *sided, double *deltas, rf_index i, double factor) {
  const RfLayeredNet *net = sided->net;
  const double *slope = sided->slope + i * sided->hidden;
  rf_sided_forward(sided, i);
  deltas[(net->n_layers - 1) * sided->width] = factor;
  for (rf_index l = net->n_layers - 1; l > 0; l--) {
    const RfLayer *layer = &net->layers[l];
    double *delta = deltas + l * sided->width, *below = delta - sided->width;
    rf_la_combine(below, sided->matrix[l], delta, layer->outputs, layer->inputs, layer->inputs);
    for (rf_index c = 0; c < layer->inputs; c++) {
      below[c] *= slope[sided->first[l - 1] + c];
      if (layer->residual) below[c] += delta[c];
    }
  }
}

/* Inputs of layer l of the samples listed, one after the other. */
static void gather(RfSided *sided, double *rows, rf_index l, rf_index count) {
  rf_index inputs = sided->net->layers[l].inputs;
  for (rf_index r = 0; r < count; r++)
    memcpy(rows + r * inputs, sided->inputs[l] + sided->felt[r] * inputs, (size_t)inputs * sizeof *rows);
}

/* Sum over the samples of sizes of what each pushes with, from the pushes of every layer. */
static double sizes(const double *square, rf_index count) {
  double sum = 0;
  for (rf_index r = 0; r < count; r++) sum += sqrt(square[r]);
  return sum;
}

/* All samples at once, one product a layer; where p is below rounding of the sum nothing is added. */
void rf_sided_free_velocity(RfSided *sided, double *v) {
  const RfLayeredNet *net = sided->net;
  rf_index count = 0;
  memset(v, 0, (size_t)sided->P * sizeof(double));
  for (rf_index i = 0; i < sided->n; i++)
    if (!sided->busy[i] && sided->p[i] > RF_LAYERED_UNFELT_WEIGHT) sided->felt[count++] = i;
  for (rf_index r = 0; r < count; r++)
    sided->deltas[r] = sided->p[sided->felt[r]] * sided->y[sided->felt[r]], sided->square[r] = 0;
  for (rf_index l = net->n_layers - 1; l >= 0 && count > 0; l--) {
    const RfLayer *layer = &net->layers[l];
    rf_index in = layer->inputs, out = layer->outputs;
    gather(sided, sided->rows, l, count);
    for (rf_index r = 0; r < count; r++)
      sided->square[r] += rf_la_quick_dot(sided->rows + r * in, sided->rows + r * in, in) *
                          rf_la_quick_dot(sided->deltas + r * out, sided->deltas + r * out, out);
    rf_la_product_tn(sided->gradient, sided->deltas, sided->rows, out, in, count);
    for (rf_index e = 0; e < out * in && !layer->fixed; e++)
      if (sided->index[l][e] >= 0) v[sided->index[l][e]] += sided->gradient[e];
    if (l == 0) break;
    rf_la_product_nn(sided->rows, sided->deltas, sided->matrix[l], count, in, out);
    for (rf_index r = 0; r < count; r++) {
      const double *slope = sided->slope + sided->felt[r] * sided->hidden + sided->first[l - 1];
      for (rf_index c = 0; c < in; c++) {
        sided->rows[r * in + c] *= slope[c];
        if (layer->residual) sided->rows[r * in + c] += sided->deltas[r * out + c];
      }
    }
    double *swap = sided->deltas;
    sided->deltas = sided->rows, sided->rows = swap;
  }
  sided->push += sizes(sided->square, count);
}

double rf_sided_velocity(RfSided *sided, double *v, double *q, const double *theta) {
  /* Off its kink by rounding a held unit is seen with some slope, not with that of a trial thrown away. */
  if (sided->held > 0) memcpy(sided->held_slope, sided->start_slope, (size_t)sided->held * sizeof(double));
  rf_sided_outputs(sided, q, NULL, theta);
  double log_S = rf_sided_weigh(sided, q);
  sided->lost = false, sided->push = 0;
  if (sided->held > 0)
    rf_sided_hold(sided, v);
  else
    rf_sided_free_velocity(sided, v);
  return log_S;
}

double rf_sided_reach(RfSided *sided, rf_index at) {
  rf_index i = at / sided->hidden, h = at % sided->hidden, top = layer_of(sided, h);
  const RfLayeredNet *net = sided->net;
  const double *slope = sided->slope + i * sided->hidden;
  memset(sided->delta, 0, (size_t)sided->width * sizeof(double));
  sided->delta[0] = 1;
  for (rf_index l = net->n_layers - 1; l > top; l--) {
    const RfLayer *layer = &net->layers[l];
    rf_la_combine(sided->below, sided->matrix[l], sided->delta, layer->outputs, layer->inputs, layer->inputs);
    for (rf_index c = 0; c < layer->inputs && l - 1 > top; c++) {
      sided->below[c] *= slope[sided->first[l - 1] + c];
      if (layer->residual) sided->below[c] += sided->delta[c];
    }
    double *swap = sided->delta;
    sided->delta = sided->below, sided->below = swap;
  }
  return sided->delta[h - sided->first[top]];
}

double rf_sided_push(const RfSided *sided) { return sided->push; }

/* ---- events -------------------------------------------------------------------------------- */

bool rf_sided_sides_hold(const RfSided *sided) {
  for (rf_index at = 0; at < sided->n * sided->hidden; at++)
    if (rf_sided_off_side(sided, at)) return false;
  return true;
}

bool rf_sided_slopes_hold(const RfSided *sided) {
  for (rf_index k = 0; k < sided->held; k++)
    if (rf_sided_slope_out(sided, k)) return false;
  return true;
}

bool rf_sided_violated(const RfSided *sided) {
  for (rf_index k = 0; k < sided->held; k++)
    if (rf_sided_ridge(sided, sided->firm[k]) > 0) return true;
  return sided->lost || !(rf_sided_slopes_hold(sided) && rf_sided_sides_hold(sided));
}

bool rf_sided_layer_at_zero(const RfSided *sided) {
  const RfLayeredNet *net = sided->net;
  double zero = RF_LAYERED_OVER * RF_LAYERED_BEYOND * RF_LAYERED_WEIGHT * sided->norm;
  for (rf_index l = 0; l + 2 < net->n_layers && net->leak != 1; l++)
    if (rf_la_norm(sided->matrix[l], net->layers[l].outputs * net->layers[l].inputs) <= zero) return true;
  return false;
}

void rf_sided_mark(RfSided *sided, int end) {
  if (end == 1) sided->lost_marked = sided->lost;
  memcpy(sided->marked_z[end], sided->z, (size_t)(sided->n * sided->hidden) * sizeof(double));
  if (sided->held > 0) {
    memcpy(sided->marked_slope[end], sided->held_slope, (size_t)sided->held * sizeof(double));
    memcpy(sided->marked_firm[end], sided->firm, (size_t)sided->held * sizeof(double));
  }
  if (sided->held > 0 && end == 0)
    memcpy(sided->start_slope, sided->held_slope, (size_t)sided->held * sizeof(double));
}

/* Where a straight line from `low` (inside, or outside by rounding) to `high` passes -aim. */
static double passes(double low, double high, double aim) {
  return low <= -aim || low <= high ? 0 : (low + aim) / (low - high);
}

double rf_sided_event(const RfSided *sided, double *over) {
  double first = 1;
  *over = 0;
  if (sided->lost_marked) { /* no slopes there: no straight line leads to them */
    *over = INFINITY;
    return 0.5;
  }
  for (rf_index at = 0; at < sided->n * sided->hidden; at++) {
    double beyond = rf_sided_beyond(sided, at), side = sided->side[at];
    double high = side * sided->marked_z[1][at];
    if (sided->net->leak == 1 || !(high < -beyond)) continue;
    *over = fmax(*over, -high / beyond);
    first = fmin(first, passes(side * sided->marked_z[0][at], high, RF_LAYERED_AIM * beyond));
  }
  for (rf_index k = 0; k < sided->held; k++) {
    double low = sided->marked_slope[0][k], high = sided->marked_slope[1][k], leak = sided->net->leak;
    double top = rf_sided_top(sided, k), out = fmax(high - top, leak - high),
           aim = RF_LAYERED_AIM * sided->slack[k];
    double firm = sided->marked_firm[1][k], ridge = rf_sided_ridge(sided, firm);
    *over = fmax(*over, ridge);
    if (ridge > 0)
      first = fmin(first, passes(sided->marked_firm[0][k], firm, -RF_LAYERED_AIM * firm / ridge));
    if (!(out > sided->slack[k])) continue;
    *over = fmax(*over, out / sided->slack[k]);
    first =
        fmin(first, high > top ? passes(top - low, top - high, aim) : passes(low - leak, high - leak, aim));
  }
  return first;
}

/* The move d of least norm with z_k + dz_k d = 0, and with sqrt(h p_i) df_i d = e_i for the first `felt`
 * samples listed, their e counted in the norm: least |d|^2 + h sum p_i (df_i d)^2. step: room for both sides.
 */
static RfStatus project_step(RfSided *sided, double *step, const double *theta, double h, rf_index felt) {
  rf_index K = sided->held, P = sided->P, rows = K + felt, columns = P + felt, rank;
  double *system = RF_NEW(double, rows *columns), *one = sided->plane;
  if (!system) return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
  memset(step, 0, (size_t)(rows > columns ? rows : columns) * sizeof(double));
  for (rf_index k = 0; k < K; k++) {
    rf_sided_plane(sided, one, k, theta);
    memcpy(system + k * columns, one, (size_t)P * sizeof(double));
    step[k] = -sided->z[sided->held_at[k]];
  }
  for (rf_index r = 0; r < felt; r++) { /* at size one, or it would make planes look dependent */
    memset(one, 0, (size_t)P * sizeof(double));
    rf_sided_add_output(sided, one, sided->felt[r], 1);
    double square = rf_la_quick_dot(one, one, P),
           answers = fmin(h * sided->p[sided->felt[r]] * square, RF_LAYERED_ANSWERS);
    double *row = system + (K + r) * columns, size = sqrt(1 + answers);
    if (square > 0) rf_la_axpy(row, sqrt(answers / square) / size, one, P);
    row[P + r] = -1 / size;
  }
  RfStatus status = rf_la_least_squares(sided->context, system, step, rows, columns, RF_LAYERED_RANK, &rank);
  rf_free(system);
  return status;
}

/* Where the planes leave too little freedom for the margins to stay, they are let go. */
RfStatus rf_sided_project(RfSided *sided, double *theta, double h) {
  rf_index K = sided->held, P = sided->P, felt = 0;
  if (K == 0) return RF_OK;
  double *step = RF_NEW(double, 2 * (K + P + sided->n)), *other = step + K + P + sided->n;
  if (!step) return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
  for (rf_index i = 0; i < sided->n && h > 0; i++)
    if (sided->seen[i] && sided->p[i] > RF_LAYERED_UNFELT_WEIGHT) sided->felt[felt++] = i;
  RfStatus status = project_step(sided, step, theta, 0, 0);
  if (!status && felt > 0) {
    status = project_step(sided, other, theta, h, felt);
    if (rf_la_norm(other, P) <= RF_LAYERED_ASIDE * rf_la_norm(step, P))
      memcpy(step, other, (size_t)P * sizeof(double));
  }
  if (!status) rf_la_axpy(theta, 1, step, P);
  rf_free(step);
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
  sided->p = RF_NEW(double, n), sided->own = RF_NEW(double, n), sided->top = RF_NEW(double, n *hidden);
  sided->seen = RF_NEW(int8_t, n), sided->open = RF_NEW(int8_t, 3 * sided->width);
  complete = complete && sided->top && sided->seen && sided->open;
  sided->follower = RF_NEW(rf_index, n * hidden), sided->leader = RF_NEW(rf_index, n * hidden);
  sided->turned = RF_NEW_TABLE(int8_t, n, hidden), sided->touched = RF_NEW(rf_index, n),
  sided->lower = RF_NEW(double, P);
  sided->mean = RF_NEW(double, hidden), sided->lower_inputs = RF_NEW(double, sided->width);
  complete = complete && sided->lower && sided->mean && sided->lower_inputs && sided->follower &&
             sided->leader && sided->turned && sided->touched;
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
  for (rf_index at = 0; at < n * hidden; at++) sided->top[at] = 1;
  load_matrices(sided, net->theta);
  /* Sides layer by layer: those below decide what the next layer sees. A unit on its kink starts on the lower
   * side, as phi'(0) = leak says. */
  for (rf_index l = 0; l + 1 < net->n_layers; l++)
    for (rf_index i = 0; i < n; i++) {
      rf_sided_forward(sided, i);
      for (rf_index o = 0; o < net->layers[l].outputs; o++) {
        rf_index h = sided->first[l] + o, at = i * hidden + h;
        sided->side[at] = sided->z[at] > 0 ? 1 : -1;
        sided->slope[at] = rf_sided_slope_of(sided, sided->side[at]);
      }
    }
  return RF_OK;
}
