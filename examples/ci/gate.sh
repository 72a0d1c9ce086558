#!/usr/bin/env bash
# A CI step: measures retrieval on the golden set and fails where it got worse than the stored baseline.
#   npx errata evaluate --report baseline.json      # once, and after every wanted change; commit it
#   examples/ci/gate.sh gate.json baseline.json     # in CI
# Exit codes: 0 passed, 1 a regression (the queries are named), 2 could not run.
set -uo pipefail

npx errata evaluate --gate "${1:-gate.json}" --baseline "${2:-baseline.json}" --out "${3:-errata-report}"
status=$?
case $status in
  0) echo "retrieval gate: passed" ;;
  1) echo "retrieval gate: failed, see ${3:-errata-report}/report.html" ;;
  *) echo "retrieval gate: could not run (exit code $status)" >&2 ;;
esac
exit "$status"
