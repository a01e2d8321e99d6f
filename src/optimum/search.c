/* Exact maximum of F(u) = sum_own lambda phi(u.x) - sum_other lambda phi(u.x) over unit u, by branch and
 * bound on the signs of the own-class inner products (docs/math.md (G.7)-(G.10), (G.16)-(G.18)).
 *
 * In a node every own sample is on a known side, or free. With z = u.x,
 *     known +  : contributes lambda z, and z >= 0 may be used:  coefficient in [lambda, inf)
 *     known -  : contributes leak lambda z, with z <= 0:        coefficient in (-inf, leak lambda]
 *     free     : phi(z) is below its chord on the range [l,h] of z:  coefficient = slope of the chord, plus a
 * constant opposite : -lambda phi(z) is concave:                     coefficient -m, m in [leak lambda,
 * lambda] so F(u) <= res.u + C for every admissible choice of coefficients, res = sum of coefficients times
 * rows, and |res| + C bounds the node. Coordinate steps shrink |res|; any stage of them is a valid bound. If
 * something above the target exists in the node, it lies in the cap res.u >= target - C, which narrows [l,h]
 * and decides samples without branching. For many free samples the sum of chord constants is beaten by
 * Cauchy-Schwarz: sum lambda |z| <= sqrt(sum lambda) sqrt(largest eigenvalue of sum lambda x x^T).
 *
 * Two halves. F(-u) = F(u) - (1 + leak) g.u with g = s sum lambda y x: where |g| is as small as rounding, and
 * it is at many optima, a bound T - (1 + leak) |g| on one half of the sphere is the bound T on all of it.
 *
 * Threads. The first nodes are split one after the other, largest bound first, until there are enough open
 * ones; these are subtrees which any thread may take, and whose results are put together in their order, up
 * to the first one that ends the search. What is said does not depend on who did what. */
#include "optimum/search_internal.h"
#include "optimum/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef RfSearchWork Work;
typedef RfSearchLevel Level;

/* ---- set-up ----------------------------------------------------------------------------------- */

/* The worker's own part. */
static void worker_free(Work *w) {
  rf_free(w->levels), rf_free(w->store), rf_free(w->sides), rf_free(w->list), rf_free(w->bundle);
  rf_free(w->u), rf_free(w->matrix), rf_free(w->vector), rf_free(w->ray), rf_free(w->wide), rf_free(w->reach);
  rf_free(w->scale), rf_free(w->wide_at), rf_free(w->eigen);
  w->box.coef = w->box.low = w->box.high = NULL; /* those of a level */
  rf_box_free(&w->box);
}

static rf_index node_size(const Work *w) { return 3 * w->count + 2 * w->own; }

static RfStatus worker_new(Work *w) {
  rf_index r = w->r, levels = w->own + 2, per = node_size(w);
  rf_index order = w->gram && w->own > r ? w->own : r;
  w->levels = RF_NEW(Level, levels);
  w->store = RF_NEW(double, levels *per);
  w->sides = RF_NEW(signed char, levels *(w->own + 1));
  w->u = RF_NEW(double, r), w->matrix = RF_NEW(double, 2 * order * order);
  w->vector = RF_NEW(double, 2 * order), w->scale = RF_NEW(double, w->own);
  w->wide_at = RF_NEW(rf_index, w->own), w->eigen = RF_NEW(double, order), w->eigen_order = 0;
  w->ray = RF_NEW(double, w->own), w->wide = rf_alloc(r, sizeof *w->wide);
  RfStatus status = rf_box_new(w->context, &w->box, w->count, r);
  if (!status) status = rf_rays_worker(w);
  if (status) return status;
  rf_free(w->box.coef), rf_free(w->box.low), rf_free(w->box.high);
  w->box.coef = w->box.low = w->box.high = NULL;
  if (!w->levels || !w->store || !w->sides || !w->u || !w->matrix || !w->vector || !w->ray || !w->wide ||
      !w->scale || !w->wide_at || !w->eigen)
    return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
  for (rf_index k = 0; k < levels; k++) {
    double *s = w->store + k * per;
    w->levels[k] = (Level){.coef = s,
                           .low = s + w->count,
                           .high = s + 2 * w->count,
                           .l = s + 3 * w->count,
                           .h = s + 3 * w->count + w->own,
                           .side = w->sides + k * (w->own + 1)};
  }
  return RF_OK;
}

