#!/bin/sh
# Merges the results of all shards into RESULTS/merged: a summary, a page, the merged result, and a file for each
# violation. It fails if a law was violated, or if a result is missing.
set -eu
mkdir -p "$RESULTS/merged"
code=0
# shellcheck disable=SC2086 # the words are separate arguments
"${THREELAWS:-threelaws}" merge ${ARGS:-} --out "$RESULTS/merged/failures" --html "$RESULTS/merged/campaign.html" \
  -o "$RESULTS/merged/campaign.jsonl" "$RESULTS" >"$RESULTS/merged/campaign.txt" || code=$?
cat "$RESULTS/merged/campaign.txt"
exit "$code"
