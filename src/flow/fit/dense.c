/* First crossings of the dense output of a step. A unit may go across a hyperplane and come back
 * within a step, on a way that is a small part of it: samples would not see that. In Bernstein's basis a
 * polynomial lies between its least and its largest coefficient, and has one crossing where their signs
 * change once, so that halving where neither decides finds the first crossing however short the way beyond it
 * is. */
#include "flow/fit/dense.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

enum { DEGREE = RF_DENSE_TERMS - 1 };

/* Binomial coefficients. */
static const double choose[DEGREE + 1][DEGREE + 1] = {{1},
                                                      {1, 1},
                                                      {1, 2, 1},
                                                      {1, 3, 3, 1},
                                                      {1, 4, 6, 4, 1},
                                                      {1, 5, 10, 10, 5, 1},
                                                      {1, 6, 15, 20, 15, 6, 1},
                                                      {1, 7, 21, 35, 35, 21, 7, 1}};

/* Term i is s^a r^b with a = (i+1)/2, b = i/2, and 1 = (s + r)^{7-a-b}. */
static void to_bernstein(const double *terms, double floor, double *coefficient) {
  for (int j = 0; j <= DEGREE; j++) {
    double sum = 0;
    for (int i = 0; i <= DEGREE; i++) {
      int a = (i + 1) / 2, left = DEGREE - i;
      if (j >= a && j - a <= left) sum += terms[i] * choose[left][j - a];
    }
    coefficient[j] = sum / choose[DEGREE][j] - floor;
  }
}

/* Bernstein's coefficients on the two halves; `left` holds those of the whole. */
static void halve(double *left, double *right) {
  for (int k = 0; k <= DEGREE; k++) {
    right[DEGREE - k] = left[DEGREE];
    for (int j = DEGREE; j > k; j--) left[j] = 0.5 * (left[j - 1] + left[j]);
  }
}

typedef struct Piece {
  double low, high, coefficient[DEGREE + 1];
} Piece;

bool rf_dense_first_below(const double *terms, double floor, double *low, double *high) {
  enum { HALVES = 52 };
  Piece stack[HALVES + 2]; /* the first piece on top; each halving leaves one more */
  int count = 1;
  stack[0].low = 0, stack[0].high = 1;
  to_bernstein(terms, floor, stack[0].coefficient);
  while (count > 0) {
    Piece *piece = &stack[--count];
    int changes = 0, any = 0;
    for (int j = 0; j <= DEGREE; j++) any |= piece->coefficient[j] < 0;
    for (int j = 1; j <= DEGREE; j++)
      changes += (piece->coefficient[j] < 0) != (piece->coefficient[j - 1] < 0);
    if (!any) continue;
    *low = piece->low, *high = piece->high;
    bool ends_below = piece->coefficient[DEGREE] < 0;
    if (ends_below && changes <= 1) return true;
    if (count >= HALVES || piece->high - piece->low <= RF_TOL_BRACKET * piece->high) {
      if (ends_below) return true;
      continue; /* what is beyond is rounding */
    }
    double middle = 0.5 * (piece->low + piece->high);
    Piece first = *piece, *second = piece;
    halve(first.coefficient, second->coefficient);
    second->low = first.high = middle;
    stack[count + 1] = first;
    count += 2;
  }
  return false;
}
