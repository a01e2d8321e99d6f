/* Extremal directions: the two algorithms agree; each direction beats its neighbourhood; in the plane a fine
 * grid finds the same ones; random ascents end at one of them; orthogonally separable data have exactly the
 * class sums (Phuong & Lampert Lemma 2, PL-08; Wang & Pilanci Lemma 4, WP-19); reference alignments end in
 * reported sectors. */
#include "geometry_test.h"

typedef struct Case {
  const double *X, *y;
  rf_index n, d;
  double leak, slope;
} Case;

static void print_case(const Case *c) {
  rf_test_print_matrix("X", c->X, c->n, c->d);
  rf_test_print_matrix("y", c->y, 1, c->n);
  fprintf(stderr, "leak %.17g slope %.17g\n", c->leak, c->slope);
}

static double potential(const Case *c, const double *w) {
  return rf_geometry_potential(w, c->X, c->y, c->n, c->d, c->leak, c->slope);
}

static void find(RfContext *context, RfExtremal *out, const Case *c, RfExtremalMethod method) {
  RfExtremalSettings settings = {.leak = c->leak, .slope = c->slope, .method = method, .node_limit = 200000};
  RfStatus status = rf_geometry_extremal(context, out, c->X, c->y, c->n, c->d, &settings);
  if (status == RF_OK && out->complete) return;
  print_case(c);
  fail_msg("status %d, %s, method %d", (int)status, context->error, (int)method);
}

static bool contains(const RfExtremalDirection *list, rf_index count, const double *w, rf_index d,
                     double tolerance) {
  for (rf_index k = 0; k < count; k++) {
    double square = 0;
    for (rf_index j = 0; j < d; j++) square += pow(list[k].direction[j] - w[j], 2);
    if (sqrt(square) <= tolerance) return true;
  }
  return false;
}

static void print_list(const char *name, const RfExtremalDirection *list, rf_index count, rf_index d) {
  for (rf_index k = 0; k < count; k++) {
    fprintf(stderr, "%s %.12g %s", name, list[k].G, list[k].sector);
    for (rf_index j = 0; j < d; j++) fprintf(stderr, " %.15g", list[k].direction[j]);
    fputc('\n', stderr);
  }
}

static void same(const Case *c, const RfExtremal *a, const RfExtremal *b) {
  bool equal = a->n_positive == b->n_positive && a->n_negative == b->n_negative;
  for (rf_index k = 0; k < a->n_positive && equal; k++)
    equal = contains(b->positive, b->n_positive, a->positive[k].direction, c->d, 1e-9);
  for (rf_index k = 0; k < a->n_negative && equal; k++)
    equal = contains(b->negative, b->n_negative, a->negative[k].direction, c->d, 1e-9);
  if (equal) return;
  print_case(c);
  print_list("first +", a->positive, a->n_positive, c->d);
  print_list("second +", b->positive, b->n_positive, c->d);
  print_list("first -", a->negative, a->n_negative, c->d);
  print_list("second -", b->negative, b->n_negative, c->d);
  fail_msg("the two methods differ");
}

/* G around a direction, sign +1 for maxima: nothing on two small spheres is higher. */
static void beats_neighbours(const Case *c, const RfExtremalDirection *e, double sign, RfRandom *random) {
  double v[16], moved[16], G = potential(c, e->direction);
  assert_close(e->G, G, 1e-13 * (1 + fabs(G)));
  assert_close(rf_la_norm(e->direction, c->d), 1, 1e-14);
  for (int k = 0; k < 60; k++) {
    double radius = k % 2 ? 1e-3 : 1e-5;
    rf_random_direction(random, v, c->d);
    for (rf_index j = 0; j < c->d; j++) moved[j] = e->direction[j] + radius * v[j];
    rf_la_scale(moved, 1 / rf_la_norm(moved, c->d), c->d);
    if (sign * potential(c, moved) <= sign * G + 1e-15) continue;
    double gap = rf_la_dot(moved, e->direction, c->d);
    if (radius == 1e-3) continue; /* another sector may be that close; the small sphere decides */
    print_case(c);
    fail_msg("not extremal: G %.17g at cosine %.17g, %.17g here (%s)", potential(c, moved), gap, G,
             e->sector);
  }
}

