/* The matrix of derivatives of the velocity of a layered network, exact but for rounding. With the slopes s
 * of the held units, v = sum p_i y_i g_i(theta, s), g_i = df_i and F_k = <dz_k, v> = 0: dv/dtheta at fixed s
 * = sum p_i y_i d2f_i + sum y_i g_i dp_i',   dp_i = p_i (c_i dq_i - sum_j p_j c_j dq_j) with c = d
 * ln(-loss')/dq, and the slopes move such that dF_k = 0. By sides f and z are polynomials: their derivatives
 * are differences of any size, extrapolated where weights are shared. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

typedef struct Derivatives {
  RfSided *sided;
  const double *theta;
  double *J;                      /* P x P */
  double *log_S, *v, *q;          /* P: of ln S ; P ; n */
  double *at, *one;               /* P each */
  double *rows, *scaled;          /* n x P each: y_i df_i, and times p_i c_i */
  double *deltas;                 /* layers x width: of one sample */
  double *way, *after, *next;     /* width x width each: derivatives of one layer by an earlier one */
  double *planes, *bends, *moves; /* held x P each: dz_k ; d2z_k v ; dv/ds_k */
  double *speeds, *column;        /* held x held: dF_k/ds_j ; held */
  double *copy, *size;            /* held x held ; held */
  int32_t *pivot;                 /* held */
} Derivatives;

/* d2z_k v: (4 D(h) - D(2h))/3 of central differences of dz_k along v, exact up to degree 4. */
static void bend(Derivatives *d, rf_index k, double h) {
  rf_index P = d->sided->P;
  double *out = d->bends + k * P;
  memset(out, 0, (size_t)P * sizeof(double));
  for (int step = -2; step <= 2; step++) {
    if (step == 0) continue;
    memcpy(d->at, d->theta, (size_t)P * sizeof(double));
    rf_la_axpy(d->at, step * h, d->v, P);
    rf_sided_plane(d->sided, d->one, k, d->at);
    rf_la_axpy(out, (step % 2 ? 2.0 / 3 * step : -1.0 / 24 * step) / h, d->one, P);
  }
}

/* Row `row` of the matrix, factor times the inputs of layer l at the weights of its output r. */
static void add_row(Derivatives *d, rf_index row, rf_index l, rf_index r, double factor, const double *in) {
  rf_index inputs = d->sided->net->layers[l].inputs;
  const int32_t *index = d->sided->index[l] + r * inputs;
  double *J = d->J + row * d->sided->P;
  if (d->sided->net->layers[l].kind == RF_LAYER_DENSE)
    rf_la_axpy(J + index[0], factor, in, inputs);
  else
    for (rf_index c = 0; c < inputs; c++)
      if (index[c] >= 0) J[index[c]] += factor * in[c];
}

/* weight times d2f_i, below the diagonal blocks (f is linear in every layer): between W_b[o,c] and W_a[r,:],
 * a < b, it is delta_b[o] times the derivative of input c of layer b by z_a[r] times the inputs of layer a.
 */
static void add_hessian(Derivatives *d, rf_index i, double weight) {
  RfSided *sided = d->sided;
  const RfLayeredNet *net = sided->net;
  rf_index depth = net->n_layers, width = sided->width;
  const double *slope = sided->slope + i * sided->hidden;
  rf_sided_deltas(sided, d->deltas, i, weight);
  for (rf_index a = 0; a + 1 < depth; a++) {
    rf_index outs = net->layers[a].outputs;
    const double *in = sided->activation + a * width;
    memset(d->way, 0, (size_t)(width * outs) * sizeof(double));
    for (rf_index r = 0; r < outs; r++) d->way[r * outs + r] = 1;
    for (rf_index b = a + 1; b < depth; b++) {
      const RfLayer *layer = &net->layers[b];
      const double *delta = d->deltas + b * width;
      for (rf_index c = 0; c < layer->inputs; c++)
        for (rf_index r = 0; r < outs; r++)
          d->after[c * outs + r] = slope[sided->first[b - 1] + c] * d->way[c * outs + r];
      for (rf_index e = 0; e < layer->outputs * layer->inputs; e++) {
        rf_index row = sided->index[b][e], c = e % layer->inputs;
        double from = delta[e / layer->inputs];
        for (rf_index r = 0; r < outs && row >= 0 && from != 0; r++)
          if (d->after[c * outs + r] != 0) add_row(d, row, a, r, from * d->after[c * outs + r], in);
      }
      rf_la_product_nn(d->next, sided->matrix[b], d->after, layer->outputs, outs, layer->inputs);
      if (layer->residual) rf_la_axpy(d->next, 1, d->way, layer->outputs * outs);
      double *swap = d->way;
      d->way = d->next, d->next = swap;
    }
  }
}

