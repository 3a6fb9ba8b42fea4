# each file apart, bounded in time and memory
ulimit -v 6000000
for f in "${@:2}"; do timeout 60 /tmp/ov/run $1 -v $f 2>&1 | head -c 9000 || echo "TIMEOUT $f"; done
