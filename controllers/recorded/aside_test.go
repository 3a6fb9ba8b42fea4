package recorded_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

// aside does or checks what the record says happened outside the API.
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
		return fmt.Errorf("%d pods are left, not as in %q", len(pods), text)
	}
	return nil
}

// runPods is the kubelet that the record did not have.
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
