/* Every row of the catalogue of data sets with the facts that need only the data, the bytes of every
 * generator pinned, random instances of every family, and what is said about calls that make no sense. */
#include "rf_test.h"

static RfContext context;

static int setup(void **state) {
  (void)state;
  rf_context_init(&context);
  return 0;
}

static RfDataset make(const char *spec) {
  RfDataset data;
  assert_ok(&context, rf_data_generate(&context, &data, spec));
  assert_non_null(data.X);
  assert_string_equal(data.name, spec);
  rf_index seen[3] = {0};
  for (rf_index i = 0; i < data.n; i++) {
    assert_in_range(data.class_of[i], 0, data.n_classes - 1);
    if (data.n_classes <= 2) {
      assert_true(data.y[i] == 1 || data.y[i] == -1);
      if (data.n_classes == 2) assert_true((data.y[i] > 0) == (data.class_of[i] == 1));
      seen[data.class_of[i]]++;
    }
  }
  if (data.n_classes > 2) assert_null(data.y);
  for (rf_index k = 0; k < data.n_classes; k++) {
    assert_non_null(data.class_names[k]);
    if (data.n_classes <= 2) assert_true(seen[k] > 0);
  }
  for (rf_index k = 0; k < data.n * data.d; k++) assert_true(isfinite(data.X[k]));
  return data;
}

static double dot(const RfDataset *data, rf_index i, rf_index j) {
  double sum = 0;
  for (rf_index k = 0; k < data->d; k++) sum += data->X[i * data->d + k] * data->X[j * data->d + k];
  return sum;
}

/* min over i,j of <z_i,z_j>/(|x_i||x_j|) */
static double separability(const RfDataset *data) {
  double least = 1;
  for (rf_index i = 0; i < data->n; i++)
    for (rf_index j = 0; j < i; j++)
      least =
          fmin(least, data->y[i] * data->y[j] * dot(data, i, j) / sqrt(dot(data, i, i) * dot(data, j, j)));
  return least;
}

/* Equal classes: product > 0; different classes: product <= 0. */
static bool orthogonally_separable(const RfDataset *data) {
  for (rf_index i = 0; i < data->n; i++)
    for (rf_index j = 0; j < i; j++) {
      double product = dot(data, i, j);
      if (data->class_of[i] == data->class_of[j] ? product <= 0 : product > 0) return false;
    }
  return true;
}

static void expect(const RfDataset *data, rf_index n, rf_index d, const double *X, const double *y) {
  assert_int_equal(data->n, n);
  assert_int_equal(data->d, d);
  for (rf_index k = 0; k < n * d; k++) assert_close(data->X[k], X[k], 1e-16);
  for (rf_index i = 0; i < n; i++) assert_close(data->y[i], y[i], 0);
}

static void wang_pilanci_sets(void **state) {
  (void)state;
  RfDataset data = make("gen:DS-WP1");
  expect(&data, 2, 2, (double[]){1.65, -0.47, -0.47, 1.35}, (double[]){1, -1});
  assert_close(dot(&data, 0, 1), -1.41, 1e-15);
  assert_true(orthogonally_separable(&data));
  rf_dataset_free(&data);

  data = make("spike-free-pair");
  expect(&data, 2, 2, (double[]){1.65, 0.47, 0.47, 1.35}, (double[]){1, 1});
  assert_true(dot(&data, 0, 1) > 0); /* with two samples: spike-free */
  assert_int_equal(data.n_classes, 1);
  assert_string_equal(data.class_names[0], "1");
  rf_dataset_free(&data);

  data = make("gen:DS-MC2");
  assert_int_equal(data.n_classes, 2);
  assert_string_equal(data.class_names[0], "1");
  assert_string_equal(data.class_names[1], "2");
  assert_int_equal(data.class_of[0], 0);
  assert_true(orthogonally_separable(&data));
  rf_dataset_free(&data);

  data = make("gen:DS-MC3");
  assert_int_equal(data.n_classes, 3);
  assert_int_equal(data.d, 3);
  for (rf_index i = 0; i < 3; i++)
    for (rf_index j = 0; j < 3; j++) assert_close(dot(&data, i, j), i == j, 0);
  assert_true(orthogonally_separable(&data));
  for (rf_index i = 0; i < 3; i++)
    data.class_of[i] = i == 0; /* class 1 against the rest: 0 within the rest */
  assert_false(orthogonally_separable(&data));
  rf_dataset_free(&data);
}