/* Compacts the samples with positive weight, own class first. */
static RfStatus shared_new(Work *w) {
  const RfReduced *p = w->p;
  w->V = RF_NEW_TABLE(double, p->n, p->r);
  w->lambda = RF_NEW(double, p->n);
  if (!w->V || !w->lambda) return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
  for (int pass = 1; pass >= -1; pass -= 2)
    for (rf_index i = 0; i < p->n; i++) {
      if (w->lambda_all[i] <= 0 || p->y[i] * w->sign * pass < 0) continue;
      for (rf_index k = 0; k < p->r; k++) w->V[w->count * p->r + k] = pass * p->X[i * p->r + k];
      w->lambda[w->count++] = w->lambda_all[i];
      if (pass > 0) w->own++;
    }
  w->edge = 1 + (double)(p->d + p->r + 8) * 2 * DBL_EPSILON;
  for (rf_index i = 0; i < w->count; i++) w->total += w->lambda[i];
  w->range_sweeps = w->r <= 4 ? 8 : w->r <= 7 ? 5 : 0;
  return rf_rays_new(w->context, &w->rays, w);
}

static RfStatus gram_new(Work *w) {
  if (w->own > 2 * w->r) return RF_OK;
  w->gram = RF_NEW(double, w->own * w->own);
  if (!w->gram) return rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
  for (rf_index i = 0; i < w->own; i++)
    for (rf_index j = 0; j < w->own; j++)
      w->gram[i * w->own + j] = rf_short_dot(w->V + i * w->r, w->V + j * w->r, w->r);
  return RF_OK;
}

/* |sum lambda y x|, rounded up. */
static double odd_part(const Work *w) {
  double square = 0, error = (double)(w->count + w->r + 8) * rf_unit_roundoff * rf_length_slack * w->total;
  for (rf_index k = 0; k < w->r; k++) {
    double sum = 0;
    for (rf_index i = 0; i < w->count; i++) sum += w->lambda[i] * w->V[i * w->r + k];
    square += sum * sum;
  }
  return sqrt(square) * (1 + (double)(w->r + 4) * DBL_EPSILON) + error;
}

/* ---- nodes ------------------------------------------------------------------------------------ */

static void aim_box(Work *w, Level *v) {
  w->box.V = w->V, w->box.n = w->count, w->box.r = w->r;
  w->box.coef = v->coef, w->box.low = v->low, w->box.high = v->high;
}

static void note_value(Work *w, double size, double bound) {
  RfSearch *s = w->search;
  if (size > 0) {
    for (rf_index k = 0; k < w->r; k++) w->u[k] = w->box.res[k] / size;
    double value = rf_oracle_value(w->p, w->lambda_all, w->u, w->sign);
    if (value > s->target) {
      RfStatus status = rf_directions_add(w->context, &s->found, w->u, value, w->sign);
      if (status) w->status = status, w->stopped = true;
      if (s->stop_after > 0 && s->found.count >= s->stop_after) w->stopped = true;
    }
    s->best = fmax(s->best, value);
    if (s->stop_after == 0) s->target = fmax(s->target, s->best);
  }
  s->upper = fmax(s->upper, bound);
}

/* The free sample whose chord is furthest from phi at the present direction. */
static rf_index choose(Work *w, const Level *v, double size, bool *plus) {
  rf_index at = -1;
  double worst = -INFINITY;
  for (rf_index i = 0; i < w->own; i++) {
    if (v->side[i] != side_free) continue;
    double q = size > 0 ? rf_short_dot(w->V + i * w->r, w->box.res, w->r) / size : 0;
    double inside = fmin(fmax(q, v->l[i]), v->h[i]);
    double gap = rf_chord_constant(w, v, i) + rf_chord_slope(w, v, i) * inside -
                 w->lambda[i] * rf_phi(inside, w->leak);
    if (gap > worst) worst = gap, at = i, *plus = q >= 0;
  }
  return at;
}

static bool poll(Work *w) {
  RfSearch *s = w->search;
  s->nodes++;
  if (s->node_limit > 0 && s->nodes >= s->node_limit) w->stopped = true;
  if ((s->nodes & 15) == 0) {
    rf_index cut;
#pragma omp atomic read
    cut = *w->cut;
    if (w->at > cut) w->stopped = true;
    if (rf_context_stop(w->context)) w->status = RF_INTERRUPTED, w->stopped = true;
  }
  return w->stopped;
}

