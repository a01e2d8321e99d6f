/* Factorisations in plain C, in the layouts that src/la asks for: LU with row exchanges, Cholesky,
 * Householder QR, one with exchanged columns for least squares, and Jacobi rotations for eigenvalues and
 * singular values, which are slow for large matrices and exact to the last digits for small ones. */
#include "core/core.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { most_sweeps = 60 }; /* Jacobi converges quadratically: ten are rare */

static int not_finite(const double *A, int n, int d, int lda) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++)
      if (!isfinite(A[(long)i * lda + j])) return 1;
  return 0;
}

/* ---- LU and Cholesky -------------------------------------------------------------------------------- */

/* Columns; pivot counts from 1, as LAPACK does. */
lapack_int LAPACKE_dgetrf_work(int layout, lapack_int m, lapack_int n, double *A, lapack_int lda,
                               lapack_int *pivot) {
  lapack_int info = 0;
  (void)layout, (void)m; /* square */
  for (int k = 0; k < n; k++) {
    int best = k;
    double *column = A + (long)k * lda;
    for (int i = k + 1; i < n; i++)
      if (fabs(column[i]) > fabs(column[best])) best = i;
    pivot[k] = best + 1;
    if (column[best] == 0) {
      if (!info) info = k + 1;
      continue;
    }
    for (int j = 0; best != k && j < n; j++) {
      double held = A[(long)j * lda + k];
      A[(long)j * lda + k] = A[(long)j * lda + best], A[(long)j * lda + best] = held;
    }
    for (int i = k + 1; i < n; i++) column[i] /= column[k];
    for (int j = k + 1; j < n; j++) {
      double factor = A[(long)j * lda + k];
      if (factor == 0) continue;
      for (int i = k + 1; i < n; i++) A[(long)j * lda + i] -= factor * column[i];
    }
  }
  return info;
}

lapack_int LAPACKE_dgetrs_work(int layout, char turn, lapack_int n, lapack_int count, const double *A,
                               lapack_int lda, const lapack_int *pivot, double *b, lapack_int ldb) {
  (void)layout, (void)turn, (void)count, (void)ldb; /* the transposed system, one right-hand side */
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= A[(long)i * lda + k] * b[k];
    b[i] /= A[(long)i * lda + i];
  }
  for (int i = n - 1; i >= 0; i--)
    for (int k = i + 1; k < n; k++) b[i] -= A[(long)i * lda + k] * b[k];
  for (int i = n - 1; i >= 0; i--) {
    double held = b[i];
    b[i] = b[pivot[i] - 1], b[pivot[i] - 1] = held;
  }
  return 0;
}

/* Row-major A x = b is the transposed system of the columns that lie there. */
lapack_int LAPACKE_dgesv(int layout, lapack_int n, lapack_int count, double *A, lapack_int lda,
                         lapack_int *pivot, double *b, lapack_int ldb) {
  if (not_finite(A, n, n, lda)) return -4;
  if (not_finite(b, n, 1, 1)) return -7;
  lapack_int info = LAPACKE_dgetrf_work(layout, n, n, A, lda, pivot);
  return info ? info : LAPACKE_dgetrs_work(layout, 'T', n, count, A, lda, pivot, b, ldb);
}

/* 'U' of columns: row i of the row-major lower factor is contiguous. */
lapack_int LAPACKE_dpotrf_work(int layout, char half, lapack_int n, double *A, lapack_int lda) {
  (void)layout, (void)half;
  for (int i = 0; i < n; i++) {
    double *row = A + (long)i * lda;
    for (int j = 0; j <= i; j++) {
      const double *other = A + (long)j * lda;
      double sum = row[j];
      for (int k = 0; k < j; k++) sum -= row[k] * other[k];
      if (j < i)
        row[j] = sum / other[j];
      else if (sum > 0)
        row[j] = sqrt(sum);
      else
        return i + 1;
    }
  }
  return 0;
}

