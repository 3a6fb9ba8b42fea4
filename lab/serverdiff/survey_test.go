package serverdiff

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/vectors"
)

var (
	sequences = flag.Int("sequences", 200, "how many sequences TestSurvey plays")
	record    = flag.String("record", "", "write the sequences of TestSurvey that are answered alike to this file")
	seed      = flag.Int64("seed", 1, "what the sequences of TestSurvey are drawn from")
)

// seen counts equal differences, and has the shortest sequence that shows one.
type seen struct {
	times int
	story string
}

// TestSurvey plays each sequence until its first difference, counts the exchanges, and lists the differences by kind,
// the most frequent first. Differences do not fail this test, but fail TestDifferential.
func TestSurvey(t *testing.T) {
	if *server == "" {
		t.Skip("there is no server to compare with: make survey SERVER=https://...")
	}
	s, w := another(), kinds(t)
	found, byKind := map[string]*seen{}, map[string]*[2]int{}
	compared, alike, unanswered := 0, 0, 0
	var alikes []*vectors.Recording
	for i := range *sequences {
		k := w.kinds[i%len(w.kinds)]
		c, err := s.record(w.draw(rand.New(rand.NewSource(*seed+int64(i))), k, i))
		switch {
		case c == nil:
			t.Fatal(err)
		case err != nil: // a server that panics closes the connection
			unanswered++
			t.Log(err)
		}
		at, why := difference(c)
		last := len(c.Exchanges)
		if why != nil {
			last = at
		}
		if byKind[k.GVK.Kind] == nil {
			byKind[k.GVK.Kind] = new([2]int)
		}
		compared, byKind[k.GVK.Kind][1] = compared+last, byKind[k.GVK.Kind][1]+last
		if why != nil {
			last--
			note(found, c, at, why)
		}
		if why == nil {
			c.Case = fmt.Sprintf("%s-%d", strings.ToLower(k.GVK.Kind), i)
			alikes = append(alikes, c)
		}
		alike, byKind[k.GVK.Kind][0] = alike+last, byKind[k.GVK.Kind][0]+last
	}
	list(t, found)
	if *record != "" {
		if err := keep(*record, alikes); err != nil {
			t.Fatal(err)
		}
	}
	var kinds []string
	for kind, n := range byKind {
		kinds = append(kinds, fmt.Sprintf("%s %d/%d", kind, n[0], n[1]))
	}
	slices.Sort(kinds)
	t.Logf("%d sequences, %d exchanges compared, %d answered alike (%.2f %%), %d requests not answered\n%s", *sequences,
		compared, alike, 100*float64(alike)/float64(max(compared, 1)), unanswered, strings.Join(kinds, ", "))
}

func keep(name string, cases []*vectors.Recording) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	zipped := gzip.NewWriter(file)
	out := json.NewEncoder(zipped)
	for _, c := range cases {
		if err := out.Encode(c); err != nil {
			return err
		}
	}
	return errors.Join(zipped.Close(), file.Close())
}

func (w *world) draw(r *rand.Rand, k *fakeapi.Kind, i int) (sequence, func() bool) {
	id := fmt.Sprintf("%x%d", time.Now().UnixMilli(), i)
	p := w.plan(id, r.Intn)
	p.kinds = []*fakeapi.Kind{k}
	for _, obj := range w.good[k.GVK] {
		p.mutator.Learn(obj)
	}
	left := 3 + r.Intn(12)
	more := func() bool { left--; return left >= 0 }
	if k == crdKind {
		left *= 3
		return &custom{plan: p}, more
	}
	return p, more
}

