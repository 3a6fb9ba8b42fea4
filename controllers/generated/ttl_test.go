package generated_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ttls are worlds of the controller that deletes Jobs some time after they have ended.
var ttls = subject{
	name:  "ttl-after-finished",
	apart: true, most: 10 * time.Minute,
	begin: func(w *world) {
		for range 1 + w.n(3) {
			w.brief()
		}
	},
	acts: []act{
		{6, "a Job", (*world).brief},
		{14, "a Job ends", (*world).jobEnds},
		{6, "a Job's time", func(w *world) {
			edit(w, "Job", "", nil, func(j *batchv1.Job) {
				j.Spec.TTLSecondsAfterFinished = some(w, int32(0), 5,
					60, 100)
			})
		}},
		{4, "a Job's condition", func(w *world) {
			edit(w, "Job", "status", nil, func(j *batchv1.Job) {
				j.Status.Conditions = append([]batchv1.JobCondition{{Type: one(w, batchv1.JobSuspended,
					batchv1.JobFailed),
					Status: corev1.ConditionFalse, LastTransitionTime: w.around()}}, j.Status.Conditions...)
			})
		}},
		{4, "a Job is deleted", func(w *world) {
			if all := w.there("Job"); len(all) > 0 {
				w.merge(one(w, all...), "", fields{"metadata": fields{"finalizers": one(w, nil, []string{"a.b/c"})}})
				at := one(w, all...)
				w.drop(at, metav1.DeletePropagationBackground, nil)
				if w.in(2) {
					w.briefAt(at)
				}
			}
		}},
		{8, "time", func(w *world) { w.settle(one(w, time.Second, 5*time.Second, time.Minute, 2*time.Minute)) }},
	},
}

func (w *world) brief() { w.briefAt(place{"Job", "default", one(w, "a", "b", "c", "d")}) }

func (w *world) briefAt(at place) {
	w.make(at, `spec: {%s template: {metadata: {labels: {x: y}}, spec: {restartPolicy: Never,
  containers: [{name: c, image: i}]}}}`, one(w, "", "ttlSecondsAfterFinished: 0,", "ttlSecondsAfterFinished: 5,",
		"ttlSecondsAfterFinished: 5,", "ttlSecondsAfterFinished: 90,"))
}
