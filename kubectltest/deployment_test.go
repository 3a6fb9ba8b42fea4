package kubectltest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// revision is the annotation that kubectl rollout reads.
const revision = "deployment.kubernetes.io/revision"

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
)

// deploymentController is as much of the Deployment controller as kubectl
// rollout can tell: a ReplicaSet for each template, the newest with all the
// replicas and the others with none, revisions counted, status written. It does
// not roll step by step.
func deploymentController() host.Controller {
	return host.Controller{
		Name: "deployment",
		New: func(env *host.Env) host.Reconciler {
			d := &deployments{env: env, all: env.Informer(deploymentKind).GetIndexer(),
				sets: env.Informer(replicaSetKind).GetIndexer()}
			return host.SyncFunc(d.sync)
		},
		Routes: []host.Route{
			{Kind: deploymentKind, Do: func(_ host.View, e host.Event, out *host.Effect) { wake(e.New, out) }},
			{Kind: replicaSetKind, Do: func(v host.View, e host.Event, out *host.Effect) {
				if e.New == nil {
					return
				}
				m := e.New.(metav1.Object)
				if ref := metav1.GetControllerOf(m); ref != nil && ref.Kind == "Deployment" {
					out.Keys = append(out.Keys, m.GetNamespace()+"/"+ref.Name)
				}
			}},
		},
	}
}

func wake(obj runtime.Object, out *host.Effect) {
	if obj != nil {
		out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
	}
}

type deployments struct {
	env       *host.Env
	all, sets cache.Indexer
}

func (d *deployments) sync(ctx context.Context, key string) error {
	obj, ok, err := d.all.GetByKey(key)
	if err != nil || !ok {
		return err
	}
	dep := obj.(*appsv1.Deployment).DeepCopy()
	if dep.DeletionTimestamp != nil {
		return nil
	}
	newest, latest := d.find(dep)
	if newest == nil && dep.Spec.Paused {
		return d.status(ctx, dep, nil)
	}
	if newest == nil {
		if newest, err = d.create(ctx, dep, latest+1); err != nil {
			return err
		}
		latest++
	}
	if newest, err = d.scale(ctx, dep, newest, latest); err != nil {
		return err
	}
	if err := d.mark(ctx, dep, newest.Annotations[revision]); err != nil {
		return err
	}
	return d.status(ctx, dep, newest)
}

// owned lists the ReplicaSets that the Deployment controls.
func (d *deployments) owned(dep *appsv1.Deployment) []*appsv1.ReplicaSet {
	var own []*appsv1.ReplicaSet
	for _, obj := range d.sets.List() {
		if rs := obj.(*appsv1.ReplicaSet); metav1.IsControlledBy(rs, dep) {
			own = append(own, rs)
		}
	}
	return own
}

// find returns the ReplicaSet of the Deployment's template, nil when there is
// none, and the highest revision.
func (d *deployments) find(dep *appsv1.Deployment) (newest *appsv1.ReplicaSet, latest int) {
	for _, rs := range d.owned(dep) {
		if n, _ := strconv.Atoi(rs.Annotations[revision]); n > latest {
			latest = n
		}
		if rs.Name == setName(dep) {
			newest = rs
		}
	}
	return newest, latest
}

// setName names the ReplicaSet of a template after the template's content.
func setName(dep *appsv1.Deployment) string {
	text, err := json.Marshal(dep.Spec.Template)
	if err != nil {
		panic(err)
	}
	h := fnv.New32a()
	h.Write(text)
	return fmt.Sprintf("%s-%08x", dep.Name, h.Sum32())
}

func (d *deployments) create(ctx context.Context, dep *appsv1.Deployment, n int) (*appsv1.ReplicaSet, error) {
	name := setName(dep)
	hash := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: name[len(dep.Name)+1:]}
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: dep.Namespace, Name: name, Labels: maps.Clone(dep.Spec.Template.Labels),
			Annotations:     maps.Clone(dep.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(dep, deploymentKind)},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: dep.Spec.Selector.DeepCopy(), Template: *dep.Spec.Template.DeepCopy(),
			Replicas: dep.Spec.Replicas},
	}
	delete(rs.Annotations, corev1.LastAppliedConfigAnnotation)
	metav1.SetMetaDataAnnotation(&rs.ObjectMeta, revision, strconv.Itoa(n))
	maps.Copy(rs.Labels, hash)
	maps.Copy(rs.Spec.Template.Labels, hash)
	rs.Spec.Selector.MatchLabels = maps.Clone(rs.Spec.Selector.MatchLabels)
	maps.Copy(rs.Spec.Selector.MatchLabels, hash)
	obj, err := d.env.Client.Create(ctx, rs)
	if err != nil {
		return nil, err
	}
	return obj.(*appsv1.ReplicaSet), nil
}

// scale gives the newest set all replicas and the highest revision, the others
// none.
func (d *deployments) scale(ctx context.Context, dep *appsv1.Deployment, newest *appsv1.ReplicaSet,
	latest int) (*appsv1.ReplicaSet, error) {
	for _, rs := range append(d.owned(dep), newest) {
		want, n := int32(0), rs.Annotations[revision]
		if rs.Name == newest.Name {
			want = *dep.Spec.Replicas
			if mine, _ := strconv.Atoi(n); mine < latest {
				n = strconv.Itoa(latest + 1) // an old template is the newest again
			}
		}
		if *rs.Spec.Replicas == want && rs.Annotations[revision] == n {
			continue
		}
		rs = rs.DeepCopy()
		rs.Spec.Replicas = &want
		rs.Annotations[revision] = n
		obj, err := d.env.Client.Update(ctx, rs)
		if err != nil {
			return nil, err
		}
		if rs.Name == newest.Name {
			newest = obj.(*appsv1.ReplicaSet)
			break // the copy at the end is out of date
		}
	}
	return newest, nil
}

// mark writes the revision to the Deployment.
func (d *deployments) mark(ctx context.Context, dep *appsv1.Deployment, n string) error {
	if dep.Annotations[revision] == n {
		return nil
	}
	metav1.SetMetaDataAnnotation(&dep.ObjectMeta, revision, n)
	obj, err := d.env.Client.Update(ctx, dep)
	if err == nil {
		dep.ResourceVersion = obj.(*appsv1.Deployment).ResourceVersion
		dep.Generation = obj.(*appsv1.Deployment).Generation
	}
	return err
}

// status adds up the sets' status. newest is nil while a paused Deployment's
// template has no set.
func (d *deployments) status(ctx context.Context, dep *appsv1.Deployment, newest *appsv1.ReplicaSet) error {
	s := appsv1.DeploymentStatus{ObservedGeneration: dep.Generation}
	for _, rs := range d.owned(dep) {
		s.Replicas += rs.Status.Replicas
		s.ReadyReplicas += rs.Status.ReadyReplicas
		s.AvailableReplicas += rs.Status.AvailableReplicas
		if newest != nil && rs.Name == newest.Name {
			s.UpdatedReplicas = rs.Status.Replicas
		}
	}
	s.UnavailableReplicas = max(*dep.Spec.Replicas-s.AvailableReplicas, 0)
	available :=
		appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse,
			Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability."}
	if s.UnavailableReplicas == 0 {
		available.Status, available.Reason, available.Message = corev1.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability."
	}
	s.Conditions = []appsv1.DeploymentCondition{available}
	have, _ := json.Marshal(dep.Status)
	want, _ := json.Marshal(s)
	if string(have) == string(want) {
		return nil
	}
	dep.Status = s
	_, err := d.env.Client.UpdateStatus(ctx, dep)
	return err
}
