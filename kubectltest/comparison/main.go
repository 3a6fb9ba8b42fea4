// Command comparison replays recorded cases of kube-apiserver on this module's server and on common fakes. It
// writes tables of the matching cases into docs/use/comparison.md:
//
//	cd kubectltest && go run ./comparison [-v | -cycle]
//
// Two answers match if both succeed or have the same HTTP status (see outcome). The objects must have the same owner
// references and finalizers, and both or none must be terminating. For a DELETE, only the status is compared. A case
// with a request that a typed client cannot send is left out. The fakes set no uids, so the command sets them. With -v
// it names each case that differs or is left out, with the reason. With -cycle it only measures how long an adoption
// takes.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/threelaws/threelaws/internal/vectors"
)

const (
	folder     = "../fakeapi/testdata/vectors"
	comparison = "../docs/use/comparison.md"
)

// telling lists the cases that the page shows individually, including cases that the fakes answer correctly.
var telling = []struct{ name, what string }{
	{"concurrency/already-exists", "a name that is taken is refused"},
	{"ownerrefs/adopt-idempotent", "a second adoption by the same owner changes nothing"},
	{"ownerrefs/release-smp", "`$patch: delete` releases"},
	{"finalizers/stale-rv-finalizer-removal", "a write on a stale `resourceVersion` is refused"},
	{"finalizers/remove-last-while-deleting-merge", "a terminating object is removed with its last finalizer"},
	{"finalizers/add-while-deleting-merge", "a terminating object gets no new finalizer"},
	{"ownerrefs/create-missing-uid", "a reference needs a UID"},
	{"ownerrefs/change-two-controllers", "an object has at most one controller"},
	{"ownerrefs/second-controller-smp-with-uid", "an object with a controller cannot be adopted"},
	{"ownerrefs/recreated-pod-uid-guard", "a patch with the `uid` of a deleted object of the same name is refused"},
	{"finalizers/precondition-uid", "a deletion with such a precondition is refused"},
	{"finalizers/policy-body-orphan", "deletion with Orphan waits for the garbage collector"},
	{"finalizers/policy-body-foreground", "deletion with Foreground waits for the garbage collector"},
	{"finalizers/pod-scheduled-default", "a Pod on a node gets its grace period"},
}

var (
	verbose = flag.Bool("v", false, "name each case that differs or is left out")
	cycle   = flag.Bool("cycle", false, "measure what a cycle of an adoption takes")
)

func main() {
	flag.Parse()
	if *cycle {
		cycles()
		return
	}
	tables, err := compare()
	if err == nil {
		err = write(tables)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "comparison:", err)
		os.Exit(1)
	}
}

// compare returns two tables. The first says how many cases of each area a rival answers correctly. The second says
// which rivals answer the cases in telling correctly.
func compare() (string, error) {
	scores, agrees, err := score()
	if err != nil {
		return "", err
	}
	var table strings.Builder
	heads := func(first, last string) {
		table.WriteString("| " + first + " |")
		for _, r := range rivals {
			table.WriteString(" " + r.name + " |")
		}
		table.WriteString(last + "\n|" + strings.Repeat(" --- |", strings.Count(last, "|")+len(rivals)+1) + "\n")
	}
	heads("recorded cases", " left out |")
	table.WriteString(scores)
	table.WriteByte('\n')
	heads("what the real server does", "")
	for _, c := range telling {
		fmt.Fprintf(&table, "| %s |", c.what)
		answers, found := agrees[c.name]
		if !found {
			return "", fmt.Errorf("%s is not compared", c.name)
		}
		for _, same := range answers {
			table.WriteString(map[bool]string{true: " yes |", false: " no |"}[same])
		}
		table.WriteByte('\n')
	}
	return table.String(), nil
}

