/* Min, Mallada, Vidal, Theorem 1, and Wang, Pilanci, Theorem 4, on fresh data.
 *   MMV part 1: from the scale of (28) (with denominator 8; ln eps is -1e4 to -1e9) every neuron is in S+, S-
 *     or S_dead at t1 = 16 ln n/(min(zeta, sep^2) sqrt(sep) X_min), and those that started with an active
 *     sample of their own class are in S+ or S-. They stay there (Lemma 12).
 *   MMV part 2: L(t) <= L(t2)/(1 + L(t2) rate (t - t2)) with rate = (sep X_min)^2/(32 X_max), and the stable
 *     rank of W is at most 2 in the end.
 *   WP Theorem 4: orthogonally separable data, small balanced start with an aligned neuron of each sign: the
 *     limit is a global optimum of the max-margin problem. */
#include "theorem.h"

static void separated_data(Case *c, RfRandom *random, double least_sep) {
  char spec[128];
  snprintf(spec, sizeof spec, "separated,np=%d,nm=%d,d=%d,sep=%.4f,seed=%d",
           1 + (int)rf_random_below(random, 5), 1 + (int)rf_random_below(random, 5),
           2 + (int)rf_random_below(random, 4), least_sep + 0.4 * rf_random_uniform(random),
           (int)rf_random_below(random, 1000000));
  case_new(c, spec, NULL, NULL, 0, 0);
}

/* What is to be seen at t1 and after it. */
typedef struct Watch {
  const Case *c;
  double log_t1, log_t2;
  bool done;             /* t1 has passed */
  rf_index strays, left; /* neurons elsewhere at t1, sides changed after it */
  int8_t *at_t1;         /* m x n */
  rf_index *active;      /* m: own-class samples active at the start */
  double loss_t2, rate;  /* L(t2) */
  rf_index above;        /* moments above the bound on the loss */
  double closest;        /* largest L(t)/bound */
} Watch;

/* All own-class samples active and no other; or none at all. */
static bool in_place(const Watch *w, const RfFlowMoment *moment, rf_index k) {
  rf_index n = moment->n, own = 0, owned = 0, other = 0;
  double sign = w->c->net.a[k] > 0 ? 1 : -1;
  for (rf_index i = 0; i < n; i++) {
    bool mine = w->c->data.y[i] * sign > 0, on = moment->sides[k * n + i] > 0;
    own += mine, owned += mine && on, other += !mine && on;
  }
  bool dead = owned == 0 && other == 0;
  return other == 0 && (owned == own || (dead && w->active[k] == 0));
}

static void look(void *observer, const RfFlowMoment *moment) {
  Watch *w = observer;
  rf_index n = moment->n, m = moment->m;
  if (moment->log_t == -INFINITY)
    for (rf_index k = 0; k < m; k++)
      for (rf_index i = 0; i < n; i++)
        w->active[k] += moment->sides[k * n + i] > 0 && w->c->data.y[i] * w->c->net.a[k] > 0;
  if (moment->scale_frozen) return;
  if (!w->done && moment->log_t >= w->log_t1) {
    w->done = true;
    for (rf_index k = 0; k < m; k++) w->strays += !in_place(w, moment, k);
    memcpy(w->at_t1, moment->sides, (size_t)(m * n));
  } else if (w->done) {
    w->left += memcmp(w->at_t1, moment->sides, (size_t)(m * n)) != 0;
  }
  double positive = -INFINITY, negative = -INFINITY; /* t2: outputs of both classes above 1/4 */
  for (rf_index i = 0; i < n; i++) {
    double *top = w->c->data.y[i] > 0 ? &positive : &negative;
    *top = fmax(*top, moment->q[i]);
  }
  bool fits = (positive == -INFINITY || positive > 0.25) && (negative == -INFINITY || negative > 0.25);
  if (fits && isnan(w->log_t2)) w->log_t2 = moment->log_t, w->loss_t2 = exp(moment->log_loss);
  if (isnan(w->log_t2) || moment->log_t > 600) return;
  double late = exp(moment->log_t) - exp(w->log_t2);
  double bound = w->loss_t2 / (1 + w->loss_t2 * w->rate * late);
  w->closest = fmax(w->closest, exp(moment->log_loss) / bound);
  w->above += exp(moment->log_loss) > bound * (1 + 1e-9);
}

/* Constants of the theorem for these data and this start; false when Assumption 2 fails or n < 2. */
static bool constants(Case *c, RfAlignmentBounds *bounds, double *zeta2, double *log_scale, double *t1) {
  RfPairFacts pairs;
  rf_index n = c->data.n, d = c->data.d;
  double largest = 0;
  assert_ok(&c->context, rf_geometry_pairs(&c->context, &pairs, c->data.X, c->data.y, n, d));
  RfTheoryProblem problem = {.data = &c->data, .loss = c->problem.loss, .pairs = &pairs};
  rf_theory_alignment(&c->context, bounds, &problem);
  assert_ok(&c->context, rf_theory_start_angle(&c->context, zeta2, &c->net, c->data.X, c->data.y, n));
  for (rf_index k = 0; k < c->net.m; k++) largest = fmax(largest, rf_la_norm(c->net.W + k * d, d));
  *log_scale = rf_theory_log_scale(bounds, *zeta2, n, pairs.norm_min, pairs.norm_max, c->net.m, largest);
  *t1 = rf_theory_alignment_end(bounds, *zeta2);
  return isfinite(*log_scale) && isfinite(*t1) && *t1 > 0;
}

