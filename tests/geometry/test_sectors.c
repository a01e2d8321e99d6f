/* Enumeration: every pattern is realised by its witness, patterns are distinct, sweep and search give the
 * same sets, their number is the count by deletion and restriction, random directions find nothing else. */
#include "geometry_test.h"
#include "geometry/geometry_internal.h"

typedef struct Patterns {
  rf_index n, d, words, count, capacity;
  const double *X;
  uint64_t *bits;
  double thinnest; /* least |<w,x>|/|x| over all witnesses */
} Patterns;

static bool collect(void *user, const uint64_t *positive, const double *witness) {
  Patterns *p = user;
  if (p->count == p->capacity) {
    p->capacity = 2 * p->capacity + 16;
    p->bits = rf_resize(p->bits, p->capacity * p->words, sizeof *p->bits);
  }
  memcpy(p->bits + p->count++ * p->words, positive, (size_t)p->words * sizeof *positive);
  if (fabs(rf_la_norm(witness, p->d) - 1) > 1e-13)
    fail_msg("witness of norm %.17g", rf_la_norm(witness, p->d));
  for (rf_index i = 0; i < p->n; i++) {
    double value = rf_la_dot(witness, p->X + i * p->d, p->d), norm = rf_la_norm(p->X + i * p->d, p->d);
    if (norm > 0) p->thinnest = fmin(p->thinnest, fabs(value) / norm);
    if ((value > 0) != rf_bits_get(positive, i) && norm > 0) {
      rf_test_print_matrix("X", p->X, p->n, p->d);
      fail_msg("sample %lld: witness gives %.17g, bit %d", (long long)i, value,
               (int)rf_bits_get(positive, i));
    }
  }
  return true;
}

static rf_index compare_words;
static int by_bits(const void *a, const void *b) {
  const uint64_t *p = a, *q = b;
  for (rf_index k = 0; k < compare_words; k++)
    if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
  return 0;
}

static Patterns enumerate(RfContext *context, const double *X, rf_index n, rf_index d,
                          RfSectorMethod method) {
  Patterns p = {.n = n, .d = d, .words = rf_bits_words(n), .X = X, .thinnest = 1};
  RfSectorSettings settings = {.method = method};
  rf_index visited;
  assert_ok(context, rf_geometry_visit_sectors(context, &visited, X, n, d, &settings, collect, &p));
  assert_int_equal(visited, p.count);
  compare_words = p.words;
  if (p.words > 0) qsort(p.bits, (size_t)p.count, (size_t)p.words * sizeof *p.bits, by_bits);
  for (rf_index k = 1; k < p.count; k++)
    if (by_bits(p.bits + (k - 1) * p.words, p.bits + k * p.words) == 0) fail_msg("a pattern came twice");
  return p;
}

static void sample_directions(const Patterns *p, RfRandom *random, rf_index tries) {
  uint64_t bits[8];
  double w[32];
  for (rf_index k = 0; k < tries; k++) {
    memset(bits, 0, sizeof bits);
    rf_random_direction(random, w, p->d);
    for (rf_index i = 0; i < p->n; i++)
      if (rf_la_dot(w, p->X + i * p->d, p->d) > 0) rf_bits_set(bits, i);
    compare_words = p->words;
    if (!bsearch(bits, p->bits, (size_t)p->count, (size_t)p->words * sizeof *bits, by_bits)) {
      rf_test_print_matrix("X", p->X, p->n, p->d);
      fail_msg("a random direction lies in a sector that was not listed");
    }
  }
}

static rf_index cross_check(RfContext *context, const double *X, rf_index n, rf_index d, RfRandom *random) {
  Patterns sweep = enumerate(context, X, n, d, RF_SECTORS_AUTO);
  Patterns search = enumerate(context, X, n, d, RF_SECTORS_SEARCH);
  Patterns forced = enumerate(context, X, n, d, RF_SECTORS_SWEEP);
  RfSectorCount counted;
  assert_ok(context, rf_geometry_count_sectors(context, &counted, X, n, d, 0));
  if (sweep.count != search.count || sweep.count != forced.count ||
      counted.approximate != (double)sweep.count ||
      (sweep.words > 0 && (memcmp(sweep.bits, search.bits, (size_t)(sweep.count * sweep.words) * 8) != 0 ||
                           memcmp(sweep.bits, forced.bits, (size_t)(sweep.count * sweep.words) * 8) != 0))) {
    rf_test_print_matrix("X", X, n, d);
    fail_msg("auto %lld, sweep %lld, search %lld, count %s", (long long)sweep.count, (long long)forced.count,
             (long long)search.count, counted.count);
  }
  if (n > 0) sample_directions(&sweep, random, 300);
  rf_index count = sweep.count;
  rf_sector_count_free(&counted);
  rf_free(sweep.bits);
  rf_free(search.bits);
  rf_free(forced.bits);
  return count;
}

static void methods_agree(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 61, 0);
  for (rf_index k = 0; k < rf_test_iterations(120); k++) {
    rf_index d = 1 + rf_random_below(&random, 5), n = rf_random_below(&random, d > 3 ? 10 : 14);
    double *X = k % 3 ? random_integers(&random, n, d, 1 + k % 4) : random_rows(&random, n, d);
    cross_check(&context, X, n, d, &random);
    rf_free(X);
  }
}

