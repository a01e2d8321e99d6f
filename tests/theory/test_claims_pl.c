/* Claims PL-01 to PL-04 and PL-08: orthogonal separability, max-margin vectors of the classes, and extremal
 * directions. */
#include "theory_test.h"

static RfContext context;

static int setup(void **state) {
  (void)state;
  rf_context_init(&context);
  return 0;
}

static RfPairFacts pair_facts(const RfDataset *data) {
  RfPairFacts facts;
  assert_ok(&context, rf_geometry_pairs(&context, &facts, data->X, data->y, data->n, data->d));
  return facts;
}

/* Every sample, with its label, separates the data: strictly its own class, the other one up to ties. */
static bool every_sample_separates(const RfDataset *data) {
  for (rf_index i = 0; i < data->n; i++)
    for (rf_index j = 0; j < data->n; j++) {
      double product =
          data->y[i] * data->y[j] * dot_of(data->X + i * data->d, data->X + j * data->d, data->d);
      if (data->y[i] == data->y[j] ? product <= 0 : product < 0) return false;
    }
  return true;
}

static void pl_01(void **state) {
  (void)state;
  rf_index count, yes = 0;
  const RfGenerator *table = rf_data_generators(&count);
  for (rf_index g = 0; g < count; g++) {
    if (strcmp(table[g].name, "digits") == 0) continue;
    RfDataset data = generated(&context, table[g].name);
    if (data.y) {
      RfPairFacts facts = pair_facts(&data);
      if (facts.orthogonal_separable != every_sample_separates(&data)) print_error("%s\n", table[g].name);
      assert_true(facts.orthogonal_separable == every_sample_separates(&data));
      yes += facts.orthogonal_separable;
    }
    rf_dataset_free(&data);
  }
  assert_true(yes >= 8 && yes <= count - 8);
  for (int seed = 0; seed < 3; seed++) {
    char spec[40];
    snprintf(spec, sizeof spec, "gen:DS-PL(500,20,%d)", seed);
    RfDataset data = generated(&context, spec);
    assert_true(pair_facts(&data).orthogonal_separable);
    rf_dataset_free(&data);
  }
}

/* (78): w = sum of multipliers x_i, multipliers >= 0 and 0 off the support; w.x >= 1, tight on the support.
 */
static void check_class(const RfClassMargin *margin, const RfDataset *data, double y) {
  double residual = 0;
  for (rf_index j = 0; j < data->d; j++) {
    double sum = -margin->w[j];
    for (rf_index i = 0; i < data->n; i++) sum += margin->multipliers[i] * data->X[i * data->d + j];
    residual += sum * sum;
  }
  assert_true(sqrt(residual) <= 1e-10 * margin->norm);
  for (rf_index i = 0; i < data->n; i++) {
    double product = dot_of(margin->w, data->X + i * data->d, data->d);
    assert_true(margin->multipliers[i] >= 0);
    if (data->y[i] == y)
      assert_true(product >= 1 - 1e-10);
    else
      assert_close(margin->multipliers[i], 0, 0);
    if (margin->multipliers[i] > 0) assert_close(product, 1, 1e-9);
  }
}

static void pl_02(void **state) {
  (void)state;
  const char *sets[] = {"gen:DS-PL2", "gen:DS-OS(5,5,3,0.2,0)", "gen:DS-OS(10,10,5,0.05,1)",
                        "gen:DS-PL(500,20,0)"};
  for (int k = 0; k < 4; k++) {
    RfDataset data = generated(&context, sets[k]);
    RfClassMargin plus, minus;
    assert_ok(&context, rf_margin_class(&context, &plus, data.X, data.y, data.n, data.d, 1));
    assert_ok(&context, rf_margin_class(&context, &minus, data.X, data.y, data.n, data.d, -1));
    check_class(&plus, &data, 1);
    check_class(&minus, &data, -1);
    if (k == 0) {
      const double multipliers[] = {1.0 / 9, 1.0 / 9, 0, 4.0 / 49, 9.0 / 49};
      for (int i = 0; i < 5; i++)
        assert_close(i < 3 ? plus.multipliers[i] : minus.multipliers[i], multipliers[i], 1e-14);
      assert_close(plus.w[0], 1.0 / 3, 1e-14);
      assert_close(minus.w[0], -3.0 / 7, 1e-14);
      assert_close(minus.w[1], -2.0 / 7, 1e-14);
      assert_close(plus.norm, 0.4714045, 5e-8);
      assert_close(minus.norm, 0.5150788, 5e-8);
      assert_true(plus.spans && minus.spans);
    }
    if (k == 3) { /* the paper's own experiment violates the span assumption */
      assert_true(!plus.spans && !minus.spans);
      assert_in_range(plus.n_support, 3, 10);
      assert_in_range(minus.n_support, 3, 10);
    }
    rf_class_margin_free(&plus);
    rf_class_margin_free(&minus);
    rf_dataset_free(&data);
  }
}

