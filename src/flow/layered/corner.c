/* Units on their kinks (Filippov). With slopes s in [leak,1] of the units on their kinks and F_k(s) = d z_k/d
 * tau, a way on is a solution of
 *   F_k(s) = 0 with s_k inside,   or s_k = 1 and F_k >= 0,   or s_k = leak and F_k <= 0,   for all k at once:
 * a variational inequality on a box, which has a solution whatever F. Units decided one after the other do
 * not find it where slopes depend on each other (units of one sample in several layers), and chatter. */
#include "flow/layered/sides_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

/* ---- slopes that hold -------------------------------------------------------------------------------- */

/* Where the held units are looked at: memory of one call of rf_sided_hold. */
typedef struct Holding {
  double *jacobian, *speed, *step, *before; /* held x held; held each */
  double *planes;                           /* held x P: d z_k/d theta */
  double *rest, *change;                    /* P each: v of the other samples; change of v by one slope */
  bool own;                                 /* planes without what held units below them do */
} Holding;

/* The plane of held unit k without what the held units below it on its sample do: it sees those through
 * their slopes, and where they are held that part of its speed is zero. Left in, it makes the equations of
 * the slopes nearly singular, and Newton's steps lead nowhere. */
static void own_plane(RfSided *sided, const Holding *work, double *plane, rf_index k) {
  rf_index P = sided->P, at = sided->held_at[k], layer = rf_sided_layer_of(sided, at);
  rf_sided_plane_of(sided, plane, at);
  double whole = rf_la_norm(plane, P);
  for (rf_index j = 0; j < 2 * sided->held && work->own;
       j++) { /* twice: those below are not orthogonal to each other */
    rf_index other = sided->held_at[j % sided->held];
    if (other / sided->hidden != at / sided->hidden || rf_sided_layer_of(sided, other) >= layer) continue;
    rf_sided_plane_of(sided, sided->lower, other);
    double square = rf_la_quick_dot(sided->lower, sided->lower, P);
    if (square > 0) rf_la_axpy(plane, -rf_la_quick_dot(plane, sided->lower, P) / square, sided->lower, P);
  }
  if (!(rf_la_norm(plane, P) > RF_LAYERED_RANK * whole)) rf_sided_plane_of(sided, plane, at);
}

/* Speeds d z_k/d tau of the held units at their present slopes; v is left behind. Returns their size. */
static double held_speeds(RfSided *sided, Holding *work, double *v) {
  rf_index K = sided->held, P = sided->P;
  rf_sided_put_slopes(sided);
  memcpy(v, work->rest, (size_t)P * sizeof *v);
  for (rf_index i = 0; i < sided->n; i++)
    if (sided->busy[i]) rf_sided_add_sample(sided, v, i);
  for (rf_index k = 0; k < K; k++) {
    own_plane(sided, work, work->planes + k * P, k);
    work->speed[k] = rf_la_quick_dot(work->planes + k * P, v, P);
  }
  return rf_la_norm(work->speed, K);
}

/* work->change = dv/ds_k, on how many samples: a slope changes v through its own samples alone. v is affine
 * in it, and a step of one loses least to rounding. */
static rf_index slope_change(RfSided *sided, Holding *work, rf_index k) {
  rf_index P = sided->P, count = rf_sided_touched(sided, k);
  memset(work->change, 0, (size_t)P * sizeof(double));
  for (rf_index t = 0; t < count; t++) rf_sided_add_sample(sided, work->change, sided->touched[t]);
  rf_la_scale(work->change, -1, P);
  rf_sided_put_slope(sided, k, sided->held_slope[k] + 1);
  for (rf_index t = 0; t < count; t++) rf_sided_add_sample(sided, work->change, sided->touched[t]);
  rf_sided_put_slope(sided, k, sided->held_slope[k]);
  return count;
}

static bool among(const rf_index *list, rf_index count, rf_index what) {
  for (rf_index t = 0; t < count; t++)
    if (list[t] == what) return true;
  return false;
}