/* The same over all ways past the kinks of the sample. */
static void add_hessians(Derivatives *d, rf_index i, double weight) {
  RfSidedCells cells;
  rf_sided_cells(d->sided, &cells, i);
  for (rf_index c = 0; c < cells.count; c++) add_hessian(d, i, weight * rf_sided_cell(d->sided, &cells, c));
  rf_sided_cells_end(d->sided, &cells);
}

/* d ln(-loss')/dq. */
static double rate(RfLoss loss, double q) { return loss == RF_LOSS_EXP ? -1 : -1 / (1 + exp(-q)); }

static void mirror(double *J, rf_index P) {
  for (rf_index r = 0; r < P; r++)
    for (rf_index c = 0; c < r; c++) J[c * P + r] = J[r * P + c];
}

/* At fixed slopes. */
static void fixed_slopes(Derivatives *d) {
  RfSided *sided = d->sided;
  rf_index P = sided->P, n = sided->n, felt = 0;
  for (rf_index i = 0; i < n; i++)
    if (sided->p[i] > RF_LAYERED_UNFELT_WEIGHT) add_hessians(d, i, sided->p[i] * sided->y[i]);
  mirror(d->J, P);
  for (rf_index i = 0; i < n; i++) {
    if (!(sided->p[i] > RF_LAYERED_UNFELT_WEIGHT)) continue;
    double *row = d->rows + felt * P, *scaled = d->scaled + felt++ * P;
    double factor =
        sided->seen[i] ? sided->p[i] * rate(sided->loss, d->q[i]) : 0; /* a wall stays where it is */
    memset(row, 0, (size_t)P * sizeof(double));
    rf_sided_add_output(sided, row, i, sided->y[i]);
    rf_la_axpy(d->log_S, factor, row, P);
    for (rf_index p = 0; p < P; p++) scaled[p] = factor * row[p];
  }
  rf_la_add_product_tn(d->J, d->rows, d->scaled, P, P, felt);
  for (rf_index r = 0; r < P; r++) rf_la_axpy(d->J + r * P, -d->v[r], d->log_S, P);
}

/* Rows of the speeds at their own size, as where slopes are sought: into copy. size (K). */
static void scaled_speeds(const Derivatives *d, double *copy, double *size) {
  rf_index K = d->sided->held;
  double largest = rf_la_max_abs(d->speeds, K * K);
  for (rf_index r = 0; r < K; r++) {
    size[r] = fmax(rf_la_max_abs(d->speeds + r * K, K), RF_LAYERED_ROW * largest);
    for (rf_index c = 0; c < K; c++) copy[r * K + c] = size[r] > 0 ? d->speeds[r * K + c] / size[r] : 0;
  }
}

/* -bends <- inverse of the speeds times bends, column by column; of least norm where units are dependent,
 * more of them than the planes leave room for. false when there is none. */
static bool solve_speeds(Derivatives *d) {
  rf_index P = d->sided->P, K = d->sided->held, rank;
  double least = INFINITY, most = 0;
  scaled_speeds(d, d->copy, d->size);
  bool regular = rf_la_lu(d->copy, d->pivot, K);
  for (rf_index k = 0; k < K && regular; k++) {
    double pivot = fabs(d->copy[k * K + k]);
    least = fmin(least, pivot), most = fmax(most, pivot);
  }
  regular = regular && least > RF_LAYERED_RANK * most;
  for (rf_index p = 0; p < P; p++) {
    for (rf_index k = 0; k < K; k++) d->column[k] = d->size[k] > 0 ? d->bends[k * P + p] / d->size[k] : 0;
    if (regular)
      rf_la_lu_solve(d->copy, d->pivot, d->column, K);
    else {
      scaled_speeds(d, d->copy, d->size);
      if (rf_la_least_squares(d->sided->context, d->copy, d->column, K, K, RF_LAYERED_RANK, &rank))
        return false;
    }
    for (rf_index k = 0; k < K; k++) d->bends[k * P + p] = -d->column[k];
  }
  return true;
}

