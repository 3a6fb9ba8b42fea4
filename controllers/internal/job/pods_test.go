package job

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// attemptOf returns an attempt to sync a Job, and a client of its cluster. The server has the pods, and the caches have
// the pods and the Job. A pod without an owner gets the Job as its owner.
func attemptOf(t *testing.T, change func(j *batchv1.Job), pods ...*corev1.Pod) (*attempt, host.Client) {
	world := sim.New(sim.Zero{})
	user := host.NewCluster(world, fakeapi.New(fakeapi.Options{})).Client("user")
	namespaced := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	r := &reconciler{options: &Options{Era: Current}, shed: map[string]map[types.UID]uint64{},
		expected: expectations.New(world.Clock.Now), backoffs: map[string]backoff{}, closed: map[string]types.UID{},
		env:  &host.Env{Client: user, Now: world.Clock.Now},
		jobs: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, namespaced)}
	pod.Index(r.pods)
	j, three, six := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j", UID: "j"}}, int32(3),
		int32(6)
	j.Spec.Parallelism, j.Spec.Completions, j.Spec.BackoffLimit = &three, &three, &six
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if change != nil {
		change(j)
	}
	if err := r.jobs.Add(j); err != nil {
		t.Fatal(err)
	}
	a := &attempt{r: r, key: "default/j", job: r.copyOf(j)}
	for _, p := range pods {
		if p.OwnerReferences == nil {
			p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, Kind)}
		}
		status := p.Status
		obj, err := user.Create(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		p = obj.(*corev1.Pod).DeepCopy()
		if p.Status = status; p.Status.Phase != "" {
			if obj, err = user.UpdateStatus(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			p = obj.(*corev1.Pod).DeepCopy()
		}
		a.pods = append(a.pods, p)
		if err := r.pods.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return a, user
}

// aPod returns a pod with the tracking finalizer.
func aPod(name string, change ...func(p *corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: []string{tracking},
		Labels: map[string]string{"app": "x"}, Annotations: map[string]string{}}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	for _, f := range change {
		f(p)
	}
	return p
}

func phase(is corev1.PodPhase) func(p *corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = is }
}

