/* Spike-free matrices (Wang & Pilanci, Definition 2): for every unit u some z, |z| <= 1, with (Xu)_+ = Xz.
 *
 * Unit rows (scaling rows by positive numbers changes nothing), one of each direction. With independent rows
 * every v = Xu occurs, |u|^2 >= v'Mv and |z|^2 >= v_+'Mv_+ with M = (XX')^-1, so the property is v_+'Mv_- <=
 * v_-'Mv_-/2 for all v: it holds iff M has no positive off-diagonal entry; if M_ij > 0, v = e_i - (M_ij/M_jj)
 * e_j breaks it.
 *
 * The spike number is max sqrt(v_+'Mv_+ / v'Mv). On the face where S is positive, T negative and the rest 0,
 * the best v_T is M_TT^-1 M_TS v_S, and the maximum inside the face is the top eigenvector of a Rayleigh
 * quotient. All 3^n faces. */
#include "geometry_internal.h"
#include "la/la.h"

#include <float.h>
#include <math.h>
#include <string.h>

void rf_spike_free_free(RfSpikeFree *spike) {
  if (!spike) return;
  rf_free(spike->witness);
  *spike = (RfSpikeFree){.holds = RF_UNKNOWN, .number = NAN};
}

typedef struct Spike {
  rf_index rows, d;
  double *X;          /* distinct unit rows */
  double *inverse;    /* rows x d: row i is column i of the pseudo-inverse, M_ij = inverse_i . inverse_j */
  double *M;          /* rows x rows */
  double *dependency; /* rows: sum c_i x_i = 0 when the rows are dependent */
  double condition;
  bool independent;
} Spike;

static void spike_work_free(Spike *work) {
  rf_free(work->X);
  rf_free(work->inverse);
  rf_free(work->M);
  rf_free(work->dependency);
}

/* ---- distinct rows ------------------------------------------------------------------------------ */

/* First row of every direction: same hyperplane and same side. */
static RfStatus distinct_rows(RfContext *context, Spike *work, const double *X, rf_index n, rf_index d) {
  RfPlanes planes;
  RfStatus status = rf_planes_new(context, &planes, X, n, d);
  if (status) return status;
  int8_t *seen = RF_NEW(int8_t, planes.planes.count);
  work->X = RF_NEW(double, planes.rows *d);
  work->d = d;
  if (!seen || !work->X) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike test");
    goto done;
  }
  for (rf_index i = 0; i < n; i++) {
    rf_index p = planes.plane_of[i];
    int8_t side = p < 0 ? 0 : planes.sign_of[i] > 0 ? 1 : 2;
    if (p < 0 || (seen[p] & side)) continue;
    seen[p] = (int8_t)(seen[p] | side);
    double norm = rf_la_norm(X + i * d, d);
    for (rf_index k = 0; k < d; k++) work->X[work->rows * d + k] = X[i * d + k] / norm;
    work->rows++;
  }
done:
  rf_free(seen);
  rf_planes_free(&planes);
  return status;
}

/* Pseudo-inverse and M by the singular values of the rows; or the dependency. With X = U S V', the columns of
 * the pseudo-inverse are V S^-1 U', and U = X V S^-1. */
static RfStatus invert(RfContext *context, Spike *work) {
  rf_index n = work->rows, d = work->d, least = n < d ? n : d;
  if (n > d) return RF_OK; /* dependent */
  double *values = RF_NEW(double, least + 1), *right = RF_NEW(double, least *d),
         *left = RF_NEW(double, n *least);
  RfStatus status = RF_OK;
  if (!values || !right || !left) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike test");
    goto done;
  }
  status = rf_la_singular(context, values, right, work->X, n, d);
  if (status) goto done;
  work->independent = n <= d && (n == 0 || values[n - 1] > context->tol.rank * values[0]);
  work->condition = n == 0 ? 1 : values[0] / values[least - 1];
  if (!work->independent) goto done;
  work->inverse = RF_NEW(double, n *d);
  work->M = RF_NEW(double, n *n);
  if (!work->inverse || !work->M) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike test");
    goto done;
  }
  rf_la_product_nt(left, work->X, right, n, n, d); /* X V = U S */
  for (rf_index i = 0; i < n; i++)
    for (rf_index k = 0; k < n; k++) left[i * n + k] /= values[k] * values[k];
  rf_la_product_nn(work->inverse, left, right, n, d, n);
  rf_la_gram(work->M, work->inverse, n, d);
