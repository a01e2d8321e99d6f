/* Lyu, Li, Wang, Arora: statements about any point theta, at random points. LLWA-04 (App. C, merging), 05
 * (Sec. 5.1), 06 and 07 (Lemmas B.10-B.14), 08 (homogeneity), 19 (Lemmas E.10, E.11), 20 (Lemma F.1). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "llwa/llwa.h"
#include "reluflow/certify.h"
#include "geometry/geometry.h"
#include "la/la.h"
#include "reluflow/train.h"

enum { most = 50, rows = RF_LLWA_ROWS }; /* neurons and samples of the points below */

typedef struct Point {
  double W[most * RF_LLWA_D], a[most];
} Point;

static RfNet at(Point *point, rf_index m, const RfLlwaSet *set) {
  return (RfNet){.m = m, .d = set->d, .W = point->W, .a = point->a, .leak = set->leak};
}

/* 10^uniform(low, high). */
static double magnitude(RfRandom *random, double low, double high) {
  return pow(10, low + (high - low) * rf_random_uniform(random));
}

/* ---- LLWA-04: App. C, two neurons do as well as many on symmetric data ------------------------------- */

/* f'(x) = (f(x) - f(-x))/2 = (1+leak)/2 <u,x>, u = sum a_k w_k: two neurons +-u of mass |u|/2 each. */
static void merge(RfNet *two, const RfNet *net) {
  double u[RF_LLWA_D] = {0}, size;
  for (rf_index k = 0; k < net->m; k++) rf_la_axpy(u, net->a[k], net->W + k * net->d, net->d);
  size = sqrt(rf_la_norm(u, net->d) / 2);
  for (rf_index j = 0; j < net->d; j++)
    two->W[j] = u[j] / (2 * size), two->W[net->d + j] = -u[j] / (2 * size);
  two->a[0] = size, two->a[1] = -size;
}

static rf_index mirror(const RfLlwaSet *set, rf_index i) {
  for (rf_index j = 0; j < set->n; j++) {
    double sum[RF_LLWA_D];
    for (rf_index c = 0; c < set->d; c++) sum[c] = set->X[i * set->d + c] + set->X[j * set->d + c];
    if (rf_la_norm(sum, set->d) < 1e-12) return j;
  }
  return i;
}

static RfStatus merging(RfClaimRun *run, const char *spec, RfRandom *random, rf_index draws, double *tight) {
  const double leaks[] = {0.1, 0.5, 0.9};
  RfLlwaSet set;
  RfStatus status = rf_llwa_load(run, &set, spec, 0.5, 1);
  if (status) return status;
  double mirror_error = 0, shrink = 0, gain = INFINITY;
  for (rf_index draw = 0; draw < draws; draw++) {
    Point one, other;
    double q[rows], least = INFINITY, after = INFINITY, scale = 0;
    set.leak = leaks[draw % 3];
    RfNet net = at(&one, 1 + draw % 8, &set), two = at(&other, 2, &set);
    rf_llwa_correct(&net, random, &set);
    merge(&two, &net);
    for (rf_index i = 0; i < set.n; i++) {
      q[i] = set.y[i] * rf_llwa_output(&net, set.X + i * set.d);
      least = fmin(least, q[i]), scale = fmax(scale, q[i]);
    }
    for (rf_index i = 0; i < set.n; i++) {
      double merged = set.y[i] * rf_llwa_output(&two, set.X + i * set.d);
      mirror_error = fmax(mirror_error, fabs(merged - 0.5 * (q[i] + q[mirror(&set, i)])) / scale);
      after = fmin(after, merged);
    }
    shrink = fmax(shrink, rf_net_norm2(&two) / rf_net_norm2(&net));
    gain = fmin(gain, after / rf_net_norm2(&two) / (least / rf_net_norm2(&net)));
  }
  rf_claim_at_most(run, "merged margins against the means of mirrored ones", mirror_error, 0, 1e-10);
  rf_claim_at_most(run, "|theta'|^2/|theta|^2", shrink, 1, 1e-9);
  rf_claim_at_least(run, "normalised margin after over before", gain, 1, 1e-9);
  *tight = fmin(*tight, gain);
  rf_llwa_free(&set);
  return RF_OK;
}

