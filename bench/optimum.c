/* Certified global max margin on random Gaussian data with random labels: time to a proved gap, and the
 * anytime curve. usage: bench_optimum [n d leak seed [curve]]; without arguments the table of sizes. */
#include "reluflow/reluflow.h"
#include "reluflow/optimum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void curve(void *user, const RfOptimumRecord *r) {
  (void)user;
  printf("  %8.3f s  objective %.12g  lower %.12g  gap %.2e  round %lld patterns %lld nodes %lld\n",
         r->seconds, r->objective, r->lower, (r->objective - r->lower) / r->objective, (long long)r->round,
         (long long)r->patterns, (long long)r->nodes);
}

static int run(rf_index n, rf_index d, double leak, uint64_t seed, bool show, double limit) {
  RfContext context;
  rf_context_init(&context);
  RfRandom random;
  rf_random_init(&random, seed, 0);
  double *X = RF_NEW(double, n *d), *y = RF_NEW(double, n);
  if (!X || !y) return 1;
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
  for (rf_index i = 0; i < n; i++) y[i] = rf_random_sign(&random);
  RfOptimumSettings settings;
  rf_optimum_settings_init(&settings);
  settings.leak = leak, settings.time_limit = limit;
  if (show) settings.on_record = curve;
  RfOptimum o;
  RfStatus status = rf_optimum_solve(&context, &o, X, y, n, d, &settings);
  if (status < 0) {
    fprintf(stderr, "%s\n", context.error);
    return 1;
  }
  printf("%5lld %4lld %5.2f %4llu | %14.9g %9.1e %-11s | %5lld %6lld %6lld %4lld %9lld | %8.3f\n",
         (long long)n, (long long)d, leak, (unsigned long long)seed, o.objective, o.gap,
         rf_optimum_status_text(o.status), (long long)o.neurons, (long long)o.patterns_seen,
         (long long)o.newton_steps, (long long)o.searches, (long long)o.nodes, o.seconds);
  fflush(stdout);
  rf_optimum_free(&o);
  rf_free(X), rf_free(y);
  return 0;
}

int main(int argc, char **argv) {
  puts("    n    d  leak seed |      objective       gap status      | width  seen  newton  src     nodes |  "
       "seconds");
  if (argc > 2)
    return run(atoll(argv[1]), atoll(argv[2]), argc > 3 ? atof(argv[3]) : 0,
               argc > 4 ? strtoull(argv[4], NULL, 10) : 0, argc > 5, argc > 6 ? atof(argv[6]) : 60);
  static const rf_index sizes[][2] = {{10, 3},  {20, 3},  {20, 5},  {40, 3},  {40, 10},
                                      {100, 2}, {100, 5}, {40, 40}, {60, 10}, {100, 10}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    if (run(sizes[k][0], sizes[k][1], 0, 0, false, 60)) return 1;
  return 0;
}