/* PL-03: the gradient projected off the hyperplanes through w is G w. */
static void projected_gradient(const RfContext *context, const Case *c, const RfExtremalDirection *e) {
  double g[16] = {0}, frame[16 * 16];
  rf_index taken = 0;
  for (rf_index i = 0; i < c->n; i++) {
    const double *x = c->X + i * c->d;
    if (e->sector[i] == '0') {
      double *v = frame + taken * c->d, norm = rf_la_norm(x, c->d);
      if (norm == 0) continue;
      for (rf_index k = 0; k < c->d; k++) v[k] = x[k] / norm;
      for (int pass = 0; pass < 2; pass++)
        for (rf_index j = 0; j < taken; j++)
          rf_la_axpy(v, -rf_la_dot(v, frame + j * c->d, c->d), frame + j * c->d, c->d);
      double left = rf_la_norm(v, c->d);
      if (left < 1e-9) continue;
      rf_la_scale(v, 1 / left, c->d);
      taken++;
    } else {
      rf_la_axpy(g, c->slope * c->y[i] * (e->sector[i] == '+' ? 1 : c->leak), x, c->d);
    }
  }
  (void)context;
  for (rf_index j = 0; j < taken; j++)
    rf_la_axpy(g, -rf_la_dot(g, frame + j * c->d, c->d), frame + j * c->d, c->d);
  for (rf_index k = 0; k < c->d; k++) assert_close(g[k], e->G * e->direction[k], 1e-8);
}

static void check_all(RfContext *context, const Case *c, RfRandom *random) {
  RfExtremal faces, bounds, cells, automatic;
  find(context, &faces, c, RF_EXTREMAL_FACES);
  find(context, &bounds, c, RF_EXTREMAL_BOUNDS);
  find(context, &cells, c, RF_EXTREMAL_CELLS);
  find(context, &automatic, c, RF_EXTREMAL_AUTO);
  same(c, &faces, &bounds);
  same(c, &faces, &cells);
  same(c, &faces, &automatic);
  rf_extremal_free(&cells);
  rf_extremal_free(&automatic);
  for (rf_index k = 0; k < faces.n_positive; k++) {
    beats_neighbours(c, faces.positive + k, 1, random);
    projected_gradient(context, c, faces.positive + k);
    if (k > 0) assert_true(faces.positive[k].G <= faces.positive[k - 1].G);
  }
  for (rf_index k = 0; k < faces.n_negative; k++) {
    beats_neighbours(c, faces.negative + k, -1, random);
    projected_gradient(context, c, faces.negative + k);
    if (k > 0) assert_true(faces.negative[k].G >= faces.negative[k - 1].G);
  }
  rf_extremal_free(&faces);
  rf_extremal_free(&bounds);
}

static double random_leak(RfRandom *random) {
  static const double leaks[] = {0, 0, 0.01, 0.1, 0.5, 0.9, 1};
  return leaks[rf_random_below(random, 7)];
}

static void methods_agree(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 71, 0);
  for (rf_index k = 0; k < rf_test_iterations(300); k++) {
    rf_index d = 1 + rf_random_below(&random, 4), n = 1 + rf_random_below(&random, 9);
    double *X = k % 2 ? random_integers(&random, n, d, 1 + k % 3) : random_rows(&random, n, d);
    double *y = random_labels(&random, n);
    Case c = {X, y, n, d, random_leak(&random), k % 3 ? 0.5 : 1};
    check_all(&context, &c, &random);
    rf_free(X);
    rf_free(y);
  }
}

