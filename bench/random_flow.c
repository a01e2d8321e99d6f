/* Ten thousand random small problems: bench_random_flow [COUNT [SEED [SECONDS]]], or RF_RANDOM_COUNT,
 * RF_RANDOM_SEED, RF_RANDOM_SECONDS. Every one must end in a status; whatever is called converged is put
 * through the KKT projection and the escape test outside the flow. Prints shares of the outcomes, separately
 * with a frozen second layer, and the numbers of the undecided ones. Exit status 1 when something is wrong.
 */
#include <stdlib.h>

#include "../tests/flow/random_problem.h"

static double number_of(int argc, char **argv, int at, const char *name, double otherwise) {
  const char *text = argc > at ? argv[at] : getenv(name);
  return text ? atof(text) : otherwise;
}

static void print_row(const char *name, const RandomTally *t) {
  double count = t->count > 0 ? (double)t->count : 1;
  printf("%-14s %7lld %10lld %10lld %8lld %9lld (%.2f %%) %8lld %6lld %6lld   %8.1e %9.2f %8.2f\n", name,
         (long long)t->count, (long long)t->outcomes[RF_FLOW_CONVERGED],
         (long long)t->outcomes[RF_FLOW_NOT_SEPARATED], (long long)t->outcomes[RF_FLOW_BRANCHED],
         (long long)t->outcomes[RF_FLOW_UNDECIDED], 100 * (double)t->outcomes[RF_FLOW_UNDECIDED] / count,
         (long long)t->failures, (long long)t->late, (long long)t->wrong, t->residual, 1e3 * t->total / count,
         t->slowest);
}

int main(int argc, char **argv) {
  rf_index count = (rf_index)number_of(argc, argv, 1, "RF_RANDOM_COUNT", 10000);
  uint64_t seed = (uint64_t)number_of(argc, argv, 2, "RF_RANDOM_SEED", 77);
  double seconds = number_of(argc, argv, 3, "RF_RANDOM_SECONDS", 600), began = rf_clock_seconds();
  RandomTally tally[2] = {{0}};
  RfFlowOutcome outcome;
  rf_index done = 0, undecided = 0;
  printf("random problems: n <= 12, d <= 4, m <= 6, random labels, leak, loss, start; seed %llu\n",
         (unsigned long long)seed);
  for (; done < count && rf_clock_seconds() - began < seconds; done++) {
    random_problem_run(tally, &outcome, seed, done, true, 20, false);
    if (outcome != RF_FLOW_UNDECIDED) continue;
    if (undecided++ % 16 == 0) printf("%sundecided:", undecided > 1 ? "\n" : "");
    printf(" %lld", (long long)done);
    fflush(stdout);
  }
  printf("\n%-14s %7s %10s %10s %8s %18s %8s %6s %6s   %8s %9s %8s\n", "layers", "count", "converged",
         "not-separ.", "branched", "undecided", "failures", "no end", "wrong", "residual", "mean ms",
         "worst s");
  print_row("both", &tally[0]);
  print_row("second frozen", &tally[1]);
  printf("%lld of %lld problems in %.0f s\n", (long long)done, (long long)count, rf_clock_seconds() - began);
  rf_index bad = 0;
  for (int k = 0; k < 2; k++) bad += tally[k].wrong + tally[k].failures + tally[k].late;
  return bad > 0;
}
