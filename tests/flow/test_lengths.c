/* Rows of lengths from 1e-6 to 1e6, each problem by its seed and number (as bench/random_flow.c draws them):
 * what the flow once left undecided, and a certificate of the limit that does not come from the flow. */
#include "rf_test.h"

#include <math.h>

#include "families.h"
#include "flow/flow_internal.h"
#include "reluflow/certify.h"

typedef struct Found {
  uint64_t seed;
  rf_index number;
  RfFlowOutcome outcome;
} Found;

static const Found found[] = {
    /* a neuron that a long row needs is 1e-9 of the network: dropped, and no KKT point was left */
    {1, 0, RF_FLOW_NOT_SEPARATED},
    {1, 58, RF_FLOW_NOT_SEPARATED},
    {1, 77, RF_FLOW_NOT_SEPARATED},
    /* cosines of 1e-12 with long rows drowned in the rounding of w.x: step limit */
    {1, 3, RF_FLOW_CONVERGED},
    {1, 20, RF_FLOW_CONVERGED},
    /* the Jacobian left out a long row of weight 1e-13: step limit */
    {1, 6, RF_FLOW_CONVERGED},
    /* margins that are differences of terms 1e12 times as large: step limit, velocity off by 2e-4, balance by
     * 9e-6 */
    {1, 7, RF_FLOW_CONVERGED},
    {1, 42, RF_FLOW_CONVERGED},
    {1, 54, RF_FLOW_CONVERGED},
    {1, 67, RF_FLOW_CONVERGED},
    /* a step went past v = 0, and w had changed its sign instead of a: a limit 0.11 and 0.57 away */
    {1, 70, RF_FLOW_CONVERGED},
    {1, 118, RF_FLOW_CONVERGED},
    /* 1e-13 behind the hyperplane of a long row a margin is 3 off: velocity off by 0.27 and 6e-3 */
    {7, 48, RF_FLOW_CONVERGED},
    {7, 35, RF_FLOW_CONVERGED},
    /* a wall let go late: events off by 0.014 */
    {1, 135, RF_FLOW_NOT_SEPARATED},
    /* rows on one line: a group was judged by its share of the network; no KKT point */
    {1, 126, RF_FLOW_CONVERGED},
    {1794801473, 8, RF_FLOW_NOT_SEPARATED},
    /* a group of 1e-7 of the network, on its way to nothing, held a long row's margin: without it the state
     * does not separate, its solution does; no KKT point */
    {1, 66, RF_FLOW_CONVERGED},
    /* hundreds of ulps beyond a long row's hyperplane are a margin, and the unit was put back for ever */
    {1, 51, RF_FLOW_CONVERGED},
    /* where a step meets a hyperplane is known to the rounding of the margins times its length: a unit put
     * there upset them, and the audit found velocities off by 0.29 and 0.07 */
    {1, 100, RF_FLOW_CONVERGED},
    {1794802322, 0, RF_FLOW_CONVERGED},
    {1794802322, 11, RF_FLOW_CONVERGED},
    /* slopes are known to the rounding of the margins: slides let go and taken up again by the thousand */
    {1, 53, RF_FLOW_CONVERGED},
    {1794801473, 91, RF_FLOW_NOT_SEPARATED},
    /* what every evaluation writes behind a derivative went over the first derivative of the step: a trial
     * that was not the first began with zeros, balance off by 2.5e-4 */
    {1794835706, 114, RF_FLOW_CONVERGED},
    /* a unit that slides has no part in a margin any more, whose rounding counted as a move: velocity off by
     * 0.56 and 0.13, then a kink of cosine 7e-11 that makes a whole margin: no KKT point */
    {1794825573, 113, RF_FLOW_CONVERGED},
    {1794825573, 130, RF_FLOW_CONVERGED},
    {1794825573, 144, RF_FLOW_CONVERGED},
    /* margins brought back by w alone: balance off by 4e-6, and two runs 2 apart; numbers past overflow: a
       failure */
    {1794801473, 99, RF_FLOW_NOT_SEPARATED},
    {1794803333, 9, RF_FLOW_CONVERGED},
    {1794803333, 10, RF_FLOW_BRANCHED},
    /* parting a unit moved the margin of a long row by 1000: events off by 0.14 */
    {1794801473, 64, RF_FLOW_CONVERGED},
    /* putting units back on their hyperplanes upset the margins of long rows by 0.9: no step longer than its
     * transient, 120000 of them, and no KKT point */
    {1794802322, 3, RF_FLOW_CONVERGED},
    /* rounding keeps the scale at margins of 15, where rest is 0.014 from the limit: the direction still
       moves */
    {7, 37, RF_FLOW_CONVERGED},
    {1, 84, RF_FLOW_CONVERGED},
    /* the same, and slides that the limit lets go: margins are carried beside the weights, and the scale is
     * frozen at 1e6 */
    {1794801473, 45, RF_FLOW_CONVERGED},
    {1794801473, 157, RF_FLOW_CONVERGED},
    {1794801473, 170, RF_FLOW_CONVERGED},
    /* one input: a unit at rest at w = 1e-12 was sent from w = 0 to 2e-9, without end */
    {1794801473, 160, RF_FLOW_NOT_SEPARATED},
    {1794801473, 177, RF_FLOW_NOT_SEPARATED},
    {1794803333, 50, RF_FLOW_NOT_SEPARATED},
    {1794803333, 93, RF_FLOW_NOT_SEPARATED},
    /* ln S = 2e6 is known to 5e-10, and the time of a step was to be right to 1e-11: no step */
    {1794801473, 63, RF_FLOW_NOT_SEPARATED},
    /* neurons of a merged unit parted across the hyperplane that had held it: sides off by 1e-7 and 4e-7 */
    {1794851367, 110, RF_FLOW_CONVERGED},
    {1794851367, 786, RF_FLOW_NOT_SEPARATED},
    /* what the weights move to follow the margins was taken for a way back across a hyperplane just left */
    {1794851367, 475, RF_FLOW_NOT_SEPARATED},
    /* slopes were not looked at where two trials are interpolated: velocity off by 7e-5 */
    {1794851367, 1019, RF_FLOW_CONVERGED},
    /* put back from 1e-11 beyond a hyperplane that nothing drives it across: a margin off by 0.05 */
    {1794851367, 1574, RF_FLOW_NOT_SEPARATED},
    /* put on a hyperplane from within the rounding of a step, and the margins were not kept */
    {1794851367, 1625, RF_FLOW_CONVERGED},
    {1794851367, 1835, RF_FLOW_CONVERGED},
    /* the rounding of a weightless row's margin was that of every slope; mirrored rows that nearly cancel */
    {1794851367, 1769, RF_FLOW_NOT_SEPARATED},
    {1794851367, 1948, RF_FLOW_NOT_SEPARATED},
    /* a slide that holds beyond its slope by 2e-8 only, which is 6e-8 of a direction beside a long row: a KKT
     * residual of 1e-8, groups that cannot agree on their sizes, no KKT point */
    {1794851367, 1360, RF_FLOW_CONVERGED},
    {1794851367, 1304, RF_FLOW_CONVERGED},
    {1794851367, 1006, RF_FLOW_CONVERGED},
    {1794859253, 133, RF_FLOW_CONVERGED},
    {1794859253, 208, RF_FLOW_CONVERGED},
    /* with walls that hold with slopes of 1e-287 */
    {1794851367, 66, RF_FLOW_NOT_SEPARATED},
    /* a sample of next to no weight keeps a group: no KKT point without it */
    {1794851367, 553, RF_FLOW_CONVERGED},
    /* what putting groups on hyperplanes moves the margins of the polish by */
    {1794851367, 1350, RF_FLOW_CONVERGED},
    /* an input that is rounding makes 1e-4 of the least margin: no kink, and the certificate failed */
    {1794851367, 1434, RF_FLOW_CONVERGED},
    /* weights that are known to 3e-6, beside a slope of a sample 1e6 times lighter: let go and taken up for
     * ever
     */
    {1794851367, 36, RF_FLOW_NOT_SEPARATED},
    /* the same move of the weights, however far, in trials that become ever shorter: no step */
    {1794859253, 183, RF_FLOW_CONVERGED},
};

