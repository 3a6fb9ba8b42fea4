package cli

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

// explainScenario lists the verbs, or describes one.
func explainScenario(a *app, args []string) error {
	if len(args) > 1 {
		return usage("help scenario: one verb at a time")
	}
	if len(args) == 1 {
		v := scenarios.FindVerb(args[0])
		if v == nil {
			return usage("help scenario: unknown verb %s%s", args[0], suggest(args[0], verbNames()))
		}
		if a.json {
			return a.encode(verbOf(v))
		}
		a.print(verbText(verbOf(v), a.prose()))
		return nil
	}
	var all []verbJSON
	t := render.Table{Indent: "  ", Width: a.prose()}
	for _, v := range scenarios.Verbs() {
		all = append(all, verbOf(v))
		t.Add(v.Name, v.Summary)
	}
	if a.json {
		return a.encode(all)
	}
	a.print(a.named(format + "\nverbs\n" + t.String() + "\n\"threelaws help scenario VERB\" describes one.\n"))
	return nil
}

const format = `A scenario file is a txtar archive: a script of verbs, one a line, and manifests
below it. The lines beneath ---- are what the step above printed; they end at a
blank line, and "threelaws run --update" rewrites them. A step with ! in front is
expected to break a law, not to settle, or to be refused.

  # Two ReplicaSets select one orphan Pod. The loser of the race leaves it alone.
  controllers replicaset@controllerref
  apply world.yaml
  settle
  ----
    1  0s  rs/web-a  adopt  pod/p1  controller: none -> rs/web-a
  settled at 0s after 1 write

  -- world.yaml --
  apiVersion: v1
  kind: Pod
  ...
`

func verbText(v verbJSON, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s%s.\n", v.Name, v.Args, strings.ToUpper(v.Summary[:1]), v.Summary[1:])
	if v.Detail != "" {
		b.WriteString("\n" + strings.TrimSpace(v.Detail) + "\n")
	}
	if len(v.Params) > 0 {
		t := render.Table{Indent: "  ", Width: width}
		for _, p := range v.Params {
			text := p.Summary
			if len(p.Values) > 0 {
				text += ": " + strings.Join(p.Values, ", ")
			}
			t.Add(p.Name, text)
		}
		b.WriteString("\nparameters\n" + t.String())
	}
	if v.Example != "" {
		b.WriteString("\nexample\n" + indent(strings.TrimSpace(v.Example)+"\n"))
	}
	return b.String()
}
