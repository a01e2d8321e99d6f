/* Lyu, Li, Wang, Arora: the first phase on hinted data, where G is not linear. LLWA-32 (Lemmas G.3, G.4:
 * every neuron reaches its cone), 33 (Lemmas G.5-G.8: the two groups grow at different rates). The data lie
 * in the plane. */
#include <math.h>
#include <string.h>

#include "llwa/llwa.h"
#include "la/la.h"

enum { most = 8 };

typedef struct Point {
  double W[most * RF_LLWA_D], a[most];
} Point;

static RfNet at(Point *point, rf_index m, const RfLlwaSet *set) {
  return (RfNet){.m = m, .d = set->d, .W = point->W, .a = point->a, .leak = set->leak};
}

/* mu+ (side 1) or mu- (side -1): the samples of the other label count leak times. */
static void one_sided_mean(double *mu, const RfLlwaSet *set, int side) {
  memset(mu, 0, (size_t)set->d * sizeof *mu);
  for (rf_index i = 0; i < set->n; i++)
    rf_la_axpy(mu, set->y[i] * (set->y[i] == side ? 1 : set->leak) / (double)set->n, set->X + i * set->d,
               set->d);
}

/* ---- the constants of Lemma G.4 ------------------------------------------------------------ */

/* sum_i c_i z_i with c_i = low or high by the bits. */
static void vertex(double *v, const RfLlwaSet *set, unsigned bits, double low, double high) {
  v[0] = v[1] = 0;
  for (rf_index i = 0; i < set->n; i++)
    rf_la_axpy(v, set->y[i] * (bits >> i & 1 ? high : low), set->X + 2 * i, 2);
}

/* min_i <w,z_i>/|w|: w lies in Csep(c) iff this is at least c. */
static double separation(const double *w, const RfLlwaSet *set) {
  double least = INFINITY, size = rf_la_norm(w, 2);
  for (rf_index i = 0; i < set->n; i++) least = fmin(least, set->y[i] * rf_la_dot(w, set->X + 2 * i, 2));
  return least / size;
}

/* Smallest separation over the velocities sum c_i z_i, low <= c_i <= high: attained at a vertex. */
static double cone_separation(const RfLlwaSet *set, double low, double high) {
  double least = INFINITY, v[2];
  for (unsigned bits = 0; bits < 1u << set->n; bits++) {
    vertex(v, set, bits, low, high);
    least = fmin(least, separation(v, set));
  }
  return least;
}

static double distance_to_ray(const double *w, const double *r) {
  double along = rf_la_dot(w, r, 2) / rf_la_norm(r, 2), size = rf_la_norm(w, 2);
  return along > 0 ? sqrt(fmax(0, size * size - along * along)) : size;
}

/* Distance of w from the rays sign sum (1 +- eps) h_i z_i, h_i = 1 on the samples of `side` and leak on the
 * others. */
static double excluded_distance(const double *w, const RfLlwaSet *set, int side, double sign, double eps) {
  double least = INFINITY, v[2];
  bool left = false, right = false;
  for (unsigned bits = 0; bits < 1u << set->n; bits++) {
    v[0] = v[1] = 0;
    for (rf_index i = 0; i < set->n; i++)
      rf_la_axpy(v,
                 sign * set->y[i] * (set->y[i] == side ? 1 : set->leak) * (bits >> i & 1 ? 1 + eps : 1 - eps),
                 set->X + 2 * i, 2);
    double cross = v[0] * w[1] - v[1] * w[0];
    left = left || cross >= 0, right = right || cross <= 0;
    least = fmin(least, distance_to_ray(w, v));
  }
  return left && right && least < rf_la_norm(w, 2) ? 0 : least;
}

/* Half-angle from wstar to the border of Csep(c) on one side, by bisection. */
static double border(const RfLlwaSet *set, double c, int side) {
  double base = atan2(set->wstar[1], set->wstar[0]), low = 0, high = acos(-1.0) / 2;
  for (int step = 0; step < 60; step++) {
    double middle = (low + high) / 2, w[] = {cos(base + side * middle), sin(base + side * middle)};
    if (separation(w, set) >= c)
      low = middle;
    else
      high = middle;
  }
  return low;
}

