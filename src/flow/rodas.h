/* RODAS: a linearly implicit (Rosenbrock) method of order 4 with an embedded estimate of order 3, stiffly
 * accurate and L-stable (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7). Stage s solves
 * (1/(h gamma) - J) u_s = f(y + sum_r a_sr u_r) + sum_r c_sr/h u_r; the last one is the estimate. */
#ifndef RELUFLOW_FLOW_RODAS_H
#define RELUFLOW_FLOW_RODAS_H

enum { RF_RODAS_STAGES = 6 };

static const double rf_rodas_gamma = 0.25;
static const double rf_rodas_a[RF_RODAS_STAGES][RF_RODAS_STAGES] = {
    {0},
    {1.544},
    {0.9466785280815826, 0.2557011698983284},
    {3.314825187068521, 2.896124015972201, 0.9986419139977817},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950},
    {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1}};
static const double rf_rodas_c[RF_RODAS_STAGES][RF_RODAS_STAGES] = {
    {0},
    {-5.6688},
    {-2.430093356833875, -0.2063599157091915},
    {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
    {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
    {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};

#endif
