/* The limit of gradient flow: direction error against the known limit (orthogonally separable data, PL
 * Theorem 1) reached in how many seconds, beside SUNDIALS CVODE with root finding on the same data and start;
 * how the time grows with n, d, m and ln(1/eps); the reference cases; and what the hot loop costs next to its
 * floor. bench/peers/flow.py adds PyTorch gradient descent and torchdiffeq. RF_BENCH_BUDGET: seconds for each
 * run of CVODE on the large problem (12). */
#include <stdlib.h>

#include "flow/flow_internal.h"
#include "flow_cvode.h"
#include "flow_golden.h"

typedef struct Bench {
  RfContext context;
  RfDataset data;
  RfNet net; /* the start at scale 1 */
  RfFlowStart start;
  RfClassMargin plus, minus;
  RfFlowProblem problem;
  double best; /* margin of the limit */
} Bench;

static void bench_free(Bench *b) {
  rf_class_margin_free(&b->plus);
  rf_class_margin_free(&b->minus);
  rf_flow_start_free(&b->start);
  rf_net_free(&b->net);
  rf_dataset_free(&b->data);
}

static RfStatus bench_new(Bench *b, rf_index n, rf_index d, rf_index m) {
  char spec[96];
  memset(b, 0, sizeof *b);
  rf_context_init(&b->context);
  snprintf(spec, sizeof spec, "orthant,n=%lld,d=%lld", (long long)n, (long long)d);
  RfStatus status = rf_data_generate(&b->context, &b->data, spec);
  if (!status) status = rf_net_init(&b->context, &b->net, RF_INIT_BALANCED, m, d, 0, 0, 1);
  if (!status) status = rf_flow_start_from_net(&b->context, &b->start, &b->net);
  if (!status) status = rf_margin_class(&b->context, &b->plus, b->data.X, b->data.y, n, d, 1);
  if (!status) status = rf_margin_class(&b->context, &b->minus, b->data.X, b->data.y, n, d, -1);
  if (status) {
    fprintf(stderr, "%s: %s\n", spec, b->context.error);
    return status;
  }
  b->best = 0.5 / (rf_la_norm(b->plus.w, d) + rf_la_norm(b->minus.w, d));
  b->problem = (RfFlowProblem){.X = b->data.X, .y = b->data.y, .n = n, .d = d, .start = &b->start};
  return RF_OK;
}

/* Distance of theta/|theta| from the nearest point of the limit set: neurons along (w+,|w+|) and (w-,-|w-|),
 * the two classes in the proportion |w+| : |w-|, split inside a class in any way. */
static double direction_error(const Bench *b, const double *W, const double *a, rf_index m) {
  rf_index d = b->data.d;
  double norm = sqrt(rf_la_dot(W, W, m * d) + rf_la_dot(a, a, m)), along[2] = {0, 0}, sum = 0;
  double length[2] = {rf_la_norm(b->minus.w, d), rf_la_norm(b->plus.w, d)}, total = length[0] + length[1];
  for (int pass = 0; pass < 2; pass++)
    for (rf_index k = 0; k < m; k++) {
      int side = a[k] > 0;
      const double *w = side ? b->plus.w : b->minus.w;
      double c = fmax(0, (rf_la_dot(W + k * d, w, d) / length[side] + fabs(a[k])) * sqrt(0.5) / norm);
      if (pass == 0) {
        along[side] += c * c;
        continue;
      }
      /* the limit's neuron: size in proportion to c, all of a class together sqrt(length/total) */
      double size = along[side] > 0 ? c * sqrt(0.5 * length[side] / total / along[side]) : 0;
      for (rf_index j = 0; j < d; j++) {
        double off = W[k * d + j] / norm - size * w[j] / length[side];
        sum += off * off;
      }
      sum += (fabs(a[k]) / norm - size) * (fabs(a[k]) / norm - size);
    }
  return sqrt(sum);
}