typedef struct Constants {
  double delta, eps, hmin, d,
      gap;          /* gap: d' of the paper, between Csep(2 delta/3) and the outside of Csep(delta/2) */
  double floor, T0; /* Dbar and T0 as corrected */
  double printed_floor, printed_T0;
} Constants;

static double start_distance(const RfNet *start, const RfLlwaSet *set, double eps) {
  double least = INFINITY;
  for (rf_index k = 0; k < start->m; k++) /* a > 0 must avoid -mu-, a < 0 must avoid +mu+ */
    least = fmin(least, start->a[k] > 0 ? excluded_distance(start->W + 2 * k, set, -1, -1, eps)
                                        : excluded_distance(start->W + 2 * k, set, 1, 1, eps));
  return least;
}

static RfStatus constants(RfClaimRun *run, Constants *c, const RfLlwaSet *set, const RfNet *start) {
  double columns[RF_LLWA_ROWS * 2], low[RF_LLWA_ROWS], high[RF_LLWA_ROWS], x[RF_LLWA_ROWS], zero[2] = {0, 0},
                                                                                            r[2];
  RfLeastSquaresInfo info;
  double worst = 0;
  c->delta = cone_separation(set, set->leak, 1);
  c->d = start_distance(start, set, 0);
  for (c->eps = 0.5; c->eps > 1e-9; c->eps /= 2)
    if (cone_separation(set, set->leak * (1 - c->eps), 1 + c->eps) >= 2 * c->delta / 3 &&
        start_distance(start, set, c->eps) >= c->d / 2)
      break;
  for (rf_index i = 0; i < set->n; i++) {
    for (int j = 0; j < 2; j++) columns[2 * i + j] = set->y[i] * set->X[2 * i + j] / (2 * (double)set->n);
    low[i] = set->leak * (1 - c->eps), high[i] = 1 + c->eps;
  }
  RfStatus status =
      rf_la_box_least_squares(run->context, x, r, &info, columns, zero, low, high, 2, set->n, 2, NULL);
  c->hmin = rf_la_norm(r, 2);
  c->gap = fmin(sin(border(set, c->delta / 2, 1) - border(set, 2 * c->delta / 3, 1)),
                sin(border(set, c->delta / 2, -1) - border(set, 2 * c->delta / 3, -1)));
  for (rf_index k = 0; k < start->m; k++)
    for (rf_index i = 0; i < set->n; i++) {
      const double *w = start->W + 2 * k;
      double s = start->a[k] < 0 ? -1 : 1;
      worst = fmax(worst, c->delta / 3 * rf_la_norm(w, 2) - s * set->y[i] * rf_la_dot(w, set->X + 2 * i, 2));
    }
  c->floor = fmin(1, c->gap) * c->d / 2, c->printed_floor = fmax(1, c->gap) * c->d / 2;
  c->T0 = 3 / (c->delta * c->hmin * c->floor) * worst;
  c->printed_T0 = 3 / (c->delta * c->hmin * c->printed_floor) * worst;
  return status;
}

/* ---- LLWA-32 ------------------------------------------------------------------------------- */

typedef struct Entry {
  const RfLlwaSet *set;
  const RfNet *start;             /* at scale 1 */
  double log_eps, delta, largest; /* follow while |theta|_M <= largest */
  double entered, growth,
      floor;     /* first time with all in their cones; |w| over e^t |w(0)| and back; least |w|/eps0 */
  rf_index left; /* moments outside after that */
} Entry;

