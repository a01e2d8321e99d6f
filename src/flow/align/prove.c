/* `flow --prove-alignment`: the limit eps -> 0 of every neuron, decided. Inside a sector w moves on the
 * straight line w + tau s g (segment.c), so the order of hyperplanes is a comparison of ratios h_i/b_i and
 * needs no time: with rational data w stays rational, up to the one point where a may pass 0, which brings
 * one square root (prove_internal.h). The walk below is that of path.c, written again: no tolerance, no
 * window, no rounding. An attempt in balls is void as soon as one comparison is not decided; the next has
 * twice the precision, the last is exact. */
#include "flow/align/prove_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

enum { FIRST_BITS = 128, LAST_BITS = 1024, MOST_EXACT_BITS = 4000000 };

static arb_srcptr row(const RfProvedPath *path, rf_index i) { return path->X + i * path->d; }

/* ---- memory -------------------------------------------------------------------------------- */

static void path_free(RfProvedPath *path) {
  rf_index n = path->n, d = path->d;
  arb_ptr vectors[] = {path->X,     path->c,    path->plain, path->surd, path->g, path->basis,
                       path->drive, path->work, path->h,     path->k,    path->b};
  rf_index sizes[] = {n * d, n, d, d, d, d * d, d, d * d, n, n, n};
  for (int v = 0; v < 11; v++)
    if (vectors[v]) _arb_vec_clear(vectors[v], sizes[v]);
  arb_clear(path->leak), arb_clear(path->root), arb_clear(path->balance);
  rf_free(path->side);
  rf_free(path->on);
}

static RfStatus path_new(RfContext *context, RfProvedPath *path, const RfAlignField *field) {
  rf_index n = field->n, d = field->d;
  *path = (RfProvedPath){.field = field, .n = n, .d = d};
  arb_init(path->leak), arb_init(path->root), arb_init(path->balance);
  path->side = RF_NEW(int8_t, 6 * n);
  path->on = RF_NEW(rf_index, 6 * n);
  if (!path->side || !path->on) {
    path_free(path);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory to prove alignment");
  }
  path->state = path->side + n, path->kept = path->state + n;
  path->orient = path->kept + 2 * n, path->tilt = path->orient + n;
  path->hits = path->on + n, path->valley = path->hits + n, path->ridge = path->valley + n;
  path->plane = path->ridge + n, path->member = path->plane + n;
  path->X = _arb_vec_init(n * d), path->c = _arb_vec_init(n);
  path->plain = _arb_vec_init(d), path->surd = _arb_vec_init(d), path->g = _arb_vec_init(d);
  path->basis = _arb_vec_init(d * d), path->drive = _arb_vec_init(d), path->work = _arb_vec_init(d * d);
  path->h = _arb_vec_init(n), path->k = _arb_vec_init(n), path->b = _arb_vec_init(n);
  for (rf_index k = 0; k < n * d; k++) arb_set_d(path->X + k, field->X[k]);
  for (rf_index i = 0; i < n; i++) arb_set_d(path->c + i, field->c[i]);
  arb_set_d(path->leak, field->leak);
  return RF_OK;
}

/* ---- the start ----------------------------------------------------------------------------- */

/* a = +-|w| where floating point takes it for balanced: the same rule as path.c. */
static void start_balance(RfContext *context, RfProvedPath *path, const double *w, double a) {
  double size = rf_la_norm(w, path->d);
  path->balanced = fabs(fabs(a) - size) <= context->tol.balanced * size && !path->field->freeze_second;
  arb_t square;
  arb_init(square);
  arb_zero(path->balance);
  if (!path->balanced) {
    arb_set_d(path->balance, a);
    arb_mul(path->balance, path->balance, path->balance, path->bits);
    rf_prove_dot(square, path, path->plain, path->plain);
    arb_sub(path->balance, path->balance, square, path->bits);
  }
  arb_clear(square);
}

/* Sides by exact signs; rows that are 0 have none and are on no hyperplane. */
static void start_sides(RfProvedPath *path) {
  path->n_active = path->n_on = 0;
  for (rf_index i = 0; i < path->n; i++) {
    rf_prove_dot(path->h + i, path, row(path, i), path->plain);
    path->side[i] = (int8_t)rf_prove_sign(path, path->h + i);
    path->n_active += path->side[i] > 0;
    if (path->side[i] == 0 && path->field->leak < 1 && !_arb_vec_is_zero(row(path, i), path->d))
      path->on[path->n_on++] = i;
  }
}