static double margin_gap(Bench *b, const double *W, const double *a, rf_index m) {
  double margin = NAN, *margins = RF_NEW(double, b->data.n);
  RfNet net = {.m = m, .d = b->data.d, .leak = 0, .W = (double *)(uintptr_t)W, .a = (double *)(uintptr_t)a};
  if (margins) rf_net_margin(&b->context, &margin, margins, &net, b->data.X, b->data.y, b->data.n);
  rf_free(margins);
  return 1 - margin / b->best;
}

static void print_row(Bench *b, const char *method, double seconds, const double *W, const double *a,
                      const char *note) {
  printf("%-28s %9.2f %16.2e %16.2e   %s\n", method, seconds, direction_error(b, W, a, b->net.m),
         margin_gap(b, W, a, b->net.m), note);
  fflush(stdout);
}

#ifdef RF_HAVE_CVODE
typedef struct Rows {
  Bench *bench;
  const char *method;
} Rows;

static void cvode_row(void *user, double seconds, const double *theta, long crossings) {
  Rows *rows = user;
  char note[64];
  snprintf(note, sizeof note, "%ld restarts at crossings", crossings);
  print_row(rows->bench, rows->method, seconds, theta, theta + rows->bench->net.m * rows->bench->data.d,
            note);
}

static void run_cvode(Bench *b, double scale, double budget) {
  rf_index n = b->data.n, d = b->data.d, m = b->net.m;
  double *memory = RF_NEW(double, 2 * m * n + n + m * (d + 1));
  if (!memory) return;
  PlainFlow flow = {.X = b->data.X, .y = b->data.y, .n = n, .d = d, .m = m, .H = memory};
  flow.M = memory + m * n, flow.c = flow.M + m * n;
  double *theta = flow.c + n;
  static const char *const names[] = {"CVODE Adams, roots", "CVODE BDF, roots", "CVODE BDF, no roots"};
  for (int way = 0; way < 3; way++) {
    Rows rows = {b, names[way]};
    for (rf_index j = 0; j < m * d; j++) theta[j] = scale * b->net.W[j];
    for (rf_index k = 0; k < m; k++) theta[m * d + k] = scale * b->net.a[k];
    if (cvode_run(&flow, theta, way > 0, way < 2, budget, cvode_row, &rows))
      printf("%-28s failed\n", rows.method);
  }
  rf_free(memory);
}
#else
static void run_cvode(Bench *b, double scale, double budget) {
  (void)b, (void)scale, (void)budget;
  puts("CVODE: built without SUNDIALS (libsundials-dev)");
}
#endif

/* Seconds of one flow to its limit; negative on failure. */
static double flow_seconds(Bench *b, double log_scale, bool check, RfFlowResult *result) {
  RfFlowSettings settings;
  rf_flow_settings_init(&settings);
  settings.check_direction = check, settings.with_alignment = false;
  b->problem.log_scale = log_scale;
  double began = rf_clock_seconds();
  RfStatus status = rf_flow_run(&b->context, result, &b->problem, &settings);
  return status < 0 ? -1 : rf_clock_seconds() - began;
}

static int against_peers(rf_index n, rf_index d, rf_index m, double scale, double budget) {
  Bench b;
  RfFlowResult result;
  char note[96];
  if (bench_new(&b, n, d, m)) return 1;
  printf("\ngen:orthant %lld x %lld, %lld neurons, scale %g: distance to the limit set of PL Theorem 1\n",
         (long long)n, (long long)d, (long long)m, scale);
  printf("%-28s %9s %16s %16s\n", "method", "seconds", "direction error", "1 - margin/best");
  for (int check = 0; check < 2; check++) {
    double seconds = flow_seconds(&b, log(scale), check, &result);
    if (seconds < 0) break;
    snprintf(note, sizeof note, "%s, %lld events, %lld steps", rf_flow_outcome_name(result.limit.outcome),
             (long long)result.n_events,
             (long long)(result.monitors.steps_explicit + result.monitors.steps_implicit));
    print_row(&b, check ? "reluflow, with second run" : "reluflow", seconds, result.limit.net.W,
              result.limit.net.a, note);
    rf_flow_result_free(&result);
  }
  run_cvode(&b, scale, budget);
  bench_free(&b);
  return 0;
}