lapack_int LAPACKE_dpotrs_work(int layout, char half, lapack_int n, lapack_int count, const double *A,
                               lapack_int lda, double *b, lapack_int ldb) {
  (void)layout, (void)half, (void)count, (void)ldb;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= A[(long)i * lda + k] * b[k];
    b[i] /= A[(long)i * lda + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) b[i] -= A[(long)k * lda + i] * b[k];
    b[i] /= A[(long)i * lda + i];
  }
  return 0;
}

/* ---- orthogonal factors ------------------------------------------------------------------------------ */

/* sqrt(sum x^2) without overflow. */
static double length_of(const double *x, int count, int step) {
  double largest = 0, sum = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(x[(long)i * step]));
  if (largest == 0 || !isfinite(largest)) return largest;
  for (int i = 0; i < count; i++) {
    double part = x[(long)i * step] / largest;
    sum += part * part;
  }
  return largest * sqrt(sum);
}

/* H = I - tau v v^T with v_0 = 1 maps x (count entries, `step` apart) to (beta, 0, ...); v replaces x below.
 */
static double reflector(double *x, int count, int step) {
  double tail = length_of(x + step, count - 1, step);
  if (count < 2 || tail == 0) return 0;
  double beta = -copysign(hypot(x[0], tail), x[0]), tau = (beta - x[0]) / beta, head = x[0] - beta;
  for (int i = 1; i < count; i++) x[(long)i * step] /= head;
  x[0] = beta;
  return tau;
}

/* Applies it to another vector. */
static void reflect(double *y, int step_y, const double *v, int step, int count, double tau) {
  double dot = y[0];
  for (int i = 1; i < count; i++) dot += v[(long)i * step] * y[(long)i * step_y];
  dot *= tau;
  y[0] -= dot;
  for (int i = 1; i < count; i++) y[(long)i * step_y] -= dot * v[(long)i * step];
}

lapack_int LAPACKE_dgeqrf(int layout, lapack_int n, lapack_int d, double *A, lapack_int lda, double *tau) {
  (void)layout;
  if (not_finite(A, n, d, lda)) return -4;
  for (int k = 0; k < d && k < n; k++) {
    double *at = A + (long)k * lda + k;
    tau[k] = reflector(at, n - k, lda);
    for (int j = 1; j < d - k; j++) reflect(at + j, lda, at, lda, n - k, tau[k]);
  }
  return 0;
}

/* QR with the longest remaining column first; returns the rank. norms: cols, work. */
static int pivoted(double *A, int rows, int cols, int lda, lapack_int *pivot, double *tau, double relative) {
  int least = rows < cols ? rows : cols, rank = 0;
  for (int j = 0; j < cols; j++) pivot[j] = j;
  for (int k = 0; k < least; k++) {
    int best = k;
    double longest = -1;
    for (int j = k; j < cols; j++) {
      double length = length_of(A + (long)k * lda + j, rows - k, lda);
      if (length > longest) longest = length, best = j;
    }
    for (int i = 0; best != k && i < rows; i++) {
      double held = A[(long)i * lda + k];
      A[(long)i * lda + k] = A[(long)i * lda + best], A[(long)i * lda + best] = held;
    }
    lapack_int held = pivot[k];
    pivot[k] = pivot[best], pivot[best] = held;
    double *at = A + (long)k * lda + k;
    tau[k] = reflector(at, rows - k, lda);
    if (fabs(*at) <= relative * fabs(A[0]) || *at == 0) break;
    rank = k + 1;
    for (int j = 1; j < cols - k; j++) reflect(at + j, lda, at, lda, rows - k, tau[k]);
  }
  return rank;
}

