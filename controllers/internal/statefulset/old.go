package statefulset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// syncOld is a sync of an era before the revisions: pods are made one after
// another, deleted one after another, and never replaced for what they are made of.
// One without ControllerRef goes on for a set that is being deleted: nothing of the
// proposal's checklist is ticked for it.
func (s *syncing) syncOld(ctx context.Context) error {
	pods, err := s.own(ctx)
	if err != nil {
		return err
	}
	s.now = s.env.Now()
	s.current.set, s.next.set = s.set, s.set
	if s.set.DeletionTimestamp == nil || s.options.Era == Selector {
		err = s.updateOld(ctx, s.arrange(pods))
	}
	if statusErr := s.writeOldStatus(ctx, pods); err == nil {
		err = statusErr
	}
	return err
}

// own returns the set's pods: those it controls, or, before ControllerRef, those of its
// name and its selector, whoever made them.
func (s *syncing) own(ctx context.Context) ([]*corev1.Pod, error) {
	if s.options.Era != Selector {
		return s.claim(ctx)
	}
	var own []*corev1.Pod
	for _, p := range pod.In(s.pods, s.set.Namespace) {
		if selects(s.set, p.Labels) && member(s.set, p.Name, &s.options.Without) {
			own = append(own, p)
		}
	}
	return own, nil
}

func (s *syncing) updateOld(ctx context.Context, a *arrangement) error {
	done, err := s.each(a.replicas, func(p *corev1.Pod) (bool, error) { return s.tend(ctx, p, a) })
	if !done {
		_, err = s.each(a.condemned, func(p *corev1.Pod) (bool, error) { return s.remove(ctx, p, a) })
	}
	return err
}

// writeOldStatus writes what a status said before the revisions, and lets the rest be.
func (s *syncing) writeOldStatus(ctx context.Context, pods []*corev1.Pod) error {
	var is appsv1.StatefulSetStatus
	s.count(&is, pods)
	changed := *s.set
	changed.Status.Replicas = is.Replicas
	changed.Status.ObservedGeneration = max(s.set.Status.ObservedGeneration, s.set.Generation)
	if changed.Status.Replicas == s.set.Status.Replicas &&
		changed.Status.ObservedGeneration == s.set.Status.ObservedGeneration {
		return nil
	}
	_, err := s.env.Client.UpdateStatus(ctx, &changed)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