static void mmv_theorem_1(void **state) {
  (void)state;
  Count count = {0};
  double deepest = 0, closest = 0;
  for (rf_index t = 0; t < rf_test_iterations(8); t++) {
    RfRandom random = theorem_random(1, t);
    Case c;
    RfAlignmentBounds bounds;
    double zeta2, log_scale, t1;
    rf_index m = 8;
    separated_data(&c, &random, 0.1);
    c.problem.loss = t % 2 ? RF_LOSS_EXP : RF_LOSS_LOGISTIC2;
    case_init(&c, RF_INIT_MMV, m, theorem_seed() + 11 * (uint64_t)t, 0);
    if (!constants(&c, &bounds, &zeta2, &log_scale, &t1)) {
      case_free(&c);
      continue;
    }
    c.problem.log_scale = log_scale;
    Watch watch = {.c = &c, .log_t1 = log(t1), .log_t2 = NAN, .rate = bounds.loss_rate};
    watch.at_t1 = calloc((size_t)(m * c.data.n), 1);
    watch.active = calloc((size_t)m, sizeof(rf_index));
    c.settings.observe = look;
    c.settings.observer = &watch;
    c.settings.check_direction = false;
    deepest = fmin(deepest, log_scale);
    bool limit = case_run(&c, &count);
    bool grows = false; /* with no neuron left the loss stays */
    for (rf_index k = 0; k < m; k++) grows = grows || watch.active[k] > 0;
    if (grows) {
      case_event_bound(&c);
      case_assert(&c, watch.done && watch.strays == 0 && watch.left == 0);
      case_assert(&c, watch.above == 0);
      closest = fmax(closest, watch.closest);
    }
    if (limit) {
      const RfNet *net = &c.result.limit.net;
      double top = 0, all = rf_la_dot(net->W, net->W, m * net->d), v[8], next[8];
      for (rf_index j = 0; j < net->d; j++) v[j] = 1 + (double)j;
      for (int round = 0; round < 300; round++) { /* largest singular value */
        rf_la_scale(v, 1 / rf_la_norm(v, net->d), net->d);
        memset(next, 0, sizeof next);
        for (rf_index k = 0; k < m; k++)
          rf_la_axpy(next, rf_la_dot(net->W + k * net->d, v, net->d), net->W + k * net->d, net->d);
        top = rf_la_norm(next, net->d);
        memcpy(v, next, sizeof v);
      }
      case_assert(&c, all <= 2 * top * (1 + 1e-6));
    }
    free(watch.at_t1);
    free(watch.active);
    case_free(&c);
  }
  print_message("smallest ln eps %.3g, loss at most %.3g of its bound\n", deepest, closest);
  count_check(&count);
}

static void wp_theorem_4(void **state) {
  (void)state;
  Count count = {0};
  rf_index judged = 0;
  for (rf_index t = 0; t < rf_test_iterations(12); t++) {
    RfRandom random = theorem_random(4, t);
    Case c;
    bool aligned[2] = {false, false}, present[2] = {false, false};
    separated_data(&c, &random, 0.02);
    case_init(&c, RF_INIT_BALANCED, 10, theorem_seed() + 13 * (uint64_t)t, -12);
    for (rf_index i = 0; i < c.data.n; i++) present[c.data.y[i] > 0] = true;
    for (rf_index k = 0; k < 10; k++) /* active on a sample of its class: it ends in the cone of the class */
      for (rf_index i = 0; i < c.data.n; i++)
        if (rf_la_dot(c.net.W + k * c.data.d, c.data.X + i * c.data.d, c.data.d) > 0 &&
            c.net.a[k] * c.data.y[i] > 0)
          aligned[c.net.a[k] > 0] = true;
    bool enough = (aligned[0] || !present[0]) && (aligned[1] || !present[1]);
    if (case_run(&c, &count) && enough) {
      RfOptimum best;
      RfOptimumSettings settings;
      RfDualNorm dual;
      rf_optimum_settings_init(&settings);
      assert_ok(&c.context,
                rf_optimum_solve(&c.context, &best, c.data.X, c.data.y, c.data.n, c.data.d, &settings));
      case_assert(&c, best.gap < 1e-8);
      assert_relative(c.result.limit.margin, 1 / (2 * best.objective), 1e-7);
      assert_ok(&c.context, rf_optimum_dual_norm(&c.context, &dual, c.data.X, c.data.y, c.result.limit.lambda,
                                                 c.data.n, c.data.d, 0, 0));
      case_assert(&c, dual.value <= 1 + 1e-7); /* the multipliers of the limit are dual feasible */
      rf_dual_norm_free(&dual);
      rf_optimum_free(&best);
      case_event_bound(&c);
      judged++;
    }
    case_free(&c);
  }
  assert_true(2 * judged > rf_test_iterations(12) || rf_test_iterations(12) < 12);
  count_check(&count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mmv_theorem_1), cmocka_unit_test(wp_theorem_4)};
  return cmocka_run_group_tests_name("flow/theorems_mmv", tests, NULL, NULL);
}
