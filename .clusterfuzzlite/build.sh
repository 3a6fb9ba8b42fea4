#!/bin/bash -eu
# Builds the native fuzz targets for OSS-Fuzz and ClusterFuzzLite, each with its seed corpus.
cd "$SRC/threelaws"
go get github.com/AdamKorcz/go-118-fuzz-build/testing
corpora=$(mktemp -d)
.clusterfuzzlite/corpus.sh "$corpora"
# shellcheck disable=SC2086 # the names of files are separate arguments
while read -r package function name; do
  # The tests of a package are compiled as a part of it. So an external test package that has the target becomes a package
  # of its own, and other external tests are removed.
  internal=$(go list -f '{{join .TestGoFiles " "}}' "./$package")
  external=$(go list -f '{{join .XTestGoFiles " "}}' "./$package")
  if [ -n "$external" ] && (cd "$package" && grep -q "^func $function(" $external); then
    mkdir "$package/$name"
    echo "package $name" >"$package/$name/doc.go"
    for file in $external; do sed "s/^package .*/package $name/" "$package/$file" >"$package/$name/$file"; done
    for file in $internal; do mv "$package/$file" "$package/${file%_test.go}_tests.go"; done
    package=$package/$name
  else
    (cd "$package" && rm -f $external)
  fi
  compile_native_go_fuzzer_v2 "./$package" "$function" "$name"
  [ ! -d "$corpora/$name" ] || (cd "$corpora/$name" && zip -q "$OUT/${name}_seed_corpus.zip" ./*)
done <.clusterfuzzlite/targets.txt