/* Column k of the derivative of the speeds: v changes, and the planes of the same samples. */
static void held_column(RfSided *sided, Holding *work, const double *v, rf_index k) {
  rf_index K = sided->held, P = sided->P, count = slope_change(sided, work, k);
  rf_sided_put_slope(sided, k, sided->held_slope[k] + RF_LAYERED_SLOPE_STEP);
  for (rf_index r = 0; r < K; r++) {
    double shift = rf_la_quick_dot(work->planes + r * P, work->change, P);
    if (r != k && among(sided->touched, count, sided->held_at[r] / sided->hidden)) {
      own_plane(sided, work, sided->plane, r);
      shift += (rf_la_quick_dot(sided->plane, v, P) - work->speed[r]) / RF_LAYERED_SLOPE_STEP;
    }
    work->jacobian[r * K + k] = shift;
  }
  rf_sided_put_slope(sided, k, sided->held_slope[k]);
}

/* Speeds of a unit that is small are small, and so is what its slope does: every row of the step's equations
 * at its own size, so that small units do not count as dependent. */
static void equal_rows(Holding *work, rf_index K) {
  double largest = rf_la_max_abs(work->jacobian, K * K);
  for (rf_index r = 0; r < K; r++) {
    double size = fmax(rf_la_max_abs(work->jacobian + r * K, K), RF_LAYERED_ROW * largest);
    if (!(size > 0)) continue;
    rf_la_scale(work->jacobian + r * K, 1 / size, K);
    work->step[r] /= size;
  }
}

/* Newton's step for the slopes, halved until the speeds fall; their size, or no number. */
static double hold_step(RfSided *sided, Holding *work, double *v, double size) {
  rf_index K = sided->held, rank;
  for (rf_index k = 0; k < K; k++) held_column(sided, work, v, k);
  for (rf_index r = 0; r < K; r++) work->step[r] = -work->speed[r];
  equal_rows(work, K);
  memcpy(work->before, sided->held_slope, (size_t)K * sizeof(double));
  if (rf_la_least_squares(sided->context, work->jacobian, work->step, K, K, RF_LAYERED_RANK, &rank))
    return NAN;
  double part = 1, next = size;
  for (int half = 0; half < 12; half++, part *= 0.5) {
    for (rf_index k = 0; k < K; k++) sided->held_slope[k] = work->before[k] + part * work->step[k];
    next = held_speeds(sided, work, v);
    if (next < size) return next;
  }
  memcpy(sided->held_slope, work->before, (size_t)K * sizeof(double));
  held_speeds(sided, work, v);
  return INFINITY;
}

/* How its slope turns unit k back to its kink, and the slack of that: a slope is as good as another that
 * moves v by no more than its rounding. Of a sample that hardly weighs it is unknown. */
static void firmness(RfSided *sided, Holding *work, rf_index k, double length) {
  slope_change(sided, work, k);
  double along = rf_la_quick_dot(work->planes + k * sided->P, work->change, sided->P);
  sided->firm[k] = length > 0 ? -along / length : 0;
  double slack = rf_sided_rounding(sided) * sided->push / fabs(sided->firm[k]);
  sided->slack[k] = slack > RF_LAYERED_SLOPE ? fmin(slack, RF_LAYERED_SLOPE_UNKNOWN) : RF_LAYERED_SLOPE;
}

/* Takes out of v what leads off the kinks: rounding of the pushes, and these may be far larger than v. What
 * is left would grow with the square of a step, for off its kinks a network has other velocities. Ends work.
 */
static void along_kinks(RfSided *sided, Holding *work, double *v) {
  rf_index K = sided->held, P = sided->P, rank;
  double *step = work->rest;
  if (K > P) return;
  memset(step, 0, (size_t)P * sizeof(double));
  memcpy(step, work->speed, (size_t)K * sizeof(double));
  if (!rf_la_least_squares(sided->context, work->planes, step, K, P, RF_LAYERED_RANK, &rank))
    rf_la_axpy(v, -1, step, P);
}

/* Newton on speeds = 0 from the slopes at the begin of the step, not from those of a trial that was thrown
 * away; the speeds are polynomials of the slopes, affine for units of different samples. */
