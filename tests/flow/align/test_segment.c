/* Exact alignment against a slow second implementation in 90 decimal digits (Arb): roots of the quadratic in
 * z = e^{Gt} instead of ratio tests, enumeration of all 2^|R| 3^|V| choices on hyperplanes instead of search
 * and least squares. Same events in the same order, times to 1e-9, on random problems of every kind. */
#include <arb.h>
#include <arb_mat.h>

#include "rf_test.h"

enum { PREC = 300, MAX_N = 8, MAX_D = 4, MAX_EVENTS = 400 };

typedef struct Walk {
  rf_index n, d;
  arb_mat_t X;
  arb_ptr c, w, g, base;
  arb_t a, leak, t, G;
  int sign[MAX_N]; /* current sides, 0 = on the hyperplane */
  bool sliding[MAX_N], just[MAX_N];
  /* events */
  int n_events;
  double time[MAX_EVENTS];
  unsigned hit[MAX_EVENTS];
  bool dead, stuck, branched, near_tie;
  double condition; /* largest |p-|/|p+|: an unbalanced neuron near the stable manifold amplifies rounding by
                       this */
} Walk;

static void dot(arb_t out, arb_srcptr x, arb_srcptr y, rf_index d) {
  arb_dot(out, NULL, 0, x, 1, y, 1, d, PREC);
}

static void walk_init(Walk *k, const double *X, const double *c, const double *v, double leak, rf_index n,
                      rf_index d, bool balanced) {
  memset(k, 0, sizeof *k);
  k->n = n, k->d = d;
  arb_mat_init(k->X, n, d);
  k->c = _arb_vec_init(n), k->w = _arb_vec_init(d), k->g = _arb_vec_init(d), k->base = _arb_vec_init(d);
  arb_init(k->a), arb_init(k->leak), arb_init(k->t), arb_init(k->G);
  for (rf_index i = 0; i < n; i++) {
    arb_set_d(k->c + i, c[i]);
    for (rf_index j = 0; j < d; j++) arb_set_d(arb_mat_entry(k->X, i, j), X[i * d + j]);
  }
  for (rf_index j = 0; j < d; j++) arb_set_d(k->w + j, v[j]);
  arb_set_d(k->a, v[d]), arb_set_d(k->leak, leak);
  if (balanced) {
    dot(k->a, k->w, k->w, d);
    arb_sqrt(k->a, k->a, PREC);
    if (v[d] < 0) arb_neg(k->a, k->a);
  }
  arb_t h;
  arb_init(h);
  for (rf_index i = 0; i < n; i++) {
    dot(h, k->w, k->X->rows[i], d);
    k->sign[i] = arb_is_positive(h) ? 1 : arb_is_negative(h) ? -1 : 0;
  }
  arb_clear(h);
}

static void walk_clear(Walk *k) {
  arb_mat_clear(k->X);
  _arb_vec_clear(k->c, k->n), _arb_vec_clear(k->w, k->d), _arb_vec_clear(k->g, k->d),
      _arb_vec_clear(k->base, k->d);
  arb_clear(k->a), arb_clear(k->leak), arb_clear(k->t), arb_clear(k->G);
}

static int sign_of(const arb_t x) {
  double value = arf_get_d(arb_midref(x), ARF_RND_NEAR);
  return fabs(value) < 1e-60 ? 0 : value > 0 ? 1 : -1;
}

/* Adds c_i s x_i to g. */
static void add_term(Walk *k, arb_ptr g, rf_index i, const arb_t s) {
  arb_t f;
  arb_init(f);
  arb_mul(f, k->c + i, s, PREC);
  _arb_vec_scalar_addmul(g, k->X->rows[i], k->d, f, PREC);
  arb_clear(f);
}

/* Field for one code: per hyperplane 0 = leak side, 1 = plus side, 2 = slides. 0: not consistent; 1: a ridge
 * is not left; 2: consistent. */
