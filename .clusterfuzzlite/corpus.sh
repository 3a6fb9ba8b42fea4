#!/bin/sh
# Writes the seed corpora to the folder $1: for FuzzParse the scenarios, for the others what their worlds are drawn from.
set -eu
mkdir -p "$1/fuzz_parse"
find scenarios/testdata -name '*.txtar' | LC_ALL=C sort | while read -r f; do
  cp "$f" "$1/fuzz_parse/$(echo "${f#scenarios/testdata/}" | tr / -)"
done
# The bytes of a scenario's steps are choices of a schedule like any others.
for target in fuzz_ownership_race fuzz_ownership fuzz_server; do
  mkdir -p "$1/$target"
  find scenarios/testdata -name '*.txtar' | LC_ALL=C sort | sed -n '1~20p' | while read -r f; do
    head -c 256 "$f" >"$1/$target/$(basename "$f" .txtar)"
  done
done
