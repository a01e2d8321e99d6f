/* Arrangements, counts, extremal directions, pairwise facts: rates and scaling in n and d. Repeats until a
 * tenth of a second has passed. */
#include "reluflow/reluflow.h"
#include "core/core.h"

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

/* kind 0: Gaussian with random labels; 1: orthogonally separable (orthants). */
static void extremal(RfContext *context, rf_index n, rf_index d, int kind, double leak) {
  static const char *const methods[] = {"auto", "faces", "bounds", "cells"};
  double *X = gaussian(n, d, (uint64_t)(7 * n + d)), *y = gaussian(n, 1, 3);
  for (rf_index i = 0; i < n; i++) {
    y[i] = y[i] > 0 ? 1 : -1;
    for (rf_index k = 0; k < d && kind == 1; k++) X[i * d + k] = y[i] * fabs(X[i * d + k]);
  }
  RfExtremalSettings settings = {.leak = leak, .slope = 0.5};
  RfExtremal found = {0};
  rf_index repeats = 0;
  double start = rf_clock_seconds(), seconds = 0, best = INFINITY;
  for (; seconds < 0.1; repeats++) {
    double before = rf_clock_seconds();
    rf_extremal_free(&found);
    (void)rf_geometry_extremal(context, &found, X, y, n, d, &settings);
    best = fmin(best, rf_clock_seconds() - before);
    seconds = rf_clock_seconds() - start;
  }
  printf("%6lld %3lld  %-11s %4.1f  %5lld + %-5lld %-10s %-6s %8lld nodes  %10.5f s (best %.5f)\n",
         (long long)n, (long long)d, kind ? "orthants" : "gaussian", leak, (long long)found.n_positive,
         (long long)found.n_negative, found.complete ? "complete" : "partial", methods[found.method],
         (long long)found.nodes, seconds / (double)repeats, best);
  rf_extremal_free(&found);
  rf_free(X);
  rf_free(y);
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
  puts("extremal directions: n, d, data, leak, positive + negative");
  static const rf_index orthants[][2] = {{100, 20}, {500, 20}, {2000, 20}, {500, 5}, {500, 100}};
  for (size_t k = 0; k < sizeof orthants / sizeof *orthants; k++)
    extremal(&context, orthants[k][0], orthants[k][1], 1, 0);
  static const rf_index gaussians[][2] = {{20, 2}, {1000, 2}, {20, 3},  {50, 3},
                                          {20, 5}, {30, 5},   {20, 20}, {40, 10}};
  for (size_t k = 0; k < sizeof gaussians / sizeof *gaussians; k++)
    extremal(&context, gaussians[k][0], gaussians[k][1], 0, 0.1);
  puts("pairwise facts: n, d, time");
  pairs(&context, 1000, 20);
  pairs(&context, 3000, 200);
  return 0;
}
