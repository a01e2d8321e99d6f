/* Pictures of a store: rows are read, grouped and summarised in plot_data.c, drawn in plot.c and
 * plot_panels.c. */
#ifndef RF_SWEEP_PLOT_H
#define RF_SWEEP_PLOT_H

#include "sweep/sweep_internal.h"

/* The distinct values of a column: numbers first, ascending, then texts. */
typedef struct Levels {
  rf_index count, capacity;
  char **labels;
  double *numbers; /* NaN for texts */
} Levels;

typedef struct PlotRow {
  rf_index x, y_level, colour, facet; /* levels */
  double value;                       /* NaN without an answer */
} PlotRow;

typedef struct PlotData {
  rf_index n_rows, capacity;
  PlotRow *rows;
  Levels x, y, colour, facet;
  bool proportion; /* every answer is 0 or 1 */
} PlotData;

/* What one group of rows says. */
typedef struct Group {
  rf_index n, missing;      /* rows, and those without an answer */
  double low, middle, high; /* quartiles and median; or the share with the ends of its exact interval */
} Group;

RfStatus plot_data_new(RfContext *context, PlotData *data, const SweepStore *store,
                       const SweepPlotWish *wish);
void plot_data_free(PlotData *data);
/* Rows with these levels, -1 = any. `values` has room for n_rows numbers and comes back with the answers,
 * sorted. */
Group plot_group(const PlotData *data, rf_index x, rf_index y, rf_index colour, rf_index facet,
                 double *values, rf_index *n_values);

/* Ends of the exact (Clopper-Pearson) interval of 95 % for a share: k of n. */
double sweep_interval_low(rf_index k, rf_index n);
double sweep_interval_high(rf_index k, rf_index n);

/* One panel. `values` is work of n_rows numbers. */
typedef struct Panel {
  const PlotData *data;
  const SweepPlotWish *wish;
  RfPlot plot;
  rf_index facet;
  bool by_level;    /* the x axis has levels instead of numbers */
  double low, high; /* of the colours of a heat map */
  double *values;
} Panel;

double panel_x(const Panel *panel, rf_index level);
void panel_lines(Panel *panel);
void panel_violins(Panel *panel);
void panel_survival(Panel *panel);
void panel_heat(Panel *panel);
/* Begins and ends a part of the picture that tells something when pointed at. */
void plot_hover(RfSvg *svg, const char *format, ...) RF_PRINTF(2, 3);
void plot_hover_end(RfSvg *svg);
void plot_rectangle(RfSvg *svg, double x, double y, double width, double height, double share);

#endif
