/* `sweep plot`: panels with their axes, legend and page. */
#include "sweep/plot.h"

#include <math.h>
#include <string.h>

enum { LEFT = 82, RIGHT = 26, TOP = 34, BOTTOM = 58 };

/* ---- axes ------------------------------------------------------------------------------------- */

static bool all_numbers(const Levels *levels) {
  for (rf_index k = 0; k < levels->count; k++)
    if (isnan(levels->numbers[k])) return false;
  return levels->count > 1;
}

static bool all_integers(const Levels *levels) {
  for (rf_index k = 0; k < levels->count; k++)
    if (levels->numbers[k] != floor(levels->numbers[k])) return false;
  return true;
}

/* A logarithm where the values are positive and spread over a factor of fifty. */
static bool wants_log(const RfAxis *axis) { return axis->low > 0 && axis->high / axis->low >= 50; }

/* The range of what will be drawn on the value axis: quartiles of all groups, or all values. */
static void cover_values(RfAxis *axis, const PlotData *data, const SweepPlotWish *wish, double *values) {
  bool everything = wish->kind == SWEEP_PLOT_VIOLIN || wish->kind == SWEEP_PLOT_SURVIVAL;
  axis->low = 1, axis->high = 0;
  if (everything)
    for (rf_index k = 0; k < data->n_rows; k++) rf_axis_cover(axis, &data->rows[k].value, 1);
  for (rf_index f = 0; !everything && f < data->facet.count; f++)
    for (rf_index x = 0; x < data->x.count; x++)
      for (rf_index c = 0; c < (wish->kind == SWEEP_PLOT_HEAT ? data->y.count : data->colour.count); c++) {
        bool heat = wish->kind == SWEEP_PLOT_HEAT;
        Group group = plot_group(data, x, heat ? c : -1, heat ? -1 : c, f, values, NULL);
        const double ends[] = {heat ? group.middle : group.low, heat ? group.middle : group.high};
        rf_axis_cover(axis, ends, 2);
      }
}

/* Ticks with the names of the levels; every few when there are many. */
static void level_ticks(const RfPlot *plot, const Levels *levels, bool horizontal) {
  double room = horizontal ? plot->width / 46 : plot->height / 16;
  rf_index step = 1 + (rf_index)floor((double)(levels->count - 1) / fmax(room, 1));
  for (rf_index k = 0; k < levels->count; k += step) {
    char label[24];
    rf_format(label, sizeof label, "%.20s", levels->labels[k]);
    if (horizontal)
      rf_svg_label(plot->svg, rf_plot_x(plot, (double)k), plot->top + plot->height + 17, RF_ANCHOR_MIDDLE, 12,
                   RF_COLOUR_INK, label);
    else
      rf_svg_label(plot->svg, plot->left - 7, rf_plot_y(plot, (double)k) + 4, RF_ANCHOR_END, 12,
                   RF_COLOUR_INK, label);
  }
}

static void draw_axes(const Panel *panel) {
  const RfPlot *plot = &panel->plot;
  double bottom = plot->top + plot->height, ticks[12];
  RfPen frame = {.colour = RF_COLOUR_INK, .width = 1.2}, grid = {.colour = RF_COLOUR_FAINT, .width = 0.8};
  bool heat = panel->wish->kind == SWEEP_PLOT_HEAT;
  if (!panel->by_level) {
    rf_plot_axes(plot);
    return;
  }
  level_ticks(plot, &panel->data->x, true);
  if (heat) level_ticks(plot, &panel->data->y, false);
  int count = heat ? 0 : rf_axis_ticks(ticks, &plot->y, (int)fmax(2, plot->height / 48));
  for (int k = 0; k < count; k++) {
    char label[32];
    rf_format(label, sizeof label, "%.6g", ticks[k]);
    rf_svg_line(plot->svg, plot->left, rf_plot_y(plot, ticks[k]), plot->left + plot->width,
                rf_plot_y(plot, ticks[k]), grid);
    rf_svg_label(plot->svg, plot->left - 7, rf_plot_y(plot, ticks[k]) + 4, RF_ANCHOR_END, 12, RF_COLOUR_INK,
                 label);
  }
  rf_svg_line(plot->svg, plot->left, bottom, plot->left + plot->width, bottom, frame);
  rf_svg_line(plot->svg, plot->left, plot->top, plot->left, bottom, frame);
  rf_svg_label(plot->svg, plot->left + plot->width / 2, bottom + 36, RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK,
               plot->x.label);
  rf_svg_label_turned(plot->svg, plot->left - 54, plot->top + plot->height / 2, -90, 13, RF_COLOUR_INK,
                      plot->y.label);
}

