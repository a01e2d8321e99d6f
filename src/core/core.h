/* core's door to the other rooms and buildings: what they share and no user of the library needs. Errors and
 * messages, sizes, random numbers, bitsets, and numbers to and from text, whatever locale the host of the
 * library has chosen (Python, R, Qt and GTK programs often have one with a decimal comma); no other file
 * calls printf or strtod for numbers (a test looks). */
#ifndef RF_CORE_CORE_H
#define RF_CORE_CORE_H

#include "reluflow/core.h"

#include <locale.h>
#include <stdarg.h>

#if defined(__GNUC__)
#define RF_PRINTF(format_at, first) __attribute__((format(printf, format_at, first)))
#else
#define RF_PRINTF(format_at, first)
#endif

/* Marks a hot loop that is compiled for several instruction sets and chosen at load time. The order of
 * operations is the same in all of them (no contraction, no reassociation), so are the bits. For static
 * functions: the symbol that chooses would be exported whatever is said of visibility. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define RF_HOT __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RF_HOT
#endif

/* ---- context.c: errors, messages, progress --------------------------------------------------- */

/* Cancel flag set, or deadline passed. Cheap enough for once per outer iteration. */
bool rf_context_stop(const RfContext *context);
/* Monotonic seconds, the clock of context->deadline. */
double rf_clock_seconds(void);
/* Records one line and returns the status given: `return rf_fail(context, RF_ERR_USAGE, "...", ...)`. */
RfStatus rf_fail(RfContext *context, RfStatus status, const char *format, ...) RF_PRINTF(3, 4);
void rf_message(const RfContext *context, RfLevel level, const char *format, ...) RF_PRINTF(3, 4);
void rf_progress(const RfContext *context, const char *phase, double fraction, const char *detail);

/* ---- serial.c -------------------------------------------------------------------------------- */

/* BLAS uses one thread from here on, as far as this thread is concerned. rf_context_init says it. */
void rf_serial_blas(void);

/* ---- memory.c: sizes and copies -------------------------------------------------------------- */

/* As realloc with an overflow check; new bytes are not zeroed. On failure the old block is kept. */
void *rf_resize(void *block, rf_index count, size_t size);
/* rf_resize in place: false, and nothing changed, when there is no memory. */
bool rf_grow(void **block, rf_index count, size_t size);
/* rf_alloc of rows * columns, NULL when the product overflows. */
void *rf_alloc_table(rf_index rows, rf_index columns, size_t size);
char *rf_copy_text(const char *text);
/* A fresh copy of count doubles, NULL on failure. */
double *rf_copy_doubles(const double *from, rf_index count);
/* a*b (or a+b) in *out; false when it overflows or an operand is negative. */
bool rf_multiply_sizes(rf_index *out, rf_index a, rf_index b);
bool rf_add_sizes(rf_index *out, rf_index a, rf_index b);

#define RF_NEW(type, count)               ((type *)rf_alloc((count), sizeof(type)))
#define RF_NEW_TABLE(type, rows, columns) ((type *)rf_alloc_table((rows), (columns), sizeof(type)))

/* ---- format.c: text with numbers in it ------------------------------------------------------- */

/* As snprintf and vsnprintf in the C locale: 1.5 has a point. */
int rf_format(char *out, size_t size, const char *format, ...) RF_PRINTF(3, 4);
int rf_format_list(char *out, size_t size, const char *format, va_list arguments) RF_PRINTF(3, 0);
/* For a library that formats or reads numbers itself (jansson): the calling thread is in the C locale between
 * enter and leave, other threads keep theirs. */
locale_t rf_locale_enter(void);
void rf_locale_leave(locale_t before);
/* The first `length` bytes are equal up to the case of the letters A-Z, in every locale (Turkish has its own
 * idea of the capital of i). */
bool rf_letters_equal(const char *a, const char *b, size_t length);

/* ---- number.c: text to double and back, exactly rounded, independent of the locale ----------- */

typedef enum RfNumberKind {
  RF_NUMBER_FINITE,
  RF_NUMBER_OVERFLOW,  /* a decimal number beyond the largest double */
  RF_NUMBER_NONFINITE, /* nan, inf, infinity, in any case */
  RF_NUMBER_NONE       /* no number starts here */
} RfNumberKind;

