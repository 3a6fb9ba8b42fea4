package clientfault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/clientfault"
)

// A line and its canonical form, with the resource and with nth, are parsed to the same rule.
func TestLines(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	for line, want := range map[string]string{
		"hold op sees=Pod":                        "hold op sees=pods",
		"hold system:serviceaccount:a:* sees=*":   "hold system:serviceaccount:a:* sees=*",
		"relist op deploy":                        "relist op deployments.apps",
		"fail op create po with=lost":             "fail op create pods nth=1 with=lost",
		"fail op with=503 write nth=0 a/cm/b*":    "fail op write a/configmaps/b* nth=0 with=503",
		"fail op watch secret with=500":           "fail op watch secrets nth=1 with=500",
		"fail * patch rs/web nth=3 with=409":      "fail * patch replicasets.apps/web nth=3 with=409",
		"delay op list * nth=2 by=1500ms":         "delay op list * nth=2 by=1.5s",
		"  delay   op get  cm/a   by=2s   nth=0 ": "delay op get configmaps/a nth=0 by=2s",
	} {
		var again string
		for _, l := range []string{line, want} {
			got, _, err := new(clientfault.List).Apply(server, l)
			if err != nil {
				t.Fatalf("%s: %v", l, err)
			}
			again = got[0].Line
		}
		if again != want {
			t.Errorf("%q is %q, want %q", line, again, want)
		}
	}
}

