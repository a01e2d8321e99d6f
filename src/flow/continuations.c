/* The continuations of a neuron on hyperplanes, in the alignment and in the fit. With s = sign(a) it climbs s
 * sum_i c_i phi(w.x_i): a hyperplane with s c_i < 0 is a valley (concave, slopes by the minimum-norm element,
 * a free slope slides: PL Lemma A.3), one with s c_i > 0 a ridge (convex), where a side is consistent when
 * the field that belongs to it points into it. Valleys alone have exactly one continuation, one bounded least
 * squares. Ridge sides are searched depth first; before every decision, interval bounds on s g.x_i over all
 * open choices force or refute sides, so that ordinary points need no decision at all. Existence: the
 * direction of steepest ascent is always a consistent continuation. */
#include "flow/continuations.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

enum {
  SEARCH_ALL = 8,      /* so few ridges are tried without the geometry of the plane */
  SEARCH_RIDGES = 512, /* more ridges than this at one point: ascent only, not every continuation */
  SEARCH_NODES = 2000,
  SEARCH_OPTIONS = 64
};

typedef struct Turn {
  const RfAlignField *field;
  const double *base, *slack; /* slack: NULL, rounding is relative */
  const rf_index *on;
  rf_index n_on, d, n_valley, n_ridge, nodes;
  int sign_a, agreement;                   /* sign of a; of the options kept, see ridge_agrees */
  rf_index *valley, *ridge;                /* positions in `on` */
  double *columns, *low, *high, *free, *f; /* least squares over the valleys */
  double *slope, *g;                       /* n_on, d: of the choice at hand */
  double *wide;                            /* n_on: rounding of s g.x_i, whatever is chosen */
  double *pair;                            /* n_ridge x n_on: s c_j x_i.x_j for ridge i, hyperplane j */
  double *along;                           /* n_ridge: s base.x_i */
  int8_t *choice;                          /* n_ridge: +1, -1, 0 = open */
  rf_index *trail;                         /* decided ridges in order */
  rf_index n_trail;
  RfLeastSquaresWork *work;
  RfContinuations *out;
} Turn;

void rf_continuations_free(RfContinuations *found) {
  if (!found) return;
  rf_free(found->side);
  rf_free(found->slope);
  rf_free(found->g);
  memset(found, 0, sizeof *found);
}

static void turn_free(Turn *turn) {
  rf_free(turn->valley);
  rf_free(turn->columns);
  rf_free(turn->pair);
  rf_free(turn->choice);
  rf_la_least_squares_work_free(turn->work);
}

/* Rounding of s g.x_i over all choices, for bounds. */
static void set_rounding(Turn *turn) {
  const RfAlignField *field = turn->field;
  double sum = turn->slack ? 0 : rf_la_norm(turn->base, turn->d);
  for (rf_index z = 0; z < turn->n_on; z++) {
    double size = turn->slack ? 0 : rf_la_norm(field->X + turn->on[z] * turn->d, turn->d);
    turn->wide[z] = turn->slack ? turn->slack[turn->on[z]] : size;
    sum += fabs(field->c[turn->on[z]]) * size;
  }
  for (rf_index z = 0; z < turn->n_on && !turn->slack; z++)
    turn->wide[z] *= RF_TOL_SIDE * (sum + fabs(field->c[turn->on[z]]) * turn->wide[z]);
}

/* Splits `on` into valleys and ridges and takes all memory at once. */
static RfStatus turn_new(RfContext *context, Turn *turn) {
  rf_index n_on = turn->n_on, d = turn->d;
  turn->valley = RF_NEW(rf_index, 3 * n_on);
  turn->choice = RF_NEW(int8_t, n_on);
  turn->columns = RF_NEW(double, n_on *d + 6 * n_on + 2 * d);
  if (!turn->valley || !turn->choice || !turn->columns)
    return rf_fail(context, RF_ERR_MEMORY, "out of memory at a hyperplane");
  turn->ridge = turn->valley + n_on, turn->trail = turn->ridge + n_on;
  turn->low = turn->columns + n_on * d, turn->high = turn->low + n_on;
  turn->free = turn->high + n_on, turn->along = turn->free + n_on;
  turn->slope = turn->along + n_on, turn->wide = turn->slope + n_on;
  turn->f = turn->wide + n_on, turn->g = turn->f + d;
  for (rf_index z = 0; z < n_on; z++) {
    double tilt = turn->sign_a * turn->field->c[turn->on[z]] * (1 - turn->field->leak);
    if (tilt < 0) turn->valley[turn->n_valley++] = z;
    if (tilt > 0) turn->ridge[turn->n_ridge++] = z;
  }
  for (rf_index v = 0; v < turn->n_valley; v++) {
    rf_index i = turn->on[turn->valley[v]];
    for (rf_index j = 0; j < d; j++) turn->columns[v * d + j] = turn->field->c[i] * turn->field->X[i * d + j];
    turn->low[v] = turn->field->leak, turn->high[v] = 1;
  }
  set_rounding(turn);
  return turn->n_valley > 1 ? rf_la_least_squares_work_new(context, &turn->work, d, turn->n_valley) : RF_OK;
}