func annotate(key, value string) func(p *corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

// left returns the names of the pods on the server that are not terminating.
func left(t *testing.T, c host.Client) (names []string) {
	items, err := c.List(t.Context(), pod.Kind, "default", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range items {
		if p := obj.(*corev1.Pod); p.DeletionTimestamp == nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// refused is a client for which the server refuses some requests.
type refused struct {
	host.Client
	delete     error
	get, patch bool
}

var errRefused = apierrors.NewInternalError(errors.New("out of order"))

func (c refused) Delete(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	o metav1.DeleteOptions) error {
	if c.delete != nil {
		return c.delete
	}
	return c.Client.Delete(ctx, gvk, namespace, name, o)
}

func (c refused) Get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	if c.get {
		return nil, errRefused
	}
	return c.Client.Get(ctx, gvk, namespace, name)
}

func (c refused) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	if c.patch {
		return nil, errRefused
	}
	return c.Client.Patch(ctx, gvk, namespace, name, p)
}

// A Job that has ended deletes the pods that still run on the server, whatever the cache shows.
func TestLate(t *testing.T) {
	other := func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n",
			Controller: &yes}}
	}
	a, user := attemptOf(t, nil, aPod("works"), aPod("works-too"), aPod("ended", phase(corev1.PodSucceeded)),
		aPod("others"), aPod("gone"), aPod("ends"))
	change := func(name string, change func(p *corev1.Pod)) {
		obj, err := user.Get(t.Context(), pod.Kind, "default", name)
		if err != nil {
			t.Fatal(err)
		}
		p := obj.(*corev1.Pod).DeepCopy()
		if change(p); p.Status.Phase != corev1.PodSucceeded {
			_, err = user.Update(t.Context(), p)
		} else {
			_, err = user.UpdateStatus(t.Context(), p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change("others", other)
	change("ends", phase(corev1.PodSucceeded))
	change("gone", func(p *corev1.Pod) { p.Finalizers = nil })
	if err := user.Delete(t.Context(), pod.Kind, "default", "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	going := *a.job
	going.DeletionTimestamp = &metav1.Time{Time: start}
	if err := a.r.late(t.Context(), &going); err != nil || len(left(t, user)) != 5 {
		t.Errorf("terminating Job: %q are left, %v", left(t, user), err)
	}
	for _, err := range []error{apierrors.NewNotFound(schema.GroupResource{}, "works"),
		apierrors.NewConflict(schema.GroupResource{}, "works", nil)} {
		a.r.env.Client = refused{Client: user, delete: err}
		if err := a.r.late(t.Context(), a.job); err != nil {
			t.Errorf("the pod is gone or recreated: %v", err)
		}
	}
	for _, c := range []refused{{Client: user, get: true}, {Client: user, delete: errRefused}} {
		if a.r.env.Client = c; a.r.late(t.Context(), a.job) == nil {
			t.Errorf("%v: no error, although a pod still runs", c)
		}
	}
	a.r.env.Client = user
	if err := a.r.late(t.Context(), a.job); err != nil {
		t.Error(err)
	}
	if got, want := left(t, user), []string{"ended", "ends", "others"}; !slices.Equal(got, want) {
		t.Errorf("%q are left, want %q", got, want)
	}
}

// A deletion names the uid, so another pod of that name stays. Eras before ControllerRef did not name it.
func TestDelete(t *testing.T) {
	for g, spares := range map[Era]bool{Current: true, ControllerRef: true, Gated: false, Selector: false} {
		a, user := attemptOf(t, nil, aPod("p"))
		a.r.options.Era = g
		cached := a.pods[0].DeepCopy()
		cached.UID = "former"
		err := a.r.delete(t.Context(), cached)
		if (err != nil) != spares || (len(left(t, user)) == 1) != spares {
			t.Errorf("%s: %q are left, %v", g, left(t, user), err)
		}
	}
}

// free removes the finalizer from a pod that no Job will count.
func TestFree(t *testing.T) {
	ends := func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	}
	managed := "example.com/other"
	for _, c := range []struct {
		name   string
		job    func(j *batchv1.Job)
		client func(c host.Client) host.Client
		frees  bool
		fails  bool
	}{
		{"its Job runs", nil, nil, false, false}, {"its Job has ended", ends, nil, true, false},
		{"another controller manages its ended Job", func(j *batchv1.Job) { ends(j); j.Spec.ManagedBy = &managed }, nil,
			false,
			false},
		{"the patch fails", ends, func(c host.Client) host.Client { return refused{Client: c, patch: true} },
			false, true},
	} {
		a, user := attemptOf(t, c.job, aPod("p"))
		if c.client != nil {
			a.r.env.Client = c.client(user)
		}
		err := a.r.free(t.Context(), "default/p")
		obj, getErr := user.Get(t.Context(), pod.Kind, "default", "p")
		if getErr != nil {
			t.Fatal(getErr)
		}
		if (err != nil) != c.fails || tracked(obj.(*corev1.Pod)) == c.frees {
			t.Errorf("%s: the pod has finalizers %q, error %v", c.name, obj.(*corev1.Pod).Finalizers, err)
		}
		if err := a.r.free(t.Context(), "default/none"); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A removed pod needs no release. A pod that still has the finalizer is held.
func TestShedAll(t *testing.T) {
	a, user := attemptOf(t, nil, aPod("p"), aPod("free", func(p *corev1.Pod) { p.Finalizers = nil }))
	gone := a.pods[0].DeepCopy()
	gone.Name, gone.UID = "gone", "gone"
	held := map[types.UID]bool{gone.UID: true, a.pods[0].UID: true}
	if err := a.shedAll(t.Context(), []*corev1.Pod{gone}, held); err != nil || len(held) != 1 {
		t.Errorf("a removed pod: %v, and %d are held", err, len(held))
	}
	a.r.env.Client = refused{Client: user, patch: true}
	if err := a.shedAll(t.Context(), a.pods[:1], held); err == nil || len(held) != 1 {
		t.Errorf("a failed release: %v, and %d are held", err, len(held))
	}
	if held := a.held(); len(held) != 1 || !held[a.pods[0].UID] {
		t.Errorf("held: %v, want the pod that was not released", held)
	}
	a.r.env.Client = user
	if err := a.shedAll(t.Context(), a.pods[:1], held); err != nil || len(held) != 0 || len(a.held()) != 0 {
		t.Errorf("after the release: %v, and %d are held, by the cache %d", err, len(held), len(a.held()))
	}
	if uncounted := a.uncountedPods(nil, func(*corev1.Pod) bool { return true }); len(uncounted) != 0 {
		t.Errorf("%d released pods are counted again", len(uncounted))
	}
}

// Restarts count as failures if the containers restart within the existing pods.
func TestRestartedTooOften(t *testing.T) {
	j, two := &batchv1.Job{}, int32(2)
	j.Spec.BackoffLimit, j.Spec.Template.Spec.RestartPolicy = &two, corev1.RestartPolicyOnFailure
	for is, want := range map[corev1.PodPhase]bool{corev1.PodRunning: true, corev1.PodPending: true,
		corev1.PodFailed: false, corev1.PodUnknown: false} {
		p := aPod("p", phase(is))
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
		if restartedTooOften(j, []*corev1.Pod{p}) != want {
			t.Errorf("%s: restarted too often: %v", is, !want)
		}
	}
}

// An invalid index in a pod's annotation counts as none, and an invalid number as 0.
func TestIndexes(t *testing.T) {
	for text, want := range map[string]int{"": nowhere, "x": nowhere, "-7": nowhere, "0": 0, "3": 3} {
		if got := indexOf(aPod("p", annotate(indexKey, text))); got != want {
			t.Errorf("index %q is %d, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"": 0, "x": 0, "-7": 0, "7": 7, "2147483647": 1<<31 - 1, "2147483648": 0} {
		if got := annotated(aPod("p", annotate("n", text)), "n"); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

// All pods of an index except one are surplus, whatever their order in the list. Only one succeeded pod of an index
// counts.
func TestOneOfAnIndex(t *testing.T) {
	indexed := func(j *batchv1.Job) { j.Spec.CompletionMode = some(batchv1.IndexedCompletion) }
	of := func(name, index string, change ...func(p *corev1.Pod)) *corev1.Pod {
		return aPod(name, append(change, annotate(indexKey, index))...)
	}
	a, _ := attemptOf(t, indexed, of("a", "0"), of("b", "1"), of("c", "0"), of("d", "1"), of("e", "7"))
	surplus, rest := duplicates(a.job, a.pods)
	var indexes []int
	for _, p := range rest {
		indexes = append(indexes, indexOf(p))
	}
	if slices.Sort(indexes); len(surplus) != 3 || !slices.Equal(indexes, []int{0, 1}) {
		t.Errorf("%d surplus pods, and the remaining ones have indexes %v", len(surplus), indexes)
	}
	done := phase(corev1.PodSucceeded)
	a, _ = attemptOf(t, indexed, of("a", "0", done), of("b", "1", done), of("c", "0", done))
	if a.survey(); a.succeeded != 2 {
		t.Errorf("%d have succeeded, want 2 indexes", a.succeeded)
	}
}

// One failed pod of an index is kept until there is another pod. It is the pod with the highest failure count. If
// several have this count, it is the last that failed.
func TestAwaitingReplacement(t *testing.T) {
	indexedJob := func(j *batchv1.Job) {
		mode, limit := batchv1.IndexedCompletion, int32(1)
		j.Spec.CompletionMode, j.Spec.BackoffLimitPerIndex = &mode, &limit
	}
	failed := func(name, index, before string, ended int) *corev1.Pod {
		return aPod(name, phase(corev1.PodFailed), annotate(indexKey, index),
			annotate(batchv1.JobIndexFailureCountAnnotation, before), func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(ended)}}}}
			})
	}
	for _, c := range []struct {
		name string
		pods []*corev1.Pod
		want string
	}{
		{"the one", []*corev1.Pod{failed("a", "0", "0", 1)}, "a"},
		{"of most failures", []*corev1.Pod{failed("a", "0", "1", 9), failed("b", "0", "0", 9)}, "a"},
		{"of most failures, the later", []*corev1.Pod{failed("a", "0", "0", 9), failed("b", "0", "1", 9)}, "b"},
		{"of as many failures, the later", []*corev1.Pod{failed("a", "0", "1", 9), failed("b", "0", "1", 9)}, "b"},
		{"the last", []*corev1.Pod{failed("a", "0", "0", 9), failed("b", "0", "0", 1)}, "a"},
		{"the last, the later", []*corev1.Pod{failed("a", "0", "0", 1), failed("b", "0", "0", 9)}, "b"},
		{"there is another", []*corev1.Pod{failed("a", "0", "0", 1), aPod("b", annotate(indexKey, "0"))}, ""},
		{"the index has succeeded", []*corev1.Pod{failed("a", "1", "0", 1)}, ""},
		{"the index has been given up", []*corev1.Pod{failed("a", "2", "0", 1)}, ""},
	} {
		a, _ := attemptOf(t, indexedJob, c.pods...)
		a.active = keep(a.pods, pod.Active)
		a.succeededIndexes, a.failedIndexes = parseIntervals("1", 3), &intervals{}
		*a.failedIndexes = parseIntervals("2", 3)
		got := ""
		for _, p := range a.awaitingReplacement() {
			got += p.Name
		}
		if got != c.want {
			t.Errorf("%s: %q is kept, want %q", c.name, got, c.want)
		}
	}
	a, _ := attemptOf(t, indexedJob, failed("a", "0", "0", 1), failed("b", "1", "1", 1), failed("c", "9", "1", 1),
		aPod("d", annotate(indexKey, "2"), annotate(batchv1.JobIndexFailureCountAnnotation, "1")))
	a.pods[1].Finalizers = slices.Clone(a.pods[1].Finalizers)
	if got := failedIndexes(a.job, a.pods).String(); got != "1" {
		t.Errorf("the failed indexes are %q, want 1", got)
	}
	if a.pods[1].Finalizers = nil; failedIndexes(a.job, a.pods).total() != 0 {
		t.Error("a pod that was already counted fails its index")
	}
	j, p := a.job, failed("p", "0", "1", 1)
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionIgnore,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42}}}}}
	p.Status.ContainerStatuses[0].State.Terminated.ExitCode = 42
	if givesUp(p, j) {
		t.Error("an ignored failure fails an index")
	}
	if p.Status.ContainerStatuses[0].State.Terminated.ExitCode = 1; !givesUp(p, j) {
		t.Error("the last allowed failure does not fail its index")
	}
}

