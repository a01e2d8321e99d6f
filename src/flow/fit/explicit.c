/* Explicit Runge-Kutta method of order 8 with embedded estimates of order 5 and 3 and dense output of order
 * 7, and for steps that an event will cut anyway one of order 5 with an estimate and dense output of order 4,
 * at less than half the evaluations (Dormand and Prince; Hairer, Norsett, Wanner, Solving Ordinary
 * Differential Equations I, II.5 and II.6). */
#include "core/core.h"
#include "flow/dopri5.h"
#include "flow/flow_internal.h"
#include "flow/flow_tolerances.h"

#include <math.h>
#include <string.h>

/* Stage s = f(y + h sum_j tableau[s][j] stage_j); stage 12 is f at the new point, 13-15 serve the dense
 * output. */
static const double tableau[RF_EXPLICIT_STAGES][RF_EXPLICIT_STAGES] = {
    {0},
    {5.26001519587677318785587544488e-2},
    {1.97250569845378994544595329183e-2, 5.91751709536136983633785987549e-2},
    {2.95875854768068491816892993775e-2, 0, 8.87627564304205475450678981324e-2},
    {2.41365134159266685502369798665e-1, 0, -8.84549479328286085344864962717e-1,
     9.24834003261792003115737966543e-1},
    {3.7037037037037037037037037037e-2, 0, 0, 1.70828608729473871279604482173e-1,
     1.25467687566822425016691814123e-1},
    {3.7109375e-2, 0, 0, 1.70252211019544039314978060272e-1, 6.02165389804559606850219397283e-2,
     -1.7578125e-2},
    {3.70920001185047927108779319836e-2, 0, 0, 1.70383925712239993810214054705e-1,
     1.07262030446373284651809199168e-1, -1.53194377486244017527936158236e-2,
     8.27378916381402288758473766002e-3},
    {6.24110958716075717114429577812e-1, 0, 0, -3.36089262944694129406857109825e0,
     -8.68219346841726006818189891453e-1, 2.75920996994467083049415600797e1,
     2.01540675504778934086186788979e1, -4.34898841810699588477366255144e1},
    {4.77662536438264365890433908527e-1, 0, 0, -2.48811461997166764192642586468e0,
     -5.90290826836842996371446475743e-1, 2.12300514481811942347288949897e1,
     1.52792336328824235832596922938e1, -3.32882109689848629194453265587e1,
     -2.03312017085086261358222928593e-2},
    {-9.3714243008598732571704021658e-1, 0, 0, 5.18637242884406370830023853209e0,
     1.09143734899672957818500254654e0, -8.14978701074692612513997267357e0,
     -1.85200656599969598641566180701e1, 2.27394870993505042818970056734e1, 2.49360555267965238987089396762e0,
     -3.0467644718982195003823669022e0},
    {2.27331014751653820792359768449e0, 0, 0, -1.05344954667372501984066689879e1,
     -2.00087205822486249909675718444e0, -1.79589318631187989172765950534e1,
     2.79488845294199600508499808837e1, -2.85899827713502369474065508674e0,
     -8.87285693353062954433549289258e0, 1.23605671757943030647266201528e1,
     6.43392746015763530355970484046e-1},
    {5.42937341165687622380535766363e-2, 0, 0, 0, 0, 4.45031289275240888144113950566e0,
     1.89151789931450038304281599044e0, -5.8012039600105847814672114227e0, 3.1116436695781989440891606237e-1,
     -1.52160949662516078556178806805e-1, 2.01365400804030348374776537501e-1,
     4.47106157277725905176885569043e-2},
    {5.61675022830479523392909219681e-2, 0, 0, 0, 0, 0, 2.53500210216624811088794765333e-1,
     -2.46239037470802489917441475441e-1, -1.24191423263816360469010140626e-1,
     1.5329179827876569731206322685e-1, 8.20105229563468988491666602057e-3,
     7.56789766054569976138603589584e-3, -8.298e-3},
    {3.18346481635021405060768473261e-2, 0, 0, 0, 0, 2.83009096723667755288322961402e-2,
     5.35419883074385676223797384372e-2, -5.49237485713909884646569340306e-2, 0, 0,
     -1.08347328697249322858509316994e-4, 3.82571090835658412954920192323e-4,
     -3.40465008687404560802977114492e-4, 1.41312443674632500278074618366e-1},
    {-4.28896301583791923408573538692e-1, 0, 0, 0, 0, -4.69762141536116384314449447206e0,
     7.68342119606259904184240953878e0, 4.06898981839711007970213554331e0, 3.56727187455281109270669543021e-1,
     0, 0, 0, -1.39902416515901462129418009734e-3, 2.9475147891527723389556272149e0,
     -9.15095847217987001081870187138e0},
};

