/* A command made for tests: cells whose answer is a function of their words, and cells that misbehave on
 * purpose. */
#ifndef SWEEP_TEST_H
#define SWEEP_TEST_H

#include "rf_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sweep/sweep.h"

/* What cells do, besides answering: set by the test before workers are forked. */
static struct {
  long crash_at;  /* this seed raises SIGSEGV, always */
  long once_at;   /* this seed ends its worker the first time: the file `once` remembers */
  long kill_at;   /* this seed sends its worker SIGKILL, always */
  long sleep_at;  /* this seed does not end */
  long refuse_at; /* this seed fails */
  long nap;       /* microseconds of every cell */
  char once[96];
} misdeeds;

static inline void misdeeds_reset(void) {
  memset(&misdeeds, 0, sizeof misdeeds);
  misdeeds.crash_at = misdeeds.once_at = misdeeds.kill_at = misdeeds.sleep_at = misdeeds.refuse_at = -1;
}

static SweepFlagKind toy_kind(const void *user, const char *flag) {
  (void)user;
  if (strcmp(flag, "--seed") == 0 || strcmp(flag, "--width") == 0 || strcmp(flag, "--time") == 0)
    return SWEEP_FLAG_NUMBER;
  if (strcmp(flag, "--scale") == 0) return SWEEP_FLAG_TEXT;
  if (strcmp(flag, "--classes") == 0) return SWEEP_FLAG_COMMAS;
  if (strcmp(flag, "--audit") == 0) return SWEEP_FLAG_PLAIN;
  return strcmp(flag, "--report") == 0 ? SWEEP_FLAG_REFUSED : SWEEP_FLAG_UNKNOWN;
}

static RfStatus toy_check(const void *user, RfContext *context, int count, char **words) {
  (void)user, (void)context, (void)count, (void)words;
  return RF_OK;
}

static long toy_number(int count, char **words, const char *flag) {
  for (int k = 0; k < count; k++)
    if (strncmp(words[k], flag, strlen(flag)) == 0) return strtol(words[k] + strlen(flag), NULL, 10);
  return 0;
}

static void misbehave(long seed) {
  if (misdeeds.nap) nanosleep(&(struct timespec){.tv_nsec = 1000 * misdeeds.nap}, NULL);
  if (seed == misdeeds.crash_at) {
    signal(SIGSEGV, SIG_DFL); /* sanitizers catch it otherwise and exit */
    raise(SIGSEGV);
  }
  if (seed == misdeeds.kill_at) raise(SIGKILL);
  if (seed == misdeeds.sleep_at)
    for (;;) pause();
  if (seed == misdeeds.once_at && access(misdeeds.once, F_OK) != 0) {
    FILE *file = fopen(misdeeds.once, "w");
    if (file) fclose(file);
    raise(SIGKILL);
  }
}

/* An object with the fields of `flow`: numbers from the seed, with all their digits. */
static void toy_run(const void *user, SweepAnswer *answer, int count, char **words) {
  long seed = toy_number(count, words, "--seed=");
  (void)user;
  misbehave(seed);
  if (seed == misdeeds.refuse_at) {
    answer->failed = true, answer->exit_status = 2;
    snprintf(answer->error, sizeof answer->error, "seed %ld is refused", seed);
    return;
  }
  answer->exit_status = seed % 7 == 3 ? 3 : seed % 5 == 2 ? 1 : 0;
  rf_text_addf(
      &answer->json,
      "{\"n\": 4, \"d\": 2, \"leak\": 0, \"limit\": {\"margin\": %.17g, \"margins\": [1, 2.5], \"status\": "
      "\"%s\"}, \"branched\": %s, \"end\": null, \"monitors\": {\"steps\": %ld}}",
      1.0 / (3.0 + (double)seed), answer->exit_status == 3 ? "undecided" : "converged",
      seed % 2 ? "true" : "false", 10 * seed);
}

static const SweepCommand toy = {.name = "flow",
                                 .table = "flow",
                                 .arguments = "data model",
                                 .kind_of = toy_kind,
                                 .check = toy_check,
                                 .run = toy_run};

#endif