/* Removes from v its part in span{x_i : sector i is '0'} (Gram-Schmidt, twice). */
static void project(double *v, const RfDataset *data, const char *sector) {
  double basis[8][8];
  rf_index size = 0, d = data->d;
  for (rf_index i = 0; i < data->n && size < d; i++) {
    if (sector[i] != '0') continue;
    double u[8], before = sqrt(dot_of(data->X + i * d, data->X + i * d, d));
    memcpy(u, data->X + i * d, (size_t)d * sizeof *u);
    for (int twice = 0; twice < 2; twice++)
      for (rf_index b = 0; b < size; b++) {
        double c = dot_of(u, basis[b], d);
        for (rf_index j = 0; j < d; j++) u[j] -= c * basis[b][j];
      }
    double norm = sqrt(dot_of(u, u, d));
    if (norm <= 1e-10 * before) continue;
    for (rf_index j = 0; j < d; j++) basis[size][j] = u[j] / norm;
    size++;
  }
  for (int twice = 0; twice < 2; twice++)
    for (rf_index b = 0; b < size; b++) {
      double c = dot_of(v, basis[b], d);
      for (rf_index j = 0; j < d; j++) v[j] -= c * basis[b][j];
    }
}

/* g(w) of (31) for slope 1/2. */
static void projected_sum(double *g, const double *w, const RfDataset *data, const char *sector) {
  memset(g, 0, (size_t)data->d * sizeof *g);
  for (rf_index i = 0; i < data->n; i++)
    for (rf_index j = 0; j < data->d && sector[i] == '+'; j++)
      g[j] += 0.5 * data->y[i] * data->X[i * data->d + j];
  (void)w;
  project(g, data, sector);
}

static RfExtremal extremal_of(const RfDataset *data) {
  RfExtremal extremal;
  RfExtremalSettings settings = {.leak = 0, .slope = 0.5};
  assert_ok(&context,
            rf_geometry_extremal(&context, &extremal, data->X, data->y, data->n, data->d, &settings));
  assert_true(extremal.complete);
  return extremal;
}

static void pl_03(void **state) {
  (void)state;
  rf_index kinks = 0;
  for (int k = 0; k < 13; k++) {
    char spec[40];
    const char *sets[] = {"gen:DS-PL2", "gen:DS-WP1", "gen:orthogonal"};
    snprintf(spec, sizeof spec, "gen:DS-GEN(8,3,%d)", k);
    RfDataset data = generated(&context, k < 3 ? sets[k] : spec);
    RfExtremal extremal = extremal_of(&data);
    assert_true(extremal.n_positive + extremal.n_negative > 0);
    for (rf_index e = 0; e < extremal.n_positive + extremal.n_negative; e++) {
      const RfExtremalDirection *at =
          e < extremal.n_positive ? &extremal.positive[e] : &extremal.negative[e - extremal.n_positive];
      double g[3], difference = 0;
      projected_sum(g, at->direction, &data, at->sector);
      double C = dot_of(g, at->direction, data.d); /* = G(w) */
      for (rf_index j = 0; j < data.d; j++) difference += pow(g[j] - C * at->direction[j], 2);
      assert_close(sqrt(difference), 0, 1e-8);
      assert_close(C, at->G, 1e-8);
      kinks += strchr(at->sector, '0') != NULL;
    }
    rf_extremal_free(&extremal);
    rf_dataset_free(&data);
  }
  assert_true(kinks > 0); /* the projection was needed somewhere */
}

static double potential(const double *w, const RfDataset *data) {
  double sum = 0;
  for (rf_index i = 0; i < data->n; i++)
    sum += 0.5 * data->y[i] * fmax(0, dot_of(w, data->X + i * data->d, data->d));
  return sum;
}

/* (37) and w.g(w + eps v) = G(w) up to eps_max of (40). */
static void check_step(double *w, const double *v, const RfDataset *data, const char *sector, double share) {
  rf_index d = data->d;
  double limit = INFINITY, moved[8], unit[8], g[8], norm = 0, sum = 0;
  char there[32];
  for (rf_index i = 0; i < data->n;
       i++) { /* the first sign change of a sample that is not on its hyperplane */
    double now = dot_of(w, data->X + i * d, d), speed = dot_of(v, data->X + i * d, d);
    if (sector[i] != '0' && now * speed < 0) limit = fmin(limit, -now / speed);
  }
  double eps = share * 0.5 * fmin(limit, 10);
  for (rf_index j = 0; j < d; j++) moved[j] = w[j] + eps * v[j];
  norm = sqrt(dot_of(moved, moved, d));
  for (rf_index j = 0; j < d; j++) unit[j] = moved[j] / norm;
  for (rf_index i = 0; i < data->n; i++) { /* exact zeros of w move with v alone */
    double product =
        sector[i] == '0' ? eps * dot_of(v, data->X + i * d, d) : dot_of(moved, data->X + i * d, d);
    there[i] = product > 0 ? '+' : product < 0 ? '-' : '0';
    if (there[i] == '+') sum += 0.5 * data->y[i] * dot_of(v, data->X + i * d, d);
  }
  double scale = 0;
  for (rf_index i = 0; i < data->n; i++) scale += sqrt(dot_of(data->X + i * d, data->X + i * d, d));
  assert_close(potential(unit, data), (potential(w, data) + eps * sum) / norm, 1e-10 * scale);
  projected_sum(g, moved, data, there);
  assert_close(dot_of(w, g, d), potential(w, data), 1e-10 * scale);
}