// score runs all cases with all rivals. It returns a row for each area, and for each case which rivals answer
// correctly.
func score() (rows string, agrees map[string][]bool, err error) {
	mapper := testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)
	agrees = map[string][]bool{}
	for _, area := range []string{"ownerrefs", "finalizers", "concurrency"} {
		cases, err := vectors.ReadArea(folder + "/" + area)
		if err != nil {
			return "", nil, err
		}
		agree, compared := make([]int, len(rivals)), 0
		for _, c := range cases {
			if why := unsayable(mapper, c); why != nil {
				tell("%s: left out: %v", c.Name(), why)
				continue
			}
			compared++
			for i, r := range rivals {
				err := replay(mapper, r, c)
				agrees[c.Name()] = append(agrees[c.Name()], err == nil)
				if err == nil {
					agree[i]++
				} else {
					tell("%s: %s: %v", c.Name(), r.name, err)
				}
			}
		}
		rows += fmt.Sprintf("| %s |", area)
		for i := range rivals {
			rows += fmt.Sprintf(" %d of %d |", agree[i], compared)
		}
		rows += fmt.Sprintf(" %d |\n", len(cases)-compared)
	}
	return rows, agrees, nil
}

func tell(format string, args ...any) {
	if *verbose {
		fmt.Printf(format+"\n", args...)
	}
}

func write(tables string) error {
	page, err := os.ReadFile(comparison)
	if err != nil {
		return err
	}
	begin, end := "<!-- fakes -->\n", "<!-- end of fakes -->\n"
	before, rest, opened := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return fmt.Errorf("%s has no part for the tables", comparison)
	}
	return os.WriteFile(comparison, []byte(before+begin+tables+end+after), 0o644)
}

// unsayable returns the reason why clients cannot make the requests of a case, or nil if they can.
func unsayable(mapper meta.RESTMapper, c *vectors.Recording) error {
	b := vectors.NewBinding()
	for i := range c.Exchanges {
		if _, err := say(mapper, b, &c.Exchanges[i]); err != nil {
			return fmt.Errorf("%d: %w", c.Exchanges[i].N, err)
		}
	}
	return nil
}

// replay runs a case with a rival and returns the first difference.
func replay(mapper meta.RESTMapper, r rival, c *vectors.Recording) error {
	b := vectors.NewBinding()
	b.Bind("$ns", "ns-1")
	ask, err := r.answer()
	if err != nil {
		return err
	}
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		said, err := say(mapper, b, ex)
		if err != nil {
			return err
		}
		var want struct {
			Metadata struct{ UID, ResourceVersion string }
		}
		created := ex.Method == http.MethodPost && ex.Response.Status == http.StatusCreated
		if err := json.Unmarshal(ex.Response.Body, &want); err != nil {
			return err
		}
		if created && !r.givesID {
			said.object.SetUID(types.UID(b.Fill(want.Metadata.UID)))
		}
		got, err := ask(said)
		if have, want := code(err), outcome(ex.Response.Status); have != want {
			return fmt.Errorf("%d: %s %s: it answers %d, the real server %d: %v",
				ex.N, ex.Method, ex.Path, have, want, err)
		}
		if err != nil || ex.Method == http.MethodDelete {
			continue
		}
		learn(b, want.Metadata.UID, string(got.GetUID()))
		learn(b, want.Metadata.ResourceVersion, got.GetResourceVersion())
		if at := got.GetDeletionTimestamp(); at != nil {
			learn(b, "$time", at.UTC().Format(time.RFC3339)) // later requests contain the time
		}
		if err := sameOwnership(b.Fill(string(ex.Response.Body)), got); err != nil {
			return fmt.Errorf("%d: %s %s: %w", ex.N, ex.Method, ex.Path, err)
		}
	}
	return nil
}

// outcome returns a status code as a client sees it: one code for all successes, none for server errors.
func outcome(code int) int {
	switch {
	case code < http.StatusMultipleChoices:
		return http.StatusOK
	case code >= http.StatusInternalServerError:
		return 0
	}
	return code
}

func learn(b *vectors.Binding, name, value string) {
	if _, known := b.Value(name); !known && strings.HasPrefix(name, "$") && value != "" {
		b.Bind(name, value)
	}
}

func sameOwnership(answer string, got metav1.Object) error {
	want := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal([]byte(answer), want); err != nil {
		return err
	}
	type ownership struct {
		Owners     []metav1.OwnerReference
		Finalizers []string
		Deleted    bool
	}
	of := func(o metav1.Object) string {
		raw, err := json.Marshal(ownership{append([]metav1.OwnerReference{}, o.GetOwnerReferences()...),
			append([]string{}, o.GetFinalizers()...), o.GetDeletionTimestamp() != nil})
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	if w, g := of(want), of(got); w != g {
		return fmt.Errorf("has %s, the real server %s", g, w)
	}
	return nil
}
