/* Who takes a block takes it by one exchange of the ticket, which names the loop it belongs to: a thread that
 * was away comes back to the present loop or to none. What a loop is, is written before its ticket, in the
 * place that the loop before the last has left; nobody holds a block of that one any more. */
#include "optimum/team.h"

#include <sched.h>

enum { patience = 200 }; /* looks before the processor is offered to others: some microseconds */

static void rest(int *looks) {
  if (++*looks < patience) return;
  *looks = 0;
  sched_yield();
}

void rf_team_begin(RfTeam *team, const RfTeamPart *parts, void *user, bool alone) {
  atomic_init(&team->ticket, 0);
  atomic_init(&team->work[0], 0);
  atomic_init(&team->work[1], 0);
  atomic_init(&team->done, 0);
  atomic_init(&team->over, false);
  team->parts = parts, team->user = user, team->alone = alone;
}

/* One block of the present loop; false: none is free. */
static bool take(RfTeam *team) {
  uint64_t ticket = atomic_load(&team->ticket);
  for (;;) {
    uint64_t work = atomic_load(&team->work[(ticket >> 32) % 2]), block = ticket & UINT32_MAX;
    if (block >= (work & UINT32_MAX)) return false;
    if (!atomic_compare_exchange_weak(&team->ticket, &ticket, ticket + 1)) continue;
    team->parts[work >> 32](team->user, (rf_index)block);
    atomic_fetch_add(&team->done, 1);
    return true;
  }
}

void rf_team_do(RfTeam *team, int part, rf_index blocks) {
  if (team->alone || blocks < 2) {
    for (rf_index k = 0; k < blocks; k++) team->parts[part](team->user, k);
    return;
  }
  uint64_t loop = (atomic_load(&team->ticket) >> 32) + 1;
  atomic_store(&team->done, 0);
  atomic_store(&team->work[loop % 2], (uint64_t)part << 32 | (uint64_t)blocks);
  atomic_store(&team->ticket, (loop & UINT32_MAX) << 32);
  while (take(team)) continue;
  for (int looks = 0; atomic_load(&team->done) < (uint64_t)blocks;) rest(&looks);
}

void rf_team_end(RfTeam *team) { atomic_store(&team->over, true); }

void rf_team_help(RfTeam *team) {
  for (int looks = 0; !atomic_load(&team->over);)
    if (!take(team)) rest(&looks);
}
