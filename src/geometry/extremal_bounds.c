/* Strict local maxima of a kink function by branch and bound on inner products. At a maximum w there are s_h
 * in [0,1] with g = linear + sum kappa_h s_h u_h = G(w) w, where s_h = 1 (0) when u_h.w > 0 (< 0). Intervals
 * for the s_h give intervals for the u_h.g, and those exclude choices of s_h.
 *
 * Rising search, G(w) > 0: u_h.g has the sign of u_h.w. Given the others, a kink with kappa_h < 0 has exactly
 * one consistent s_h, so only kinks with kappa_h > 0 are branched on; once these are fixed, g is the shortest
 * vector of the zonotope of the rest, one bounded least squares problem.
 *
 * Falling search, G(w) <= 0 (only where the rows span the space): u_h.g has the opposite sign or is 0, and at
 * least dim-1 independent kinks with kappa_h < 0 pass through w, each with s_h inside (0,1). Branch on the
 * kinks that can be among these; dim-1 of them give w up to sign. On orthogonally separable data the first
 * intervals exclude all. */
#include "extremal_internal.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { plus = 1, minus = 2, through = 4 }; /* what a kink may still be: s = 1, s = 0, or w lies on it */

static const double interior =
    1e-9; /* falling search: s_h of a kink through w is in [interior, 1 - interior] */
enum { max_rounds = 40, full_table = 3000, table_rows = 128 };

/* One node: everything that branching changes. */
typedef struct Node {
  double *low, *high;       /* of s_h */
  double *least, *greatest; /* of u_h . g */
  uint8_t *may;
} Node;

typedef struct Bounds {
  RfContext *context;
  RfMaxima *maxima;
  const RfKinks *kinks;
  rf_index count, dim;
  double *gram; /* count x count inner products; or `kept` rows at a time when that is too large */
  rf_index kept;
  double *frame;  /* falling: orthonormal vectors of the kinks taken to pass through w */
  double epsilon; /* rounding of u_h . g */
  bool falling;
  rf_index nodes, limit;
} Bounds;

static void node_free(Node *node) {
  rf_free(node->low);
  rf_free(node->may);
  *node = (Node){0};
}

static RfStatus node_new(RfContext *context, Node *node, rf_index count) {
  double *block = RF_NEW(double, 4 * count);
  *node = (Node){.low = block, .may = RF_NEW(uint8_t, count)};
  if (!block || !node->may) {
    node_free(node);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for %lld kinks", (long long)count);
  }
  node->high = block + count;
  node->least = block + 2 * count;
  node->greatest = block + 3 * count;
  return RF_OK;
}

static RfStatus node_copy(RfContext *context, Node *out, const Node *node, rf_index count) {
  RfStatus status = node_new(context, out, count);
  if (status) return status;
  memcpy(out->low, node->low, (size_t)(4 * count) * sizeof(double));
  memcpy(out->may, node->may, (size_t)count);
  return RF_OK;
}

/* Inner products of u_j with all others; without the full table this overwrites its first row. */
static const double *gram_row(const Bounds *bounds, rf_index j) {
  if (bounds->kept == bounds->count) return bounds->gram + j * bounds->count;
  const double *normal = bounds->kinks->normals.normal;
  rf_la_apply(bounds->gram, normal, normal + j * bounds->dim, bounds->count, bounds->dim, bounds->dim);
  return bounds->gram;
}

/* Narrows s_j and moves the intervals of all u_i . g. */
static void narrow(const Bounds *bounds, Node *node, rf_index j, double low, double high) {
  double kappa = bounds->kinks->kappa[j], up = kappa * (low - node->low[j]),
         down = kappa * (high - node->high[j]);
  const double *row = gram_row(bounds, j);
  node->low[j] = low;
  node->high[j] = high;
  /* the term gram_ij kappa_j s_j: with gram_ij kappa_j > 0 its least value is at low, else at high */
  for (rf_index i = 0; i < bounds->count; i++) {
    double at_low = row[i] * up, at_high = row[i] * down;
    bool rises = row[i] * kappa > 0;
    node->least[i] += rises ? at_low : at_high;
    node->greatest[i] += rises ? at_high : at_low;
  }
}