RfStatus rf_llwa_04(RfClaimRun *run) {
  RfRandom random = rf_claim_random(run, 0);
  rf_index draws = rf_claim_repetitions(run, 10000);
  double tight = INFINITY;
  RfStatus status = merging(run, "DS-SYM6", &random, draws, &tight);
  if (!status) status = merging(run, "DS-SYM(4,3,0.2,0)", &random, draws, &tight);
  rf_claim_note(
      run, "%lld networks each on DS-SYM6 and DS-SYM(4,3,0.2); the margin grew at least by the factor %.6f",
      (long long)draws, tight);
  return status;
}

/* ---- LLWA-05: Sec. 5.1, G is linear on symmetric data -------------------------------------------------- */

/* Eigenvalues of [[0,mut],[mut^T,0]]: -|mut|, 0, ..., 0, |mut|, the last with vector (mubar,1)/sqrt 2. */
static RfStatus judge_matrix(RfClaimRun *run, const RfLlwaSet *set, double factor) {
  rf_index p = set->d + 1;
  double A[(RF_LLWA_D + 1) * (RF_LLWA_D + 1)] = {0}, values[RF_LLWA_D + 1];
  for (rf_index j = 0; j < set->d; j++) A[j * p + set->d] = A[set->d * p + j] = factor * set->mu[j];
  RfStatus status = rf_la_symmetric_eigen(run->context, values, A, p);
  if (status) return status;
  double size = factor * set->length, sign = A[(p - 1) * p + set->d] < 0 ? -1 : 1;
  rf_claim_relative(run, "largest eigenvalue", values[p - 1], set->rate, 1e-10);
  rf_claim_close(run, "smallest eigenvalue over the largest", values[0] / size, -1, 1e-10);
  for (rf_index j = 1; j + 1 < p; j++) rf_claim_close(run, "middle eigenvalues", values[j] / size, 0, 1e-10);
  for (rf_index j = 0; j < p; j++)
    rf_claim_close(run, "top eigenvector", sign * A[(p - 1) * p + j],
                   (j < set->d ? set->mubar[j] : 1) / sqrt(2), 1e-10);
  return RF_OK;
}

RfStatus rf_llwa_05(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SYM(4,3,0.2,0)", "DS-SYM(3,5,0.3,1)"};
  const double leaks[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};
  double ratio_low = INFINITY, ratio_high = -INFINITY;
  RfStatus status = RF_OK;
  for (int s = 0; s < 3 && !status; s++)
    for (int l = 0; l < 7 && !status; l++) {
      RfLlwaSet set;
      RfRandom random = rf_claim_random(run, 10 * (uint64_t)s + (uint64_t)l);
      status = rf_llwa_load(run, &set, specs[s], leaks[l], 1);
      if (status) break;
      double worst = 0;
      for (rf_index draw = 0; draw < rf_claim_repetitions(run, 1000); draw++) {
        double w[RF_LLWA_D], scale;
        for (rf_index j = 0; j < set.d; j++) w[j] = rf_random_gaussian(&random);
        double G = rf_geometry_potential(w, set.X, set.y, set.n, set.d, set.leak, 0.5) / (double)set.n;
        double along = rf_la_dot(w, set.mu, set.d);
        scale = set.rate * rf_la_norm(w, set.d);
        worst = fmax(worst, fabs(G - (1 + set.leak) / 4 * along) / scale);
        if (fabs(along) < 0.1 * set.length) continue;
        ratio_low = fmin(ratio_low, G / ((1 + set.leak) / 2 * along));
        ratio_high = fmax(ratio_high, G / ((1 + set.leak) / 2 * along));
      }
      rf_claim_at_most(run, "G(w) against <w,(1+leak)/4 mu>", worst, 0, 1e-10);
      status = judge_matrix(run, &set, (1 + set.leak) / 4);
      rf_llwa_free(&set);
    }
  rf_claim_misprint(run, "MP-LLWA-02", "G(w)/<w,mu> over 1+leak", 0.5, 0.25, ratio_low / 2,
                    fabs(ratio_high - 1) < 1e-10 && fabs(ratio_low - 1) < 1e-10);
  if (!status) {
    RfLlwaSet set;
    status = rf_llwa_load(run, &set, "DS-SYM6", 0.5, 1);
    if (status) return status;
    double along = rf_la_dot(set.mu, set.wstar, set.d);
    rf_claim_at_least(run, "<mu,wstar> against gstar", along, set.gstar, 1e-12);
    rf_claim_misprint(run, "MP-LLWA-15", "least value of <mu,wstar>, DS-SYM6", 1, set.gstar, along,
                      along >= 1);
    rf_llwa_free(&set);
  }
  rf_claim_note(run, "G over the printed (1+leak)/2 <w,mu>: %.6f to %.6f", ratio_low, ratio_high);
  return status;
}

