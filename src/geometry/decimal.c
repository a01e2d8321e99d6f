/* Exact counts: small non-negative big integers, base 1e9, and the count of sectors in general position
 * 2 sum_{k<r} C(n-1,k) (Cover 1965; Wang & Pilanci (6)). */
#include "geometry_internal.h"
#include "core/core.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 Wide;

static const uint32_t limb_base = 1000000000u;

static RfStatus push_limb(RfContext *context, RfDecimal *a, uint32_t value) {
  if (a->count == a->capacity) {
    rf_index capacity = 2 * a->capacity + 4;
    uint32_t *limb = rf_resize(a->limb, capacity, sizeof *limb);
    if (!limb) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a count");
    a->limb = limb;
    a->capacity = capacity;
  }
  a->limb[a->count++] = value;
  return RF_OK;
}

RfStatus rf_decimal_set(RfContext *context, RfDecimal *a, uint64_t value) {
  RfStatus status = RF_OK;
  a->count = 0;
  for (; value > 0 && !status; value /= limb_base)
    status = push_limb(context, a, (uint32_t)(value % limb_base));
  return status;
}

RfStatus rf_decimal_add(RfContext *context, RfDecimal *a, const RfDecimal *b) {
  uint32_t carry = 0;
  for (rf_index k = 0; k < b->count || carry > 0; k++) {
    RfStatus status = k == a->count ? push_limb(context, a, 0) : RF_OK;
    if (status) return status;
    uint32_t sum = a->limb[k] + (k < b->count ? b->limb[k] : 0) + carry;
    carry = sum >= limb_base;
    a->limb[k] = carry ? sum - limb_base : sum;
  }
  return RF_OK;
}

RfStatus rf_decimal_multiply(RfContext *context, RfDecimal *a, uint64_t factor) {
  uint64_t carry = 0; /* at most the factor */
  for (rf_index k = 0; k < a->count; k++) {
    Wide product = (Wide)a->limb[k] * factor + carry;
    a->limb[k] = (uint32_t)(product % limb_base);
    carry = (uint64_t)(product / limb_base);
  }
  RfStatus status = RF_OK;
  for (; carry > 0 && !status; carry /= limb_base)
    status = push_limb(context, a, (uint32_t)(carry % limb_base));
  while (a->count > 0 && a->limb[a->count - 1] == 0) a->count--;
  return status;
}

void rf_decimal_divide(RfDecimal *a, uint32_t divisor) {
  uint64_t rest = 0;
  for (rf_index k = a->count - 1; k >= 0; k--) {
    uint64_t value = rest * limb_base + a->limb[k];
    a->limb[k] = (uint32_t)(value / divisor);
    rest = value % divisor;
  }
  while (a->count > 0 && a->limb[a->count - 1] == 0) a->count--;
}

double rf_decimal_value(const RfDecimal *a) {
  double value = 0;
  for (rf_index k = a->count - 1; k >= 0; k--) value = value * limb_base + a->limb[k];
  return value;
}

char *rf_decimal_text(const RfDecimal *a) {
  size_t size = (size_t)(9 * (a->count > 0 ? a->count : 1) + 1), at = 0;
  char *text = RF_NEW(char, (rf_index)size);
  if (!text) return NULL;
  if (a->count == 0) text[at++] = '0';
  for (rf_index k = a->count - 1; k >= 0; k--)
    at += (size_t)rf_format(text + at, size - at, k == a->count - 1 ? "%" PRIu32 : "%09" PRIu32, a->limb[k]);
  return text;
}

void rf_decimal_free(RfDecimal *a) {
  rf_free(a->limb);
  *a = (RfDecimal){0};
}

RfStatus rf_decimal_sector_bound(RfContext *context, RfDecimal *a, rf_index rows, rf_index rank) {
  RfDecimal binomial = {0};
  if (rank == 0) return rf_decimal_set(context, a, 1);
  RfStatus status = rf_decimal_set(context, &binomial, 1);
  if (!status) status = rf_decimal_set(context, a, 1);
  for (rf_index k = 1; k < rank && k <= rows - 1 && !status; k++) { /* C(n-1,k) = C(n-1,k-1) (n-k)/k */
    status = rf_decimal_multiply(context, &binomial, (uint64_t)(rows - k));
    rf_decimal_divide(&binomial, (uint32_t)k);
    if (!status) status = rf_decimal_add(context, a, &binomial);
  }
  if (!status) status = rf_decimal_multiply(context, a, 2);
  rf_decimal_free(&binomial);
  return status;
}
