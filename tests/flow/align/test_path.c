/* Properties of exact alignment: conserved and monotone quantities along a path, the state at any time,
 * restarts, small explicit steps as an independent integrator, symmetries, degenerate sizes, threads. */
#include "rf_test.h"

enum { MAX_N = 30, MAX_D = 6 };

typedef struct Case {
  double X[MAX_N * MAX_D], c[MAX_N], v[MAX_D + 1];
  RfAlignField field;
  bool balanced;
} Case;

static void draw(RfRandom *random, Case *k, rf_index max_n, rf_index max_d, bool balanced) {
  rf_index n = 1 + rf_random_below(random, max_n), d = 1 + rf_random_below(random, max_d);
  double leaks[] = {0, 0.1, 0.5, 0.9};
  for (rf_index i = 0; i < n * d; i++) k->X[i] = rf_random_gaussian(random);
  for (rf_index i = 0; i < n; i++) k->c[i] = 0.5 * rf_random_sign(random);
  rf_random_direction(random, k->v, d);
  k->v[d] = balanced ? rf_random_sign(random) : rf_random_gaussian(random);
  double norm = hypot(1, k->v[d]);
  for (rf_index j = 0; j <= d; j++) k->v[j] /= norm;
  k->balanced = balanced;
  k->field = (RfAlignField){.X = k->X, .c = k->c, .n = n, .d = d, .leak = leaks[rf_random_below(random, 4)]};
}

static void print_case(const Case *k) {
  fprintf(stderr, "leak %g\n", k->field.leak);
  rf_test_print_matrix("X", k->X, k->field.n, k->field.d);
  rf_test_print_matrix("c", k->c, 1, k->field.n);
  rf_test_print_matrix("neuron", k->v, 1, k->field.d + 1);
}

/* sum c_i phi(w.x_i) for the w in a joint unit vector, and |w|. */
static double ascent(const Case *k, const double *v, double *size) {
  double sum = 0;
  for (rf_index i = 0; i < k->field.n; i++) {
    double h = rf_la_dot(v, k->X + i * k->field.d, k->field.d);
    sum += k->c[i] * (h > 0 ? h : k->field.leak * h);
  }
  *size = rf_la_norm(v, k->field.d);
  return sum;
}

/* a^2-|w|^2 is conserved; for balanced neurons s G(w)/|w| never falls; the log-norm grows at that rate's
 * speed. */
static void invariants(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 31, 0);
  for (rf_index number = 0; number < rf_test_iterations(300); number++) {
    Case k;
    draw(&random, &k, MAX_N, MAX_D, number % 3 != 0);
    rf_index d = k.field.d;
    RfAlignNeuron end;
    assert_ok(&context, rf_flow_align_neuron(&context, &end, &k.field, k.v, 0.7, NULL, INFINITY));
    double conserved = k.balanced ? 0 : k.v[d] * k.v[d] - rf_la_dot(k.v, k.v, d), last = -INFINITY;
    for (int j = 0; j <= 20; j++) {
      double t = (1.3 * end.t_last + 0.5) * j / 20, size;
      RfAlignNeuron at;
      assert_ok(&context, rf_flow_align_neuron(&context, &at, &k.field, k.v, 0.7, NULL, t));
      assert_close(at.t_state, t, 1e-12 * (1 + t));
      double *v = at.direction, balance = v[d] * v[d] - rf_la_dot(v, v, d);
      double want = conserved * exp(2 * 0.7 - 2 * at.log_norm);
      double slack = k.balanced ? 1e-12 : 1e-12 * fmax(1, exp(2 * 0.7 - 2 * at.log_norm));
      if (fabs(balance - want) > slack || fabs(rf_la_norm(v, d + 1) - 1) > 1e-14) {
        print_case(&k);
        fail_msg("t %g: a^2-|w|^2 is %.17g, not %.17g", t, balance, want);
      }
      double rate = (v[d] > 0 ? 1 : -1) * ascent(&k, v, &size) / size;
      if (k.balanced && size > 0 && rate < last - 1e-9 * (1 + fabs(last))) {
        print_case(&k);
        fail_msg("t %g: the rate fell from %.17g to %.17g", t, last, rate);
      }
      last = rate;
      rf_align_neuron_free(&at);
    }
    rf_align_neuron_free(&end);
  }
}

