/* Gradient flow of layered networks, plainly: weights as they are, every kink rounded off over a width, and
 * implicit steps that need no events. It shares no code with src/flow and src/layers, whose networks it reads
 * as lists of numbers, and is carried to margin 400 or to where the loss no longer falls.
 *
 * phi(z) = leak z + (1 - leak) z/(1 + exp(-z/e)), so that a unit driven to its kink from both sides stays
 * within some e of it, with a slope in between, and one without input puts out nothing. Its slopes leave
 * [leak, 1] by a tenth near the kink and may turn a unit back that the flow lets cross (4101/9: leak 0.1, and
 * 0.05 turns it); `monotone`: e ln((1 + exp(z/e))/2) in place of z/(1 + exp(-z/e)) does not, but units far
 * below their kinks put out a constant. Steps: the linearly implicit Euler method with the exact
 * matrix, 1 to 4 steps for one, extrapolated. The clock is that of the summed |loss'|. */
#ifndef RF_TEST_LAYERED_PLAIN_H
#define RF_TEST_LAYERED_PLAIN_H

#include "layered_families.h"

enum { PLAIN_MOST = 64, PLAIN_WIDE = 4, PLAIN_DEEP = 4, PLAIN_STEPS = 8000 };

typedef enum PlainEnd { PLAIN_REACHED, PLAIN_PLATEAU, PLAIN_LOST } PlainEnd;

typedef struct Plain {
  const LayeredProblem *problem;
  int n, d, depth, count;
  int inputs[PLAIN_DEEP], outputs[PLAIN_DEEP];
  int place[PLAIN_DEEP][PLAIN_WIDE][PLAIN_WIDE]; /* of an entry in theta, -1: none */
  double width[PLAIN_DEEP];                      /* over which kinks are rounded off */
  bool monotone;                                 /* with slopes between leak and 1 */
  double theta[PLAIN_MOST];
  double q[LAYERED_SAMPLES], p[LAYERED_SAMPLES], bend[LAYERED_SAMPLES];
  double log_S, log_loss, log_t, q_least;
  double level, left; /* ln t at which ln L fell below the level, infinite before */
  long steps;
} Plain;

/* One sample: inputs of layers, slopes, their derivatives, and what comes back. */
typedef struct PlainPass {
  double a[PLAIN_DEEP + 1][PLAIN_WIDE], slope[PLAIN_DEEP][PLAIN_WIDE], turn[PLAIN_DEEP][PLAIN_WIDE];
  double back[PLAIN_DEEP][PLAIN_WIDE], sum[PLAIN_DEEP][PLAIN_WIDE], f;
} PlainPass;

static inline double plain_entry(const Plain *s, const double *theta, int l, int r, int c) {
  return s->place[l][r][c] < 0 ? 0 : theta[s->place[l][r][c]];
}

static inline double plain_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static inline void plain_pass(const Plain *s, const double *theta, int i, PlainPass *pass) {
  double leak = s->problem->leak;
  memset(pass, 0, sizeof *pass);
  for (int j = 0; j < s->d; j++) pass->a[0][j] = s->problem->X[i * s->d + j];
  for (int l = 0; l < s->depth; l++)
    for (int r = 0; r < s->outputs[l]; r++) {
      double z = 0;
      for (int c = 0; c < s->inputs[l]; c++) z += plain_entry(s, theta, l, r, c) * pass->a[l][c];
      if (l + 1 == s->depth) {
        pass->f = z;
        break;
      }
      double u = z / s->width[l], part = u > 0 ? 1 / (1 + exp(-u)) : exp(u) / (1 + exp(u));
      double steep = part * (1 - part);
      double soft = s->width[l] * (plain_softplus(u) - log(2));
      pass->a[l + 1][r] = leak * z + (1 - leak) * (s->monotone ? soft : z * part);
      pass->slope[l][r] = leak + (1 - leak) * (part + (s->monotone ? 0 : u * steep));
      pass->turn[l][r] = (1 - leak) * steep * (s->monotone ? 1 : 2 + u * (1 - 2 * part)) / s->width[l];
    }
  pass->back[s->depth - 1][0] = 1;
  for (int l = s->depth - 1; l > 0; l--)
    for (int c = 0; c < s->inputs[l]; c++) {
      for (int r = 0; r < s->outputs[l]; r++)
        pass->sum[l - 1][c] += plain_entry(s, theta, l, r, c) * pass->back[l][r];
      pass->back[l - 1][c] = pass->slope[l - 1][c] * pass->sum[l - 1][c];
    }
}