static void see_entry(void *user, const RfLlwaMoment *now) {
  Entry *e = user;
  bool all = true;
  if (now->frozen || rf_llwa_size(now->theta) > e->largest) return;
  for (rf_index k = 0; k < now->theta->m; k++) {
    double w[2] = {now->theta->W[2 * k], now->theta->W[2 * k + 1]}, size = rf_la_norm(w, 2);
    double ratio = log(size) - log(rf_la_norm(e->start->W + 2 * k, 2)) - e->log_eps;
    e->growth = fmax(e->growth, now->t > 0 ? fabs(ratio) / now->t : 0);
    e->floor = fmin(e->floor, exp(log(size) - e->log_eps));
    if (now->theta->a[k] < 0) w[0] = -w[0], w[1] = -w[1];
    all = all && separation(w, e->set) >= e->delta / 3;
  }
  if (all && isnan(e->entered)) e->entered = now->t;
  e->left += !all && !isnan(e->entered);
}

/* The way of one start at a scale. */
static RfStatus enter_cones(RfClaimRun *run, Entry *entry, const RfLlwaSet *set, const RfNet *start,
                            const Constants *c, double log_eps) {
  Point point;
  RfNet scaled = at(&point, most, set);
  *entry = (Entry){.set = set, .start = start, .log_eps = log_eps, .delta = c->delta, .entered = NAN};
  entry->floor = INFINITY, entry->largest = sqrt(c->eps / (2 * (double)most));
  rf_llwa_copy(&scaled, start, exp(log_eps));
  return rf_llwa_walk(run, NULL, NULL, set, &scaled, RF_UNTIL_LOSS, 0.5, 20, see_entry, entry);
}

/* Lemma G.3: under the linearised flow alone a neuron with a = |w| reaches the cone, unless it starts along
 * -mu-. */
static RfStatus grows_into_cone(RfClaimRun *run, bool *grows, const RfLlwaSet *set, const double *w,
                                double delta) {
  double c[RF_LLWA_ROWS], direction[3], size = rf_la_norm(w, 2);
  RfAlignNeuron neuron = {0};
  for (rf_index i = 0; i < set->n; i++) c[i] = set->y[i] / (2 * (double)set->n);
  for (int j = 0; j < 2; j++) direction[j] = w[j] / (size * sqrt(2));
  direction[2] = 1 / sqrt(2);
  RfAlignField field = {.X = set->X, .c = c, .n = set->n, .d = 2, .leak = set->leak};
  RfStatus status = rf_flow_align_neuron(run->context, &neuron, &field, direction, 0, NULL, INFINITY);
  *grows = !status && neuron.G > 0 && separation(neuron.velocity, set) >= delta / 2;
  rf_align_neuron_free(&neuron);
  return status;
}