done:
  rf_free(values);
  rf_free(right);
  rf_free(left);
  return status;
}

/* ---- dependent rows ----------------------------------------------------------------------------- */

/* A relation among the rows: the first row that depends on the earlier ones, written with them. */
static RfStatus find_dependency(RfContext *context, Spike *work) {
  rf_index n = work->rows, d = work->d, taken = 0, rank = 0;
  double *frame = RF_NEW(double, d *d), *v = RF_NEW(double, d), *A = NULL, *b = NULL;
  RfStatus status = RF_OK;
  work->dependency = RF_NEW(double, n);
  if (!frame || !v || !work->dependency) {
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike test");
    goto done;
  }
  for (rf_index i = 0; i < n; i++) {
    memcpy(v, work->X + i * d, (size_t)d * sizeof *v);
    for (int pass = 0; pass < 2; pass++)
      for (rf_index j = 0; j < taken; j++) rf_la_axpy(v, -rf_la_dot(v, frame + j * d, d), frame + j * d, d);
    double norm = rf_la_norm(v, d);
    if (taken < d && norm > 1e-9) {
      for (rf_index k = 0; k < d; k++) frame[taken * d + k] = v[k] / norm;
      taken++;
      continue;
    }
    A = RF_NEW(double, d *i); /* columns x_0 .. x_{i-1} */
    b = RF_NEW(double, d > i ? d : i);
    if (!A || !b) {
      status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike test");
      goto done;
    }
    for (rf_index k = 0; k < d; k++)
      for (rf_index j = 0; j < i; j++) A[k * i + j] = work->X[j * d + k];
    memcpy(b, work->X + i * d, (size_t)d * sizeof *b);
    status = rf_la_least_squares(context, A, b, d, i, context->tol.rank, &rank);
    for (rf_index j = 0; j < i; j++) work->dependency[j] = b[j];
    work->dependency[i] = -1;
    work->rows = i + 1; /* later rows play no part */
    break;
  }
done:
  rf_free(frame);
  rf_free(v);
  rf_free(A);
  rf_free(b);
  return status;
}

/* |sum c_i (x_i.u)_+| / |c|: how far (Xu)_+ is out of range, at least. */
static double out_of_range(const Spike *work, const double *u) {
  double sum = 0;
  for (rf_index i = 0; i < work->rows; i++) {
    double value = rf_la_dot(work->X + i * work->d, u, work->d);
    if (value > 0) sum += work->dependency[i] * value;
  }
  return fabs(sum) / rf_la_norm(work->dependency, work->rows);
}

static void keep_better(double *best, double *found, const Spike *work, const double *u) {
  double norm = rf_la_norm(u, work->d), value = norm > 0 ? out_of_range(work, u) / norm : 0;
  if (!(value > *found)) return;
  *found = value;
  for (rf_index k = 0; k < work->d; k++) best[k] = u[k] / norm;
}

/* A direction where the relation breaks: some rows, random ones, and, where these see only 0, points just
 * beside the kink of a row with c_i != 0, one of which must. */
static RfStatus break_dependency(RfContext *context, RfSpikeFree *spike, const Spike *work) {
  rf_index d = work->d;
  double *u = RF_NEW(double, d), found = 0;
  spike->witness = RF_NEW(double, d);
  if (!u || !spike->witness) {
    rf_free(u);
    return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  }
  RfRandom random;
  rf_random_init(&random, 0x5b1ce, 0);
  for (rf_index k = 0; k < 200; k++) {
    rf_random_direction(&random, u, d);
    if (k < 100 && k / 2 < work->rows)
      for (rf_index j = 0; j < d; j++) u[j] = (k % 2 ? -1 : 1) * work->X[k / 2 * d + j];
    keep_better(spike->witness, &found, work, u);
  }
  for (rf_index i = 0; i < work->rows && found < 1e-6; i++) {
    const double *x = work->X + i * d;
    if (fabs(work->dependency[i]) < 1e-9) continue;
    for (int side = -1; side <= 1; side++) {
      rf_random_direction(&random, u, d);
      rf_la_axpy(u, -rf_la_dot(u, x, d) + 1e-3 * side, x, d);
      keep_better(spike->witness, &found, work, u);
    }
  }
  rf_free(u);
  spike->holds = found > 1e-10 ? RF_NO : RF_UNKNOWN;
  spike->number = found > 1e-10 ? INFINITY : NAN;
  if (spike->holds == RF_UNKNOWN) {
    rf_free(spike->witness);
    spike->witness = NULL;
  }
  return RF_OK;
}