static void separated_sets(void **state) {
  (void)state;
  for (rf_index k = 0; k < rf_test_iterations(200); k++) {
    char spec[100];
    double sep = (double)(k % 19 - 9) / 10;
    snprintf(spec, sizeof spec, "gen:DS-OS(%d,%d,%d,%g,%d)", (int)(k % 6 + 1), (int)(k % 4 + 1),
             (int)(k % 5 + 2), sep, (int)k);
    RfDataset data = make(spec);
    assert_int_equal(data.n, k % 6 + k % 4 + 2);
    assert_close(separability(&data), sep, 1e-14);
    assert_true(orthogonally_separable(&data) == (sep > 0) || fabs(sep) < 1e-12);
    for (rf_index i = 0; i < data.n; i++) {
      assert_true(data.y[i] == (i <= k % 6 ? 1 : -1));
      assert_in_range((int)(sqrt(dot(&data, i, i)) * 1e6 + 0.5), 500000, 1500000);
    }
    rf_dataset_free(&data);
  }
  RfDataset data = make("separated,n=7,d=4,sep=0.05,seed=9");
  assert_int_equal(data.n, 7);
  assert_close(separability(&data), 0.05, 1e-14);
  rf_dataset_free(&data);
  data = make("separated,np=1,nm=0"); /* one sample: every direction separates */
  assert_int_equal(data.n, 1);
  rf_dataset_free(&data);
}

/* MMV constants of DS-PL2: sep, zeta1, xi = sep^2, lossrate = (sep X_min)^2/(32 X_max). */
static void planar_set(void **state) {
  (void)state;
  RfDataset data = make("gen:DS-PL2");
  expect(&data, 5, 2, (double[]){2, 1, 1, 2, 3, 3, -3, 1, -1, -2}, (double[]){1, 1, 1, -1, -1});
  double sep = separability(&data), sum[2][2] = {{0}}, zeta = 1, least = INFINITY, largest = 0;
  assert_close(sep, 0.1414214, 5e-8);
  assert_close(sep * sep, 0.02, 1e-15);
  for (rf_index i = 0; i < 5; i++)
    for (rf_index j = 0; j < 2; j++) sum[data.y[i] > 0][j] += data.X[i * 2 + j];
  for (rf_index i = 0; i < 5; i++) {
    double norm = sqrt(dot(&data, i, i));
    least = fmin(least, norm), largest = fmax(largest, norm);
    for (int k = 0; k < 2; k++) {
      double product = data.X[i * 2] * sum[k][0] + data.X[i * 2 + 1] * sum[k][1];
      zeta = fmin(zeta, product * product / (norm * norm * (sum[k][0] * sum[k][0] + sum[k][1] * sum[k][1])));
    }
  }
  assert_close(zeta, 0.2, 1e-15);
  assert_relative(sep * least * sep * least / (32 * largest), 7.36570e-4, 1e-6);
  assert_true(orthogonally_separable(&data));
  rf_dataset_free(&data);
  data = make("DS-PL2/3"); /* divided by 3 */
  assert_close(data.X[0], 2.0 / 3, 0);
  assert_close(data.X[7], 1.0 / 3, 0);
  rf_dataset_free(&data);
}

