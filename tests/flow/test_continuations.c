/* Continuations of a neuron on hyperplanes, against all sides tried one after the other: the same set with an
 * absolute slack, as the alignment asks, and with relative rounding, as the fit does. */
#include "flow/continuations.h"
#include "flow/flow_internal.h"
#include "rf_test.h"

#include <math.h>
#include <string.h>

enum { N = 6, D = 3 };

typedef struct Point {
  double X[N * D], c[N], base[D], slack[N], leak;
  rf_index on[N], n_on;
  int sign;
} Point;

/* Gaussian, or small integers, so that fields vanish and lie in hyperplanes; parallel where asked for. */
static Point draw(RfRandom *random, bool lattice, bool parallel) {
  Point p = {.n_on = 1 + rf_random_below(random, N), .sign = (int)rf_random_sign(random)};
  p.leak = rf_random_uniform(random) < 0.5 ? 0 : 0.25;
  for (rf_index k = 0; k < N * D; k++)
    p.X[k] = lattice ? (double)rf_random_below(random, 5) - 2 : rf_random_gaussian(random);
  for (rf_index i = 0; i < N; i++) {
    double *x = p.X + i * D;
    if (rf_la_norm(x, D) == 0) x[i % D] = 1;
    for (rf_index j = 0; j < D && parallel && i % 2; j++) x[j] = (i % 3 ? -2 : 1) * p.X[(i - 1) * D + j];
    p.c[i] = lattice ? 0.5 * rf_random_sign(random) : rf_random_gaussian(random);
    p.slack[i] = 1e-12, p.on[i] = i;
  }
  for (rf_index j = 0; j < D; j++)
    p.base[j] = lattice ? 0.5 * ((double)rf_random_below(random, 5) - 2) : rf_random_gaussian(random);
  return p;
}

static RfAlignField field_of(const Point *p) {
  return (RfAlignField){.X = p->X, .c = p->c, .n = N, .d = D, .leak = p->leak};
}

/* What is said is true: the field is that of the slopes, slopes belong to sides, and it points into each
 * side, or along it. */
static void check(const Point *p, const RfContinuations *found, rf_index o) {
  const int8_t *side = found->side + o * p->n_on;
  const double *slope = found->slope + o * p->n_on, *said = found->g + o * D;
  double g[D];
  memcpy(g, p->base, sizeof g);
  for (rf_index z = 0; z < p->n_on; z++) rf_la_axpy(g, p->c[z] * slope[z], p->X + z * D, D);
  for (rf_index j = 0; j < D; j++) assert_close(g[j], said[j], 1e-10);
  for (rf_index z = 0; z < p->n_on; z++) {
    double push = p->sign * rf_la_dot(g, p->X + z * D, D);
    assert_true(slope[z] >= p->leak - 1e-12 && slope[z] <= 1 + 1e-12);
    if (side[z] != 0) {
      assert_true(side[z] * push >= -1e-9);
      assert_close(slope[z], side[z] > 0 ? 1 : p->leak, 1e-9);
    } else
      assert_close(push, 0, 1e-9);
  }
}

/* Sides of ridges, all of them; the valleys by least squares. Counts the choices whose fields point into
 * every side by more than rounding. No two samples parallel. */
static rf_index count_all(RfContext *context, const Point *p, double fields[][D]) {
  rf_index count = 0;
  for (unsigned mask = 0; mask < 1u << p->n_on; mask++) {
    double columns[N * D], low[N], high[N], s[N], f[D], rest[D];
    bool agrees = true;
    rf_index valleys = 0;
    for (rf_index j = 0; j < D; j++) f[j] = -p->base[j];
    for (rf_index z = 0; z < p->n_on; z++) {
      bool up = mask >> z & 1u, ridge = p->sign * p->c[z] > 0;
      if (!ridge && up) agrees = false; /* once for every choice of ridges */
      if (ridge) rf_la_axpy(f, -p->c[z] * (up ? 1 : p->leak), p->X + z * D, D);
      for (rf_index j = 0; j < D && !ridge; j++) columns[valleys * D + j] = p->c[z] * p->X[z * D + j];
      if (!ridge) low[valleys] = p->leak, high[valleys++] = 1;
    }
    if (!agrees) continue;
    memcpy(rest, f, sizeof rest);
    if (valleys > 0)
      assert_ok(context,
                rf_la_box_least_squares(context, s, rest, NULL, columns, f, low, high, D, valleys, D, NULL));
    for (rf_index z = 0; z < p->n_on; z++) { /* g = -rest */
      double push = -p->sign * rf_la_dot(rest, p->X + z * D, D);
      if (p->sign * p->c[z] > 0) agrees = agrees && (mask >> z & 1u ? push > 1e-9 : push < -1e-9);
    }
    for (rf_index j = 0; j < D && agrees; j++) fields[count][j] = -rest[j];
    count += agrees;
  }
  return count;
}