// Some free indexes wait until the backoff after their failures is over.
func TestNewIndexes(t *testing.T) {
	a, _ := attemptOf(t, func(j *batchv1.Job) {
		mode, limit := batchv1.IndexedCompletion, int32(9)
		j.Spec.CompletionMode, j.Spec.BackoffLimitPerIndex = &mode, &limit
	}, aPod("going", annotate(indexKey, "0")))
	a.r.env.Now = func() time.Time { return start }
	old := func(before string, ended int) *corev1.Pod {
		p := exited(ended)
		p.Annotations = map[string]string{batchv1.JobIndexFailureCountAnnotation: before}
		return p
	}
	a.pods[0].DeletionTimestamp = &metav1.Time{Time: start}
	for _, c := range []struct {
		name     string
		awaiting map[int]*corev1.Pod
		policy   *batchv1.PodReplacementPolicy
		want     []int
		wait     time.Duration
	}{
		{"all", nil, nil, []int{0, 1, 2}, 0},
		{"one is terminating", nil, some(batchv1.Failed), []int{1, 2}, 0},
		{"terminating pods are replaced", nil, some(batchv1.TerminatingOrFailed), []int{0, 1, 2}, 0},
		{"some wait", map[int]*corev1.Pod{0: old("0", 0), 2: old("0", 0)}, nil, []int{1}, 0},
		{"all wait", map[int]*corev1.Pod{0: old("1", 0), 1: old("0", 0), 2: old("0", 0)}, nil, nil, firstBackoff},
		{"all wait long", map[int]*corev1.Pod{0: old("2", 0), 1: old("2", 0), 2: old("2", 0)}, nil, nil,
			4 * firstBackoff},
		{"all wait, the first least", map[int]*corev1.Pod{0: old("0", 0), 1: old("1", 0), 2: old("1", 0)}, nil, nil,
			firstBackoff},
	} {
		a.awaiting, a.job.Spec.PodReplacementPolicy = c.awaiting, c.policy
		if got, wait := a.newIndexes(3); !slices.Equal(got, c.want) || wait != c.wait {
			t.Errorf("%s: %v, in %v; want %v, in %v", c.name, got, wait, c.want, c.wait)
		}
	}
}

func some[T any](v T) *T { return &v }
