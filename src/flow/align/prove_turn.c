/* The continuations of a neuron on hyperplanes, every sign decided (continuations.c has the words). For each
 * choice of sides of the ridges the valleys take the slopes of least |g|, a convex problem with one field as
 * its answer: a guess of which slopes are free, found in floating point or by trying all, is accepted when
 * its optimality conditions hold. A choice is a continuation when the field points into every side that it
 * took.
 */
#include "flow/align/prove_internal.h"

#include "la/la.h"

#include <string.h>

enum { MOST_PAIRS = 100000, MOST_CHOICES = 5000, MOST_VALLEYS = 7 };
enum { LOW = 0, HIGH = 1, FREE = 2 };
enum { NO = 0, YES = 1, UNKNOWN = 2 };

static arb_srcptr row(const RfProvedPath *path, rf_index i) { return path->X + i * path->d; }

/* drive += c_i slope x_i */
static void add_drive(RfProvedPath *path, rf_index i, bool active) {
  arb_t weight;
  arb_init(weight);
  arb_set(weight, path->c + i);
  if (!active) arb_mul(weight, weight, path->leak, path->bits);
  for (rf_index j = 0; j < path->d; j++) arb_addmul(path->drive + j, row(path, i) + j, weight, path->bits);
  arb_clear(weight);
}

/* drive = what the samples off the hyperplanes give. */
static void fresh_drive(RfProvedPath *path) {
  _arb_vec_zero(path->drive, path->d);
  for (rf_index i = 0; i < path->n; i++)
    if (path->side[i] != 0 || path->field->leak == 1) add_drive(path, i, path->side[i] > 0);
}

void rf_prove_field(RfProvedPath *path) {
  fresh_drive(path);
  _arb_vec_set(path->g, path->drive, path->d);
  path->rank = 0;
}

/* ---- hyperplanes --------------------------------------------------------------------------- */

/* Exact: the rows are doubles. */
int rf_prove_parallel(const RfProvedPath *path, rf_index i, rf_index k) {
  arb_srcptr x = row(path, i), y = row(path, k);
  rf_index pivot = 0;
  arb_t left, right;
  while (pivot < path->d - 1 && arb_is_zero(y + pivot)) pivot++;
  int sign = arf_sgn(arb_midref(x + pivot)) * arf_sgn(arb_midref(y + pivot));
  arb_init(left), arb_init(right);
  for (rf_index j = 0; j < path->d && sign; j++) {
    arb_mul(left, x + j, y + pivot, ARF_PREC_EXACT);
    arb_mul(right, x + pivot, y + j, ARF_PREC_EXACT);
    if (!arb_equal(left, right)) sign = 0;
  }
  arb_clear(left), arb_clear(right);
  return sign;
}

/* Sign of sum c_i |x_i| over the samples of a plane: what phi makes of its kink. */
static int kink_sign(const RfProvedPath *path, rf_index plane) {
  arb_srcptr v = row(path, path->plane[plane]);
  rf_index pivot = 0;
  arb_t sum, part;
  while (arb_is_zero(v + pivot)) pivot++;
  arb_init(sum), arb_init(part);
  for (rf_index z = 0; z < path->n_on; z++) {
    if (path->member[z] != plane) continue;
    arb_abs(part, row(path, path->on[z]) + pivot);
    arb_addmul(sum, part, path->c + path->on[z], ARF_PREC_EXACT);
  }
  int sign = arf_sgn(arb_midref(sum));
  arb_clear(sum), arb_clear(part);
  return sign;
}

/* The planes of on[0..n_on), and which of them are valleys and ridges for this sign of a. */
static void find_planes(RfProvedPath *path) {
  path->n_plane = path->n_valley = path->n_ridge = 0;
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index k = 0;
    int orient = 0;
    while (k < path->n_plane && (orient = rf_prove_parallel(path, path->on[z], path->plane[k])) == 0) k++;
    if (k == path->n_plane) path->plane[path->n_plane++] = path->on[z], orient = 1;
    path->member[z] = k, path->orient[z] = (int8_t)orient;
  }
  for (rf_index k = 0; k < path->n_plane; k++) {
    int tilt = path->sign * kink_sign(path, k);
    if (tilt < 0) path->valley[path->n_valley++] = k;
    if (tilt > 0) path->ridge[path->n_ridge++] = k;
    path->tilt[k] = (int8_t)tilt;
  }
}