/* Everything open for kink i: row = its inner products with all kinks. */
static void open_kink(const Bounds *bounds, Node *node, rf_index i, const double *row) {
  const RfKinks *kinks = bounds->kinks;
  double fixed = rf_la_dot(kinks->linear, kinks->normals.normal + i * bounds->dim, bounds->dim), below = 0,
         above = 0;
  for (rf_index j = 0; j < bounds->count; j++) {
    double term = row[j] * kinks->kappa[j];
    below += term < 0 ? term : 0;
    above += term > 0 ? term : 0;
  }
  node->low[i] = 0;
  node->high[i] = 1;
  node->least[i] = fixed + below;
  node->greatest[i] = fixed + above;
  bool can_pass =
      kinks->kappa[i] < 0; /* a kink with kappa > 0 through w shows up as plus or minus with u.g = 0 */
  node->may[i] = (uint8_t)(plus | minus | (can_pass ? through : 0));
}

static RfStatus root_new(Bounds *bounds, Node *node) {
  rf_index count = bounds->count, dim = bounds->dim;
  const double *normal = bounds->kinks->normals.normal;
  RfStatus status = node_new(bounds->context, node, count);
  if (status) return status;
  for (rf_index i = 0; i < count; i += bounds->kept) {
    rf_index rows = count - i < bounds->kept ? count - i : bounds->kept;
    rf_la_product_nt(bounds->gram, normal + i * dim, normal, rows, count, dim);
    for (rf_index k = 0; k < rows; k++) open_kink(bounds, node, i + k, bounds->gram + k * count);
    if (rf_context_stop(bounds->context)) return RF_INTERRUPTED;
  }
  return RF_OK;
}

/* ---- propagation -------------------------------------------------------------------------------- */

/* Range of u_h . g without the kink's own term. */
static void rest(const Bounds *bounds, const Node *node, rf_index h, double *least, double *greatest) {
  double kappa = bounds->kinks->kappa[h], a = kappa * node->low[h], b = kappa * node->high[h];
  *least = node->least[h] - fmin(a, b);
  *greatest = node->greatest[h] - fmax(a, b);
}

/* Rising, kappa < 0: s = (rest / |kappa|) cut off to [0,1], an increasing function of the rest. */
static bool settle_concave(const Bounds *bounds, Node *node, rf_index h, bool *changed) {
  double least, greatest, size = -bounds->kinks->kappa[h], wide = bounds->epsilon / size;
  rest(bounds, node, h, &least, &greatest);
  double low = fmax(node->low[h], fmin(1, fmax(0, least / size - wide)));
  double high = fmin(node->high[h], fmin(1, fmax(0, greatest / size + wide)));
  if (least >= -bounds->epsilon + size) low = 1; /* s = 1 even if the rest is at its least */
  if (greatest <= bounds->epsilon) high = 0;
  if (low > high) {
    if (low > high + 2 * wide) return false;
    low = high = fmin(1, fmax(0, (low + high) / 2));
  }
  if (low == node->low[h] && high == node->high[h]) return true;
  double shrink = (node->high[h] - node->low[h]) - (high - low);
  if (shrink < 1e-3 * (node->high[h] - node->low[h]) && low < high) return true;
  narrow(bounds, node, h, low, high);
  *changed = true;
  return true;
}

/* What kink h may still be, from the intervals. */
static uint8_t possible(const Bounds *bounds, const Node *node, rf_index h) {
  double least, greatest, kappa = bounds->kinks->kappa[h], epsilon = bounds->epsilon;
  uint8_t may = node->may[h];
  rest(bounds, node, h, &least, &greatest);
  if (!bounds->falling) {
    if (greatest + kappa < -epsilon) may &= (uint8_t)~plus;
    if (least >= -epsilon) may &= (uint8_t)~minus; /* u.g = 0 is covered by plus */
    return may;
  }
  if (least + kappa > epsilon) may &= (uint8_t)~plus;
  if (greatest < -epsilon) may &= (uint8_t)~minus;
  if (kappa > 0 || least + kappa * (1 - interior) > epsilon || greatest + kappa * interior < -epsilon)
    may &= (uint8_t)~through;
  return may;
}

/* Applies what is left of `may` to the interval of s_h. */
static bool settle_choice(const Bounds *bounds, Node *node, rf_index h, bool *changed) {
  uint8_t may = possible(bounds, node, h);
  if (may == 0) return false;
  double low = may == plus ? 1 : may == through ? interior : 0;
  double high = may == minus ? 0 : may == through ? 1 - interior : 1;
  *changed |= may != node->may[h];
  node->may[h] = may;
  if (low > node->low[h] || high < node->high[h])
    narrow(bounds, node, h, fmax(low, node->low[h]), fmin(high, node->high[h]));
  return true;
}