/* J += sum_k dv/ds_k ds_k, where the slopes follow from dF = 0; false when they do not. */
static bool moving_slopes(Derivatives *d) {
  RfSided *sided = d->sided;
  rf_index P = sided->P, K = sided->held;
  double speed = rf_la_norm(d->v, P), h = rf_la_norm(d->theta, P);
  rf_sided_slope_derivatives(sided, d->planes, d->moves, d->speeds, d->v);
  for (rf_index e = 0; e < K * K; e++)
    if (!isfinite(d->speeds[e])) return false;
  for (rf_index k = 0; k < K && speed > 0; k++) bend(d, k, h / speed);
  for (rf_index k = 0; k < K; k++) /* dF_k/dtheta at fixed slopes */
    rf_la_combine_add(d->bends + k * P, 1, d->J, d->planes + k * P, P, P, P);
  if (!solve_speeds(d)) return false;
  rf_la_add_product_tn(d->J, d->moves, d->bends, P, P, K);
  return true;
}

RfStatus rf_sided_jacobian(RfSided *sided, double *J, double *log_S, double *v, const double *theta,
                           bool *known) {
  rf_index P = sided->P, n = sided->n, K = sided->held;
  rf_index square = sided->width * sided->width, deltas = sided->net->n_layers * sided->width;
  double *memory =
      RF_NEW(double, 2 * P + n + 2 * n * P + deltas + 3 * square + 3 * K * P + 2 * K * K + 2 * K);
  int32_t *pivot = RF_NEW(int32_t, K + 1);
  RfStatus status =
      memory && pivot ? RF_OK : rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a stiff step");
  memset(J, 0, (size_t)(P * P) * sizeof(double));
  memset(log_S, 0, (size_t)P * sizeof(double));
  if (!status) {
    Derivatives d = {.sided = sided, .theta = theta, .J = J, .log_S = log_S, .v = v, .pivot = pivot};
    d.at = memory, d.one = d.at + P, d.q = d.one + P, d.rows = d.q + n, d.scaled = d.rows + n * P;
    d.deltas = d.scaled + n * P, d.way = d.deltas + deltas, d.after = d.way + square;
    d.next = d.after + square, d.planes = d.next + square;
    d.bends = d.planes + K * P, d.moves = d.bends + K * P, d.speeds = d.moves + K * P;
    d.copy = d.speeds + K * K, d.column = d.copy + K * K, d.size = d.column + K;
    rf_sided_velocity(sided, v, d.q, theta);
    fixed_slopes(&d);
    *known = K == 0 || (!sided->lost && moving_slopes(&d));
  }
  rf_free(memory), rf_free(pivot);
  return status;
}

RfStatus rf_sided_hessian(RfSided *sided, double *H, const double *weights, const double *theta) {
  rf_index P = sided->P, n = sided->n, square = sided->width * sided->width;
  double *memory = RF_NEW(double, n + sided->net->n_layers * sided->width + 3 * square);
  memset(H, 0, (size_t)(P * P) * sizeof(double));
  if (!memory) return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for second derivatives");
  Derivatives d = {.sided = sided, .theta = theta, .J = H, .q = memory};
  d.deltas = d.q + n, d.way = d.deltas + sided->net->n_layers * sided->width;
  d.after = d.way + square, d.next = d.after + square;
  rf_sided_outputs(sided, d.q, NULL, theta);
  for (rf_index i = 0; i < n; i++)
    if (weights[i] != 0) add_hessians(&d, i, weights[i]);
  mirror(H, P);
  rf_free(memory);
  return RF_OK;
}

void rf_sided_slope_change(RfSided *sided, double *change, rf_index k, const double *weights) {
  rf_index count = rf_sided_touched(sided, k);
  memset(change, 0, (size_t)sided->P * sizeof(double));
  for (int up = 0; up < 2; up++) {
    rf_sided_put_slope(sided, k, sided->held_slope[k] + (up ? 0.5 : -0.5));
    for (rf_index t = 0; t < count; t++) {
      rf_index i = sided->touched[t];
      if (weights[i] != 0) rf_sided_add_output(sided, change, i, up ? weights[i] : -weights[i]);
    }
  }
  rf_sided_put_slope(sided, k, sided->held_slope[k]);
}
