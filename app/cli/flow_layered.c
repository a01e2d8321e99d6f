/* The flow of a layered network from the command line. */
#include "cli/flow_layered.h"
#include "layers/layers.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* Flags of two-layer networks. */
static RfStatus check_flags(CliRun *run, const RfDataset *data, const RfLayeredNet *net,
                            const FlowLayered *flow) {
  static const char *const others[] = {"--width",  "--init",       "--ca",     "--map",
                                       "--freeze", "--checkpoint", "--resume", "--branches"};
  RfContext *context = &run->context;
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
    if (cli_given(run, others[k]))
      return rf_fail(context, RF_ERR_USAGE, "%s: not for the layered network %s", others[k], flow->weights);
  if (cli_given(run, "--scale") && !isfinite(flow->log_scale))
    return rf_fail(context, RF_ERR_USAGE, "--scale limit: not for the layered network %s", flow->weights);
  if (!data->y)
    return rf_fail(context, RF_ERR_USAGE, "%s: a layered network takes two classes, the data have %lld",
                   data->name, (long long)data->n_classes);
  if (rf_layers_inputs(net) != data->d)
    return rf_fail(context, RF_ERR_USAGE, "%s: a network with %lld inputs, but the data have %lld columns",
                   flow->weights, (long long)rf_layers_inputs(net), (long long)data->d);
  return RF_OK;
}

static RfStatus write_out(CliRun *run, const RfLayeredFlowReport *report) {
  RfStatus status = RF_OK;
  if (run->json) {
    rf_json_layered_flow(run->json, report);
    rf_json_null(run->json, "continuations"), rf_json_null(run->json, "per_class");
  }
  if (run->wants_page) rf_text_layered_flow(&run->page, report, 80);
  if (run->common.report) {
    rf_html_begin(&run->html, "Gradient flow", report->name);
    rf_html_layered_flow(&run->html, report);
    rf_html_end(&run->html);
  }
  if (run->common.svg && report->limit->n_trace > 1) {
    RfSvg svg;
    rf_svg_layered_flow(&svg, report);
    status = cli_write_svg(run, &svg, "trace.svg");
    rf_svg_free(&svg);
  }
  return status;
}

RfStatus flow_layered(CliRun *run, const RfDataset *data, RfLayeredNet *net, const FlowLayered *flow) {
  RfLayeredLimit limit = {0};
  RfLayeredCertificate certificate = {0};
  double began = rf_clock_seconds();
  RfStatus status = check_flags(run, data, net, flow);
  if (status) return status;
  rf_la_scale(net->theta, exp(flow->log_scale), net->n_parameters);
  status = rf_layered_flow_run(&run->context, &limit, net, data->X, data->y, data->n, flow->loss, flow->mean,
                               flow->settings);
  if (status < 0) return status;
  RfStatus judged = RF_NOT_SEPARABLE;
  if (limit.outcome == RF_FLOW_CONVERGED && flow->verdict && limit.held == 0)
    judged = rf_certify_layered(&run->context, &certificate, &limit.net, data->X, data->y, data->n);
  RfLayeredFlowReport report = {.name = data->name,
                                .init = flow->weights,
                                .n = data->n,
                                .d = data->d,
                                .loss = flow->loss,
                                .mean = flow->mean,
                                .log_scale = flow->log_scale,
                                .limit = &limit,
                                .certificate = judged == RF_OK ? &certificate : NULL,
                                .seconds = rf_clock_seconds() - began};
  RfStatus written = judged < 0 ? judged : write_out(run, &report);
  rf_layered_certificate_free(&certificate);
  rf_layered_limit_free(&limit);
  return written < 0 ? written : status;
}