static const double error_5[12] = {0.1312004499419488073250102996e-01,
                                   0,
                                   0,
                                   0,
                                   0,
                                   -0.1225156446376204440720569753e+01,
                                   -0.4957589496572501915214079952e+00,
                                   0.1664377182454986536961530415e+01,
                                   -0.3503288487499736816886487290e+00,
                                   0.3341791187130174790297318841e+00,
                                   0.8192320648511571246570742613e-01,
                                   -0.2235530786388629525884427845e-01};

/* Weights of the third-order solution: stages 0, 8, 11. */
static const double third_0 = 0.244094488188976377952755905512e+00,
                    third_8 = 0.733846688281611857341361741547e+00,
                    third_11 = 0.220588235294117647058823529412e-01;

static const double dense[4][RF_EXPLICIT_STAGES] = {
    {-0.84289382761090128651353491142e+01, 0, 0, 0, 0, 0.56671495351937776962531783590e+00,
     -0.30689499459498916912797304727e+01, 0.23846676565120698287728149680e+01,
     0.21170345824450282767155149946e+01, -0.87139158377797299206789907490e+00,
     0.22404374302607882758541771650e+01, 0.63157877876946881815570249290e+00,
     -0.88990336451333310820698117400e-01, 0.18148505520854727256656404962e+02,
     -0.91946323924783554000451984436e+01, -0.44360363875948939664310572000e+01},
    {0.10427508642579134603413151009e+02, 0, 0, 0, 0, 0.24228349177525818288430175319e+03,
     0.16520045171727028198505394887e+03, -0.37454675472269020279518312152e+03,
     -0.22113666853125306036270938578e+02, 0.77334326684722638389603898808e+01,
     -0.30674084731089398182061213626e+02, -0.93321305264302278729567221706e+01,
     0.15697238121770843886131091075e+02, -0.31139403219565177677282850411e+02,
     -0.93529243588444783865713862664e+01, 0.35816841486394083752465898540e+02},
    {0.19985053242002433820987653617e+02, 0, 0, 0, 0, -0.38703730874935176555105901742e+03,
     -0.18917813819516756882830838328e+03, 0.52780815920542364900561016686e+03,
     -0.11573902539959630126141871134e+02, 0.68812326946963000169666922661e+01,
     -0.10006050966910838403183860980e+01, 0.77771377980534432092869265740e+00,
     -0.27782057523535084065932004339e+01, -0.60196695231264120758267380846e+02,
     0.84320405506677161018159903784e+02, 0.11992291136182789328035130030e+02},
    {-0.25693933462703749003312586129e+02, 0, 0, 0, 0, -0.15418974869023643374053993627e+03,
     -0.23152937917604549567536039109e+03, 0.35763911791061412378285349910e+03,
     0.93405324183624310003907691704e+02, -0.37458323136451633156875139351e+02,
     0.10409964950896230045147246184e+03, 0.29840293426660503123344363579e+02,
     -0.43533456590011143754432175058e+02, 0.96324553959188282948394950600e+02,
     -0.39177261675615439165231486172e+02, -0.14972683625798562581422125276e+03}};

/* The method of order 5 (dopri5.h), and the last term of its dense output. */
enum { LOW = RF_DOPRI5_STAGES - 1 };
static const double low_dense[LOW + 1] = {-12715105075.0 / 11282082432,  0,
                                          87487479700.0 / 32700410799,   -10690763975.0 / 1880347072,
                                          701980252875.0 / 199316789632, -1453857185.0 / 822651844,
                                          69997945.0 / 29380423};

void rf_explicit_free(RfExplicit *method) {
  rf_free(method->memory);
  memset(method, 0, sizeof *method);
}

