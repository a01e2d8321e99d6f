/* Memory of walkers. */
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

void rf_walk_free(RfWalk *walk) {
  for (rf_index k = 0; walk->walker && k < walk->m; k++) {
    rf_free(walk->walker[k].w);
    rf_free(walk->walker[k].on);
    rf_free(walk->walker[k].coef);
    rf_free(walk->walker[k].events);
    rf_free(walk->walker[k].small);
  }
  rf_free(walk->walker);
  rf_free(walk->slack);
  rf_free(walk->nothing);
  rf_free(walk->seen);
  rf_free(walk->weighed);
  rf_free(walk->leader);
  rf_free(walk->hash);
  memset(walk, 0, sizeof *walk);
}

RfStatus rf_walk_new(RfContext *context, RfWalk *walk, const double *X, const RfGram *gram, rf_index n,
                     rf_index d, rf_index m, double leak) {
  memset(walk, 0, sizeof *walk);
  walk->context = context;
  walk->X = X, walk->gram = gram, walk->n = n, walk->d = d, walk->m = m, walk->leak = leak;
  walk->walker = RF_NEW(RfWalker, m);
  walk->slack = RF_NEW(double, 2 * n);
  walk->nothing = RF_NEW(float, n);
  walk->seen = RF_NEW(uint8_t, n);
  walk->weighed = RF_NEW(double, m *(2 * n + d));
  walk->leader = RF_NEW(rf_index, m);
  walk->hash = RF_NEW(uint64_t, m);
  bool room = walk->walker && walk->slack && walk->nothing && walk->seen && walk->weighed && walk->leader &&
              walk->hash;
  for (rf_index k = 0; k < m && room; k++) {
    RfWalker *w = &walk->walker[k];
    w->w = RF_NEW(double, 3 * d + 3 * n);
    room = w->w != NULL;
    if (!room) break;
    w->base = w->w + d, w->g = w->base + d, w->h = w->g + d, w->b = w->h + n, w->side = w->b + n;
  }
  if (!room) rf_walk_free(walk);
  if (!room) return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  walk->norm = walk->slack + n;
  walk->planes = walk->weighed + m * n;
  walk->rows = walk->planes + m * n;
  for (rf_index i = 0; i < n; i++) walk->norm[i] = sqrt(gram->square[i]);
  return RF_OK;
}

void rf_walk_take_lines(RfWalk *walk, const RfWalkLines *lines) {
  if (!lines->line) return;
  walk->lines = lines;
  for (rf_index i = 0; i < walk->n; i++)
    if (lines->line[i] != i) walk->norm[i] = 0;
}
