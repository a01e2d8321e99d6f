/* The context: defaults, errors, messages, progress, cancellation. Tolerances are set here and nowhere else.
 */
#include "core/core.h"

#include <math.h>
#include <string.h>
#include <time.h>

static RfTolerances default_tolerances(void) {
  return (RfTolerances){.zero = 1e-12,
                        .tight = 1e-9,
                        .emptiness = 1e-12,
                        .rank = 1e-12,
                        .kkt = 1e-8,
                        .kink = 1e-9,
                        .gap = 1e-8,
                        .solver = 1e-14,
                        .balanced = 1e-14,
                        .ode = 1e-10};
}

void rf_context_init(RfContext *context) {
  memset(context, 0, sizeof *context);
  context->tol = default_tolerances();
  context->threads = 1;
  context->deadline = INFINITY;
  rf_serial_blas();
}

double rf_clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void rf_context_limit(RfContext *context, double seconds) {
  context->deadline = rf_clock_seconds() + seconds;
}

bool rf_context_stop(const RfContext *context) {
  if (context->cancel && *context->cancel) return true;
  return isfinite(context->deadline) && rf_clock_seconds() >= context->deadline;
}

RfStatus rf_fail(RfContext *context, RfStatus status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(context->error, sizeof context->error, format, arguments);
  va_end(arguments);
  for (char *p = context->error; *p; p++) { /* one line, whatever a path or a cell contains */
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  }
  return status;
}

void rf_message(const RfContext *context, RfLevel level, const char *format, ...) {
  if (!context->on_message) return;
  char text[RF_ERROR_SIZE];
  va_list arguments;
  va_start(arguments, format);
  rf_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  context->on_message(context->user, level, text);
}

void rf_progress(const RfContext *context, const char *phase, double fraction, const char *detail) {
  if (context->on_progress) context->on_progress(context->user, phase, fraction, detail);
}