RfStatus rf_llwa_32(RfClaimRun *run) {
  RfLlwaSet set;
  double smallest = -20, used = 0, growth = 0, printed_used = 0, floor_ratio = INFINITY,
         printed_floor = INFINITY, delta = 0, longest = 0;
  bool excluded = false, printed = false;
  int later = 0;
  RfStatus status = rf_llwa_load(run, &set, "DS-HINT(20,1,0.1)", 0.5, 0);
  if (status) return status;
  for (rf_index draw = 0; draw < rf_claim_repetitions(run, 10) && !status; draw++) {
    RfNet start = {0};
    Constants c;
    status = rf_net_init(run->context, &start, RF_INIT_BALANCED_GAUSSIAN, most, 2, set.leak,
                         rf_claim_seed(run, "start", (uint64_t)draw), 1);
    if (!status) status = constants(run, &c, &set, &start);
    double scale = -20; /* twice as far where weights are large before every neuron is in its cone */
    for (int s = 0; s < 2 && !status; s++, scale *= 2) {
      Entry entry;
      status = enter_cones(run, &entry, &set, &start, &c, scale);
      while (!status && s == 0 && isnan(entry.entered) && scale > -300)
        scale *= 2, status = enter_cones(run, &entry, &set, &start, &c, scale);
      if (s == 0) smallest = fmin(smallest, scale), later += scale < -20;
      rf_claim_at_most(run, "time until all neurons are in their cones over T0", entry.entered / c.T0, 1, 0);
      rf_claim_close(run, "moments at which one has left again", (double)entry.left, 0, 0);
      rf_claim_at_most(run, "|ln(|w_k(t)|/|w_k(0)|)| over t", entry.growth, 1, 1e-9);
      rf_claim_at_least(run, "smallest |w_k|/eps0 over Dbar", entry.floor / c.floor, 1, 1e-9);
      used = fmax(used, entry.entered / c.T0),
      printed_used = fmax(printed_used, entry.entered / c.printed_T0);
      growth = fmax(growth, entry.growth), floor_ratio = fmin(floor_ratio, entry.floor / c.floor);
      printed_floor = fmin(printed_floor, entry.floor / c.printed_floor),
      longest = fmax(longest, entry.entered);
      delta = c.delta;
    }
    for (rf_index k = 0; k < most && !status; k++) {
      bool grows;
      status = grows_into_cone(run, &grows, &set, start.W + 2 * k, delta);
      rf_claim_true(run, "G.3: a neuron of the linearised flow reaches the cone", grows);
    }
    rf_net_free(&start);
  }
  double minus[2], against[2];
  one_sided_mean(minus, &set, -1);
  against[0] = -minus[0], against[1] = -minus[1];
  if (!status) status = grows_into_cone(run, &excluded, &set, against, delta);
  if (!status) status = grows_into_cone(run, &printed, &set, minus, delta);
  rf_claim_true(run, "a start along -mu- with a > 0 does not reach the cone", !excluded);
  rf_claim_misprint(run, "MP-LLWA-13", "a > 0 along the excluded direction fails to reach the cone", !printed,
                    !excluded, 1, !printed);
  rf_claim_misprint(run, "MP-LLWA-14", "smallest |w_k|/eps0 over Dbar, with max{1,d'} and min{1,d'}",
                    printed_floor, floor_ratio, NAN, printed_floor >= 1);
  rf_claim_note(run,
                "all in their cones after at most t = %.1f, %.1e of T0 (%.1e of it with max{1,d'}); |ln "
                "growth|/t at most %.3f; %d of the starts need a smaller eps0 than e^-20, down to e^%.0f",
                longest, used, printed_used, growth, later, smallest);
  rf_llwa_free(&set);
  return status;
}

/* ---- LLWA-33 ------------------------------------------------------------------------------- */

/* End of the exact alignment phase, in the clock of the mean loss. */
static RfStatus alignment_end(RfClaimRun *run, double *t, const RfLlwaSet *set, const RfNet *start) {
  RfFlowStart from = {0};
  RfAlignment alignment = {0};
  RfStatus status = rf_flow_start_from_net(run->context, &from, start);
  RfFlowProblem problem = {
      .X = set->X, .y = set->y, .n = set->n, .d = set->d, .leak = set->leak, .start = &from};
  if (!status) status = rf_flow_align(run->context, &alignment, &problem);
  *t = status ? NAN : alignment.t1 * (double)set->n;
  rf_alignment_free(&alignment);
  rf_flow_start_free(&from);
  return status;
}

/* Largest |w| of the neurons with sign(a) = side, and their largest angle (as a sine) to side mubar. */
static double group_size(const RfNet *net, const double *mubar, int side, double *turned) {
  double size = 0;
  *turned = 0;
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + k * net->d;
    if (net->a[k] * side <= 0) continue;
    double length = rf_la_norm(w, net->d), along = side * rf_la_dot(w, mubar, net->d) / length;
    size = fmax(size, length), *turned = fmax(*turned, along > 0 ? sqrt(fmax(0, 1 - along * along)) : 1);
  }
  return size;
}

/* |theta - r b (mubar, 1)|_M of the neurons with a > 0, for the best b of each. */
static double off_principal(const RfNet *net, const double *mubar) {
  double off = 0;
  for (rf_index k = 0; k < net->m; k++) {
    const double *w = net->W + k * net->d;
    if (net->a[k] <= 0) continue;
    double b = (rf_la_dot(w, mubar, net->d) + net->a[k]) / 2, rest[RF_LLWA_D];
    for (rf_index j = 0; j < net->d; j++) rest[j] = w[j] - b * mubar[j];
    off = fmax(off, fmax(rf_la_norm(rest, net->d), fabs(net->a[k] - b)));
  }
  return off;
}

