/* The linear separator, the class vectors and the best network, for programs and for people. */
#include <math.h>
#include <stdio.h>

#include "present/present_internal.h"
#include "core/core.h"

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void head_json(RfJson *json, const RfDataset *data) {
  rf_json_string(json, "name", data->name);
  rf_json_integer(json, "n", data->n);
  rf_json_integer(json, "d", data->d);
  rf_json_classes(json, data);
}

static void best_json(RfJson *json, const RfStudyBest *best, const RfStudyBestSettings *settings,
                      int detail) {
  head_json(json, best->data);
  rf_json_optimum(json, "global", best->has_global ? &best->global : NULL, &settings->optimum, detail);
  rf_json_linear_margin(json, "linear", &best->linear, settings->intercept);
  rf_json_class_margin(json, "positive", &best->positive);
  rf_json_class_margin(json, "negative", &best->negative);
  rf_json_string(json, "positive_class", best->positive_class);
  rf_json_null(json, "per_class");
}

/* The sum over the classes; null when a part is missing. */
static void sum_json(RfJson *json, const RfStudyBest *const *bests, rf_index count) {
  const RfOptimum **parts = RF_NEW(const RfOptimum *, count);
  bool complete = parts != NULL;
  for (rf_index k = 0; k < count && complete; k++)
    complete = bests[k]->has_global, parts[k] = &bests[k]->global;
  if (!parts) rf_json_fail(json);
  if (complete)
    rf_json_optimum_sum(json, "global", parts, count);
  else
    rf_json_null(json, "global");
  rf_free(parts);
}

