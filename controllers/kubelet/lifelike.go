package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/internal/kubernetes"
)

// lifelike is the additional memory of a lifelike kubelet: the last address that it assigned, and its Events.
type lifelike struct {
	last   netip.Addr // the last address given to a pod
	events []written  // the written Events that are not deleted yet, oldest first
	named  int        // the number of Event names so far, which makes names unique
}

// nodeAddress is the address of a node that reports no address. podRange is the range of pod addresses.
var (
	nodeAddress = netip.MustParseAddr("192.168.49.2")
	podRange    = netip.MustParsePrefix("10.244.0.0/14")
)

const (
	eventsFor  = time.Hour // the default of kube-apiserver's --event-ttl
	eventsMost = 5000

	byAddress = "podIP"
)

func indexAddresses(pods cache.Indexer) {
	err := pods.AddIndexers(cache.Indexers{byAddress: func(obj any) ([]string, error) {
		pod := obj.(*corev1.Pod)
		if pod.Status.PodIP == "" || pod.Spec.HostNetwork {
			return nil, nil
		}
		return []string{pod.Status.PodIP}, nil
	}})
	if err != nil {
		panic("kubelet: " + err.Error())
	}
}

// address returns the address of a pod. If the pod has none, address chooses the next free one.
func (k *kubelet) address(pod *corev1.Pod) string {
	if pod.Status.PodIP != "" {
		return pod.Status.PodIP
	}
	l := &k.lifelike
	for {
		if l.last = l.last.Next(); !podRange.Contains(l.last) {
			l.last = podRange.Addr().Next().Next()
		}
		if used, _ := k.pods.IndexKeys(byAddress, l.last.String()); len(used) == 0 {
			return l.last.String()
		}
	}
}

func (k *kubelet) hostAddress(ctx context.Context, name string) string {
	if obj, err := k.env.Client.Get(ctx, nodeKind, "", name); err == nil {
		for _, a := range obj.(*corev1.Node).Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				return a.Address
			}
		}
	}
	return nodeAddress.String()
}

// run writes the status and the Events of a pod whose containers have just started.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.NewTime(k.env.Now().Truncate(time.Second))
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, ObservedGeneration: pod.Generation,
		HostIP: k.hostAddress(ctx, pod.Spec.NodeName)}
	if status.PodIP = status.HostIP; !pod.Spec.HostNetwork {
		status.PodIP = k.address(pod)
	}
	status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
	for _, c := range pod.Spec.InitContainers {
		s := k.container(pod, &c, now)
		if c.RestartPolicy == nil {
			s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed",
				StartedAt: now, FinishedAt: now, ContainerID: s.ContainerID}}
			s.Started = new(bool)
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, s)
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, k.container(pod, &c, now))
	}
	status.Conditions = conditions(pod, now, corev1.ConditionTrue, "")
	if err := k.setStatus(ctx, pod, status); err != nil {
		return err
	}
	if pod.Spec.NodeName != "" {
		k.tell(ctx, pod, "", "Scheduled",
			fmt.Sprintf("Successfully assigned %s/%s to %s", pod.Namespace, pod.Name, pod.Spec.NodeName))
	}
	for path, c := range containersOf(pod) {
		k.tell(ctx, pod, path, "Pulled", fmt.Sprintf("Container image %q already present on machine and "+
			"can be accessed by the pod", c.Image))
		k.tell(ctx, pod, path, "Created", "Container created")
		k.tell(ctx, pod, path, "Started", "Container started")
	}
	return nil
}

// containersOf yields the containers of a pod in the order in which they start, with their field paths.
func containersOf(pod *corev1.Pod) func(yield func(string, corev1.Container) bool) {
	return func(yield func(string, corev1.Container) bool) {
		for _, c := range pod.Spec.InitContainers {
			if !yield("spec.initContainers{"+c.Name+"}", c) {
				return
			}
		}
		for _, c := range pod.Spec.Containers {
			if !yield("spec.containers{"+c.Name+"}", c) {
				return
			}
		}
	}
}

func (k *kubelet) container(pod *corev1.Pod, c *corev1.Container, now metav1.Time) corev1.ContainerStatus {
	yes := true
	return corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: digest(c.Image), Ready: true, Started: &yes,
		ContainerID: "containerd://" + digest(string(pod.UID) + "/" + c.Name)[len("sha256:"):],
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}
}

func digest(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// conditions returns the conditions of a pod. If ready is True, the pod runs. Otherwise it has ended, with why as the
// reason. A condition keeps its transition time if its status is unchanged.
func conditions(pod *corev1.Pod, now metav1.Time, ready corev1.ConditionStatus, why string) []corev1.PodCondition {
	var all []corev1.PodCondition
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized,
		corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		c := corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now,
			ObservedGeneration: pod.Generation}
		switch {
		case ready == corev1.ConditionTrue:
		case t == corev1.PodReadyToStartContainers:
			c.Status = ready
		case t == corev1.PodReady, t == corev1.ContainersReady:
			c.Status, c.Reason = ready, why
		case t == corev1.PodInitialized:
			c.Reason = why
		}
		if old := conditionOf(pod, t); old != nil && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		all = append(all, c)
	}
	return all
}

