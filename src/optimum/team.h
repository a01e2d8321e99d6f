/* Threads that share loops of some microseconds, thousands in a row. Waking threads for each loop would cost
 * more than the loop, so that they stay awake: one leads, the others take blocks of its present loop. A block
 * belongs to nobody beforehand; where the others are slow to come (a busy machine), the leader does them all.
 */
#ifndef RF_OPTIMUM_TEAM_H
#define RF_OPTIMUM_TEAM_H

#include "core/core.h"

#include <stdatomic.h>

typedef void (*RfTeamPart)(void *user, rf_index block);

typedef struct RfTeam {
  _Atomic uint64_t ticket;  /* number of the loop << 32 | its next block */
  _Atomic uint64_t work[2]; /* of loop k in work[k % 2]: which part << 32 | how many blocks */
  _Atomic uint64_t done;    /* blocks of the present loop */
  _Atomic bool over;
  const RfTeamPart *parts; /* the loops there are */
  void *user;
  bool alone; /* nobody helps */
} RfTeam;

void rf_team_begin(RfTeam *team, const RfTeamPart *parts, void *user, bool alone);
/* By the leader: all blocks of a loop; returns when they are done. */
void rf_team_do(RfTeam *team, int part, rf_index blocks);
/* By the leader, once, when there is no more; by every other thread: until then. */
void rf_team_end(RfTeam *team);
void rf_team_help(RfTeam *team);

#endif