/* drive += what the samples of a plane give on this side of it. */
static void add_plane(RfProvedPath *path, rf_index plane, int side) {
  for (rf_index z = 0; z < path->n_on; z++)
    if (path->member[z] == plane) add_drive(path, path->on[z], side * path->orient[z] > 0);
}

/* out = v . (what add_plane adds). */
static void plane_along(arb_t out, const RfProvedPath *path, arb_srcptr v, rf_index plane, int side) {
  arb_t part;
  arb_init(part);
  arb_zero(out);
  for (rf_index z = 0; z < path->n_on; z++) {
    if (path->member[z] != plane) continue;
    rf_prove_dot(part, path, v, row(path, path->on[z]));
    arb_mul(part, part, path->c + path->on[z], path->bits);
    if (side * path->orient[z] < 0) arb_mul(part, part, path->leak, path->bits);
    arb_add(out, out, part, path->bits);
  }
  arb_clear(part);
}

/* ---- one choice of ridges ------------------------------------------------------------------ */

/* Is the slope of free valley z inside [leak, 1]? With p the part of its row orthogonal to the other free
 * rows: on either side of the plane the field points back to it, as far as p sees. */
static int slope_inside(RfProvedPath *path, rf_index z) {
  rf_index plane = path->valley[z], rank = 0;
  arb_ptr others = path->work, p = path->basis; /* the basis is rebuilt by the caller */
  arb_t along, own;
  arb_init(along), arb_init(own);
  for (rf_index k = 0; k < path->n_valley; k++)
    if (k != z && path->state[k] == FREE)
      rf_prove_extend(path, others, &rank, row(path, path->plane[path->valley[k]]));
  _arb_vec_set(p, row(path, path->plane[plane]), path->d);
  rf_prove_project(path, p, others, rank);
  int answer = YES;
  for (int side = -1; side <= 1 && answer == YES; side += 2) {
    rf_prove_dot(along, path, path->drive, p);
    plane_along(own, path, p, plane, side);
    arb_add(along, along, own, path->bits);
    int pushed = path->sign * rf_prove_sign(path, along);
    answer = path->undecided ? UNKNOWN : side * pushed <= 0 ? YES : NO;
  }
  arb_clear(along), arb_clear(own);
  return answer;
}

/* sign(a) g.v for the row v of a plane */
static int push(RfProvedPath *path, rf_index plane) {
  arb_t value;
  arb_init(value);
  rf_prove_dot(value, path, path->g, row(path, path->plane[plane]));
  int sign = path->sign * rf_prove_sign(path, value);
  arb_clear(value);
  return sign;
}

static int check_guess(RfProvedPath *path) {
  int answer = YES;
  for (rf_index z = 0; z < path->n_valley; z++)
    if (path->state[z] != FREE) add_plane(path, path->valley[z], path->state[z] == HIGH ? 1 : -1);
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++)
    if (path->state[z] == FREE) answer = slope_inside(path, z);
  path->rank = 0;
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++)
    if (path->state[z] == FREE &&
        !rf_prove_extend(path, path->basis, &path->rank, row(path, path->plane[path->valley[z]])))
      answer = path->undecided ? UNKNOWN : NO;
  if (answer != YES) return answer;
  _arb_vec_set(path->g, path->drive, path->d);
  rf_prove_project(path, path->g, path->basis, path->rank);
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++) {
    if (path->state[z] == FREE) continue;
    int pushed = push(path, path->valley[z]);
    if (path->undecided)
      answer = UNKNOWN;
    else if (path->state[z] == HIGH ? pushed < 0 : pushed > 0)
      answer = NO;
  }
  return answer;
}

