/* The page of `inspect`, for the terminal and as HTML: the verdict first, then sections of aligned facts.
 * Both come from the same tables, so they say the same. */
#include "present/present_internal.h"
#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_ENTRIES = 6, SHOWN_ROWS = 12, SHOWN_DIRECTIONS = 8, SECTOR_LETTERS = 32 };

static void vector_cell(RfTable *table, const double *values, rf_index count) {
  RfText text = {0};
  rf_text_vector(&text, values, count, SHOWN_ENTRIES);
  rf_table_cell(table, "%s", rf_text_string(&text));
  table->failed = table->failed || text.failed;
  rf_text_free(&text);
}

static void rows_cell(RfTable *table, const rf_index *rows, rf_index count) {
  RfText text = {0};
  rf_text_rows(&text, rows, count, SHOWN_ROWS);
  rf_table_cell(table, "%s", rf_text_string(&text));
  table->failed = table->failed || text.failed;
  rf_text_free(&text);
}

static const char *answer_text(RfAnswer answer) {
  return answer == RF_YES ? "yes" : answer == RF_NO ? "no" : "not decided";
}

/* A number, or a dash. */
static void number_text(char out[32], double value) {
  if (isfinite(value))
    rf_format(out, 32, "%.6g", value + 0.0);
  else
    rf_format(out, 32, "-");
}

/* ---- verdict --------------------------------------------------------------------------------- */

static rf_index parts_separable(const RfInspection *inspection) {
  rf_index count = 0;
  for (rf_index k = 0; k < inspection->n_parts; k++) count += inspection->parts[k].linear.status == RF_OK;
  return count;
}

void rf_inspection_verdict(RfText *out, const RfInspection *inspection) {
  const RfTheory *theory = &inspection->theory;
  bool orthogonal = rf_inspection_orthogonal(inspection) == RF_YES;
  if (inspection->n_parts > 0) {
    rf_text_addf(out, "%lld classes%s; %lld of them can be separated linearly from the rest.",
                 (long long)inspection->n_parts,
                 orthogonal ? ", orthogonally separable class against class" : "",
                 (long long)parts_separable(inspection));
    return;
  }
  const RfLinearMargin *linear = &inspection->linear;
  if (orthogonal)
    rf_text_add(out, "Orthogonally separable");
  else if (linear->status == RF_OK)
    rf_text_add(out, "Linearly separable");
  else if (linear->status == RF_NOT_SEPARABLE)
    rf_text_add(out, "Not linearly separable through the origin");
  else
    rf_text_add(out, "Linear separability was not decided");
  if (linear->status == RF_OK) rf_text_addf(out, ", margin %.6g", linear->margin);
  if (theory->n_predictions > 0) {
    rf_text_addf(out, ". %s tells where gradient flow goes: a limit of normalised margin %.6g",
                 theory->predictions[0].theorem, theory->predictions[0].margin);
  } else {
    rf_text_add(out, ". No theorem of the five papers tells where gradient flow goes");
    if (theory->fits == RF_NO) rf_text_add(out, ", and no network of this kind fits these labels");
  }
  rf_text_add(out, ".");
}

static RfStyle verdict_style(const RfInspection *inspection) {
  if (inspection->n_parts > 0)
    return parts_separable(inspection) == inspection->n_parts ? RF_GOOD : RF_ACCENT;
  return inspection->linear.status == RF_OK ? RF_GOOD : RF_BAD;
}

/* ---- sections: each fills one table ---------------------------------------------------------- */

static void fact(RfTable *table, const char *name, const char *value, const char *note) {
  rf_table_cell(table, "%s", name);
  rf_table_cell(table, "%s", value);
  rf_table_cell(table, "%s", note);
}

static void fact_number(RfTable *table, const char *name, double value, const char *note) {
  char text[32];
  number_text(text, value);
  fact(table, name, text, note);
}

static void fact_count(RfTable *table, const char *name, rf_index value, const char *note) {
  char text[32];
  rf_format(text, sizeof text, "%lld", (long long)value);
  fact(table, name, text, note);
}

