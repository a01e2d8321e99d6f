/* The next hyperplane on a straight path is a ratio test over h = X w and b = X g. Only samples near the path
 * can be next for a while: a window keeps those that w0 + s tau g0 + e, tau <= reach, |e| <= drift, can meet,
 * with h and b updated for them alone; the rest are looked at again when the path leaves the window. Exact,
 * and a crossing costs a few dozen samples instead of all. */
#include "flow/align/align_internal.h"

#include <math.h>
#include <string.h>

#include "la/la.h"
#include "flow/flow_tolerances.h"

/* sizes below which a window holds everything; aims for the crossings and the samples in one */
enum { WINDOW_ALL = 48, WINDOW_EVENTS = 40, WINDOW_SAMPLES = 100, RESYNC_EVENTS = 100 };

/* Smallest tau >= 0 at which h + tau sign b vanishes for a sample moving towards its hyperplane; -1 for none.
 */
static double first_hit(const double *side, const double *h, const double *b, const double *slack, int sign_a,
                        rf_index count, rf_index *first) {
  double best_h = 1, best_speed = 0, sign = -sign_a;
  for (rf_index i = 0; i < count; i++) {
    double speed = sign * side[i] * b[i];
    if (speed <= slack[i]) continue;
    double distance = side[i] * h[i];
    if (distance * best_speed < best_h * speed) best_h = distance, best_speed = speed, *first = i;
  }
  return best_speed > 0 ? fmax(0, best_h / best_speed) : -1;
}

static void admit(RfContext *context, RfAlignPath *path, rf_index i) {
  RfAlignWindow *window = &path->window;
  rf_index k = window->count++;
  window->index[k] = i, window->place[i] = k;
  window->h[k] = path->full_h[i], window->b[k] = path->full_b[i];
  window->side[k] = path->side[i], window->slack[k] = path->data->slack[i];
  window->zero[k] = context->tol.zero * path->data->norms[i];
}

/* Reach and drift from what the last window saw. */
static void choose_size(RfAlignPath *path, double tau) {
  RfAlignWindow *window = &path->window;
  double size = rf_la_norm(path->w, path->data->field->d) / path->G;
  if (window->events > 0) {
    double factor =
        fmin(WINDOW_EVENTS / (double)window->events, WINDOW_SAMPLES / (double)(window->count + 1));
    window->next_reach *= fmin(4, fmax(0.25, factor));
  }
  window->reach = fmax(window->next_reach * size, 1.0001 * tau);
  window->drift = window->bend * window->reach * path->G;
  if (path->data->field->n <= WINDOW_ALL) window->reach = window->drift = INFINITY;
}

double rf_align_window_open(RfContext *context, RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  RfAlignWindow *window = &path->window;
  rf_index n = field->n, d = field->d, first = -1;
  rf_align_fresh_base(path);
  if (path->n_on == 0) rf_align_set_field(path, path->base);
  rf_la_apply(path->full_h, field->X, path->w, n, d, d);
  rf_la_apply(path->full_b, field->X, path->g, n, d, d);
  for (rf_index k = 0; k < path->n_on; k++) path->full_h[path->on[k]] = path->full_b[path->on[k]] = 0;
  double tau = first_hit(path->side, path->full_h, path->full_b, path->data->slack, path->sign, n, &first);
  choose_size(path, tau);
  double step = path->sign * (isfinite(window->reach) ? window->reach : 0);
  window->count = 0;
  for (rf_index i = 0; i < n; i++) {
    double side = path->side[i], near = window->drift * path->data->norms[i], h = side * path->full_h[i];
    window->place[i] = -1;
    if (fmin(h, h + step * side * path->full_b[i]) <= near && path->data->norms[i] > 0)
      admit(context, path, i);
  }
  memcpy(window->w0, path->w, (size_t)d * sizeof(double));
  memcpy(window->g0, path->g, (size_t)d * sizeof(double));
  window->G0 = path->G, window->events = 0;
  return tau;
}

/* Whether w + s tau g still lies in the window. Learns how much paths bend. */
static bool inside(RfAlignPath *path, double tau) {
  RfAlignWindow *window = &path->window;
  rf_index d = path->data->field->d;
  double along = 0, square = 0, step = path->sign * tau;
  if (window->events >= RESYNC_EVENTS || path->G < 0.1 * window->G0) return false;
  if (window->drift == INFINITY) return true;
  for (rf_index j = 0; j < d; j++) {
    double moved = path->w[j] + step * path->g[j] - window->w0[j];
    along += moved * window->g0[j], square += moved * moved;
  }
  double reach = path->sign * along / (window->G0 * window->G0);
  double drift = sqrt(fmax(0, square - along * along / (window->G0 * window->G0)));
  if (drift > window->drift)
    window->bend = fmin(4, 1.5 * window->bend);
  else if (reach > window->reach)
    window->bend = fmax(0.01, fmin(window->bend, fmax(2 * drift / window->drift, 0.7) * window->bend));
  return reach >= 0 && reach <= window->reach && drift <= window->drift;
}

double rf_align_next_hit(RfContext *context, RfAlignPath *path, rf_index *first) {
  RfAlignWindow *window = &path->window;
  for (int attempt = 0;; attempt++) {
    double tau = attempt || window->count < 0 ? rf_align_window_open(context, path) : 0;
    rf_index place = -1;
    if (tau < 0) return -1;
    tau = first_hit(window->side, window->h, window->b, window->slack, path->sign, window->count, &place);
    if (tau >= 0 && (attempt || inside(path, tau))) {
      *first = window->index[place];
      return tau;
    }
    if (attempt) return -1;
  }
}

void rf_align_move(RfAlignPath *path, double tau, rf_index first) {
  RfAlignWindow *window = &path->window;
  rf_index d = path->data->field->d, place = first >= 0 ? window->place[first] : -1;
  double step = path->sign * tau, before = rf_la_quick_dot(path->w, path->w, d);
  rf_la_axpy(path->w, step, path->g, d);
  double size = sqrt(fmax(before, rf_la_quick_dot(path->w, path->w, d))),
         later = RF_TOL_LATER * size / path->G;
  path->n_hits = 0;
  window->events++;
  for (rf_index k = 0; k < window->count; k++) {
    double h = window->h[k] + step * window->b[k], left = window->side[k] * h;
    window->h[k] = h;
    if (first < 0 || (left > size * window->zero[k] && k != place)) continue;
    double speed = -path->sign * window->side[k] * window->b[k];
    if (k != place && (speed <= window->slack[k] || left > later * speed)) continue;
    window->h[k] = 0;
    path->hits[path->n_hits++] = window->index[k];
  }
}

void rf_align_window_kick(RfAlignPath *path, rf_index i, double jump) {
  const RfAlignField *field = path->data->field;
  RfAlignWindow *window = &path->window;
  const double *x = field->X + i * field->d, *row = path->data->gram ? path->data->gram + i * field->n : NULL;
  for (rf_index k = 0; k < window->count; k++) {
    rf_index j = window->index[k];
    window->b[k] += jump * (row ? row[j] : rf_la_quick_dot(x, field->X + j * field->d, field->d));
  }
}

void rf_align_window_refresh(RfAlignPath *path) {
  const RfAlignField *field = path->data->field;
  RfAlignWindow *window = &path->window;
  for (rf_index k = 0; k < window->count; k++)
    window->b[k] =
        window->side[k] == 0 ? 0 : rf_la_quick_dot(path->g, field->X + window->index[k] * field->d, field->d);
}