/* Where to go on from a node: the sample to split at and which side comes first. */
typedef struct Split {
  rf_index at; /* -1: the node is closed */
  bool plus;
  double bound;
} Split;

static Split settle(Work *w, Level *v) {
  Split split = {.at = -1, .plus = true, .bound = INFINITY};
  double constant = 0, size = 0;
  if (w->rays && rf_rays_narrow(w, v) < 0) return split;
  aim_box(w, v);
  if (rf_node_coupled(w, v)) return split;
  for (int round = 0; round < 6; round++) {
    constant = rf_node_constant(w, v);
    aim_box(w, v);
    rf_box_residual(&w->box);
    if (rf_node_shrink(w, v, constant, &size)) return split;
    split.bound = rf_node_bound(w, v, constant, &size);
    bool better = rf_node_narrow(w, v, constant, size);
    if (w->rays && better && rf_rays_narrow(w, v) < 0) return split;
    if (!w->rays && w->range_sweeps > 0 && round < 2 && rf_node_narrow_by_cone(w, v)) better = true;
    if (!better) break;
  }
  split.at = choose(w, v, size, &split.plus);
  if (split.at < 0 || constant <= rf_leaf_constant) {
    constant = rf_node_constant(w, v); /* the last narrowing may have decided more */
    rf_box_solve(&w->box);
    split.bound = rf_node_bound(w, v, constant, &size);
    if (split.bound > w->search->target) note_value(w, size, split.bound);
    split.at = -1;
  } else if (w->search->stop_after == 0)
    note_value(w, size, 0);
  return split;
}

/* Room for `more` rays after `used`. */
static bool reserve(Work *w, rf_index used, rf_index more) {
  if (used + more <= w->room) return true;
  rf_index room = 2 * (used + more);
  int *wider = rf_resize(w->list, room, sizeof *wider);
  if (!wider) {
    w->status = rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
    w->stopped = true;
    return false;
  }
  w->list = wider, w->room = room;
  return true;
}

/* The child of v on the given side of sample i. */
static bool make_child(Work *w, Level *to, const Level *v, rf_index i, RfSide side) {
  rf_index rays = v->end - v->first;
  memcpy(to->coef, v->coef, (size_t)node_size(w) * sizeof(double));
  memcpy(to->side, v->side, (size_t)w->own);
  to->plain = v->plain;
  if (!reserve(w, v->end, rays)) return false;
  to->first = v->end, to->end = v->end + rays;
  if (rays > 0) memcpy(w->list + to->first, w->list + v->first, (size_t)rays * sizeof(int));
  rf_node_set_side(w, to, i, side);
  return true;
}

static void visit(Work *w, rf_index depth);

static void visit_children(Work *w, rf_index depth, Split split) {
  double outside = w->search->upper;
  for (int child = 0; child < 2 && !w->stopped; child++) {
    RfSide side = (child == 0) == split.plus ? side_plus : side_minus;
    if (make_child(w, &w->levels[depth + 1], &w->levels[depth], split.at, side)) visit(w, depth + 1);
  }
  if (w->stopped) /* whatever is open below is under this node's bound */
    w->search->upper = fmax(outside, split.bound);
}

static void visit(Work *w, rf_index depth) {
  if (poll(w)) {
    w->search->upper = INFINITY; /* replaced by the parent's bound */
    return;
  }
  Split split = settle(w, &w->levels[depth]);
  if (split.at >= 0) visit_children(w, depth, split);
}

/* ---- subtrees --------------------------------------------------------------------------------- */

typedef struct Subtree {
  Split split;
  double *store; /* as in a level */
  signed char *side;
  int *list;
  rf_index rays;
  bool plain;
  RfSearch search; /* what its own search says */
  RfStatus status;
  bool done;
} Subtree;

typedef struct Forest {
  Work *w;
  Subtree *trees;
  rf_index count;
  rf_index ready, cut; /* results up to here are counted; results after it do not count */
  rf_index nodes, found;
  rf_index done, done_nodes; /* subtrees in any order, for who waits */
} Forest;

static void subtree_free(Subtree *t) {
  rf_free(t->store), rf_free(t->side), rf_free(t->list);
  rf_directions_free(&t->search.found);
  memset(t, 0, sizeof *t);
}