/* Stopping at a time and going on from the state there gives the same end. */
static void restarts(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 32, 0);
  for (rf_index number = 0; number < rf_test_iterations(300); number++) {
    Case k;
    draw(&random, &k, MAX_N, MAX_D, true);
    RfAlignNeuron whole, first, second;
    assert_ok(&context, rf_flow_align_neuron(&context, &whole, &k.field, k.v, 0, NULL, INFINITY));
    double t = rf_random_uniform(&random) * (whole.t_last + 0.1);
    assert_ok(&context, rf_flow_align_neuron(&context, &first, &k.field, k.v, 0, NULL, t));
    assert_ok(&context, rf_flow_align_neuron(&context, &second, &k.field, first.direction, first.log_norm,
                                             first.sector, INFINITY));
    bool same = first.n_crossings + second.n_crossings == whole.n_crossings &&
                second.destiny == whole.destiny &&
                memcmp(second.sector, whole.sector, (size_t)k.field.n) == 0 &&
                fabs(second.G - whole.G) <= 1e-9 * fabs(whole.G);
    if (same && isfinite(whole.log_amplitude))
      same = fabs(second.log_amplitude - whole.G * t - whole.log_amplitude) < 1e-7 * (1 + fabs(whole.G * t));
    if (same && second.n_crossings > 0)
      same = fabs(second.t_last + t - whole.t_last) < 1e-7 * (1 + whole.t_last);
    /* a neuron that shrank by e^-8 is close to the stable manifold: its state there does not hold the rest in
     * doubles */
    if (!same && first.log_norm > -8) {
      print_case(&k);
      fail_msg("stopped at %g: %d + %d crossings, %d in one go; %s, %s", t, (int)first.n_crossings,
               (int)second.n_crossings, (int)whole.n_crossings, rf_destiny_name(second.destiny),
               rf_destiny_name(whole.destiny));
    }
    rf_align_neuron_free(&whole), rf_align_neuron_free(&first), rf_align_neuron_free(&second);
  }
}

/* Explicit Euler with phi'(0) = leak and small steps: chatters along slides, but stays close to the same
 * path. A few paths that pass close to a corner may part; most must not. */
static void small_steps(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 33, 0);
  rf_index total = rf_test_iterations(120), close = 0;
  for (rf_index number = 0; number < total; number++) {
    Case k;
    draw(&random, &k, 10, 3, number % 2 == 0);
    rf_index n = k.field.n, d = k.field.d;
    double t_end = 2, w[MAX_D], g[MAX_D], a = k.v[d];
    int steps = 40000;
    memcpy(w, k.v, (size_t)d * sizeof(double));
    for (int s = 0; s < steps; s++) {
      memset(g, 0, sizeof g);
      for (rf_index i = 0; i < n; i++)
        rf_la_axpy(g, k.c[i] * (rf_la_dot(w, k.X + i * d, d) > 0 ? 1 : k.field.leak), k.X + i * d, d);
      double rise = rf_la_dot(g, w, d), h = t_end / steps;
      rf_la_axpy(w, h * a, g, d);
      a += h * rise;
    }
    RfAlignNeuron got;
    assert_ok(&context, rf_flow_align_neuron(&context, &got, &k.field, k.v, 0, NULL, t_end));
    double norm = hypot(rf_la_norm(w, d), a), difference = fabs(a / norm - got.direction[d]);
    for (rf_index j = 0; j < d; j++) difference = fmax(difference, fabs(w[j] / norm - got.direction[j]));
    bool same = difference < 2e-2 && fabs(log(norm) - got.log_norm) < 2e-2 * (1 + fabs(got.log_norm));
    close += same || got.branched;
    rf_align_neuron_free(&got);
  }
  print_message("%d of %d within 2e-2 of small steps\n", (int)close, (int)total);
  assert_true((double)close >= 0.95 * (double)total);
}

/* Scaling X by 2 halves all times; turning the data and the neuron together, or permuting samples, changes
 * nothing. */
static void symmetries(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 34, 0);
  for (rf_index number = 0; number < rf_test_iterations(200); number++) {
    Case k, turned;
    draw(&random, &k, MAX_N, MAX_D, true);
    turned = k;
    turned.field.X = turned.X, turned.field.c = turned.c;
    rf_index n = k.field.n, d = k.field.d;
    for (rf_index i = 0; i < n; i++) { /* reverse samples, mirror the first coordinate, double */
      turned.c[i] = k.c[n - 1 - i];
      for (rf_index j = 0; j < d; j++) turned.X[i * d + j] = (j == 0 ? -2 : 2) * k.X[(n - 1 - i) * d + j];
    }
    turned.v[0] = -turned.v[0];
    RfAlignNeuron one, two;
    assert_ok(&context, rf_flow_align_neuron(&context, &one, &k.field, k.v, 0, NULL, INFINITY));
    assert_ok(&context, rf_flow_align_neuron(&context, &two, &turned.field, turned.v, 0, NULL, INFINITY));
    assert_int_equal(one.n_crossings, two.n_crossings);
    assert_int_equal(one.destiny, two.destiny);
    assert_close(two.t_last, one.t_last / 2, 1e-9 * (1 + one.t_last));
    for (rf_index i = 0; i < n; i++) assert_int_equal(one.sector[i], two.sector[n - 1 - i]);
    rf_align_neuron_free(&one), rf_align_neuron_free(&two);
  }
}

