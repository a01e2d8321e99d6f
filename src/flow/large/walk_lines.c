/* Samples on one line, as walkers meet them. */
#include "flow/large/walk.h"

#include <math.h>
#include <string.h>

void rf_walk_lines_free(RfWalkLines *lines) {
  rf_free(lines->line);
  rf_free(lines->ratio);
  rf_free(lines->both);
  memset(lines, 0, sizeof *lines);
}

/* Chains of the samples of a line, those that stand for one first; whether there is any of two. */
static bool chain(RfWalkLines *lines, rf_index n) {
  bool any = false;
  for (rf_index i = 0; i < n; i++) lines->next[i] = -1;
  for (rf_index i = n - 1; i >= 0; i--) {
    rf_index first = lines->line[i];
    if (first == i) continue;
    lines->next[i] = lines->next[first], lines->next[first] = i;
    any = true;
  }
  return any;
}

/* Merged weights, and what is pushed on either side. */
static void weigh(RfWalkLines *lines, const RfAlignField *field) {
  rf_index d = field->d;
  for (rf_index first = 0; first < field->n; first++) {
    RfMerged merged = {0};
    if (lines->line[first] != first) continue;
    for (rf_index i = first; i >= 0; i = lines->next[i]) {
      rf_merged_add(&merged, field->c[i], lines->ratio[i], field->leak);
      lines->both[first] |= lines->ratio[i] < 0;
    }
    lines->c[first] = rf_merged_weight(&merged), lines->size[first] = merged.size;
    lines->mirrored = lines->mirrored || lines->both[first];
    rf_la_axpy(lines->constant, merged.constant, field->X + first * d, d);
  }
}

RfStatus rf_walk_lines_new(RfContext *context, RfWalkLines *lines, const RfAlignField *field) {
  rf_index n = field->n, d = field->d;
  *lines = (RfWalkLines){
      .line = RF_NEW(rf_index, 2 * n), .ratio = RF_NEW(double, 3 * n + d), .both = RF_NEW(uint8_t, n)};
  bool room = lines->line && lines->ratio && lines->both;
  RfStatus status = room ? rf_flow_lines(context, lines->line, lines->ratio, field->X, n, d)
                         : rf_fail(context, RF_ERR_MEMORY, "out of memory for lines of samples");
  if (!status) lines->next = lines->line + n;
  if (status || !chain(lines, n)) {
    rf_walk_lines_free(lines);
    return status;
  }
  lines->c = lines->ratio + n, lines->size = lines->c + n, lines->constant = lines->size + n;
  for (rf_index i = 0; i < n; i++)
    if (lines->line[i] != i) lines->ratio[i] /= lines->ratio[lines->line[i]];
  for (rf_index i = 0; i < n; i++)
    if (lines->line[i] == i) lines->ratio[i] = 1;
  weigh(lines, field);
  return RF_OK;
}