// TestOpenAPI compares the schemas of built-in kinds in the OpenAPI documents of version 3.
func TestOpenAPI(t *testing.T) {
	if *server == "" {
		t.Skip("there is no server to compare with: make survey SERVER=https://...")
	}
	type document struct {
		Paths      map[string]struct{ ServerRelativeURL string }
		Components struct{ Schemas map[string]any }
	}
	get := func(s *remote, url string) (d document) {
		path, query, _ := strings.Cut(url, "?")
		a, err := s.send(&request{method: "GET", path: path, query: query})
		if err == nil {
			err = json.Unmarshal(a.body, &d)
		}
		if err != nil {
			t.Fatal(url, err)
		}
		return d
	}
	equal, ours, theirs := 0, pretender(t, func(h http.Handler) http.Handler { return h }), another()
	all := get(theirs, "/openapi/v3")
	for path, at := range get(ours, "/openapi/v3").Paths {
		want := get(theirs, all.Paths[path].ServerRelativeURL).Components.Schemas
		for name, schema := range get(ours, at.ServerRelativeURL).Components.Schemas {
			if !reflect.DeepEqual(schema, want[name]) {
				t.Errorf("%s %s: %v, want %v", path, name, schema, want[name])
				continue
			}
			equal++
		}
	}
	t.Logf("%d schemas are equal", equal)
}

// note counts a difference together with similar ones.
func note(found map[string]*seen, c *vectors.Recording, at int, why error) {
	key, story := "the case itself", why.Error()
	if at > 0 {
		ex := c.Exchanges[at-1]
		key = likeness(&ex, why)
		from, to := max(0, at-4), at
		if ex.Watch != nil { // later requests cause its events
			from, to = at-1, len(c.Exchanges)
		}
		if reason := known(why); reason != "" {
			key = "known: " + reason
		}
		story = told(&vectors.Recording{Exchanges: c.Exchanges[from:to]}) + why.Error()
	}
	if found[key] == nil {
		found[key] = &seen{story: story}
	}
	f := found[key]
	if f.times++; len(story) < len(f.story) {
		f.story = story
	}
}

var varying = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|\$[a-z]+:[0-9]+|[0-9]+`)

// likeness returns a text that is the same for two differences with the same cause.
func likeness(ex *vectors.Exchange, why error) string {
	path := strings.Split(ex.Path, "/")
	at := slices.IndexFunc(path, func(s string) bool {
		return strings.HasPrefix(s, "v1") || strings.HasPrefix(s,
			"v2")
	})
	if at+2 < len(path) && path[at+1] == "namespaces" && len(path) > at+3 {
		at += 2
	}
	resource := path[at+1]
	var st metav1.Status
	if json.Unmarshal(ex.Response.Body, &st) == nil && ex.Response.Status == http.StatusUnprocessableEntity &&
		strings.Contains(why.Error(), "want 422") && st.Details != nil {
		var fields []string
		for _, c := range st.Details.Causes {
			fields = append(fields, varying.ReplaceAllString(c.Field, "[]"))
		}
		slices.Sort(fields)
		return fmt.Sprintf("%s %s: not refused: %s", resource, ex.Method, strings.Join(slices.Compact(fields), ", "))
	}
	_, text, _ := strings.Cut(why.Error(), ": ")
	if i := strings.Index(text, " is "); i > 0 && strings.HasPrefix(text, "body") {
		text = text[:i]
	}
	text = text[:min(len(text), 120)]
	return fmt.Sprintf("%s %s: %s", resource, ex.Method, varying.ReplaceAllString(text, "_"))
}

func list(t *testing.T, found map[string]*seen) {
	var keys []string
	for key := range found {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if n := found[b].times - found[a].times; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	var all strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&all, "%4d %s\n", found[key].times, key)
	}
	for _, key := range keys {
		t.Logf("%d times %s\n%s\n", found[key].times, key, found[key].story)
	}
	t.Logf("%d differences\n%s", len(keys), all.String())
}

// A server does not differ from itself while CRDs change and end watches.
func TestCRDsDoNotDifferFromThemselves(t *testing.T) {
	s, w, ended := pretender(t, func(h http.Handler) http.Handler { return h }), kinds(t), 0
	s.settle = 20 * time.Millisecond
	for i := range 60 {
		c, err := s.record(w.draw(rand.New(rand.NewSource(int64(i))), crdKind, i))
		if err != nil {
			t.Fatal(err)
		}
		if at, why := difference(c); why != nil {
			t.Fatalf("sequence %d, request %d: %v\nafter\n%s", i, at, why, told(c))
		}
		for _, ex := range c.Exchanges {
			if ex.Watch != nil && ex.Watch.End == "server-closed" {
				ended++
			}
		}
	}
	if ended == 0 {
		t.Error("no change ended a watch")
	}
}