/* Rows in a lower-dimensional subspace of a rotated space, with scales from 1e-150 to 1e150. */
static void hidden_subspace(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 62, 0);
  for (rf_index k = 0; k < rf_test_iterations(30); k++) {
    rf_index d = 6, r = 1 + rf_random_below(&random, 4), n = 4 + rf_random_below(&random, 7);
    double *low = random_integers(&random, n, r, 2), *frame = random_rows(&random, r, d),
           *X = RF_NEW(double, n *d);
    rf_la_product_nn(X, low, frame, n, d, r);
    rf_index want = cross_check(&context, low, n, r, &random);
    for (rf_index i = 0; i < n; i++)
      rf_la_scale(X + i * d, pow(10, (double)(rf_random_below(&random, 300) - 150)), d);
    assert_int_equal(cross_check(&context, X, n, d, &random), want);
    rf_free(low);
    rf_free(frame);
    rf_free(X);
  }
}

static void reference_results(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  rf_index n, d;
  json_t *root = load_json(RF_SOURCE_DIR, "tests/geometry/arrangements.json"), *item;
  size_t at;
  json_array_foreach(json_object_get(root, "cases"), at, item) {
    double *X = json_rows(json_object_get(item, "X"), &n, &d);
    Patterns p = enumerate(&context, X, n, d, RF_SECTORS_AUTO);
    assert_int_equal(p.count, json_integer_value(json_object_get(item, "count")));
    assert_true(p.thinnest > 1e-9);
    rf_free(p.bits);
    rf_free(X);
  }
  json_decref(root);
  root = load_json(rf_test_golden(), "convex/arrangements.json");
  item = json_object_get(root, "degenerate");
  double *X = json_rows(json_object_get(item, "X"), &n, &d);
  Patterns p = enumerate(&context, X, n, d, RF_SECTORS_AUTO),
           q = enumerate(&context, X, n, d, RF_SECTORS_SEARCH);
  assert_int_equal(p.count, json_integer_value(json_object_get(item, "count")));
  assert_int_equal(q.count, p.count);
  rf_free(p.bits);
  rf_free(q.bits);
  rf_free(X);
  json_decref(root);
}

/* A triangle of width h between three nearly concurrent planes is a cell for every h above the tolerance. */
static void thin_cells(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  for (double h = 1e-2; h > 1e-10; h /= 10) {
    double X[15] = {1, 0, 0, 0, 1, 0, 1, 1, h, 1, -1, 2, 3, 1, -1};
    Patterns p = enumerate(&context, X, 5, 3, RF_SECTORS_AUTO),
             q = enumerate(&context, X, 5, 3, RF_SECTORS_SEARCH);
    assert_int_equal(p.count, 22);
    assert_int_equal(q.count, 22);
    rf_free(p.bits);
    rf_free(q.bits);
  }
  double X[15] = {1, 0, 0, 0, 1, 0, 1, 1, 0, 1, -1, 2, 3, 1, -1};
  Patterns p = enumerate(&context, X, 5, 3, RF_SECTORS_AUTO);
  assert_int_equal(p.count, 20);
  rf_free(p.bits);
}

static bool stop_at_three(void *user, const uint64_t *positive, const double *witness) {
  (void)positive, (void)witness;
  return ++*(int *)user < 3;
}

static void limits(void **state) {
  (void)state;
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, 63, 0);
  double *X = random_rows(&random, 30, 4);
  int calls = 0;
  rf_index visited = 0;
  assert_ok(&context, rf_geometry_visit_sectors(&context, &visited, X, 30, 4, NULL, stop_at_three, &calls));
  assert_int_equal(visited, 3);
  RfSectorSettings settings = {.max_sectors = 100};
  assert_int_equal(rf_geometry_visit_sectors(&context, &visited, X, 30, 4, &settings, stop_at_three, &calls),
                   RF_LIMIT);
  double *wide = random_rows(&random, 300, 12); /* refused at once, not after filling the memory */
  assert_int_equal(rf_geometry_visit_sectors(&context, &visited, wide, 300, 12, NULL, stop_at_three, &calls),
                   RF_LIMIT);
  settings =
      (RfSectorSettings){.method = RF_SECTORS_SEARCH}; /* the search gives its first sectors all the same */
  calls = 0;
  assert_ok(&context,
            rf_geometry_visit_sectors(&context, &visited, wide, 300, 12, &settings, stop_at_three, &calls));
  assert_int_equal(visited, 3);
  rf_free(wide);
  int cancel = 1;
  context.cancel = &cancel;
  assert_int_equal(rf_geometry_visit_sectors(&context, &visited, X, 30, 4, NULL, stop_at_three, &calls),
                   RF_INTERRUPTED);
  rf_free(X);
  rf_geometry_sectors_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(methods_agree), cmocka_unit_test(hidden_subspace), cmocka_unit_test(reference_results),
      cmocka_unit_test(thin_cells),    cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