/* ---- a picture -------------------------------------------------------------------------------- */

/* Axes that all panels share. */
static void set_axes(Panel *panel, const char *y_label) {
  const PlotData *data = panel->data;
  const SweepPlotWish *wish = panel->wish;
  RfAxis value = {.low = 1, .high = 0}, x = {.low = 1, .high = 0};
  bool heat = wish->kind == SWEEP_PLOT_HEAT, survival = wish->kind == SWEEP_PLOT_SURVIVAL;
  cover_values(&value, data, wish, panel->values);
  panel->low = data->proportion ? 0 : value.low, panel->high = data->proportion ? 1 : value.high;
  value.log = wants_log(&value) && !data->proportion;
  rf_axis_pad(&value, 0.06);
  if (data->proportion) value = (RfAxis){.low = -0.04, .high = 1.04};
  panel->by_level = !survival && (heat || wish->kind == SWEEP_PLOT_VIOLIN || !all_numbers(&data->x));
  if (panel->by_level) {
    x.low = -0.5, x.high = (double)data->x.count - 0.5;
  } else if (!survival) {
    rf_axis_cover(&x, data->x.numbers, data->x.count);
    x.log = wants_log(&x);
    if (x.high - x.low <= 10 && all_integers(&data->x)) x.step = 1;
    rf_axis_pad(&x, 0.04);
  }
  panel->plot.x = survival ? value : x;
  panel->plot.y = survival ? (RfAxis){.low = 0, .high = 1.02} : value;
  if (heat) panel->plot.y = (RfAxis){.low = -0.5, .high = (double)data->y.count - 0.5};
  panel->plot.x.label = survival ? wish->y : wish->x;
  panel->plot.y.label = y_label;
}

static void draw_panel(Panel *panel) {
  static void (*const draw[])(Panel * panel) = {panel_lines, panel_heat, panel_violins, panel_survival};
  char title[200];
  if (panel->wish->kind != SWEEP_PLOT_HEAT) draw_axes(panel);
  draw[panel->wish->kind](panel);
  if (panel->wish->kind == SWEEP_PLOT_HEAT) draw_axes(panel);
  if (!panel->wish->facet) return;
  rf_format(title, sizeof title, "%s = %s", panel->wish->facet, panel->data->facet.labels[panel->facet]);
  rf_svg_label(panel->plot.svg, panel->plot.left + panel->plot.width / 2, panel->plot.top - 9,
               RF_ANCHOR_MIDDLE, 13, RF_COLOUR_INK, title);
}

/* The scale of a heat map: a bar along the foot of the picture. */
static void draw_scale(RfSvg *svg, const Panel *panel, double y, double width) {
  enum { STEPS = 60 };
  char text[200];
  double left = LEFT, wide = fmin(320, width - LEFT - RIGHT);
  for (int k = 0; k < STEPS; k++)
    plot_rectangle(svg, left + wide * k / STEPS, y, wide / STEPS + 0.4, 12, (k + 0.5) / STEPS);
  rf_format(text, sizeof text, "%.4g", panel->low);
  rf_svg_label(svg, left, y + 27, RF_ANCHOR_START, 12, RF_COLOUR_INK, text);
  rf_format(text, sizeof text, "%.4g", panel->high);
  rf_svg_label(svg, left + wide, y + 27, RF_ANCHOR_END, 12, RF_COLOUR_INK, text);
  rf_format(text, sizeof text, "%s %.150s", panel->data->proportion ? "share of" : "median of",
            panel->wish->colour);
  rf_svg_label(svg, left, y + 45, RF_ANCHOR_START, 12, RF_COLOUR_INK, text);
}

