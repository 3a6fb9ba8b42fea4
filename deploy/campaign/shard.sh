#!/bin/sh
# Explores one shard. The Job and the workflow run this script. Other engines can run it too.
#   SHARD      i/n, where i counts from 0
#   RESULTS    the folder for the results of this shard, or of all shards
#   WORLDS     files, folders or names of scenarios, separated by blanks
#   ARGS       further flags of "threelaws explore"
# If a law is violated, the shard has done its work, and the script succeeds. Other errors make it fail.
set -u
code=0
# shellcheck disable=SC2086 # the words are separate arguments
"${THREELAWS:-threelaws}" explore --shard "$SHARD" --results "$RESULTS" --out "${OUT:-$RESULTS/failures}" \
  ${ARGS:-} -- $WORLDS || code=$?
case "$code" in
0 | 1 | 3 | 5) exit 0 ;;
*) exit "$code" ;;
esac
