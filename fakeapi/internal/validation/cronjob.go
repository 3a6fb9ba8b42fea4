package validation

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// CronJob checks a new CronJob.
func CronJob(c *batchv1.CronJob) field.ErrorList {
	errs := validateCronJobSpec(&c.Spec, nil)
	if len(c.Name) > 52 {
		errs = append(errs, field.Invalid(metadata.Path.Child("name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

// CronJobUpdate checks a change: a time zone in the schedule is accepted where it was before.
func CronJobUpdate(c, old *batchv1.CronJob) field.ErrorList {
	return validateCronJobSpec(&c.Spec, &old.Spec)
}

func validateCronJobSpec(s, old *batchv1.CronJobSpec) (errs field.ErrorList) {
	schedule := specPath.Child("schedule")
	if s.Schedule == "" {
		errs = append(errs, field.Required(schedule, ""))
	} else {
		if err := checkSchedule(s.Schedule); err != nil {
			errs = append(errs, field.Invalid(schedule, s.Schedule, err.Error()))
		}
		zoned, was := strings.Contains(s.Schedule, "TZ"), old != nil && strings.Contains(old.Schedule, "TZ")
		if zoned && was && s.TimeZone != nil {
			errs = append(errs, field.Invalid(schedule, s.Schedule,
				"cannot use both timeZone field and TZ or CRON_TZ in schedule"))
		} else if zoned && !was {
			errs = append(errs, field.Invalid(schedule, s.Schedule,
				"cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
		}
	}
	if s.StartingDeadlineSeconds != nil {
		errs = append(errs, nonNegative(*s.StartingDeadlineSeconds, specPath, "startingDeadlineSeconds")...)
	}
	if old == nil || !equality.Semantic.DeepEqual(s.TimeZone, old.TimeZone) {
		errs = append(errs, validateTimeZone(s.TimeZone)...)
	}
	switch s.ConcurrencyPolicy {
	case batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent:
	default:
		errs = append(errs, field.NotSupported(specPath.Child("concurrencyPolicy"), s.ConcurrencyPolicy,
			[]batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}))
	}
	path := specPath.Child("jobTemplate", "spec")
	t := &s.JobTemplate.Spec
	errs = append(errs, validateJobFields(t, path)...)
	if t.Selector != nil {
		errs = append(errs, field.Invalid(path.Child("selector"), t.Selector, "`selector` will be auto-generated"))
	}
	if t.ManualSelector != nil && *t.ManualSelector {
		errs = append(errs, field.NotSupported(path.Child("manualSelector"), t.ManualSelector,
			[]string{"nil", "false"}))
	}
	errs = append(errs, nonNegative(int64(*s.SuccessfulJobsHistoryLimit), specPath, "successfulJobsHistoryLimit")...)
	return append(errs, nonNegative(int64(*s.FailedJobsHistoryLimit), specPath, "failedJobsHistoryLimit")...)
}

func validateTimeZone(zone *string) field.ErrorList {
	path := specPath.Child("timeZone")
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(path, zone, "timeZone must be nil or non-empty string")}
	}
	if strings.EqualFold(*zone, "Local") {
		return field.ErrorList{field.Invalid(path, zone,
			"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")}
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		return field.ErrorList{field.Invalid(path, zone, "unknown time zone "+*zone)}
	}
	return nil
}