static void found_before(void **state) {
  (void)state;
  size_t undecided = 0;
  for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
    RfContext context;
    FamilyProblem p;
    RfFlowSettings settings;
    RfFlowResult result;
    rf_context_init(&context);
    assert_ok(&context,
              family_problem_new(&context, &p, FAMILY_LENGTHS, found[k].seed, found[k].number, false));
    rf_flow_settings_init(&settings);
    assert_true(rf_flow_run(&context, &result, &p.flow, &settings) >= 0);
    print_message("%llu/%lld: %s %s\n", (unsigned long long)found[k].seed, (long long)found[k].number,
                  rf_flow_outcome_name(result.limit.outcome), result.limit.why);
    bool open = family_left_open(&result.limit, found[k].outcome);
    undecided += open;
    assert_true(result.audit.passed);
    if (!open) assert_int_equal(result.limit.outcome, found[k].outcome);
    if (!open && found[k].outcome == RF_FLOW_CONVERGED) {
      RfKkt kkt = {0};
      assert_ok(&context, rf_certify_kkt(&context, &kkt, &result.limit.net, p.X, p.y, p.n));
      assert_true(kkt.holds);
      assert_relative(kkt.margin, result.limit.margin, 1e-9);
      rf_kkt_free(&kkt);
    }
    rf_flow_result_free(&result);
    family_problem_free(&p);
  }
  assert_true(8 * undecided <= sizeof found / sizeof *found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(found_before)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