static void data_section(RfTable *table, const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  const RfPairFacts *pairs = &inspection->pairs;
  for (rf_index k = 0; k < data->n_classes && k < 20; k++) {
    const char *sign = !data->y               ? ""
                       : data->n_classes == 2 ? (k ? ", y = +1" : ", y = -1")
                       : pairs->n_pos         ? ", y = +1"
                                              : ", y = -1";
    char name[80], note[80];
    rf_format(name, sizeof name, "class %.60s", data->class_names[k]);
    rf_format(note, sizeof note, "samples%s", sign);
    fact_count(table, name, inspection->class_sizes[k], note);
  }
  fact_count(table, "rank", pairs->rank,
             pairs->rank == data->d ? "the samples span the space" : "of the data matrix");
  fact_number(table, "shortest sample", pairs->norm_min, "length");
  fact_number(table, "longest sample", pairs->norm_max, "length");
  if (pairs->duplicates) fact_count(table, "duplicates", pairs->duplicates, "samples repeat an earlier one");
  if (pairs->zeros) fact_count(table, "zero rows", pairs->zeros, "samples are the zero vector");
  fact(table, "general position", answer_text(inspection->sectors.general_position),
       "any d samples are independent");
}

static void angle_section(RfTable *table, const RfInspection *inspection) {
  const RfPairFacts *pairs = &inspection->pairs;
  fact(table, "orthogonally separable", answer_text(rf_inspection_orthogonal(inspection)),
       "x_i.x_j > 0 in a class, <= 0 across");
  fact_number(table, "smallest x_i.x_j in a class", pairs->min_same, "length^2");
  fact_number(table, "largest x_i.x_j across", pairs->max_cross, "length^2");
  if (!inspection->data->y) return;
  fact_number(table, "sep", pairs->zeros ? NAN : pairs->sep, "smallest cosine of y_i x_i and y_j x_j");
  fact(table, "symmetric", pairs->symmetric ? "yes" : "no", "with (x, y) also (-x, -y)");
}

static void linear_section(RfTable *table, const RfLinearMargin *linear) {
  rf_table_cell(table, "separable");
  rf_table_cell(table, "%s",
                linear->status == RF_OK              ? "yes"
                : linear->status == RF_NOT_SEPARABLE ? "no"
                                                     : "not decided");
  if (linear->status == RF_OK) {
    rf_table_cell(table, "margin");
    rf_table_cell(table, "%.10g", linear->margin);
    rf_table_cell(table, "w*, unit");
    vector_cell(table, linear->w, linear->d);
    rf_table_cell(table, "support rows");
    rows_cell(table, linear->support, linear->n_support);
  } else if (linear->status == RF_NOT_SEPARABLE) {
    rf_index count = 0;
    for (rf_index i = 0; i < linear->n; i++) count += linear->farkas[i] > 0;
    rf_table_cell(table, "proof");
    rf_table_cell(table, "weights on %lld samples balance to 0 (residual %.1e); --json has them",
                  (long long)count, linear->farkas_residual);
  }
}

static void class_row(RfTable *table, const char *name, const RfClassMargin *margin) {
  rf_table_cell(table, "%s", name);
  if (margin->empty || !margin->exists) {
    rf_table_cell(table, "-");
    rf_table_cell(table, "%s", margin->empty ? "no samples" : "no w has w.x_i > 0 on the class");
    for (int k = 0; k < 2; k++) rf_table_cell(table, "-");
    return;
  }
  rf_table_cell(table, "%.8g", margin->norm);
  vector_cell(table, margin->w, margin->d);
  rf_table_cell(table, "%s", margin->spans ? "yes" : "no");
  rows_cell(table, margin->support, margin->n_support);
}

static void cone_section(RfTable *table, const RfInspection *inspection) {
  static const char *const names[] = {"S+", "S-", "S dead"};
  static const char *const meanings[] = {"active exactly on the positive samples",
                                         "active exactly on the negative samples", "active on no sample"};
  for (int k = 0; k < 3; k++) {
    const RfCone *cone = &inspection->cones[k];
    rf_table_cell(table, "%s", names[k]);
    rf_table_cell(table, "%s",
                  cone->nonempty == RF_YES  ? "open to neurons"
                  : cone->nonempty == RF_NO ? "empty"
                                            : "not decided");
    rf_table_cell(table, "%s", meanings[k]);
    if (cone->nonempty == RF_YES)
      vector_cell(table, cone->witness, inspection->data->d);
    else
      rf_table_cell(table, "-");
  }
}

/* Digits up to 15 of them, then d.ddeNNN. */
static void count_text(char out[48], const char *decimal) {
  size_t length = strlen(decimal);
  if (length <= 15)
    rf_format(out, 48, "%s", decimal);
  else
    rf_format(out, 48, "%c.%.2se%zu", decimal[0], decimal + 1, length - 1);
}

