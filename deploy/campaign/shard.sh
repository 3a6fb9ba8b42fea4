#!/bin/sh
# Explores one shard. The Job and the workflow run it, and so can any other engine.
#   SHARD      i/n, where i counts from 0
#   RESULTS    the folder of the results, which all shards share or which is collected
#   WORLDS     files, folders or names of scenarios, separated by blanks
#   ARGS       further flags of "threelaws explore"
# A violation is a result like any other, so the shard succeeds. What cannot be explored fails it.
set -u
code=0
# shellcheck disable=SC2086 # the words are separate arguments
"${THREELAWS:-threelaws}" explore --shard "$SHARD" --results "$RESULTS" --out "${OUT:-$RESULTS/failures}" \
  ${ARGS:-} -- $WORLDS || code=$?
case "$code" in
0 | 1 | 3 | 5) exit 0 ;;
*) exit "$code" ;;
esac
