#!/usr/bin/env bash
# Four phase diagrams: each one sweep and one picture, some minutes on two cores. Run in an empty folder:
#   examples/phase_diagrams.sh [optimum] [scale] [alignment] [width]
# A sweep that was interrupted goes on where it stopped.
set -eu
reluflow=${RELUFLOW:-reluflow}
wanted=${*:-optimum scale alignment width}
for diagram in $wanted; do
  case $diagram in
    optimum) # how often does gradient flow reach the proved optimum, by samples per dimension and width?
      $reluflow sweep flow 'gen:gaussian,n={4,6,8,10,12,14,16},d=4,seed=0..19' --width 2,4,8,16,32 --scale limit --store optimum.db
      $reluflow sweep plot optimum.db --kind heat --x 'n*1.0/d' --y width --color "iif(limit.status='not-separated',0,verdict.global=optimum)" -o optimum.svg --report optimum.html ;;
    scale) # what share of the best margin is reached, by the scale of the initial weights?
      $reluflow sweep flow 'gen:gaussian,n=10,d=5,seed=0..19' --scale 'log(1e-6..1..7),limit' --width 20 --store scale.db
      $reluflow sweep plot scale.db --kind violin --x scale --y '1-verdict.gap' -o scale.svg --report scale.html ;;
    alignment) # how long does alignment take, by the separability of the data?
      $reluflow sweep flow 'gen:separated,n=20,d={3,5},sep={0.02,0.05,0.1,0.2,0.3,0.4,0.5},seed=0..29' --width 20 --until time=1e-3 --verdict 0 --store alignment.db
      $reluflow sweep plot alignment.db --x sep --y alignment.t1 --color d -o alignment.svg --report alignment.html ;;
    width) # what share of starts separates the data, by width?
      $reluflow sweep flow 'gen:gaussian,n={6,10,14},d=4,seed=0..9' --seed 0..4 --width 1..12 --scale limit --verdict 0 --store width.db
      $reluflow sweep plot width.db --x width --y limit.status=converged --color n -o width.svg --report width.html ;;
    *) echo "$diagram: expected optimum, scale, alignment or width" >&2; exit 2 ;;
  esac
done