static void pl_04(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 4, 0);
  for (rf_index t = 0; t < rf_test_iterations(2000); t++) {
    char spec[40], sector[32];
    int n = 3 + (int)rf_random_below(&random, 6), d = 2 + (int)rf_random_below(&random, 3);
    snprintf(spec, sizeof spec, "gen:DS-GEN(%d,%d,%d)", n, d, (int)t);
    RfDataset data = generated(&context, spec);
    double w[8], v[8];
    rf_random_direction(&random, w, d);
    rf_random_direction(&random, v, d);
    memset(sector, '+', sizeof sector);
    for (int i = 0; i < (int)(t % d); i++) sector[i] = '0'; /* up to d-1 hyperplanes carry w exactly */
    project(w, &data, sector);
    double norm = sqrt(dot_of(w, w, d));
    for (int j = 0; j < d; j++) w[j] /= norm;
    for (int i = 0; i < n; i++)
      if (sector[i] != '0') sector[i] = dot_of(w, data.X + i * d, d) > 0 ? '+' : '-';
    check_step(w, v, &data, sector, rf_random_uniform(&random));
    check_step(w, v, &data, sector, 1);
    rf_dataset_free(&data);
  }
}

/* (13) and (14). side +1: the positive extremal sector. */
static void expected_sector(char *sector, const RfDataset *data, double side) {
  for (rf_index j = 0; j < data->n; j++) {
    bool touches = false;
    for (rf_index i = 0; i < data->n; i++)
      if (data->y[i] == side && dot_of(data->X + i * data->d, data->X + j * data->d, data->d) < 0)
        touches = true;
    sector[j] = data->y[j] == side ? '+' : touches ? '-' : '0';
  }
  sector[data->n] = 0;
}

static void check_unique(const RfDataset *data, const char *name) {
  RfExtremal extremal = extremal_of(data);
  char sector[64];
  for (int side = 1; side >= -1; side -= 2) {
    const RfExtremalDirection *at = side > 0 ? extremal.positive : extremal.negative;
    double sum[8] = {0}, cosine = 0;
    for (rf_index i = 0; i < data->n; i++)
      for (rf_index j = 0; j < data->d && data->y[i] == side; j++) sum[j] += data->X[i * data->d + j];
    if ((side > 0 ? extremal.n_positive : extremal.n_negative) != 1) print_error("%s\n", name);
    assert_int_equal(side > 0 ? extremal.n_positive : extremal.n_negative, 1);
    cosine = dot_of(sum, at->direction, data->d) / sqrt(dot_of(sum, sum, data->d));
    assert_close(cosine, 1, 1e-12);
    expected_sector(sector, data, side);
    assert_string_equal(at->sector, sector);
  }
  rf_extremal_free(&extremal);
}

static void pl_08(void **state) {
  (void)state;
  const char *sets[] = {
      "gen:DS-PL2",           "gen:DS-WP1",           "gen:orthogonal",          "gen:orthogonal,n=4,np=1",
      "gen:DS-OS(5,5,3,0.2)", "gen:DS-OS(5,5,2,0.1)", "gen:DS-OS(4,4,4,0.05,3)", "gen:DS-PL(40,4,0)"};
  for (int k = 0; k < 8; k++) {
    if (k == 3) continue; /* three orthogonal negatives are not orthogonally separable: a control, below */
    RfDataset data = generated(&context, sets[k]);
    assert_true(pair_facts(&data).orthogonal_separable);
    check_unique(&data, sets[k]);
    rf_dataset_free(&data);
  }
  const double X[] = {1, 0, 1, 0.5, 0, -1}, y[] = {1, 1, -1}; /* x3 is orthogonal to x1 and not to x2 */
  const double X2[] = {1, 0, 0, 2, 1, 0, 0, 0, -1, 0, 0, -2},
               y2[] = {1, 1, -1, -1}; /* zero rows of products */
  RfDataset data;
  assert_ok(&context, rf_dataset_from_arrays(&context, &data, X, y, 3, 2, NULL));
  check_unique(&data, "(1,0), (1,0.5) against (0,-1)");
  rf_dataset_free(&data);
  assert_ok(&context, rf_dataset_from_arrays(&context, &data, X2, y2, 4, 3, NULL));
  if (pair_facts(&data).orthogonal_separable) check_unique(&data, "zero products in R^3");
  rf_dataset_free(&data);
  data = generated(&context, sets[3]);
  assert_false(pair_facts(&data).orthogonal_separable);
  RfExtremal extremal = extremal_of(&data);
  assert_int_equal(extremal.n_positive, 1);
  rf_extremal_free(&extremal);
  rf_dataset_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(pl_01, setup), cmocka_unit_test_setup(pl_02, setup),
      cmocka_unit_test_setup(pl_03, setup), cmocka_unit_test_setup(pl_04, setup),
      cmocka_unit_test_setup(pl_08, setup),
  };
  return cmocka_run_group_tests_name("theory/claims_pl", tests, NULL, NULL);
}