/* The number at `text`; *end is behind its last character. The text stops at `limit`, and *limit must be
 * readable and no part of a number (a newline, a separator, the final zero). */
RfNumberKind rf_number_parse(double *value, const char **end, const char *text, const char *limit);
/* A whole text of `length` characters that is one number, blanks around it allowed; text[length] is readable.
 */
RfNumberKind rf_number_whole(double *value, const char *text, size_t length);
/* The text is one finite number and nothing else. */
bool rf_number_read(double *value, const char *text);

#define RF_NUMBER_SIZE 32
/* The shortest of 15, 16 or 17 digits that reads back as x; x is finite. Returns the length. */
int rf_number_format(char out[RF_NUMBER_SIZE], double x);

/* ---- digests --------------------------------------------------------------------------------------- */

enum { RF_SHA256_SIZE = 65 }; /* 64 hexadecimal digits and a zero */

typedef struct RfSha256 {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
  size_t used;
} RfSha256;

void rf_sha256_init(RfSha256 *sha);
void rf_sha256_add(RfSha256 *sha, const void *data, size_t size);
/* Ends it: nothing can be added afterwards. */
void rf_sha256_text(RfSha256 *sha, char out[RF_SHA256_SIZE]);

/* ---- random.c: Philox 4x32-10, counter based ------------------------------------------------- */

/* Same seed and stream, same numbers on every machine; streams are independent. Open struct: copying it
 * copies the state. Gaussian numbers use this library's own logarithm, so they do not depend on libm. */
typedef struct RfRandom {
  uint32_t key[2];
  uint32_t counter[4];
  uint32_t block[4];
  int used; /* words of block already handed out; 4 = empty */
  bool has_spare;
  double spare; /* second Gaussian of a pair */
} RfRandom;

void rf_random_init(RfRandom *random, uint64_t seed, uint64_t stream);
uint32_t rf_random_u32(RfRandom *random);
uint64_t rf_random_u64(RfRandom *random);
/* Uniform in [0,1) with 53 bits. */
double rf_random_uniform(RfRandom *random);
/* Standard normal (Marsaglia polar method). */
double rf_random_gaussian(RfRandom *random);
/* Uniform in 0..bound-1 without bias; bound >= 1. */
rf_index rf_random_below(RfRandom *random, rf_index bound);
/* -1 or +1. */
double rf_random_sign(RfRandom *random);
/* Uniform on the unit sphere of R^d. */
void rf_random_direction(RfRandom *random, double *out, rf_index d);
/* Fisher-Yates on 0..n-1. */
void rf_random_permutation(RfRandom *random, rf_index *out, rf_index n);
/* Natural logarithm from IEEE operations only (relative error below 2e-16), the same bits everywhere. */
double rf_portable_log(double x);
/* Sine and cosine likewise, for |x| <= 1e5 (absolute error below 4e-16). */
void rf_portable_sincos(double x, double *sine, double *cosine);

/* ---- bitset.c -------------------------------------------------------------------------------- */

/* n bits in (n+63)/64 words, bit i in word i/64. */
static inline rf_index rf_bits_words(rf_index n) { return (n + 63) / 64; }
static inline bool rf_bits_get(const uint64_t *bits, rf_index i) { return (bits[i >> 6] >> (i & 63)) & 1u; }
static inline void rf_bits_set(uint64_t *bits, rf_index i) { bits[i >> 6] |= (uint64_t)1 << (i & 63); }
static inline void rf_bits_clear(uint64_t *bits, rf_index i) { bits[i >> 6] &= ~((uint64_t)1 << (i & 63)); }
static inline void rf_bits_flip(uint64_t *bits, rf_index i) { bits[i >> 6] ^= (uint64_t)1 << (i & 63); }
rf_index rf_bits_count(const uint64_t *bits, rf_index n);
bool rf_bits_equal(const uint64_t *a, const uint64_t *b, rf_index n);
/* FNV-1a, 64 bits: begin with RF_HASH_START, go on with the value returned. Recognises changed files and
 * spreads keys; no guard against malice. */
#define RF_HASH_START 0xcbf29ce484222325u
uint64_t rf_hash_bytes(uint64_t hash, const void *bytes, size_t size);
uint64_t rf_bits_hash(const uint64_t *bits, rf_index n);

#endif