static void sector_section(RfTable *table, const RfInspection *inspection) {
  const RfSectorCount *sectors = &inspection->sectors;
  const RfSpikeFree *spike = &inspection->spike;
  char note[96] = "not counted", count[48] = "-", bound[48];
  if (sectors->known) count_text(count, sectors->count);
  if (sectors->bound) {
    count_text(bound, sectors->bound);
    rf_format(note, sizeof note, "open sectors, at most %s%s", bound, sectors->known ? "" : "; not counted");
  }
  fact(table, "activation patterns", count, note);
  rf_format(note, sizeof note,
            isfinite(spike->number) ? "spike number %.6g" : "(Xu)+ = Xz with |z| <= |u| for every u",
            spike->number);
  fact(table, "spike-free", answer_text(spike->holds), note);
}

static void direction_rows(RfTable *table, const char *kind, const RfExtremalDirection *list, rf_index count,
                           rf_index d) {
  for (rf_index k = 0; k < count && k < SHOWN_DIRECTIONS; k++) {
    rf_table_cell(table, "%s", kind);
    rf_table_cell(table, "%.6g", list[k].G);
    vector_cell(table, list[k].direction, d);
    bool cut = strlen(list[k].sector) > SECTOR_LETTERS;
    rf_table_cell(table, "%.*s%s", SECTOR_LETTERS, list[k].sector, cut ? "..." : "");
  }
  if (count > SHOWN_DIRECTIONS) {
    rf_table_cell(table, "%s", kind);
    rf_table_cell(table, "...");
    rf_table_cell(table, "%lld in all", (long long)count);
    rf_table_cell(table, " ");
  }
}

static void extremal_section(RfTable *table, const RfInspection *inspection) {
  const RfExtremal *extremal = &inspection->extremal;
  direction_rows(table, "maximum", extremal->positive, extremal->n_positive, inspection->data->d);
  direction_rows(table, "minimum", extremal->negative, extremal->n_negative, inspection->data->d);
}

static void principal_section(RfTable *table, const RfInspection *inspection) {
  const RfPrincipal *p = &inspection->theory.principal;
  const RfAssumption rows[] = {p->a1, p->a2, p->a3, p->a5};
  static const char *const names[] = {"A.1", "A.2", "A.3", "A.5"};
  static const char *const meanings[] = {"a principal direction exists",
                                         "every early velocity separates the data", "|mu+| > |mu-|",
                                         "no better net with a <= 0 on the support of w+"};
  for (int k = 0; k < 4; k++) {
    char slack[32];
    number_text(slack, rows[k].slack);
    rf_table_cell(table, "%s", names[k]);
    rf_table_cell(table, "%s", answer_text(rows[k].holds));
    rf_table_cell(table, "%s", slack);
    rf_table_cell(table, "%s", meanings[k]);
  }
}

static void part_row(RfTable *table, const RfInspection *part, const char *name) {
  rf_table_cell(table, "%s", name);
  rf_table_cell(table, "%s",
                part->linear.status == RF_OK              ? "yes"
                : part->linear.status == RF_NOT_SEPARABLE ? "no"
                                                          : "not decided");
  if (part->linear.status == RF_OK)
    rf_table_cell(table, "%.6g", part->linear.margin);
  else
    rf_table_cell(table, "-");
  rf_table_cell(table, "%s", answer_text(rf_inspection_orthogonal(part)));
  rf_table_cell(table, "%s", part->theory.n_predictions ? part->theory.predictions[0].theorem : "-");
}

/* ---- the two forms --------------------------------------------------------------------------- */

/* A page is a list of titled tables; the terminal and HTML differ only in how they print them. */
typedef struct Page {
  RfText *out;
  bool html;
  int width;
} Page;

static void section(const Page *page, const char *title, RfTable *table) {
  if (page->html) {
    rf_html_section(page->out, title);
    rf_table_html(page->out, table);
  } else {
    rf_text_add(page->out, "\n");
    rf_text_styled(page->out, RF_BOLD, title);
    rf_text_add(page->out, "\n");
    rf_table_print(page->out, table, 2);
  }
  rf_table_free(table);
}

static void note(const Page *page, const char *prose) {
  if (page->html) return rf_html_paragraph(page->out, prose);
  rf_text_add(page->out, "  ");
  rf_text_style(page->out, RF_DIM);
  rf_text_wrap(page->out, prose, 2, page->width);
  rf_text_style(page->out, RF_PLAIN);
}

