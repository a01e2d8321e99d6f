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
} Holding;

/* Speeds d z_k/d tau of the held units at their present slopes; v is left behind. Returns their size. */
static double held_speeds(RfSided *sided, Holding *work, double *v) {
  rf_index K = sided->held, P = sided->P;
  for (rf_index k = 0; k < K; k++) sided->slope[sided->held_at[k]] = sided->held_slope[k];
  memcpy(v, work->rest, (size_t)P * sizeof *v);
  for (rf_index i = 0; i < sided->n; i++)
    if (sided->busy[i]) rf_sided_add_sample(sided, v, i);
  for (rf_index k = 0; k < K; k++) {
    rf_sided_plane_of(sided, work->planes + k * P, sided->held_at[k]);
    work->speed[k] = rf_la_quick_dot(work->planes + k * P, v, P);
  }
  return rf_la_norm(work->speed, K);
}

/* Column k of the derivative of the speeds: a slope changes v through its own sample alone, and the planes of
 * that sample; both are affine in it. */
static void held_column(RfSided *sided, Holding *work, const double *v, rf_index k) {
  rf_index K = sided->held, P = sided->P, at = sided->held_at[k], i = at / sided->hidden;
  double *change = work->change, slope = sided->slope[at];
  memset(change, 0, (size_t)P * sizeof *change);
  rf_sided_add_sample(sided, change, i);
  rf_la_scale(change, -1, P);
  sided->slope[at] = slope + RF_LAYERED_SLOPE_STEP;
  rf_sided_add_sample(sided, change, i);
  for (rf_index r = 0; r < K; r++) {
    double shift = rf_la_quick_dot(work->planes + r * P, change, P);
    if (r != k && sided->held_at[r] / sided->hidden == i) {
      rf_sided_plane_of(sided, sided->plane, sided->held_at[r]);
      shift += rf_la_quick_dot(sided->plane, v, P) - work->speed[r];
    }
    work->jacobian[r * K + k] = shift / RF_LAYERED_SLOPE_STEP;
  }
  sided->slope[at] = slope;
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

/* A slope is as good as another that moves v by no more than its rounding: it moves it by p |df/da| |dz|, a
 * the output of the unit. Of a sample that hardly weighs it is unknown. */
static double slope_slack(RfSided *sided, rf_index k, double length) {
  rf_index at = sided->held_at[k];
  double moves = sided->p[at / sided->hidden] * fabs(rf_sided_reach(sided, at)) * length;
  double slack = rf_sided_rounding(sided) * sided->push / moves;
  return slack > RF_LAYERED_SLOPE ? fmin(slack, RF_LAYERED_SLOPE_UNKNOWN) : RF_LAYERED_SLOPE;
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
  Holding work = {.jacobian = memory, .speed = memory + K * K};
  work.step = work.speed + K, work.before = work.step + K, work.planes = work.before + K;
  work.rest = work.planes + K * P, work.change = work.rest + P;
  sided->push = 0;
  rf_sided_free_velocity(sided, work.rest);
  /* What a sample pushes with if its units are not held: slopes near zero hide it, and rounding does not. */
  for (rf_index k = 0; k < K; k++) sided->slope[sided->held_at[k]] = 1;
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
    sided->slack[k] = slope_slack(sided, k, length);
  }
  sided->lost = !(size <= rf_sided_rounding(sided) * steepest * sided->push);
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
    rf_sided_plane_of(sided, planes + k * P, sided->held_at[k]);
    work.speed[k] = rf_la_quick_dot(planes + k * P, v, P);
  }
  for (rf_index k = 0; k < K; k++) {
    work.change = moves + k * P;
    held_column(sided, &work, v, k);
    rf_la_scale(work.change, 1 / RF_LAYERED_SLOPE_STEP, P);
  }
  rf_free(memory);
}

/* ---- which units are held ---------------------------------------------------------------------------- */