static double slope_of(const double *x, const double *y, int count) {
  double mx = 0, my = 0, sxy = 0, sxx = 0;
  for (int k = 0; k < count; k++) mx += x[k] / count, my += y[k] / count;
  for (int k = 0; k < count; k++) sxy += (x[k] - mx) * (y[k] - my), sxx += (x[k] - mx) * (x[k] - mx);
  return sxy / sxx;
}

typedef struct Rates {
  double all[2], last[2]; /* smallest and largest slope over all scales, and over the last decade */
  double turned[2];       /* angle of the a < 0 neurons at the first and the last scale */
  double plus, minus;     /* growth rates over |mu+|/2 and |mu-|/2: largest |ratio - 1| */
  double constant[3];     /* largest error of the a > 0 neurons over r^3, r = 0.2, 0.1, 0.05 */
} Rates;

static void widen(double range[2], double value) {
  range[0] = fmin(range[0], value), range[1] = fmax(range[1], value);
}

static RfStatus two_rates(RfClaimRun *run, Rates *rates, const RfLlwaSet *set, const RfNet *start,
                          const double *plus, const double *minus) {
  enum { scales = 6 };
  const double r = 0.05;
  Point points[3];
  RfNet theta = at(&points[0], start->m, set), earlier = at(&points[1], start->m, set);
  double T0, length[2] = {rf_la_norm(plus, 2), rf_la_norm(minus, 2)}, unit[2][2], log_eps[scales],
             log_ratio[scales];
  double before = INFINITY;
  for (int j = 0; j < 2; j++) unit[0][j] = plus[j] / length[0], unit[1][j] = minus[j] / length[1];
  RfStatus status = alignment_end(run, &T0, set, start);
  for (int k = 0; k < scales && !status; k++) {
    /* 1e-3 ... 1e-8, times e^{-|mu+|T0/2}: a start that aligns late must be smaller to be small at T0 + T1 */
    log_eps[k] = -(k + 3) * log(10) - length[0] / 2 * T0;
    double T1 = (log(r / sqrt((double)start->m)) + (k + 3) * log(10)) / (length[0] / 2), turned[2], past;
    status = rf_llwa_at(run, &theta, set, start, log_eps[k], T0 + T1);
    if (status) break;
    double up = group_size(&theta, unit[0], 1, &turned[0]),
           down = group_size(&theta, unit[1], -1, &turned[1]);
    log_ratio[k] = log(down / up);
    rf_claim_true(run, "a < 0 neurons turn to -mu- as eps0 falls", turned[1] < before);
    before = turned[1];
    if (k == 0) rates->turned[0] = fmax(rates->turned[0], turned[1]);
    if (k + 1 < scales) continue;
    rates->turned[1] = fmax(rates->turned[1], turned[1]);
    double span = 0.5 * T1; /* rates over the second half of the way from T0 */
    status = rf_llwa_at(run, &earlier, set, start, log_eps[k], T0 + T1 - span);
    if (status) break;
    up = group_size(&theta, unit[0], 1, &turned[0]), past = group_size(&earlier, unit[0], 1, &turned[1]);
    const double radii[] = {0.2, 0.1, r};
    for (int c = 0; c < 3 && !status;
         c++) { /* error <= C2 r^3: on another state of the same run for each r */
      double when = T0 + T1 + log(radii[c] / r) / (length[0] / 2), off = NAN;
      RfNet other = at(&points[2], start->m, set);
      status = rf_llwa_at(run, &other, set, start, log_eps[k], when);
      if (!status) off = off_principal(&other, unit[0]);
      rates->constant[c] = fmax(rates->constant[c], off / pow(radii[c], 3));
    }
    rates->plus = fmax(rates->plus, fabs(log(up / past) / span / (length[0] / 2) - 1));
    down = group_size(&theta, unit[1], -1, &turned[0]), past = group_size(&earlier, unit[1], -1, &turned[1]);
    rates->minus = fmax(rates->minus, fabs(log(down / past) / span / (length[1] / 2) - 1));
  }
  if (status) return status;
  widen(rates->all, slope_of(log_eps, log_ratio, scales));
  widen(rates->last, slope_of(log_eps + scales - 2, log_ratio + scales - 2, 2));
  return RF_OK;
}