// The error for a wrong line suggests the nearest valid word.
func TestWrongLines(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	for line, want := range map[string]string{
		"":                                 "no fault is given",
		"holt op sees=Pod":                 "unknown fault holt; did you mean hold?",
		"crash op":                         "unknown fault crash; there are hold, release, relist, fail, delay",
		"hold op":                          "hold: sees is missing: write sees=KIND",
		"hold op see=Pod":                  "hold: unknown parameter see; did you mean sees?",
		"hold op sees=":                    "hold: sees has no value: write sees=KIND",
		"hold op sees=Pod sees=Job":        "hold: sees is given twice",
		"hold op other sees=Pod":           "hold takes WHO, not 2 words",
		"hold op sees=Pdo":                 `hold: the kind "Pdo" is not served; did you mean Pod?`,
		"hold op sees=Teapot":              `the kind "Teapot" is not served; a custom kind`,
		"release op":                       "release: nothing is held",
		"relist op":                        "relist takes WHO KIND, not 1 word",
		"fail op craete po with=500":       "fail: unknown API verb craete; did you mean create?",
		"fail op create po":                "fail: with is missing: write with=409|429|500|503|504|timeout|lost",
		"fail op create po with=tiemout":   "fail: with=tiemout is not an answer; did you mean timeout?",
		"fail op get po with=409":          "fail: with=409 is not an answer to get",
		"fail op watch po with=lost":       "fail: with=lost is not an answer to watch",
		"fail op create po nth=x with=500": "fail: nth=x is not a number from 0",
		"fail op create a/b/c/d with=500":  "fail: a/b/c/d is not [NAMESPACE/]KIND[/NAME]",
		"fail op create po/ with=500":      "fail: po/ is not [NAMESPACE/]KIND[/NAME]",
		"delay op create po":               "delay: by is missing: write by=DURATION",
		"delay op create po by=2":          "delay: by=2 is not a duration of up to an hour",
		"delay op create po by=-2s":        "delay: by=-2s is not a duration",
	} {
		if _, _, err := new(clientfault.List).Apply(server, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// A release ends the holds with the same pattern, or all holds. Other holds stay.
func TestRelease(t *testing.T) {
	server, l := fakeapi.New(fakeapi.Options{}), &clientfault.List{}
	ask := func(line, wrong string, want ...string) {
		t.Helper()
		got, _, err := l.Apply(server, line)
		if wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) || wrong == "" && err != nil {
			t.Fatalf("%s: %v, want %q", line, err, wrong)
		}
		var lines []string
		for _, s := range got {
			lines = append(lines, s.Line)
		}
		if strings.Join(lines, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %q, want %q", line, lines, want)
		}
	}
	ask("hold my-op sees=Pod", "", "hold my-op sees=pods")
	ask("hold my-op sees=Job", "", "hold my-op sees=jobs.batch")
	ask("hold other sees=Pod", "", "hold other sees=pods")
	ask("release my-ob", "did you mean my-op?")
	ask("release my-op sees=Node", "release: no watch of nodes by my-op is held")
	ask("release my-op sees=po", "", "hold my-op sees=pods")
	ask("release *", "", "hold my-op sees=jobs.batch", "hold other sees=pods")
	if all := l.All(); len(all) > 0 {
		t.Errorf("left: %v", all)
	}
	if _, err := l.Remove(7); err == nil {
		t.Error("a fault that does not exist was removed")
	}
}

// Either all lines are executed, or none if one line is wrong.
func TestAddAllOrNone(t *testing.T) {
	server := fakeapi.New(fakeapi.Options{})
	many := slices.Repeat([]string{"fail op write pod with=500"}, 1000)
	for want, c := range map[string]struct {
		lines []string
		wrong int
	}{
		"unknown fault hodl; did you mean hold?":         {[]string{"hold op sees=pod", "hodl op sees=pod"}, 1},
		"release: no watch by opp is held":               {[]string{"hold op sees=pod", "release opp"}, 1},
		"release: nothing is held":                       {[]string{"hold op sees=pod", "release op", "release op"}, 2},
		"fail: there are already 1000 faults, the limit": {many, 999},
		"a line of 1018 bytes; none needs more than":     {[]string{"hold " + strings.Repeat("a", 1004) + " sees=pod"}, 0},
	} {
		l := &clientfault.List{}
		if _, _, err := l.Apply(server, "fail first write pod with=500"); err != nil {
			t.Fatal(err)
		}
		done, wrong, err := l.Apply(server, c.lines...)
		if err == nil || !strings.Contains(err.Error(), want) || wrong != c.wrong || done != nil || len(l.All()) != 1 {
			t.Errorf("want %q of line %d and nothing done, got %v of line %d, %v", want, c.wrong, err, wrong, l.All())
		}
	}
	l := &clientfault.List{}
	lines := []string{"hold op sees=pod", "release op", "relist op pod"}
	if done, _, err := l.Apply(server, lines...); err != nil || len(done) != 3 || len(l.All()) != 1 {
		t.Errorf("%v: %v, left %v", err, done, l.All())
	}
}

// Faults strike if user agent or user, verb, kind, namespace and name match. Each rule counts requests separately.
func TestStrike(t *testing.T) {
	server, l := fakeapi.New(fakeapi.Options{}), &clientfault.List{}
	for _, line := range []string{"fail op-* update prod/cm/a* nth=2 with=500", "delay * write * nth=0 by=1s",
		"fail system:serviceaccount:*:op create Pod nth=0 with=429"} {
		if _, _, err := l.Apply(server, line); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		verb                        fakeapi.Verb
		kind, ns, name, agent, user string
		code                        int32
		waits                       bool
	}{
		{fakeapi.Update, "cm", "prod", "ab", "op-1/v1 (linux)", "", 0, true},
		{fakeapi.Update, "cm", "test", "ab", "op-1/v1", "", 0, true},
		{fakeapi.Update, "cm", "prod", "ba", "op-1/v1", "", 0, true},
		{fakeapi.Get, "cm", "prod", "ab", "op-1/v1", "", 0, false},
		{fakeapi.Update, "cm", "prod", "ab", "xop-1/v1", "", 0, true},
		{fakeapi.Update, "secret", "prod", "ab", "op-1/v1", "", 0, true},
		{fakeapi.Update, "cm", "prod", "ac", "op-2", "", 500, true},
		{fakeapi.Update, "cm", "prod", "ac", "op-2", "", 0, true},
		{fakeapi.Create, "pod", "prod", "p", "go", "system:serviceaccount:prod:op", 429, true},
		{fakeapi.Create, "pod", "prod", "p", "go", "system:serviceaccount:prod:other", 0, true},
	} {
		s := l.Strike(&fakeapi.Request{Verb: c.verb, Kind: server.KindNamed(c.kind), Namespace: c.ns, Name: c.name,
			UserAgent: c.agent, User: c.user}, false)
		code := int32(0)
		if s != nil && s.Err != nil {
			code = s.Err.ErrStatus.Code
		}
		if code != c.code || (s != nil && s.Delay > 0) != c.waits {
			t.Errorf("request %d: answered %d, waits %t; want %d, %t", i, code,
				s != nil && s.Delay > 0, c.code, c.waits)
		}
	}
}