/* Strict local maxima of sign G on the circle, from N angles. */
static void grid_in_plane(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 72, 0);
  enum { N = 20000 };
  double *values = RF_NEW(double, N);
  for (rf_index k = 0; k < rf_test_iterations(40); k++) {
    rf_index n = 1 + rf_random_below(&random, 8);
    double *X = random_rows(&random, n, 2), *y = random_labels(&random, n);
    Case c = {X, y, n, 2, random_leak(&random), 0.5};
    RfExtremal found;
    find(&context, &found, &c, RF_EXTREMAL_AUTO);
    for (int sign = -1; sign <= 1; sign += 2) {
      const RfExtremalDirection *list = sign > 0 ? found.positive : found.negative;
      rf_index count = sign > 0 ? found.n_positive : found.n_negative, seen = 0;
      for (rf_index a = 0; a < N; a++) {
        double w[2] = {cos(2 * acos(-1.0) * (double)a / N), sin(2 * acos(-1.0) * (double)a / N)};
        values[a] = sign * potential(&c, w);
      }
      for (rf_index a = 0; a < N; a++) {
        double w[2] = {cos(2 * acos(-1.0) * (double)a / N), sin(2 * acos(-1.0) * (double)a / N)};
        if (!(values[a] > values[(a + N - 1) % N] && values[a] > values[(a + 1) % N])) continue;
        seen++;
        if (!contains(list, count, w, 2, 1e-3)) {
          print_case(&c);
          fail_msg("the grid has an extremal direction at %.6g %.6g", w[0], w[1]);
        }
      }
      for (rf_index e = 0; e < count; e++) /* a minimum next to a maximum: the grid may miss both */
        for (rf_index f = 0; f < (sign > 0 ? found.n_negative : found.n_positive); f++) {
          const double *other = (sign > 0 ? found.negative : found.positive)[f].direction;
          if (contains(list + e, 1, other, 2, 3e-3)) seen++;
        }
      if (seen < count) {
        print_case(&c);
        print_list(sign > 0 ? "+" : "-", list, count, 2);
        fail_msg("the grid sees %lld of them", (long long)seen);
      }
    }
    rf_extremal_free(&found);
    rf_free(X);
    rf_free(y);
  }
  rf_free(values);
}

/* Random local search upwards from random starts: ends at a reported direction, or where G is flat. */
static void ascents_end_there(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 73, 0);
  rf_index ended = 0;
  for (rf_index k = 0; k < rf_test_iterations(25); k++) {
    rf_index n = 3 + rf_random_below(&random, 6), d = 3;
    double *X = random_rows(&random, n, d), *y = random_labels(&random, n), w[3], v[3];
    Case c = {X, y, n, d, random_leak(&random), 1};
    RfExtremal found;
    find(&context, &found, &c, RF_EXTREMAL_AUTO);
    for (int start = 0; start < 8; start++) {
      double radius = 0.3;
      rf_random_direction(&random, w, d);
      double G = potential(&c, w);
      for (int idle = 0; radius > 1e-7;) {
        rf_random_direction(&random, v, d);
        for (rf_index j = 0; j < d; j++) v[j] = w[j] + radius * v[j];
        rf_la_scale(v, 1 / rf_la_norm(v, d), d);
        double higher = potential(&c, v);
        if (higher > G) {
          memcpy(w, v, sizeof w);
          G = higher;
          idle = 0;
        } else if (++idle > 200) {
          radius /= 2;
          idle = 0;
        }
      }
      if (fabs(G) < 1e-12) continue; /* dead */
      ended++;
      if (!contains(found.positive, found.n_positive, w, d, 0.15)) {
        print_case(&c);
        print_list("+", found.positive, found.n_positive, d);
        fail_msg("an ascent ended at %.9g %.9g %.9g with G %.9g", w[0], w[1], w[2], G);
      }
    }
    rf_extremal_free(&found);
    rf_free(X);
    rf_free(y);
  }
  assert_true(ended > 0);
}

