package hosted_test

import (
	"fmt"
	"strings"
)

const pageHead = `# Findings in upstream's own code

kube-controller-manager's controllers, of k8s.io/kubernetes v1.36.3, run unmodified as processes of a world:
each is built by its own descriptor, in a bubble of goroutines whose requests, watches and clock are the
world's. Nobody told the laws what is wrong with them: each schedule below was found by exploration of a plain
world, made small, and is replayed by one command.

This page is written by the tests of the module ` + "`upstream`" + `, which may import k8s.io/kubernetes, and not with
[track-record.md](track-record.md), whose generator may not:

` + "```sh" + `
cd upstream && go test ./hosted -run TestUpstreamIsFoundGuiltyAgain -update
` + "```" + `

A world is explored, and a shortest schedule replayed, by the command that has upstream's controllers:

` + "```sh" + `
cd upstream && go build ./cmd/threelaws-upstream
./threelaws-upstream run hosted/testdata/b12-deletes-what-was-released.txtar
./threelaws-upstream replay hosted/testdata/shrunk/b12-deletes-what-was-released.txtar
` + "```" + `

*RACES* marks a breach that the controller could not have known of when it sent the request: a race that it lost.
*VIOLATES* marks one that it had been shown enough to avoid, or took the chance of, by a precondition that it left out.
`

const knownHead = `
## Found in upstream's own code

Bugs of the collection of [track-record.md](track-record.md), found again where they happened.

| bug | world | law broken | steps |
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
		broken := "none: it is mended | "
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
	b.WriteString("\n## Beyond the collection\n\nWhat nobody has reported, as far as we know.\n")
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