void rf_sided_hold(RfSided *sided, double *v) {
  rf_index K = sided->held, P = sided->P;
  double *memory = RF_NEW(double, K *K + 3 * K + K * P + 2 * P), steepest = 0;
  sided->lost = true;
  if (!memory) {
    rf_sided_free_velocity(sided, v);
    return;
  }
  Holding work = {.own = true, .jacobian = memory, .speed = memory + K * K};
  work.step = work.speed + K, work.before = work.step + K, work.planes = work.before + K;
  work.rest = work.planes + K * P, work.change = work.rest + P;
  sided->push = 0;
  rf_sided_free_velocity(sided, work.rest);
  /* What a sample pushes with if its units are not held: slopes near zero hide it, and rounding does not. */
  for (rf_index k = 0; k < K; k++) sided->slope[sided->held_at[k]] = 1;
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->side[sided->follower[f]] == 0) sided->slope[sided->follower[f]] = 1;
  for (rf_index i = 0; i < sided->n; i++)
    if (sided->busy[i]) sided->push += rf_sided_add_sample(sided, work.change, i);
  memcpy(sided->held_slope, sided->start_slope, (size_t)K * sizeof(double));
  double size = held_speeds(sided, &work, v), next = 0;
  for (int round = 0; round < 40 && size > RF_LAYERED_HELD * rf_la_norm(v, P); round++) {
    next = hold_step(sided, &work, v, size);
    if (!(next < size)) break;
    bool rounding = next > 0.25 * size && next < RF_LAYERED_STALLS * rf_la_norm(v, P);
    size = next;
    if (rounding) break; /* Newton's steps square the size until it is that */
  }
  for (rf_index k = 0; k < K; k++) {
    double length = rf_la_norm(work.planes + k * P, P);
    steepest = fmax(steepest, length);
    firmness(sided, &work, k, length);
  }
  sided->lost = !(size <= rf_sided_rounding(sided) * steepest * sided->push);
  if (!sided->lost) along_kinks(sided, &work, v);
  rf_free(memory);
}

void rf_sided_slope_derivatives(RfSided *sided, double *planes, double *moves, double *speeds,
                                const double *v) {
  rf_index K = sided->held, P = sided->P;
  double *memory = RF_NEW(double, K + 1);
  if (!memory) {
    speeds[0] = NAN;
    return;
  }
  Holding work = {.jacobian = speeds, .speed = memory, .planes = planes};
  for (rf_index k = 0; k < K; k++) {
    own_plane(sided, &work, planes + k * P, k);
    work.speed[k] = rf_la_quick_dot(planes + k * P, v, P);
  }
  for (rf_index k = 0; k < K; k++) {
    double *plane = planes + k * P, square = rf_la_quick_dot(plane, plane, P);
    work.change = moves + k * P;
    held_column(sided, &work, v, k);
    if (!(square > 0)) continue;
    /* On its kink a slope moves v along its plane; what else there is of it is rounding, and grows where the
     * slope does little. */
    double along = rf_la_quick_dot(plane, work.change, P) / square;
    memset(work.change, 0, (size_t)P * sizeof(double));
    rf_la_axpy(work.change, along, plane, P);
  }
  rf_free(memory);
}

/* ---- which units are held ---------------------------------------------------------------------------- */

/* Arrays of one number a held unit, at their new length; false: no memory. */
static bool longer(double **array, rf_index K, rf_index room) {
  double *next = RF_NEW(double, room);
  if (next && K > 0) memcpy(next, *array, (size_t)K * sizeof(double));
  if (next) rf_free(*array), *array = next;
  return next != NULL;
}

static bool more_room(RfSided *sided) {
  rf_index room = sided->room ? 2 * sided->room : 16, K = sided->held;
  rf_index *units = RF_NEW(rf_index, room);
  double **arrays[] = {&sided->held_slope,     &sided->start_slope,     &sided->slack,
                       &sided->firm,           &sided->marked_slope[0], &sided->marked_slope[1],
                       &sided->marked_firm[0], &sided->marked_firm[1]};
  if (!units) return false;
  if (K > 0) memcpy(units, sided->held_at, (size_t)K * sizeof(rf_index));
  rf_free(sided->held_at), sided->held_at = units;
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    if (!longer(arrays[a], K, room)) return false;
  sided->room = room;
  return true;
}