static void expect_class_sums(RfContext *context, const Case *c, RfExtremalMethod method) {
  RfExtremal found;
  find(context, &found, c, method);
  for (int sign = -1; sign <= 1; sign += 2) {
    double *sum = RF_NEW(double, c->d);
    rf_index members = 0;
    for (rf_index i = 0; i < c->n; i++)
      if (c->y[i] == sign) rf_la_axpy(sum, 1, c->X + i * c->d, c->d), members++;
    rf_index count = sign > 0 ? found.n_positive : found.n_negative;
    const RfExtremalDirection *list = sign > 0 ? found.positive : found.negative;
    if (count != (members > 0)) {
      print_case(c);
      print_list("found", list, count, c->d);
      fail_msg("%lld extremal directions of sign %d", (long long)count, sign);
    }
    double norm = rf_la_norm(sum, c->d);
    for (rf_index j = 0; j < c->d && count; j++) assert_close(list[0].direction[j], sum[j] / norm, 1e-12);
    if (count) assert_relative(list[0].G, sign * c->slope * norm, 1e-12);
    for (rf_index i = 0; i < c->n && count; i++) {
      if (c->y[i] == sign) assert_int_equal(list[0].sector[i], '+');
      if (c->y[i] != sign) assert_true(list[0].sector[i] != '+');
    }
    rf_free(sum);
  }
  rf_extremal_free(&found);
}

static void orthogonally_separable(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 74, 0);
  Case pl2 = {pl2_X, pl2_y, 5, 2, 0, 0.5};
  expect_class_sums(&context, &pl2, RF_EXTREMAL_FACES);
  expect_class_sums(&context, &pl2, RF_EXTREMAL_BOUNDS);
  double identity[4] = {1, 0, 0, 1}, half[6] = {1, 0, 1, 0.5, 0, -1}, labels[3] = {1, -1, 1},
         three[3] = {1, 1, -1};
  Case zero_products = {identity, labels, 2, 2, 0, 0.5}, zero_product = {half, three, 3, 2, 0, 0.5};
  expect_class_sums(&context, &zero_products, RF_EXTREMAL_FACES);
  expect_class_sums(&context, &zero_products, RF_EXTREMAL_BOUNDS);
  expect_class_sums(&context, &zero_product, RF_EXTREMAL_FACES);
  expect_class_sums(&context, &zero_product, RF_EXTREMAL_BOUNDS);
  static const rf_index sizes[][2] = {{40, 4}, {12, 3}, {8, 5}, {60, 10}, {500, 20}, {3200, 5}};
  for (int k = 0; k < 6; k++) {
    rf_index n = sizes[k][0], d = sizes[k][1];
    double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
    random_orthant(&random, X, y, n, d);
    Case c = {X, y, n, d, 0, 0.5};
    expect_class_sums(&context, &c, RF_EXTREMAL_AUTO);
    if (k == 1) expect_class_sums(&context, &c, RF_EXTREMAL_FACES);
    rf_free(X);
    rf_free(y);
  }
}

static void small_cases(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfExtremal found;
  double x[2] = {3, 4}, y[2] = {1, -1}, line[2] = {2, -3}, zero[2] = {0, 0};
  Case one = {x, y, 1, 2, 0, 1};
  find(&context, &found, &one, RF_EXTREMAL_AUTO);
  assert_true(found.n_positive == 1 && found.n_negative == 0 && found.positive[0].G == 5);
  rf_extremal_free(&found);
  one.leak = 0.5;
  find(&context, &found, &one, RF_EXTREMAL_AUTO);
  assert_true(found.n_positive == 1 && found.n_negative == 1);
  assert_close(found.negative[0].G, -2.5, 1e-14);
  assert_string_equal(found.negative[0].sector, "-");
  rf_extremal_free(&found);
  Case linear = {pl2_X, pl2_y, 5, 2, 1, 0.5};
  for (int method = 0; method <= 3; method++) {
    find(&context, &found, &linear, (RfExtremalMethod)method);
    assert_true(found.n_positive == 1 && found.n_negative == 1);
    assert_close(found.positive[0].G, -found.negative[0].G, 1e-14);
    rf_extremal_free(&found);
  }
  Case on_line = {line, y, 2, 1, 0, 1}; /* G = (2w)_+ - (-3w)_+: 2 at w = 1, -3 at w = -1 */
  for (int method = 0; method <= 3; method++) {
    find(&context, &found, &on_line, (RfExtremalMethod)method);
    assert_true(found.n_positive == 1 && found.n_negative == 1);
    assert_true(found.positive[0].G == 2 && found.negative[0].G == -3);
    rf_extremal_free(&found);
  }
  Case nothing = {zero, y, 1, 2, 0, 1}, none = {zero, y, 0, 2, 0, 1};
  find(&context, &found, &nothing, RF_EXTREMAL_AUTO);
  assert_true(found.n_positive == 0 && found.n_negative == 0 && found.complete);
  rf_extremal_free(&found);
  find(&context, &found, &none, RF_EXTREMAL_AUTO);
  assert_true(found.n_positive == 0 && found.complete);
  rf_extremal_free(&found);
  RfExtremalSettings bad = {.leak = 2, .slope = 1};
  assert_int_equal(rf_geometry_extremal(&context, &found, x, y, 1, 2, &bad), RF_ERR_USAGE);
  rf_extremal_free(NULL);
}