/* Slopes of the valleys with the least |g|, where -f is g without them. */
static RfStatus valley_slopes(RfContext *context, Turn *turn) {
  const RfAlignField *field = turn->field;
  rf_index d = turn->d;
  if (turn->n_valley > 1)
    return rf_la_box_least_squares(context, turn->free, NULL, NULL, turn->columns, turn->f, turn->low,
                                   turn->high, d, turn->n_valley, d, turn->work);
  rf_index i = turn->on[turn->valley[0]];
  const double *x = field->X + i * d;
  double square = rf_la_quick_dot(x, x, d); /* without c, whose square may underflow */
  double s = square > 0 ? rf_la_quick_dot(turn->f, x, d) / (field->c[i] * square) : 1;
  turn->free[0] = fmin(1, fmax(field->leak, s));
  return RF_OK;
}

/* -1, +1: the slope of valley v is at this end but for rounding relative to |f|; 0: inside. A small slope on
 * a sample of weight far above the field (a wall) holds the neuron all the same. */
static int8_t end_of_slope(const Turn *turn, rf_index v, double strength) {
  const RfAlignField *field = turn->field;
  rf_index i = turn->on[turn->valley[v]];
  double width = 1 - field->leak, weight = fabs(field->c[i]) * rf_la_norm(field->X + i * turn->d, turn->d);
  double room = RF_TOL_SIDE * fmin(width, weight > 0 ? strength / weight : width), s = turn->free[v];
  return s >= 1 - RF_TOL_SIDE * width ? 1 : s <= field->leak + room ? -1 : 0;
}

/* g and slopes for the ridge sides at hand: valleys take the slopes of least |g|. */
static RfStatus field_of_choice(RfContext *context, Turn *turn) {
  const RfAlignField *field = turn->field;
  rf_index d = turn->d;
  if (d > 0) memcpy(turn->g, turn->base, (size_t)d * sizeof(double));
  for (rf_index r = 0; r < turn->n_ridge; r++) {
    rf_index z = turn->ridge[r], i = turn->on[z];
    turn->slope[z] = turn->choice[r] > 0 ? 1 : field->leak;
    rf_la_axpy(turn->g, field->c[i] * turn->slope[z], field->X + i * d, d);
  }
  if (turn->n_valley == 0) return RF_OK;
  for (rf_index j = 0; j < d; j++) turn->f[j] = -turn->g[j];
  RfStatus status = valley_slopes(context, turn);
  double strength = rf_la_norm(turn->f, d);
  for (rf_index v = 0; v < turn->n_valley && !status; v++) {
    rf_index z = turn->valley[v], i = turn->on[z];
    int8_t end = turn->slack ? 0 : end_of_slope(turn, v, strength);
    turn->slope[z] = end > 0 ? 1 : end < 0 ? field->leak : turn->free[v];
    rf_la_axpy(turn->g, field->c[i] * turn->slope[z], field->X + i * d, d);
  }
  return status;
}

/* s g.x of hyperplane z, 0 where it is rounding: of its terms, which a sample on its inactive side is none
 * of.
 */
static double push(const Turn *turn, rf_index z) {
  const RfAlignField *field = turn->field;
  rf_index i = turn->on[z], d = turn->d;
  const double *x = field->X + i * d;
  double along = turn->sign_a * rf_la_quick_dot(turn->g, x, d), rounding;
  if (turn->slack) {
    rounding = turn->slack[i];
  } else {
    double size = rf_la_norm(x, d);
    rounding = RF_TOL_SIDE * size * (rf_la_norm(turn->g, d) + fabs(field->c[i]) * turn->slope[z] * size);
  }
  return fabs(along) <= rounding ? 0 : along;
}

/* 2: the field points into the side taken; 1: it runs along the hyperplane of a minus side, which is a
 * continuation only where no other exists (rest); 0: neither. */
static int ridge_agrees(const Turn *turn, rf_index r) {
  double p = push(turn, turn->ridge[r]);
  if (turn->choice[r] > 0) return p > 0 ? 2 : 0;
  return p < 0 ? 2 : p == 0 ? 1 : 0;
}