/* ---- scaling ------------------------------------------------------------------------------- */

typedef struct Shape {
  rf_index n, d, m;
  double log_scale;
} Shape;

/* Times along one axis, with the least-squares exponent of time ~ size^p. */
static int scaling(const char *axis, const Shape *shapes, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  printf("%-10s", axis);
  for (int k = 0; k < count; k++) {
    Bench b;
    RfFlowResult result;
    const Shape *s = &shapes[k];
    if (bench_new(&b, s->n, s->d, s->m)) return 1;
    double size = axis[0] == 'n'   ? (double)s->n
                  : axis[0] == 'd' ? (double)s->d
                  : axis[0] == 'm' ? (double)s->m
                                   : -s->log_scale;
    double seconds = flow_seconds(&b, s->log_scale, false, &result);
    if (seconds >= 0) rf_flow_result_free(&result);
    bench_free(&b);
    if (!(seconds > 0)) return 1;
    printf("  %6g: %7.3f s", size, seconds);
    fflush(stdout);
    sx += log(size), sy += log(seconds), sxx += log(size) * log(size), sxy += log(size) * log(seconds);
  }
  printf("   exponent %.2f\n", (count * sxy - sx * sy) / (count * sxx - sx * sx));
  return 0;
}

static int all_scaling(void) {
  const double small = log(1e-6);
  const Shape
      in_n[] = {{200, 20, 100, small}, {400, 20, 100, small}, {800, 20, 100, small}, {1600, 20, 100, small}},
      in_d[] = {{500, 5, 100, small}, {500, 10, 100, small}, {500, 20, 100, small}, {500, 40, 100, small}},
      in_m[] = {{500, 20, 25, small},
                {500, 20, 50, small},
                {500, 20, 100, small},
                {500, 20, 200, small},
                {500, 20, 400, small}},
      in_e[] = {{500, 20, 100, -10}, {500, 20, 100, -100}, {500, 20, 100, -1000}, {500, 20, 100, -10000}};
  puts("\ntime to the limit, around 500 x 20 x 100 at scale 1e-6 (no second run)");
  return scaling("n", in_n, 4) || scaling("d", in_d, 4) || scaling("m", in_m, 5) ||
         scaling("ln 1/eps", in_e, 4);
}

/* ---- reference cases, floor ---------------------------------------------------------------- */

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return a < b ? -1 : a > b;
}

static void reference_cases(void) {
  static const char *const names[] = {
      "gauss_d3_leaky",   "hinted_d2",        "linear_d3",    "min_mu_d2",          "orthsep_d2",
      "orthsep_d20",      "orthsep_d3_leaky", "symmetric_d2", "symmetric_d3_unbal", "vardi32_leaky",
      "vardi32_logistic", "vardi_local",      "xor_d2"};
  enum { COUNT = sizeof names / sizeof *names };
  const char *outcome;
  double times[COUNT];
  int count = 0, worst = 0;
  for (int k = 0; k < COUNT; k++) {
    double seconds = golden_time(names[k], &outcome);
    if (seconds < 0) continue;
    if (count == 0 || seconds > times[worst]) worst = count;
    times[count++] = seconds;
    printf("%s%-20s %8.2f ms %s", k % 3 ? "   " : "\n", names[k], 1e3 * seconds, outcome);
  }
  if (count == 0) return;
  double top = times[worst];
  qsort(times, (size_t)count, sizeof *times, by_size);
  printf("\nreference cases with second run: median %.2f ms, worst %.2f ms\n", 1e3 * times[count / 2],
         1e3 * top);
}

