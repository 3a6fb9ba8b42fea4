#!/bin/bash -eu
# Builds the native fuzz targets for OSS-Fuzz and ClusterFuzzLite, each with its seed corpus.
cd "$SRC/threelaws"
go get github.com/AdamKorczynski/go-118-fuzz-build/testing
corpora=$(mktemp -d)
.clusterfuzzlite/corpus.sh "$corpora"
while read -r package function name; do
  compile_native_go_fuzzer "./$package" "$function" "$name"
  [ ! -d "$corpora/$name" ] || (cd "$corpora/$name" && zip -q "$OUT/${name}_seed_corpus.zip" ./*)
done <.clusterfuzzlite/targets.txt