/* What the predicting theorem asks of the initialisation. */
static void start_note(const Page *page, const RfTheory *theory) {
  char prose[256];
  if (theory->n_predictions == 0) return;
  rf_format(prose, sizeof prose, "Asked of the start: %s.", theory->predictions[0].when);
  note(page, prose);
}

static void theorem_line(const Page *page, const RfTheorem *theorem, const char *word, RfStyle style) {
  rf_text_addf(page->out, "  %-13s ", theorem->id);
  rf_text_style(page->out, style);
  rf_text_addf(page->out, "%-8s", word);
  rf_text_style(page->out, RF_PLAIN);
  rf_text_wrap(page->out, theorem->why, 24, page->width);
}

/* Theorems that fail for one and the same reason share a line. */
static void refusal_lines(const Page *page, const RfTheory *theory) {
  for (rf_index k = 0; k < theory->n_theorems; k++) {
    const RfTheorem *theorem = &theory->theorems[k];
    bool first = theorem->applies == RF_NO;
    for (rf_index j = 0; j < k; j++)
      first = first &&
              !(theory->theorems[j].applies == RF_NO && strcmp(theory->theorems[j].why, theorem->why) == 0);
    if (!first) continue;
    RfText line = {0};
    rf_text_addf(&line, "%s", theorem->id);
    for (rf_index j = k + 1; j < theory->n_theorems; j++) {
      bool same = theory->theorems[j].applies == RF_NO && strcmp(theory->theorems[j].why, theorem->why) == 0;
      if (same) rf_text_addf(&line, ", %s", theory->theorems[j].id);
    }
    rf_text_addf(&line, ": %s", theorem->why);
    rf_text_add(page->out, "  ");
    rf_text_style(page->out, RF_DIM);
    rf_text_add(page->out, "no  ");
    rf_text_style(page->out, RF_PLAIN);
    rf_text_wrap(page->out, rf_text_string(&line), 6, page->width);
    if (line.failed) page->out->failed = true;
    rf_text_free(&line);
  }
}

static void theorem_table(const Page *page, const RfTheory *theory) {
  static const char *const words[] = {"no", "yes", "not decided"};
  RfTable table;
  rf_table_init(&table, "lll", "theorem|applies|why");
  static const RfAnswer order[] = {RF_YES, RF_UNKNOWN, RF_NO};
  for (int kind = 0; kind < 3; kind++) {
    for (rf_index k = 0; k < theory->n_theorems; k++) {
      const RfTheorem *theorem = &theory->theorems[k];
      if (theorem->applies != order[kind]) continue;
      rf_table_cell(&table, "%s", theorem->id);
      rf_table_cell(&table, "%s", theorem->applies == RF_UNKNOWN ? words[2] : words[theorem->applies]);
      rf_table_cell(&table, "%s", theorem->why);
    }
  }
  section(page, "Theorems", &table);
}

static void theorem_section(const Page *page, const RfTheory *theory) {
  if (page->html) return theorem_table(page, theory);
  rf_text_add(page->out, "\n");
  rf_text_styled(page->out, RF_BOLD, "Theorems");
  rf_text_add(page->out, "\n");
  for (rf_index k = 0; k < theory->n_theorems; k++) {
    if (theory->theorems[k].applies == RF_YES) theorem_line(page, &theory->theorems[k], "applies", RF_GOOD);
  }
  for (rf_index k = 0; k < theory->n_theorems; k++) {
    if (theory->theorems[k].applies == RF_UNKNOWN)
      theorem_line(page, &theory->theorems[k], "open", RF_ACCENT);
  }
  refusal_lines(page, theory);
}

static void label_sections(const Page *page, const RfInspection *inspection) {
  RfTable table;
  char title[96];
  rf_table_init(&table, "ll", NULL);
  linear_section(&table, &inspection->linear);
  section(page, "Linear separator through the origin", &table);
  rf_table_init(&table, "lrlll", "|norm|shortest w with w.x >= 1 on the class|spans|support rows");
  class_row(&table, "w+", &inspection->positive);
  class_row(&table, "w-", &inspection->negative);
  section(page, "One vector per class", &table);
  rf_table_init(&table, "llll", "||a neuron there is|witness");
  cone_section(&table, inspection);
  section(page, "Cones", &table);
  const RfExtremal *extremal = &inspection->extremal;
  rf_format(title, sizeof title, "Extremal directions of G (leak %g, %s loss)", inspection->settings.leak,
            rf_loss_name(inspection->settings.loss));
  rf_table_init(&table, "lrll", "|G|direction|sector");
  extremal_section(&table, inspection);
  section(page, title, &table);
  if (!extremal->complete)
    note(page, "The search stopped at its limit: there may be more.");
  else if (extremal->n_positive + extremal->n_negative == 0)
    note(page, "There are none.");
  bool leaky = inspection->settings.leak > 0 && inspection->settings.leak < 1;
  if (!leaky) return;
  rf_table_init(&table, "llrl", "|holds|slack|");
  principal_section(&table, inspection);
  section(page, "Principal directions (LLWA, appendix A)", &table);
}