static void draw_legend(RfSvg *svg, const Panel *panel, double y, double width) {
  static const RfColour inks[8] = {RF_COLOUR_BLUE,   RF_COLOUR_VERMILION, RF_COLOUR_GREEN,  RF_COLOUR_ORANGE,
                                   RF_COLOUR_PURPLE, RF_COLOUR_SKY,       RF_COLOUR_YELLOW, RF_COLOUR_INK};
  RfLegendEntry entries[8];
  char labels[8][120];
  const Levels *levels = &panel->data->colour;
  if (panel->wish->kind == SWEEP_PLOT_HEAT) return draw_scale(svg, panel, y, width);
  if (!panel->wish->colour) return;
  for (rf_index k = 0; k < levels->count; k++) {
    rf_format(labels[k], sizeof labels[k], "%.60s = %.50s", panel->wish->colour, levels->labels[k]);
    entries[k] = (RfLegendEntry){labels[k], inks[k % 8], RF_MARK_DISC};
  }
  rf_svg_legend(svg, LEFT, y, width - LEFT - RIGHT, entries, levels->count);
}

static void draw(RfSvg *svg, Panel *panel, const char *title) {
  const PlotData *data = panel->data;
  rf_index panels = data->facet.count, across = panels == 1 ? 1 : panels == 3 || panels > 4 ? 3 : 2;
  rf_index down = (panels + across - 1) / across;
  double wide = panels == 1 ? 520 : across == 2 ? 440 : 360, high = panels == 1 ? 380 : 300;
  rf_index legend_rows = panel->wish->colour ? 1 + data->colour.count / 4 : 0;
  char y_label[240];
  bool heat = panel->wish->kind == SWEEP_PLOT_HEAT;
  if (panel->wish->kind == SWEEP_PLOT_SURVIVAL)
    rf_format(y_label, sizeof y_label, "share of cells above");
  else
    rf_format(y_label, sizeof y_label, "%s%.200s",
              heat               ? ""
              : data->proportion ? "share of "
                                 : "",
              panel->wish->y);
  set_axes(panel, y_label);
  double height = (double)down * high + 22 * (double)legend_rows + (heat ? 44 : 8);
  rf_svg_begin(svg, (double)across * wide, height, title, "a picture of a sweep; point at marks for numbers");
  for (rf_index f = 0; f < panels; f++) {
    rf_index row = f / across;
    panel->facet = f;
    panel->plot.svg = svg;
    panel->plot.left = (double)(f % across) * wide + LEFT, panel->plot.top = (double)row * high + TOP;
    panel->plot.width = wide - LEFT - RIGHT, panel->plot.height = high - TOP - BOTTOM;
    draw_panel(panel);
  }
  draw_legend(svg, panel, (double)down * high + 4, (double)across * wide);
  rf_svg_end(svg);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static rf_index missing_of(const PlotData *data) {
  rf_index missing = 0;
  for (rf_index k = 0; k < data->n_rows; k++) missing += isnan(data->rows[k].value);
  return missing;
}

typedef void (*EachGroup)(void *user, const PlotData *data, rf_index x, rf_index series, rf_index facet,
                          const Group *group);

static void each_group(const Panel *panel, EachGroup call, void *user) {
  const PlotData *data = panel->data;
  bool heat = panel->wish->kind == SWEEP_PLOT_HEAT, survival = panel->wish->kind == SWEEP_PLOT_SURVIVAL;
  for (rf_index f = 0; f < data->facet.count; f++)
    for (rf_index c = 0; c < (heat ? data->y.count : data->colour.count); c++)
      for (rf_index x = 0; x < (survival ? 1 : data->x.count); x++) {
        Group group =
            plot_group(data, survival ? -1 : x, heat ? c : -1, heat ? -1 : c, f, panel->values, NULL);
        if (group.n > 0) call(user, data, x, c, f, &group);
      }
}

typedef struct Writer {
  RfJson *json;
  RfTable *table;
  bool heat;
} Writer;

static void write_group(void *user, const PlotData *data, rf_index x, rf_index series, rf_index facet,
                        const Group *group) {
  Writer *writer = user;
  const char *name = writer->heat ? data->y.labels[series] : data->colour.labels[series];
  if (writer->json) {
    rf_json_object(writer->json, NULL);
    rf_json_string(writer->json, "x", data->x.labels[x]);
    rf_json_string(writer->json, "series", name);
    rf_json_string(writer->json, "facet", data->facet.labels[facet]);
    rf_json_integer(writer->json, "cells", group->n);
    rf_json_integer(writer->json, "without_answer", group->missing);
    rf_json_number(writer->json, "low", group->low);
    rf_json_number(writer->json, "middle", group->middle);
    rf_json_number(writer->json, "high", group->high);
    rf_json_end(writer->json);
  } else if (writer->table->count < 400 * writer->table->columns) {
    if (data->facet.count > 1) rf_table_cell(writer->table, "%s", data->facet.labels[facet]);
    if ((writer->heat ? data->y.count : data->colour.count) > 1) rf_table_cell(writer->table, "%s", name);
    rf_table_cell(writer->table, "%s", data->x.labels[x]);
    rf_table_cell(writer->table, "%lld", (long long)group->n);
    rf_table_cell(writer->table, "%lld", (long long)group->missing);
    rf_table_cell(writer->table, "%.6g", group->middle);
    rf_table_cell(writer->table, "%.6g", group->low);
    rf_table_cell(writer->table, "%.6g", group->high);
  }
}

static void write_json(RfJson *json, const Panel *panel) {
  Writer writer = {.json = json, .heat = panel->wish->kind == SWEEP_PLOT_HEAT};
  rf_json_integer(json, "cells", panel->data->n_rows);
  rf_json_integer(json, "without_answer", missing_of(panel->data));
  rf_json_boolean(json, "proportion", panel->data->proportion);
  rf_json_array(json, "groups");
  each_group(panel, write_group, &writer);
  rf_json_end(json);
}

static void write_page(RfText *page, const RfSvg *svg, const Panel *panel, const char *title,
                       const char *subtitle) {
  RfTable table;
  Writer writer = {.table = &table, .heat = panel->wish->kind == SWEEP_PLOT_HEAT};
  char caption[400];
  const char *how = panel->data->proportion
                        ? "Marks are shares of the cells with an answer; bars are exact (Clopper-Pearson) "
                          "intervals of 95 %, "
                          "widened by counting cells without an answer once as no and once as yes."
                        : "Marks are medians, bands and bars reach from the lower to the upper quartile.";
  rf_html_begin(page, title, subtitle);
  rf_format(caption, sizeof caption,
            "%lld cells, %lld without an answer. %s Point at a mark for its numbers.",
            (long long)panel->data->n_rows, (long long)missing_of(panel->data), how);
  rf_html_picture(page, svg, caption);
  rf_html_section(page, "Numbers");
  bool facets = panel->data->facet.count > 1,
       series = (writer.heat ? panel->data->y.count : panel->data->colour.count) > 1;
  char head[160];
  rf_format(head, sizeof head, "%s%sx|cells|no answer|%s", facets ? "facet|" : "", series ? "series|" : "",
            panel->data->proportion ? "share|low|high" : "median|lower|upper");
  rf_table_init(&table, &"lllrrrrr"[2 - facets - series], head);
  each_group(panel, write_group, &writer);
  rf_table_html(page, &table);
  rf_table_free(&table);
  rf_html_end(page);
}

RfStatus sweep_plot(RfContext *context, RfSvg *svg, RfText *page, RfJson *json, const SweepStore *store,
                    const SweepPlotWish *wish, const char *subtitle) {
  PlotData data = {0};
  char title[300];
  RfStatus status = plot_data_new(context, &data, store, wish);
  Panel panel = {.data = &data, .wish = wish, .values = RF_NEW(double, data.n_rows)};
  if (!status && !panel.values) status = sweep_out_of_memory(context);
  if (!status) {
    if (wish->kind == SWEEP_PLOT_SURVIVAL)
      rf_format(title, sizeof title, "How far %.150s reaches", wish->y);
    else
      rf_format(title, sizeof title, "%.140s against %.140s",
                wish->kind == SWEEP_PLOT_HEAT ? wish->colour : wish->y, wish->x);
    draw(svg, &panel, title);
    if (json) write_json(json, &panel);
    if (page) write_page(page, svg, &panel, title, subtitle);
  }
  rf_free(panel.values);
  plot_data_free(&data);
  return status;
}