static void put(RfSided *sided, rf_index at, int8_t side) {
  sided->side[at] = side, sided->slope[at] = rf_sided_slope_of(sided, side);
}

/* Which samples have units on their kinks. */
static void find_busy(RfSided *sided) {
  memset(sided->busy, 0, (size_t)sided->n);
  for (rf_index k = 0; k < sided->held; k++) sided->busy[sided->held_at[k] / sided->hidden] = 1;
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->side[sided->follower[f]] == 0) sided->busy[sided->follower[f] / sided->hidden] = 1;
}

static RfStatus add_held(RfSided *sided, rf_index at, double slope) {
  if (sided->held == sided->room && !more_room(sided))
    return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
  sided->side[at] = 0;
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->leader[sided->follower[f]] == at)
      sided->side[sided->follower[f]] = 0, sided->top[sided->follower[f]] = 1;
  sided->held_at[sided->held] = at, sided->top[at] = 1;
  sided->start_slope[sided->held] = slope, sided->slack[sided->held] = RF_LAYERED_SLOPE;
  sided->firm[sided->held] = 0;
  sided->held_slope[sided->held++] = slope;
  find_busy(sided);
  return RF_OK;
}

/* Unit `at` onto a side, and those that follow it. */
static void put_all(RfSided *sided, rf_index at, int8_t side) {
  put(sided, at, side);
  for (rf_index f = 0; f < sided->followers; f++) {
    rf_index other = sided->follower[f];
    if (sided->leader[other] == at) put(sided, other, (int8_t)(side * sided->turned[other]));
  }
}

static void let_go(RfSided *sided, rf_index k, int8_t side) {
  rf_index at = sided->held_at[k];
  sided->held--;
  for (rf_index j = k; j < sided->held; j++) {
    sided->held_at[j] = sided->held_at[j + 1], sided->held_slope[j] = sided->held_slope[j + 1];
    sided->start_slope[j] = sided->start_slope[j + 1], sided->slack[j] = sided->slack[j + 1];
    sided->firm[j] = sided->firm[j + 1];
  }
  put_all(sided, at, side);
  find_busy(sided);
}

/* ---- a way on ---------------------------------------------------------------------------------------- */

/* Units on their kinks up to which every choice of sides is tried when pivots do not end. */
enum { MOST_CHOICES = 6 };
/* Steps in which slopes settle, or are not going to. */
enum { RELAX_STEPS = 200 };

typedef struct Corner {
  rf_index count, all; /* those to be decided about; with others on their kinks */
  rf_index aside;      /* the last of all: with planes that vanish */
  rf_index *at;        /* units on their kinks */
  const double *theta;
} Corner;

static rf_index held_place(const RfSided *sided, rf_index at) {
  for (rf_index k = 0; k < sided->held; k++)
    if (sided->held_at[k] == at) return k;
  return -1;
}

/* Unit `at` onto a side, or held from a first slope on. */
static RfStatus assign(RfSided *sided, rf_index at, int8_t side, double slope) {
  rf_index k = held_place(sided, at);
  if (side == 0 && k < 0) return add_held(sided, at, slope);
  if (side == 0) sided->start_slope[k] = slope;
  if (side != 0 && k >= 0) let_go(sided, k, side);
  if (side != 0 && k < 0) put_all(sided, at, side);
  return RF_OK;
}

/* How far unit `at` is from what its side or slope asks for (positive: wrong), at the last velocity. *to: the
 * side or slope that it would take instead. */
static double fault(RfSided *sided, rf_index at, int8_t *to) {
  rf_index k = held_place(sided, at);
  double leak = sided->net->leak;
  rf_sided_plane_of(sided, sided->plane, at);
  double speed = rf_la_quick_dot(sided->plane, sided->v, sided->P);
  double size = rf_la_norm(sided->plane, sided->P) * sided->push;
  speed = size > 0 ? speed / size : 0;
  if (k < 0) {
    *to = 0;
    return -sided->side[at] * speed - RF_LAYERED_HELD;
  }
  double above = sided->held_slope[k] - rf_sided_top(sided, k), below = leak - sided->held_slope[k];
  *to = above > 0 ? -1 : 1; /* speeds grow with the slope: no side is left to that of the slope */
  if (rf_sided_ridge(sided, sided->firm[k]) > 0) return -sided->firm[k] / sided->push;
  *to = above > below ? 1 : -1;
  if (fmax(above, below) > sided->slack[k]) return fmax(above, below);
  *to = speed > 0 ? 1 : -1; /* a slope that moves nothing does not hold it */
  return fabs(speed) - rf_sided_rounding(sided);
}