/* Sign of a; where a = 0, that of its growth sum c_i phi(w.x_i). */
static int start_sign(RfProvedPath *path, double a) {
  if (a != 0) return a > 0 ? 1 : -1;
  if (path->field->freeze_second) return 0;
  arb_t rate, term;
  arb_init(rate), arb_init(term);
  for (rf_index i = 0; i < path->n; i++) {
    arb_mul(term, path->c + i, path->h + i, path->bits);
    if (path->side[i] < 0) arb_mul(term, term, path->leak, path->bits);
    arb_add(rate, rate, term, path->bits);
  }
  int sign = rf_prove_sign(path, rate);
  arb_clear(rate), arb_clear(term);
  return sign;
}

static bool is_dead(const RfProvedPath *path) { return path->field->leak == 0 && path->n_active == 0; }

/* As rf_align_blind. */
static bool is_blind(const RfProvedPath *path) {
  if (!is_dead(path)) return false;
  for (rf_index j = 0; j < path->n_on; j++)
    for (rf_index k = 0; k < j; k++)
      if (rf_prove_parallel(path, path->on[j], path->on[k]) < 0) return false;
  return true;
}

static void begin(RfContext *context, RfProvedPath *path, const double *direction, double log_norm) {
  double a = log_norm == -INFINITY ? 0 : direction[path->d];
  path->undecided = path->turned = false, path->failure = NULL;
  for (rf_index j = 0; j < path->d; j++) arb_set_d(path->plain + j, log_norm == -INFINITY ? 0 : direction[j]);
  _arb_vec_zero(path->surd, path->d);
  arb_zero(path->root);
  start_balance(context, path, direction, a);
  start_sides(path);
  path->sign = start_sign(path, a);
  rf_prove_field(path);
  if (path->undecided || path->n_on == 0 || path->sign == 0 || is_blind(path)) return;
  rf_prove_turn(context, path);
}

/* ---- one segment --------------------------------------------------------------------------- */

/* h, k, b of every sample off the hyperplanes, and the first that are reached, ties together: hits. */
static void find_hits(RfProvedPath *path) {
  arb_t left, right, ours;
  arb_init(left), arb_init(right), arb_init(ours);
  path->n_hits = 0;
  for (rf_index i = 0; i < path->n && !path->undecided; i++) {
    if (path->side[i] == 0) continue;
    rf_prove_dot(path->b + i, path, row(path, i), path->g);
    if (-path->sign * path->side[i] * rf_prove_sign(path, path->b + i) <= 0) continue;
    rf_prove_dot(path->h + i, path, row(path, i), path->plain);
    if (path->turned) rf_prove_dot(path->k + i, path, row(path, i), path->surd);
    int order = -1;
    if (path->n_hits > 0) { /* |h_i| |b_f| - |h_f| |b_i|, and both h and b have known signs */
      rf_index f = path->hits[0];
      int flip = path->side[i] * path->side[f];
      arb_mul(left, path->h + i, path->b + f, path->bits);
      arb_mul(right, path->h + f, path->b + i, path->bits);
      arb_sub(ours, left, right, path->bits);
      arb_mul(left, path->k + i, path->b + f, path->bits);
      arb_mul(right, path->k + f, path->b + i, path->bits);
      arb_sub(left, left, right, path->bits);
      order = -path->sign * flip * rf_prove_sign_surd(path, ours, path->turned ? left : path->k + i);
    }
    if (order < 0) path->n_hits = 0;
    if (order <= 0) path->hits[path->n_hits++] = i;
  }
  arb_clear(left), arb_clear(right), arb_clear(ours);
}

/* How the segment would end without hyperplanes. */
typedef struct Limits {
  arb_t along, G2;   /* s g.w, g.g */
  arb_t surplus;     /* -K g.g: positive where a reaches 0 */
  bool falls;        /* s g.w < 0 */
  bool turns, stops; /* a reaches 0; or only for t -> infinity */
} Limits;

