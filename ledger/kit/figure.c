/* Files of the figures: series as CSV and pictures as SVG, when a folder for them was given. */
#include "kit/figure.h"
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/claims_internal.h"

bool rf_claim_draws(const RfClaimRun *run) {
  return run->settings->svg_dir != NULL || run->settings->pictures;
}

static RfStatus place(RfClaimRun *run, char *path, size_t size, const char *name) {
  const char *folder = run->settings->svg_dir;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return rf_fail(run->context, RF_ERR_IO, "%s: %s", folder, strerror(errno));
  if ((size_t)rf_format(path, size, "%s/%s", folder, name) >= size)
    return rf_fail(run->context, RF_ERR_USAGE, "--svg: the name of the folder is too long");
  return RF_OK;
}

RfStatus rf_claim_text(RfClaimRun *run, const char *name, const char *text) {
  char path[1024];
  if (!run->settings->svg_dir) return RF_OK;
  RfStatus status = place(run, path, sizeof path, name);
  if (!status && !text) status = rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  return status ? status : rf_file_write(run->context, path, text, strlen(text));
}

RfStatus rf_claim_series(RfClaimRun *run, const char *name, const char *header, const double *const *columns,
                         rf_index n_columns, rf_index rows) {
  if (!run->settings->svg_dir) return RF_OK;
  RfText text = {0};
  rf_text_addf(&text, "%s\n", header);
  for (rf_index i = 0; i < rows; i++)
    for (rf_index j = 0; j < n_columns; j++)
      rf_text_addf(&text, "%.17g%s", columns[j][i], j + 1 < n_columns ? "," : "\n");
  RfStatus status = rf_claim_text(run, name, rf_text_string(&text));
  rf_text_free(&text);
  return status;
}

/* The page shows the picture of the front, and every one of a claim that is a figure. */
static bool kept(const RfClaimRun *run, const char *name) {
  if (!run->settings->pictures) return false;
  return strncmp(name, "front-", 6) == 0 || run->result->claim->kind == RF_CLAIM_FIGURE;
}

/* One more picture of the claim, below those it has. */
static RfStatus keep(RfClaimRun *run, const RfSvg *svg) {
  RfText all = {0};
  rf_text_add(&all, run->result->picture ? run->result->picture : "");
  rf_text_add(&all, svg->text.failed ? "" : rf_text_string(&svg->text));
  char *copy = all.failed || svg->text.failed ? NULL : rf_copy_text(rf_text_string(&all));
  rf_text_free(&all);
  if (!copy) return rf_fail(run->context, RF_ERR_MEMORY, "out of memory for a figure");
  rf_free(run->result->picture);
  run->result->picture = copy;
  return RF_OK;
}

RfStatus rf_claim_picture(RfClaimRun *run, RfSvg *svg, const char *name) {
  char path[1024];
  RfStatus status = RF_OK;
  if (kept(run, name)) status = keep(run, svg);
  if (!status && run->settings->svg_dir) {
    status = place(run, path, sizeof path, name);
    if (!status) status = rf_svg_write(run->context, svg, path);
  }
  rf_svg_free(svg);
  return status;
}

RfPlot rf_claim_panel(RfSvg *svg, int row, int column, const char *x_label, const char *y_label) {
  return (RfPlot){.svg = svg,
                  .left = 70 + 360 * column,
                  .top = 30 + 260 * row,
                  .width = 270,
                  .height = 180,
                  .x = {.low = 1e300, .high = -1e300, .label = x_label},
                  .y = {.low = 1e300, .high = -1e300, .label = y_label}};
}

void rf_claim_curve(RfPlot *plot, const double *x, const double *y, rf_index count, RfColour colour) {
  rf_axis_cover(&plot->x, x, count), rf_axis_cover(&plot->y, y, count);
  rf_axis_pad(&plot->x, 0.02), rf_axis_pad(&plot->y, 0.06);
  rf_plot_axes(plot);
  rf_plot_line(plot, x, y, count, (RfPen){.colour = colour, .width = 2});
}
