/* reluflow: where does gradient flow go, and is that the best margin there is? All rooms. */
#ifndef RELUFLOW_H
#define RELUFLOW_H
#include "reluflow/core.h"
#include "reluflow/data.h"
#include "reluflow/margin.h"
#include "reluflow/geometry.h"
#include "reluflow/net.h"
#include "reluflow/layers.h"
#include "reluflow/optimum.h"
#include "reluflow/train.h"
#include "reluflow/certify.h"
#include "reluflow/flow.h"
#include "reluflow/theory.h"
#include "reluflow/study.h"
#endif