/* Is every unit of the corner right where it is? *worst: which is not, the first one or the most. */
static bool is_way_on(RfSided *sided, const Corner *corner, bool by_order, rf_index *worst, int8_t *to) {
  double most = 0;
  rf_sided_velocity(sided, sided->v, sided->own, corner->theta);
  *worst = -1;
  for (rf_index c = 0; c < corner->count; c++) {
    int8_t other;
    double off = fault(sided, corner->at[c], &other);
    if (off > most && !(by_order && *worst >= 0)) most = off, *worst = corner->at[c], *to = other;
  }
  return !sided->lost && *worst < 0;
}

/* From the sides as they are: the unit that is most wrong changes, later the first one that is. */
static RfStatus pivot(RfSided *sided, const Corner *corner, bool *found) {
  double leak = sided->net->leak;
  RfStatus status = RF_OK;
  *found = false;
  for (rf_index round = 0; round < 6 * corner->count + 10 && !status; round++) {
    rf_index worst;
    int8_t to, from;
    if (rf_context_stop(sided->context)) return RF_INTERRUPTED;
    *found = is_way_on(sided, corner, round > 3 * corner->count, &worst, &to);
    if (*found || worst < 0) break;
    from = sided->side[worst];
    for (rf_index k = 0; k < sided->held; k++) /* Newton starts inside the box */
      sided->start_slope[k] = fmin(fmax(sided->held_slope[k], leak), rf_sided_top(sided, k));
    status = assign(sided, worst, to, from > 0 ? 1 : leak);
  }
  return status;
}

/* The kinks rounded off a little: then d s_k/d sigma = F_k, fast, until the slopes stay. From the slopes as
 * they are, in steps that each slope alone would settle in. Leaves the units that end inside held. */
static RfStatus relax(RfSided *sided, const Corner *corner, bool *found) {
  rf_index K = corner->count, P = sided->P;
  double leak = sided->net->leak, *memory = RF_NEW(double, K *K + 3 * K + K * P + 2 * P), part = 1;
  double *last = RF_NEW(double, K);
  RfStatus status =
      memory && last ? RF_OK : rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for an event");
  for (rf_index c = 0; c < K && !status; c++) {
    int8_t side = sided->side[corner->at[c]];
    if (side != 0) status = assign(sided, corner->at[c], 0, side > 0 ? 1 : leak);
  }
  if (!status) {
    Holding work = {.jacobian = memory, .speed = memory + K * K};
    work.step = work.speed + K, work.before = work.step + K, work.planes = work.before + K;
    work.rest = work.planes + K * P, work.change = work.rest + P;
    rf_sided_free_velocity(sided, work.rest);
    for (rf_index k = 0; k < K; k++)
      sided->held_slope[k] = fmin(fmax(sided->start_slope[k], leak), 1), last[k] = 0;
    for (int round = 0; round < RELAX_STEPS; round++) {
      double turns = 0;
      held_speeds(sided, &work, sided->v);
      for (rf_index k = 0; k < K; k++) held_column(sided, &work, sided->v, k);
      for (rf_index k = 0; k < K; k++) {
        double rate = fabs(work.jacobian[k * K + k]), before = sided->held_slope[k];
        double move = rate > 0 ? fmin(fmax(work.speed[k] / rate, -1), 1) : 0;
        sided->held_slope[k] = fmin(fmax(before + part * (1 - leak) * move, leak), 1);
        move = sided->held_slope[k] - before;
        turns += move * last[k], last[k] = move;
      }
      part = fmax(turns < 0 ? 0.7 * part : fmin(1.1 * part, 1), RF_LAYERED_RELAX);
    }
    for (rf_index k = K - 1; k >= 0; k--) {
      double slope = sided->start_slope[k] = sided->held_slope[k];
      if (slope == 1 || slope == leak) let_go(sided, k, slope == 1 ? 1 : -1);
    }
    status = pivot(sided, corner, found);
  }
  rf_free(memory), rf_free(last);
  return status;
}