static void orthant_sets(void **state) {
  (void)state;
  for (rf_index k = 0; k < rf_test_iterations(40); k++) {
    char spec[100];
    snprintf(spec, sizeof spec, "gen:DS-PL(%d,%d,%d)", (int)(k * 3 + 1), (int)(k % 7 + 2), (int)k);
    RfDataset data = make(spec);
    assert_true(orthogonally_separable(&data));
    for (rf_index i = 0; i < data.n; i++) {
      double along = 0;
      for (rf_index j = 0; j < data.d; j++) {
        assert_true(data.y[i] * data.X[i * data.d + j] >= 0);
        along += (j % 2 ? -1 : 1) * data.X[i * data.d + j];
      }
      assert_true(along >= 0);
    }
    rf_dataset_free(&data);
  }
  RfDataset data = make("gen:orthant");
  assert_int_equal(data.n, 500);
  assert_int_equal(data.d, 20);
  double balance = 0;
  for (rf_index i = 0; i < data.n; i++) balance += data.y[i];
  assert_close(balance, 0, 6 * sqrt(500));
  rf_dataset_free(&data);
  data = make("multiclass-orthant,K=4,n=20,d=9");
  assert_int_equal(data.n_classes, 4);
  assert_true(orthogonally_separable(&data));
  rf_dataset_free(&data);
}

/* n mu = sum z_i; the copies x_i^+ (leak on the negatives) give mu+, x_i^- give mu-. */
static void mean(double *mu, const RfDataset *data, double on_positive, double on_negative) {
  for (rf_index j = 0; j < data->d; j++) {
    mu[j] = 0;
    for (rf_index i = 0; i < data->n; i++)
      mu[j] += data->X[i * data->d + j] * (data->y[i] > 0 ? on_positive : -on_negative) / (double)data->n;
  }
}

/* LLWA A.2 in the printed form: min_i <mu,z_i> - ((1-leak)/leak) (1/n) sum_j max(0,-<z_i,z_j>). */
static double principal_slack(const RfDataset *data, double leak) {
  double slack = INFINITY;
  for (rf_index i = 0; i < data->n; i++) {
    double sum = 0, negative = 0;
    for (rf_index j = 0; j < data->n; j++) {
      double product = data->y[i] * data->y[j] * dot(data, i, j);
      sum += product, negative += fmax(0, -product);
    }
    slack = fmin(slack, (sum - (1 - leak) / leak * negative) / (double)data->n);
  }
  return slack;
}

static void symmetric_sets(void **state) {
  (void)state;
  double mu[2];
  RfDataset data = make("gen:DS-SYM6");
  assert_int_equal(data.n, 6);
  mean(mu, &data, 1, 1);
  assert_close(mu[0], 7.0 / 15, 1e-16);
  assert_close(mu[1], 1.0 / 6, 1e-16);
  double norm = hypot(mu[0], mu[1]), least = INFINITY;
  assert_close(mu[0] / norm, 0.94174, 5e-6);
  assert_close(mu[1] / norm, 0.33634, 5e-6);
  assert_close(1.5 / 4 * norm, 0.1858259, 5e-8);
  for (rf_index i = 0; i < 6; i++) {
    least = fmin(least, fabs(data.X[2 * i] * mu[0] + data.X[2 * i + 1] * mu[1]));
    assert_true((data.X[2 * i] > 0) == (data.y[i] > 0));
  }
  assert_close(least, 0.04, 1e-16);
  rf_dataset_free(&data);
  for (rf_index k = 0; k < rf_test_iterations(50); k++) {
    char spec[100];
    snprintf(spec, sizeof spec, "gen:DS-SYM(%d,%d,0.2,%d)", (int)(k % 5 + 2), (int)(k % 4 + 2), (int)k);
    data = make(spec);
    rf_index half = data.n / 2, d = data.d;
    double largest = 0;
    for (rf_index i = 0; i < half; i++) {
      largest = fmax(largest, dot(&data, i, i));
      assert_true(data.y[i] == 1 && data.y[half + i] == -1);
      assert_true(data.X[i * d] >= data.X[0]); /* margin along e1 is that of the first pair */
      for (rf_index j = 0; j < d; j++) assert_true(data.X[i * d + j] == -data.X[(half + i) * d + j]);
    }
    assert_close(largest, 1, 1e-14);
    assert_true(data.X[1] == -data.X[d + 1] && data.X[0] == data.X[d]);
    rf_dataset_free(&data);
  }
}

