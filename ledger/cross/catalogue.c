/* E-X-4: every set of the catalogue classified, and the facts that the catalogue states about them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cross/cross.h"
#include "core/core.h"
#include "kit/figure.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "theory/theory.h"
#include "kit/setting.h"

typedef enum Fact {
  FACT_SEPARABLE,
  FACT_ORTHOGONAL,
  FACT_SEP,
  FACT_SYMMETRIC,
  FACT_A2,
  FACT_SPIKE,
  FACT_SPIKE_NUMBER,
  FACT_SPANS,
  FACT_MARGIN,
  FACT_W_PLUS,
  FACT_W_MINUS,
  FACT_ZETA1,
  FACT_XI,
  FACT_LOSS_RATE,
  FACT_SECTORS,
  FACT_OFF_MEAN,
  FACT_MU_PLUS,
  FACT_MU_MINUS,
  N_FACTS
} Fact;

/* Yes 1, no 0, not known or not defined NaN. */
static double answer(RfAnswer a) { return a == RF_YES ? 1 : a == RF_NO ? 0 : NAN; }

/* The facts of one dataset; what was not computed stays NaN. */
static void gather(double *facts, const RfInspection *at) {
  for (int k = 0; k < N_FACTS; k++) facts[k] = NAN;
  facts[FACT_ORTHOGONAL] = at->pairs.orthogonal_separable, facts[FACT_SEP] = at->pairs.sep;
  facts[FACT_SPIKE] = answer(at->spike.holds), facts[FACT_SPIKE_NUMBER] = at->spike.number;
  if (at->sectors.known) facts[FACT_SECTORS] = at->sectors.approximate;
  if (at->n_parts) return; /* several classes: nothing about labels */
  facts[FACT_SEPARABLE] = answer(at->theory.separable.holds), facts[FACT_SYMMETRIC] = at->pairs.symmetric;
  facts[FACT_A2] = at->theory.principal.a2.slack, facts[FACT_MARGIN] = at->linear.margin;
  bool plus = at->positive.empty || at->positive.spans, minus = at->negative.empty || at->negative.spans;
  if (at->positive.exists || at->negative.exists) facts[FACT_SPANS] = plus && minus;
  if (at->positive.exists) facts[FACT_W_PLUS] = at->positive.norm;
  if (at->negative.exists) facts[FACT_W_MINUS] = at->negative.norm;
  facts[FACT_ZETA1] = at->theory.alignment.zeta1, facts[FACT_XI] = at->theory.alignment.xi;
  facts[FACT_LOSS_RATE] = at->theory.alignment.loss_rate, facts[FACT_OFF_MEAN] = at->theory.off_mean.slack;
  facts[FACT_MU_PLUS] = at->theory.principal.mu_plus_norm,
  facts[FACT_MU_MINUS] = at->theory.principal.mu_minus_norm;
}

static RfStatus classify(RfClaimRun *run, double *facts, const char *spec, double leak) {
  RfDataset data = {0};
  RfInspection inspection = {0};
  RfInspectionSettings settings = {.leak = leak, .loss = RF_LOSS_LOGISTIC};
  RfStatus status = rf_claim_data(run, &data, spec, 1);
  if (!status) status = rf_study_inspect(run->context, &inspection, &data, &settings);
  if (status > 0 && status != RF_INTERRUPTED) status = RF_OK;
  if (!status) gather(facts, &inspection);
  rf_inspection_free(&inspection);
  rf_dataset_free(&data);
  return status;
}

/* What the catalogue says, to the digits it gives. */
typedef struct Stated {
  const char *spec;
  double leak;
  Fact fact;
  double value, tolerance;
} Stated;

static const Stated stated[] = {
    {"DS-WP1", 0, FACT_ORTHOGONAL, 1, 0},
    {"DS-WP1", 0, FACT_SPIKE, 0, 0},
    {"DS-WP1", 0, FACT_SPIKE_NUMBER, 1.222195, 5e-7},
    {"DS-WP2", 0, FACT_SPIKE, 1, 0},
    {"DS-WP2", 0, FACT_SPIKE_NUMBER, 1, 0},
    {"DS-MC2", 0, FACT_ORTHOGONAL, 1, 0},
    {"DS-MC3", 0, FACT_ORTHOGONAL, 1, 0},
    {"DS-OS(5,5,3,0.2)", 0, FACT_SEP, 0.2, 1e-12},
    {"DS-PL2", 0, FACT_W_PLUS, 0.4714045, 5e-8},
    {"DS-PL2", 0, FACT_W_MINUS, 0.5150788, 5e-8},
    {"DS-PL2", 0, FACT_SPANS, 1, 0},
    {"DS-PL2", 0, FACT_SEP, 0.1414214, 5e-8},
    {"DS-PL2", 0, FACT_ZETA1, 0.2, 1e-12},
    {"DS-PL2", 0, FACT_XI, 0.02, 1e-12},
    {"DS-PL2", 0, FACT_SECTORS, 8, 0},
    {"DS-PL2", 0, FACT_LOSS_RATE, 7.36570e-4, 5e-9},
    {"DS-PL(500,20)", 0, FACT_ORTHOGONAL, 1, 0},
    {"DS-PL(500,20)", 0, FACT_SPANS, 0, 0},
    {"DS-SYM6", 0.5, FACT_SYMMETRIC, 1, 0},
    {"DS-SYM6", 0.5, FACT_MARGIN, 0.3, 1e-12},
    {"DS-SYM6", 0.5, FACT_OFF_MEAN, 0.04, 1e-12},
    {"DS-SYM(4,3,0.2)", 0.5, FACT_SYMMETRIC, 1, 0},
    {"hinted,H=80", 0.5, FACT_A2, 0.904286, 5e-7},
    {"hinted,H=20", 0.5, FACT_A2, 0.047143, 5e-7},
    {"DS-MID", 0.5, FACT_A2, 0.840508, 5e-7},
    {"DS-MID", 0.5, FACT_MU_PLUS, 18.4042, 5e-5},
    {"DS-MID", 0.5, FACT_MU_MINUS, 9.29583, 5e-6},
    {"DS-M2(0.1)", 0, FACT_SEP, 0.09983341664682815, 1e-12}, /* sin 0.1 */
    {"DS-SEP(20,3)", 0, FACT_SEPARABLE, 1, 0},
    {"DS-T1(50)", 0, FACT_SEPARABLE, 1, 0},
};

