/* The continuations of a neuron on hyperplanes, every sign decided (options.c has the words). For each choice
 * of sides of the ridges the valleys take the slopes of least |g|, a convex problem with one field as its
 * answer: a guess of which slopes are free, found in floating point or by trying all, is accepted when its
 * optimality conditions hold. A choice is a continuation when the field points into every side that it took.
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

/* ---- one choice of ridges ------------------------------------------------------------------ */

/* The slope of free valley z is A/B with A = -drive.p, B = c x.p, p the part of x orthogonal to the other
 * free rows: leak <= A/B <= 1? */
static int slope_inside(RfProvedPath *path, rf_index z) {
  rf_index i = path->on[path->valley[z]], rank = 0;
  arb_ptr others = path->work, p = path->basis; /* the basis is rebuilt by the caller */
  arb_t A, B, part;
  arb_init(A), arb_init(B), arb_init(part);
  for (rf_index k = 0; k < path->n_valley; k++)
    if (k != z && path->state[k] == FREE)
      rf_prove_extend(path, others, &rank, row(path, path->on[path->valley[k]]));
  _arb_vec_set(p, row(path, i), path->d);
  rf_prove_project(path, p, others, rank);
  rf_prove_dot(A, path, path->drive, p);
  arb_neg(A, A);
  rf_prove_dot(B, path, row(path, i), p);
  arb_mul(B, B, path->c + i, path->bits);
  if (arb_is_negative(path->c + i)) arb_neg(A, A), arb_neg(B, B);
  arb_sub(part, B, A, path->bits);
  int above = rf_prove_sign(path, part);
  arb_mul(part, B, path->leak, path->bits);
  arb_sub(part, A, part, path->bits);
  int below = rf_prove_sign(path, part);
  arb_clear(A), arb_clear(B), arb_clear(part);
  return path->undecided ? UNKNOWN : above >= 0 && below >= 0 ? YES : NO;
}

/* sign(a) g.x_i */
static int push(RfProvedPath *path, rf_index i) {
  arb_t value;
  arb_init(value);
  rf_prove_dot(value, path, path->g, row(path, i));
  int sign = path->sign * rf_prove_sign(path, value);
  arb_clear(value);
  return sign;
}

