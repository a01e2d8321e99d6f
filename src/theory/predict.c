/* The limits that applicable theorems predict, as groups of neurons at min margin 1 (RfPrediction). */
#include "theory/theory_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la/la.h"

/* Two-layer limits of all theorems here: at most two groups, group g is scale[g] * direction[g] with sign[g].
 */
typedef struct Groups {
  rf_index count;
  const double *direction[2];
  double scale[2], sign[2];
} Groups;

static RfStatus add(RfContext *context, RfTheory *theory, rf_index d, const char *id, const Groups *groups,
                    const char *when) {
  RfPrediction *grown = rf_resize(theory->predictions, theory->n_predictions + 1, sizeof *grown);
  if (!grown) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a prediction");
  theory->predictions = grown;
  RfPrediction *prediction = &grown[theory->n_predictions];
  memset(prediction, 0, sizeof *prediction);
  prediction->u = RF_NEW(double, groups->count *d);
  if (!prediction->u) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a prediction");
  theory->n_predictions++;
  prediction->theorem = id;
  prediction->groups = groups->count;
  double sum = 0;
  for (rf_index g = 0; g < groups->count; g++) {
    rf_la_axpy(prediction->u + g * d, groups->scale[g], groups->direction[g], d);
    sum += rf_la_norm(prediction->u + g * d, d);
    prediction->sign[g] = groups->sign[g];
  }
  prediction->margin = 0.5 / sum;
  rf_format(prediction->when, sizeof prediction->when, "%s", when);
  return RF_OK;
}

/* w+ and w-, of the classes that exist. */
static Groups class_groups(const RfTheoryProblem *problem) {
  Groups groups = {0, {NULL, NULL}, {1, 1}, {1, 1}};
  const RfClassMargin *sides[2] = {problem->positive, problem->negative};
  for (int side = 0; side < 2; side++) {
    if (!sides[side]->exists) continue;
    groups.direction[groups.count] = sides[side]->w;
    groups.sign[groups.count++] = side ? -1 : 1;
  }
  return groups;
}

static Groups linear_groups(const RfTheoryProblem *problem) {
  double scale = 1 / ((1 + problem->leak) * problem->linear->margin);
  const double *w = problem->linear->w;
  if (problem->leak == 1) return (Groups){1, {w, NULL}, {2 * scale, 0}, {1, 0}};
  return (Groups){2, {w, w}, {scale, -scale}, {1, -1}};
}

static bool applies(const RfTheory *theory, const char *id) {
  const RfTheorem *theorem = rf_theory_find(theory, id);
  return theorem && theorem->applies == RF_YES;
}

RfStatus rf_theory_predict(RfContext *context, RfTheory *theory, const RfTheoryProblem *problem) {
  static const struct {
    const char *id;
    enum { CLASSES, LINEAR, PLUS, MINUS } kind;
    const char *when;
  } table[] = {
      {"PL-Thm1", CLASSES, "balanced start near zero; neurons of both signs survive alignment"},
      {"PL-Cor1", CLASSES, "balanced start near zero; neurons of both signs survive alignment"},
      {"WP-Thm4", CLASSES, "balanced start near zero with an aligned neuron of each sign"},
      {"WP-Thm2", CLASSES, "balanced start near zero with an aligned neuron of each sign, each class net"},
      {"LLWA-ThmH.2", CLASSES, "any start from which the flow separates the data"},
      {"LLWA-Thm4.3", LINEAR, "Gaussian start of small scale, width m >= 2, probability at least 1-2^-(m-1)"},
      {"LLWA-Thm6.2", PLUS, "balanced Gaussian start of small scale, probability at least 1-2^-m"},
      {"LLWA-ThmA.7", PLUS, "balanced Gaussian start of small scale, probability at least 1-2^-m"},
      {"LLWA-ThmA.10", MINUS, "balanced Gaussian start of small scale, probability at least 1-2^-m"},
      {"VSS-Thm3.1", LINEAR, "any start from which the flow separates the data"},
      {"VSS-Thm3.2", CLASSES,
       "two neurons, one active on both samples with positive output, the other on none"},
  };
  RfStatus status = RF_OK;
  for (size_t k = 0; k < sizeof table / sizeof *table && !status; k++) {
    if (!applies(theory, table[k].id)) continue;
    const RfPrincipal *principal = &theory->principal;
    Groups groups = {1, {NULL, NULL}, {1, 0}, {1, 0}};
    switch (table[k].kind) {
    case CLASSES: groups = class_groups(problem); break;
    case LINEAR: groups = linear_groups(problem); break;
    case PLUS: groups.direction[0] = principal->w_plus, groups.scale[0] = 1 / principal->margin_plus; break;
    case MINUS:
      groups.direction[0] = principal->w_minus, groups.scale[0] = -1 / principal->margin_minus,
      groups.sign[0] = -1;
      break;
    }
    status = add(context, theory, problem->data->d, table[k].id, &groups, table[k].when);
  }
  return status;
}