/* One thread, three threads: the same bits. Also widths 0 and 1, and more samples than fit a window. */
static void threads_and_sizes(void **state) {
  (void)state;
  rf_index n = 150, d = 5, widths[] = {0, 1, 40};
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
  RfRandom random;
  rf_random_init(&random, 35, 0);
  for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
  for (int w = 0; w < 3; w++) {
    RfContext context;
    rf_context_init(&context);
    RfNet net;
    RfFlowStart start;
    assert_ok(&context, rf_net_init(&context, &net, RF_INIT_GAUSSIAN, widths[w], d, 0.2, 3, 1));
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    RfFlowProblem problem = {.X = X, .y = y, .n = n, .d = d, .leak = 0.2, .start = &start};
    RfAlignment one, three;
    assert_ok(&context, rf_flow_align(&context, &one, &problem));
    context.threads = 3;
    assert_ok(&context, rf_flow_align(&context, &three, &problem));
    assert_int_equal(one.m, widths[w]);
    for (rf_index k = 0; k < one.m; k++) {
      assert_int_equal(one.neurons[k].n_crossings, three.neurons[k].n_crossings);
      assert_true(one.neurons[k].t_last == three.neurons[k].t_last);
      assert_memory_equal(one.neurons[k].direction, three.neurons[k].direction,
                          (size_t)(d + 1) * sizeof(double));
    }
    rf_alignment_free(&one), rf_alignment_free(&three);
    rf_flow_start_free(&start);
    rf_net_free(&net);
  }
  rf_free(X), rf_free(y);
}

static RfAlignNeuron follow(const double *X, const double *c, rf_index n, rf_index d, double leak,
                            const double *v) {
  RfContext context;
  rf_context_init(&context);
  RfAlignField field = {.X = X, .c = c, .n = n, .d = d, .leak = leak};
  RfAlignNeuron out;
  assert_ok(&context, rf_flow_align_neuron(&context, &out, &field, v, 0, NULL, INFINITY));
  return out;
}

/* Closed answers by hand. */
static void by_hand(void **state) {
  (void)state;
  double half = sqrt(0.5);
  { /* no samples: nothing moves */
    double v[] = {half, half};
    RfAlignNeuron k = follow(v, v, 0, 1, 0.1, v);
    assert_int_equal(k.destiny, RF_DESTINY_STUCK);
    rf_align_neuron_free(&k);
  }
  { /* one sample, aligned: |w| = |a| = e^{t/2}/sqrt 2 */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {half, 0, half};
    RfAlignNeuron k = follow(X, c, 1, 2, 0, v);
    assert_int_equal(k.destiny, RF_DESTINY_S_PLUS);
    assert_close(k.G, 0.5, 1e-15);
    assert_close(k.log_amplitude, log(half), 1e-15);
    rf_align_neuron_free(&k);
  }
  { /* on the wrong side of it with leak 0: dead */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {-half, 0, half};
    RfAlignNeuron k = follow(X, c, 1, 2, 0, v);
    assert_int_equal(k.destiny, RF_DESTINY_DEAD);
    assert_close(k.G, 0, 0);
    assert_true(isnan(k.log_amplitude));
    rf_align_neuron_free(&k);
  }
  { /* x and -x with opposite labels: through their hyperplane, to the other; with equal labels it rests on it
     */
    double X[] = {1, 0, -2, 0}, c[] = {0.5, -0.5}, both[] = {0.5, 0.5}, v[] = {0.3, 0.5, -sqrt(0.66)};
    RfAlignNeuron k = follow(X, c, 2, 2, 0, v);
    assert_int_equal(k.destiny, RF_DESTINY_S_MINUS);
    assert_int_equal(k.sector[0], -1);
    assert_int_equal(k.sector[1], 1);
    assert_int_equal(k.n_crossings, 1);
    assert_int_equal(k.crossings[0].n_samples, 2);
    rf_align_neuron_free(&k);
    k = follow(X, both, 2, 2, 0, v);
    assert_int_equal(k.destiny, RF_DESTINY_DEAD);
    rf_align_neuron_free(&k);
  }
  { /* exactly antiparallel with a leak: decays for ever without leaving the ray */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {-half, 0, half};
    RfAlignNeuron k = follow(X, c, 1, 2, 0.5, v);
    assert_int_equal(k.destiny, RF_DESTINY_STUCK);
    rf_align_neuron_free(&k);
  }
  { /* the witness of WP Theorem 1: x1=(1,0) positive, x2=(1,1)/sqrt2 negative, a>0: slides to (1,-1)/sqrt2 */
    double X[] = {1, 0, half, half}, c[] = {0.5, -0.5}, v[] = {half * 0.6, half * 0.8, half};
    RfAlignNeuron k = follow(X, c, 2, 2, 0, v);
    assert_int_equal(k.sector[0], 1);
    assert_int_equal(k.sector[1], 0);
    assert_close(k.velocity[0] / k.G, half, 1e-15);
    assert_close(k.velocity[1] / k.G, -half, 1e-15);
    assert_close(k.G, 0.5 * half, 1e-15);
    assert_int_equal(k.destiny, RF_DESTINY_S_PLUS); /* active on the positive sample only */
    rf_align_neuron_free(&k);
  }
  { /* the same row with both labels cancels: no kink, no branch, no motion from it */
    double X[] = {1, 0, 1, 0, 0, 1}, c[] = {0.5, -0.5, 0.5}, v[] = {0, half, half};
    RfAlignNeuron k = follow(X, c, 3, 2, 0, v);
    assert_false(k.branched);
    assert_close(k.velocity[0], 0, 1e-15);
    assert_close(k.G, 0.5, 1e-15);
    rf_align_neuron_free(&k);
  }
  { /* a zero neuron */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {0, 0, 0};
    RfAlignNeuron k = follow(X, c, 1, 2, 0.3, v);
    assert_int_equal(k.destiny, RF_DESTINY_STUCK);
    rf_align_neuron_free(&k);
  }
  { /* w = 0 with a leak: it may leave to either side */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {0, 0, 1};
    RfAlignNeuron k = follow(X, c, 1, 2, 0.3, v);
    assert_false(k.branched); /* g.x > 0 whatever the side */
    assert_int_equal(k.sector[0], 1);
    rf_align_neuron_free(&k);
  }
  { /* unbalanced, |a| > |w|, antiparallel: passes the origin and comes out aligned; p+ = a-|w| */
    double X[] = {1, 0}, c[] = {0.5}, v[] = {-0.6, 0, 0.8};
    RfAlignNeuron k = follow(X, c, 1, 2, 0.5, v);
    assert_int_equal(k.n_crossings, 1);
    assert_close(k.crossings[0].t, log((0.8 + 0.6) / sqrt(0.28)) / 0.25, 1e-12);
    assert_int_equal(k.destiny, RF_DESTINY_S_PLUS);
    assert_close(k.G, 0.5, 1e-15);
    rf_align_neuron_free(&k);
  }
}

