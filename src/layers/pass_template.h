/* The block pass as a type and four functions, for one number type: include with REAL (the type) and NAME(x)
 * (decorates a name) defined. The bodies are in pass_body.h. */

typedef struct NAME(RfPass) {
  const RfLayeredNet *net; /* shapes; the weights are theta below */
  const REAL *theta;
  rf_index block; /* most rows at a time */
  REAL leak;
  bool fused_head;
  REAL **z;         /* z[l]: block rows of outputs of layer l */
  REAL **input;     /* input[l]: block rows of phi(z[l-1]); NULL for l = 0 (reads X) and for a fused head */
  REAL *g, *g_next; /* sensitivities d/dz of the current layer and of the one before */
  REAL *columns;    /* unfolded patches of one sample (convolutions) */
  REAL *conv;       /* scratch of the convolutions that need no unfolding; NULL = none is of that kind */
} NAME(RfPass);

RfStatus NAME(rf_pass_new)(RfContext *context, NAME(RfPass) * pass, const RfLayeredNet *net,
                           const REAL *theta);
void NAME(rf_pass_free)(NAME(RfPass) * pass);
/* Fills z for `rows` samples (<= pass->block) and returns the outputs, rows x outputs. */
const REAL *NAME(rf_pass_forward)(NAME(RfPass) * pass, const REAL *X, rf_index rows);
/* After the forward pass on the same X: gradient += sum over rows and outputs of weights * df/dtheta. */
void NAME(rf_pass_backward)(NAME(RfPass) * pass, REAL *gradient, const REAL *X, const REAL *weights,
                            rf_index rows, bool skip_fixed);
