/* Unit tests of the library as one program for node: without a word it lists them, with a name it runs that
 * one. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT(symbol, name) int unit_##symbol(void);
#include "units.inc"
#undef UNIT

/* web/stand/divide.c: quotients of neighbours of 1 (one of them was 2), of random numbers of all sizes, and
 * of those that are none, against products. */
static int unit_divide(void) {
  volatile long double one = 1;
  int bad = 0;
  long double x = nextafterl(1, 0);
  for (int k = 0; k < 4000; k++, x = nextafterl(x, 0)) bad += fabsl(one / x * x - 1) > LDBL_EPSILON;
  for (int k = 0; k < 20000; k++) {
    volatile long double a = ldexpl((long double)rand() + (long double)rand() / 3, rand() % 9000 - 4500);
    volatile long double b = ldexpl((long double)rand() + (long double)rand() / 7 + 1, rand() % 9000 - 4500);
    bad += fabsl(a / b * b - a) > LDBL_EPSILON * fabsl(a); /* half a unit each for quotient and product */
    bad += (-a) / b != -(a / b);
  }
  volatile long double zero = 0, least = LDBL_MIN, three = 3;
  bad += !isnan(zero / zero) || one / zero != (long double)INFINITY || zero / one != 0 ||
         !isnan(one / (long double)NAN);
  bad += least / three * three < least * 0.9999L || least / three * three > least * 1.0001L;
  return bad != 0;
}

static const struct {
  const char *name;
  int (*run)(void);
} units[] = {
    {"web/divide", unit_divide},
#define UNIT(symbol, name) {name, unit_##symbol},
#include "units.inc"
};

int main(int argc, char **argv) {
  for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
    if (argc < 2)
      puts(units[k].name);
    else if (strcmp(argv[1], units[k].name) == 0)
      return units[k].run();
  }
  return argc < 2 ? 0 : 2;
}