static int try_code(Walk *k, const int *on, const int *code, int count, int sa, arb_ptr g) {
  arb_t one, p;
  arb_init(one), arb_init(p);
  arb_one(one);
  _arb_vec_set(g, k->base, k->d);
  int free_at[MAX_N], n_free = 0;
  for (int z = 0; z < count; z++) {
    if (code[z] == 2)
      free_at[n_free++] = on[z];
    else
      add_term(k, g, on[z], code[z] ? one : k->leak);
  }
  bool good = true, along = false;
  if (n_free > 0) { /* c_j s_j K_ij sum = -x_i.g */
    arb_mat_t A, b, s;
    arb_mat_init(A, n_free, n_free), arb_mat_init(b, n_free, 1), arb_mat_init(s, n_free, 1);
    for (int r = 0; r < n_free; r++) {
      dot(arb_mat_entry(b, r, 0), k->X->rows[free_at[r]], g, k->d);
      arb_neg(arb_mat_entry(b, r, 0), arb_mat_entry(b, r, 0));
      for (int q = 0; q < n_free; q++) {
        dot(arb_mat_entry(A, r, q), k->X->rows[free_at[r]], k->X->rows[free_at[q]], k->d);
        arb_mul(arb_mat_entry(A, r, q), arb_mat_entry(A, r, q), k->c + free_at[q], PREC);
      }
    }
    good = n_free <= k->d && arb_mat_solve(s, A, b, PREC);
    for (int r = 0; good && r < n_free; r++) {
      arb_sub(p, arb_mat_entry(s, r, 0), k->leak, PREC);
      if (sign_of(p) < 0) good = false;
      arb_sub(p, arb_mat_entry(s, r, 0), one, PREC);
      if (sign_of(p) > 0) good = false;
      add_term(k, g, free_at[r], arb_mat_entry(s, r, 0));
    }
    arb_mat_clear(A), arb_mat_clear(b), arb_mat_clear(s);
  }
  for (int z = 0; good && z < count; z++) { /* the field must point into the side taken */
    dot(p, g, k->X->rows[on[z]], k->d);
    int push = sa * sign_of(p);
    if (code[z] == 1) good = push > 0;
    if (code[z] == 0) good = push < 0 || (push == 0 && sa * sign_of(k->c + on[z]) > 0);
    along = along || (code[z] == 0 && push == 0);
  }
  arb_clear(one), arb_clear(p);
  return good ? 2 - along : 0;
}

static void resolve(Walk *k, int sa) {
  int on[MAX_N], code[MAX_N], found[MAX_N] = {0}, count = 0, n_found = 0, best = 0;
  arb_t one;
  arb_init(one);
  arb_one(one);
  arb_ptr g = _arb_vec_init(k->d);
  _arb_vec_zero(k->base, k->d);
  for (rf_index i = 0; i < k->n; i++) {
    if (k->sign[i] == 0)
      on[count++] = (int)i;
    else
      add_term(k, k->base, i, k->sign[i] > 0 ? one : k->leak);
  }
  int total = 1;
  for (int z = 0; z < count; z++) total *= 3;
  for (int number = 0; number < total; number++) {
    bool allowed = true;
    for (int z = 0, rest = number; z < count; z++, rest /= 3) {
      code[z] = rest % 3;
      if (code[z] == 2 && sa * sign_of(k->c + on[z]) > 0) allowed = false; /* nothing slides on a ridge */
    }
    int good = allowed ? try_code(k, on, code, count, sa, g) : 0;
    if (!good || good < best) continue;
    if (good > best) n_found = 0;
    best = good;
    if (n_found++ == 0) {
      _arb_vec_set(k->g, g, k->d);
      memcpy(found, code, sizeof found);
    }
  }
  if (n_found != 1) k->branched = true;
  if (n_found == 0) k->near_tie = true; /* dependent hyperplanes: enumeration does not cover slides there */
  for (rf_index i = 0; i < k->n; i++) k->sliding[i] = false;
  for (int z = 0; z < count; z++) {
    k->sign[on[z]] = found[z] == 2 ? 0 : found[z] ? 1 : -1;
    k->sliding[on[z]] = found[z] == 2;
  }
  _arb_vec_clear(g, k->d);
  arb_clear(one);
}

/* Smallest root z > 1 of A z^2 + B z + C (or, for a sample just on its hyperplane, C/A); false for none. */
static bool first_root(arb_t z, const arb_t A, const arb_t B, const arb_t C, bool just) {
  arb_t roots[2], disc, q;
  int count = 0;
  bool any = false;
  arb_init(roots[0]), arb_init(roots[1]), arb_init(disc), arb_init(q);
  if (just) {
    if (sign_of(A)) arb_div(roots[count++], C, A, PREC);
  } else if (!sign_of(A)) {
    if (sign_of(B)) arb_div(roots[count], C, B, PREC), arb_neg(roots[count], roots[count]), count++;
  } else {
    arb_mul(disc, B, B, PREC);
    arb_mul(q, A, C, PREC);
    arb_mul_si(q, q, 4, PREC);
    arb_sub(disc, disc, q, PREC);
    if (sign_of(disc) >= 0) {
      if (!arb_is_positive(disc)) arb_zero(disc);
      arb_sqrt(disc, disc, PREC);
      if (arb_is_nonnegative(B)) arb_neg(disc, disc);
      arb_sub(q, disc, B, PREC); /* 2q, without cancellation */
      arb_mul_2exp_si(q, q, -1);
      arb_div(roots[count++], q, A, PREC);
      if (sign_of(q)) arb_div(roots[count++], C, q, PREC);
    }
  }
  for (int r = 0; r < count; r++) {
    arb_sub_si(disc, roots[r], 1, PREC);
    if (sign_of(disc) <= 0) continue;
    if (!any || arb_lt(roots[r], z)) arb_set(z, roots[r]);
    any = true;
  }
  arb_clear(roots[0]), arb_clear(roots[1]), arb_clear(disc), arb_clear(q);
  return any;
}

