package watch

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/fight"
)

// note updates the value histories that a change concerns.
func (c *Cluster) note(x *change) {
	c.exists(x)
	c.counts(x)
	if x.old != nil && x.new != nil {
		c.claims(x)
		c.fields(x)
	}
}

// claims follows the owners and labels of an object.
func (c *Cluster) claims(x *change) {
	if !x.has("metadata.labels") && !x.has("metadata.ownerReferences") {
		return
	}
	t := c.fights.track("claim " + string(x.new.UID))
	t.path.Begin(x.old.claim(), x.at)
	circle, who := t.come(fight.Visit[string]{State: x.new.claim(), By: x.who, At: x.at, Words: x.words()})
	if len(who) > 1 {
		c.fights.round(t, bout{object: x.new.ref(), about: t.key, what: "owner and labels of " + x.new.ref(), who: who,
			circle: circle})
	}
}

// claim returns a digest of an object's labels and owners.
func (o *Version) claim() (sum uint64) {
	for k, v := range o.Labels {
		sum += sumOf("l" + k + "=" + v)
	}
	for _, r := range o.OwnerReferences {
		sum += sumOf("o" + string(r.UID) + strconv.FormatBool(r.Controller != nil && *r.Controller))
	}
	return sum
}

// fields follows single fields, once an object has two managers.
func (c *Cluster) fields(x *change) {
	other := func(m metav1.ManagedFieldsEntry) bool { return m.Manager != x.new.ManagedFields[0].Manager }
	if !slices.ContainsFunc(x.new.ManagedFields, other) {
		return
	}
	for _, l := range x.leaves {
		if strings.HasPrefix(l.path, "metadata.labels") || strings.HasPrefix(l.path, "metadata.ownerReferences") {
			continue
		}
		t := c.fights.track("field " + string(x.new.UID) + " " + l.path)
		t.path.Begin(sumOf(text(l.was)), x.at)
		circle, who := t.come(fight.Visit[string]{State: sumOf(text(l.is)), By: l.writer(x), At: x.at,
			Words: l.path + " = " + cut(l.is)})
		if len(who) > 1 {
			c.fights.round(t, bout{object: x.new.ref(), about: string(x.new.UID), what: l.path, who: who,
				circle: circle, field: true})
		}
	}
}

// writer returns who wrote a field: of its managers, the one that wrote last.
func (l *leaf) writer(x *change) string {
	if who := newest(l.by); who != "" {
		return who
	}
	return x.who
}

// collector stands for the garbage collector, which deletes objects whose owners never existed.
const collector = "(the garbage collector)"

// exists follows whether an object of a name exists, and who created it. Who deletes is unknown, except for deletions
// that only the garbage collector makes.
func (c *Cluster) exists(x *change) {
	var v fight.Visit[string]
	o := x.new
	switch {
	case x.old == nil && x.new != nil && o.GenerateName == "" && x.who != "":
		v = fight.Visit[string]{State: sumOf("there " + x.who), By: x.who, At: x.at, Words: "create"}
	case x.new == nil && x.old.GenerateName == "" && c.neverOwned(x.old):
		o = x.old
		v = fight.Visit[string]{State: sumOf("gone"), By: collector, At: x.at, Words: "delete: its owner is not there"}
	default:
		return
	}
	t := c.fights.track("there " + o.of.String() + " " + o.Namespace + "/" + o.Name)
	circle, who := t.come(v)
	if len(who) > 1 {
		c.fights.round(t, bout{object: o.ref(), about: t.key, what: "whether there is " + o.ref(), who: who,
			circle: circle})
	}
}

// counts follows the number of ownerless objects that several owners select, if these want different numbers.
// Controllers without ControllerRef then create and delete them forever.
func (c *Cluster) counts(x *change) {
	was, is := x.old.loose(), x.new.loose()
	if was && is && x.old.claim() == x.new.claim() || !was && !is {
		return
	}
	if was {
		c.count(x, x.old, -1)
	}
	if is {
		c.count(x, x.new, 1)
	}
}

// loose reports whether every owner that selects an object may count it.
func (o *Version) loose() bool {
	return o != nil && o.of.claimable() && o.controller() == nil && !o.terminating() && !o.ended
}

func (c *Cluster) count(x *change, o *Version, by int) {
	var rivals []*Version
	for e := range c.claimers[o.Namespace] {
		if e.now.wants >= 0 && e.now.selects(o) {
			rivals = append(rivals, e.now)
		}
	}
	if len(rivals) < 2 {
		return
	}
	slices.SortFunc(rivals, func(a, b *Version) int { return strings.Compare(string(a.UID), string(b.UID)) })
	key, terms := "set "+o.of.String(), ""
	var names, who []string
	differ := false
	for _, r := range rivals {
		key += " " + string(r.UID)
		terms += strconv.Itoa(r.wants) + " "
		differ = differ || r.wants != rivals[0].wants
		names = append(names, ownerOf(r)+" wants "+strconv.Itoa(r.wants))
		who = append(who, r.reporter())
	}
	t := c.fights.track(key)
	if t.terms != terms {
		t.terms = terms
		t.path.Clear()
	}
	t.path.Begin(uint64(t.count), x.at)
	t.count += by
	v := fight.Visit[string]{State: uint64(t.count), At: x.at, Words: "gone: " + ownerOf(o)}
	if by > 0 {
		v.By, v.Words = x.who, "create "+ownerOf(o)
	}
	circle, makers := t.come(v)
	if circle == nil || !differ || len(makers) == 0 {
		return
	}
	who = slices.DeleteFunc(append(who, makers...), func(w string) bool { return w == "" })
	slices.Sort(who)
	c.fights.round(t, bout{object: o.Namespace + "/" + o.of.Resource, about: key + " " + terms, set: true,
		what: strings.Join(names, " and ") + " of the " + o.of.Resource + " that they select, and none of these has " +
			"a controller", who: slices.Compact(who), circle: circle})
}

// reporter returns the manager that last wrote an owner's status: its controller.
func (o *Version) reporter() string {
	who, at := "", time.Time{}
	for _, m := range o.ManagedFields {
		if m.Subresource == "status" && m.Time.After(at) {
			who, at = m.Manager, m.Time.Time
		}
	}
	return who
}