/* One evaluation of the right side next to the two products it consists of, and to a large dgemm. */
static int hot_loop(rf_index n, rf_index d, rf_index m) {
  Bench b;
  RfSystem system;
  RfFlowResult result;
  enum { REPEATS = 200, PEAK = 384 };
  if (bench_new(&b, n, d, m)) return 1;
  b.problem.log_scale = log(1e-2);
  if (rf_system_new(&b.context, &system, &b.problem)) return 1;
  double *f = RF_NEW(double, rf_system_size(&system)), *H = RF_NEW(double, m *n), *G = RF_NEW(double, m *d);
  double *A = RF_NEW(double, 3 * PEAK * PEAK);
  if (!f || !H || !G || !A) return 1;
  for (rf_index u = 0; u < system.units; u++)
    if (rf_system_refresh_unit(&system, u)) return 1;
  rf_system_rhs(&system, system.y, f);
  double began = rf_clock_seconds();
  for (int r = 0; r < REPEATS; r++) rf_system_rhs(&system, system.y, f);
  double full = (rf_clock_seconds() - began) / REPEATS;
  began = rf_clock_seconds();
  for (int r = 0; r < REPEATS; r++)
    rf_la_product_nt(H, system.y, b.data.X, m, n, d), rf_la_product_nn(G, H, b.data.X, m, d, n);
  double products = (rf_clock_seconds() - began) / REPEATS;
  for (int k = 0; k < 2 * PEAK * PEAK; k++) A[k] = 1e-3 * (k % 17);
  began = rf_clock_seconds();
  for (int r = 0; r < 4; r++) rf_la_product_nn(A + 2 * PEAK * PEAK, A, A + PEAK * PEAK, PEAK, PEAK, PEAK);
  double peak = 4 * 2.0 * PEAK * PEAK * PEAK / (rf_clock_seconds() - began);
  double flops = 4.0 * (double)n * (double)d * (double)m;
  double bytes = 8 * ((double)(m * n) * 4 + (double)(n * d) * 2 + (double)(m * d) * 3);
  printf("\nright side %lld x %lld x %lld: %.3f ms, %.2f Mflop in two products = %.1f GF/s; these products "
         "alone "
         "%.3f ms (%.2f of the time); dgemm %d: %.1f GF/s; %.2f MB touched = %.1f GB/s\n",
         (long long)n, (long long)d, (long long)m, 1e3 * full, 1e-6 * flops, 1e-9 * flops / full,
         1e3 * products, products / full, PEAK, 1e-9 * peak, 1e-6 * bytes, 1e-9 * bytes / full);
  double seconds = flow_seconds(&b, log(1e-2), false, &result);
  if (seconds >= 0) {
    printf(
        "flow at scale 1e-2: %.2f s, fit %.2f s, infinity %.2f s; %lld evaluations, %lld explicit and %lld "
        "implicit steps, %lld events; evaluations at the cost above: %.2f of the time\n",
        seconds, result.monitors.seconds_fit, result.monitors.seconds_infinity,
        (long long)result.monitors.evaluations, (long long)result.monitors.steps_explicit,
        (long long)result.monitors.steps_implicit, (long long)result.n_events,
        (double)result.monitors.evaluations * full / seconds);
    rf_flow_result_free(&result);
  }
  rf_free(f), rf_free(H), rf_free(G), rf_free(A);
  rf_system_free(&system);
  bench_free(&b);
  return 0;
}

int main(void) {
  const char *text = getenv("RF_BENCH_BUDGET");
  double budget = text ? atof(text) : 12;
  int status = against_peers(50, 5, 20, 1e-2, budget / 3);
  status |= against_peers(500, 20, 100, 1e-2, budget);
  status |= all_scaling();
  reference_cases();
  status |= hot_loop(500, 20, 100);
  return status;
}