/* ---- LLWA-06: Lemmas B.10-B.13 ------------------------------------------------------------- */

/* Gradient of Ltilde = l(0) - sum_k a_k G(w_k): every sample keeps the weight 1/2. */
static void linearised_gradient(RfNet *gradient, const RfNet *net, const RfLlwaSet *set) {
  memset(gradient->W, 0, (size_t)(net->m * net->d) * sizeof(double));
  memset(gradient->a, 0, (size_t)net->m * sizeof(double));
  for (rf_index k = 0; k < net->m; k++)
    for (rf_index i = 0; i < set->n; i++) {
      const double *x = set->X + i * set->d;
      double z = rf_la_dot(net->W + k * net->d, x, net->d), weight = -set->y[i] / (2 * (double)set->n);
      gradient->a[k] += weight * rf_llwa_phi(z, net->leak);
      rf_la_axpy(gradient->W + k * net->d, weight * net->a[k] * (z > 0 ? 1 : net->leak), x, net->d);
    }
}

typedef struct Ratios {
  double output, difference, weights, outer, total;
} Ratios;

static void bound_ratios(Ratios *r, const RfLlwaSet *set, RfRandom *random, rf_index m) {
  Point points[4];
  RfNet net = at(&points[0], m, set), next = at(&points[1], m, set), G = at(&points[2], m, set),
        H = at(&points[3], m, set);
  double q[rows], width = (double)m;
  rf_llwa_gaussian(&net, random, magnitude(random, -2, 1));
  rf_llwa_gaussian(&next, random, magnitude(random, -2, 1));
  if (rf_random_below(random, 2)) { /* a neighbour instead of a stranger */
    rf_la_scale(next.W, 0.01, m * set->d), rf_la_axpy(next.W, 1, net.W, m * set->d);
    rf_la_scale(next.a, 0.01, m), rf_la_axpy(next.a, 1, net.a, m);
  }
  double size = rf_llwa_size(&net), other = rf_llwa_size(&next), apart = rf_llwa_distance(&net, &next);
  for (rf_index i = 0; i < set->n; i++) {
    double f = rf_llwa_output(&net, set->X + i * set->d), g = rf_llwa_output(&next, set->X + i * set->d);
    r->output = fmax(r->output, fabs(f) / (width * size * size));
    r->difference = fmax(r->difference, fabs(f - g) / (width * apart * (size + other)));
  }
  rf_llwa_gradient(&G, q, &net, set);
  linearised_gradient(&H, &net, set);
  r->total = fmax(r->total, rf_llwa_distance(&G, &H) / (width * pow(size, 3)));
  for (rf_index k = 0; k < m; k++) {
    double w[RF_LLWA_D];
    for (rf_index j = 0; j < set->d; j++) w[j] = G.W[k * set->d + j] - H.W[k * set->d + j];
    r->weights = fmax(r->weights, rf_la_norm(w, set->d) / (width * size * size * fabs(net.a[k])));
    r->outer = fmax(r->outer,
                    fabs(G.a[k] - H.a[k]) / (width * size * size * rf_la_norm(net.W + k * set->d, set->d)));
  }
}

