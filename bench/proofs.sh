#!/usr/bin/env bash
# Proof files of everything that is solved, through both checkers: bench/proofs.py.
exec python3 bench/proofs.py "$@"