static inline void plain_gradient(const Plain *s, const PlainPass *pass, double *g) {
  memset(g, 0, PLAIN_MOST * sizeof *g);
  for (int l = 0; l < s->depth; l++)
    for (int r = 0; r < s->outputs[l]; r++)
      for (int c = 0; c < s->inputs[l]; c++)
        if (s->place[l][r][c] >= 0) g[s->place[l][r][c]] += pass->back[l][r] * pass->a[l][c];
}

/* row += factor times the derivative of the gradient along weight j. */
static inline void plain_second(const Plain *s, const double *theta, const PlainPass *pass, int j,
                                double factor, double *row) {
  double da[PLAIN_DEEP + 1][PLAIN_WIDE] = {{0}}, dslope[PLAIN_DEEP][PLAIN_WIDE] = {{0}};
  double dback[PLAIN_DEEP][PLAIN_WIDE] = {{0}};
  for (int l = 0; l + 1 < s->depth; l++)
    for (int r = 0; r < s->outputs[l]; r++) {
      double dz = 0;
      for (int c = 0; c < s->inputs[l]; c++)
        dz += (s->place[l][r][c] == j ? pass->a[l][c] : 0) + plain_entry(s, theta, l, r, c) * da[l][c];
      da[l + 1][r] = pass->slope[l][r] * dz;
      dslope[l][r] = pass->turn[l][r] * dz;
    }
  for (int l = s->depth - 1; l > 0; l--)
    for (int c = 0; c < s->inputs[l]; c++) {
      double sum = 0;
      for (int r = 0; r < s->outputs[l]; r++)
        sum += (s->place[l][r][c] == j ? pass->back[l][r] : 0) + plain_entry(s, theta, l, r, c) * dback[l][r];
      dback[l - 1][c] = dslope[l - 1][c] * pass->sum[l - 1][c] + pass->slope[l - 1][c] * sum;
    }
  for (int l = 0; l < s->depth; l++)
    for (int r = 0; r < s->outputs[l]; r++)
      for (int c = 0; c < s->inputs[l]; c++)
        if (s->place[l][r][c] >= 0)
          row[s->place[l][r][c]] += factor * (dback[l][r] * pass->a[l][c] + pass->back[l][r] * da[l][c]);
}

/* Margins into weights p, ln S and ln L. */
static inline void plain_weights(Plain *s) {
  bool logistic = s->problem->loss == RF_LOSS_LOGISTIC;
  double top = -INFINITY, high = -INFINITY, sum = 0, loss = 0, slope[LAYERED_SAMPLES], value[LAYERED_SAMPLES];
  s->q_least = INFINITY;
  for (int i = 0; i < s->n; i++) {
    slope[i] = logistic ? -plain_softplus(s->q[i]) : -s->q[i];
    value[i] = !logistic ? -s->q[i] : s->q[i] > 30 ? -s->q[i] : log(plain_softplus(-s->q[i]));
    s->bend[i] = logistic ? 1 / (1 + exp(-s->q[i])) : 1;
    top = fmax(top, slope[i]), high = fmax(high, value[i]);
    s->q_least = fmin(s->q_least, s->q[i]);
  }
  for (int i = 0; i < s->n; i++) sum += s->p[i] = exp(slope[i] - top), loss += exp(value[i] - high);
  for (int i = 0; i < s->n; i++) s->p[i] /= sum;
  s->log_S = top + log(sum), s->log_loss = high + log(loss);
}

/* v = sum p y grad f at theta, and its matrix of derivatives (count x count) where asked for. */
static inline void plain_velocity(Plain *s, const double *theta, double *v, double *J) {
  static PlainPass pass[LAYERED_SAMPLES];
  static double g[LAYERED_SAMPLES][PLAIN_MOST], mean[PLAIN_MOST];
  int P = s->count;
  for (int i = 0; i < s->n; i++) {
    plain_pass(s, theta, i, &pass[i]);
    plain_gradient(s, &pass[i], g[i]);
    s->q[i] = s->problem->y[i] * pass[i].f;
  }
  plain_weights(s);
  memset(v, 0, PLAIN_MOST * sizeof *v);
  memset(mean, 0, sizeof mean);
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < P; k++) {
      v[k] += s->p[i] * s->problem->y[i] * g[i][k];
      mean[k] += s->p[i] * s->bend[i] * s->problem->y[i] * g[i][k];
    }
  for (int j = 0; j < P && J; j++) {
    double column[PLAIN_MOST] = {0};
    for (int i = 0; i < s->n; i++) {
      double y = s->problem->y[i], change = s->p[i] * (mean[j] - s->bend[i] * y * g[i][j]);
      plain_second(s, theta, &pass[i], j, s->p[i] * y, column);
      for (int k = 0; k < P; k++) column[k] += change * y * g[i][k];
    }
    for (int k = 0; k < P; k++) J[k * P + j] = column[k];
  }
}