static bool subtree_save(Subtree *t, const Work *w, const Level *v, Split split) {
  *t = (Subtree){.split = split, .rays = v->end - v->first, .plain = v->plain};
  t->store = RF_NEW(double, node_size(w)), t->side = RF_NEW(signed char, w->own + 1);
  t->list = RF_NEW(int, t->rays + 1);
  if (!t->store || !t->side || !t->list) return false;
  memcpy(t->store, v->coef, (size_t)node_size(w) * sizeof(double));
  memcpy(t->side, v->side, (size_t)w->own);
  if (t->rays > 0) memcpy(t->list, w->list + v->first, (size_t)t->rays * sizeof(int));
  return true;
}

static bool subtree_load(Work *w, const Subtree *t) {
  Level *v = &w->levels[0];
  if (!reserve(w, 0, t->rays)) return false;
  memcpy(v->coef, t->store, (size_t)node_size(w) * sizeof(double));
  memcpy(v->side, t->side, (size_t)w->own);
  v->first = 0, v->end = t->rays, v->plain = t->plain;
  if (t->rays > 0) memcpy(w->list, t->list, (size_t)t->rays * sizeof(int));
  return true;
}

static bool before(const Subtree *a, const Subtree *b) { return a->split.bound > b->split.bound; }

/* Splits the open node with the largest bound until there are enough; `half`: only one side of the root. */
static void grow_forest(Forest *f, bool half) {
  enum { enough = 512 };
  Work *w = f->w;
  f->trees = RF_NEW(Subtree, enough + 2);
  bool fine = f->trees != NULL;
  Split split = settle(w, &w->levels[0]);
  w->search->nodes++;
  if (fine && split.at >= 0) fine = subtree_save(&f->trees[f->count++], w, &w->levels[0], split);
  for (bool first = true; fine && f->count > 0 && f->count < enough && !w->stopped; first = false) {
    rf_index best = 0;
    for (rf_index k = 1; k < f->count; k++)
      if (before(&f->trees[k], &f->trees[best])) best = k;
    Subtree top = f->trees[best];
    f->trees[best] = f->trees[--f->count];
    fine = subtree_load(w, &top);
    for (int child = 0; child < (first && half ? 1 : 2) && fine && !poll(w); child++) {
      RfSide side = (child == 0) == top.split.plus ? side_plus : side_minus;
      fine = make_child(w, &w->levels[1], &w->levels[0], top.split.at, side);
      split = fine ? settle(w, &w->levels[1]) : top.split;
      if (fine && split.at >= 0) {
        split.bound = fmin(split.bound, top.split.bound);
        fine = subtree_save(&f->trees[f->count++], w, &w->levels[1], split);
      }
    }
    if (w->stopped) w->search->upper = fmax(w->search->upper, top.split.bound);
    subtree_free(&top);
  }
  if (!fine && !w->status) w->status = rf_fail(w->context, RF_ERR_MEMORY, "out of memory for the search");
}

static int by_bound(const void *a, const void *b) {
  const Subtree *x = a, *y = b;
  return before(x, y) ? -1 : before(y, x) ? 1 : 0;
}

static void search_subtree(Work *w, Subtree *t) {
  w->search = &t->search, w->stopped = false, w->status = RF_OK;
  w->eigen_order = 0; /* what a subtree says does not depend on the one before it */
  if (subtree_load(w, t)) visit_children(w, 0, t->split);
  t->status = w->status;
}

/* Counts the results that are complete from the first on; the first that ends the search sets the cut. */
static void count_ready(Forest *f, const RfSearch *whole) {
  while (f->ready < f->count && f->trees[f->ready].done && f->ready <= f->cut) {
    const Subtree *t = &f->trees[f->ready];
    f->nodes += t->search.nodes, f->found += t->search.found.count;
    bool ends = t->status != RF_OK || (whole->stop_after > 0 && f->found >= whole->stop_after) ||
                (whole->node_limit > 0 && f->nodes >= whole->node_limit);
    if (ends) {
#pragma omp atomic write
      f->cut = f->ready;
    }
    f->ready++;
  }
}