/* ---- independent rows --------------------------------------------------------------------------- */

static RfStatus take_witness(RfContext *context, RfSpikeFree *spike, const Spike *work, const double *v) {
  if (!spike->witness) spike->witness = RF_NEW(double, work->d);
  if (!spike->witness) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  rf_la_combine(spike->witness, work->inverse, v, work->rows, work->d, work->d);
  rf_la_scale(spike->witness, 1 / rf_la_norm(spike->witness, work->d), work->d);
  return RF_OK;
}

/* The entry M_ij > 0 that breaks the property most, as M_ij^2/(M_ii M_jj). */
static RfStatus test_signs(RfContext *context, RfSpikeFree *spike, const Spike *work) {
  rf_index n = work->rows, row = -1, column = -1;
  double largest = fmax(context->tol.zero, 16 * DBL_EPSILON * work->condition);
  for (rf_index i = 0; i < n; i++)
    for (rf_index j = 0; j < n; j++) {
      double cosine = work->M[i * n + j] / sqrt(work->M[i * n + i] * work->M[j * n + j]);
      if (i == j || !(cosine > largest)) continue;
      largest = cosine;
      row = i;
      column = j;
    }
  spike->holds = row < 0 ? RF_YES : RF_NO;
  spike->number = row < 0 ? 1 : NAN;
  if (row < 0) return RF_OK;
  double *v = RF_NEW(double, n);
  if (!v) return rf_fail(context, RF_ERR_MEMORY, "out of memory for a witness");
  v[row] = 1;
  v[column] = -work->M[row * n + column] / work->M[column * n + column];
  RfStatus status = take_witness(context, spike, work, v);
  rf_free(v);
  return status;
}

typedef struct Face {
  rf_index *S, *T;
  rf_index s, t;
  double *A, *L, *B, *values; /* n x n each; n */
  double *v;                  /* n */
} Face;

/* B = rows of T: M_TT^-1 M_TS, by Cholesky. */
static RfStatus best_negative_part(RfContext *context, Face *face, const Spike *work) {
  rf_index n = work->rows, s = face->s, t = face->t;
  for (rf_index a = 0; a < t; a++)
    for (rf_index b = 0; b < t; b++) face->L[a * t + b] = work->M[face->T[a] * n + face->T[b]];
  RfStatus status = rf_la_cholesky(context, face->L, t);
  for (rf_index b = 0; b < s && !status; b++) {
    for (rf_index a = 0; a < t; a++) face->values[a] = work->M[face->T[a] * n + face->S[b]];
    rf_la_cholesky_solve(face->L, face->values, t);
    for (rf_index a = 0; a < t; a++) face->B[a * s + b] = face->values[a];
  }
  return status;
}

/* The largest ratio^2 inside the face, with its v in face->v; 0 when the top eigenvector is not inside. With
 * M_SS = L L', ratio^2 = 1/(1 - q), q the top eigenvalue of L^-1 M_ST B L^-T. */
static RfStatus face_maximum(RfContext *context, double *ratio2, Face *face, const Spike *work) {
  rf_index n = work->rows, s = face->s, t = face->t;
  *ratio2 = 0;
  RfStatus status = best_negative_part(context, face, work);
  for (rf_index a = 0; a < s; a++)
    for (rf_index b = 0; b < s; b++) {
      double sum = 0;
      for (rf_index k = 0; k < t; k++) sum += work->M[face->S[a] * n + face->T[k]] * face->B[k * s + b];
      face->A[a * s + b] = sum;
      face->L[a * s + b] = work->M[face->S[a] * n + face->S[b]];
    }
  if (!status) status = rf_la_cholesky(context, face->L, s);
  if (status) return status;
  for (int side = 0; side < 2; side++) /* columns, then rows: A <- L^-1 A, twice with a transposition */
    for (rf_index b = 0; b < s; b++)
      for (rf_index a = 0; a < s; a++) {
        double *entry = side ? &face->A[b * s + a] : &face->A[a * s + b];
        for (rf_index k = 0; k < a; k++)
          *entry -= face->L[a * s + k] * (side ? face->A[b * s + k] : face->A[k * s + b]);
        *entry /= face->L[a * s + a];
      }
  status = rf_la_symmetric_eigen(context, face->values, face->A, s);
  if (status) return status;
  double top = face->values[s - 1], *x = face->A + (s - 1) * s, sign = 0;
  for (rf_index a = s - 1; a >= 0; a--) { /* v_S = L^-T x */
    for (rf_index k = a + 1; k < s; k++) x[a] -= face->L[k * s + a] * x[k];
    x[a] /= face->L[a * s + a];
  }
  memset(face->v, 0, (size_t)n * sizeof(double));
  for (rf_index a = 0; a < s; a++) sign += x[a];
  for (rf_index a = 0; a < s; a++) {
    face->v[face->S[a]] = x[a] * (sign < 0 ? -1 : 1);
    if (!(face->v[face->S[a]] > 0)) return RF_OK;
  }
  for (rf_index a = 0; a < t; a++) {
    double value = 0;
    for (rf_index b = 0; b < s; b++) value += face->B[a * s + b] * face->v[face->S[b]];
    if (!(value > 0)) return RF_OK;
    face->v[face->T[a]] = -value;
  }
  *ratio2 = top < 1 ? 1 / (1 - top) : INFINITY;
  return RF_OK;
}