static bool has_field(const RfContinuations *found, const double *g) {
  bool has = false;
  for (rf_index o = 0; o < found->count && !has; o++) {
    double far = 0;
    for (rf_index j = 0; j < D; j++) far = fmax(far, fabs(found->g[o * D + j] - g[j]));
    has = far <= 1e-9;
  }
  return has;
}

static void as_all_sides_tried(void **state) {
  (void)state;
  RfContext context;
  RfRandom random;
  rf_index branching = 0;
  rf_context_init(&context);
  rf_random_init(&random, 20, 0);
  for (rf_index k = 0; k < rf_test_iterations(2000); k++) {
    Point p = draw(&random, k % 2, k % 5 == 0);
    RfAlignField field = field_of(&p);
    RfContinuations aligned = {0}, fitted = {0};
    double fields[1 << N][D];
    assert_ok(&context, rf_continuations(&context, &aligned, &field, p.base, p.slack, p.on, p.n_on, p.sign));
    assert_ok(&context, rf_continuations(&context, &fitted, &field, p.base, NULL, p.on, p.n_on, p.sign));
    assert_true(aligned.count >= 1 && aligned.complete && fitted.complete);
    assert_int_equal(aligned.count, fitted.count);
    for (rf_index o = 0; o < aligned.count; o++) check(&p, &aligned, o), check(&p, &fitted, o);
    for (rf_index j = 0; j < aligned.count * D; j++) assert_close(aligned.g[j], fitted.g[j], 1e-9);
    branching += aligned.count > 1;
    if (k % 5) {
      rf_index all = count_all(&context, &p, fields);
      bool rests = all == 0 && aligned.count == 1 && rf_la_norm(aligned.g, D) < 1e-9;
      if (k % 2 == 0 && !rests) assert_int_equal(all, aligned.count); /* integers also move along ridges */
      for (rf_index o = 0; o < all; o++) assert_true(has_field(&aligned, fields[o]));
    }
    rf_continuations_free(&aligned), rf_continuations_free(&fitted);
  }
  assert_true(branching > 0);
}

/* The order is that of the first hyperplane first, plus before minus; the fit takes the fastest. */
static void order_and_choice(void **state) {
  (void)state;
  RfContext context;
  const double X[] = {1, 2, 0, 1, -2, 0}, c[] = {0.5, 0.5}, base[] = {0, 0, 1};
  const rf_index on[] = {0, 1};
  static const int8_t sides[] = {1, 1, 1, -1, -1, 1};
  RfAlignField field = {.X = X, .c = c, .n = 2, .d = 3};
  RfContinuations found = {0};
  int8_t sign[2], rows[RF_MOST_OPTIONS * 2];
  double slope[2], g[3];
  RfSides taken = {.sign = sign, .slope = slope, .g = g, .found = rows};
  rf_context_init(&context);
  assert_ok(&context, rf_continuations(&context, &found, &field, base, NULL, on, 2, 1));
  assert_int_equal(found.count, 3);
  assert_memory_equal(found.side, sides, sizeof sides);
  assert_ok(&context, rf_flow_sides(&context, &taken, &field, base, on, 2, 1));
  assert_int_equal(taken.count, 3);
  assert_memory_equal(rows, sides, sizeof sides);
  assert_memory_equal(sign, sides + 2, 2); /* |(1/2,1,1)| > |(1,0,1)|: the first of two equally fast ones */
  rf_continuations_free(&found);
}

/* Weights e^-400 apart: a wall holds with a slope of e^-400, and a weak valley is left. */
static void walls_hold(void **state) {
  (void)state;
  RfContext context;
  double wall = exp(400), X[] = {1, 0, 0, 1}, c[] = {-wall, -exp(-400)}, base[] = {1, 1};
  const rf_index on[] = {0, 1};
  RfAlignField field = {.X = X, .c = c, .n = 2, .d = 2};
  RfContinuations found = {0};
  rf_context_init(&context);
  assert_ok(&context, rf_continuations(&context, &found, &field, base, NULL, on, 2, 1));
  assert_int_equal(found.count, 1);
  assert_int_equal(found.side[0], 0);
  assert_close(found.slope[0] * wall, 1, 1e-12);
  assert_int_equal(found.side[1], 1);
  rf_continuations_free(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_all_sides_tried), cmocka_unit_test(order_and_choice),
                                     cmocka_unit_test(walls_hold)};
  return cmocka_run_group_tests_name("flow/continuations", tests, NULL, NULL);
}
