package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// runaway is a registry with a controller that never stops writing: it increments an annotation, or creates one more
// object each time. syncs counts its reconciles.
func runaway(creates bool, syncs *int) *scenarios.Registry {
	return restless(func(env *host.Env, key string) error {
		*syncs++
		ctx := context.Background()
		defer env.Queue.Add(key)
		if creates {
			_, err := env.Client.Create(ctx,
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "pile-"}})
			return err
		}
		obj, err := env.Client.Get(ctx, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "default", "web-a")
		if err != nil {
			return err
		}
		rs := obj.DeepCopyObject().(*appsv1.ReplicaSet)
		n := 0
		_, _ = fmt.Sscan(rs.Annotations["n"], &n)
		metav1.SetMetaDataAnnotation(&rs.ObjectMeta, "n", fmt.Sprint(n+1))
		_, err = env.Client.Update(ctx, rs)
		return err
	})
}

// A failure of a controller that never stops writing is minimized, written and replayed in a few runs. None of them is
// longer than the failing run.
func TestRunawayIsWrittenSoon(t *testing.T) {
	for name, creates := range map[string]bool{"counts": false, "piles up": true} {
		t.Run(name, func(t *testing.T) {
			syncs := 0
			g := runaway(creates, &syncs)
			script := "controllers restless\napply world.yaml\nsettle limit=500\nexpect rs/web-a deleting=true\n"
			x, err := scenarios.Explore(t.Context(), parse(t, script), -1, g,
				scenarios.ExploreOptions{Schedules: 1, Workers: 1})
			if err != nil || len(x.Failures) != 1 {
				t.Fatalf("%v\n%s", err, x.Text())
			}
			if syncs > 25*500 {
				t.Errorf("%d syncs to find, shrink and write what fails after 500", syncs)
			}
			f := x.Failures[0]
			if n := strings.Count(string(f.File), "\n"); n > 400 {
				t.Errorf("the file has %d lines", n)
			}
			replays(t, g, f)
		})
	}
}

// If no violation ends a run, a world that never settles runs only a few times to its bound, whatever the requested
// number of schedules.
func TestRunawayIsExaminedSoon(t *testing.T) {
	syncs := 0
	g := runaway(true, &syncs)
	x, err := scenarios.Explore(t.Context(), parse(t, "controllers restless\napply world.yaml\nsettle\n"), -1, g,
		scenarios.ExploreOptions{Schedules: 50, Workers: 1, Whole: true, LawsOnly: true, Steps: 300})
	if err != nil || x.Schedules > 2 || !broken(x, "EXACT-7") {
		t.Errorf("%v: %d schedules: %+v", err, x.Schedules, x.Said)
	}
	if syncs > 4*300 {
		t.Errorf("%d syncs in runs of 300 steps", syncs)
	}
}

func broken(x *scenarios.Exploration, id string) bool {
	return slices.ContainsFunc(x.Said, func(s scenarios.Said) bool { return s.Law == id && s.Broken > 0 })
}
