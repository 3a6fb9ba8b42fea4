package cronjob

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/threelaws/threelaws/controllers/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// A CronJob with a changed schedule has a key of its own in the queue. No CronJob has such a name.
const rescheduleMark = "/rescheduled:"

// rescheduled returns the CronJob of such a key.
func rescheduled(key string) (cj string, ok bool) {
	namespace, name, ok := strings.Cut(key, rescheduleMark)
	return namespace + "/" + name, ok
}

// cronJobRoute routes events on CronJobs. If the schedule or time zone changed, the CronJob waits for its next time.
// Missed times of the new schedule are not made up for until another event.
func cronJobRoute(without *Without) host.Route {
	own := routing.Own(cronJobKind, &without.Routing)
	return host.Route{Kind: cronJobKind, Do: func(v host.View, e host.Event, out *host.Effect) {
		old, _ := e.Old.(*batchv1.CronJob)
		cur, _ := e.New.(*batchv1.CronJob)
		if old != nil && cur != nil && old.UID == cur.UID && times(old) != times(cur) {
			out.Keys = append(out.Keys, cur.Namespace+rescheduleMark+cur.Name)
			return
		}
		own.Do(v, e, out)
	}}
}

// times returns what determines the times of a CronJob.
func times(cj *batchv1.CronJob) string {
	if cj.Spec.TimeZone == nil {
		return cj.Spec.Schedule
	}
	return "TZ=" + *cj.Spec.TimeZone + " " + cj.Spec.Schedule
}

// await requeues a CronJob for its next time; never if its schedule is unreadable.
func (r *reconciler) await(key string) {
	obj, exists, _ := r.cronJobs.GetByKey(key)
	if !exists {
		return
	}
	cj := obj.(*batchv1.CronJob)
	if s, err := schedule(cj); err == nil {
		r.env.Queue.AddAfter(key, *untilNext(cj, r.env.Now(), s))
	}
}