/* A x = b by elimination with pivots, A and b overwritten; many right sides one after the other. */
static inline bool plain_factor(double *A, int *pivot, int P) {
  for (int k = 0; k < P; k++) {
    int best = k;
    for (int r = k + 1; r < P; r++)
      if (fabs(A[r * P + k]) > fabs(A[best * P + k])) best = r;
    pivot[k] = best;
    if (!(fabs(A[best * P + k]) > 0)) return false;
    for (int c = 0; c < P && best != k; c++) {
      double swap = A[k * P + c];
      A[k * P + c] = A[best * P + c], A[best * P + c] = swap;
    }
    for (int r = k + 1; r < P; r++) {
      double part = A[r * P + k] /= A[k * P + k];
      for (int c = k + 1; c < P && part != 0; c++) A[r * P + c] -= part * A[k * P + c];
    }
  }
  return true;
}

static inline void plain_solve(const double *A, const int *pivot, double *b, int P) {
  for (int k = 0; k < P; k++) {
    double swap = b[k];
    b[k] = b[pivot[k]], b[pivot[k]] = swap;
  }
  for (int r = 0; r < P; r++)
    for (int c = 0; c < r; c++) b[r] -= A[r * P + c] * b[c];
  for (int r = P - 1; r >= 0; r--) {
    for (int c = r + 1; c < P; c++) b[r] -= A[r * P + c] * b[c];
    b[r] /= A[r * P + r];
  }
}

/* One step of length h from theta (velocity v and matrix J there) into end; its error over the size of theta.
 */
static inline double plain_step(Plain *s, const double *v, const double *J, double h, double *end) {
  enum { ROWS = 4 };
  static double T[ROWS][PLAIN_MOST], A[PLAIN_MOST * PLAIN_MOST];
  int P = s->count, pivot[PLAIN_MOST];
  double at[PLAIN_MOST], size = 0, error = 0, before[PLAIN_MOST] = {0};
  for (int j = 0; j < ROWS; j++) {
    double part = h / (j + 1);
    for (int e = 0; e < P * P; e++) A[e] = (e / P == e % P) - part * J[e];
    if (!plain_factor(A, pivot, P)) return INFINITY;
    memcpy(at, s->theta, sizeof at);
    for (int k = 0; k <= j; k++) {
      double move[PLAIN_MOST];
      if (k == 0)
        memcpy(move, v, sizeof move);
      else
        plain_velocity(s, at, move, NULL);
      for (int e = 0; e < P; e++) move[e] *= part;
      plain_solve(A, pivot, move, P);
      for (int e = 0; e < P; e++) at[e] += move[e];
    }
    for (int e = 0; e < P; e++) { /* T[k] holds column k of the row before */
      double value = at[e];
      for (int k = 0; k <= j; k++) {
        double older = T[k][e];
        T[k][e] = value;
        if (k == j) break;
        before[e] = value;
        value += (value - older) / ((double)(j + 1) / (j - k) - 1);
      }
      end[e] = T[j][e];
    }
  }
  for (int e = 0; e < P; e++) {
    size = fmax(size, fabs(s->theta[e]));
    error = fmax(error, fabs(end[e] - before[e]));
    if (!isfinite(end[e])) return INFINITY;
  }
  return error / size;
}

