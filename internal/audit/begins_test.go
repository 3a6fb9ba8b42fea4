package audit_test

import (
	"strings"
	"testing"
)

// Wherever a log begins, it reports nobody whom the whole log does not report. An actor that defends its own object is
// not to blame for a fight whose beginning is missing.
func TestALogMayBeginAnywhere(t *testing.T) {
	for _, c := range recorded {
		lines := whole(t, c.name)
		for from := 0; from < len(lines); from += 3 {
			report := judgedLines(t, lines[from:])
			for _, who := range report.Culprits() {
				if !strings.Contains(c.culprits, who) {
					t.Fatalf("%s from line %d on: %s is accused: %s", c.name, from+1, who, report.Text(120))
				}
			}
		}
	}
}

// If two actors take a pod from each other, one fight names both and there is no other finding: who had the pod last is
// chance.
func TestTakenToAndFro(t *testing.T) {
	s := newStory()
	s.does("alice", "create", "App/a", nil)
	s.does("alice", "create", "Tool/b", nil)
	s.does(opOne, "create", "Pod/p", set{"metadata.ownerReferences": s.by("App/a")})
	for range 5 {
		s.does(opTwo, "update", "Pod/p", set{"metadata.ownerReferences": s.by("Tool/b")})
		s.does(opOne, "update", "Pod/p", set{"metadata.ownerReferences": s.by("App/a")})
	}
	r := judgedText(t, &s.b)
	if len(r.Fights) != 1 || r.Fights[0].Owner != "" || strings.Join(r.Fights[0].Culprits, " ") != opOne+" "+opTwo {
		t.Errorf("%s", r.Text(120))
	}
	if culprits := r.Culprits(); culprits[0] != opTwo {
		t.Errorf("the first to take it is not the first to blame: %v", culprits)
	}
}

// If the contested object exists before the log begins, managedFields shows who wrote its owner. Without managedFields
// the report says that it does not know, and blames neither alone.
func TestWhoseFightWithoutItsBeginning(t *testing.T) {
	for _, managed := range []bool{true, false} {
		s := newStory()
		s.does("alice", "create", "App/a", nil)
		s.does(opOne, "create", "ConfigMap/c", set{"metadata.ownerReferences": s.by("App/a"), "data": set{"m": "0"}})
		if managed {
			put(s.objects["ConfigMap/c"], "metadata.managedFields", []any{set{"manager": "op-one",
				"operation": "Update", "fieldsV1": set{"f:metadata": set{"f:ownerReferences": set{}}}}})
		}
		s.b.Reset()
		for range 6 {
			s.does(opTwo, "patch", "ConfigMap/c", set{"data": set{"m": "2"}})
			s.does(opOne, "patch", "ConfigMap/c", set{"data": set{"m": "1"}})
		}
		r := judgedText(t, &s.b)
		want, says := opOne+" "+opTwo, "the log does not show whose work that is"
		if managed {
			want, says = opTwo, "it is app/a's, so "+opTwo+" should let it be"
		}
		if len(r.Fights) != 1 || strings.Join(r.Culprits(), " ") != want ||
			!strings.Contains(strings.Join(strings.Fields(r.Text(100)), " "), says) {
			t.Errorf("managed fields %v: %s", managed, r.Text(100))
		}
	}
}

// Text from a log cannot control the terminal or forge a line of a report.
func TestTextIsPlain(t *testing.T) {
	const forged = "\n--- dont-interfere broken by alice\u2028"
	for _, evil := range []string{"\x1b[31m\u202e", "\x1b[31m\u202e" + forged} {
		name, long := "p"+evil, strings.Repeat(evil, 30)
		s := newStory()
		s.does("alice", "create", "ReplicaSet/web", set{"spec": set{"replicas": 1,
			"selector": set{"matchLabels": set{"app": "x"}}}})
		s.does(rsc, "create", "Pod/"+name, set{"metadata.labels": set{"app": "x", evil: evil},
			"metadata.ownerReferences": s.by("ReplicaSet/web"), "spec": set{"image": "a", evil: "a"}})
		for i := range 5 {
			for k, who := range []string{opOne + evil, opTwo + evil} {
				v := evil + string(rune('a'+k))
				s.does(who, "patch", "Pod/"+name, set{"metadata.labels": set{"app": v},
					"spec":                 set{"image": v, evil: v},
					"metadata.annotations": set{evil: v, "long": long + v, "n": string(rune('a' + i))}})
			}
		}
		// A log from another encoder has the raw character.
		for _, log := range []string{s.b.String(), strings.ReplaceAll(s.b.String(), `\u001b`, "\x1b")} {
			r := judgedText(t, strings.NewReader(log))
			text := r.Text(100)
			line := strings.TrimRight(forged, "\u2028")
			if strings.ContainsAny(text, "\x1b\u202e\u2028\x00") || strings.Contains(text, line) {
				t.Errorf("it is not plain: %q", text)
			}
			if strings.Contains(log, `\u001b`) && (!strings.Contains(text, `\x1b[31m\u202e`) || len(r.Fights) == 0) {
				t.Errorf("it does not say what is there: %s", text)
			}
		}
	}
}
