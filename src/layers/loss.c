/* The inner loop of training: margins and the gradient of the loss over blocks of samples, without
 * allocation. Blocks are gathered into a fixed number of groups whose sums are added in order: the same bits
 * for any number of threads. */
#include "layers/layers.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "fused.h"
#include "pass.h"

/* At most this many partial sums; each covers a fixed range of blocks. */
static rf_index loss_groups(rf_index blocks) { return blocks < 16 ? blocks : 16; }

/* Below this many multiplications (samples x parameters) waking threads costs more than it saves. */
static const double loss_parallel_work = 4e6;

/* Samples between two possible ends of a group with the fused kernel; at least the largest block of a pass,
 * so that there are not more groups than without. */
enum { fused_rows = 22 * RF_FUSED_ROWS };

struct RfLossWork {
  const RfLayeredNet *net;
  RfPrecision precision;
  int n_passes;
  void *passes;  /* n_passes of RfPass_double or RfPass_float: one per thread */
  void *partial; /* groups x n_parameters */
  void *weights; /* most_rows */
  void *fused; /* scratch of the fused kernel, fused_room numbers for each thread; NULL where BLAS is used */
  rf_index fused_room;
};

#define exponential_double exp
#define exponential_float  expf
#define REAL               double
#define NAME(x)            x##_double
#include "loss_body.h"
#undef REAL
#undef NAME
#define REAL    float
#define NAME(x) x##_float
#include "loss_body.h"
#undef REAL
#undef NAME

void rf_layers_loss_work_free(RfLossWork *work) {
  if (!work) return;
  for (int t = 0; t < work->n_passes; t++) {
    if (work->precision == RF_DOUBLE) rf_pass_free_double((RfPass_double *)work->passes + t);
    if (work->precision == RF_FLOAT) rf_pass_free_float((RfPass_float *)work->passes + t);
  }
  rf_free(work->passes);
  rf_free(work->partial);
  rf_free(work->weights);
  rf_free(work->fused);
  rf_free(work);
}

RfStatus rf_layers_loss_work_new(RfContext *context, RfLossWork **out, const RfLayeredNet *net,
                                 RfPrecision precision, rf_index most_rows) {
  *out = NULL;
  if (net->n_layers < 1 || rf_layers_outputs_count(net) != 1)
    return rf_fail(context, RF_ERR_USAGE, "training needs a network with one output");
  size_t size = precision == RF_FLOAT ? sizeof(float) : sizeof(double);
  rf_index block = rf_pass_rows(rf_pass_widest(net), size),
           groups = loss_groups((most_rows + block - 1) / block), sums;
  RfLossWork *work = RF_NEW(RfLossWork, 1);
  RfStatus status = RF_OK;
  if (!work || !rf_multiply_sizes(&sums, groups, net->n_parameters)) goto no_memory;
  work->net = net, work->precision = precision;
  int wanted = context->threads < 1 ? 1 : context->threads;
  if (wanted > groups) wanted = groups < 1 ? 1 : (int)groups;
  work->passes = rf_alloc(wanted, precision == RF_FLOAT ? sizeof(RfPass_float) : sizeof(RfPass_double));
  work->partial = rf_alloc(sums, size);
  work->weights = rf_alloc(most_rows, size);
  if (!work->passes || !work->partial || !work->weights) goto no_memory;
  if (rf_fused_suits(net, size)) {
    work->fused_room = rf_fused_room(rf_fused_shape(net, size));
    work->fused = rf_alloc(wanted * work->fused_room, size);
    if (!work->fused) goto no_memory;
  }
  for (; work->n_passes < wanted && !status; work->n_passes += !status)
    status =
        precision == RF_FLOAT
            ? rf_pass_new_float(context, (RfPass_float *)work->passes + work->n_passes, net, NULL)
            : rf_pass_new_double(context, (RfPass_double *)work->passes + work->n_passes, net, net->theta);
  if (status) goto done;
  *out = work;
  return RF_OK;
no_memory:
  status = rf_fail(context, RF_ERR_MEMORY, "out of memory for training");
done:
  rf_layers_loss_work_free(work);
  return status;
}

void rf_layers_loss_gradient(const RfContext *context, RfLossWork *work, double *gradient, double *q,
                             const double *theta, const double *X, const double *y, RfLoss loss, double shift,
                             rf_index n) {
  loss_gradient_double(context, work, gradient, q, theta, X, y, loss, shift, n);
}

void rf_layers_loss_gradient_float(const RfContext *context, RfLossWork *work, float *gradient, float *q,
                                   const float *theta, const float *X, const float *y, RfLoss loss,
                                   double shift, rf_index n) {
  loss_gradient_float(context, work, gradient, q, theta, X, y, loss, shift, n);
}