static bool more_room(RfSided *sided) {
  rf_index room = sided->room ? 2 * sided->room : 16, K = sided->held;
  rf_index *units = RF_NEW(rf_index, room);
  double *slopes = RF_NEW(double, room), *starts = RF_NEW(double, room);
  double *low = RF_NEW(double, room), *high = RF_NEW(double, room), *slack = RF_NEW(double, room);
  if (!units || !slopes || !starts || !low || !high || !slack) {
    rf_free(units), rf_free(slopes), rf_free(starts), rf_free(low), rf_free(high), rf_free(slack);
    return false;
  }
  for (rf_index k = 0; k < K; k++) {
    units[k] = sided->held_at[k], slopes[k] = sided->held_slope[k], starts[k] = sided->start_slope[k];
    slack[k] = sided->slack[k];
  }
  rf_free(sided->held_at), rf_free(sided->held_slope), rf_free(sided->start_slope), rf_free(sided->slack);
  rf_free(sided->marked_slope[0]), rf_free(sided->marked_slope[1]);
  sided->marked_slope[0] = low, sided->marked_slope[1] = high;
  sided->held_at = units, sided->held_slope = slopes, sided->start_slope = starts, sided->room = room;
  sided->slack = slack;
  return true;
}

static RfStatus add_held(RfSided *sided, rf_index at, double slope) {
  if (sided->held == sided->room && !more_room(sided))
    return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for a slide");
  sided->side[at] = 0;
  sided->busy[at / sided->hidden] = 1;
  sided->held_at[sided->held] = at;
  sided->start_slope[sided->held] = slope, sided->slack[sided->held] = RF_LAYERED_SLOPE;
  sided->held_slope[sided->held++] = slope;
  return RF_OK;
}

static void put(RfSided *sided, rf_index at, int8_t side) {
  sided->side[at] = side, sided->slope[at] = rf_sided_slope_of(sided, side);
}

static void let_go(RfSided *sided, rf_index k, int8_t side) {
  rf_index at = sided->held_at[k];
  sided->held--;
  for (rf_index j = k; j < sided->held; j++) {
    sided->held_at[j] = sided->held_at[j + 1], sided->held_slope[j] = sided->held_slope[j + 1];
    sided->start_slope[j] = sided->start_slope[j + 1], sided->slack[j] = sided->slack[j + 1];
  }
  put(sided, at, side);
  sided->busy[at / sided->hidden] = 0;
  for (rf_index j = 0; j < sided->held; j++) sided->busy[sided->held_at[j] / sided->hidden] = 1;
}

/* ---- a way on ---------------------------------------------------------------------------------------- */

/* Units on their kinks up to which every choice of sides is tried when pivots do not end. */
enum { MOST_CHOICES = 6 };
/* Steps in which slopes settle, or are not going to. */
enum { RELAX_STEPS = 200 };

typedef struct Corner {
  rf_index count, room;
  rf_index *at; /* units on their kinks */
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
  if (side != 0 && k < 0) put(sided, at, side);
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
  double above = sided->held_slope[k] - 1, below = leak - sided->held_slope[k];
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
      sided->start_slope[k] = fmin(fmax(sided->held_slope[k], leak), 1);
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
 * vanished keeps its sides: on all samples at once it would be nothing but a corner. */
static RfStatus find_corner(RfSided *sided, Corner *corner) {
  rf_index hidden = sided->hidden;
  corner->at = RF_NEW(rf_index, sided->n * hidden);
  if (!corner->at) return rf_fail(sided->context, RF_ERR_MEMORY, "out of memory for an event");
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
    }
    /* And with it those above that see nothing else: where it is seen now, their inputs are no longer 0. */
    if (sided->side[at] != side && !sided->late) rf_sided_forward(sided, at / hidden);
  }
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
    double s0 = sided->marked_slope[0][k], s1 = sided->marked_slope[1][k];
    double in = s1 > 1 ? 1 - s0 : s0 - leak, out = s1 > 1 ? s1 - 1 : leak - s1;
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

RfStatus rf_sided_apply(RfSided *sided, const double *theta) {
  Corner corner = {.theta = theta};
  bool found = false;
  if (sided->net->leak == 1) return RF_OK;
  RfStatus status = find_corner(sided, &corner);
  for (rf_index k = sided->held - 1; k >= 0 && !status && !sided->lost; k--)
    if (rf_sided_slope_out(sided, k)) let_go(sided, k, sided->held_slope[k] > 1 ? 1 : -1);
  if (!status && corner.count > 0) status = pivot(sided, &corner, &found);
  if (!status && corner.count > 0 && !found) status = relax(sided, &corner, &found);
  if (!status && corner.count > 0 && !found && corner.count <= MOST_CHOICES)
    status = try_all(sided, &corner, &found);
  rf_free(corner.at);
  return status;
}