RfStatus rf_explicit_new(RfContext *context, RfExplicit *method, rf_index size) {
  memset(method, 0, sizeof *method);
  method->memory = RF_NEW(double, size *(RF_EXPLICIT_STAGES + 2 + RF_DENSE_TERMS));
  if (!method->memory) return rf_fail(context, RF_ERR_MEMORY, "out of memory for the integrator");
  method->size = size;
  for (int s = 0; s < RF_EXPLICIT_STAGES; s++) method->stage[s] = method->memory + s * size;
  method->point = method->memory + RF_EXPLICIT_STAGES * size;
  method->end = method->point + size;
  for (int s = 0; s < RF_DENSE_TERMS; s++) method->dense[s] = method->end + (s + 1) * size;
  return RF_OK;
}

/* point = y + h sum_j row_j stage_j, j < count. */
static void stage_point(const RfExplicit *method, double *point, const double *y, const double *row,
                        int count, double h, rf_index size) {
  memcpy(point, y, (size_t)size * sizeof(double));
  for (int j = 0; j < count; j++) {
    double factor = h * row[j];
    const double *k = method->stage[j];
    if (row[j] == 0) continue;
    for (rf_index i = 0; i < size; i++) point[i] += factor * k[i];
  }
}

/* What counts as an error of 1 in each component: unit vectors and log-norms absolutely, the time relatively.
 */
static double component_scale(const RfSystem *system, rf_index i, const double *y, double tol,
                              double time_scale) {
  rf_index units = system->units, d = system->d;
  if (i < units * d && system->grade && !system->problem->freeze_second) {
    double reach = rf_system_amplitude(system, y[units * (d + 1) + i / d]) * system->grade[i % d];
    return fmin(tol, fmax(RF_TOL_MARGIN_FINE / reach, RF_TOL_MARGIN_LEAST * fabs(y[i])));
  }
  if (i < units * (d + 1)) return system->problem->freeze_second ? tol * fmax(1, fabs(y[i])) : tol;
  if (i < units * (d + 2)) return tol * fmax(1, RF_TOL_LOG_NORM * fabs(y[i]));
  return time_scale;
}

/* The clock is e^{-ln S}, and ln S a margin: no better than its rounding. */
static double scale_of_time(const RfSystem *system, double h, double tol) {
  double scale = fmax(tol, RF_TOL_ROUNDING * fabs(system->log_S_step));
  return scale * (exp(fmin(system->log_t + system->log_S_step, 600)) + h);
}

/* f at stage j of the method of order 5, LOW: at the end. */
static const double *low_stage(const RfExplicit *method, int j) { return method->stage[j < LOW ? j : 12]; }

RF_HOT static double explicit_try_low(RfExplicit *method, RfSystem *system, double h, double tol) {
  rf_index size = rf_system_size(system);
  const double *y = system->y;
  for (int s = 1; s < LOW; s++) {
    if (rf_context_stop(system->context)) return NAN;
    stage_point(method, method->point, y, rf_dopri5[s], s, h, size);
    rf_system_rhs(system, method->point, method->stage[s]);
  }
  stage_point(method, method->end, y, rf_dopri5[LOW], LOW, h, size);
  rf_system_rhs(system, method->end, method->stage[12]);
  double time_scale = scale_of_time(system, h, tol), worst = 0;
  for (rf_index i = 0; i < size; i++) {
    double sum = 0;
    for (int j = 0; j <= LOW; j++) sum += rf_dopri5_error[j] * low_stage(method, j)[i];
    double error = fabs(h * sum) / component_scale(system, i, y, tol, time_scale);
    if (!(error <= 1e300)) return INFINITY;
    worst = fmax(worst, error);
  }
  return worst;
}

