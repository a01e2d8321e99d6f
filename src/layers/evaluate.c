/* Outputs, gradients and per-sample gradients of layered networks, over blocks of samples. Threads work on
 * fixed groups of blocks and their sums are added in group order, so the bits do not depend on the number of
 * threads. */
#include "layers/layers.h"

#include <string.h>

#include "pass.h"

static RfStatus check_net(RfContext *context, const RfLayeredNet *net) {
  if (net->n_layers < 1) return rf_fail(context, RF_ERR_USAGE, "the network has no layers");
  return RF_OK;
}

static void copy_hidden(double *hidden, const RfPass_double *pass, rf_index rows, rf_index width) {
  const RfLayeredNet *net = pass->net;
  rf_index at = 0;
  for (rf_index l = 0; l + 1 < net->n_layers; l++) {
    rf_index out = net->layers[l].outputs;
    for (rf_index i = 0; i < rows; i++)
      memcpy(hidden + i * width + at, pass->z[l] + i * out, (size_t)out * sizeof *hidden);
    at += out;
  }
}

RfStatus rf_layers_evaluate(RfContext *context, double *out, double *hidden, const RfLayeredNet *net,
                            const double *X, rf_index n) {
  RfPass_double pass;
  RfStatus status = check_net(context, net);
  if (!status) status = rf_pass_new_double(context, &pass, net, net->theta);
  if (status) return status;
  rf_index in = rf_layers_inputs(net), outputs = rf_layers_outputs_count(net), width = rf_layers_hidden(net);
  for (rf_index start = 0; start < n; start += pass.block) {
    rf_index rows = n - start < pass.block ? n - start : pass.block;
    rf_pass_forward_double(&pass, X + start * in, rows);
    memcpy(out + start * outputs, pass.z[net->n_layers - 1], (size_t)(rows * outputs) * sizeof *out);
    if (hidden) copy_hidden(hidden + start * width, &pass, rows, width);
  }
  rf_pass_free_double(&pass);
  return RF_OK;
}

/* At most this many partial sums; each covers a fixed range of blocks. */
enum { gradient_groups = 16 };

typedef struct GradientJob {
  const RfLayeredNet *net;
  const double *X, *weights;
  double *partial, *out; /* partial: groups rows of n_parameters */
  rf_index n, groups, blocks;
} GradientJob;

static void run_group(const GradientJob *job, RfPass_double *pass, rf_index group) {
  const RfLayeredNet *net = job->net;
  rf_index in = rf_layers_inputs(net), outputs = rf_layers_outputs_count(net);
  double *sum = job->partial + group * net->n_parameters;
  rf_index first = group * job->blocks / job->groups, end = (group + 1) * job->blocks / job->groups;
  for (rf_index block = first; block < end; block++) {
    rf_index start = block * pass->block, left = job->n - start;
    rf_index rows = left < pass->block ? left : pass->block;
    rf_pass_forward_double(pass, job->X + start * in, rows);
    if (job->out)
      memcpy(job->out + start * outputs, pass->z[net->n_layers - 1],
             (size_t)(rows * outputs) * sizeof(double));
    rf_pass_backward_double(pass, sum, job->X + start * in, job->weights + start * outputs, rows, true);
  }
}

/* `out` is written through the job. */
RfStatus rf_layers_gradient(RfContext *context,
                            double *gradient, /* NOLINTNEXTLINE(readability-non-const-parameter) */
                            double *out, const RfLayeredNet *net, const double *X, const double *weights,
                            rf_index n) {
  RfStatus status = check_net(context, net);
  if (status) return status;
  GradientJob job = {.net = net, .X = X, .weights = weights, .out = out, .n = n};
  rf_index rows = rf_pass_rows(rf_pass_widest(net), sizeof(double));
  job.blocks = (n + rows - 1) / rows;
  job.groups = job.blocks < gradient_groups ? job.blocks : gradient_groups;
  memset(gradient, 0, (size_t)net->n_parameters * sizeof *gradient);
  if (n < 1) return RF_OK;
  rf_index size;
  if (rf_multiply_sizes(&size, job.groups, net->n_parameters)) job.partial = RF_NEW(double, size);
  if (!job.partial) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a gradient");
  int threads = context->threads < job.groups ? context->threads : (int)job.groups, failed = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    RfPass_double pass;
    RfContext local;
    rf_context_init(&local);
    RfStatus ready = rf_pass_new_double(&local, &pass, net, net->theta);
    if (ready) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 1)
    for (rf_index group = 0; group < job.groups; group++)
      if (!ready) run_group(&job, &pass, group);
    if (!ready) rf_pass_free_double(&pass);
  }
  for (rf_index group = 0; group < job.groups; group++)
    for (rf_index p = 0; p < net->n_parameters; p++)
      gradient[p] += job.partial[group * net->n_parameters + p];
  rf_free(job.partial);
  return failed ? rf_fail(context, RF_ERR_MEMORY, "out of memory for a gradient") : RF_OK;
}

RfStatus rf_layers_jacobian(RfContext *context, double *jacobian, const RfLayeredNet *net, const double *X,
                            rf_index n) {
  RfPass_double pass;
  RfStatus status = check_net(context, net);
  if (!status && rf_layers_outputs_count(net) != 1)
    status = rf_fail(context, RF_ERR_USAGE, "per-sample gradients need a network with one output");
  if (!status) status = rf_pass_new_double(context, &pass, net, net->theta);
  if (status) return status;
  const double one = 1;
  for (rf_index i = 0; i < n; i++) {
    double *row = jacobian + i * net->n_parameters;
    memset(row, 0, (size_t)net->n_parameters * sizeof *row);
    rf_pass_forward_double(&pass, X + i * rf_layers_inputs(net), 1);
    rf_pass_backward_double(&pass, row, X + i * rf_layers_inputs(net), &one, 1, false);
  }
  rf_pass_free_double(&pass);
  return RF_OK;
}