static bool sees(const Walk *k) {
  for (rf_index i = 0; i < k->n; i++)
    if (k->sign[i] > 0) return true;
  return false;
}

/* Of d = 1: on the hyperplane of two samples of which one is seen from either side. Elsewhere Gaussian
 * samples are never on one line. */
static bool mirrored(const Walk *k) {
  bool plus = false, minus = false;
  for (rf_index i = 0; i < k->n && k->d == 1; i++) {
    plus = plus || (k->sign[i] == 0 && sign_of(k->X->rows[i]) > 0);
    minus = minus || (k->sign[i] == 0 && sign_of(k->X->rows[i]) < 0);
  }
  return plus && minus;
}

/* One segment; false at the end. */
static bool segment(Walk *k) {
  int sa = sign_of(k->a);
  bool more = false, kinks = false;
  rf_index n = k->n, d = k->d;
  if (!sees(k) && !mirrored(k) && arb_is_zero(k->leak)) return !(k->dead = true);
  resolve(k, sa);
  if (k->branched) return false;
  if (!sees(k) && arb_is_zero(k->leak)) return !(k->dead = true);
  dot(k->G, k->g, k->g, d);
  arb_sqrt(k->G, k->G, PREC);
  if (!sign_of(k->G)) return !(k->stuck = true);
  arb_ptr u = _arb_vec_init(d), wp = _arb_vec_init(d);
  arb_t wu, pp, pm, A, B, C, z, best, turn;
  arb_init(wu), arb_init(pp), arb_init(pm), arb_init(A), arb_init(B), arb_init(C), arb_init(z),
      arb_init(best);
  arb_init(turn);
  _arb_vec_scalar_div(u, k->g, d, k->G, PREC);
  dot(wu, k->w, u, d);
  _arb_vec_set(wp, k->w, d);
  arb_neg(z, wu);
  _arb_vec_scalar_addmul(wp, u, d, z, PREC);
  arb_add(pp, wu, k->a, PREC), arb_sub(pm, wu, k->a, PREC);
  k->condition = fmax(k->condition, fabs(arf_get_d(arb_midref(pm), ARF_RND_NEAR)) /
                                        fabs(arf_get_d(arb_midref(pp), ARF_RND_NEAR)));
  unsigned hit = 0;
  for (rf_index i = 0; i < n; i++) {
    kinks = kinks || k->sliding[i];
    if (k->sliding[i]) continue;
    dot(B, wp, k->X->rows[i], d);
    dot(C, u, k->X->rows[i], d);
    arb_mul(A, C, pp, PREC), arb_mul(C, C, pm, PREC);
    arb_mul_2exp_si(A, A, -1), arb_mul_2exp_si(C, C, -1);
    if (!first_root(z, A, B, C, k->just[i])) continue;
    double gap = 1;
    if (more) {
      arb_sub(turn, z, best, PREC);
      arb_div(turn, turn, best, PREC);
      gap = arf_get_d(arb_midref(turn), ARF_RND_NEAR);
    }
    if (more && fabs(gap) < 1e-30)
      hit |= 1u << i;
    else if (!more || gap < 0)
      arb_set(best, z), hit = 1u << i;
    if (more && fabs(gap) < 1e-9 && fabs(gap) >= 1e-30) k->near_tie = true;
    more = true;
  }
  if (kinks && sign_of(pp) && sign_of(pm) == sign_of(pp)) { /* a = 0 at z^2 = p-/p+ */
    arb_div(turn, pm, pp, PREC);
    arb_sqrt(turn, turn, PREC);
    if (arf_get_d(arb_midref(turn), ARF_RND_NEAR) > 1 && (!more || arb_lt(turn, best))) k->branched = true;
  }
  if (k->branched) more = false;
  if (more) {
    arb_log(z, best, PREC);
    arb_div(z, z, k->G, PREC);
    arb_add(k->t, k->t, z, PREC);
    arb_mul(A, pp, best, PREC), arb_div(B, pm, best, PREC);
    arb_sub(k->a, A, B, PREC), arb_add(wu, A, B, PREC);
    arb_mul_2exp_si(k->a, k->a, -1), arb_mul_2exp_si(wu, wu, -1);
    _arb_vec_set(k->w, wp, d);
    _arb_vec_scalar_addmul(k->w, u, d, wu, PREC);
    for (rf_index i = 0; i < n; i++) {
      if (hit >> i & 1u) k->sign[i] = 0;
      k->just[i] = k->sign[i] == 0;
    }
    k->time[k->n_events] = arf_get_d(arb_midref(k->t), ARF_RND_NEAR);
    k->hit[k->n_events++] = hit;
  }
  _arb_vec_clear(u, d), _arb_vec_clear(wp, d);
  arb_clear(wu), arb_clear(pp), arb_clear(pm), arb_clear(A), arb_clear(B), arb_clear(C), arb_clear(z);
  arb_clear(best), arb_clear(turn);
  return more && k->n_events < MAX_EVENTS;
}

