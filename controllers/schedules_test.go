package controllers_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// schedules are unusable schedules that an earlier version of the server stored.
var schedules = map[string]func(s *batchv1.CronJobSpec){
	"words":         func(s *batchv1.CronJobSpec) { s.Schedule = "every now and then" },
	"none":          func(s *batchv1.CronJobSpec) { s.Schedule = "" },
	"a field short": func(s *batchv1.CronJobSpec) { s.Schedule = "* * * *" },
	"out of range":  func(s *batchv1.CronJobSpec) { s.Schedule = "61 * * * *" },
	"no such day":   func(s *batchv1.CronJobSpec) { s.Schedule = "0 0 31 2 *" },
	"zone within":   func(s *batchv1.CronJobSpec) { s.Schedule = "TZ=Atlantis/Poseidonis * * * * *" },
	"zone":          func(s *batchv1.CronJobSpec) { z := "Atlantis/Poseidonis"; s.TimeZone = &z },
}

// A CronJob with an unusable schedule starts nothing and waits for its user. It is not retried, since retries cannot
// help. The one beside it starts its Job.
func TestSchedulesThatNobodyCanRead(t *testing.T) {
	for name, spoil := range schedules {
		t.Run(name, func(t *testing.T) {
			bad, good := cronJob("bad"), cronJob("good")
			spoil(&bad.Spec)
			c := storedCluster(t, []string{"cronjob@current"}, stored(bad, "bad"))
			c.create(good)
			c.settleFor(150 * time.Second)
			c.want("job", "good-24805441 <good", "good-24805442 <good")
			if n := c.touched("bad"); n > 0 {
				t.Errorf("%d requests for it\n%s", n, c.tail(60))
			}
			if failed := c.wantBackoff("bad"); failed > 0 {
				t.Errorf("%d syncs failed", failed)
			}
			c.patch("cj", "bad", `{"spec":{"schedule":"* * * * *","timeZone":null}}`)
			c.settleFor(time.Minute)
			if n := c.touched("bad"); n == 0 {
				t.Errorf("it was mended, and starts nothing\n%s", c.tail(60))
			}
		})
	}
}

func cronJob(name string) *batchv1.CronJob {
	t := template(name)
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
			CreationTimestamp: metav1.Time{Time: sim.Epoch}},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1.AllowConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: t}}},
	}
}