/* One guess, from the drive of the ridges at hand, which is put back unless the guess is right. */
static int try_guess(RfProvedPath *path) {
  arb_ptr before = _arb_vec_init(path->d);
  _arb_vec_set(before, path->drive, path->d);
  int answer = check_guess(path);
  path->undecided = false;
  if (answer != YES) _arb_vec_set(path->drive, before, path->d);
  _arb_vec_clear(before, path->d);
  return answer;
}

/* The guess of floating point: slopes at the ends of [leak, 1] and free ones. A plane gives LOW + (s - leak)
 * column with column = sum c_i (+-x_i). */
static bool guess_states(RfContext *context, RfProvedPath *path) {
  const RfAlignField *field = path->field;
  rf_index d = path->d, count = path->n_valley;
  double *columns = RF_NEW(double, count *d + 3 * count + d);
  double *low = columns + count * d, *high = low + count, *slope = high + count, *f = slope + count;
  bool found = false;
  if (!columns) return false;
  for (rf_index j = 0; j < d; j++) f[j] = -arf_get_d(arb_midref(path->drive + j), ARF_RND_NEAR);
  for (rf_index v = 0; v < count; v++) {
    low[v] = field->leak, high[v] = 1;
    for (rf_index z = 0; z < path->n_on; z++) {
      if (path->member[z] != path->valley[v]) continue;
      double c = field->c[path->on[z]], orient = path->orient[z];
      for (rf_index j = 0; j < d; j++) {
        double x = c * field->X[path->on[z] * d + j];
        columns[v * d + j] += orient * x;
        f[j] -= ((orient > 0 ? field->leak : 1) - field->leak * orient) * x;
      }
    }
  }
  RfContext quiet = *context;
  if (rf_la_box_least_squares(&quiet, slope, NULL, NULL, columns, f, low, high, d, count, d, NULL) == RF_OK) {
    for (rf_index v = 0; v < count; v++)
      path->state[v] = (int8_t)(slope[v] <= low[v] ? LOW : slope[v] >= 1 ? HIGH : FREE);
    found = true;
  }
  rf_free(columns);
  return found;
}

/* The field of least norm for the ridges at hand: state, g, basis. */
static int settle_valleys(RfContext *context, RfProvedPath *path) {
  rf_index guesses = 1;
  int answer = NO;
  if (path->n_valley > 1 && guess_states(context, path)) answer = try_guess(path);
  bool unknown = answer == UNKNOWN;
  if (answer == YES) return YES;
  if (path->n_valley > MOST_VALLEYS) return unknown ? UNKNOWN : NO;
  for (rf_index z = 0; z < path->n_valley; z++) guesses *= 3;
  for (rf_index guess = 0; guess < guesses; guess++) {
    for (rf_index z = 0, code = guess; z < path->n_valley; z++, code /= 3)
      path->state[z] = (int8_t)(FREE - code % 3);
    answer = try_guess(path);
    if (answer == YES) return YES;
    unknown = unknown || answer == UNKNOWN;
  }
  return unknown ? UNKNOWN : NO;
}

/* 2: into every side taken; 1: along a plane of which the minus side was taken; 0: no continuation. */
static int ridges_agree(RfProvedPath *path, const int8_t *taken) {
  int agreement = 2;
  for (rf_index r = 0; r < path->n_ridge && agreement; r++) {
    int pushed = push(path, path->ridge[r]);
    if (pushed != taken[r]) agreement = pushed == 0 && taken[r] < 0 ? 1 : 0;
  }
  return agreement;
}

/* ---- all of them --------------------------------------------------------------------------- */

