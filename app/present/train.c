/* Training, for programs and for people. */
#include <math.h>

#include "present/present_internal.h"

static const char *stop_text(RfTrainStop stop) {
  static const char *const texts[] = {"steps", "loss", "margin", "interrupted"};
  return texts[stop];
}

void rf_json_train(RfJson *json, const RfTrainResult *r, bool layered) {
  rf_json_integer(json, "steps", r->steps);
  rf_json_integer(json, "epochs", r->epochs);
  rf_json_string(json, "stop", stop_text(r->stop));
  rf_json_number(json, "loss", r->last.loss);
  rf_json_number(json, "log_loss", r->last.log_loss);
  rf_json_number(json, "margin", r->last.margin);
  rf_json_number(json, "min_q", r->last.min_q);
  rf_json_number(json, "norm", r->last.norm);
  rf_json_number(json, "train_error", r->last.train_error);
  rf_json_number(json, "test_error", r->last.test_error);
  rf_json_number(json, "leak", r->net.leak);
  if (layered) {
    rf_json_null(json, "W"), rf_json_null(json, "a");
    rf_json_layered_net(json, &r->net);
  } else {
    rf_index m = r->net.layers[0].outputs, d = r->net.layers[0].inputs;
    rf_json_matrix(json, "W", r->net.theta, m, d);
    rf_json_numbers(json, "a", r->net.theta + m * d, m);
    rf_json_null(json, "activation"), rf_json_null(json, "residual"), rf_json_null(json, "layers");
  }
  rf_json_number(json, "seconds", r->seconds);
  rf_json_number(json, "steps_per_second", r->steps_per_second);
  rf_json_array(json, "records");
  for (rf_index k = 0; k < r->n_records; k++) {
    const RfTrainRecord *record = &r->records[k];
    rf_json_object(json, NULL);
    rf_json_integer(json, "step", record->step);
    rf_json_integer(json, "epoch", record->epoch);
    rf_json_number(json, "loss", record->loss);
    rf_json_number(json, "log_loss", record->log_loss);
    rf_json_number(json, "margin", record->margin);
    rf_json_number(json, "min_q", record->min_q);
    rf_json_number(json, "norm", record->norm);
    rf_json_number(json, "rate", record->rate);
    rf_json_number(json, "train_error", record->train_error);
    rf_json_number(json, "test_error", record->test_error);
    rf_json_end(json);
  }
  rf_json_end(json);
}

void rf_json_then(RfJson *json, const char *status, const RfFlowLimit *limit) {
  if (!status) {
    rf_json_null(json, "then");
    return;
  }
  rf_json_object(json, "then");
  rf_json_string(json, "status", status);
  rf_json_number(json, "margin", limit ? limit->margin : NAN);
  rf_json_number(json, "stationarity", limit ? limit->stationarity : NAN);
  rf_json_number(json, "complementarity", limit ? limit->complementarity : NAN);
  rf_json_end(json);
}

/* One row in ten of the records, and the last. */
void rf_text_train(RfText *page, const RfTrainResult *r) {
  bool tested = isfinite(r->last.test_error);
  RfTable table;
  rf_table_init(&table, tested ? "rrrrrrr" : "rrrrrr",
                tested ? "step|epoch|loss|margin|min y f(x)|errors|test errors"
                       : "step|epoch|loss|margin|min y f(x)|errors");
  rf_index every = r->n_records > 12 ? r->n_records / 10 : 1;
  for (rf_index k = 0; k < r->n_records; k++) {
    const RfTrainRecord *record = &r->records[k];
    if (k % every && k + 1 < r->n_records) continue;
    rf_table_cell(&table, "%lld", (long long)record->step);
    rf_table_cell(&table, "%lld", (long long)record->epoch);
    rf_table_cell(&table, "%.5g", record->loss);
    rf_table_cell(&table, isnan(record->margin) ? "-" : "%.6g", record->margin);
    rf_table_cell(&table, "%.5g", record->min_q);
    rf_table_cell(&table, "%.3g%%", 100 * record->train_error);
    if (tested) rf_table_cell(&table, "%.3g%%", 100 * record->test_error);
  }
  rf_table_print(page, &table, 2);
  rf_table_free(&table);
  static const char *const reasons[] = {"all that were asked for", "the loss is small enough",
                                        "the margins are large enough", "interrupted"};
  rf_text_addf(page, "  %lld steps (%s) in %.3g s, %.4g steps/s\n", (long long)r->steps, reasons[r->stop],
               r->seconds, r->steps_per_second);
}

void rf_svg_train(RfSvg *svg, const RfTrainResult *r) {
  rf_index count = r->n_records;
  double *step = RF_NEW(double, count), *loss = RF_NEW(double, count), *margin = RF_NEW(double, count);
  rf_svg_begin(svg, 720, 560, "Training", "loss and normalised margin against the number of updates");
  if (step && loss && margin) {
    for (rf_index k = 0; k < count; k++) {
      step[k] = (double)r->records[k].step;
      loss[k] = r->records[k].log_loss / log(10);
      margin[k] = r->records[k].margin;
    }
    RfAxis x = {.low = INFINITY, .high = -INFINITY, .label = "updates"}, y = x;
    rf_axis_cover(&x, step, count), rf_axis_cover(&y, loss, count);
    y.label = "log10 loss";
    rf_axis_pad(&x, 0.02), rf_axis_pad(&y, 0.05);
    RfPlot top = {.svg = svg, .left = 80, .top = 20, .width = 610, .height = 210, .x = x, .y = y};
    rf_plot_axes(&top);
    rf_plot_line(&top, step, loss, count, (RfPen){.colour = RF_COLOUR_BLUE, .width = 2});
    RfAxis z = {.low = INFINITY, .high = -INFINITY, .label = "margin / |theta|^D"};
    rf_axis_cover(&z, margin, count);
    rf_axis_pad(&z, 0.05);
    RfPlot bottom = {.svg = svg, .left = 80, .top = 290, .width = 610, .height = 210, .x = x, .y = z};
    rf_plot_axes(&bottom);
    rf_plot_line(&bottom, step, margin, count, (RfPen){.colour = RF_COLOUR_VERMILION, .width = 2});
  }
  rf_svg_end(svg);
  rf_free(step), rf_free(loss), rf_free(margin);
}