static rf_index count_through(const Bounds *bounds, const Node *node) {
  rf_index count = 0;
  for (rf_index h = 0; h < bounds->count; h++) count += (node->may[h] & through) != 0;
  return count;
}

/* false: nothing in this node. */
static bool propagate(const Bounds *bounds, Node *node) {
  bool changed = true;
  for (int round = 0; changed && round < max_rounds; round++) {
    changed = false;
    for (rf_index h = 0; h < bounds->count; h++) {
      bool concave = bounds->kinks->kappa[h] < 0;
      bool fine = concave && !bounds->falling ? settle_concave(bounds, node, h, &changed)
                                              : settle_choice(bounds, node, h, &changed);
      if (!fine) return false;
    }
    if (bounds->falling && count_through(bounds, node) < bounds->dim - 1) return false;
  }
  return true;
}

/* ---- leaves ------------------------------------------------------------------------------------- */

/* All kinks with kappa > 0 are fixed: g is the shortest vector over the remaining s, by bounded least
 * squares. */
static RfStatus rising_leaf(Bounds *bounds, const Node *node) {
  const RfKinks *kinks = bounds->kinks;
  rf_index dim = bounds->dim, open = 0;
  RfLeastSquaresInfo info;
  RfStatus status = RF_OK;
  for (rf_index h = 0; h < bounds->count; h++) open += node->low[h] < node->high[h];
  double *columns = RF_NEW(double, open *dim), *s = RF_NEW(double, 3 * open),
         *g = rf_copy_doubles(kinks->linear, dim);
  double *short_g = RF_NEW(double, dim);
  if (!columns || !s || !g || !short_g) {
    status = rf_fail(bounds->context, RF_ERR_MEMORY, "out of memory for a leaf");
    goto done;
  }
  double *low = s + open, *high = s + 2 * open;
  open = 0;
  for (rf_index h = 0; h < bounds->count; h++) {
    const double *u = kinks->normals.normal + h * dim;
    if (node->low[h] < node->high[h]) {
      for (rf_index k = 0; k < dim; k++) columns[open * dim + k] = -kinks->kappa[h] * u[k];
      low[open] = 0;
      high[open++] = 1;
    } else if (node->low[h] != 0) {
      rf_la_axpy(g, kinks->kappa[h] * node->low[h], u, dim);
    }
  }
  if (open > 0) { /* residual g - sum (-kappa u) s */
    status = rf_la_box_least_squares(bounds->context, s, short_g, &info, columns, g, low, high, dim, open,
                                     dim, NULL);
    memcpy(g, short_g, (size_t)dim * sizeof *g);
  }
  if (!status && rf_la_norm(g, dim) > bounds->epsilon)
    status = rf_maxima_offer(bounds->context, bounds->maxima, g);
done:
  rf_free(columns);
  rf_free(s);
  rf_free(g);
  rf_free(short_g);
  return status;
}

/* The kinks in frame (dim-1 orthonormal vectors) leave one line. */
static RfStatus falling_leaf(Bounds *bounds) {
  rf_index dim = bounds->dim, best = 0;
  double *w = RF_NEW(double, dim), room = -1;
  if (!w) return rf_fail(bounds->context, RF_ERR_MEMORY, "out of memory for a direction");
  for (rf_index k = 0; k < dim; k++) { /* the unit vector that the frame covers least */
    double covered = 0;
    for (rf_index j = 0; j < dim - 1; j++) covered += bounds->frame[j * dim + k] * bounds->frame[j * dim + k];
    if (1 - covered > room) room = 1 - covered, best = k;
  }
  w[best] = 1;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index j = 0; j < dim - 1; j++)
      rf_la_axpy(w, -rf_la_dot(w, bounds->frame + j * dim, dim), bounds->frame + j * dim, dim);
  RfStatus status = rf_maxima_offer(bounds->context, bounds->maxima, w);
  rf_la_scale(w, -1, dim);
  if (!status) status = rf_maxima_offer(bounds->context, bounds->maxima, w);
  rf_free(w);
  return status;
}