/* The continuation at hand: the planes are left to where the field points; 0 stays. */
static void take_sides(RfProvedPath *path, const int8_t *taken) {
  rf_index stay = 0, planes = 0;
  for (rf_index r = 0; r < path->n_ridge; r++) path->tilt[path->ridge[r]] = taken[r];
  for (rf_index z = 0; z < path->n_valley; z++)
    path->tilt[path->valley[z]] = path->state[z] == FREE ? 0 : (int8_t)push(path, path->valley[z]);
  for (rf_index k = 0; k < path->n_plane; k++) {
    bool kink = false;
    for (rf_index r = 0; r < path->n_ridge; r++) kink = kink || path->ridge[r] == k;
    for (rf_index z = 0; z < path->n_valley; z++) kink = kink || path->valley[z] == k;
    if (!kink) path->tilt[k] = (int8_t)push(path, k);
    planes += path->tilt[k] == 0;
  }
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index i = path->on[z];
    path->side[i] = (int8_t)(path->tilt[path->member[z]] * path->orient[z]);
    path->n_active += path->side[i] > 0;
    if (path->side[i] == 0) path->on[stay++] = i;
  }
  path->n_on = stay;
  if (planes == path->rank) return; /* the free ones, which are independent */
  path->rank = 0;
  for (rf_index k = 0; k < path->n_plane; k++)
    if (path->tilt[k] == 0) rf_prove_extend(path, path->basis, &path->rank, row(path, path->plane[k]));
}

static bool settle_choice(RfContext *context, RfProvedPath *path, const int8_t *taken) {
  fresh_drive(path);
  for (rf_index k = 0; k < path->n_plane; k++)
    if (path->tilt[k] == 0) add_plane(path, k, 1); /* no kink: the same on both sides */
  for (rf_index r = 0; r < path->n_ridge; r++) add_plane(path, path->ridge[r], taken[r]);
  int settled = settle_valleys(context, path);
  if (settled == UNKNOWN) path->undecided = true;
  if (settled == NO) path->failure = "more valleys meet at one point than are enumerated";
  return settled == YES;
}

/* ---- the search over ridges ---------------------------------------------------------------- */

typedef struct Search {
  RfContext *context;
  RfProvedPath *path;
  arb_ptr ends;  /* n_ridge x n_plane x 2: what a plane adds to s g.v of a ridge on its minus and plus side */
  arb_ptr along; /* n_ridge: s drive.v of the samples off the planes */
  int8_t *taken; /* n_ridge: sides, 0 = open */
  int8_t *first; /* n_ridge: the first continuation */
  rf_index choices, options;
  int best;
} Search;

static arb_ptr end_of(const Search *search, rf_index r, rf_index plane, int side) {
  return search->ends + 2 * (r * search->path->n_plane + plane) + (side > 0);
}

static void search_new(Search *search) {
  RfProvedPath *path = search->path;
  search->ends = _arb_vec_init(2 * path->n_ridge * path->n_plane);
  search->along = _arb_vec_init(path->n_ridge);
  fresh_drive(path);
  for (rf_index r = 0; r < path->n_ridge; r++) {
    arb_srcptr v = row(path, path->plane[path->ridge[r]]);
    rf_prove_dot(search->along + r, path, v, path->drive);
    if (path->sign < 0) arb_neg(search->along + r, search->along + r);
    for (rf_index k = 0; k < path->n_plane; k++)
      for (int side = -1; side <= 1; side += 2) {
        arb_ptr out = end_of(search, r, k, side);
        plane_along(out, path, v, k, side);
        if (path->sign < 0) arb_neg(out, out);
      }
  }
}

/* Can ridge r have this side, whatever the open slopes are? Where a ball holds 0 the answer is yes: leaves
 * are judged by themselves. */
static bool side_possible(const Search *search, rf_index r, int side) {
  const RfProvedPath *path = search->path;
  arb_t best, end;
  arb_init(best), arb_init(end);
  arb_set(best, search->along + r);
  for (rf_index k = 0; k < path->n_plane; k++) {
    int known = 0;
    for (rf_index q = 0; q < path->n_ridge; q++)
      if (path->ridge[q] == k) known = q == r ? side : search->taken[q];
    if (!known) { /* the end that helps this side most */
      (side > 0 ? arb_max : arb_min)(end, end_of(search, r, k, 1), end_of(search, r, k, -1), path->bits);
      arb_add(best, best, end, path->bits);
      continue;
    }
    arb_add(best, best, end_of(search, r, k, known), path->bits);
  }
  bool possible = side > 0 ? !arb_is_nonpositive(best) : !arb_is_positive(best);
  arb_clear(best), arb_clear(end);
  return possible;
}