static RfStatus judge_stated(RfClaimRun *run) {
  RfStatus status = RF_OK;
  double facts[N_FACTS];
  const char *last = "";
  for (size_t k = 0; k < sizeof stated / sizeof stated[0] && !status; k++) {
    if (strcmp(last, stated[k].spec) != 0) status = classify(run, facts, stated[k].spec, stated[k].leak);
    if (status) break;
    last = stated[k].spec;
    rf_claim_close(run, stated[k].spec, facts[stated[k].fact], stated[k].value, stated[k].tolerance);
  }
  if (!status) status = classify(run, facts, "hinted,H=10", 0.5);
  if (!status) rf_claim_true(run, "DS-HINT with H = 10 violates A.2", facts[FACT_A2] < 0);
  return status;
}

static const Fact columns[] = {FACT_SEPARABLE, FACT_ORTHOGONAL, FACT_SEP,  FACT_SYMMETRIC,
                               FACT_A2,        FACT_SPIKE,      FACT_SPANS};
static const char *const headings[] = {"separable", "orthogonal", "sep", "symmetric",
                                       "A.2 slack", "spike-free", "span"};
enum { n_columns = 7 };

static void write_value(char *out, size_t size, Fact fact, double value) {
  bool number = fact == FACT_SEP || fact == FACT_A2;
  if (isnan(value))
    rf_format(out, size, "-");
  else if (number)
    rf_format(out, size, "%.4g", value);
  else
    rf_format(out, size, "%s", value > 0 ? "yes" : "no");
}

/* The table as a picture and as a text file. */
static RfStatus draw_catalogue(RfClaimRun *run, const RfGenerator *table, double (*facts)[N_FACTS],
                               rf_index count) {
  RfSvg svg = {0};
  RfText text = {0};
  char value[32];
  double row = 22, top = 84;
  rf_svg_begin(&svg, 960, top + row * (double)count + 20, "E-X-4: the catalogue classified",
               "properties of every dataset");
  rf_svg_label(&svg, 20, 24, RF_ANCHOR_START, 14, RF_COLOUR_INK,
               "Every dataset of the catalogue at its default size (A.2 for leak 1/2)");
  rf_text_add(&text, "set,catalogue");
  for (int c = 0; c < n_columns; c++) {
    rf_svg_label(&svg, 330 + 90 * c, 58, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, headings[c]);
    rf_text_addf(&text, ",%s", headings[c]);
  }
  rf_text_add(&text, "\n");
  rf_svg_line(&svg, 20, 66, 940, 66, (RfPen){.colour = RF_COLOUR_INK, .width = 1});
  for (rf_index g = 0; g < count; g++) {
    double y = top + row * (double)g;
    rf_svg_label(&svg, 20, y, RF_ANCHOR_START, 13, RF_COLOUR_INK, table[g].name);
    rf_svg_label(&svg, 190, y, RF_ANCHOR_START, 13, RF_COLOUR_INK, table[g].alias ? table[g].alias : "");
    rf_text_addf(&text, "%s,%s", table[g].name, table[g].alias ? table[g].alias : "");
    for (int c = 0; c < n_columns; c++) {
      double fact = facts[g][columns[c]];
      write_value(value, sizeof value, columns[c], fact);
      rf_svg_label(&svg, 330 + 90 * c, y, RF_ANCHOR_MIDDLE, 13, fact > 0 ? RF_COLOUR_BLUE : RF_COLOUR_INK,
                   value);
      rf_text_addf(&text, ",%s", value);
    }
    rf_text_add(&text, "\n");
    rf_svg_line(&svg, 20, y + 6, 940, y + 6, (RfPen){.colour = RF_COLOUR_FAINT, .width = 0.7});
  }
  rf_svg_end(&svg);
  RfStatus status = rf_claim_text(run, "E-X-4.csv", rf_text_string(&text));
  rf_text_free(&text);
  if (status) rf_svg_free(&svg);
  return status ? status : rf_claim_picture(run, &svg, "E-X-4.svg");
}

RfStatus rf_cross_catalogue(RfClaimRun *run) {
  rf_index count, shown = 0;
  const RfGenerator *table = rf_data_generators(&count);
  double facts[64][N_FACTS];
  RfGenerator kept[64];
  RfStatus status = judge_stated(run);
  for (rf_index g = 0; g < count && shown < 64 && !status && rf_claim_draws(run); g++) {
    if (strcmp(table[g].name, "digits") == 0) continue; /* an external file */
    kept[shown] = table[g];
    status = classify(run, facts[shown++], table[g].name, 0.5);
  }
  if (!status && rf_claim_draws(run)) status = draw_catalogue(run, kept, facts, shown);
  return status;
}