static void find_limits(RfProvedPath *path, Limits *limits) {
  arb_t part;
  arb_init(part);
  rf_prove_dot(limits->along, path, path->g, path->plain);
  rf_prove_dot(part, path, path->g, path->surd);
  limits->falls =
      !path->field->freeze_second && path->sign * rf_prove_sign_surd(path, limits->along, part) < 0;
  if (limits->falls && !path->undecided) { /* never after a = 0 was passed: w is rational */
    if (path->sign < 0) arb_neg(limits->along, limits->along);
    rf_prove_dot(limits->G2, path, path->g, path->g);
    arb_mul(limits->surplus, path->balance, limits->G2, path->bits);
    arb_neg(limits->surplus, limits->surplus);
    if (path->rank != path->d - 1) { /* (g.w)^2 - g.g w.w vanishes on a line */
      rf_prove_dot(part, path, path->plain, path->plain);
      arb_submul(limits->surplus, part, limits->G2, path->bits);
      arb_addmul(limits->surplus, limits->along, limits->along, path->bits);
    }
    int surplus = path->balanced && path->rank == path->d - 1 ? 0 : rf_prove_sign(path, limits->surplus);
    limits->turns = surplus > 0, limits->stops = surplus == 0;
  }
  arb_clear(part);
}

/* Sign of tau_hit - tau_limit, with tau_limit = (-along - sqrt(surplus))/G2, or -along/G2 where it only
 * stops. */
static int hit_after_limit(RfProvedPath *path, const Limits *limits) {
  rf_index f = path->hits[0];
  int flip = -path->sign * path->side[f]; /* speed = flip b > 0, distance = side h */
  arb_t plain, surd;
  arb_init(plain), arb_init(surd);
  arb_mul(plain, path->h + f, limits->G2, path->bits);
  if (path->side[f] < 0) arb_neg(plain, plain);
  arb_mul(surd, path->b + f, limits->along, path->bits);
  if (flip < 0) arb_neg(surd, surd);
  arb_add(plain, plain, surd, path->bits);
  arb_set(surd, path->b + f);
  if (flip < 0) arb_neg(surd, surd);
  if (!limits->turns) arb_zero(surd);
  bool before = path->turned;
  arb_set(path->root, limits->surplus);
  path->turned = limits->turns;
  int sign = rf_prove_sign_surd(path, plain, surd);
  path->turned = before;
  arb_clear(plain), arb_clear(surd);
  return sign;
}

/* Keeps the numbers of w short. */
static void shrink(RfProvedPath *path) {
  arb_ptr both[] = {path->plain, path->surd};
  slong taken = rf_prove_shrink(path, both, path->turned ? 2 : 1,
                                path->balanced || path->turned || path->field->freeze_second);
  arb_mul_2exp_si(path->balance, path->balance, -2 * taken);
  if (path->bits == ARF_PREC_EXACT && path->d > 0 && arb_bits(path->plain) > MOST_EXACT_BITS)
    path->failure = "the exact numbers grow too long";
}

/* w = speed w + distance s g: on the hyperplane of the first hit. */
static void move_to_hit(RfProvedPath *path) {
  rf_index f = path->hits[0];
  int flip = -path->sign * path->side[f];
  arb_t speed, step;
  arb_init(speed), arb_init(step);
  arb_set(speed, path->b + f);
  if (flip < 0) arb_neg(speed, speed);
  for (int part = 0; part < (path->turned ? 2 : 1); part++) {
    arb_ptr w = part ? path->surd : path->plain;
    arb_set(step, part ? path->k + f : path->h + f);
    if (path->side[f] * path->sign < 0) arb_neg(step, step);
    for (rf_index j = 0; j < path->d; j++) {
      arb_mul(w + j, w + j, speed, path->bits);
      arb_addmul(w + j, step, path->g + j, path->bits);
    }
  }
  arb_mul(path->balance, path->balance, speed, path->bits);
  arb_mul(path->balance, path->balance, speed, path->bits);
  arb_clear(speed), arb_clear(step);
  shrink(path);
}

