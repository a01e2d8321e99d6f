/* What a cell will cost, before it has run: only the order matters to the engine, and the sum to --dry-run.
 */
#include "sweep/sweep_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sweep_plan_cost(const SweepPlan *plan, rf_index cell) {
  static const char *const sizes[] = {"n", "d", "width", "K", "H", "limit", "steps", "epochs", "seeds"};
  double cost = 1, value;
  for (rf_index k = 0; k < plan->n_axes; k++) {
    if (plan->axes[k].values.count < 2) continue;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
      if (strcmp(plan->axes[k].name, sizes[s]) != 0) continue;
      if (sweep_is_number(sweep_plan_value(plan, cell, k), &value) && value > 0) cost *= value;
    }
  }
  return cost;
}

typedef struct Priced {
  double cost;
  rf_index cell;
} Priced;

static int by_falling_cost(const void *a, const void *b) {
  const Priced *p = a, *q = b;
  if (p->cost > q->cost) return -1;
  if (p->cost < q->cost) return 1;
  return (p->cell > q->cell) - (p->cell < q->cell);
}

RfStatus sweep_plan_order(RfContext *context, const SweepPlan *plan, rf_index *cells, rf_index count) {
  Priced *priced = RF_NEW(Priced, count);
  if (!priced) return sweep_out_of_memory(context);
  for (rf_index i = 0; i < count; i++) priced[i] = (Priced){sweep_plan_cost(plan, cells[i]), cells[i]};
  if (count > 1) qsort(priced, (size_t)count, sizeof *priced, by_falling_cost);
  for (rf_index i = 0; i < count; i++) cells[i] = priced[i].cell;
  rf_free(priced);
  return RF_OK;
}

/* Seconds of one cell, run here; NaN when it was refused. */
static double time_cell(RfContext *context, const SweepPlan *plan, rf_index cell) {
  SweepTexts words = {0};
  SweepAnswer answer = {0};
  double started = rf_clock_seconds();
  if (sweep_plan_words(context, &words, plan, cell)) return NAN;
  plan->command->run(plan->command->user, &answer, (int)words.count, words.items);
  rf_text_free(&answer.json);
  sweep_texts_free(&words);
  return answer.failed ? NAN : rf_clock_seconds() - started;
}

/* ln seconds = a + b ln cost by least squares over the cells tried, 0 <= b <= 3; then the sum over all cells,
 * where each is carried from the mean of what was seen. */
double sweep_plan_seconds(RfContext *context, const SweepPlan *plan, double budget) {
  enum { TRIES = 12 };
  double x[TRIES], y[TRIES], mx = 0, my = 0, sxx = 0, sxy = 0, seen = 0, predicted = 0;
  rf_index count = 0, *cells = RF_NEW(rf_index, plan->n_cells);
  double started = rf_clock_seconds(), total = 0;
  if (!cells) return NAN;
  for (rf_index i = 0; i < plan->n_cells; i++) cells[i] = i;
  if (sweep_plan_order(context, plan, cells, plan->n_cells) == RF_OK) {
    for (rf_index k = 0; k < TRIES && k < plan->n_cells;
         k++) { /* the cheapest first: the budget may end it */
      rf_index tries = plan->n_cells < TRIES ? plan->n_cells : TRIES;
      rf_index at = (tries - 1 - k) * (plan->n_cells - 1) / (tries > 1 ? tries - 1 : 1);
      if (k > 0 && rf_clock_seconds() - started > budget) break;
      double seconds = time_cell(context, plan, cells[at]);
      if (!(seconds > 0)) continue;
      x[count] = log(sweep_plan_cost(plan, cells[at])), y[count] = seconds, count++;
    }
  }
  for (rf_index i = 0; i < count; i++) mx += x[i] / (double)count, my += log(y[i]) / (double)count;
  for (rf_index i = 0; i < count; i++) {
    sxx += (x[i] - mx) * (x[i] - mx);
    sxy += (x[i] - mx) * (log(y[i]) - my);
  }
  double slope = sxx > 0 ? fmin(fmax(sxy / sxx, 0), 3) : 0;
  for (rf_index i = 0; i < count; i++) seen += y[i], predicted += exp(slope * x[i]);
  for (rf_index i = 0; i < plan->n_cells; i++) total += pow(sweep_plan_cost(plan, i), slope);
  rf_free(cells);
  return count > 0 ? total * seen / predicted : NAN;
}
