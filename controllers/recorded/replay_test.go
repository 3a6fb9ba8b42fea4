package recorded_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// TestRecorded replays every case under the default schedule, with a user that waits between two requests. It logs the
// score of each area. A case that passes is also replayed with a user that does not wait, and under random schedules.
// The settled state must be the same in all these runs.
func TestRecorded(t *testing.T) {
	only := os.Getenv("VECTOR")
	for _, area := range []string{"gc", "controllers"} {
		var passed atomic.Int32
		cases, err := casesOf[area]()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(area, func(t *testing.T) {
			for _, c := range cases {
				if strings.HasPrefix(c.Name(), only) {
					t.Run(c.Case, func(t *testing.T) {
						t.Parallel()
						if replay(t, c) {
							passed.Add(1)
						}
					})
				}
			}
		})
		faulty := 0
		for _, c := range cases {
			if _, with := faults[c.Name()]; with && strings.HasPrefix(c.Name(), only) {
				faulty++
			}
		}
		t.Logf("%-12s %3d of %3d with our controllers, %d more with a fault of upstream", area,
			int(passed.Load())-faulty, len(cases), faulty)
	}
}

// casesOf reads the cases of an area once, even if the test runs several times.
var casesOf = map[string]func() ([]*vectors.Recording, error){
	"gc":          sync.OnceValues(func() ([]*vectors.Recording, error) { return readArea("gc") }),
	"controllers": sync.OnceValues(func() ([]*vectors.Recording, error) { return readArea("controllers") }),
}

func readArea(name string) ([]*vectors.Recording, error) {
	return vectors.ReadArea("../../fakeapi/testdata/vectors/" + name)
}

func replay(t *testing.T, c *vectors.Recording) bool {
	for _, name := range c.Controllers {
		if ours[name] == "" {
			t.Fatalf("the recording ran %s, for which there is no controller here", name)
		}
	}
	if err := play(c, sim.Zero{}, patient); err != nil {
		t.Error(err)
		return false
	}
	if err := playOtherwise(c); err != nil {
		t.Error(err)
	}
	return !t.Failed()
}

// schedules returns the number of random schedules for each case: 10, or 200 if SOAK is set in the environment.
// SCHEDULES sets another number.
func schedules() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("SCHEDULES"), 10, 64); err == nil {
		return n
	}
	if os.Getenv("SOAK") != "" {
		return 200
	}
	return 10
}

// playOtherwise replays a case at another pace and under other schedules.
func playOtherwise(c *vectors.Recording) error {
	if races[c.Name()] != "" {
		return nil
	}
	if err := play(c, sim.Zero{}, hasty); err != nil {
		return fmt.Errorf("with a user that does not wait: %w", err)
	}
	for seed := range schedules() {
		if err := play(c, sim.NewSeed(seed), somewhat(20)); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// aside performs or checks a recorded action outside the API.
func (p *player) aside(what string) error {
	before, after, _ := strings.Cut(what, ": ")
	switch {
	case before == "pods per owner":
		return p.count(after, ownerName)
	case before == "pods per label/owner":
		return p.count(after, func(pod *corev1.Pod) string { return pod.Labels["app"] + "/" + ownerName(pod) })
	case before == "pods left":
		return p.left(what)
	case strings.HasSuffix(what, " stopped"):
		for _, process := range p.cluster.Processes() {
			process.Crash(false)
		}
		return nil
	case strings.HasSuffix(what, " started"):
		for _, process := range p.cluster.Processes() {
			process.Restart(0)
		}
		return nil
	case strings.HasPrefix(what, "all pods matching app=x set to phase Running"):
		return p.runPods()
	}
	return fmt.Errorf("unknown aside: %s", what)
}

func (p *player) pods() (pods []*corev1.Pod) {
	s := p.cluster.Server()
	s.EachIn(s.KindNamed("pod"), "ns-1", func(obj runtime.Object) bool {
		pods = append(pods, obj.(*corev1.Pod))
		return true
	})
	return pods
}

func ownerName(pod *corev1.Pod) string {
	if r := metav1.GetControllerOf(pod); r != nil {
		return r.Name
	}
	return ""
}

// count compares numbers of pods by key.
func (p *player) count(text string, key func(*corev1.Pod) string) error {
	want, got := map[string]int{}, map[string]int{}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		return err
	}
	for _, pod := range p.pods() {
		got[key(pod)]++
	}
	if !maps.Equal(want, got) {
		return fmt.Errorf("pods: %v, want %v", got, want)
	}
	return nil
}

func (p *player) left(text string) error {
	var all, owned int
	if _, err := fmt.Sscanf(text, "pods left: %d, of them with a ControllerRef: %d", &all, &owned); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	pods := p.pods()
	for _, pod := range pods {
		if ownerName(pod) != "" {
			owned--
		}
	}
	if len(pods) != all || owned != 0 {
		return fmt.Errorf("%d pods are left, want %q", len(pods), text)
	}
	return nil
}

func (p *player) runPods() error {
	now := metav1.NewTime(p.cluster.World().Clock.Now())
	for _, pod := range p.pods() {
		if pod.Labels["app"] != "x" {
			continue
		}
		patch, err := json.Marshal(map[string]any{"status": map[string]any{
			"phase":      "Running",
			"conditions": []any{map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": now}},
		}})
		if err != nil {
			return err
		}
		resp := p.cluster.As("kubelet", &fakeapi.Request{
			Verb: fakeapi.Patch, Kind: p.cluster.Server().KindOf(pod), Subresource: "status", Namespace: pod.Namespace,
			Name:      pod.Name,
			PatchType: types.MergePatchType, Patch: patch,
		})
		if resp.Err != nil {
			return resp.Err
		}
	}
	return nil
}

// TestComparisonSees replays the cases without controllers. Only cases without work for a controller may pass.
// Otherwise the comparison would check nothing.
func TestComparisonSees(t *testing.T) {
	var idle []string
	for _, area := range []string{"gc", "controllers"} {
		cases, err := vectors.ReadArea("../../fakeapi/testdata/vectors/" + area)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			c.Controllers = nil
			if play(c, sim.Zero{}, patient) == nil {
				idle = append(idle, c.Case)
			}
		}
	}
	want := []string{"dryrun-delete", "other-version-of-group", "self-Background", "self-Foreground", "self-default",
		"unknown-kind-missing-owner", "cron-starting-deadline", "cron-suspended"}
	if !slices.Equal(idle, want) {
		t.Errorf("cases that pass without controllers: %q, want %q", idle, want)
	}
}

// faults are controllers that violate a law as kube-controller-manager does in a case, while our controllers keep the
// law. The case is replayed with the faulty controller. If it passes, there is no other difference.
var faults = map[string]host.Controller{
	// web-01 counts as web-1 and should get this name. The server refuses the write. The controller retries it on the
	// cached pod of that name, an orphan that does not match. This pod gets the labels of a pod of the set (LAW-2).
	"controllers/sts-adopt-by-name": statefulset.New(statefulset.Options{Era: statefulset.Current,
		Without: statefulset.Without{Canonical: true, SamePod: true}}),
}

// races lists the cases with several possible outcomes, each with the reason. Upstream's outcome depends on the
// schedule, and the recording shows only one outcome. These cases are replayed only as recorded.
var races = map[string]string{
	"controllers/ds-taint-noschedule": "a taint is added to a node just before the DaemonSet is created; a controller " +
		"that sees the DaemonSet first creates a pod for that node, and a NoSchedule taint does not evict it",
	"controllers/quota-status": "the recording waits until the controller has seen all Pods that admission counted; " +
		"a controller that recalculates earlier writes a lower number until it recalculates again",
}