func conditionOf(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == t && !c.LastTransitionTime.IsZero() {
			return c
		}
	}
	return nil
}

// end writes the status of a pod whose containers have ended. data is the patch of [ended].
func (k *kubelet) end(ctx context.Context, pod *corev1.Pod, data []byte) error {
	var told struct{ Status corev1.PodStatus }
	if err := json.Unmarshal(data, &told); err != nil {
		return err
	}
	now := metav1.NewTime(k.env.Now().Truncate(time.Second))
	status := pod.Status.DeepCopy()
	status.Phase = told.Status.Phase
	status.Conditions = conditions(pod, now, corev1.ConditionFalse, told.Status.Conditions[0].Reason)
	for i := range status.ContainerStatuses {
		s := &status.ContainerStatuses[i]
		ending := *told.Status.ContainerStatuses[min(i, len(told.Status.ContainerStatuses)-1)].State.Terminated
		ending.FinishedAt, ending.ContainerID = now, s.ContainerID
		if s.State.Running != nil {
			ending.StartedAt = s.State.Running.StartedAt
		}
		s.State, s.Ready, s.Started = corev1.ContainerState{Terminated: &ending}, false, new(bool)
	}
	return k.setStatus(ctx, pod, *status)
}

// stop writes an Event about the stop of each container of a terminating pod.
func (k *kubelet) stop(ctx context.Context, pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodRunning {
		return
	}
	for _, c := range pod.Spec.Containers {
		k.tell(ctx, pod, "spec.containers{"+c.Name+"}", "Killing", "Stopping container "+c.Name)
	}
}

func (k *kubelet) setStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	return k.patchStatus(ctx, pod, statusPatch(pod, status))
}

type written struct {
	namespace, name string
	at              time.Time
}

// tell writes an Event about a pod or one of its containers. It ignores a refusal, like a real recorder. It deletes
// Events older than an hour, and keeps at most 5000, because no other client deletes Events.
func (k *kubelet) tell(ctx context.Context, pod *corev1.Pod, path, reason, message string) {
	l, now := &k.lifelike, k.env.Now()
	l.named++
	at := metav1.NewTime(now.Truncate(time.Second))
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace,
			Name: fmt.Sprintf("%s.%x", pod.Name, now.UnixNano()+int64(l.named))},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name,
			UID: pod.UID, ResourceVersion: pod.ResourceVersion, FieldPath: path},
		Type: corev1.EventTypeNormal, Reason: reason, Message: message,
	}
	if reason == "Scheduled" {
		e.EventTime, e.Action = metav1.NewMicroTime(now), "Binding"
		e.ReportingController, e.ReportingInstance = "default-scheduler", "default-scheduler-"+pod.Spec.NodeName
	} else {
		e.FirstTimestamp, e.LastTimestamp, e.Count = at, at, 1
		e.Source = corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName}
		e.ReportingController, e.ReportingInstance = "kubelet", pod.Spec.NodeName
	}
	if _, err := k.env.Client.Create(ctx, e); err == nil {
		l.events = append(l.events, written{e.Namespace, e.Name, now})
	}
	for len(l.events) > 0 && (len(l.events) > eventsMost || now.Sub(l.events[0].at) > eventsFor) {
		old := l.events[0]
		l.events[0], l.events = written{}, l.events[1:]
		_ = k.env.Client.Delete(ctx, eventKind, old.namespace, old.name, metav1.DeleteOptions{})
	}
}

var (
	eventKind = corev1.SchemeGroupVersion.WithKind("Event")
	nodeKind  = corev1.SchemeGroupVersion.WithKind("Node")
)

// NewNode returns the node of a one-node cluster, as its kubelet registers it.
func NewNode(name string, now time.Time) *corev1.Node {
	at := metav1.NewTime(now.Truncate(time.Second))
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("100k"),
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}}}
	node.Status = corev1.NodeStatus{Capacity: room, Allocatable: room,
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: nodeAddress.String()},
			{Type: corev1.NodeHostName, Address: name}},
		NodeInfo: corev1.NodeSystemInfo{KubeletVersion: kubernetes.Version, OperatingSystem: "linux", Architecture: "amd64",
			ContainerRuntimeVersion: "threelaws://0", OSImage: "threelaws", KernelVersion: "none"}}
	for _, c := range []struct {
		t           corev1.NodeConditionType
		is          corev1.ConditionStatus
		reason, say string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory",
			"kubelet has sufficient memory available"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID",
			"kubelet has sufficient PID available"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"},
	} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: c.t, Status: c.is,
			Reason: c.reason, Message: c.say, LastHeartbeatTime: at, LastTransitionTime: at})
	}
	return node
}