static void judge_choice(Search *search) {
  RfProvedPath *path = search->path;
  if (!settle_choice(search->context, path, search->taken)) return;
  int agreement = ridges_agree(path, search->taken);
  if (path->undecided || agreement == 0 || agreement < search->best) return;
  if (agreement > search->best) {
    search->best = agreement, search->options = 0;
    memcpy(search->first, search->taken, (size_t)path->n_ridge);
  }
  search->options++;
}

/* In two dimensions: is there a direction other than 0 on all sides taken so far? If so, one is orthogonal to
 * some row. */
static bool fits_plane(const Search *search, rf_index count) {
  const RfProvedPath *path = search->path;
  if (path->d != 2) return true;
  arb_t value, part;
  arb_init(value), arb_init(part);
  bool fits = false;
  for (rf_index k = 0; k < 2 * count && !fits; k++) {
    arb_srcptr x = row(path, path->plane[path->ridge[k / 2]]);
    fits = true;
    for (rf_index j = 0; j < count && fits; j++) { /* the direction is +-(-x_1, x_0) */
      arb_srcptr y = row(path, path->plane[path->ridge[j]]);
      arb_mul(value, x, y + 1, ARF_PREC_EXACT);
      arb_mul(part, x + 1, y, ARF_PREC_EXACT);
      arb_sub(value, value, part, ARF_PREC_EXACT);
      fits = (k % 2 ? -1 : 1) * search->taken[j] * arf_sgn(arb_midref(value)) >= 0;
    }
  }
  arb_clear(value), arb_clear(part);
  return fits;
}

/* Depth first, plus sides first; sides that no open slope allows are left out. */
static void search_sides(Search *search, rf_index r) {
  RfProvedPath *path = search->path;
  if (path->undecided || path->failure) return;
  if (++search->choices > MOST_CHOICES) {
    path->failure = "more ridges meet at one point than are enumerated";
    return;
  }
  if (r == path->n_ridge) {
    judge_choice(search);
    return;
  }
  for (int side = 1; side >= -1; side -= 2) {
    search->taken[r] = (int8_t)side;
    bool possible = fits_plane(search, r + 1);
    for (rf_index k = 0; k <= r && possible; k++) possible = side_possible(search, k, search->taken[k]);
    if (possible) search_sides(search, r + 1);
  }
  search->taken[r] = 0;
}

static void note_branch(RfProvedPath *path, rf_index options) {
  RfAlignProof *out = path->out;
  if (options < 2 || out->branched) return;
  out->branched = true, out->branch_event = out->crossings, out->n_options = options;
  out->branch_samples = RF_NEW(rf_index, path->n_on);
  if (!out->branch_samples) {
    path->failure = "out of memory";
    return;
  }
  out->n_branch = path->n_on;
  memcpy(out->branch_samples, path->on, (size_t)path->n_on * sizeof(rf_index));
}

void rf_prove_turn(RfContext *context, RfProvedPath *path) {
  find_planes(path);
  if (path->n_ridge > MOST_PAIRS / path->n_plane) {
    path->failure = "more ridges meet at one point than are enumerated";
    return;
  }
  Search search = {.context = context, .path = path, .taken = path->kept, .first = path->kept + path->n};
  memset(search.taken, 0, (size_t)path->n_ridge);
  search_new(&search);
  search_sides(&search, 0);
  _arb_vec_clear(search.ends, 2 * path->n_ridge * path->n_plane);
  _arb_vec_clear(search.along, path->n_ridge);
  if (path->undecided || path->failure) return;
  if (!search.options) { /* the direction of steepest ascent would be one: there is none, it rests here */
    _arb_vec_zero(path->g, path->d);
    return;
  }
  note_branch(path, search.options);
  if (path->n_ridge > 0) settle_choice(context, path, search.first); /* again: others came after it */
  take_sides(path, search.first);
}
