/* `reluflow sweep plot`: pictures of a store. */
#include "cli/cli.h"
#include "sweep/sweep.h"

#include <string.h>

typedef struct PlotFlags {
  const char *x, *y, *colour, *facet, *where;
  int kind;
} PlotFlags;

#define FIELD(name) offsetof(PlotFlags, name)

static const CliOption options[] = {
    {"--x", CLI_TEXT, FIELD(x), "COLUMN", NULL, 0, 0,
     "what runs to the right: a column, or an SQL expression of columns"},
    {"--y", CLI_TEXT, FIELD(y), "COLUMN", NULL, 0, 0,
     "what is shown: limit.margin, 1-verdict.gap, verdict.global=optimum (a share); the vertical axis of a "
     "heat map"},
    {"--color", CLI_TEXT, FIELD(colour), "COLUMN", NULL, 0, 0,
     "one colour per value; in a heat map what is shown"},
    {"--facet", CLI_TEXT, FIELD(facet), "COLUMN", NULL, 0, 0, "one panel per value"},
    {"--where", CLI_TEXT, FIELD(where), "EXPRESSION", NULL, 0, 0, "only the cells for which this holds"},
    {"--kind", CLI_CHOICE, FIELD(kind), "line|heat|violin|survival", "line", 0, 0,
     "medians or shares against x; tiles over x and y; distributions; share of cells above a value"},
    {0},
};

static RfStatus check(RfContext *context, const PlotFlags *flags) {
  bool heat = flags->kind == SWEEP_PLOT_HEAT, survival = flags->kind == SWEEP_PLOT_SURVIVAL;
  if (!flags->y) return rf_fail(context, RF_ERR_USAGE, "sweep plot needs --y COLUMN");
  if (!flags->x && !survival) return rf_fail(context, RF_ERR_USAGE, "sweep plot needs --x COLUMN");
  if (heat && !flags->colour)
    return rf_fail(context, RF_ERR_USAGE, "--kind heat needs --color COLUMN, what is shown");
  return RF_OK;
}

static int plot_run(CliRun *run) {
  const PlotFlags *flags = run->settings;
  RfContext *context = &run->context;
  SweepSpec spec = {0};
  SweepStore *store = NULL;
  RfSvg svg = {0};
  RfText subtitle = {0};
  const char *file = run->common.output, *name = run->arguments[0];
  SweepPlotWish wish = {flags->x,     flags->y,     flags->colour,
                        flags->facet, flags->where, (SweepPlotKind)flags->kind};
  RfStatus status = check(context, flags);
  if (!status && !file && !run->common.report && !run->json)
    status = rf_fail(context, RF_ERR_USAGE, "sweep plot needs -o FILE.svg or --report FILE.html");
  if (!status) status = sweep_store_open(context, &store, &spec, name, true);
  if (!status) {
    rf_text_addf(&subtitle, "%s: reluflow sweep %s", name, spec.command);
    for (rf_index k = 0; k < spec.words.count; k++) rf_text_addf(&subtitle, " %s", spec.words.items[k]);
    if (run->json) rf_json_string(run->json, "store", name);
    status = sweep_plot(context, &svg, run->common.report ? &run->html : NULL, run->json, store, &wish,
                        rf_text_string(&subtitle));
  }
  if (!status && file) status = rf_svg_write(context, &svg, file);
  if (!status && run->wants_page && file) rf_text_addf(&run->page, "%s\n", file);
  if (!status && run->wants_page && run->common.report) rf_text_addf(&run->page, "%s\n", run->common.report);
  rf_svg_free(&svg);
  rf_text_free(&subtitle);
  sweep_spec_free(&spec);
  sweep_store_close(context, store);
  return cli_finish(run, status);
}

const CliCommand cli_sweep_plot = {
    .name = "sweep plot",
    .arguments = "FILE.db",
    .summary = "a picture of a store",
    .description = "Medians with quartiles, or, where what is shown is yes or no, shares with exact "
                   "intervals of 95 %. Cells "
                   "without an answer (undecided, out of time, crashed, pending) are drawn as such. -o "
                   "writes an SVG file, "
                   "--report a page that tells numbers when pointed at.",
    .options = options,
    .settings_size = sizeof(PlotFlags),
    .min_arguments = 1,
    .max_arguments = 1,
    .owns_output = true,
    .has_report = true,
    .examples =
        "reluflow sweep plot runs.db --x scale --y limit.margin --color width --facet n -o margins.svg\n"
        "reluflow sweep plot runs.db --x n --y width --color verdict.global=optimum --kind heat --report "
        "p.html\n",
    .run = plot_run,
};