/* The sides of valleys and of samples without a kink; the slopes of the latter, which change nothing. */
static void set_other_sides(Turn *turn, int8_t *side) {
  double leak = turn->field->leak;
  for (rf_index z = 0; z < turn->n_on; z++) {
    double p = push(turn, z), tilt = turn->field->c[turn->on[z]] * (1 - leak);
    if (turn->slack)
      side[z] = (int8_t)((p > 0) - (p < 0));
    else if (tilt == 0)
      side[z] = p > 0 ? 1 : -1;
    else
      side[z] = turn->slope[z] == 1 ? 1 : turn->slope[z] == leak ? -1 : 0;
    if (tilt == 0) turn->slope[z] = side[z] > 0 ? 1 : leak;
  }
}

static bool make_room(RfContinuations *out, rf_index n_on, rf_index d) {
  if (out->count < out->room) return true;
  rf_index room = out->room ? 4 * out->room : 1;
  int8_t *side = rf_resize(out->side, room * n_on + 1, sizeof *side);
  if (side) out->side = side;
  double *slope = side ? rf_resize(out->slope, room * n_on + 1, sizeof *slope) : NULL;
  if (slope) out->slope = slope;
  double *g = slope ? rf_resize(out->g, room * d + 1, sizeof *g) : NULL;
  if (!g) return false;
  out->g = g, out->room = room;
  return true;
}

static RfStatus keep_option(RfContext *context, Turn *turn, int agreement) {
  RfContinuations *out = turn->out;
  rf_index n_on = turn->n_on, d = turn->d;
  if (agreement < turn->agreement) return RF_OK;
  if (agreement > turn->agreement) out->count = 0;
  turn->agreement = agreement;
  if (!make_room(out, n_on, d)) return rf_fail(context, RF_ERR_MEMORY, "out of memory at a branching point");
  int8_t *side = out->side + out->count * n_on;
  set_other_sides(turn, side);
  for (rf_index r = 0; r < turn->n_ridge; r++) side[turn->ridge[r]] = turn->choice[r];
  if (n_on > 0) memcpy(out->slope + out->count * n_on, turn->slope, (size_t)n_on * sizeof(double));
  if (d > 0) memcpy(out->g + out->count * d, turn->g, (size_t)d * sizeof(double));
  out->count++;
  return RF_OK;
}

static void decide(Turn *turn, rf_index r, int8_t side) {
  turn->choice[r] = side;
  turn->trail[turn->n_trail++] = r;
}

static void undo(Turn *turn, rf_index mark) {
  while (turn->n_trail > mark) turn->choice[turn->trail[--turn->n_trail]] = 0;
}

/* Range of s g.x_i over all open slopes except that of ridge r itself (own slope 0). */
static void push_range(const Turn *turn, rf_index r, double *low, double *high) {
  const double *pair = turn->pair + r * turn->n_on;
  double leak = turn->field->leak;
  *low = *high = turn->along[r];
  for (rf_index v = 0; v < turn->n_valley; v++) {
    double p = pair[turn->valley[v]];
    *low += p > 0 ? leak * p : p, *high += p > 0 ? p : leak * p;
  }
  for (rf_index k = 0; k < turn->n_ridge; k++) {
    double p = pair[turn->ridge[k]];
    if (k == r) continue;
    if (turn->choice[k])
      *low += turn->choice[k] > 0 ? p : leak * p, *high += turn->choice[k] > 0 ? p : leak * p;
    else
      *low += p > 0 ? leak * p : p, *high += p > 0 ? p : leak * p;
  }
}

/* In two dimensions: does some direction lie on all sides decided and on this side of ridge r? If any does,
 * one that is orthogonal to a row of them. A direction of the field must. */
static bool plane_allows(Turn *turn, rf_index r, int8_t side) {
  rf_index count = turn->n_trail + 1;
  bool fits = turn->d != 2 || turn->n_ridge <= SEARCH_ALL;
  if (fits) return true;
  turn->choice[r] = side, turn->trail[turn->n_trail] = r;
  for (rf_index k = 0; k < 2 * count && !fits; k++) {
    const double *x = turn->field->X + turn->on[turn->ridge[turn->trail[k / 2]]] * 2;
    fits = true;
    for (rf_index j = 0; j < count && fits; j++) {
      const double *y = turn->field->X + turn->on[turn->ridge[turn->trail[j]]] * 2;
      double left = x[0] * y[1], right = x[1] * y[0], cross = (k % 2 ? -1 : 1) * (left - right);
      fits = turn->choice[turn->trail[j]] * cross >= -RF_TOL_CANCELLED * (fabs(left) + fabs(right));
    }
  }
  turn->choice[r] = 0;
  return fits;
}