/* One random problem; returns 1 when compared, 0 when it branched or came within 1e-9 of a tie. */
static int compare(RfRandom *random, rf_index number, double *worst) {
  RfContext context;
  rf_context_init(&context);
  rf_index n = 1 + rf_random_below(random, MAX_N), d = 1 + rf_random_below(random, MAX_D);
  double leaks[] = {0, 0, 0.1, 0.3, 0.7, 0.95}, leak = leaks[rf_random_below(random, 6)];
  bool balanced = rf_random_below(random, 3) > 0;
  double X[MAX_N * MAX_D], c[MAX_N], v[MAX_D + 1], norm = 0;
  for (rf_index i = 0; i < n * d; i++) X[i] = rf_random_gaussian(random);
  for (rf_index i = 0; i < n; i++)
    c[i] = rf_random_sign(random) * (number % 4 ? 0.5 : rf_random_uniform(random) + 0.01);
  rf_random_direction(random, v, d);
  v[d] = balanced ? rf_random_sign(random) : rf_random_gaussian(random);
  for (rf_index j = 0; j <= d; j++) norm += v[j] * v[j];
  for (rf_index j = 0; j <= d; j++) v[j] /= sqrt(norm);
  RfAlignField field = {.X = X, .c = c, .n = n, .d = d, .leak = leak};
  RfAlignNeuron got;
  assert_ok(&context, rf_flow_align_neuron(&context, &got, &field, v, 0, NULL, INFINITY));
  Walk walk;
  walk_init(&walk, X, c, v, leak, n, d, balanced);
  while (segment(&walk)) continue;
  int compared = 0;
  bool same = walk.near_tie || walk.branched == got.branched;
  if (!walk.near_tie) {
    rf_index events =
        walk.branched ? (got.n_crossings < walk.n_events ? got.n_crossings : walk.n_events) : walk.n_events;
    if (!walk.branched) same = same && got.n_crossings == walk.n_events;
    if (walk.dead) same = same && got.destiny == RF_DESTINY_DEAD;
    if (walk.stuck) same = same && got.destiny == RF_DESTINY_STUCK;
    for (rf_index e = 0; same && e < events; e++) {
      unsigned mask = 0;
      for (rf_index s = 0; s < got.crossings[e].n_samples; s++) mask |= 1u << got.crossings[e].samples[s];
      double error = fabs(got.crossings[e].t - walk.time[e]), t = walk.time[e];
      double allowed = 1e-10 * t + 1e-13; /* h = w.x itself carries 1e-16 |w||x| */
      same = mask == walk.hit[e] && error < (balanced ? allowed : allowed + 1e-14 * walk.condition * t);
      if (balanced) *worst = fmax(*worst, (error - 1e-13) / t);
    }
    compared = !walk.branched;
  }
  if (!same) {
    print_error("problem %d: n %d d %d leak %g branched %d/%d events %d/%d\n", (int)number, (int)n, (int)d,
                leak, got.branched, walk.branched, (int)got.n_crossings, walk.n_events);
    for (rf_index e = 0; e < got.n_crossings; e++)
      print_error("  got %.15g [%d..]\n", got.crossings[e].t, (int)got.crossings[e].samples[0]);
    for (int e = 0; e < walk.n_events; e++) print_error("  want %.15g mask %x\n", walk.time[e], walk.hit[e]);
    rf_test_print_matrix("X", X, n, d);
    rf_test_print_matrix("c", c, 1, n);
    rf_test_print_matrix("neuron", v, 1, d + 1);
    fail();
  }
  walk_clear(&walk);
  rf_align_neuron_free(&got);
  return compared;
}

static void random_problems(void **state) {
  (void)state;
  RfRandom random;
  rf_random_init(&random, 20, 0);
  rf_index total = rf_test_iterations(600);
  int compared = 0;
  double worst = 0;
  for (rf_index k = 0; k < total; k++) compared += compare(&random, k, &worst);
  print_message("%d of %d compared to the end, crossing times within %.1e\n", compared, (int)total, worst);
  assert_true(compared > 0.8 * (double)total);
  flint_cleanup();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_problems)};
  return cmocka_run_group_tests_name("flow/align/segment", tests, NULL, NULL);
}
