package main

import (
	"strings"
	"testing"
)

func TestASeedDrawsOneSample(t *testing.T) {
	var a, b, c strings.Builder
	for w, seed := range map[*strings.Builder]uint64{&a: 1, &b: 1, &c: 2} {
		if err := sample(w, "../../..", seed, 10); err != nil {
			t.Fatal(err)
		}
	}
	if a.String() != b.String() {
		t.Errorf("seed 1 draws two samples:\n%s\n%s", &a, &b)
	}
	if a.String() == c.String() {
		t.Error("seeds 1 and 2 draw the same sample")
	}
}
