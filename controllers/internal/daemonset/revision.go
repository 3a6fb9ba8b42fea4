package daemonset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/template"
	"github.com/threelaws/threelaws/sim/host"
)

const hashLabel = appsv1.ControllerRevisionHashLabelKey

// construct claims the set's revisions, and finds or creates the revision of the current template. This revision gets
// the highest number, also after a rollback (RULES G71).
func (w *work) construct(ctx context.Context) error {
	all, err := w.claimRevisions(ctx)
	if err != nil {
		return err
	}
	var current []*appsv1.ControllerRevision
	data := w.encoded.Data(w.key, w.set, &w.set.Spec.Template)
	for _, r := range all {
		if r, err = w.labelled(ctx, r); err != nil {
			return err
		}
		if bytes.Equal(r.Data.Raw, data) {
			current = append(current, r)
		} else {
			w.old = append(w.old, r)
		}
	}
	number := int64(1)
	for _, r := range w.old {
		number = max(number, r.Revision+1)
	}
	if len(current) == 0 {
		w.current, err = w.snapshot(ctx, data, number)
	} else if w.current, err = w.unify(ctx, current); err == nil && w.current.Revision < number {
		changed := *w.current
		changed.Revision = number
		_, err = w.env.Client.Update(ctx, &changed)
	}
	if err == nil {
		w.hash = w.current.Labels[hashLabel]
	}
	return err
}

func (w *work) claimRevisions(ctx context.Context) ([]*appsv1.ControllerRevision, error) {
	candidates := history.Own(w.revisions, w.set)
	if w.options.Without.Revisions.Foreign {
		candidates = history.In(w.revisions, w.set.Namespace)
	}
	return ref.Claim(ctx, w.manager(&w.options.Without.Revisions, history.Kind), candidates,
		func(r *appsv1.ControllerRevision) bool { return selects(w.set, r.Labels) })
}

// labelled adds the hash label to a revision that lacks it. The label's value is then the revision's name.
func (w *work) labelled(ctx context.Context, r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if _, ok := r.Labels[hashLabel]; ok {
		return r, nil
	}
	changed := *r
	changed.Labels = map[string]string{hashLabel: r.Name}
	maps.Copy(changed.Labels, r.Labels)
	obj, err := w.env.Client.Update(ctx, &changed)
	if err != nil {
		return nil, err
	}
	return obj.(*appsv1.ControllerRevision), nil
}

// snapshot creates the revision of the current template. If a revision with this name and content exists, it returns
// that revision, even if another owner has it (RULES G72). If the content differs, it counts a collision. Then the next
// reconcile uses another name.
func (w *work) snapshot(ctx context.Context, data []byte, number int64) (*appsv1.ControllerRevision, error) {
	hash := template.Hash(&w.set.Spec.Template, w.set.Status.CollisionCount)
	labels := maps.Clone(w.set.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hashLabel] = hash
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: w.set.Name + "-" + hash, Namespace: w.set.Namespace, Labels: labels, Annotations: w.set.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.set, Kind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
	obj, err := w.env.Client.Create(ctx, made)
	if err == nil {
		return obj.(*appsv1.ControllerRevision), nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	obj, getErr := w.env.Client.Get(ctx, history.Kind, made.Namespace, made.Name)
	if getErr != nil {
		return nil, getErr
	}
	if there := obj.(*appsv1.ControllerRevision); bytes.Equal(there.Data.Raw, data) || w.options.Without.Collision {
		return there, nil
	}
	if countErr := w.collided(ctx); countErr != nil {
		return nil, countErr
	}
	return nil, err
}

// collided increments the collision count in the set's status. It returns an error if the cached count is outdated.
func (w *work) collided(ctx context.Context) error {
	obj, err := w.env.Client.Get(ctx, Kind, w.set.Namespace, w.set.Name)
	if err != nil {
		return err
	}
	live := *obj.(*appsv1.DaemonSet)
	if live.UID != w.set.UID {
		return fmt.Errorf("original DaemonSet %s is gone: got uid %s, wanted %s", w.key, live.UID, w.set.UID)
	}
	was, is := w.set.Status.CollisionCount, live.Status.CollisionCount
	if (was == nil) != (is == nil) || was != nil && *was != *is {
		return fmt.Errorf("found a stale collision count of DaemonSet %s while processing", w.key)
	}
	count := int32(1)
	if is != nil {
		count += *is
	}
	live.Status.CollisionCount = &count
	_, err = w.env.Client.UpdateStatus(ctx, &live)
	return err
}

// unify keeps the newest of several revisions with the current template. It first gives the set's pods the label of the
// newest revision, and then deletes the others.
func (w *work) unify(ctx context.Context, current []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	keep := current[0]
	for _, r := range current[1:] {
		if r.Revision >= keep.Revision {
			keep = r
		}
	}
	if len(current) == 1 {
		return keep, nil
	}
	if !w.options.Without.Relabel {
		if err := w.relabel(ctx, keep.Labels[hashLabel]); err != nil {
			return nil, err
		}
	}
	for _, r := range current {
		if r != keep {
			err := w.deleteRevision(ctx, r)
			if err != nil {
				return nil, err
			}
		}
	}
	return keep, nil
}

func (w *work) deleteRevision(ctx context.Context, r *appsv1.ControllerRevision) error {
	return w.env.Client.Delete(ctx, history.Kind, r.Namespace, r.Name,
		w.only(r.ObjectMeta, w.options.Without.RevisionUID))
}

func (w *work) relabel(ctx context.Context, hash string) error {
	if err := w.own(ctx); err != nil {
		return err
	}
	for _, p := range w.pods {
		if p.Labels[hashLabel] == hash {
			continue
		}
		meta := map[string]any{"uid": p.UID, "labels": map[string]string{hashLabel: hash}}
		if w.options.Without.RelabelUID {
			delete(meta, "uid")
		}
		data, err := json.Marshal(map[string]any{"metadata": meta})
		if err != nil {
			panic("daemonset: a patch did not encode: " + err.Error())
		}
		_, err = w.env.Client.Patch(ctx, pod.Kind, p.Namespace, p.Name,
			host.Patch{Type: types.MergePatchType, Data: data})
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanUp deletes the oldest revisions beyond the set's limit. It keeps every revision that a pod with a node uses.
func (w *work) cleanUp(ctx context.Context) error {
	surplus := len(w.old) - int(*w.set.Spec.RevisionHistoryLimit)
	if surplus <= 0 {
		return nil
	}
	inUse := map[string]bool{}
	for _, p := range w.pods {
		if node := onNode(p); node {
			inUse[p.Labels[hashLabel]] = true
		}
	}
	old := slices.Clone(w.old)
	history.Sort(old)
	for _, r := range old {
		if surplus <= 0 {
			break
		}
		if hash := r.Labels[hashLabel]; hash != "" && inUse[hash] && !w.options.Without.InUse {
			continue
		}
		if err := w.deleteRevision(ctx, r); err != nil {
			return fmt.Errorf("failed to clean up revisions of DaemonSet: %w", err)
		}
		surplus--
	}
	return nil
}

func onNode(p *corev1.Pod) bool { return identity(p) != "" }
