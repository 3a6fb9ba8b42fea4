package fakeapi_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Validating random objects, many with equal specs, gives the same errors with and without the cache of valid objects.
func TestRememberedVerdicts(t *testing.T) {
	for name, k := range map[string]struct {
		rules validation.Judges
		make  func(r *rand.Rand) runtime.Object
	}{
		"pod": {validation.Pod, func(r *rand.Rand) runtime.Object {
			p := &corev1.Pod{ObjectMeta: randomMeta(r), Spec: randomSpec(r), Status: randomPodStatus(r)}
			coredefaults.SetObjectDefaults_Pod(p)
			return p
		}},
		"replicaset": {validation.ReplicaSet, func(r *rand.Rand) runtime.Object {
			s := &appsv1.ReplicaSet{ObjectMeta: randomMeta(r), Spec: appsv1.ReplicaSetSpec{Replicas: count(r),
				Selector: selector(r), Template: randomTemplate(r)},
				Status: appsv1.ReplicaSetStatus{Replicas: *count(r), ReadyReplicas: *count(r)}}
			appsdefaults.SetObjectDefaults_ReplicaSet(s)
			return s
		}},
		"deployment": {validation.Deployment, func(r *rand.Rand) runtime.Object {
			d := &appsv1.Deployment{ObjectMeta: randomMeta(r), Spec: appsv1.DeploymentSpec{Replicas: count(r),
				Selector: selector(r), Template: randomTemplate(r)},
				Status: appsv1.DeploymentStatus{Replicas: *count(r), CollisionCount: count(r)}}
			appsdefaults.SetObjectDefaults_Deployment(d)
			return d
		}},
		"statefulset": {validation.StatefulSet, func(r *rand.Rand) runtime.Object {
			s := &appsv1.StatefulSet{ObjectMeta: randomMeta(r), Spec: appsv1.StatefulSetSpec{Replicas: count(r),
				Selector: selector(r), Template: randomTemplate(r)},
				Status: appsv1.StatefulSetStatus{Replicas: *count(r), CollisionCount: count(r)}}
			appsdefaults.SetObjectDefaults_StatefulSet(s)
			return s
		}},
		"daemonset": {validation.DaemonSet, func(r *rand.Rand) runtime.Object {
			d := &appsv1.DaemonSet{ObjectMeta: randomMeta(r), Spec: appsv1.DaemonSetSpec{Selector: selector(r),
				Template: randomTemplate(r)},
				Status: appsv1.DaemonSetStatus{NumberReady: *count(r), CollisionCount: count(r)}}
			appsdefaults.SetObjectDefaults_DaemonSet(d)
			return d
		}},
		"job": {validation.Job, func(r *rand.Rand) runtime.Object {
			j := &batchv1.Job{ObjectMeta: randomMeta(r), Spec: batchv1.JobSpec{Parallelism: count(r),
				ManualSelector: new(r.Intn(4) == 0), Template: randomTemplate(r)},
				Status: batchv1.JobStatus{Succeeded: *count(r)}}
			j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			uid := pick(r, "1", "2") // the UID of the owner of the Pods
			j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}}
			j.Spec.Template.Labels = map[string]string{"controller-uid": uid, batchv1.ControllerUidLabel: uid,
				"job-name": "a", batchv1.JobNameLabel: "a"}
			batchdefaults.SetObjectDefaults_Job(j)
			return j
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewSource(1))
			right := 0
			for range 1000 {
				old, obj := k.make(r), k.make(r)
				for errs, _ := k.rules.Create(old, nil, false); len(errs) > 0; errs, _ = k.rules.Create(old, nil, false) {
					old = k.make(r) // the old object is valid
				}
				m, was := metadata.Of(obj), metadata.Of(old)
				right += compare(t, k.rules.Create, obj, nil, metadata.SoundNew(m, true))
				if r.Intn(4) > 0 {
					m.SetName(was.GetName())
					m.SetLabels(was.GetLabels())
					m.SetFinalizers(was.GetFinalizers())
					m.SetUID(was.GetUID())
					m.SetAnnotations(was.GetAnnotations())
				}
				sound := metadata.Sound(m, was)
				right += compare(t, k.rules.Update, obj, old, sound)
				right += compare(t, k.rules.Status, withSpec(obj, old), old, sound)
			}
			if right < 300 {
				t.Errorf("only %d of 3000 are valid", right)
			}
		})
	}
}