/* Decides every open ridge of which only one side can be consistent; false when one has none. Safe against
 * rounding: the final test is ridge_agrees, here the slack only widens what is allowed. */
static bool propagate(Turn *turn) {
  for (bool changed = true; changed;) {
    changed = false;
    for (rf_index r = 0; r < turn->n_ridge; r++) {
      if (turn->choice[r]) continue;
      double low, high, own = turn->pair[r * turn->n_on + turn->ridge[r]];
      double slack = 2 * turn->wide[turn->ridge[r]];
      push_range(turn, r, &low, &high);
      bool plus = high + own > -slack, minus = low + turn->field->leak * own <= slack;
      plus = plus && plane_allows(turn, r, 1), minus = minus && plane_allows(turn, r, -1);
      if (!plus && !minus) return false;
      if (plus && minus) continue;
      decide(turn, r, plus ? 1 : -1);
      changed = true;
    }
  }
  return true;
}

static RfStatus search(RfContext *context, Turn *turn) {
  rf_index mark = turn->n_trail, open = 0;
  RfStatus status = RF_OK;
  if (++turn->nodes > SEARCH_NODES || turn->out->count >= SEARCH_OPTIONS) {
    turn->out->complete = false;
    return RF_OK;
  }
  if (propagate(turn)) {
    while (open < turn->n_ridge && turn->choice[open]) open++;
    if (open < turn->n_ridge) {
      for (int side = 1; side >= -1 && !status; side -= 2) {
        rf_index here = turn->n_trail;
        decide(turn, open, (int8_t)side);
        status = search(context, turn);
        undo(turn, here);
      }
    } else {
      status = field_of_choice(context, turn);
      int agreement = status ? 0 : 2;
      for (rf_index r = 0; agreement && r < turn->n_ridge; r++) {
        int one = ridge_agrees(turn, r);
        if (one < agreement) agreement = one;
      }
      if (agreement) status = keep_option(context, turn, agreement);
    }
  }
  undo(turn, mark);
  return status;
}

static RfStatus search_all(RfContext *context, Turn *turn) {
  const RfAlignField *field = turn->field;
  rf_index d = turn->d;
  turn->pair = RF_NEW_TABLE(double, turn->n_ridge, turn->n_on);
  if (!turn->pair) return rf_fail(context, RF_ERR_MEMORY, "out of memory at a branching point");
  for (rf_index r = 0; r < turn->n_ridge; r++) {
    const double *x = field->X + turn->on[turn->ridge[r]] * d;
    turn->along[r] = turn->sign_a * rf_la_quick_dot(x, turn->base, d);
    for (rf_index z = 0; z < turn->n_on; z++) {
      rf_index j = turn->on[z];
      turn->pair[r * turn->n_on + z] = turn->sign_a * field->c[j] * rf_la_quick_dot(x, field->X + j * d, d);
    }
  }
  return search(context, turn);
}

/* Ascent from all-plus: linearise the convex ridges at the direction at hand, take the minimum-norm field,
 * repeat. The slope of steepest ascent does not decrease, so it ends; used where the search is too large or
 * found nothing. */
static RfStatus ascend(RfContext *context, Turn *turn) {
  for (rf_index r = 0; r < turn->n_ridge; r++) turn->choice[r] = 1;
  RfStatus status = field_of_choice(context, turn);
  for (int round = 0; round < 1000 && !status; round++) {
    rf_index changed = 0;
    for (rf_index r = 0; r < turn->n_ridge; r++) {
      int8_t side = push(turn, turn->ridge[r]) > 0 ? 1 : -1;
      changed += side != turn->choice[r];
      turn->choice[r] = side;
    }
    if (!changed) break;
    status = field_of_choice(context, turn);
  }
  if (status) return status;
  turn->out->complete = false;
  return keep_option(context, turn, 2);
}

RfStatus rf_continuations_distinct(RfContext *context, RfContinuations *found, const RfAlignField *field,
                                   const double *base, const double *slack, const rf_index *on, rf_index n_on,
                                   int sign_a) {
  Turn turn = {.field = field,
               .base = base,
               .slack = slack,
               .on = on,
               .n_on = n_on,
               .d = field->d,
               .sign_a = sign_a,
               .out = found};
  if (found->n_on != n_on) found->room = 0; /* the rows change their length */
  found->count = 0, found->n_on = n_on, found->d = field->d, found->complete = true;
  RfStatus status = turn_new(context, &turn);
  if (!status && turn.n_ridge <= SEARCH_RIDGES) status = search_all(context, &turn);
  if (!status && found->count == 0) status = ascend(context, &turn);
  turn_free(&turn);
  return status;
}
