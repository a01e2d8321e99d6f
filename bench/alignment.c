/* Proofs of alignment on random neurons.
 *
 *   bench_alignment [--count N] [--seed S] [--list]
 *
 * For every family of tests/flow/align/random_neurons.h, N neurons (10,000): how many paths are proved, at
 * which precision, how many branch exactly, and every neuron of which floating point says something else.
 * Exit status 1 when a neuron in general position is not proved. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "options.h"
#include "../tests/flow/align/random_neurons.h"

typedef struct Count {
  rf_index neurons, proved, crossings, slides, branched, bits[5], differs, most;
  double engine, prover;
} Count;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void count_neuron(Count *count, const RfAlignNeuron *neuron, int family, rf_index number, rf_index k,
                         uint64_t seed, bool list) {
  const RfAlignProof *proof = &neuron->proof;
  count->neurons++, count->proved += proof->proved;
  count->crossings += proof->crossings, count->slides += proof->slides, count->branched += proof->branched;
  if (proof->crossings > count->most) count->most = proof->crossings;
  int place = proof->bits == 0     ? 4
              : proof->bits == 128 ? 0
              : proof->bits == 256 ? 1
              : proof->bits == 512 ? 2
                                   : 3;
  if (proof->proved) count->bits[place]++;
  bool differs = proof->proved && !proof->agrees;
  count->differs += differs;
  if (list && (differs || !proof->proved))
    printf("  %s, seed %llu problem %lld neuron %lld: %s%s%s, floating point %s%s%s\n",
           random_neurons_name(family), (unsigned long long)seed, (long long)number, (long long)k,
           proof->proved ? rf_destiny_name(proof->destiny) : "not proved: ", proof->proved ? "" : proof->why,
           proof->branched ? " branching" : "", rf_destiny_name(neuron->destiny),
           neuron->branched ? " branching" : "", proof->bits ? "" : " (exact)");
}

static Count run_family(RfContext *context, int family, uint64_t seed, rf_index wanted, bool list) {
  Count count = {0};
  for (rf_index number = 0; count.neurons < wanted; number++) {
    RandomNeurons p;
    RfAlignment alignment;
    if (random_neurons_new(context, &p, family, seed, number)) exit(3);
    double start = seconds();
    if (rf_flow_align(context, &alignment, &p.flow)) exit(3);
    double middle = seconds();
    if (rf_align_prove(context, &alignment, &p.flow)) exit(3);
    count.engine += middle - start, count.prover += seconds() - middle;
    for (rf_index k = 0; k < alignment.m; k++)
      count_neuron(&count, &alignment.neurons[k], family, number, k, seed, list);
    rf_alignment_free(&alignment);
    rf_flow_start_free(&p.start);
  }
  return count;
}

int main(int argc, char **argv) {
  long wanted = 10000;
  uint64_t seed = 1;
  bool list = false, bad = false;
  const BenchOption table[] = {OPTION("--count", "N", OPTION_COUNT, &wanted),
                               OPTION("--seed", "S", OPTION_SEED, &seed),
                               OPTION("--list", NULL, OPTION_SWITCH, &list)};
  if (!bench_options(table, 3, argc, argv)) return 2;
  RfContext context;
  rf_context_init(&context);
  context.threads = 1;
  printf("| neurons | proved | crossings (most) | slides | exact ties that branch | 128 | 256 | 512 | 1024 "
         "bits | exact | "
         "floating point differs | time / floating point "
         "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int family = 0; family < NEURON_FAMILIES; family++) {
    Count c = run_family(&context, family, seed, wanted, list);
    printf(
        "| %lld, %s | %lld | %lld (%lld) | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %lld | %.0f |\n",
        (long long)c.neurons, random_neurons_name(family), (long long)c.proved, (long long)c.crossings,
        (long long)c.most, (long long)c.slides, (long long)c.branched, (long long)c.bits[0],
        (long long)c.bits[1], (long long)c.bits[2], (long long)c.bits[3], (long long)c.bits[4],
        (long long)c.differs, c.prover / c.engine);
    fflush(stdout);
    bad = bad || (family == NEURONS_GENERAL && c.proved < c.neurons);
  }
  return bad;
}