// compare returns 1 for a valid object, and 0 otherwise.
func compare(t *testing.T, judge validation.Judge, obj, old runtime.Object, sound bool) int {
	t.Helper()
	want, warned := judge(obj, old, false)
	for range 2 {
		errs, warnings := judge(obj, old, sound)
		if fmt.Sprint(errs) != fmt.Sprint(want) || !slices.Equal(warnings, warned) {
			t.Fatalf("%+v\nover %+v: %v %q, want %v %q", obj, old, errs, warnings, want, warned)
		}
	}
	if len(want) > 0 {
		return 0
	}
	return 1
}

func withSpec(obj, old runtime.Object) runtime.Object {
	obj = obj.DeepCopyObject()
	switch o := obj.(type) {
	case *corev1.Pod:
		o.Spec = old.(*corev1.Pod).Spec
	case *appsv1.ReplicaSet:
		o.Spec = old.(*appsv1.ReplicaSet).Spec
	case *appsv1.Deployment:
		o.Spec = old.(*appsv1.Deployment).Spec
	case *appsv1.StatefulSet:
		o.Spec = old.(*appsv1.StatefulSet).Spec
	case *appsv1.DaemonSet:
		o.Spec = old.(*appsv1.DaemonSet).Spec
	case *batchv1.Job:
		o.Spec = old.(*batchv1.Job).Spec
	}
	return obj
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.Intn(len(of))] }

func count(r *rand.Rand) *int32 { return new(pick[int32](r, 0, 1, 1, 2, -1)) }

func randomMeta(r *rand.Rand) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: pick(r, "a", "a", "b", "a.b", "A"), Namespace: "default", ResourceVersion: "1",
		UID: types.UID(pick(r, "1", "2")), Labels: map[string]string{"app": pick(r, "x", "x", "_")}}
	if r.Intn(6) == 0 {
		m.Annotations = map[string]string{pick(r, "a", "seccomp.security.alpha.kubernetes.io/pod",
			"deprecated.deployment.rollback.rollbackTo", "deprecated.daemonset.template.generation"): pick(r, "1", "-1")}
	}
	if r.Intn(6) == 0 {
		m.Finalizers = []string{pick(r, "a/b", "a")}
	}
	return m
}

func selector(r *rand.Rand) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(r, "x", "x", "x", "y")}}
}

func randomTemplate(r *rand.Rand) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: randomSpec(r)}
}

func randomSpec(r *rand.Rand) corev1.PodSpec {
	c := corev1.Container{Name: pick(r, "c", "c", "c", "C"), Image: pick(r, "i:1", "i:2", "i:1", "")}
	if r.Intn(4) == 0 {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pick(r, "1", "2", "-1"))}
	}
	s := corev1.PodSpec{Containers: []corev1.Container{c}, NodeName: pick(r, "", "", "n")}
	if r.Intn(4) == 0 {
		s.Volumes = []corev1.Volume{{Name: pick(r, "v", "V"), VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"},
					Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceStorage: resource.MustParse("1Gi")}}}}}}}}
	}
	return s
}

func randomPodStatus(r *rand.Rand) corev1.PodStatus {
	s := corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}
	if r.Intn(2) == 0 {
		s.PodIP = pick(r, "10.0.0.1", "10.0.0.2", "::1")
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	if r.Intn(2) == 0 {
		state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		if r.Intn(2) == 0 {
			state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
		}
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: state}}
	}
	return s
}
