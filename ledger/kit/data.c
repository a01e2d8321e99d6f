/* Generated data of claims: the seed of a random generator follows the run's seed. */
#include "kit/data.h"
#include "core/core.h"

#include <stdio.h>
#include <string.h>

/* The position of the key "seed", or -1. */
static rf_index seed_key(const RfGenerator *generator) {
  for (rf_index k = 0; k < generator->n_keys; k++)
    if (strcmp(generator->keys[k].name, "seed") == 0) return k;
  return -1;
}

static const RfGenerator *generator_of(const char *spec) {
  rf_index count;
  const RfGenerator *all = rf_data_generators(&count);
  size_t length = strcspn(spec, ",(/");
  for (rf_index g = 0; g < count; g++)
    for (int name = 0; name < 2; name++) {
      const char *text = name ? all[g].alias : all[g].name;
      if (text && strlen(text) == length && rf_letters_equal(text, spec, length)) return &all[g];
    }
  return NULL;
}

/* Where the number of a seed stands in the spec, and how long it is: in the parentheses or after "seed=". */
static const char *seed_place(const char *spec, rf_index position, size_t *length) {
  const char *key = strstr(spec, "seed="), *open = strchr(spec, '('), *end = strchr(spec, ')');
  const char *at = key ? key + strlen("seed=") : open ? open + 1 : NULL;
  for (rf_index k = 0; !key && at && k < position; k++) {
    const char *comma = strchr(at, ',');
    at = comma && comma < end ? comma + 1 : NULL;
  }
  if (at) *length = strspn(at, "0123456789");
  return at;
}

RfStatus rf_claim_spec(const RfClaimRun *run, RfClaimSpec *out, const char *spec) {
  if (strncmp(spec, "gen:", 4) == 0) spec += 4;
  const RfGenerator *generator = generator_of(spec);
  rf_index position = generator ? seed_key(generator) : -1;
  unsigned long long seed = rf_claim_seed(run, spec, 0);
  size_t length = 0;
  const char *place = position < 0 ? NULL : seed_place(spec, position, &length);
  int used = position < 0 ? rf_format(out->text, sizeof out->text, "%s", spec)
             : place ? rf_format(out->text, sizeof out->text, "%.*s%llu%s", (int)(place - spec), spec, seed,
                                 place + length)
                     : rf_format(out->text, sizeof out->text, "%s,seed=%llu", spec, seed);
  if (used < 0 || (size_t)used >= sizeof out->text)
    return rf_fail(run->context, RF_ERR_USAGE, "%.60s: too long", spec);
  return RF_OK;
}

RfStatus rf_claim_generate(RfClaimRun *run, RfDataset *data, const char *spec) {
  RfClaimSpec own;
  RfStatus status = rf_claim_spec(run, &own, spec);
  return status ? status : rf_data_generate(run->context, data, own.text);
}