/* To a = 0: w = (g.g w - (g.w) g) - s sqrt(surplus) g, and a changes its sign. */
static void move_to_turn(RfProvedPath *path, const Limits *limits) {
  for (rf_index j = 0; j < path->d; j++) {
    arb_mul(path->plain + j, path->plain + j, limits->G2, path->bits);
    arb_mul(path->surd + j, limits->along, path->g + j, path->bits); /* along = s g.w */
    if (path->sign < 0) arb_neg(path->surd + j, path->surd + j);
    arb_sub(path->plain + j, path->plain + j, path->surd + j, path->bits);
    arb_set(path->surd + j, path->g + j);
    if (path->sign > 0) arb_neg(path->surd + j, path->surd + j);
  }
  arb_set(path->root, limits->surplus);
  path->turned = true;
  path->sign = -path->sign;
  shrink(path);
}

/* ---- the walk ------------------------------------------------------------------------------ */

static bool in_class_cone(const RfProvedPath *path, double class_sign) {
  for (rf_index i = 0; i < path->n; i++) {
    double c = class_sign * path->field->c[i];
    if (c > 0 ? !(path->side[i] > 0) : c < 0 && path->side[i] > 0) return false;
  }
  return true;
}

/* G = |drive without its part in the rows slid on|, with division, as a ball. */
static void enclose_growth(RfProvedPath *path) {
  slong bits = FIRST_BITS;
  arb_t square, along;
  arf_t bound;
  arb_init(square), arb_init(along), arf_init(bound);
  for (rf_index r = 0; r < path->rank; r++) {
    arb_srcptr e = path->basis + r * path->d;
    arb_zero(square), arb_zero(along);
    for (rf_index j = 0; j < path->d; j++) {
      arb_addmul(square, e + j, e + j, bits);
      arb_addmul(along, e + j, path->drive + j, bits);
    }
    arb_div(along, along, square, bits);
    for (rf_index j = 0; j < path->d; j++) arb_submul(path->drive + j, along, e + j, bits);
  }
  arb_zero(square);
  for (rf_index j = 0; j < path->d; j++) arb_addmul(square, path->drive + j, path->drive + j, bits);
  arb_sqrtpos(square, square, bits);
  arb_get_lbound_arf(bound, square, bits);
  path->out->G_lower = arf_get_d(bound, ARF_RND_FLOOR);
  arb_get_ubound_arf(bound, square, bits);
  path->out->G_upper = arf_get_d(bound, ARF_RND_CEIL);
  arb_clear(square), arb_clear(along), arf_clear(bound);
}

/* At leak 1 sides are those of the direction that is left, sign g; while it shrinks, the other one. */
static void linear_sides(RfProvedPath *path, int sign) {
  for (rf_index i = 0; i < path->n; i++) {
    rf_prove_dot(path->b + i, path, row(path, i), path->g);
    path->side[i] = (int8_t)(sign * rf_prove_sign(path, path->b + i));
  }
}

/* Nothing comes any more: it grows for ever, or shrinks towards 0 where that is all the line allows. */
static void finish(RfProvedPath *path, const Limits *limits) {
  RfAlignProof *out = path->out;
  if (limits->stops && path->rank != path->d - 1) {
    out->destiny = RF_DESTINY_STUCK;
    return;
  }
  if (path->field->leak == 1) linear_sides(path, limits->stops ? -path->sign : path->sign);
  out->destiny = in_class_cone(path, 1)    ? RF_DESTINY_S_PLUS
                 : in_class_cone(path, -1) ? RF_DESTINY_S_MINUS
                                           : RF_DESTINY_EXTREMAL;
  enclose_growth(path);
  if (limits->stops) { /* decays at that rate */
    double upper = out->G_upper;
    out->G_upper = -out->G_lower, out->G_lower = -upper;
  }
}

/* The hyperplanes of `hits` are reached, together with those it slides on. */
static void pass_hits(RfContext *context, RfProvedPath *path) {
  path->out->crossings++;
  for (rf_index q = 0; q < path->n_hits; q++) {
    rf_index i = path->hits[q];
    path->n_active -= path->side[i] > 0;
    path->side[i] = 0;
    path->on[path->n_on++] = i;
  }
  if (is_blind(path)) return;
  rf_prove_turn(context, path);
  for (rf_index z = 0; z < path->n_on && !path->undecided && !path->failure; z++)
    for (rf_index q = 0; q < path->n_hits; q++) path->out->slides += path->on[z] == path->hits[q];
}

