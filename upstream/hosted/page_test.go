package hosted_test

import (
	"fmt"
	"strings"
)

const pageHead = `# Findings in upstream's own code

For readers who want to see what threelaws found in Kubernetes itself. The controllers of kube-controller-manager,
k8s.io/kubernetes v1.36.3, run unmodified as processes of a world. Each is built by its own descriptor. It runs in a
bubble of goroutines, with the requests, watches and clock of the world. The laws have no special knowledge of these
bugs. Each schedule below was found by exploring a plain world, and minimized. One command replays it.

The tests of the module ` + "`upstream`" + `, which imports k8s.io/kubernetes, write this page:

` + "```sh" + `
cd upstream && go test ./hosted -run TestUpstreamIsFoundGuiltyAgain -update
` + "```" + `

The command with upstream's controllers explores a world, or replays a minimized schedule:

` + "```sh" + `
cd upstream && go build ./cmd/threelaws-upstream
./threelaws-upstream run hosted/testdata/b12-deletes-what-was-released.txtar
./threelaws-upstream replay hosted/testdata/shrunk/b12-deletes-what-was-released.txtar
` + "```" + `

*RACES* marks a violation that the controller could not know of when it sent the request: a lost race. *VIOLATES* marks
one that it could have avoided, by what it had seen or by a precondition that it left out.
`

const knownHead = `
## Found in upstream's own code

Known bugs of [track-record.md](track-record.md), found again in the original code.

| bug | world | violated law | steps |
|---|---|---|---|
`

// findingsPage is docs/evidence/findings.md.
func findingsPage(all []*proof) []byte {
	var b strings.Builder
	b.WriteString(pageHead + knownHead)
	for _, p := range all {
		if p.bug == "" {
			continue
		}
		broken := "none: it is fixed | "
		if p.small != nil {
			broken = fmt.Sprintf("%s | %d", p.law, p.small.Step())
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", p.bug, p.url, p.link(), broken)
	}
	for _, p := range all {
		if p.bug != "" && p.small != nil {
			p.tell(&b)
		}
	}
	b.WriteString("\n## Beyond the collection\n\nBugs that nobody has reported, as far as we know.\n")
	for _, p := range all {
		if p.bug == "" {
			p.tell(&b)
		}
	}
	return []byte(b.String())
}

func (p *proof) link() string {
	return fmt.Sprintf("[%s](../../upstream/hosted/testdata/%s.txtar)", p.name, p.name)
}

// tell tells of one finding as it could be filed.
func (p *proof) tell(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n%s\n```text\n%s```\n\n", p.name, wrapped(p.what),
		wrapped("*In* "+codes(p.code)+"."), p.small.Text())
	if p.until >= 0 {
		fmt.Fprintf(b, "Explored: [the world](../../upstream/hosted/testdata/%s.txtar).\n", p.name)
	}
	fmt.Fprintf(b, "Replayed:\n`./threelaws-upstream replay hosted/%s`.\n", p.shrunk())
}

// wrapped is text in lines of the width of pages.
func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for _, w := range strings.Fields(text) {
		switch {
		case at == 0:
		case at+1+len(w) > 116:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += len(w)
	}
	return b.String() + "\n"
}

// codes words files and functions: "pkg/a.go, f (why); pkg/b.go, g".
func codes(text string) string {
	var parts []string
	for part := range strings.SplitSeq(text, "; ") {
		file, rest, _ := strings.Cut(part, ", ")
		parts = append(parts, "`"+file+"`, "+rest)
	}
	return strings.Join(parts, "; ")
}
