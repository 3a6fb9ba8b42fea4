// Package v1 contains the kind CronJob.
package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	builder     = &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "batch.example.com", Version: "v1"}}
	AddToScheme = builder.AddToScheme
)

func init() { builder.Register(&CronJob{}, &CronJobList{}) }

// CronJob starts a Job at each time of a schedule.
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CronJobSpec   `json:"spec"`
	Status CronJobStatus `json:"status,omitempty"`
}

type CronJobSpec struct {
	Schedule string `json:"schedule"` // in Cron's format
	// StartingDeadlineSeconds is how late a Job may start. A later Job is missed.
	StartingDeadlineSeconds *int64                  `json:"startingDeadlineSeconds,omitempty"`
	ConcurrencyPolicy       string                  `json:"concurrencyPolicy,omitempty"` // Allow, Forbid, Replace
	Suspend                 bool                    `json:"suspend,omitempty"`
	HistoryLimit            int32                   `json:"historyLimit,omitempty"` // the number of ended Jobs that are kept
	JobTemplate             batchv1.JobTemplateSpec `json:"jobTemplate"`
}

type CronJobStatus struct {
	Active           int32        `json:"active,omitempty"`
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
}

type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronJob `json:"items"`
}

func (c *CronJob) DeepCopyObject() runtime.Object {
	to := *c
	c.ObjectMeta.DeepCopyInto(&to.ObjectMeta)
	c.Spec.JobTemplate.DeepCopyInto(&to.Spec.JobTemplate)
	if c.Spec.StartingDeadlineSeconds != nil {
		n := *c.Spec.StartingDeadlineSeconds
		to.Spec.StartingDeadlineSeconds = &n
	}
	to.Status.LastScheduleTime = c.Status.LastScheduleTime.DeepCopy()
	return &to
}

func (l *CronJobList) DeepCopyObject() runtime.Object {
	to := *l
	l.ListMeta.DeepCopyInto(&to.ListMeta)
	to.Items = nil
	for i := range l.Items {
		to.Items = append(to.Items, *l.Items[i].DeepCopyObject().(*CronJob))
	}
	return &to
}
