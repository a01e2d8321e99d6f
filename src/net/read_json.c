/* Networks in JSON: {"W": [[...], ...], "a": [...], "leak": 0.1}. The results of this program qualify: W and
 * a may stand at the top or inside "limit". */
#include "net/net_internal.h"
#include "core/core.h"

#include <jansson.h>
#include <string.h>

static RfStatus fail_json(RfContext *context, const RfNetBytes *file, const char *format, const char *name,
                          rf_index index) {
  char text[RF_SHOWN_SIZE];
  return rf_fail_at(context, file->name, 1, 1, format, rf_shown(text, name, strlen(name)), (long long)index);
}

/* One row of numbers. */
static bool take_row(double *out, const json_t *row, rf_index count) {
  if (!json_is_array(row) || (rf_index)json_array_size(row) != count) return false;
  for (rf_index j = 0; j < count; j++) {
    const json_t *cell = json_array_get(row, (size_t)j);
    if (!json_is_number(cell)) return false;
    out[j] = json_number_value(cell);
  }
  return true;
}

static RfStatus take_matrix(RfContext *context, double *out, const RfNetBytes *file, const json_t *W,
                            const char *name, rf_index m, rf_index d) {
  for (rf_index k = 0; k < m; k++) {
    if (take_row(out + k * d, json_array_get(W, (size_t)k), d)) continue;
    return fail_json(context, file, "%s: expected rows of numbers; row %lld is not", name, k);
  }
  return RF_OK;
}

static RfStatus take_net(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                         const json_t *root, const RfNetNames *names) {
  const json_t *inside = root, *leak = json_object_get(root, "leak");
  if (!json_object_get(root, names->W) && json_object_get(root, "limit"))
    inside = json_object_get(root, "limit");
  const json_t *W = json_object_get(inside, names->W), *a = json_object_get(inside, names->a);
  if (!W && json_object_get(root, "layers")) {
    return fail_json(context, file, "expected a two-layer network with %s, found layers", names->W, 0);
  }
  if (!leak) leak = json_object_get(inside, "leak");
  if (!json_is_array(W)) return fail_json(context, file, "expected a field %s, rows of numbers", names->W, 0);
  if (!json_is_array(a))
    return fail_json(context, file, "expected a field %s, a row of numbers", names->a, 0);
  if (leak && !json_is_number(leak)) return fail_json(context, file, "%s: expected a number", "leak", 0);
  rf_index m = (rf_index)json_array_size(W), d = (rf_index)json_array_size(json_array_get(W, 0));
  for (rf_index k = 0; k < m; k++) { /* before memory is asked for */
    if ((rf_index)json_array_size(json_array_get(W, (size_t)k)) != d) {
      return fail_json(context, file, "%s: expected rows of one length; row %lld is not", names->W, k);
    }
  }
  double *values = RF_NEW(double, m *(d + 1));
  if (!values) return rf_fail(context, RF_ERR_MEMORY, "out of memory for %.200s", file->name);
  RfStatus status = take_matrix(context, values, file, W, names->W, m, d);
  if (!status && !take_row(values + m * d, a, m)) {
    status = fail_json(context, file, "%s: expected %lld numbers, one for every row of W", names->a, m);
  }
  if (!status) {
    status =
        rf_net_from_arrays(context, net, file->name, values, values + m * d, m, d, json_number_value(leak));
  }
  *leak_stated = leak != NULL;
  rf_free(values);
  return status;
}

RfStatus rf_net_read_json(RfContext *context, RfNet *net, bool *leak_stated, const RfNetBytes *file,
                          const RfNetNames *names) {
  const char *text = (const char *)file->bytes;
  size_t mark = file->size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* byte order mark */
  json_error_t error;
  locale_t before = rf_locale_enter();
  json_t *root =
      json_loadb(text + mark, file->size - mark, JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);
  rf_locale_leave(before);
  if (!root) {
    char shown[RF_SHOWN_SIZE];
    return rf_fail_at(context, file->name, error.line > 0 ? error.line : 1,
                      error.column > 0 ? error.column : 1, "expected JSON: %s",
                      rf_shown(shown, error.text, strlen(error.text)));
  }
  RfStatus status = json_is_object(root) ? take_net(context, net, leak_stated, file, root, names)
                                         : rf_fail_at(context, file->name, 1, 1, "expected a JSON object");
  json_decref(root);
  return status;
}
