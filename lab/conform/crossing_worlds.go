package conform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// pair is a controller that goes from one generation to another.
type pair struct {
	name, from, to string

	standing
	crossing
	began bool // the first of its settles is over
}

// other makes a second owner of the first, which selects something else.
var other = strings.NewReplacer("NAME", "other", "app: web", "app: other", "replicas: 2", "replicas: 1")

// crossedWorlds writes the worlds in which a controller goes from a generation to another,
// or runs in both, as scenario files, by name. What they predict follows from which of
// the two goes by ControllerRef.
func crossedWorlds(name, from, to string) map[string][]byte {
	c, ok := crossings[name]
	if !ok {
		return nil
	}
	files := map[string][]byte{}
	for what, write := range map[string]func(*pair) string{"apart": (*pair).apart, "midway": (*pair).midway,
		"overlap": (*pair).overlap, "delete": (*pair).plainDelete, "together": (*pair).together} {
		p := &pair{name: name, from: from, to: to, standing: standings[name], crossing: c}
		p.owner = strings.Replace(p.owner, "\nspec: {", "\nspec: {"+p.leave, 1)
		if script := write(p); script != "" {
			files[strings.Join([]string{"crossing/" + name, from, to, what}, "-")] = p.file(script)
		}
	}
	return files
}

// apart: nobody overlaps. The switch makes and deletes nothing, in either direction; what
// the old generation left without an owner goes to those that select it.
func (p *pair) apart() string {
	adopted := 0
	if p.never == "" && !p.refers(p.from) && p.refers(p.to) {
		adopted = p.each + p.more
	}
	return "# UPGRADE-1\napply owner.yaml\napply other.yaml\n" + p.settle("quiet", p.from) + p.change() +
		p.settle("", p.to) + p.predict("adopted=%d", adopted) + p.counts()
}

// midway: the same while the old generation is at work. What is made is what is wanted.
func (p *pair) midway() string {
	return "# UPGRADE-1\napply owner.yaml\napply other.yaml\nrace\n" + p.change() + p.settle("", p.from, p.to) +
		p.predict("created=%d adopted=0..%d", p.each+p.more, p.each+p.more) + p.counts()
}

// overlap: two select the same. Up, the fight ends, families may be split, and what is
// there in the end is what both want. Down, one deletes what is the other's.
func (p *pair) overlap() string {
	all := p.each + p.more
	script := "apply owner.yaml\napply second.yaml\n" + p.settle(strings.TrimSpace("quiet "+p.until()), p.from)
	switch was, is := p.refers(p.from), p.refers(p.to); {
	case p.never != "" || !was && !is:
		return ""
	case was && is:
		return "# UPGRADE-3 UPGRADE-4\n" + script + p.change() + p.settle("", p.to) + p.predict("") + p.share()
	case is:
		if p.fight != "" {
			script += p.predict("created=0..999 deleted=0..999 fight=%s", p.fight)
		}
		return "# UPGRADE-2 UPGRADE-3 UPGRADE-4\n" + script + p.stop() + p.change() + p.settle("", p.to) +
			p.predict("created=0..%d deleted=0..%d adopted=0..%d", all, all, all) + p.share()
	}
	script += p.change() + p.settle(p.until(), p.to) + "predict pods created=0..999 deleted=1..999"
	if p.fight != "" {
		script += " fight=" + p.fight
	}
	return "# DOWNGRADE-1 DOWNGRADE-2\n" + script + "\n"
}

// until is what ends a settle in which two fight.
func (p *pair) until() string {
	if p.fight == "" {
		return "limit=60"
	}
	return ""
}

// stop stops the old generation, which else fights on until it is replaced.
func (p *pair) stop() string {
	script := "crash " + p.name + "\n"
	if p.against != nil {
		script += "crash " + p.against.controller + "\n"
	}
	return script + "settle quiet\n"
}

// plainDelete: what a delete that names no policy comes to is the same before and after.
func (p *pair) plainDelete() string {
	if !p.refers(p.from) {
		return "" // there is nothing yet by which to delete or to orphan
	}
	left := func(app string, n int) string {
		if !p.kept {
			n = 0
		}
		return fmt.Sprintf("expect %d %s selector=app=%s\n", n, p.kind, app)
	}
	return "# GCPOLICY-3\napply owner.yaml\napply other.yaml\n" + p.settle("quiet", p.from) +
		"delete " + p.named("web") + "\n" + p.settle("", p.from) + left("web", p.each) +
		p.change() + p.settle("quiet", p.to) +
		"delete " + p.named("other") + "\n" + p.settle("", p.to) + left("other", p.more)
}