RF_HOT static double explicit_try_hot(RfExplicit *method, RfSystem *system, double h, double tol) {
  rf_index size = rf_system_size(system);
  const double *y = system->y;
  for (int s = 1; s < 12; s++) {
    if (rf_context_stop(system->context)) return NAN;
    stage_point(method, method->point, y, tableau[s], s, h, size);
    rf_system_rhs(system, method->point, method->stage[s]);
  }
  stage_point(method, method->end, y, tableau[12], 12, h, size);
  double time_scale = scale_of_time(system, h, tol), e5 = 0, e3 = 0;
  for (rf_index i = 0; i < size; i++) {
    double five = 0, full = 0;
    for (int j = 0; j < 12; j++) {
      five += error_5[j] * method->stage[j][i];
      full += tableau[12][j] * method->stage[j][i];
    }
    double three = full - third_0 * method->stage[0][i] - third_8 * method->stage[8][i] -
                   third_11 * method->stage[11][i];
    double scale = component_scale(system, i, y, tol, time_scale);
    e5 = fmax(e5, fabs(five) / scale);
    e3 = fmax(e3, fabs(three) / scale);
  }
  e5 *= fabs(h), e3 *= fabs(h); /* first, since the squares of slow motions underflow */
  double both = hypot(e5, 0.1 * e3);
  if (!isfinite(both)) return INFINITY;
  return both > 0 ? e5 * (e5 / both) : 0;
}

double rf_explicit_try(RfExplicit *method, RfSystem *system, double h, double tol) {
  return method->low ? explicit_try_low(method, system, h, tol) : explicit_try_hot(method, system, h, tol);
}

void rf_explicit_end(RfExplicit *method, RfSystem *system) {
  if (!method->low) rf_system_rhs(system, method->end, method->stage[12]);
}

bool rf_explicit_stiff(const RfExplicit *method, const RfSystem *system, double h) {
  rf_index size = rf_system_clock(system);
  if (method->low) return false; /* accuracy, or an event */
  double top = 0,
         bottom = 0; /* stages 11 and 12 sit at the same time: their difference shows h times an eigenvalue */
  for (rf_index i = 0; i < size; i++) {
    double df = h * (method->stage[12][i] - method->stage[11][i]), dy = method->end[i] - method->point[i];
    top += df * df, bottom += dy * dy;
  }
  return bottom > 0 && sqrt(top / bottom) > RF_EXPLICIT_STABLE;
}

RF_HOT static void explicit_dense_hot(RfExplicit *method, RfSystem *system, double h) {
  rf_index size = rf_system_size(system);
  const double *y = system->y;
  for (int s = 13; s < RF_EXPLICIT_STAGES && !method->low; s++) {
    stage_point(method, method->point, y, tableau[s], s, h, size);
    rf_system_rhs(system, method->point, method->stage[s]);
  }
  for (rf_index i = 0; i < size; i++) {
    double step = method->end[i] - y[i], bend = h * method->stage[0][i] - step;
    method->dense[0][i] = y[i];
    method->dense[1][i] = step;
    method->dense[2][i] = bend;
    method->dense[3][i] = step - h * method->stage[12][i] - bend;
  }
  for (int r = 0; r < 4; r++) {
    double *out = method->dense[4 + r];
    memset(out, 0, (size_t)size * sizeof(double));
    for (int j = 0; j <= LOW && method->low && r == 0; j++)
      rf_la_axpy(out, h * low_dense[j], low_stage(method, j), size);
    for (int j = 0; j < RF_EXPLICIT_STAGES && !method->low; j++) {
      double factor = h * dense[r][j];
      const double *k = method->stage[j];
      if (factor == 0) continue;
      for (rf_index i = 0; i < size; i++) out[i] += factor * k[i];
    }
  }
}

void rf_explicit_dense(RfExplicit *method, RfSystem *system, double h) {
  explicit_dense_hot(method, system, h);
}

double rf_dense_value(const double *terms, double s) {
  double r = 1 - s;
  double inner = terms[4] + s * (terms[5] + r * (terms[6] + s * terms[7]));
  return terms[0] + s * (terms[1] + r * (terms[2] + s * (terms[3] + r * inner)));
}

RF_HOT static void explicit_at_hot(const RfExplicit *method, double *y, double s, rf_index size) {
  double terms[RF_DENSE_TERMS];
  for (rf_index i = 0; i < size; i++) {
    for (int r = 0; r < RF_DENSE_TERMS; r++) terms[r] = method->dense[r][i];
    y[i] = rf_dense_value(terms, s);
  }
}

void rf_explicit_at(const RfExplicit *method, double *y, double s, rf_index size) {
  explicit_at_hot(method, y, s, size);
}