RfStatus rf_llwa_06(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SEP(20,5,0)"};
  const rf_index widths[] = {1, 5, 50};
  const double leaks[] = {0.1, 0.5, 0.9};
  Ratios r = {0};
  RfRandom random = rf_claim_random(run, 0);
  for (int s = 0; s < 2; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, specs[s], 0.5, s ? 0 : 1);
    if (status) return status;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 1000); draw++)
      for (int k = 0; k < 3; k++) {
        set.leak = leaks[draw % 3];
        bound_ratios(&r, &set, &random, widths[k]);
      }
    rf_llwa_free(&set);
  }
  rf_claim_at_most(run, "|f| over m|theta|_M^2", r.output, 1, 1e-9);
  rf_claim_at_most(run, "|f-f'| over its bound", r.difference, 1, 1e-9);
  rf_claim_at_most(run, "gradient in w_k of L - Ltilde over its bound", r.weights, 1, 1e-9);
  rf_claim_at_most(run, "gradient in a_k of L - Ltilde over its bound", r.outer, 1, 1e-9);
  rf_claim_at_most(run, "gradient of L - Ltilde over m|theta|_M^3", r.total, 1, 1e-9);
  rf_claim_note(run, "largest ratios to the bounds: %.3f, %.3f, %.3f, %.3f, %.3f", r.output, r.difference,
                r.weights, r.outer, r.total);
  return RF_OK;
}

/* ---- LLWA-07: Lemma B.14 ------------------------------------------------------------------- */

/* The gradient in W by the layered networks' own code, against -(a_k/2n) sum (1+eps_i) h_i z_i. */
static RfStatus weight_deviation(RfClaimRun *run, double *largest, double *error, const RfNet *net,
                                 const RfLlwaSet *set) {
  RfLayeredNet layered = {0};
  double gradient[most * (RF_LLWA_D + 1)], weights[rows], f[rows];
  RfStatus status = rf_train_from_net(run->context, &layered, net);
  if (!status) status = rf_layers_evaluate(run->context, f, NULL, &layered, set->X, set->n);
  for (rf_index i = 0; i < set->n && !status; i++)
    weights[i] = -set->y[i] / (1 + exp(set->y[i] * f[i])) / (double)set->n;
  if (!status) status = rf_layers_gradient(run->context, gradient, NULL, &layered, set->X, weights, set->n);
  for (rf_index k = 0; k < net->m && !status; k++) {
    double g[RF_LLWA_D] = {0}, away[RF_LLWA_D];
    for (rf_index i = 0; i < set->n; i++) {
      const double *x = set->X + i * set->d;
      double eps = -tanh(set->y[i] * f[i] / 2); /* 2/(1+e^q) = 1 + eps */
      *largest = fmax(*largest, fabs(eps));
      rf_la_axpy(g,
                 -net->a[k] / (2 * (double)set->n) * (1 + eps) * set->y[i] *
                     (rf_la_dot(net->W + k * net->d, x, net->d) > 0 ? 1 : net->leak),
                 x, set->d);
    }
    for (rf_index j = 0; j < set->d; j++) away[j] = g[j] - gradient[k * set->d + j];
    *error = fmax(*error, rf_la_norm(away, set->d) / fabs(net->a[k]));
  }
  rf_layers_free(&layered);
  return status;
}

RfStatus rf_llwa_07(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SEP(20,5,0)"};
  const double sizes[] = {0.1, 0.01};
  RfRandom random = rf_claim_random(run, 0);
  double tight = 0, printed = 0, error = 0;
  RfStatus status = RF_OK;
  for (int s = 0; s < 2 && !status; s++) {
    RfLlwaSet set;
    status = rf_llwa_load(run, &set, specs[s], 0.5, s ? 0 : 1);
    if (status) break;
    for (rf_index draw = 0; draw < rf_claim_repetitions(run, 500) && !status; draw++)
      for (int e = 0; e < 2 && !status; e++) {
        Point point;
        rf_index m = 1 + draw % 10;
        RfNet net = at(&point, m, &set);
        double largest = 0, beyond = 0;
        rf_llwa_gaussian(&net, &random, 1);
        if (draw % 2) /* the way to the largest output: all neurons along one sample */
          for (rf_index k = 0; k < m; k++)
            memcpy(net.W + k * set.d, set.X, (size_t)set.d * sizeof(double)), net.a[k] = 1;
        rf_llwa_copy(&net, &net, sqrt(sizes[e] / (2 * (double)m)) / rf_llwa_size(&net));
        status = weight_deviation(run, &largest, &error, &net, &set);
        rf_llwa_copy(&net, &net, sqrt(2)); /* the printed threshold of the proof of G.4: sqrt(eps/m) */
        if (!status) status = weight_deviation(run, &beyond, &error, &net, &set);
        tight = fmax(tight, largest / sizes[e]), printed = fmax(printed, beyond / sizes[e]);
      }
    rf_llwa_free(&set);
  }
  rf_claim_at_most(run, "|eps_i|/eps at |theta|_M = sqrt(eps/2m)", tight, 1, 1e-9);
  rf_claim_at_most(run, "gradient against (1+eps_i) weights", error, 0, 1e-12);
  rf_claim_note(run, "largest |eps_i|/eps %.4f; at sqrt(eps/m), as used in the proof of Lemma G.4, %.4f",
                tight, printed);
  return status;
}