/* With R = [R1 R2] of full row rank r: R^T = Z T by a second factor, x = P Z T^-T Q^T b is the shortest. */
lapack_int LAPACKE_dgelsy(int layout, lapack_int rows, lapack_int cols, lapack_int count, double *A,
                          lapack_int lda, double *b, lapack_int ldb, lapack_int *pivot, double relative,
                          lapack_int *rank) {
  (void)layout, (void)count, (void)ldb;
  if (not_finite(A, rows, cols, lda)) return -5;
  if (not_finite(b, rows, 1, 1)) return -7;
  int least = rows < cols ? rows : cols;
  double *tau = RF_NEW(double, 2 * (rf_index)least + cols);
  double *T = RF_NEW_TABLE(double, cols, least);
  lapack_int info = tau && T ? 0 : LAPACK_WORK_MEMORY_ERROR;
  if (!info) {
    double *second = tau + least, *x = second + least;
    int r = pivoted(A, rows, cols, lda, pivot, tau, relative);
    for (int k = 0; k < r; k++) reflect(b + k, 1, A + (long)k * lda + k, lda, rows - k, tau[k]);
    for (int k = 0; k < r; k++)
      for (int j = k; j < cols; j++) T[(long)j * least + k] = A[(long)k * lda + j];
    for (int k = 0; k < r; k++) {
      double *at = T + (long)k * least + k;
      second[k] = reflector(at, cols - k, least);
      for (int j = 1; j < r - k; j++) reflect(at + j, least, at, least, cols - k, second[k]);
    }
    for (int i = 0; i < r; i++) { /* T^T is lower triangular */
      x[i] = b[i];
      for (int k = 0; k < i; k++) x[i] -= T[(long)k * least + i] * x[k];
      x[i] /= T[(long)i * least + i];
    }
    for (int k = r - 1; k >= 0; k--) reflect(x + k, 1, T + (long)k * least + k, least, cols - k, second[k]);
    for (int j = 0; j < cols; j++) b[pivot[j]] = x[j];
    *rank = r;
  }
  rf_free(tau), rf_free(T);
  return info;
}

/* ---- Jacobi ------------------------------------------------------------------------------------------ */

/* Cosine and sine that make [a c; c b] diagonal. */
static void rotation(double a, double b, double c, double *cosine, double *sine) {
  double theta = (b - a) / (2 * c);
  double t = fabs(theta) > 1e150 ? 0.5 / theta : copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta));
  *cosine = 1 / sqrt(1 + t * t), *sine = t * *cosine;
}

static void turn_rows(double *x, double *y, int count, double cosine, double sine) {
  for (int k = 0; k < count; k++) {
    double u = x[k], v = y[k];
    x[k] = cosine * u - sine * v, y[k] = sine * u + cosine * v;
  }
}

/* Row k of A becomes eigenvector k, values ascend. */
lapack_int LAPACKE_dsyevd(int layout, char job, char half, lapack_int n, double *A, lapack_int lda,
                          double *values) {
  (void)layout, (void)job, (void)half;
  double *S = RF_NEW_TABLE(double, n, n);
  if (!S) return LAPACK_WORK_MEMORY_ERROR;
  /* columns, 'U': A(i,j) with i <= j lies at j*lda + i */
  double size = 0;
  int bad = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      double a = A[(long)j * lda + i];
      bad = bad || !isfinite(a);
      size = fmax(size, fabs(a));
      S[(long)i * n + j] = S[(long)j * n + i] = a;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[(long)i * lda + j] = i == j;
  for (int sweep = 0; !bad && sweep < most_sweeps; sweep++) {
    int turned = 0;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        double c = S[(long)p * n + q], cosine, sine;
        if (fabs(c) <= 1e-17 * size || c == 0) continue;
        turned = 1;
        rotation(S[(long)p * n + p], S[(long)q * n + q], c, &cosine, &sine);
        turn_rows(S + (long)p * n, S + (long)q * n, n, cosine, sine);
        for (int k = 0; k < n; k++) turn_rows(S + (long)k * n + p, S + (long)k * n + q, 1, cosine, sine);
        S[(long)p * n + q] = S[(long)q * n + p] = 0;
        turn_rows(A + (long)p * lda, A + (long)q * lda, n, cosine, sine);
      }
    if (!turned) break;
  }
  for (int i = 0; i < n; i++) values[i] = S[(long)i * n + i];
  for (int i = 0; i < n; i++) { /* ascending */
    int least = i;
    for (int j = i + 1; j < n; j++)
      if (values[j] < values[least]) least = j;
    if (least == i) continue;
    double held = values[i];
    values[i] = values[least], values[least] = held;
    for (int k = 0; k < n; k++) {
      held = A[(long)i * lda + k];
      A[(long)i * lda + k] = A[(long)least * lda + k], A[(long)least * lda + k] = held;
    }
  }
  rf_free(S);
  return bad ? -5 : 0;
}