RfStatus rf_llwa_33(RfClaimRun *run) {
  enum { m = 6 };
  RfLlwaSet set;
  Rates rates = {.all = {INFINITY, -INFINITY}, .last = {INFINITY, -INFINITY}};
  double plus[2], minus[2];
  RfStatus status = rf_llwa_load(run, &set, "DS-HINT(20,1,0.1)", 0.5, 0);
  if (status) return status;
  one_sided_mean(plus, &set, 1), one_sided_mean(minus, &set, -1);
  double kappa = 1 - rf_la_norm(minus, 2) / rf_la_norm(plus, 2);
  for (rf_index seed = 0, used = 0; used < rf_claim_repetitions(run, 5) && !status; seed++) {
    RfNet start = {0};
    Point point;
    RfNet aim = at(&point, 1, &set);
    RfFlowResult flow;
    bool converged, up = false, down = false;
    status = rf_net_init(run->context, &start, RF_INIT_BALANCED_GAUSSIAN, m, 2, set.leak,
                         rf_claim_seed(run, "start", (uint64_t)seed), 1);
    for (int k = 0; k < m && !status; k++) up = up || start.a[k] > 0, down = down || start.a[k] < 0;
    if (!status && up && down) {
      status = two_rates(run, &rates, &set, &start, plus, minus);
      rf_llwa_single(&aim, set.wstar, 1);
      if (!status) status = rf_llwa_limit(run, &flow, &converged, &set, &start, log(1e-8));
      if (!status) {
        rf_claim_at_most(run, "the one-neuron limit from eps0 = 1e-8",
                         converged ? rf_llwa_apart(&flow.limit.net, &aim) : INFINITY, 0, 1e-8);
        rf_flow_result_free(&flow);
      }
      used++;
      rf_claim_made(run, "starts with both signs", 1);
    } else {
      rf_claim_dropped(run, "starts with both signs", 1);
    }
    rf_net_free(&start);
  }
  rf_claim_require(run, "starts with both signs", rf_claim_repetitions(run, 5));
  rf_claim_close(run, "slope of the size ratio in ln eps0, smallest", rates.all[0], kappa, 5e-3);
  rf_claim_close(run, "slope of the size ratio in ln eps0, largest", rates.all[1], kappa, 5e-3);
  rf_claim_close(run, "slope over the last decade, smallest", rates.last[0], kappa, 5e-3);
  rf_claim_close(run, "slope over the last decade, largest", rates.last[1], kappa, 5e-3);
  for (int c = 0; c < 3;
       c++) /* C2 is not given; these data are symmetric about mu+, so hardly any error is made */
    rf_claim_at_most(run, "error of the a > 0 neurons over r^3", rates.constant[c], 1, 0);
  rf_claim_at_most(run, "growth rate of the a > 0 neurons against |mu+|/2", rates.plus, 0, 1e-2);
  rf_claim_at_most(run, "growth rate of the a < 0 neurons against |mu-|/2", rates.minus, 0, 1e-2);
  rf_claim_misprint(run, "MP-LLWA-03", "growth rate of the a > 0 neurons over |mu+|", 1, 0.5,
                    0.5 * (1 + rates.plus), fabs(0.5 * (1 + rates.plus) - 1) <= 0.01);
  rf_claim_note(run,
                "kappa %.6f, slopes %.4f to %.4f, last decade %.6f; a < 0 neurons off -mu- by %.2f at 1e-3, "
                "%.1e at 1e-8; "
                "error of the a > 0 neurons over r^3: %.2e, %.2e, %.2e for r = 0.2, 0.1, 0.05",
                kappa, rates.all[0], rates.all[1], rates.last[1], rates.turned[0], rates.turned[1],
                rates.constant[0], rates.constant[1], rates.constant[2]);
  rf_llwa_free(&set);
  return status;
}