static void parts_section(const Page *page, const RfInspection *inspection) {
  RfTable table;
  rf_table_init(&table, "llrll", "class against the rest|separable|margin|orthogonally|prediction");
  for (rf_index k = 0; k < inspection->n_parts; k++)
    part_row(&table, &inspection->parts[k], inspection->data->class_names[k]);
  section(page, "Classes, one against the rest", &table);
  note(page, "--classes A,B looks at two classes in detail; --json has every class.");
}

static void sections(const Page *page, const RfInspection *inspection) {
  RfTable table;
  rf_table_init(&table, "lrl", NULL);
  data_section(&table, inspection);
  section(page, "Samples", &table);
  rf_table_init(&table, "lrl", NULL);
  angle_section(&table, inspection);
  section(page, "Angles", &table);
  if (inspection->n_parts > 0)
    parts_section(page, inspection);
  else
    label_sections(page, inspection);
  rf_table_init(&table, "lrl", NULL);
  sector_section(&table, inspection);
  section(page, "Activation patterns", &table);
  theorem_section(page, &inspection->theory);
}

static void size_line(char out[160], const RfInspection *inspection) {
  const RfDataset *data = inspection->data;
  rf_format(out, 160, "%lld sample%s in %lld dimension%s, %lld class%s", (long long)data->n,
            data->n == 1 ? "" : "s", (long long)data->d, data->d == 1 ? "" : "s", (long long)data->n_classes,
            data->n_classes == 1 ? "" : "es");
}

void rf_inspection_page(RfText *out, const RfInspection *inspection, int width) {
  Page page = {out, false, width};
  char size[160];
  size_line(size, inspection);
  rf_text_styled(out, RF_BOLD, inspection->data->name ? inspection->data->name : "data");
  rf_text_addf(out, "  %s\n\n  ", size);
  RfText verdict = {0};
  rf_inspection_verdict(&verdict, inspection);
  rf_text_style(out, verdict_style(inspection));
  rf_text_wrap(out, rf_text_string(&verdict), 2, width);
  rf_text_style(out, RF_PLAIN);
  out->failed = out->failed || verdict.failed;
  rf_text_free(&verdict);
  start_note(&page, &inspection->theory);
  if (inspection->interrupted)
    note(&page, "Interrupted: what was not computed is marked 'not decided' or '-'.");
  sections(&page, inspection);
}

void rf_inspection_html(RfText *out, const RfInspection *inspection) {
  Page page = {out, true, 0};
  char size[160];
  size_line(size, inspection);
  rf_html_begin(out, inspection->data->name ? inspection->data->name : "data", size);
  RfText verdict = {0};
  rf_inspection_verdict(&verdict, inspection);
  rf_html_verdict(out, verdict_style(inspection), rf_text_string(&verdict));
  out->failed = out->failed || verdict.failed;
  rf_text_free(&verdict);
  start_note(&page, &inspection->theory);
  if (inspection->interrupted) rf_html_paragraph(out, "Interrupted: some results are missing.");
  RfSvg svg;
  if (inspection->data->y && inspection->data->d == 2) {
    rf_inspection_plane_svg(&svg, inspection);
    rf_html_picture(out, &svg, "The samples, the separators, the cones and the extremal directions.");
    rf_svg_free(&svg);
    rf_inspection_potential_svg(&svg, inspection);
    rf_html_picture(out, &svg,
                    "G on the unit circle: near zero, positive neurons climb and negative neurons descend.");
    rf_svg_free(&svg);
  }
  if (inspection->data->y && inspection->linear.status == RF_OK) {
    rf_inspection_margins_svg(&svg, inspection);
    rf_html_picture(out, &svg, "Margins of the samples under the max-margin separator, smallest first.");
    rf_svg_free(&svg);
  }
  sections(&page, inspection);
  rf_html_end(out);
}
