package job

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// indexKey is the annotation and label with a pod's completion index.
const indexKey = batchv1.JobCompletionIndexAnnotation

// nowhere stands for the index of a pod that has none.
const nowhere = -1

func indexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[indexKey])
	if err != nil || i < 0 {
		return nowhere
	}
	return i
}

// within reports whether a pod's index is below the Job's completions. It is true for a Job without indexes.
func within(p *corev1.Pod, j *batchv1.Job) bool {
	if !indexed(j) {
		return true
	}
	i := indexOf(p)
	return i != nowhere && i < int(*j.Spec.Completions)
}

func byIndex(a, b *corev1.Pod) int { return cmp.Compare(indexOf(a), indexOf(b)) }

func indexesOf(pods []*corev1.Pod) []int {
	var list []int
	for _, p := range pods {
		if i := indexOf(p); i != nowhere {
			list = append(list, i)
		}
	}
	return list
}

func perIndex(j *batchv1.Job) bool { return j.Spec.BackoffLimitPerIndex != nil }

// failures returns how many earlier pods with the same index failed. all has every failure. counted has only the
// failures that count towards the limit.
func failures(p *corev1.Pod) (counted, all int) {
	counted = annotated(p, batchv1.JobIndexFailureCountAnnotation)
	return counted, counted + annotated(p, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

func annotated(p *corev1.Pod, key string) int {
	n, _ := strconv.Atoi(p.Annotations[key])
	if n > math.MaxInt32 {
		return 0
	}
	return max(n, 0)
}

// givesUp reports whether the failure of a pod makes its index fail.
func givesUp(p *corev1.Pod, j *batchv1.Job) bool {
	if !failed(p, j) {
		return false
	}
	v := judge(j, p)
	if v.action == batchv1.PodFailurePolicyActionFailIndex {
		return true
	}
	before, _ := failures(p)
	return v.counts() && before >= int(*j.Spec.BackoffLimitPerIndex)
}

// failedIndexes returns the failed indexes: those in the status, and those that failed since.
func failedIndexes(j *batchv1.Job, pods []*corev1.Pod) *intervals {
	var before intervals
	if j.Status.FailedIndexes != nil {
		before = parseIntervals(*j.Status.FailedIndexes, int(*j.Spec.Completions))
	}
	list := before.with(indexesOf(keep(pods, func(p *corev1.Pod) bool {
		return within(p, j) && tracked(p) && givesUp(p, j)
	}))...)
	return &list
}

// awaitingReplacement returns, by index, the failed pods to keep until they are replaced, because their annotations
// hold the number of failures. If an index has several failed pods, the last one is kept.
func (a *attempt) awaitingReplacement() map[int]*corev1.Pod {
	running := intervals(nil).with(indexesOf(a.active)...)
	last := map[int]*corev1.Pod{}
	for _, p := range a.uncountedPods(nil, func(p *corev1.Pod) bool { return failed(p, a.job) }) {
		i := indexOf(p)
		if a.succeededIndexes.has(i) || a.failedIndexes.has(i) || running.has(i) {
			continue
		}
		if other := last[i]; other != nil {
			_, before := failures(other)
			_, after := failures(p)
			if before > after || endedAt(p).Before(endedAt(other)) {
				continue
			}
		}
		last[i] = p
	}
	return last
}

// newIndexes returns at most n indexes that need pods. If all must wait, it returns the time until the first may start.
func (a *attempt) newIndexes(n int) (list []int, wait time.Duration) {
	taken := a.succeededIndexes
	if !a.r.options.Without.Indexes {
		taken = taken.with(indexesOf(a.active)...)
	}
	if onlyFailed(a.job) {
		taken = taken.with(indexesOf(keep(a.pods, pod.Terminating))...)
	}
	if a.failedIndexes != nil {
		taken = taken.union(*a.failedIndexes)
	}
	free := taken.missing(n, int(*a.job.Spec.Completions))
	if !perIndex(a.job) {
		return free, 0
	}
	now := a.r.env.Now()
	for _, i := range free {
		switch left := a.indexBackoff(i).remaining(now); {
		case left == 0:
			list = append(list, i)
		case wait == 0 || left < wait:
			wait = left
		}
	}
	if len(list) > 0 {
		wait = 0
	}
	return list, wait
}

func (a *attempt) indexBackoff(i int) backoff {
	p := a.awaiting[i]
	if p == nil {
		return backoff{}
	}
	_, before := failures(p)
	return backoff{failures: before + 1, last: endedAt(p)}
}

// duplicates splits the active pods of an Indexed Job. rest has one pod of each valid index, the last in the order of
// [pod.Before]. surplus has the other pods, and the pods without a valid index.
func duplicates(j *batchv1.Job, pods []*corev1.Pod) (surplus, rest []*corev1.Pod) {
	ordered := slices.Clone(pods)
	slices.SortStableFunc(ordered, byIndex)
	for len(ordered) > 0 {
		i, n := indexOf(ordered[0]), 1
		for n < len(ordered) && indexOf(ordered[n]) == i {
			n++
		}
		same := ordered[:n]
		ordered = ordered[n:]
		if i == nowhere || i >= int(*j.Spec.Completions) {
			surplus = append(surplus, same...)
			continue
		}
		slices.SortStableFunc(same, pod.Before)
		surplus, rest = append(surplus, same[:n-1]...), append(rest, same[n-1])
	}
	return surplus, rest
}

// forIndex returns a copy of a pod from the template, with completion index i.
func (a *attempt) forIndex(p *corev1.Pod, i int) *corev1.Pod {
	made := *p
	text := strconv.Itoa(i)
	made.Labels, made.Annotations = withEntry(p.Labels, indexKey, text), withEntry(p.Annotations, indexKey, text)
	made.Spec.Hostname = fmt.Sprintf("%s-%d", a.job.Name, i)
	made.GenerateName = indexPrefix(a.job.Name, i)
	if perIndex(a.job) {
		counted, ignored := 0, 0
		if old := a.awaiting[i]; old != nil {
			all := 0
			if counted, all = failures(old); judge(a.job, old).counts() {
				counted, all = counted+1, all+1
			} else {
				all++
			}
			ignored = all - counted
		}
		made.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(counted)
		if ignored > 0 {
			made.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(ignored)
		}
	}
	return &made
}

func withEntry(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// maxPrefix is the length to which the server truncates generateName.
const maxPrefix = 58

// indexPrefix returns the generateName of an index's pods. It shortens the Job's name, so that the index stays whole.
func indexPrefix(name string, i int) string {
	suffix := "-" + strconv.Itoa(i) + "-"
	if len(name)+len(suffix) > maxPrefix {
		name = name[:maxPrefix-len(suffix)]
	}
	return name + suffix
}

// indexEnv adds the environment variable for the completion index to every container that lacks it.
func indexEnv(spec *corev1.PodSpec) {
	for _, list := range [...]*[]corev1.Container{&spec.InitContainers, &spec.Containers} {
		*list = slices.Clone(*list)
		for i := range *list {
			c := &(*list)[i]
			if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == indexVariable }) {
				continue
			}
			c.Env = append(slices.Clip(c.Env), corev1.EnvVar{Name: indexVariable, ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + indexKey + "']"}}})
		}
	}
}

