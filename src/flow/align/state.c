/* Alignment: data shared by all neurons of a field, and the state of the neuron at hand. */
#include "flow/align/align_internal.h"
#include "flow/flow_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"

enum { GRAM_LIMIT = 2048 };

void rf_align_data_free(RfAlignData *data) {
  rf_free(data->norms);
  rf_free(data->slack);
  rf_free(data->gram);
  memset(data, 0, sizeof *data);
}

RfStatus rf_align_data_new(RfContext *context, RfAlignData *data, const RfAlignField *field, rf_index uses) {
  rf_index n = field->n, d = field->d;
  memset(data, 0, sizeof *data);
  data->field = field;
  data->norms = RF_NEW(double, n);
  data->slack = RF_NEW(double, n);
  bool gram = n <= GRAM_LIMIT && uses > n / 16;
  if (gram) data->gram = RF_NEW(double, n *n);
  if (!data->norms || !data->slack || (gram && !data->gram)) {
    rf_align_data_free(data);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  }
  for (rf_index i = 0; i < n; i++) {
    data->norms[i] = rf_la_norm(field->X + i * d, d);
    data->weight += fabs(field->c[i]) * data->norms[i];
  }
  for (rf_index i = 0; i < n; i++) data->slack[i] = 10 * context->tol.solver * data->weight * data->norms[i];
  if (gram && n > 0) rf_la_gram(data->gram, field->X, n, d);
  return RF_OK;
}

void rf_align_path_free(RfAlignPath *path) {
  if (!path) return;
  rf_free(path->w);
  rf_free(path->on);
  rf_continuations_free(&path->options);
  rf_free(path);
}

/* One block of doubles, one of indices. */
static void lay_out(RfAlignPath *path, rf_index n, rf_index d) {
  RfAlignWindow *window = &path->window;
  double *next = path->w + d;
  double **vectors[] = {&path->base, &path->g, &path->unit, &window->w0, &window->g0};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++, next += d) *vectors[k] = next;
  path->frame = next, next += d * d;
  path->corner = next, next += d * d;
  path->trial = next, next += 2 * d;
  double **samples[] = {&path->side, &path->full_h, &path->full_b,  &window->h,
                        &window->b,  &window->side, &window->slack, &window->zero};
  for (size_t k = 0; k < sizeof samples / sizeof *samples; k++, next += n) *samples[k] = next;
  path->hits = path->on + n, window->index = path->hits + n, window->place = window->index + n;
}

RfStatus rf_align_path_new(RfContext *context, RfAlignPath **out, const RfAlignData *data) {
  rf_index n = data->field->n, d = data->field->d;
  RfAlignPath *path = *out = RF_NEW(RfAlignPath, 1);
  if (!path) return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  path->data = data;
  path->w = RF_NEW(double, 8 * d + 2 * d * d + 8 * n);
  path->on = RF_NEW(rf_index, 4 * n);
  if (!path->w || !path->on) {
    rf_align_path_free(path);
    *out = NULL;
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for alignment");
  }
  lay_out(path, n, d);
  return RF_OK;
}

double rf_align_slope(const RfAlignPath *path, rf_index i) {
  return path->side[i] > 0 ? 1 : path->data->field->leak;
}

void rf_align_set_side(RfAlignPath *path, rf_index i, double side) {
  path->n_active += (side > 0) - (path->side[i] > 0);
  path->side[i] = side;
  rf_index place = path->window.place[i];
  if (place >= 0) path->window.side[place] = side;
}

bool rf_align_blind(const RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  rf_index d = field->d;
  if (field->leak != 0 || path->n_active > 0) return false;
  for (rf_index j = 0; j < path->n_on; j++)
    for (rf_index k = 0; k < j; k++) {
      const double *x = field->X + path->on[j] * d, *other = field->X + path->on[k] * d;
      if (rf_la_quick_dot(x, other, d) < 0 && rf_flow_parallel(x, other, d)) return false;
    }
  return true;
}

void rf_align_set_field(RfAlignPath *path, const double *g) {
  rf_index d = path->data->field->d;
  if (g != path->g && d > 0) memcpy(path->g, g, (size_t)d * sizeof(double));
  path->G = rf_la_norm(path->g, d);
}

void rf_align_fresh_base(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  double *weights = path->full_b;
  for (rf_index i = 0; i < field->n; i++)
    weights[i] = path->side[i] == 0 && field->leak < 1 ? 0 : field->c[i] * rf_align_slope(path, i);
  rf_la_combine(path->base, field->X, weights, field->n, field->d, field->d);
}

void rf_align_rescale(RfAlignPath *path) {
  rf_index d = path->data->field->d;
  double norm = sqrt(rf_la_quick_dot(path->w, path->w, d) + path->a * path->a);
  if ((norm >= 0.25 && norm <= 4) || !(norm > 0)) return;
  int exponent;
  frexp(norm, &exponent);
  double factor = ldexp(1, -exponent);
  RfAlignWindow *window = &path->window;
  rf_la_scale(path->w, factor, d);
  rf_la_scale(window->w0, factor, d);
  rf_la_scale(window->h, factor, window->count);
  window->reach *= factor, window->drift *= factor;
  path->a *= factor;
  path->balance *= factor * factor;
  path->log_norm += exponent * log(2);
}