/* One-sided Jacobi on the rows of M (count rows of `size`): afterwards they are orthogonal; V turns along. */
static void orthogonalise(double *M, int count, int size, double *V, int width) {
  for (int sweep = 0; sweep < most_sweeps; sweep++) {
    int turned = 0;
    for (int p = 0; p < count; p++)
      for (int q = p + 1; q < count; q++) {
        double *x = M + (long)p * size, *y = M + (long)q * size, a = 0, b = 0, c = 0, cosine, sine;
        for (int k = 0; k < size; k++) a += x[k] * x[k], b += y[k] * y[k], c += x[k] * y[k];
        if (c == 0 || fabs(c) <= 1e-16 * sqrt(a) * sqrt(b)) continue;
        turned = 1;
        rotation(a, b, c, &cosine, &sine);
        turn_rows(x, y, size, cosine, sine);
        if (V) turn_rows(V + (long)p * width, V + (long)q * width, width, cosine, sine);
      }
    if (!turned) return;
  }
}

/* A unit vector orthogonal to the first `count` rows of V, for singular values that are zero. */
static void complete(double *V, int count, int width) {
  double *v = V + (long)count * width, best = 0;
  for (int axis = 0; axis < width && best < 0.5; axis++) {
    memset(v, 0, (size_t)width * sizeof *v);
    v[axis] = 1;
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < count; k++) {
        const double *u = V + (long)k * width;
        double dot = 0;
        for (int j = 0; j < width; j++) dot += u[j] * v[j];
        for (int j = 0; j < width; j++) v[j] -= dot * u[j];
      }
    best = length_of(v, width, 1) * sqrt((double)width); /* some axis reaches 1/sqrt(width) */
  }
  double length = length_of(v, width, 1);
  for (int j = 0; j < width; j++) v[j] /= length;
}

/* Row-major A (n x d). The left vectors are not given: nobody asks for them. Small sides are turned: the rows
 * of A when n <= d (right vectors are the turned rows, normalised), else its columns. */
lapack_int LAPACKE_dgesdd(int layout, char job, lapack_int n, lapack_int d, double *A, lapack_int lda,
                          double *values, double *left, lapack_int ldu, double *right, lapack_int ldv) {
  (void)layout, (void)left, (void)ldu;
  if (not_finite(A, n, d, lda)) return -5;
  int wide = n <= d, count = wide ? n : d, size = wide ? d : n, wants = job == 'S';
  double *M = RF_NEW_TABLE(double, count, size), *V = NULL, scale = 0;
  char *taken = RF_NEW(char, count);
  if (!wide && wants) V = RF_NEW_TABLE(double, d, d);
  if (!M || !taken || (!wide && wants && !V)) {
    rf_free(M), rf_free(taken), rf_free(V);
    return LAPACK_WORK_MEMORY_ERROR;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++) scale = fmax(scale, fabs(A[(long)i * lda + j]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++)
      M[wide ? (long)i * d + j : (long)j * n + i] = scale > 0 ? A[(long)i * lda + j] / scale : 0;
  for (int j = 0; V && j < d; j++) V[(long)j * d + j] = 1;
  orthogonalise(M, count, size, V, d);
  for (int k = 0; k < count; k++) { /* the longest first */
    int best = -1;
    for (int j = 0; j < count; j++) {
      double length = taken[j] ? -1 : length_of(M + (long)j * size, size, 1);
      if (length >= 0 && (best < 0 || length > values[k])) best = j, values[k] = length;
    }
    const double *row = M + (long)best * size;
    taken[best] = 1;
    if (wants) {
      const double *from = wide ? row : V + (long)best * d;
      double length = wide ? values[k] : 1;
      if (length > 0)
        for (int j = 0; j < d; j++) right[(long)k * ldv + j] = from[j] / length;
      else
        complete(right, k, d);
    }
    values[k] *= scale;
  }
  rf_free(M), rf_free(taken), rf_free(V);
  return 0;
}
