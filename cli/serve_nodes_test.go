package cli

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A pod in a server with a kubelet looks as on a node, whoever puts it there: it has a node,
// addresses of its own, conditions with times, containers that have started, and Events.
// One that ends has ended in the same way.
func TestServePodsAreLifelike(t *testing.T) {
	for _, controllers := range []string{"kubelet", "kubelet,scheduler"} {
		s := startServe(t, "--controllers", controllers)
		for _, pod := range []string{
			`{"metadata":{"name":"a"},"spec":{"initContainers":[{"name":"i","image":"busybox"}],"containers":[{` +
				`"name":"c","image":"nginx"}]}}`,
			`{"metadata":{"name":"b"},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"busybox"}]}}`,
			`{"metadata":{"name":"h"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"busybox"}]}}`,
		} {
			if got := s.post(t, "/api/v1/namespaces/default/pods", pod); got.code != 201 {
				t.Fatal(got)
			}
		}
		pods := map[string]*corev1.Pod{}
		s.until(t, "/api/v1/namespaces/default/pods", func(_ string, p *corev1.Pod) bool {
			pods[p.Name] = p
			return len(pods) == 3 && pods["a"].Status.Phase == corev1.PodRunning &&
				pods["b"].Status.Phase == corev1.PodSucceeded && pods["h"].Status.Phase == corev1.PodRunning
		})
		for _, p := range pods {
			lively(t, p)
		}
		if ip := pods["h"].Status.PodIP; ip != pods["h"].Status.HostIP || ip == pods["a"].Status.PodIP ||
			pods["a"].Status.PodIP == pods["b"].Status.PodIP {
			t.Errorf("addresses: %s %s %s", ip, pods["a"].Status.PodIP, pods["b"].Status.PodIP)
		}
		if st := pods["b"].Status.ContainerStatuses[0].State.Terminated; st == nil || st.Reason != "Completed" ||
			st.StartedAt.IsZero() || st.FinishedAt.IsZero() || !strings.HasPrefix(st.ContainerID, "containerd://") {
			t.Errorf("b ended as %+v", st)
		}
		if got, want := s.events(t, "a"), []string{
			"Scheduled: Successfully assigned default/a to node-1",
			`Pulled: Container image "busybox" already present on machine and can be accessed by the pod`,
			"Created: Container created", "Started: Container started",
			`Pulled: Container image "nginx" already present on machine and can be accessed by the pod`,
			"Created: Container created", "Started: Container started",
		}; !slices.Equal(got, want) {
			t.Errorf("with %s the Events of a are %q, want %q", controllers, got, want)
		}
		if code, stderr := s.stop(); code != 0 || stderr != "" {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
}

// lively wants what every pod has that has been run.
func lively(t *testing.T, p *corev1.Pod) {
	t.Helper()
	st := &p.Status
	for _, ip := range []string{st.HostIP, st.PodIP} {
		if _, err := netip.ParseAddr(ip); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	if p.Spec.NodeName != "node-1" || st.StartTime == nil || len(st.HostIPs) != 1 || len(st.PodIPs) != 1 ||
		st.PodIPs[0].IP != st.PodIP || st.QOSClass != corev1.PodQOSBestEffort {
		t.Errorf("%s: node %q, %+v", p.Name, p.Spec.NodeName, st)
	}
	running := st.Phase == corev1.PodRunning
	want := map[corev1.PodConditionType]bool{corev1.PodReadyToStartContainers: running, corev1.PodInitialized: true,
		corev1.PodReady: running, corev1.ContainersReady: running, corev1.PodScheduled: true}
	for _, c := range st.Conditions {
		if is, known := want[c.Type]; !known || is != (c.Status == corev1.ConditionTrue) ||
			time.Since(c.LastTransitionTime.Time) > time.Hour {
			t.Errorf("%s: condition %+v", p.Name, c)
		}
		delete(want, c.Type)
	}
	if len(want) > 0 {
		t.Errorf("%s lacks the conditions %v", p.Name, want)
	}
	for _, c := range st.ContainerStatuses {
		if c.Ready != running || *c.Started != running || !strings.HasPrefix(c.ContainerID, "containerd://") ||
			!strings.HasPrefix(c.ImageID, "sha256:") || running && c.State.Running.StartedAt.IsZero() {
			t.Errorf("%s: container %+v", p.Name, c)
		}
	}
}

// events are the Events of a pod, oldest first, as soon as its last container has started.
func (s *served) events(t *testing.T, pod string) (list []string) {
	t.Helper()
	var events corev1.EventList
	got := s.get(t, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name="+pod)
	if err := json.Unmarshal([]byte(got.body), &events); err != nil {
		t.Fatal(err, got)
	}
	slices.SortFunc(events.Items, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range events.Items {
		list = append(list, e.Reason+": "+e.Message)
	}
	return list
}