void rf_json_bests(RfJson *json, const RfDataset *whole, const RfStudyBest *const *bests, rf_index count,
                   const RfStudyBestSettings *settings, int detail) {
  static const char *const absent[] = {"linear", "positive", "negative", "positive_class"};
  if (whole->y) return best_json(json, bests[0], settings, detail);
  head_json(json, whole);
  for (size_t k = 0; k < sizeof absent / sizeof absent[0]; k++) rf_json_null(json, absent[k]);
  sum_json(json, bests, count);
  rf_json_array(json, "per_class");
  for (rf_index k = 0; k < count; k++) {
    rf_json_object(json, NULL);
    best_json(json, bests[k], settings, detail);
    rf_json_end(json);
  }
  rf_json_end(json);
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void vector_line(RfText *page, const char *name, const double *w, rf_index d) {
  rf_text_addf(page, "  %-10s ", name);
  rf_text_vector(page, w, d, 8);
  rf_text_add(page, "\n");
}

static void rows_line(RfText *page, const rf_index *rows, rf_index count) {
  rf_text_add(page, "  support    ");
  rf_text_rows(page, rows, count, 16);
  rf_text_add(page, "\n");
}

static void linear_page(RfText *page, const RfLinearMargin *linear, bool intercept) {
  rf_text_styled(page, RF_BOLD, intercept ? "Linear, with intercept" : "Linear, through the origin");
  if (linear->status == RF_NOT_SEPARABLE) {
    rf_text_styled(page, RF_BAD, "  not separable");
    rf_text_addf(page, "\n  proof      weights of --json balance to 0, residual %.1e\n",
                 linear->farkas_residual);
    return;
  }
  if (linear->status != RF_OK) {
    rf_text_add(page, "  not decided\n");
    return;
  }
  rf_text_styled(page, RF_GOOD, "  separable");
  rf_text_addf(page, "\n  margin     %.15g\n", linear->margin);
  vector_line(page, "w, unit", linear->w, linear->d);
  if (intercept) rf_text_addf(page, "  b          %.15g\n", linear->b);
  rows_line(page, linear->support, linear->n_support);
  rf_text_addf(page, "  residual   %.1e\n", linear->stationarity);
}

static void class_page(RfText *page, const char *name, const RfClassMargin *margin) {
  rf_text_styled(page, RF_BOLD, name);
  if (margin->empty) {
    rf_text_add(page, "  no samples\n");
    return;
  }
  if (!margin->exists) {
    rf_text_add(page, margin->status == RF_NOT_SEPARABLE ? "  no w has w.x_i > 0 on the class\n"
                                                         : "  not decided\n");
    return;
  }
  rf_text_addf(page, "\n  norm       %.15g\n", margin->norm);
  vector_line(page, "w", margin->w, margin->d);
  rows_line(page, margin->support, margin->n_support);
  rf_text_addf(page, "  spans      %s\n", margin->spans ? "yes" : "no");
}

static void best_page(RfText *page, const RfStudyBest *best, const RfStudyBestSettings *settings) {
  if (best->has_global) rf_text_optimum(page, &best->global, &settings->optimum);
  linear_page(page, &best->linear, settings->intercept);
  class_page(page, "Positive class, shortest w with w.x_i >= 1", &best->positive);
  class_page(page, "Negative class, shortest w with w.x_i >= 1", &best->negative);
}

void rf_text_bests(RfText *page, const RfDataset *whole, const RfStudyBest *const *bests, rf_index count,
                   const RfStudyBestSettings *settings) {
  double sum = 0;
  for (rf_index k = 0; k < count; k++) {
    if (!whole->y)
      rf_text_addf(page, "%sClass %s against the rest\n", k ? "\n" : "", bests[k]->positive_class);
    best_page(page, bests[k], settings);
    sum += bests[k]->has_global ? bests[k]->global.objective : NAN;
  }
  if (!whole->y && isfinite(sum)) rf_text_addf(page, "\nSum over the classes: |theta|^2/2 = %.15g\n", sum);
}

/* ---- pictures and the page ------------------------------------------------------------------------- */

typedef void (*Draw)(RfSvg *svg, const RfOptimum *optimum, const double *X, const double *y, int signs);

static const struct {
  Draw draw;
  const char *name, *caption;
} pictures[] = {
    {rf_svg_optimum_ellipsoid, "ellipsoid.svg",
     "Outputs of one unit neuron on the two samples, and the neurons of the best network."},
    {rf_svg_optimum_polar, "polar.svg", "Multipliers that no neuron beats, and the optimal ones."}};

/* Pictures are in the plane with one coordinate per sample. */
static bool has_pictures(const RfStudyBest *best) {
  return !best->positive_class && best->data->n == 2 && best->has_global && best->global.lambda &&
         isfinite(best->global.objective);
}

RfStatus rf_best_pictures(RfContext *context, RfPictureFn draw, void *user, const RfStudyBest *const *bests,
                          rf_index count, const RfStudyBestSettings *settings) {
  (void)context;
  RfStatus status = RF_OK;
  if (count != 1 || !has_pictures(bests[0])) return RF_OK;
  const RfDataset *data = bests[0]->data;
  for (int k = 0; k < 2 && !status; k++) {
    RfSvg svg;
    pictures[k].draw(&svg, &bests[0]->global, data->X, data->y, settings->optimum.signs);
    status = draw(user, &svg, pictures[k].name);
    rf_svg_free(&svg);
  }
  return status;
}

static void verdict(char *out, size_t size, const RfStudyBest *const *bests, rf_index count) {
  double sum = 0, lower = 0;
  bool proved = true;
  for (rf_index k = 0; k < count; k++) {
    sum += bests[k]->has_global ? bests[k]->global.objective : NAN, lower += bests[k]->global.lower;
    proved = proved && bests[k]->global.status == RF_OPTIMUM_PROVED;
  }
  if (isnan(sum))
    rf_format(out, size, "%s", bests[0]->linear.separable ? "Linearly separable." : "The linear part.");
  else if (!isfinite(sum))
    rf_format(out, size, "No network fits these data, or none was found.");
  else if (proved)
    rf_format(out, size, "The best margin of any network is %.12g, proved.", 1 / (2 * sum));
  else
    rf_format(out, size, "The best margin of any network lies between %.8g and %.8g.", 1 / (2 * sum),
              1 / (2 * lower));
}

void rf_html_bests(RfText *html, const RfDataset *whole, const RfStudyBest *const *bests, rf_index count,
                   const RfStudyBestSettings *settings) {
  char line[160];
  RfText plain = {0};
  verdict(line, sizeof line, bests, count);
  rf_html_begin(html, whole->name, "the best margin, over all networks, with its proof");
  rf_html_verdict(html, RF_PLAIN, line);
  for (int k = 0; k < 2 && count == 1 && has_pictures(bests[0]); k++) {
    RfSvg svg;
    pictures[k].draw(&svg, &bests[0]->global, whole->X, whole->y, settings->optimum.signs);
    rf_html_picture(html, &svg, pictures[k].caption);
    rf_svg_free(&svg);
  }
  rf_text_bests(&plain, whole, bests, count, settings);
  if (plain.failed) html->failed = true;
  rf_html_preformatted(html, rf_text_string(&plain));
  rf_text_free(&plain);
  rf_html_end(html);
}
