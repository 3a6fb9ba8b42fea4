package deployment

import (
	"context"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// rollbackTo returns the revision to which old clients request a rollback, 0 for the one before the last. An annotation
// holds this field of old API versions. The current kubectl writes the old template into the Deployment instead.
func rollbackTo(d *appsv1.Deployment) (revision int64, asked bool) {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	return n, err == nil
}

// rollback gives the Deployment the template and annotations of a revision's ReplicaSet, and removes the request,
// whether or not it succeeded.
func (u *rollout) rollback(ctx context.Context, to int64) error {
	if u.current() == nil {
		if err := u.create(ctx); err != nil {
			return err
		}
	}
	if to == 0 {
		to = u.lastRevision()
	}
	d := *u.d
	if rs := u.ofRevision(to); rs != nil && !template.Same(&rs.Spec.Template, &d.Spec.Template) {
		d.Spec.Template = rs.Spec.Template
		d.Spec.Template.Labels = with(rs.Spec.Template.Labels, nil)
		delete(d.Spec.Template.Labels, template.HashLabel)
		d.Annotations = annotationsOf(&d, rs)
	}
	d.Annotations = with(d.Annotations, nil)
	delete(d.Annotations, appsv1.DeprecatedRollbackTo)
	_, err := u.env.Client.Update(ctx, &d)
	return err
}

// annotationsOf returns a Deployment's annotations after a rollback to a ReplicaSet.
func annotationsOf(d *appsv1.Deployment, rs *appsv1.ReplicaSet) map[string]string {
	out := map[string]string{}
	for k, v := range d.Annotations { //detcheck:ordered each key is set once
		if ofItsOwn(k) {
			out[k] = v
		}
	}
	for k, v := range rs.Annotations { //detcheck:ordered each key is set once
		if !ofItsOwn(k) {
			out[k] = v
		}
	}
	return out
}

// lastRevision returns the second highest revision, 0 for none.
func (u *rollout) lastRevision() int64 {
	all := []int64{0, 0}
	for _, rs := range u.sets {
		if n, err := revision(rs); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all[len(all)-2]
}

// ofRevision returns the ReplicaSet of a revision, old ones first, or nil.
func (u *rollout) ofRevision(n int64) *appsv1.ReplicaSet {
	for _, rs := range append(u.old(), keep(u.sets, func(rs *appsv1.ReplicaSet) bool { return rs == u.current() })...) {
		if v, err := revision(rs); err == nil && v == n && n != 0 {
			return rs
		}
	}
	return nil
}
