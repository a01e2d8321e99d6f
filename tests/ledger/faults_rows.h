    {"WP-01", {WRONG_OPTIMUM}},
