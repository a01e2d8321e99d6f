#!/usr/bin/env bash
# Flows at the size of real data: digits (45 pairs), breast cancer and iris, random labels with scaling exponents, wide networks, MNIST where
# RELUFLOW_DATA names a folder that holds it. bench/run large [--only digits,real,random,wide,mnist] [--seconds S] [--markdown]
exec python3 "$(dirname "$0")/large.py" "$@"
