/* Those who watch a flow see the flow: velocities are differences of states, margins and losses are those of
 * the network, and watching changes neither the limit nor the times of events. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/data.h"
#include "flow/flow.h"
#include "la/la.h"
#include "rf_test.h"

enum { max_moments = 20000, m = 4 };

typedef struct Film {
  const RfFlowProblem *problem;
  rf_index count, frozen, events;
  double log_t[max_moments], last[m * 4];
  double worst_q, worst_speed, last_loss;
  bool backwards;
} Film;

/* w_k, a_k of the moment at their true size. */
static void weights(const RfFlowMoment *moment, double *theta) {
  rf_index d = moment->d;
  for (rf_index k = 0; k < moment->m; k++)
    for (rf_index j = 0; j <= d; j++)
      theta[k * (d + 1) + j] = moment->directions[k * (d + 1) + j] * exp(moment->log_norms[k]);
}

static void look(void *observer, const RfFlowMoment *moment) {
  Film *film = observer;
  const RfFlowProblem *problem = film->problem;
  rf_index d = moment->d;
  double theta[m * 4], loss = 0;
  if (moment->scale_frozen || film->count == max_moments) {
    film->frozen++;
    return;
  }
  weights(moment, theta);
  for (rf_index i = 0; i < moment->n; i++) {
    double f = 0;
    for (rf_index k = 0; k < m; k++) {
      double h = rf_la_dot(theta + k * (d + 1), problem->X + i * d, d);
      f += theta[k * (d + 1) + d] * (h > 0 ? h : problem->leak * h);
    }
    film->worst_q = fmax(film->worst_q, fabs(problem->y[i] * f - moment->q[i]) / fmax(1, fabs(f)));
    loss += rf_loss_value(problem->loss, problem->y[i] * f);
  }
  if (log(loss) > -30) film->worst_q = fmax(film->worst_q, fabs(log(loss) - moment->log_loss));
  if (film->count > 0) {
    double before = exp(film->log_t[film->count - 1]), dt = exp(moment->log_t) - before;
    film->backwards = film->backwards || dt < 0 || moment->log_loss > film->last_loss + 1e-9;
    /* over a short time, the difference is the velocity up to second order */
    for (rf_index k = 0; k < m && dt > 0 && dt < 1e-2 && !moment->at_event; k++)
      for (rf_index j = 0; j < d; j++) {
        double speed = exp(moment->log_S) * theta[k * (d + 1) + d] * moment->fields[k * d + j];
        double moved = (theta[k * (d + 1) + j] - film->last[k * (d + 1) + j]) / dt;
        double size = exp(moment->log_norms[k]);
        film->worst_speed = fmax(film->worst_speed, fabs(speed - moved) / size / (dt + 1e-11 / dt));
      }
  }
  film->last_loss = moment->log_loss;
  memcpy(film->last, theta, sizeof(double) * (size_t)(m * (d + 1)));
  film->log_t[film->count++] = moment->log_t;
  film->events += moment->at_event;
}

static void film_flow(double log_scale, double size) {
  static Film film;
  RfContext context;
  RfDataset data;
  RfNet net;
  RfFlowStart start;
  RfFlowSettings settings;
  RfFlowResult plain, watched;
  rf_context_init(&context);
  assert_ok(&context, rf_data_generate(&context, &data, "planar"));
  rf_la_scale(data.X, size, data.n * data.d);
  assert_ok(&context, rf_net_init(&context, &net, RF_INIT_BALANCED, m, data.d, 0, 3, 1));
  assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
  RfFlowProblem problem = {
      .X = data.X, .y = data.y, .n = data.n, .d = data.d, .start = &start, .log_scale = log_scale};
  rf_flow_settings_init(&settings);
  assert_ok(&context, rf_flow_run(&context, &plain, &problem, &settings));
  memset(&film, 0, sizeof film);
  film.problem = &problem;
  settings.observe = look, settings.observer = &film, settings.observe_inside = 7;
  assert_ok(&context, rf_flow_run(&context, &watched, &problem, &settings));
  assert_true(film.count > 200);
  assert_true(film.frozen > 0);
  assert_true(film.log_t[0] == -INFINITY);
  assert_false(film.backwards);
  assert_true(film.events > 0);
  assert_true(film.worst_q < 1e-9);
  assert_true(film.worst_speed < 300);
  assert_close(watched.limit.margin, plain.limit.margin, 1e-12 * plain.limit.margin);
  assert_int_equal(watched.n_events, plain.n_events);
  for (rf_index j = 0; j < plain.n_events; j++)
    assert_close(watched.events[j].log_t, plain.events[j].log_t, 1e-7);
  rf_flow_result_free(&plain);
  rf_flow_result_free(&watched);
  rf_flow_start_free(&start);
  rf_net_free(&net);
  rf_dataset_free(&data);
}

static void observed_states(void **state) {
  (void)state;
  film_flow(log(1e-2), 1);
  film_flow(-60, 1);
}

static void data_of_other_size(void **state) {
  (void)state;
  film_flow(log(1e-4), 0x1p-20);
}

static void ignore(void *observer, const RfFlowMoment *moment) { (void)observer, (void)moment; }

/* From a tiny start crossings come from the closed form, watched ones from the integrator: the same events of
 * the same kinds, slides and deaths among them. */
static void kinds_agree(void **state) {
  (void)state;
  RfContext context;
  rf_index seen[5] = {0};
  rf_context_init(&context);
  for (uint64_t seed = 0; seed < 6; seed++) {
    char name[60];
    RfDataset data;
    RfNet net;
    RfFlowStart start;
    RfFlowSettings settings;
    RfFlowResult plain, watched;
    snprintf(name, sizeof name, "gaussian,n=7,d=2,seed=%d", (int)seed);
    assert_ok(&context, rf_data_generate(&context, &data, name));
    assert_ok(&context, rf_net_init(&context, &net, RF_INIT_BALANCED, m, data.d, 0, seed, 1));
    assert_ok(&context, rf_flow_start_from_net(&context, &start, &net));
    RfFlowProblem problem = {
        .X = data.X, .y = data.y, .n = data.n, .d = data.d, .start = &start, .log_scale = -40};
    rf_flow_settings_init(&settings);
    settings.branches = RF_BRANCHES_FOLLOW, settings.check_direction = false;
    assert_true(rf_flow_run(&context, &plain, &problem, &settings) >= 0);
    settings.observe = ignore;
    assert_true(rf_flow_run(&context, &watched, &problem, &settings) >= 0);
    rf_index early = 0; /* events while the weights are tiny */
    while (early < plain.n_events && plain.events[early].q_min > -1e-6 && plain.events[early].q_min < 1e-6)
      early++;
    assert_true(early <= watched.n_events);
    for (rf_index j = 0; j < early; j++) {
      assert_int_equal(watched.events[j].neuron, plain.events[j].neuron);
      assert_int_equal(watched.events[j].sample, plain.events[j].sample);
      assert_int_equal(watched.events[j].kind, plain.events[j].kind);
      seen[plain.events[j].kind]++;
    }
    rf_flow_result_free(&plain), rf_flow_result_free(&watched);
    rf_flow_start_free(&start);
    rf_net_free(&net);
    rf_dataset_free(&data);
  }
  assert_true(seen[RF_EVENT_CROSS] > 0 && seen[RF_EVENT_SLIDE] > 0 && seen[RF_EVENT_DIE] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(observed_states), cmocka_unit_test(data_of_other_size),
                                     cmocka_unit_test(kinds_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
