/* Arrangements, counts, pairwise facts: rates and scaling in n and d. Repeats until a tenth of a second has
 * passed. */
#include "reluflow/reluflow.h"

#include <math.h>
#include <stdio.h>

static double *gaussian(rf_index n, rf_index d, uint64_t seed) {
  RfRandom random;
  rf_random_init(&random, seed, 0);
  double *X = RF_NEW(double, n *d);
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(&random);
  return X;
}

static bool ignore(void *user, const uint64_t *positive, const double *witness) {
  *(double *)user += (double)(positive[0] & 1) + witness[0];
  return true;
}

static void arrangement(RfContext *context, rf_index n, rf_index d, RfSectorMethod method) {
  double *X = gaussian(n, d, (uint64_t)(100 * n + d)), sum = 0;
  RfSectorSettings settings = {.method = method};
  rf_index count = 0, repeats = 0;
  double start = rf_clock_seconds(), seconds = 0;
  for (; seconds < 0.1; seconds = rf_clock_seconds() - start, repeats++)
    if (rf_geometry_visit_sectors(context, &count, X, n, d, &settings, ignore, &sum)) break;
  RfSectorCount counted;
  double before = rf_clock_seconds();
  (void)rf_geometry_count_sectors(context, &counted, X, n, d, 0);
  double counting = rf_clock_seconds() - before;
  printf("%5lld %3lld  %-7s %10lld  %10.4f s  %8.3f M/s   count alone %.5f s%s\n", (long long)n, (long long)d,
         method == RF_SECTORS_SEARCH ? "search" : "sweep", (long long)count, seconds / (double)repeats,
         (double)count * (double)repeats / seconds / 1e6, counting,
         counted.known && counted.approximate != (double)count ? "  DIFFERENT" : "");
  rf_sector_count_free(&counted);
  rf_free(X);
}

static void pairs(RfContext *context, rf_index n, rf_index d) {
  double *X = gaussian(n, d, 1), *y = gaussian(n, 1, 2);
  for (rf_index i = 0; i < n; i++) y[i] = y[i] > 0 ? 1 : -1;
  RfPairFacts facts;
  double start = rf_clock_seconds();
  (void)rf_geometry_pairs(context, &facts, X, y, n, d);
  printf("%6lld %4lld  %8.3f s  sep %.3f\n", (long long)n, (long long)d, rf_clock_seconds() - start,
         facts.sep);
  rf_free(X);
  rf_free(y);
}

int main(void) {
  RfContext context;
  rf_context_init(&context);
  static const rf_index sizes[][2] = {{30, 3}, {100, 3}, {300, 3}, {20, 4}, {40, 4},  {80, 4},  {20, 5},
                                      {30, 5}, {40, 5},  {20, 8},  {12, 8}, {14, 14}, {1000, 2}};
  puts("arrangements: n, d, method, open sectors, time, rate");
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    arrangement(&context, sizes[k][0], sizes[k][1], RF_SECTORS_AUTO);
  arrangement(&context, 20, 5, RF_SECTORS_SEARCH);
  puts("pairwise facts: n, d, time");
  pairs(&context, 1000, 20);
  pairs(&context, 3000, 200);
  return 0;
}
