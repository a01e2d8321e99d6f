/* The entries of GMP that src/margin calls, on the big integers that every browser has; see ../gmp.c.
 */
#ifndef RF_STAND_GMP_H
#define RF_STAND_GMP_H

#include <stddef.h>

typedef struct StandInteger {
  int at; /* in the table of integers of the page; 0 = none */
} mpz_t[1];
typedef struct StandRational {
  mpz_t over, under;
} mpq_t[1];
typedef unsigned long mp_bitcnt_t;
typedef struct StandInteger *mpz_ptr;
typedef const struct StandInteger *mpz_srcptr;

void mpz_init(mpz_ptr x);
void mpz_clear(mpz_ptr x);
void mpz_set(mpz_ptr x, mpz_srcptr a);
void mpz_set_ui(mpz_ptr x, unsigned long a);
void mpz_set_d(mpz_ptr x, double a); /* an integer */
void mpz_add(mpz_ptr x, mpz_srcptr a, mpz_srcptr b);
void mpz_mul(mpz_ptr x, mpz_srcptr a, mpz_srcptr b);
void mpz_submul(mpz_ptr x, mpz_srcptr a, mpz_srcptr b);
void mpz_mul_2exp(mpz_ptr x, mpz_srcptr a, mp_bitcnt_t bits);
void mpz_divexact(mpz_ptr x, mpz_srcptr a, mpz_srcptr b);
void mpz_gcd(mpz_ptr x, mpz_srcptr a, mpz_srcptr b);
void mpz_neg(mpz_ptr x, mpz_srcptr a);
int mpz_sgn(mpz_srcptr a);
double mpz_get_d_2exp(long *exponent, mpz_srcptr a);
size_t mpz_sizeinbase(mpz_srcptr a, int base); /* 10 */
char *mpz_get_str(char *out, int base, mpz_srcptr a);

void mpq_init(struct StandRational *x);
void mpq_clear(struct StandRational *x);
int mpq_set_str(struct StandRational *x, const char *text, int base); /* an integer */
void mpq_set_d(struct StandRational *x, double a);
void mpq_mul(struct StandRational *x, const struct StandRational *a, const struct StandRational *b);
void mpq_div(struct StandRational *x, const struct StandRational *a, const struct StandRational *b);
void mpq_set(struct StandRational *x, const struct StandRational *a);
void mpq_set_ui(struct StandRational *x, unsigned long over, unsigned long under);
void mpq_neg(struct StandRational *x, const struct StandRational *a);
void mpq_add(struct StandRational *x, const struct StandRational *a, const struct StandRational *b);
void mpq_sub(struct StandRational *x, const struct StandRational *a, const struct StandRational *b);
int mpq_cmp(const struct StandRational *a, const struct StandRational *b);
int mpq_cmp_ui(const struct StandRational *a, unsigned long over, unsigned long under);
int mpq_sgn(const struct StandRational *a);
double mpq_get_d(const struct StandRational *a); /* towards zero */
char *mpq_get_str(char *out, int base, const struct StandRational *a);
#define mpq_numref(x) ((x)->over)
#define mpq_denref(x) ((x)->under)

#endif