/* width: over which kinks are rounded off, relative to the first inputs of each layer. */
static inline void plain_begin(Plain *s, const LayeredProblem *p, double width) {
  double scale = 0;
  memset(s, 0, sizeof *s);
  s->problem = p;
  s->n = (int)p->n, s->d = (int)p->d, s->depth = p->depth, s->count = (int)p->net.n_parameters;
  for (rf_index e = 0; e < p->n * p->d; e++) scale = fmax(scale, fabs(p->X[e]));
  for (int l = 0; l < s->depth; l++) {
    const RfLayer *layer = &p->net.layers[l];
    double square = 0;
    s->inputs[l] = (int)layer->inputs, s->outputs[l] = (int)layer->outputs;
    for (int r = 0; r < s->outputs[l]; r++)
      for (int c = 0; c < s->inputs[l]; c++) {
        bool dense = p->kind == 0 || l + 1 == s->depth;
        int entry = dense          ? r * s->inputs[l] + c
                    : p->kind == 1 ? (r == c ? r : -1)
                                   : (c - r + s->inputs[l]) % s->inputs[l];
        s->place[l][r][c] = entry < 0 ? -1 : (int)layer->offset + entry;
        square += entry < 0 ? 0 : pow(p->net.theta[s->place[l][r][c]], 2);
      }
    scale *= sqrt(square);
    s->width[l] = width * scale;
  }
  memcpy(s->theta, p->net.theta, (size_t)s->count * sizeof(double));
  s->log_t = s->level = -INFINITY, s->left = INFINITY;
}

/* Time of a step over which -ln S rose from -log_S to what it is now, as of a straight line. */
static inline void plain_book(Plain *s, double h, double log_S) {
  double rise = log_S - s->log_S, size = fabs(rise);
  double mean = size < 1e-6 ? 0 : log(-expm1(-size) / size);
  double later = log(h) - fmin(s->log_S, log_S) + mean, top = fmax(s->log_t, later);
  s->log_t = top + log(exp(s->log_t - top) + exp(later - top));
}

/* To margin 400, or to where ln L does not fall by 1e-7 while t grows by six orders of magnitude. */
static inline PlainEnd plain_to_end(Plain *s, double tol) {
  static double J[PLAIN_MOST * PLAIN_MOST];
  double v[PLAIN_MOST], end[PLAIN_MOST], h = 1e-3, mark = INFINITY, since = -INFINITY, taken = 0, log_S = 0;
  for (s->steps = 0; s->steps < PLAIN_STEPS; s->steps++) {
    plain_velocity(s, s->theta, v, J);
    if (s->steps > 0) plain_book(s, taken, log_S);
    log_S = s->log_S;
    if (!(s->log_loss > s->level) && !isfinite(s->left)) s->left = s->log_t;
    if (s->q_least >= 400) return PLAIN_REACHED;
    if (s->log_loss < mark - 1e-7) mark = s->log_loss, since = s->log_t;
    if (s->log_t > fmax(since, 0) + log(1e6)) return PLAIN_PLATEAU;
    double error = plain_step(s, v, J, h, end);
    while (!(error <= tol) && h > 1e-14) {
      h *= isfinite(error) ? fmin(0.7, fmax(0.1, 0.9 * pow(tol / error, 0.25))) : 0.1;
      error = plain_step(s, v, J, h, end);
    }
    if (!(error <= tol)) return PLAIN_LOST;
    memcpy(s->theta, end, (size_t)s->count * sizeof(double));
    taken = h;
    h *= fmin(5, 0.9 * pow(tol / fmax(error, 1e-30), 0.25));
  }
  return PLAIN_LOST;
}

/* A unit with inputs has come to rest within its kinks on all samples, its weights near zero. Passing zero
 * they take it across on all samples at once; rounded off, it comes across one after the other, and what
 * stops it there, whatever the width, need not be in the way of the flow. */
static inline bool plain_caught(const Plain *s) {
  static PlainPass pass[LAYERED_SAMPLES];
  for (int i = 0; i < s->n; i++) plain_pass(s, s->theta, i, &pass[i]);
  for (int l = 0; l + 1 < s->depth; l++)
    for (int r = 0; r < s->outputs[l]; r++) {
      double input = 0, most = 0;
      for (int i = 0; i < s->n; i++) {
        double z = 0;
        for (int c = 0; c < s->inputs[l]; c++) {
          if (s->place[l][r][c] >= 0) input = fmax(input, fabs(pass[i].a[l][c]));
          z += plain_entry(s, s->theta, l, r, c) * pass[i].a[l][c];
        }
        most = fmax(most, fabs(z));
      }
      if (input > (l > 0 ? 50 * s->width[l - 1] : 0) && most < 50 * s->width[l]) return true;
    }
  return false;
}

/* ---- what it says about a run ------------------------------------------------------------------ */

typedef struct PlainOpinion {
  bool given, contradicts;
  PlainEnd end;
  double log_t, log_loss, margin, distance;
  long steps;
  char text[160];
} PlainOpinion;

