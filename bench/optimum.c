/* Certified global max margin: random Gaussian data with random labels, and orthogonally separable data.
 * Without arguments the table of sizes and one anytime curve; bench_optimum n d [leak seed seconds] one
 * curve. Seconds are processor time, so that a busy machine does not count. */
#include "reluflow/reluflow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void curve(void *user, const RfOptimumRecord *r) {
  (void)user;
  printf("  %8.3f s  %.12g <= optimum <= %.12g  gap %.1e  round %lld, %lld patterns, %lld nodes\n",
         r->seconds, r->lower, r->objective,
         isfinite(r->objective) ? (r->objective - r->lower) / r->objective : 1, (long long)r->round,
         (long long)r->patterns, (long long)r->nodes);
}

static int run(const char *spec, double leak, bool show, double limit) {
  RfContext context;
  rf_context_init(&context);
  RfDataset data;
  RfOptimum o;
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.time_limit = limit;
  if (show) settings.on_record = curve;
  RfStatus status = rf_data_generate(&context, &data, spec);
  clock_t start = clock();
  if (status >= 0) status = rf_optimum_solve(&context, &o, data.X, data.y, data.n, data.d, &settings);
  if (status < 0) {
    fprintf(stderr, "%s: %s\n", spec, context.error);
    return 1;
  }
  printf("%-28s %4.2f | %13.9g %8.1e %-11s | %4lld %6lld %6lld %9lld | %8.3f\n", spec, leak, o.objective,
         o.gap, rf_optimum_status_name(o.status), (long long)o.neurons, (long long)o.patterns_seen,
         (long long)o.newton_steps, (long long)o.nodes, (double)(clock() - start) / CLOCKS_PER_SEC);
  fflush(stdout);
  rf_optimum_free(&o);
  rf_dataset_free(&data);
  return 0;
}

int main(int argc, char **argv) {
  puts("data                         leak |     objective      gap status      |width   seen  steps     "
       "nodes |  seconds");
  char spec[96];
  if (argc > 2) {
    snprintf(spec, sizeof spec, "gaussian,n=%s,d=%s,seed=%s", argv[1], argv[2], argc > 4 ? argv[4] : "0");
    return run(spec, argc > 3 ? atof(argv[3]) : 0, true, argc > 5 ? atof(argv[5]) : 60);
  }
  static const int sizes[][2] = {{10, 3},  {20, 5},  {40, 10}, {100, 2},
                                 {100, 3}, {100, 5}, {40, 40}, {60, 10}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int seed = 0; seed < 2; seed++) {
      snprintf(spec, sizeof spec, "gaussian,n=%d,d=%d,seed=%d", sizes[k][0], sizes[k][1], seed);
      if (run(spec, 0, false, 120)) return 1;
    }
  if (run("gaussian,n=40,d=10,seed=0", 0.5, false, 60) || run("orthant,n=500,d=20", 0, false, 60)) return 1;
  return run("gaussian,n=60,d=10,seed=2", 0, true, 60);
}