/* ---- branching ---------------------------------------------------------------------------------- */

/* The open choice with the largest weight, -1 when all are made. */
static rf_index branching_kink(const Bounds *bounds, const Node *node) {
  rf_index best = -1;
  for (rf_index h = 0; h < bounds->count; h++) {
    uint8_t may = node->may[h];
    bool open = bounds->falling ? (may & through) && may != through
                                : bounds->kinks->kappa[h] > 0 && may == (plus | minus);
    if (open && (best < 0 || fabs(bounds->kinks->kappa[h]) > fabs(bounds->kinks->kappa[best]))) best = h;
  }
  return best;
}

/* Adds u_h to the frame; false when it depends on what is there. */
static bool extend_frame(const Bounds *bounds, rf_index taken, rf_index h) {
  rf_index dim = bounds->dim;
  double *v = bounds->frame + taken * dim;
  memcpy(v, bounds->kinks->normals.normal + h * dim, (size_t)dim * sizeof *v);
  for (int pass = 0; pass < 2; pass++)
    for (rf_index j = 0; j < taken; j++)
      rf_la_axpy(v, -rf_la_dot(v, bounds->frame + j * dim, dim), bounds->frame + j * dim, dim);
  double norm = rf_la_norm(v, dim);
  if (norm <= bounds->context->tol.zero) return false;
  rf_la_scale(v, 1 / norm, dim);
  return true;
}

/* The frame of all kinks that are settled to pass through w. */
static rf_index build_frame(const Bounds *bounds, const Node *node) {
  rf_index taken = 0;
  for (rf_index h = 0; h < bounds->count && taken < bounds->dim - 1; h++)
    if (node->may[h] == through) taken += extend_frame(bounds, taken, h);
  return taken;
}

static RfStatus visit_node(Bounds *bounds, Node *node) {
  if (++bounds->nodes > bounds->limit) {
    bounds->maxima->complete = false;
    return RF_OK;
  }
  if (rf_context_stop(bounds->context)) return RF_INTERRUPTED;
  if (!propagate(bounds, node)) return RF_OK;
  if (bounds->falling && build_frame(bounds, node) == bounds->dim - 1) return falling_leaf(bounds);
  rf_index h = branching_kink(bounds, node);
  if (h < 0) return bounds->falling ? RF_OK : rising_leaf(bounds, node);
  RfStatus status = RF_OK;
  for (unsigned choice = plus; choice <= through && !status; choice *= 2) {
    Node child;
    if (!(node->may[h] & choice)) continue;
    status = node_copy(bounds->context, &child, node, bounds->count);
    if (status) break;
    child.may[h] = (uint8_t)choice;
    status = visit_node(bounds, &child);
    node_free(&child);
  }
  return status;
}

RfStatus rf_extremal_bounds(RfContext *context, RfMaxima *maxima, rf_index node_limit) {
  const RfKinks *kinks = maxima->kinks;
  rf_index count = kinks->normals.count, dim = kinks->normals.dim, entries = 0;
  Bounds bounds = {.context = context,
                   .maxima = maxima,
                   .kinks = kinks,
                   .count = count,
                   .dim = dim,
                   .epsilon = DBL_EPSILON * (16 + 2 * sqrt((double)count)) * kinks->scale,
                   .limit = node_limit};
  bounds.kept = count <= full_table ? count : table_rows;
  bool fits = rf_multiply_sizes(&entries, bounds.kept, count);
  bounds.gram = fits ? RF_NEW(double, entries) : NULL;
  bounds.frame = RF_NEW(double, dim *dim);
  RfStatus status = RF_OK;
  if (!bounds.gram || !bounds.frame) {
    status =
        rf_fail(context, RF_ERR_MEMORY, "out of memory for inner products of %lld kinks", (long long)count);
    goto done;
  }
  for (int falling = 0; falling <= (kinks->solid ? 1 : 0) && !status; falling++) {
    Node root = {0};
    bounds.falling = falling;
    maxima->nodes += bounds.nodes;
    bounds.nodes = 0;
    status = root_new(&bounds, &root);
    if (!status) status = visit_node(&bounds, &root);
    node_free(&root);
  }
  maxima->nodes += bounds.nodes;
done:
  if (status) maxima->complete = false;
  rf_free(bounds.gram);
  rf_free(bounds.frame);
  return status;
}
