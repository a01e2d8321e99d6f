/* Threads that share short loops: every block of every loop is done once, before the next loop begins, by any
 * number of threads. */
#include "rf_test.h"
#include "optimum/team.h"

#include <omp.h>

enum { most_blocks = 9, loops = 3000 };

typedef struct Sums {
  long a[most_blocks], b[most_blocks];
} Sums;

/* The loops depend on each other: the second sees what the first left in another block. */
static void first(void *user, rf_index block) {
  Sums *s = user;
  s->a[block] += s->b[(block + 1) % most_blocks] + 1;
}

static void second(void *user, rf_index block) {
  Sums *s = user;
  s->b[block] = s->a[(block + 2) % most_blocks] % 1000;
}

static void run(Sums *s, int threads) {
  static const RfTeamPart parts[] = {first, second};
  RfTeam team;
  rf_team_begin(&team, parts, s, threads == 1);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) {
      for (int k = 0; k < loops; k++) rf_team_do(&team, 0, most_blocks), rf_team_do(&team, 1, most_blocks);
      rf_team_end(&team);
    } else
      rf_team_help(&team);
  }
}

static void test_every_block_once(void **state) {
  (void)state;
  Sums alone = {{0}, {0}};
  run(&alone, 1);
  assert_true(alone.a[0] > loops);
  for (int threads = 2; threads <= 4; threads++) {
    Sums s = {{0}, {0}};
    run(&s, threads);
    assert_memory_equal(&s, &alone, sizeof s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_block_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