/* Every choice of below, held and above in turn. */
static RfStatus try_all(RfSided *sided, const Corner *corner, bool *found) {
  rf_index choices = 1, worst;
  RfStatus status = RF_OK;
  int8_t to;
  for (rf_index c = 0; c < corner->count; c++) choices *= 3;
  *found = false;
  for (rf_index choice = 0; choice < choices && !*found && !status; choice++) {
    rf_index rest = choice;
    for (rf_index c = 0; c < corner->count && !status; c++, rest /= 3)
      status = assign(sided, corner->at[c], (int8_t)(rest % 3 - 1), 0.5 * (1 + sided->net->leak));
    if (!status) *found = is_way_on(sided, corner, true, &worst, &to);
  }
  return status;
}

/* All inputs of hidden unit h are rounding beside those of its layer. */
static bool vanished(const RfSided *sided, rf_index h) {
  double most = 0;
  for (rf_index i = 0; i < sided->n; i++) most = fmax(most, fabs(sided->z[i * sided->hidden + h]));
  return most <= RF_LAYERED_OVER * rf_sided_beyond(sided, h);
}

/* The units of the corner: held ones, those beyond their kinks, and others that are on them. A unit that is
 * farther beyond than events are found has crossed: it is where its input is. In large networks all that are
 * beyond are decided about, but where the sample pushes nothing, which holds no unit; and a unit that has
 * vanished keeps its sides: on all samples at once it would be nothing but a corner. Behind them are those on
 * their kinks that nobody feels. */
static RfStatus find_corner(RfSided *sided, Corner *corner) {
  rf_index hidden = sided->hidden, unfelt = 0;
  corner->at = RF_NEW(rf_index, sided->n * hidden);
  rf_index *others = RF_NEW(rf_index, sided->n * hidden);
  if (!corner->at || !others) {
    rf_free(others);
    return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for an event");
  }
  for (rf_index at = 0; at < sided->n * hidden; at++) { /* sample by sample, layer by layer */
    double near = RF_LAYERED_OVER * rf_sided_beyond(sided, at), z = sided->z[at];
    bool felt = sided->p[at / hidden] > RF_LAYERED_UNFELT_WEIGHT;
    int8_t side = sided->side[at];
    if (sided->side[at] == 0) {
      corner->at[corner->count++] = at;
    } else if (rf_sided_off_side(sided, at)) {
      put(sided, at, (int8_t)-sided->side[at]);
      if (sided->late ? felt : fabs(z) <= near) corner->at[corner->count++] = at;
    } else if (fabs(z) <= near && felt && !(sided->late && vanished(sided, at % hidden))) {
      /* A weight that passes zero takes its unit across on all samples: all of them first try to cross. */
      if (sided->side[at] * z < 0) put(sided, at, (int8_t)-sided->side[at]);
      corner->at[corner->count++] = at;
    } else if (fabs(z) <= near && !sided->late) {
      others[unfelt++] = at;
    }
    /* And with it those above that see nothing else: where it is seen now, their inputs are no longer 0. */
    if (sided->side[at] != side && !sided->late) rf_sided_forward(sided, at / hidden);
  }
  corner->all = corner->count + unfelt;
  if (unfelt > 0) memcpy(corner->at + corner->count, others, (size_t)unfelt * sizeof(rf_index));
  rf_free(others);
  return RF_OK;
}

void rf_sided_set_late(RfSided *sided) { sided->late = true; }

/* How fast theta goes astray while unit `at` has the slope of its old side: (1 - leak) p |df/da| |dz|, a its
 * output. */
static double astray(RfSided *sided, rf_index at) {
  rf_index i = at / sided->hidden;
  rf_sided_plane_of(sided, sided->plane, at);
  return sided->p[i] * fabs(rf_sided_reach(sided, at)) * rf_la_norm(sided->plane, sided->P);
}