// together: both generations run at once, and nobody overlaps. They come to what is
// wanted, however often that changes. The laws of the proposal count: of work that is not
// overdone, and of deletions by uid, it says nothing, nor do its generations know of it.
func (p *pair) together() string {
	script := "# SKEW-1\njudge API-4 LAW-1 LAW-1b LAW-2 NOFIGHT-1 NOFIGHT-2 ADOPT-1 ADOPT-3 ADOPT-4 ADOPT-5 " +
		"EXACT-7 EXACT-7b FIN-1\nduplicate " + p.name + "@" + p.to + "\napply owner.yaml\napply other.yaml\n" +
		p.settle("", p.from, p.to)
	if p.goes != "" {
		return script + p.predict("created=2..%d", p.starts())
	}
	if !p.scales {
		return script + p.counts()
	}
	for _, n := range []int{3, 1} {
		script += fmt.Sprintf("scale %s --replicas=%d\n", p.named("web"), n) + p.settle("", p.from, p.to) +
			fmt.Sprintf("expect %d pods selector=app=web\nexpect 1 pods selector=app=other\n", n)
	}
	return script
}

func (p *pair) refers(generation string) bool { return refers(p.name, generation) }

func (p *pair) named(name string) string { return strings.ReplaceAll(p.object, "NAME", name) }

// change is the switch, of the rival's controller too.
func (p *pair) change() string {
	if p.against != nil {
		return "switch all " + p.to + "\n"
	}
	return "switch " + p.name + " " + p.to + "\n"
}

// settle is a settle while generations run: those that break the laws may.
func (p *pair) settle(words string, running ...string) string {
	step := "settle " + words
	if p.goes != "" {
		step = p.clock() + " " + words
	}
	step = strings.TrimSpace(step) + "\n"
	if p.goes != "" && len(running) == 1 && running[0] == "current" {
		// Today's CronJob keeps a Job that it finds in its list of active ones, and does not own.
		return "! " + step
	}
	if slices.ContainsFunc(running, func(g string) bool { return slices.Contains(lawless, g) }) ||
		strings.Contains(words, "limit") {
		step = "! " + step
	}
	return step
}

// predict is a prediction of the dependents.
func (p *pair) predict(format string, args ...any) string {
	return strings.TrimSpace("predict "+p.kind+" "+fmt.Sprintf(format, args...)) + "\n"
}

// counts expects of both owners what they want, told by the label.
func (p *pair) counts() string {
	return fmt.Sprintf("expect %d %s selector=app=web\nexpect %d %s selector=app=other\n",
		p.each, p.kind, p.more, p.kind)
}

// share expects of two that select the same that each has what it wants.
func (p *pair) share() string {
	second, more := p.named("rival"), p.more
	if p.against != nil {
		second, more = p.against.named, p.against.wants
	}
	return fmt.Sprintf("expect %d %s controller=%s\nexpect %d %s controller=%s\n", p.each, p.kind, p.named("web"),
		more, p.kind, second)
}

// file is a scenario file of a script.
func (p *pair) file(script string) []byte {
	comment, script, _ := strings.Cut(script, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ncontrollers %s@%s garbagecollector %s %s", comment, p.name, p.from,
		cmp.Or(p.pods, "kubelet"), strings.Join(p.with, " "))
	if p.against != nil {
		fmt.Fprintf(&b, " %s@%s", p.against.controller, p.from)
	}
	b.WriteString("\n")
	if p.around != "" {
		b.WriteString("apply around.yaml\n" + p.then)
	}
	b.WriteString(script)
	second := rival.Replace(p.owner)
	if p.against != nil {
		second = p.against.owner
	}
	for _, section := range [][2]string{{"around", p.around}, {"owner", strings.ReplaceAll(p.owner, "NAME", "web")},
		{"other", other.Replace(p.owner)}, {"second", second},
	} {
		if strings.Contains(b.String(), "apply "+section[0]+".yaml") {
			fmt.Fprintf(&b, "-- %s.yaml --%s", section[0], section[1])
		}
	}
	return []byte(b.String())
}

// clock is a settle of one that goes by the clock: the first until something was done, the
// next ones end before it is time again.
func (p *pair) clock() string {
	if p.began {
		return "settle for=12s rest"
	}
	p.began = true
	return p.goes
}

// starts is how many Jobs two generations of a CronJob may start at once: today's names
// them by the minute, the others by the second, and nothing else keeps a time from being
// met twice.
func (p *pair) starts() int {
	if p.from == "current" || p.to == "current" {
		return 4
	}
	return 2
}