static void lyu_sets(void **state) {
  (void)state;
  RfDataset data = make("gen:DS-LL1(0.5)");
  assert_close(atan(1 / data.X[1]), 0.4415942, 5e-8);
  expect(&data, 6, 2, (double[]){1, data.X[1], 1, 0, 1, -data.X[1], -1, -data.X[1], -1, 0, -1, data.X[1]},
         (double[]){1, 1, 1, -1, -1, -1});
  rf_dataset_free(&data);
  data = make("gen:kkt-left,leak=0");
  assert_close(data.X[1], 1, 0);
  rf_dataset_free(&data);
  for (double leak = 0.05; leak < 0.99; leak += 0.05) {
    char spec[100];
    snprintf(spec, sizeof spec, "gen:kkt-left,leak=%.17g", leak);
    data = make(spec);
    double b = atan(1 / data.X[1]), s = sin(b), c = cos(b);
    assert_true(b > 0 && b <= 0.7853981633974484);
    assert_close((2 * s * s + c) * leak * leak - (1 + c) * leak + cos(2 * b), 0, 1e-14);
    rf_dataset_free(&data);
  }
  const struct {
    const char *spec;
    double slack;
  } hints[] = {{"gen:DS-HINT(80,1,0.1)", 0.904286}, {"gen:DS-HINT(20,1,0.1)", 0.047143}};
  for (int k = 0; k < 2; k++) {
    data = make(hints[k].spec);
    assert_int_equal(data.n, 7);
    assert_close(principal_slack(&data, 0.5), hints[k].slack, 1e-6);
    rf_dataset_free(&data);
  }
  data = make("gen:hinted,H=10");
  assert_true(principal_slack(&data, 0.5) < 0);
  rf_dataset_free(&data);
  data = make("gen:hinted,base=six,H=5,K=2,eps=0.01");
  assert_int_equal(data.n, 9);
  assert_close(data.X[12], 5, 0);
  assert_close(data.X[17], -2, 0);
  rf_dataset_free(&data);

  double mu[3];
  data = make("gen:DS-MID");
  assert_int_equal(data.n, 12);
  assert_close(principal_slack(&data, 0.5), 0.840508, 1e-6);
  mean(mu, &data, 1, 0.5);
  assert_relative(sqrt(mu[0] * mu[0] + mu[1] * mu[1] + mu[2] * mu[2]), 18.4042, 3e-6);
  mean(mu, &data, 0.5, 1);
  assert_relative(sqrt(mu[0] * mu[0] + mu[1] * mu[1] + mu[2] * mu[2]), 9.29583, 1e-6);
  rf_dataset_free(&data);
  data = make("gen:stripes/max,c=0.1");
  double largest = 0;
  for (rf_index i = 0; i < data.n; i++) largest = fmax(largest, dot(&data, i, i));
  assert_close(largest, 1, 1e-15);
  rf_dataset_free(&data);

  data = make("gen:DS-T1(30,4)");
  assert_int_equal(data.n, 30);
  assert_int_equal(data.d, 51);
  for (rf_index i = 0; i < 30; i++) { /* e1 separates */
    assert_true(data.y[i] * data.X[i * 51] >= 0.45);
    assert_close(data.X[i * 51 + 50], 0.1, 0);
  }
  rf_dataset_free(&data);
}