static RfStatus all_faces(RfContext *context, RfSpikeFree *spike, const Spike *work, Face *face) {
  rf_index n = work->rows, total = 1;
  double best = 1;
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < n; k++) total *= 3;
  for (rf_index code = 0; code < total && !status; code++) {
    rf_index digits = code;
    face->s = face->t = 0;
    for (rf_index i = 0; i < n; i++, digits /= 3) {
      if (digits % 3 == 1) face->S[face->s++] = i;
      if (digits % 3 == 2) face->T[face->t++] = i;
    }
    if (face->s == 0 || face->t == 0) continue;
    if (rf_context_stop(context)) return RF_INTERRUPTED;
    double ratio2;
    status = face_maximum(context, &ratio2, face, work);
    if (status || ratio2 <= best) continue;
    best = ratio2;
    status = take_witness(context, spike, work, face->v);
  }
  if (!status) spike->number = sqrt(best);
  return status;
}

static RfStatus spike_number(RfContext *context, RfSpikeFree *spike, const Spike *work) {
  rf_index n = work->rows;
  Face face = {.S = RF_NEW(rf_index, n),
               .T = RF_NEW(rf_index, n),
               .A = RF_NEW(double, n *n),
               .L = RF_NEW(double, n *n),
               .B = RF_NEW(double, n *n),
               .values = RF_NEW(double, n),
               .v = RF_NEW(double, n)};
  RfStatus status = RF_OK;
  if (!face.S || !face.T || !face.A || !face.L || !face.B || !face.values || !face.v)
    status = rf_fail(context, RF_ERR_MEMORY, "out of memory for the spike number");
  else
    status = all_faces(context, spike, work, &face);
  rf_free(face.S);
  rf_free(face.T);
  rf_free(face.A);
  rf_free(face.L);
  rf_free(face.B);
  rf_free(face.values);
  rf_free(face.v);
  return status;
}

/* The test on the first rows only: dependent ones among them settle it for all. */
static RfStatus test_rows(RfContext *context, RfSpikeFree *spike, const double *X, rf_index n, rf_index d,
                          rf_index max_rows, bool all) {
  Spike work = {0};
  RfStatus status = distinct_rows(context, &work, X, n, d);
  if (!status) status = invert(context, &work);
  if (status) goto done;
  if (!work.independent) {
    status = find_dependency(context, &work);
    if (!status) status = break_dependency(context, spike, &work);
  } else if (all) {
    status = test_signs(context, spike, &work);
    if (!status && spike->holds == RF_NO && work.rows <= max_rows)
      status = spike_number(context, spike, &work);
  }
done:
  spike_work_free(&work);
  return status;
}

RfStatus rf_geometry_spike_free(RfContext *context, RfSpikeFree *spike, const double *X, rf_index n,
                                rf_index d, rf_index max_rows) {
  *spike = (RfSpikeFree){.holds = RF_UNKNOWN, .number = NAN};
  RfStatus status = RF_OK;
  for (rf_index rows = d + 1; rows < n && !status && spike->holds == RF_UNKNOWN; rows *= 2)
    status = test_rows(context, spike, X, rows, d, 0, false);
  if (!status && spike->holds == RF_UNKNOWN)
    status = test_rows(context, spike, X, n, d, max_rows > 0 ? max_rows : 8, true);
  if (status < 0) rf_spike_free_free(spike);
  return status;
}
