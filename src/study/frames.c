/* Frames of a run: the state of every neuron at a number of moments, for those who show it move. They come
 * from a run of their own, watched neuron by neuron, so that asking for them changes nothing in the result.
 */
#include "study/frames.h"
#include "la/la.h"

#include <math.h>
#include <string.h>

/* Moments kept while the run goes on; when there are more, every second one is dropped. */
enum { RF_FRAMES_ROOM = 4096, RF_FRAMES_INSIDE = 3 };

typedef struct Film {
  RfContext *context;
  rf_index m, d, n, count, stride, skipped;
  RfStudyFrame *frames; /* RF_FRAMES_ROOM */
  bool failed;
} Film;

static void frame_free(RfStudyFrame *frame) {
  rf_free(frame->directions); /* one block with log_norms and margins */
  memset(frame, 0, sizeof *frame);
}

void rf_study_frames_free(RfStudyFrame *frames, rf_index count) {
  for (rf_index k = 0; frames && k < count; k++) frame_free(&frames[k]);
  rf_free(frames);
}

static double log_norm_of(const double *log_norms, rf_index m) {
  double top = -INFINITY, sum = 0;
  for (rf_index k = 0; k < m; k++) top = fmax(top, log_norms[k]);
  for (rf_index k = 0; k < m && isfinite(top); k++) sum += exp(2 * (log_norms[k] - top));
  return isfinite(top) ? top + 0.5 * log(sum) : top;
}

static void drop_every_second(Film *film) {
  rf_index kept = 0;
  for (rf_index k = 0; k < film->count; k++) {
    if (k % 2 == 0)
      film->frames[kept++] = film->frames[k];
    else
      frame_free(&film->frames[k]);
  }
  for (rf_index k = kept; k < film->count; k++) memset(&film->frames[k], 0, sizeof film->frames[k]);
  film->count = kept;
  film->stride *= 2;
}

static void take(void *observer, const RfFlowMoment *moment) {
  Film *film = observer;
  rf_index m = moment->m, d = moment->d, n = moment->n;
  if (film->failed || film->skipped++ % film->stride != 0) return;
  if (film->count == RF_FRAMES_ROOM) drop_every_second(film);
  RfStudyFrame *frame = &film->frames[film->count];
  frame->directions = RF_NEW(double, m *(d + 2) + n);
  if (!frame->directions) {
    film->failed = true;
    return;
  }
  film->count++;
  frame->log_norms = frame->directions + m * (d + 1), frame->margins = frame->log_norms + m;
  frame->log_t = moment->log_t, frame->log_loss = moment->log_loss;
  memcpy(frame->directions, moment->directions, (size_t)(m * (d + 1)) * sizeof(double));
  memcpy(frame->log_norms, moment->log_norms, (size_t)m * sizeof(double));
  memcpy(frame->margins, moment->q, (size_t)n * sizeof(double));
  frame->log_norm = log_norm_of(frame->log_norms, m);
}

/* How far apart two moments look: directions that turned, shares of the norm that changed. */
static double motion(const Film *film, const RfStudyFrame *a, const RfStudyFrame *b) {
  double turned = 0, shifted = 0;
  for (rf_index k = 0; k < film->m; k++) {
    double square = 0;
    for (rf_index j = 0; j <= film->d; j++) {
      double step = b->directions[k * (film->d + 1) + j] - a->directions[k * (film->d + 1) + j];
      square += step * step;
    }
    turned += isfinite(square) ? sqrt(square) : 0;
    double before = exp(2 * (a->log_norms[k] - a->log_norm)),
           after = exp(2 * (b->log_norms[k] - b->log_norm));
    shifted += isfinite(before) && isfinite(after) ? fabs(after - before) : 0;
  }
  return turned / (double)film->m + shifted / 2;
}

/* ln(1 + t/t0): even at first, logarithmic later; the way to infinity, where ln t grows to 1e6 and less and
 * less happens, once more by its logarithm. */
static double clock_of(double log_t, double log_t0) {
  double x = log_t - log_t0, far = 10;
  return x > far ? far + log(x / far) : log1p(exp(x));
}

/* place[k] in [0,1]: half by motion, most of the rest by the clock, a little by the number of the step. */
static void places(const Film *film, double *place, double log_t0) {
  double total_motion = 0, total_clock = 0;
  place[0] = 0;
  for (int pass = 0; pass < 2; pass++)
    for (rf_index k = 1; k < film->count; k++) {
      const RfStudyFrame *a = &film->frames[k - 1], *b = &film->frames[k];
      double moved = motion(film, a, b), late = isnan(b->log_t) || isnan(a->log_t)
                                                    ? 0
                                                    : clock_of(b->log_t, log_t0) - clock_of(a->log_t, log_t0);
      if (pass == 0) {
        total_motion += moved, total_clock += late;
        continue;
      }
      place[k] = place[k - 1] + 0.1 / (double)(film->count - 1);
      if (total_motion > 0) place[k] += 0.5 * moved / total_motion;
      if (total_clock > 0) place[k] += 0.4 * late / total_clock;
    }
}

/* The moments nearest to `wanted` even places, each once, first and last among them. */
static RfStatus choose(RfContext *context, Film *film, rf_index wanted, double log_t0) {
  double *place = RF_NEW(double, film->count);
  if (!place) return rf_fail(context, RF_ERR_MEMORY, "out of memory for frames");
  places(film, place, log_t0);
  rf_index kept = 0;
  double last = place[film->count - 1];
  for (rf_index k = 0; k < film->count; k++) {
    bool end = k + 1 == film->count;
    if (end || place[k] * (double)(wanted - 1) >= (double)kept * last)
      film->frames[kept++] = film->frames[k];
    else
      frame_free(&film->frames[k]);
  }
  for (rf_index k = kept; k < film->count; k++) memset(&film->frames[k], 0, sizeof film->frames[k]);
  film->count = kept;
  rf_free(place);
  return RF_OK;
}

RfStatus rf_study_frames(RfContext *context, RfStudyFrame **frames, rf_index *count,
                         const RfFlowProblem *problem, const RfFlowSettings *settings, rf_index wanted,
                         double t_align) {
  Film film = {.context = context, .m = problem->start->m, .d = problem->d, .n = problem->n, .stride = 1};
  RfFlowSettings own = *settings;
  RfFlowResult result;
  *frames = NULL, *count = 0;
  if (wanted < 2) return RF_OK;
  film.frames = RF_NEW(RfStudyFrame, RF_FRAMES_ROOM);
  if (!film.frames) return rf_fail(context, RF_ERR_MEMORY, "out of memory for frames");
  own.check_direction = own.audit = own.with_alignment = false, own.trace = 0, own.resume = NULL;
  own.want_checkpoint = NULL, own.save = NULL;
  own.observe = take, own.observer = &film, own.observe_inside = RF_FRAMES_INSIDE;
  RfStatus status = rf_flow_run(context, &result, problem, &own);
  if (status >= 0) rf_flow_result_free(&result);
  if (film.failed) status = rf_fail(context, RF_ERR_MEMORY, "out of memory for frames");
  if (status >= 0 && film.count > 1)
    status = choose(context, &film, wanted, t_align > 0 ? log(t_align / 20) : 0) < 0 ? RF_ERR_MEMORY : status;
  if (status < 0) {
    rf_study_frames_free(film.frames, film.count);
    return status;
  }
  *frames = film.frames, *count = film.count;
  return RF_OK;
}