const indexVariable = "JOB_COMPLETION_INDEX"

// interval is a range of completion indexes, both ends included. intervals are sorted, and no two are adjacent.
type (
	interval  struct{ first, last int }
	intervals []interval
)

// parseIntervals reads the format of [intervals.String]. It skips invalid parts, and indexes that are not below
// completions.
func parseIntervals(text string, completions int) intervals {
	if text == "" {
		return nil
	}
	var list intervals
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		if first >= completions {
			break
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		list = list.add(interval{first, min(last, completions-1)})
	}
	return list
}

// add appends an interval that begins at or after the beginning of the last one.
func (list intervals) add(next interval) intervals {
	if n := len(list); n > 0 && next.first <= list[n-1].last+1 {
		list[n-1].last = max(list[n-1].last, next.last)
		return list
	}
	return append(list, next)
}

func (list intervals) with(indexes ...int) intervals {
	var more intervals
	for _, i := range slices.Sorted(slices.Values(indexes)) {
		more = more.add(interval{i, i})
	}
	return list.union(more)
}

func (list intervals) union(other intervals) intervals {
	var both intervals
	for len(list)+len(other) > 0 {
		if len(other) == 0 || len(list) > 0 && list[0].first < other[0].first {
			both, list = both.add(list[0]), list[1:]
		} else {
			both, other = both.add(other[0]), other[1:]
		}
	}
	return both
}

func (list intervals) has(index int) bool {
	return slices.ContainsFunc(list, func(i interval) bool { return i.first <= index && index <= i.last })
}

func (list intervals) total() int {
	n := 0
	for _, i := range list {
		n += i.last - i.first + 1
	}
	return n
}

func (list intervals) common(other intervals) int {
	n := 0
	for _, a := range list {
		for _, b := range other {
			n += max(0, min(a.last, b.last)-max(a.first, b.first)+1)
		}
	}
	return n
}

// missing returns the first n indexes below completions that are not in the list.
func (list intervals) missing(n, completions int) []int {
	var free []int
	for i := 0; i < completions && len(free) < n; i++ {
		if len(list) > 0 && list[0].first <= i {
			i, list = list[0].last, list[1:]
			continue
		}
		free = append(free, i)
	}
	return free
}

// String formats the intervals as in statuses: "1,3,4,7-9".
func (list intervals) String() string {
	var b strings.Builder
	for n, i := range list {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i.first))
		switch {
		case i.last == i.first+1:
			b.WriteByte(',')
			b.WriteString(strconv.Itoa(i.last))
		case i.last > i.first:
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(i.last))
		}
	}
	return b.String()
}