/* ---- LLWA-20: Lemma F.1 -------------------------------------------------------------------- */

/* The slopes of phi at z: one, or three of the interval [leak,1] on a kink. */
static int slopes(double *h, double z, double size, double leak) {
  if (fabs(z) > 1e-12 * size) {
    h[0] = z > 0 ? 1 : leak;
    return 1;
  }
  h[0] = leak, h[1] = (1 + leak) / 2, h[2] = 1;
  return 3;
}

/* u moves onto the hyperplane of sample i. */
static void onto(double *u, const double *x, rf_index d) {
  rf_la_axpy(u, -rf_la_dot(u, x, d) / rf_la_dot(x, x, d), x, d);
}

static double least_swapped(const double *u1, const double *u2, const RfLlwaSet *set, rf_index *kinks) {
  double least = INFINITY, size = rf_la_norm(u1, set->d) + rf_la_norm(u2, set->d);
  for (rf_index i = 0; i < set->n; i++) {
    const double *x = set->X + i * set->d;
    double z1 = rf_la_dot(u1, x, set->d), z2 = rf_la_dot(u2, x, set->d), h1[3], h2[3];
    int c1 = slopes(h1, z1, size, set->leak), c2 = slopes(h2, -z2, size, set->leak);
    *kinks += c1 * c2 > 1;
    for (int p = 0; p < c1; p++)
      for (int r = 0; r < c2; r++) least = fmin(least, set->y[i] * (h1[p] * z2 + h2[r] * z1));
  }
  return least;
}

RfStatus rf_llwa_20(RfClaimRun *run) {
  const char *specs[] = {"DS-SYM6", "DS-SYM(4,3,0.2,0)", "DS-SYM(3,2,0.3,1)"};
  const double leaks[] = {0.1, 0.5, 0.9};
  RfRandom random = rf_claim_random(run, 0);
  double worst = INFINITY;
  rf_index kinks = 0, used = 0, draws = rf_claim_repetitions(run, 20000);
  for (int s = 0; s < 3; s++) {
    RfLlwaSet set;
    RfStatus status = rf_llwa_load(run, &set, specs[s], 0.5, 1);
    if (status) return status;
    for (rf_index draw = 0; draw < draws; draw++) {
      double u1[RF_LLWA_D], u2[RF_LLWA_D], least = INFINITY;
      set.leak = leaks[draw % 3];
      for (rf_index j = 0; j < set.d; j++)
        u1[j] = rf_random_gaussian(&random), u2[j] = rf_random_gaussian(&random);
      rf_la_axpy(u1, 1, set.wstar, set.d), rf_la_axpy(u2, 1, set.wstar, set.d);
      if (draw % 4 == 1) onto(u1, set.X + rf_random_below(&random, set.n) * set.d, set.d);
      if (draw % 4 == 2) onto(u2, set.X + rf_random_below(&random, set.n) * set.d, set.d);
      for (rf_index i = 0; i < set.n; i++)
        least = fmin(least, set.y[i] * (rf_llwa_phi(rf_la_dot(u1, set.X + i * set.d, set.d), set.leak) -
                                        rf_llwa_phi(-rf_la_dot(u2, set.X + i * set.d, set.d), set.leak)));
      if (!(least > 1e-9)) continue;
      rf_la_scale(u1, 1 / least, set.d), rf_la_scale(u2, 1 / least, set.d);
      worst = fmin(worst, least_swapped(u1, u2, &set, &kinks));
      used++;
    }
    rf_llwa_free(&set);
  }
  rf_claim_at_least(run, "smallest y_i(h1 <u2,x_i> + h2 <u1,x_i>)", worst, 1, 1e-9);
  rf_claim_true(run, "kinks occurred", kinks > 0);
  rf_claim_note(run, "%lld pairs (u1,u2), %lld kinks", (long long)used, (long long)kinks);
  return RF_OK;
}