static int check_guess(RfProvedPath *path) {
  int answer = YES;
  for (rf_index z = 0; z < path->n_valley; z++)
    if (path->state[z] != FREE) add_drive(path, path->on[path->valley[z]], path->state[z] == HIGH);
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++)
    if (path->state[z] == FREE) answer = slope_inside(path, z);
  path->rank = 0;
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++)
    if (path->state[z] == FREE &&
        !rf_prove_extend(path, path->basis, &path->rank, row(path, path->on[path->valley[z]])))
      answer = path->undecided ? UNKNOWN : NO;
  if (answer != YES) return answer;
  _arb_vec_set(path->g, path->drive, path->d);
  rf_prove_project(path, path->g, path->basis, path->rank);
  for (rf_index z = 0; z < path->n_valley && answer == YES; z++) {
    if (path->state[z] == FREE) continue;
    int pushed = push(path, path->on[path->valley[z]]);
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

/* The guess of floating point: slopes at the ends of [leak, 1] and free ones. */
static bool guess_states(RfContext *context, RfProvedPath *path) {
  const RfAlignField *field = path->field;
  rf_index d = path->d, count = path->n_valley;
  double *columns = RF_NEW(double, count *d + 4 * count + d);
  double *low = columns + count * d, *high = low + count, *slope = high + count, *f = slope + count;
  bool found = false;
  if (!columns) return false;
  for (rf_index z = 0; z < count; z++) {
    rf_index i = path->on[path->valley[z]];
    for (rf_index j = 0; j < d; j++) columns[z * d + j] = field->c[i] * field->X[i * d + j];
    low[z] = field->leak, high[z] = 1;
  }
  for (rf_index j = 0; j < d; j++) f[j] = -arf_get_d(arb_midref(path->drive + j), ARF_RND_NEAR);
  RfContext quiet = *context;
  if (rf_la_box_least_squares(&quiet, slope, NULL, NULL, columns, f, low, high, d, count, d, NULL) == RF_OK) {
    for (rf_index z = 0; z < count; z++)
      path->state[z] = (int8_t)(slope[z] <= low[z] ? LOW : slope[z] >= 1 ? HIGH : FREE);
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

/* 2: into every side taken; 1: along a hyperplane of a minus side; 0: no continuation. */
static int ridges_agree(RfProvedPath *path, const int8_t *taken) {
  int agreement = 2;
  for (rf_index r = 0; r < path->n_ridge && agreement; r++) {
    int pushed = push(path, path->on[path->ridge[r]]);
    if (pushed != taken[r]) agreement = pushed == 0 && taken[r] < 0 && agreement ? 1 : 0;
  }
  return agreement;
}

/* ---- all of them --------------------------------------------------------------------------- */

static void sort_kinks(RfProvedPath *path) {
  path->n_valley = path->n_ridge = 0;
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index i = path->on[z];
    int tilt = path->field->leak == 1         ? 0
               : arb_is_positive(path->c + i) ? path->sign
               : arb_is_negative(path->c + i) ? -path->sign
                                              : 0;
    if (tilt < 0) path->valley[path->n_valley++] = z;
    if (tilt > 0) path->ridge[path->n_ridge++] = z;
  }
}

/* Sides of the choice at hand: where the field points; 0 stays. */
static void keep_sides(RfProvedPath *path, const int8_t *taken) {
  for (rf_index z = 0; z < path->n_on; z++) path->kept[z] = 2;
  for (rf_index z = 0; z < path->n_valley; z++)
    path->kept[path->valley[z]] = path->state[z] == FREE ? 0 : (int8_t)push(path, path->on[path->valley[z]]);
  for (rf_index r = 0; r < path->n_ridge; r++) path->kept[path->ridge[r]] = taken[r];
  for (rf_index z = 0; z < path->n_on; z++) /* no kink: either side, or along it */
    if (path->kept[z] == 2) path->kept[z] = (int8_t)push(path, path->on[z]);
}

/* Takes the sides kept; what stays makes the basis. */
static void take_sides(RfProvedPath *path) {
  rf_index stay = 0;
  for (rf_index z = 0; z < path->n_on; z++) {
    rf_index i = path->on[z];
    path->side[i] = path->kept[z];
    path->n_active += path->kept[z] > 0;
    if (path->kept[z] == 0) path->on[stay++] = i;
  }
  path->n_on = stay;
  if (stay == path->rank) return; /* the free rows, which are independent */
  path->rank = 0;
  for (rf_index z = 0; z < stay; z++) rf_prove_extend(path, path->basis, &path->rank, row(path, path->on[z]));
}

static bool settle_choice(RfContext *context, RfProvedPath *path, const int8_t *taken) {
  fresh_drive(path);
  for (rf_index r = 0; r < path->n_ridge; r++) add_drive(path, path->on[path->ridge[r]], taken[r] > 0);
  int settled = settle_valleys(context, path);
  if (settled == UNKNOWN) path->undecided = true;
  if (settled == NO) path->failure = "more valleys meet at one point than are enumerated";
  return settled == YES;
}

/* ---- the search over ridges ---------------------------------------------------------------- */

typedef struct Search {
  RfContext *context;
  RfProvedPath *path;
  arb_ptr pair;  /* n_ridge x n_on: s c_j x_i.x_j for ridge i, hyperplane j */
  arb_ptr along; /* n_ridge: s drive.x_i of the samples off the hyperplanes */
  int8_t *taken; /* n_ridge: sides, 0 = open */
  int8_t *first; /* n_ridge: the first continuation */
  rf_index choices, options;
  int best;
} Search;

static void search_new(Search *search) {
  RfProvedPath *path = search->path;
  search->pair = _arb_vec_init(path->n_ridge * path->n_on);
  search->along = _arb_vec_init(path->n_ridge);
  fresh_drive(path);
  for (rf_index r = 0; r < path->n_ridge; r++) {
    arb_srcptr x = row(path, path->on[path->ridge[r]]);
    rf_prove_dot(search->along + r, path, x, path->drive);
    if (path->sign < 0) arb_neg(search->along + r, search->along + r);
    for (rf_index z = 0; z < path->n_on; z++) {
      arb_ptr out = search->pair + r * path->n_on + z;
      rf_prove_dot(out, path, x, row(path, path->on[z]));
      arb_mul(out, out, path->c + path->on[z], path->bits);
      if (path->sign < 0) arb_neg(out, out);
    }
  }
}

/* total += the least (or largest) of p, leak p, or the one of a known side. */
static void add_range(const RfProvedPath *path, arb_t total, const arb_t p, int side, bool largest) {
  bool full = side ? side > 0 : largest ? !arb_is_negative(p) : !arb_is_positive(p);
  if (full)
    arb_add(total, total, p, path->bits);
  else
    arb_addmul(total, p, path->leak, path->bits);
}

/* Can ridge r have this side, whatever the open slopes are? Where a ball holds 0 the answer is yes: leaves
 * are judged by themselves. */
static bool side_possible(const Search *search, rf_index r, int side) {
  const RfProvedPath *path = search->path;
  arb_srcptr pair = search->pair + r * path->n_on;
  arb_t push_most;
  arb_init(push_most);
  arb_set(push_most, search->along + r);
  for (rf_index v = 0; v < path->n_valley; v++)
    add_range(path, push_most, pair + path->valley[v], 0, side > 0);
  for (rf_index k = 0; k < path->n_ridge; k++)
    add_range(path, push_most, pair + path->ridge[k], k == r ? side : search->taken[k], side > 0);
  bool possible = side > 0 ? !arb_is_nonpositive(push_most) : !arb_is_positive(push_most);
  arb_clear(push_most);
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

/* x_i = t x_k with t > 0 (+1), t < 0 (-1), or neither (0). Exact: the rows are doubles. */
static int parallel(const RfProvedPath *path, rf_index i, rf_index k) {
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

/* Parallel ridges lie on one hyperplane: the field points to the same side of both. */
static bool fits_parallel(const Search *search, rf_index r) {
  const RfProvedPath *path = search->path;
  for (rf_index k = 0; k < r; k++) {
    int same = parallel(path, path->on[path->ridge[r]], path->on[path->ridge[k]]);
    if (same > 0 && search->taken[k] != search->taken[r]) return false;
    if (same < 0 && search->taken[k] > 0 && search->taken[r] > 0) return false;
  }
  return true;
}

/* In the plane: is there a direction other than 0 on all sides taken so far? If so, one is orthogonal to some
 * row. */
static bool fits_plane(const Search *search, rf_index count) {
  const RfProvedPath *path = search->path;
  if (path->d != 2) return true;
  arb_t value, part;
  arb_init(value), arb_init(part);
  bool fits = false;
  for (rf_index k = 0; k < 2 * count && !fits; k++) {
    arb_srcptr x = row(path, path->on[path->ridge[k / 2]]);
    fits = true;
    for (rf_index j = 0; j < count && fits; j++) { /* the direction is +-(-x_1, x_0) */
      arb_srcptr y = row(path, path->on[path->ridge[j]]);
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
    bool possible = fits_parallel(search, r) && fits_plane(search, r + 1);
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
  sort_kinks(path);
  if (path->n_ridge > MOST_PAIRS / path->n_on) {
    path->failure = "more ridges meet at one point than are enumerated";
    return;
  }
  Search search = {
      .context = context, .path = path, .taken = path->kept + path->n, .first = path->kept + 2 * path->n};
  memset(search.taken, 0, (size_t)path->n_ridge);
  search_new(&search);
  search_sides(&search, 0);
  _arb_vec_clear(search.pair, path->n_ridge * path->n_on);
  _arb_vec_clear(search.along, path->n_ridge);
  if (path->undecided || path->failure) return;
  if (!search.options) { /* the direction of steepest ascent would be one: there is none, it rests here */
    _arb_vec_zero(path->g, path->d);
    return;
  }
  note_branch(path, search.options);
  if (path->n_ridge > 0) settle_choice(context, path, search.first); /* again: others came after it */
  keep_sides(path, search.first);
  take_sides(path);
}