static void search_forest(Forest *f, const RfSearch *whole) {
  Work *w = f->w;
  int threads = w->context->threads > 1 && f->count > 1 ? w->context->threads : 1;
  for (rf_index k = 0; k < f->count; k++) {
    f->trees[k].search = (RfSearch){.target = whole->target,
                                    .stop_after = whole->stop_after,
                                    .node_limit = whole->node_limit,
                                    .best = whole->best};
    f->trees[k].search.found.r = w->r;
  }
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    RfContext context = *w->context;
    Work own = *w;
    own.context = &context, own.cut = &f->cut, own.list = NULL, own.room = 0;
    own.bundle = own.reach = own.eigen = NULL,
    memset(&own.box, 0, sizeof own.box); /* those of w, if worker_new ends early */
    RfStatus status = worker_new(&own);
    bool callers = false; /* this is the thread of the call */
#pragma omp master
    callers = whole->beat != NULL;
#pragma omp for schedule(dynamic, 1)
    for (rf_index k = 0; k < f->count; k++) {
      Subtree *t = &f->trees[k];
      rf_index cut;
#pragma omp atomic read
      cut = f->cut;
      own.at = k;
      t->search.upper = 0, t->status = status;
      if (k > cut)
        t->search.upper = t->split.bound;
      else if (!status)
        search_subtree(&own, t);
#pragma omp critical(rf_search_forest)
      {
        t->done = true;
        if (t->status < 0) memcpy(w->context->error, context.error, sizeof context.error);
        f->done++, f->done_nodes += t->search.nodes;
        count_ready(f, whole);
        if (callers) whole->beat(whole->user, (double)f->done / (double)f->count, f->done_nodes);
      }
    }
    worker_free(&own);
  }
}

/* The results of the subtrees up to the cut, and the bounds of the others. */
static RfStatus gather(Forest *f, RfSearch *search) {
  RfStatus status = RF_OK;
  for (rf_index k = 0; k < f->count; k++) {
    const Subtree *t = &f->trees[k];
    if (k > f->cut) {
      search->upper = fmax(search->upper, t->split.bound);
      continue;
    }
    search->nodes += t->search.nodes;
    search->upper = fmax(search->upper, t->search.upper);
    search->best = fmax(search->best, t->search.best);
    for (rf_index a = 0; a < t->search.found.count && status >= 0; a++) {
      RfStatus added = rf_directions_add(f->w->context, &search->found, t->search.found.u + a * f->w->r,
                                         t->search.found.value[a], f->w->sign);
      if (added) status = added;
    }
    if (t->status && status >= 0) status = t->status;
  }
  return status;
}

/* Everything below the root. */
static RfStatus search_tree(Work *w, RfSearch *search, bool half) {
  Forest f = {.w = w, .cut = INT64_MAX};
  w->cut = &f.cut, w->search = search;
  grow_forest(&f, half);
  RfStatus status = w->status;
  if (f.trees) qsort(f.trees, (size_t)f.count, sizeof *f.trees, by_bound);
  if (w->stopped || status)
    f.cut = -1;
  else {
    f.nodes = search->nodes, f.found = search->found.count;
    search_forest(&f, search);
  }
  RfStatus gathered = gather(&f, search);
  for (rf_index k = 0; k < f.count; k++) subtree_free(&f.trees[k]);
  rf_free(f.trees);
  return status ? status : gathered;
}

RfStatus rf_search_run(RfContext *context, RfSearch *search, const RfReduced *p, const double *lambda,
                       int sign) {
  Work w = {.context = context,
            .search = search,
            .p = p,
            .lambda_all = lambda,
            .sign = sign,
            .r = p->r,
            .leak = p->leak};
  search->found.r = p->r;
  search->upper = 0;
  RfStatus status = shared_new(&w);
  if (!status) status = gram_new(&w);
  if (!status) status = worker_new(&w);
  if (!status && w.own > 0) {
    rf_index rays = w.rays ? w.rays->count : 0;
    bool decided = rf_node_root(&w, &w.levels[0]);
    double odd = (1 + w.leak) * odd_part(&w) * (1 + 4 * DBL_EPSILON);
    bool half = !decided && odd <= search->room;
    if (reserve(&w, 0, rays)) {
      w.levels[0].end = rays;
      for (rf_index k = 0; k < rays; k++) w.list[k] = (int)k;
    }
    if (half) search->target -= odd;
    status = w.status ? w.status : search_tree(&w, search, half);
    if (w.status && !w.cut)
      search->upper = w.total * w.edge; /* before any node: lambda phi(z) <= lambda |z| */
    if (half) search->target += odd, search->upper += odd;
  }
  search->upper = fmax(search->upper, search->target);
  worker_free(&w);
  rf_rays_free(w.rays);
  rf_free(w.V), rf_free(w.lambda), rf_free(w.gram);
  return status;
}