/* False when the path has ended. */
static bool step(RfContext *context, RfProvedPath *path) {
  Limits limits = {0};
  bool goes_on = true;
  arb_init(limits.along), arb_init(limits.G2), arb_init(limits.surplus);
  if (path->field->leak < 1)
    find_hits(path);
  else
    path->n_hits = 0;
  find_limits(path, &limits);
  int after; /* sign of (the way to the hit) - (the way to the limit) */
  if (!path->undecided && (limits.turns || limits.stops)) {
    after = path->n_hits ? hit_after_limit(path, &limits) : 1;
    if (limits.turns && path->n_hits && after == 0 && !path->undecided)
      path->failure = "it meets a hyperplane exactly where a = 0";
  } else {
    after = path->n_hits ? -1 : 1;
  }
  if (path->undecided || path->failure) {
    goes_on = false;
  } else if (limits.turns && after > 0) {
    move_to_turn(path, &limits);
    if (path->n_on > 0) rf_prove_turn(context, path); /* valleys have become ridges */
  } else if (after < 0) {
    move_to_hit(path);
    pass_hits(context, path);
  } else {
    finish(path, &limits);
    goes_on = false;
  }
  arb_clear(limits.along), arb_clear(limits.G2), arb_clear(limits.surplus);
  return goes_on;
}

/* 0 where the field vanishes. */
static bool has_field(RfProvedPath *path) {
  for (rf_index j = 0; j < path->d; j++)
    if (arb_is_nonzero(path->g + j)) return true;
  if (!_arb_vec_is_zero(path->g, path->d)) path->undecided = true;
  return false;
}

static void walk(RfContext *context, RfProvedPath *path) {
  rf_index limit = 1000 + 100 * path->n;
  for (rf_index events = 0; !path->undecided && !path->failure; events++) {
    if (is_dead(path) || path->sign == 0 || !has_field(path)) {
      path->out->destiny = is_dead(path) ? RF_DESTINY_DEAD : RF_DESTINY_STUCK;
      return;
    }
    if (events >= limit || rf_context_stop(context)) path->failure = "stopped before its end";
    if (!path->failure && !step(context, path)) return;
  }
}

static void attempt(RfContext *context, RfProvedPath *path, slong bits, const double *direction,
                    double log_norm) {
  rf_free(path->out->branch_samples);
  *path->out = (RfAlignProof){.asked = true, .destiny = RF_DESTINY_RUNNING};
  path->bits = bits;
  begin(context, path, direction, log_norm);
  walk(context, path);
  path->out->bits = bits == ARF_PREC_EXACT ? 0 : bits;
  path->out->proved = !path->undecided && !path->failure;
  path->out->why = path->out->proved ? NULL : path->failure ? path->failure : "a comparison is not decided";
}

RfStatus rf_align_prove_neuron(RfContext *context, RfAlignProof *out, const RfAlignField *field,
                               const double *direction, double log_norm) {
  RfProvedPath path;
  RfStatus status = path_new(context, &path, field);
  if (status) return status;
  path.out = out;
  for (slong bits = FIRST_BITS; bits <= LAST_BITS; bits *= 2) {
    attempt(context, &path, bits, direction, log_norm);
    if (!path.undecided) break;
  }
  if (path.undecided) attempt(context, &path, ARF_PREC_EXACT, direction, log_norm);
  path_free(&path);
  return RF_OK;
}

RfStatus rf_align_prove(RfContext *context, RfAlignment *alignment, const RfFlowProblem *problem) {
  RfAlignField field;
  double *c = rf_align_field_of(&field, problem);
  RfStatus status = c ? RF_OK : rf_fail(context, RF_ERR_MEMORY, "out of memory to prove alignment");
  for (rf_index k = 0; k < alignment->m && !status; k++) {
    RfAlignNeuron *neuron = &alignment->neurons[k];
    rf_progress(context, "alignment proved", (double)k / (double)alignment->m, "of the neurons");
    status = rf_align_prove_neuron(context, &neuron->proof, &field,
                                   problem->start->directions + k * (problem->d + 1),
                                   problem->start->log_norms[k]);
    neuron->proof.agrees =
        neuron->proof.destiny == neuron->destiny && neuron->proof.branched == neuron->branched;
  }
  rf_free(c);
  return status;
}