static void vardi_and_boundary_sets(void **state) {
  (void)state;
  const struct {
    const char *spec;
    rf_index n, d;
    double X[8], y[4];
  } sets[] = {
      {"gen:DS-V1", 2, 2, {1, 0.25, -1, 0.25}, {1, 1}},
      {"vee,h=0.1", 2, 2, {1, 0.1, -1, 0.1}, {1, 1}},
      {"gen:DS-V2", 1, 2, {1, 2}, {1}},
      {"gen:DS-V6", 1, 2, {1, 1}, {1}},
      {"gen:cross", 4, 2, {0, 1, 1, 0, 0, -1, -1, 0}, {1, 1, 1, 1}},
      {"ds-v4", 3, 2, {1, 0.25, -1, 0.25, 0, -1}, {1, 1, 1}},
      {"gen:DS-V5", 1, 4, {4, 0.70710678118654752440, -4, 0.70710678118654752440}, {1}},
      {"gen:DS-E3", 1, 2, {1, 0}, {-1}},
      {"gen:DS-E4", 1, 2, {1, 0}, {1}},
      {"gen:xor", 4, 2, {1, 1, 1, -1, -1, 1, -1, -1}, {1, -1, -1, 1}},
      {"gen:orthogonal", 2, 2, {1, 0, 0, 1}, {1, -1}},
      {"gen:orthogonal,n=2,d=4,np=2", 2, 4, {1, 0, 0, 0, 0, 1, 0, 0}, {1, 1}},
      {"gen:DS-M2(0)", 2, 2, {1, 0, 0, 1}, {1, 1}},
      {"gen:pair,sep=0.6", 2, 2, {1, 0, 0.6, 0.8}, {1, 1}},
  };
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    RfDataset data = make(sets[k].spec);
    expect(&data, sets[k].n, sets[k].d, sets[k].X, sets[k].y);
    rf_dataset_free(&data);
  }
  const double angles[] = {0.1, 0.001, 0};
  for (int k = 0; k < 3; k++) {
    char spec[50];
    snprintf(spec, sizeof spec, "gen:DS-M2(%g)", angles[k]);
    RfDataset data = make(spec);
    assert_close(separability(&data), sin(angles[k]), 1e-16);
    rf_dataset_free(&data);
  }
}

static void gaussian_families(void **state) {
  (void)state;
  RfDataset data = make("gen:DS-SEP(200,5,3)");
  double positive = 0;
  assert_int_equal(data.n, 200);
  for (rf_index i = 0; i < data.n; i++) positive += data.y[i] > 0;
  assert_close(positive, 100, 50);
  rf_dataset_free(&data);
  data = make("gen:DS-GEN(2000,3,1)");
  double square = 0, sum = 0;
  for (rf_index k = 0; k < 6000; k++) square += data.X[k] * data.X[k], sum += data.X[k];
  assert_close(square / 6000, 1, 0.15);
  assert_close(sum / 6000, 0, 0.1);
  rf_dataset_free(&data);
  data = make("gaussian,n=60,classes=3");
  assert_int_equal(data.n_classes, 3);
  rf_dataset_free(&data);
  data = make("gaussian,n=1,d=1"); /* one sample has one class */
  assert_int_equal(data.n_classes, 1);
  assert_true(data.y[0] == (data.class_names[0][0] == '-' ? -1 : 1));
  rf_dataset_free(&data);
  data = make("gen:rings,n=30,noise=0.01");
  for (rf_index i = 0; i < 30; i++) assert_close(sqrt(dot(&data, i, i)), data.y[i] > 0 ? 1 : 2, 0.06);
  rf_dataset_free(&data);
}

/* FNV-1a over the sizes, the little-endian bytes of X, and the classes. */
static uint64_t fingerprint(const RfDataset *data) {
  uint64_t hash = 1469598103934665603u;
  for (rf_index k = 0; k < data->n * data->d + data->n; k++) {
    uint64_t bits;
    if (k < data->n * data->d)
      memcpy(&bits, &data->X[k], 8);
    else
      bits = (uint64_t)data->class_of[k - data->n * data->d];
    for (int b = 0; b < 64; b += 8) hash = (hash ^ ((bits >> b) & 255)) * 1099511628211u;
  }
  return hash;
}

