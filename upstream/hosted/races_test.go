package hosted_test

import (
	"context"
	"os"
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream/hosted"
)

func TestC01(t *testing.T) {
	raw, err := os.ReadFile("../../scenarios/testdata/bugs/c01-expectations-expire-while-the-watch-lags.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, world, _ := strings.Cut(string(raw), "-- world.yaml --")
	text := `controllers replicaset@upstream
apply world.yaml
settle quiet

scale rs/web replicas=3
advance 6m
annotate rs/web note=hello
settle

-- world.yaml --` + world
	for _, gate := range []string{"true", "false"} {
		if err := utilfeature.DefaultMutableFeatureGate.Set("StaleControllerConsistencyReplicaSet=" + gate); err != nil {
			t.Fatal(err)
		}
		f, err := scenarios.Parse("c01.txtar", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		x, err := scenarios.Explore(context.Background(), f, len(f.Steps), hosted.Registry(), scenarios.ExploreOptions{Schedules: 200})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(gate, x.Text())
		for _, c := range x.Failures {
			t.Log(c.Page.Text())
		}
	}
}
