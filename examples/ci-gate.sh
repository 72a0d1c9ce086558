#!/usr/bin/env bash
# A CI step: measures retrieval on the golden set and fails when it fell below the stored baseline.
#   npx errata evaluate --report baseline.json     # once, then commit baseline.json
set -euo pipefail

status=0
npx errata evaluate --baseline "${1:-baseline.json}" --report evaluation.json || status=$?
case $status in
  0) echo "retrieval is as good as the baseline" ;;
  1) echo "retrieval got worse; see evaluation.json" >&2 ;;
  *) echo "the evaluation could not run (exit code $status; see errata --help)" >&2 ;;
esac
exit "$status"
