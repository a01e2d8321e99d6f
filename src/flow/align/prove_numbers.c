/* Signs and division-free linear algebra in balls, or in exact rationals at precision ARF_PREC_EXACT. */
#include "flow/align/prove_internal.h"

#include <flint/fmpz_vec.h>

int rf_prove_sign(RfProvedPath *path, const arb_t value) {
  if (arb_is_positive(value)) return 1;
  if (arb_is_negative(value)) return -1;
  if (!arb_is_zero(value)) path->undecided = true;
  return 0;
}

/* Exact: p + q sqrt(r) with p and q of opposite signs has the sign of p where p^2 > q^2 r, of q where less.
 */
static int exact_sign(RfProvedPath *path, const arb_t p, const arb_t q) {
  int one = arb_sgn_nonzero(p), two = arb_sgn_nonzero(q);
  if (arb_is_zero(p)) one = 0;
  if (arb_is_zero(q)) two = 0;
  if (one * two >= 0) return one ? one : two;
  arb_t left, right;
  arb_init(left), arb_init(right);
  arb_mul(left, p, p, path->bits);
  arb_mul(right, q, q, path->bits);
  arb_mul(right, right, path->root, path->bits);
  arb_sub(left, left, right, path->bits);
  int sign = one * rf_prove_sign(path, left);
  arb_clear(left), arb_clear(right);
  return sign;
}

int rf_prove_sign_surd(RfProvedPath *path, const arb_t plain, const arb_t surd) {
  if (!path->turned || arb_is_zero(surd)) return rf_prove_sign(path, plain);
  if (path->bits == ARF_PREC_EXACT) return exact_sign(path, plain, surd);
  arb_t value;
  arb_init(value);
  arb_sqrt(value, path->root, path->bits);
  arb_mul(value, value, surd, path->bits);
  arb_add(value, value, plain, path->bits);
  int sign = rf_prove_sign(path, value);
  arb_clear(value);
  return sign;
}

void rf_prove_dot(arb_t out, const RfProvedPath *path, arb_srcptr a, arb_srcptr b) {
  arb_zero(out);
  for (rf_index j = 0; j < path->d; j++) arb_addmul(out, a + j, b + j, path->bits);
}

/* Exact vectors as integers with one exponent, divided by their greatest common divisor. */
static void take_content(const RfProvedPath *path, arb_ptr *vectors, rf_index count) {
  rf_index size = count * path->d;
  fmpz *mantissas = _fmpz_vec_init(size), *exponents = _fmpz_vec_init(size);
  fmpz_t least, content, shift;
  fmpz_init(least), fmpz_init(content), fmpz_init(shift);
  bool any = false;
  for (rf_index k = 0; k < size; k++) {
    arf_srcptr value = arb_midref(vectors[k / path->d] + k % path->d);
    arf_get_fmpz_2exp(mantissas + k, exponents + k, value);
    if (!fmpz_is_zero(mantissas + k) && (!any || fmpz_cmp(exponents + k, least) < 0))
      fmpz_set(least, exponents + k), any = true;
  }
  for (rf_index k = 0; k < size; k++) {
    if (fmpz_is_zero(mantissas + k)) continue;
    fmpz_sub(shift, exponents + k, least);
    fmpz_mul_2exp(mantissas + k, mantissas + k, fmpz_get_ui(shift));
  }
  _fmpz_vec_content(content, mantissas, size);
  for (rf_index k = 0; k < size && !fmpz_is_zero(content); k++) {
    fmpz_divexact(mantissas + k, mantissas + k, content);
    arb_set_fmpz(vectors[k / path->d] + k % path->d, mantissas + k);
  }
  fmpz_clear(least), fmpz_clear(content), fmpz_clear(shift);
  _fmpz_vec_clear(mantissas, size), _fmpz_vec_clear(exponents, size);
}

slong rf_prove_shrink(const RfProvedPath *path, arb_ptr *vectors, rf_index count, bool all_factors) {
  if (path->bits == ARF_PREC_EXACT && all_factors) {
    take_content(path, vectors, count);
    return 0;
  }
  mag_t size, one;
  mag_init(size), mag_init(one);
  for (rf_index k = 0; k < count * path->d; k++) {
    arb_get_mag(one, vectors[k / path->d] + k % path->d);
    mag_max(size, size, one);
  }
  slong exponent = mag_is_special(size) ? 0 : MAG_EXP(size);
  for (rf_index k = 0; k < count * path->d; k++)
    arb_mul_2exp_si(vectors[k / path->d] + k % path->d, vectors[k / path->d] + k % path->d, -exponent);
  mag_clear(size), mag_clear(one);
  return exponent;
}

void rf_prove_project(const RfProvedPath *path, arb_ptr v, arb_srcptr basis, rf_index rank) {
  arb_t square, along, part;
  arb_init(square), arb_init(along), arb_init(part);
  for (rf_index r = 0; r < rank; r++) {
    arb_srcptr e = basis + r * path->d;
    rf_prove_dot(square, path, e, e);
    rf_prove_dot(along, path, e, v);
    for (rf_index j = 0; j < path->d; j++) {
      arb_mul(part, along, e + j, path->bits);
      arb_mul(v + j, v + j, square, path->bits);
      arb_sub(v + j, v + j, part, path->bits);
    }
    rf_prove_shrink(path, &v, 1, true);
  }
  arb_clear(square), arb_clear(along), arb_clear(part);
}

bool rf_prove_extend(RfProvedPath *path, arb_ptr basis, rf_index *rank, arb_srcptr v) {
  if (*rank >= path->d) return false;
  arb_ptr e = basis + *rank * path->d;
  _arb_vec_set(e, v, path->d);
  rf_prove_project(path, e, basis, *rank);
  bool nonzero = false, zero = true;
  for (rf_index j = 0; j < path->d; j++) {
    nonzero = nonzero || arb_is_nonzero(e + j);
    zero = zero && arb_is_zero(e + j);
  }
  if (!nonzero && !zero) path->undecided = true;
  if (!nonzero) return false;
  (*rank)++;
  return true;
}