static const struct {
  const char *spec;
  uint64_t hash;
} pinned[] = {
    {"orthant", 0x8ea40379171d6f2du},
    {"separated", 0xd85e5afa1d4d5096u},
    {"planar", 0x631c3af8da24b33au},
    {"pair", 0x0f7baefe19ee7052u},
    {"orthogonal", 0xd8c530f07378ee22u},
    {"symmetric", 0xb8514b4fe355a5a3u},
    {"symmetric-six", 0x7b0c3eb7e5618902u},
    {"hinted", 0x68dc48d6fdbbb256u},
    {"stripes", 0x6b9de0c7fdb1b71bu},
    {"kkt-left", 0x5c4b8b598410f852u},
    {"shifted", 0x0851775985ece60eu},
    {"teacher", 0x6c55dcc88407b90au},
    {"gaussian", 0x64dffdd47101c698u},
    {"vee", 0x3e4bce05b38d92c3u},
    {"vee-down", 0x7c40ddd97e4d1d1au},
    {"cross", 0xb2b18348d81345c3u},
    {"point", 0x107e30116344a2bau},
    {"diagonal-point", 0x846d8ac3ab699083u},
    {"two-patch", 0xc2231db009245c8bu},
    {"spiky-pair", 0x8dd4b9837aba5fbcu},
    {"spike-free-pair", 0x1dcb0218d46c79fdu},
    {"pair-classes", 0xbdd8084282e02ddcu},
    {"axes-classes", 0x1ef6171e59f9dab9u},
    {"multiclass-orthant", 0x295df040ffdb8922u},
    {"boundary-negative", 0xeb1387768a02277au},
    {"boundary-positive", 0xeb1387768a02277au},
    {"xor", 0x7a0884d54fc22d23u},
    {"rings", 0xa28fc5b26dde486fu},
    {"DS-OS(7,4,5,0.05,12)", 0x56ce7458a57d0eb1u},
    {"DS-SYM(6,5,0.1,3)", 0x40a4cd08fda79fc3u},
    {"DS-SEP(15,4,2)", 0xa949f240f729b894u},
    {"kkt-left,leak=0.1", 0xaed1a4262a585262u},
    {"gaussian,n=40,d=7,seed=1,classes=3", 0x4acd03994c85c644u},
    {"orthant,n=33,d=5,seed=4294967296", 0x49621b3e50052e4cu},
    {"DS-PL2/3", 0x614ba6086a2eab35u},
    {"stripes/max", 0x43e36b2a337ecad3u},
};

static void same_bytes_everywhere(void **state) {
  (void)state;
  bool all = true;
  rf_index count;
  const RfGenerator *table = rf_data_generators(&count);
  for (size_t k = 0; k < sizeof pinned / sizeof *pinned; k++) {
    RfDataset data = make(pinned[k].spec);
    uint64_t hash = fingerprint(&data);
    if (hash != pinned[k].hash)
      print_error("    {\"%s\", 0x%016llxu},\n", pinned[k].spec, (unsigned long long)hash);
    all = all && hash == pinned[k].hash;
    rf_dataset_free(&data);
  }
  assert_true(all);
  for (rf_index g = 0; g < count;
       g++) { /* every generator with its defaults is pinned, and its alias is the same */
    bool found = strcmp(table[g].name, "digits") == 0;
    for (size_t k = 0; k < sizeof pinned / sizeof *pinned; k++)
      found = found || strcmp(table[g].name, pinned[k].spec) == 0;
    if (!found) print_error("not pinned: %s\n", table[g].name);
    assert_true(found);
    if (!table[g].alias || strcmp(table[g].name, "digits") == 0) continue;
    RfDataset a = make(table[g].name), b = make(table[g].alias);
    assert_true(fingerprint(&a) == fingerprint(&b));
    rf_dataset_free(&a);
    rf_dataset_free(&b);
  }
}

static void seeds_differ(void **state) {
  (void)state;
  const char *families[] = {"orthant", "separated", "symmetric", "shifted",
                            "teacher", "gaussian",  "rings",     "multiclass-orthant"};
  for (int k = 0; k < 8; k++) {
    char spec[80];
    snprintf(spec, sizeof spec, "%s,seed=18446744073709551615", families[k]);
    RfDataset a = make(families[k]), b = make(spec);
    assert_true(fingerprint(&a) != fingerprint(&b));
    rf_dataset_free(&a);
    rf_dataset_free(&b);
  }
}