double rf_sided_late(RfSided *sided, double speed) {
  rf_index total = sided->n * sided->hidden, count = 0;
  double leak = sided->net->leak, low = 1, high = 1, *from = RF_NEW(double, 2 * (total + 1)),
         *rate = from + total;
  if (!from || sided->lost_marked) {
    rf_free(from);
    return 0;
  }
  for (rf_index at = 0; at < total; at++) {
    double z0 = sided->side[at] * sided->marked_z[0][at], z1 = sided->side[at] * sided->marked_z[1][at];
    if (!(z1 < -rf_sided_beyond(sided, at))) continue;
    rate[count] = (1 - leak) * astray(sided, at);
    from[count++] = z0 > 0 ? z0 / (z0 - z1) : 0;
  }
  for (rf_index k = 0; k < sided->held; k++) {
    double s0 = sided->marked_slope[0][k], s1 = sided->marked_slope[1][k], top = rf_sided_top(sided, k);
    double in = s1 > top ? top - s0 : s0 - leak, out = s1 > top ? s1 - top : leak - s1;
    if (!(out > sided->slack[k])) continue;
    rate[count] = out * astray(sided, sided->held_at[k]);
    from[count++] = in > 0 ? in / (in + out) : 0;
  }
  for (rf_index c = 0; c < count; c++) low = fmin(low, from[c]);
  for (int half = 0; half < 40; half++) { /* the longest share that costs no more; the whole is tried first */
    double share = half == 0 ? 1 : 0.5 * (low + high), cost = 0;
    for (rf_index c = 0; c < count; c++) cost += rate[c] * fmax(0, share - from[c]);
    if (cost <= speed)
      low = share;
    else
      high = share;
    if (low >= 1) break;
  }
  rf_free(from);
  return low;
}

/* Units on their kinks together are one: who leads is held or on a side, and the others follow. */
static RfStatus group(RfSided *sided, Corner *corner) {
  rf_index leaders = corner->count, count = corner->count;
  if (sided->late || count == 0) return RF_OK;
  RfStatus status = rf_sided_group(sided, corner->at, corner->all, count, &leaders, &corner->aside);
  corner->count = leaders, sided->held = 0;
  for (rf_index c = corner->all - corner->aside; c < corner->all && !status; c++) {
    rf_index at = corner->at[c];
    double slope = sided->slope[at] / sided->top[at];
    if (sided->side[at] == 0) put(sided, at, slope > 0.5 * (1 + sided->net->leak) ? 1 : -1);
  }
  for (rf_index c = 0; c < leaders && !status; c++) {
    rf_index at = corner->at[c];
    if (sided->side[at] == 0)
      status = add_held(sided, at, sided->slope[at]);
    else
      put_all(sided, at, sided->side[at]);
  }
  find_busy(sided);
  return status;
}

/* Groups are told anew at every event: here those that are not held end. */
static void end_groups(RfSided *sided) {
  rf_index count = 0;
  for (rf_index f = 0; f < sided->followers; f++)
    if (sided->side[sided->follower[f]] == 0) sided->follower[count++] = sided->follower[f];
  sided->followers = count;
}

RfStatus rf_sided_apply(RfSided *sided, const double *theta) {
  Corner corner = {.theta = theta};
  bool found = false;
  if (sided->net->leak == 1) return RF_OK;
  RfStatus status = find_corner(sided, &corner);
  for (rf_index k = sided->held - 1; k >= 0 && !status && !sided->lost; k--) {
    bool ridge = rf_sided_ridge(sided, sided->firm[k]) > 0;
    bool above = sided->held_slope[k] > rf_sided_top(sided, k);
    if (ridge || rf_sided_slope_out(sided, k)) let_go(sided, k, above != ridge ? 1 : -1);
  }
  if (!status) status = group(sided, &corner);
  if (!status && corner.count > 0) status = pivot(sided, &corner, &found);
  if (!status && corner.count > 0 && !found) status = relax(sided, &corner, &found);
  if (!status && corner.count > 0 && !found && corner.count <= MOST_CHOICES)
    status = try_all(sided, &corner, &found);
  end_groups(sided);
  if (!status) rf_sided_join(sided, corner.at + corner.all - corner.aside, corner.aside);
  rf_free(corner.at);
  return status;
}