static inline PlainOpinion plain_once(const LayeredProblem *p, const RfLayeredLimit *limit, double width,
                                      double tol, bool monotone) {
  static Plain s;
  PlainOpinion out = {.given = false};
  double norm = 0, near = 1e-3;
  plain_begin(&s, p, width);
  s.monotone = monotone;
  if (limit->outcome == RF_FLOW_NOT_SEPARATED) s.level = limit->log_loss - near;
  out.end = plain_to_end(&s, tol);
  for (int e = 0; e < s.count; e++) norm += s.theta[e] * s.theta[e];
  norm = sqrt(norm);
  for (int e = 0; e < s.count; e++) out.distance += pow(s.theta[e] / norm - limit->net.theta[e], 2);
  out.distance = sqrt(out.distance), out.steps = s.steps, out.log_t = s.log_t, out.log_loss = s.log_loss;
  out.margin = -s.log_loss / pow(norm, p->depth); /* smoothed: at 400 the losses are exponential */
  bool converged = limit->outcome == RF_FLOW_CONVERGED;
  bool later = out.end == PLAIN_PLATEAU && limit->log_loss < s.log_loss - near && limit->log_t > s.log_t;
  /* A unit u widths beyond its kink is still felt by e^-u, and that shows when t is e^u. */
  bool leaks = p->leak < 1 && !converged && isfinite(s.left) && s.left > 25;
  bool caught = p->leak < 1 && out.end == PLAIN_PLATEAU && plain_caught(&s);
  out.given = out.end != PLAIN_LOST && !later && !leaks; /* it leaves that loss, but afterwards */
  if (!out.given)
    snprintf(out.text, sizeof out.text, "no opinion at ln t = %.3g, loss %.6g, margin %.3g, %ld steps",
             s.log_t, exp(s.log_loss), s.q_least, s.steps);
  else if (converged && out.end == PLAIN_PLATEAU)
    snprintf(out.text, sizeof out.text, "converged, but loss %.9g is a plateau at ln t = %.3g",
             exp(s.log_loss), s.log_t);
  else if (converged && out.margin > limit->margin * (1 + 1e-5))
    snprintf(out.text, sizeof out.text, "margin %.9g, but %.9g is reached", limit->margin, out.margin);
  else if (!converged && out.end == PLAIN_REACHED)
    snprintf(out.text, sizeof out.text, "not separated, but margin 400 at ln t = %.3g", s.log_t);
  else if (!converged && !(fabs(s.log_loss - limit->log_loss) <= near))
    snprintf(out.text, sizeof out.text, "at rest with loss %.9g, but it is %.9g at ln t = %.3g",
             exp(limit->log_loss), exp(s.log_loss), s.log_t);
  out.contradicts = out.given && out.text[0];
  if (out.contradicts && caught) {
    out.given = out.contradicts = false;
    snprintf(out.text, sizeof out.text, "no opinion: a unit is caught where its weights are zero");
  }
  return out;
}

/* Where round kinks leave it open or contradict, sharper ones and finer steps are asked; these must
 * contradict twice, and at one place: what a rounded kink does falls with its width. Nor may it depend on how
 * it is rounded off: monotone slopes that agree with the flow are right. */
static inline PlainOpinion plain_opinion(const LayeredProblem *p, const RfLayeredLimit *limit) {
  PlainOpinion out = plain_once(p, limit, 1e-5, 1e-7, false);
  if (out.given && !out.contradicts) return out;
  PlainOpinion monotone = plain_once(p, limit, 1e-5, 1e-8, true);
  if (monotone.given && !monotone.contradicts) return monotone;
  PlainOpinion sharp = plain_once(p, limit, 1e-9, 1e-9, false);
  if (!sharp.given || !sharp.contradicts) return sharp;
  PlainOpinion other = plain_once(p, limit, 1e-7, 1e-9, false);
  bool same = other.end == sharp.end &&
              (other.end == PLAIN_REACHED ? fabs(other.margin - sharp.margin) <= 1e-2 * fabs(sharp.margin)
                                          : fabs(other.log_loss - sharp.log_loss) <= 1e-3);
  if (other.given && other.contradicts && same) return sharp;
  sharp.given = sharp.contradicts = false;
  snprintf(other.text, sizeof other.text, "no opinion: %.120s with one width only", sharp.text);
  memcpy(sharp.text, other.text, sizeof sharp.text);
  return sharp;
}

#endif