static void usage_errors(void **state) {
  (void)state;
  const struct {
    const char *spec, *says;
  } cases[] = {
      {"gen:nothing", "unknown generator 'nothing'"},
      {"gen:", "unknown generator ''"},
      {"", "unknown generator"},
      {"gen:orthant,m=3", "no key 'm'"},
      {"gen:orthant,n", "expected key=value, got 'n'"},
      {"gen:orthant,", "expected key=value"},
      {"gen:orthant,n=", "n must be a whole number"},
      {"gen:orthant,n=ten", "n must be a whole number, got 'ten'"},
      {"gen:orthant,n=2.5", "n must be a whole number"},
      {"gen:orthant,n=0", "n must lie in [1,"},
      {"gen:orthant,n=-4", "n must lie in"},
      {"gen:orthant,n=5x", "n must be a whole number"},
      {"gen:orthant,n=nan", "n must be a whole number"},
      {"gen:orthant,n=1e300", "n must lie in"},
      {"gen:orthant,d=1", "d must lie in [2,"},
      {"gen:orthant,n=2000000000,d=10000000", "more than 2e9 numbers"},
      {"gen:orthant,n=5,n=6", "n is given twice"},
      {"gen:orthant(5),n=6", "n is given twice"},
      {"gen:orthant(5", "closing parenthesis"},
      {"gen:orthant(5)6", "expected a comma"},
      {"gen:orthant(5,4,3,2)", "at most 3 values"},
      {"gen:orthant,seed=-1", "seed must be a whole number"},
      {"gen:orthant,seed=1e3", "seed must be a whole number"},
      {"gen:orthant,seed=99999999999999999999999", "seed must be a whole number"},
      {"gen:DS-PL2/0", "divisor"},
      {"gen:DS-PL2/x", "divisor"},
      {"gen:DS-PL2/", "divisor"},
      {"gen:DS-PL2,n=3", "no key 'n'"},
      {"gen:separated,sep=1.5", "sep must lie in [-1,1]"},
      {"gen:separated,sep=inf", "sep must be a number"},
      {"gen:separated,n=4,np=2", "either n or np"},
      {"gen:separated,np=0,nm=0", "np + nm"},
      {"gen:pair,t=0.1,sep=0.1", "either t or sep"},
      {"gen:orthogonal,n=4,d=3", "d must be at least n"},
      {"gen:orthogonal,n=4,np=5", "np must be at most n"},
      {"gen:hinted,base=cube", "base must be square or six"},
      {"gen:hinted,H=0", "H must lie in (0,"},
      {"gen:kkt-left,leak=1", "leak must lie in"},
      {"gen:teacher,margin=9", "margin must lie in [0,4]"},
      {"gen:multiclass-orthant,K=7,d=6", "d must be at least K"},
      {"gen:gaussian,classes=1", "classes must lie in [2,"},
      {"gen:symmetric,h=1", "h must lie in [2,"},
      {"gen:DS-DIG(1,1)", "a and b must differ"},
      {"gen:DS-DIG(1,10)", "b must lie in [0,9]"},
      {"gen:digits/max", "must be a number"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RfDataset data;
    RfStatus status = rf_data_generate(&context, &data, cases[k].spec);
    if (status != RF_ERR_USAGE || !strstr(context.error, cases[k].says) || strchr(context.error, '\n'))
      print_error("%s: status %d, says '%s', expected '%s'\n", cases[k].spec, status, context.error,
                  cases[k].says);
    assert_int_equal(status, RF_ERR_USAGE);
    assert_non_null(strstr(context.error, cases[k].says));
    assert_null(strchr(context.error, '\n'));
    assert_null(data.X);
    rf_dataset_free(&data);
  }
}

/* A generator is a source like any other: transforms apply, errors come through. */
static void through_the_loader(void **state) {
  (void)state;
  RfDataSource source;
  RfDataset data;
  rf_data_source_init(&source);
  source.path = "gen:DS-PL2";
  source.divide = 3;
  source.limit = 4;
  assert_ok(&context, rf_data_load(&context, &data, &source));
  assert_int_equal(data.n, 4);
  assert_close(data.X[0], 2.0 / 3, 1e-16);
  rf_dataset_free(&data);
  source.path = "gen:nothing";
  assert_int_equal(rf_data_load(&context, &data, &source), RF_ERR_USAGE);
  assert_non_null(strstr(context.error, "unknown generator 'nothing'"));
  assert_null(data.X);
}

/* DS-DIG(0,1) from the reference files, and a clear word when they are missing. */
static void digit_files(void **state) {
  (void)state;
  RfDataset data;
  assert_int_equal(rf_data_generate(&context, &data, "gen:digits,dir=/nowhere"), RF_ERR_IO);
  assert_non_null(strstr(context.error, "dir="));
  assert_null(data.X);
  context.data_dir = "/nowhere";
  assert_int_equal(rf_data_generate(&context, &data, "gen:digits"), RF_ERR_IO);
  assert_non_null(strstr(context.error, "/nowhere/mnist"));
  context.data_dir = rf_test_mnist();
  if (!context.data_dir) skip();
  char spec[4200];
  snprintf(spec, sizeof spec, "gen:DS-DIG(0,1),dir=%s/mnist", context.data_dir);
  data = make(spec);
  rf_dataset_free(&data);
  data = make("gen:DS-DIG(0,1)"); /* the same folder, from the context */
  context.data_dir = NULL;
  assert_int_equal(data.n, 12665);
  assert_int_equal(data.d, 784);
  assert_string_equal(data.class_names[1], "1");
  double least = INFINITY, largest = 0, sum[2] = {0, 0}, total = 0;
  for (rf_index i = 0; i < data.n; i++)
    least = fmin(least, dot(&data, i, i)), largest = fmax(largest, dot(&data, i, i));
  for (rf_index j = 0; j < 784; j++) {
    double column[2] = {0, 0};
    for (rf_index i = 0; i < data.n; i++) column[data.y[i] > 0] += data.X[i * 784 + j];
    sum[0] += column[0] * column[0], sum[1] += column[1] * column[1];
    total += (column[0] + column[1]) * (column[0] + column[1]);
  }
  assert_close(sqrt(largest), 12.55, 0.005);
  assert_close(sqrt(least), 5.01, 0.005);
  assert_close(sqrt(sum[1]) / 12665, 1.8827, 5e-5);
  assert_true(sqrt(total) <= 1e-12 * sqrt(sum[1])); /* x+ + x- = 0 to rounding */
  rf_dataset_free(&data);
}

static void stops_when_asked(void **state) {
  (void)state;
  int cancel = 1;
  RfDataset data;
  context.cancel = &cancel;
  assert_int_equal(rf_data_generate(&context, &data, "gen:gaussian,n=5000,d=2"), RF_INTERRUPTED);
  assert_null(data.X);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(wang_pilanci_sets, setup),
      cmocka_unit_test_setup(separated_sets, setup),
      cmocka_unit_test_setup(planar_set, setup),
      cmocka_unit_test_setup(orthant_sets, setup),
      cmocka_unit_test_setup(symmetric_sets, setup),
      cmocka_unit_test_setup(lyu_sets, setup),
      cmocka_unit_test_setup(vardi_and_boundary_sets, setup),
      cmocka_unit_test_setup(gaussian_families, setup),
      cmocka_unit_test_setup(same_bytes_everywhere, setup),
      cmocka_unit_test_setup(seeds_differ, setup),
      cmocka_unit_test_setup(usage_errors, setup),
      cmocka_unit_test_setup(stops_when_asked, setup),
      cmocka_unit_test_setup(through_the_loader, setup),
      cmocka_unit_test_setup(digit_files, setup),
  };
  return cmocka_run_group_tests_name("data/generate", tests, NULL, NULL);
}