/* Random directions of high dimension with a node limit: partial and marked. */
static void limited(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 75, 0);
  double *X = random_rows(&random, 60, 20), *y = random_labels(&random, 60);
  RfExtremalSettings settings = {.leak = 0, .slope = 1, .node_limit = 50};
  RfExtremal found;
  assert_int_equal(rf_geometry_extremal(&context, &found, X, y, 60, 20, &settings), RF_LIMIT);
  assert_false(found.complete);
  rf_extremal_free(&found);
  rf_free(X);
  rf_free(y);
}

/* Neurons of the reference alignments that end in an extremal sector end in one of ours, at the same rate. */
static void reference_alignments(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  static const char *const names[] = {"gauss_d3_leaky",   "hinted_d2",        "min_mu_d2",    "orthsep_d2",
                                      "orthsep_d20",      "orthsep_d3_leaky", "symmetric_d2", "vardi32_leaky",
                                      "vardi32_logistic", "vardi_local",      "xor_d2"};
  rf_index compared = 0;
  for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
    char path[128];
    snprintf(path, sizeof path, "flow/%s.json", names[f]);
    json_t *root = load_json(rf_test_golden(), path), *input = json_object_get(root, "input");
    json_t *align = json_object_get(root, "alignment_eps0");
    rf_index n, d;
    double *X = json_rows(json_object_get(input, "X"), &n, &d), *y = RF_NEW(double, n);
    for (rf_index i = 0; i < n; i++)
      y[i] = json_number_value(json_array_get(json_object_get(input, "y"), (size_t)i));
    bool logistic = strcmp(json_string_value(json_object_get(input, "loss")), "logistic") == 0;
    Case c = {X, y, n, d, json_number_value(json_object_get(input, "alpha")), logistic ? 0.5 : 1};
    RfExtremal found;
    find(&context, &found, &c, RF_EXTREMAL_AUTO);
    json_t *sectors = json_object_get(align, "sector");
    for (size_t k = 0; k < json_array_size(sectors); k++) {
      double G = json_number_value(json_array_get(json_object_get(align, "G"), k));
      double a = json_number_value(json_array_get(json_object_get(input, "a0"), k));
      if (!(G > 0)) continue;
      const RfExtremalDirection *list = a > 0 ? found.positive : found.negative;
      rf_index count = a > 0 ? found.n_positive : found.n_negative, hit = -1;
      for (rf_index e = 0; e < count && hit < 0; e++) {
        hit = e;
        for (rf_index i = 0; i < n; i++) {
          json_int_t sign =
              (json_int_t)json_number_value(json_array_get(json_array_get(sectors, k), (size_t)i));
          if (list[e].sector[i] != (sign > 0 ? '+' : sign < 0 ? '-' : '0')) hit = -1;
        }
      }
      if (hit < 0) {
        print_case(&c);
        print_list(a > 0 ? "+" : "-", list, count, d);
        fail_msg("%s: neuron %d ends in a sector that is not reported", names[f], (int)k);
      }
      assert_relative(fabs(list[hit].G), G, 1e-9);
      compared++;
    }
    rf_extremal_free(&found);
    rf_free(X);
    rf_free(y);
    json_decref(root);
  }
  assert_true(compared > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_cases),
      cmocka_unit_test(methods_agree),
      cmocka_unit_test(grid_in_plane),
      cmocka_unit_test(ascents_end_there),
      cmocka_unit_test(orthogonally_separable),
      cmocka_unit_test(limited),
      cmocka_unit_test(reference_alignments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