/* At leak 1 the field is one vector, w.g and a G turn into each other like sinh and cosh, and nothing happens
 * where w.x changes its sign. Gone on with from a = 0, where a path is left, sides of the start must not
 * count: a stayed 0 for ever. */
static void linear(void **state) {
  (void)state;
  double X[] = {1, 0.5, -1, 1}, c[] = {0.5, -0.5}, v[] = {0.8, 1.3, -0.3}, g[] = {1, -0.25};
  double G = hypot(g[0], g[1]), along = (v[0] * g[0] + v[1] * g[1]) / G, turn = atanh(0.3 / along) / G;
  RfContext context;
  rf_context_init(&context);
  RfAlignField field = {.X = X, .c = c, .n = 2, .d = 2, .leak = 1};
  RfAlignNeuron k, rest;
  assert_ok(&context, rf_flow_align_neuron(&context, &k, &field, v, 0, NULL, INFINITY));
  assert_close(k.t_state, turn, 1e-14);
  assert_close(k.direction[2], 0, 0);
  assert_int_equal(k.destiny, RF_DESTINY_S_PLUS); /* where it goes: along g, which separates */
  assert_int_equal(k.sector[0], 1);
  assert_int_equal(k.sector[1], -1);
  assert_close(k.log_amplitude, log((along - 0.3) / 2), 1e-14);
  int8_t start[] = {1, 1}; /* the sides of v */
  assert_ok(&context, rf_flow_align_neuron(&context, &rest, &field, k.direction, k.log_norm, start, 2));
  double size = exp(rest.log_norm), t = turn + 2, ahead = along * cosh(G * t) - 0.3 * sinh(G * t);
  assert_close(size * rest.direction[2], along * sinh(G * t) - 0.3 * cosh(G * t), 1e-13);
  for (int j = 0; j < 2; j++)
    assert_close(size * rest.direction[j], v[j] + (ahead - along) * g[j] / G, 1e-13);
  rf_align_neuron_free(&k), rf_align_neuron_free(&rest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(invariants), cmocka_unit_test(restarts),          cmocka_unit_test(small_steps),
      cmocka_unit_test(symmetries), cmocka_unit_test(threads_and_sizes), cmocka_unit_test(by_hand),
      cmocka_unit_test(linear),
  };
  return cmocka_run_group_tests_name("flow/align/path", tests, NULL, NULL);
}
