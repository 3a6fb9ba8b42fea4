package clusterwatch

import (
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/threelaws/threelaws/internal/fight"
)

// A fight is a value that several managers change in a cycle. Their writes restore an earlier state again and again.
// The value may be a field, the owners and labels of an object, the existence of an object, or the number of objects
// that several owners select.

const (
	roundsOfFight = 3         // a cycle is reported after this many rounds
	roundsByHand  = 10        // the number of rounds if a person takes part
	slowest       = time.Hour // a cycle that takes longer does not count
	mostTracks    = 20_000    // maximal number of value histories in memory
	mostFights    = 2_000
)

// track is the history of one value.
type track struct {
	key  string
	path fight.Path[string] // By is the manager; "" if unknown

	count int    // if the value is a number of objects: objects created minus objects deleted
	terms string // for a number of objects: the numbers that the owners want
}

type knownFight struct {
	Finding
	lead  string   // the key of the value history whose rounds are counted; it belongs to the first contested field
	also  []string // the other fields of the fight
	hands bool     // a person takes part
	next  int      // the number of rounds after which the fight is reported next
}

type fights struct {
	tracks *lru.Cache // key of the track -> *track
	known  *lru.Cache // fightRound.about and the managers -> *knownFight
	tell   func(Finding)
}

func newFights(tell func(Finding)) *fights {
	return &fights{tracks: lru.New(mostTracks), known: lru.New(mostFights), tell: tell}
}

func (f *fights) track(key string) *track {
	if t, ok := f.tracks.Get(key); ok {
		return t.(*track)
	}
	t := &track{key: key}
	f.tracks.Add(key, t)
	return t
}

// come adds a state to the history. If this closes a cycle, it returns the cycle and its managers. For a cycle that
// took more than an hour, it returns nil.
func (t *track) come(v fight.Visit[string]) (circle []fight.Visit[string], who []string) {
	circle = t.path.Visit(v)
	if circle == nil || v.At.Sub(circle[0].At) > slowest {
		return nil, nil
	}
	for _, v := range circle {
		if v.By != "" && !slices.Contains(who, v.By) {
			who = append(who, v.By)
		}
	}
	slices.Sort(who)
	return circle, who
}

type fightRound struct {
	object string
	about  string // the subject of the fight: an object, or a set of objects
	what   string // "data.mode"
	who    []string
	circle []fight.Visit[string]
	field  bool // "what" is the path of a field
	set    bool // "what" lists the owners of a set of objects, and how many objects each owner wants
}

func (f *fights) round(t *track, r fightRound) {
	key := r.about + " " + strings.Join(r.who, " ")
	known, ok := f.known.Get(key)
	b, _ := known.(*knownFight)
	last := r.circle[len(r.circle)-1].At
	if !ok {
		b = &knownFight{lead: t.key, next: roundsOfFight, hands: slices.ContainsFunc(r.who, byHand)}
		b.Finding = Finding{Sort: Fight, Law: laws[Fight], Object: r.object, Who: r.who, First: r.circle[0].At}
		if b.hands {
			b.next = roundsByHand
		}
		f.known.Add(key, b)
	}
	if b.lead != t.key {
		if !slices.Contains(b.also, r.what) && len(b.also) < 100 {
			b.also = append(b.also, r.what)
		}
		return
	}
	if b.hands && !b.Goes && last.Sub(b.First) > slowest {
		b.First, b.Rounds, b.Writes = r.circle[0].At, 0, 0
	}
	b.Rounds++
	b.Writes += len(r.circle)
	b.Last = last
	if b.Rounds < b.next {
		return
	}
	b.Story = nil
	for _, v := range r.circle {
		b.Story = append(b.Story, Line{At: v.At, Who: somebody(v.By), Did: v.Words, Object: r.object})
	}
	b.Text = b.sentence(r)
	f.tell(b.Finding)
	b.Goes, b.next = true, 2*b.Rounds
}

func (b *knownFight) sentence(r fightRound) string {
	who := strings.Join(b.Who, " and ")
	since := ", since " + b.First.UTC().Format(time.RFC3339)
	if r.set {
		return r.what + ": they have come and gone " + times(b.Rounds) + since + ", made by " + who
	}
	if !r.field {
		return who + " have repeated a cycle " + times(b.Rounds) + " over " + r.what + since
	}
	s := who + " have overwritten " + r.what + " of " + r.object + " " + times(b.Writes) + since
	if len(b.also) > 0 {
		s += ", and so " + strings.Join(b.also[:min(len(b.also), 3)], ", ")
		if len(b.also) > 3 {
			s += " and other fields"
		}
	}
	return s
}

func (c *Cluster) note(x *change) {
	c.exists(x)
	c.counts(x)
	if x.old != nil && x.new != nil {
		c.claims(x)
		c.fields(x)
	}
}

func (c *Cluster) claims(x *change) {
	if !x.has("metadata.labels") && !x.has("metadata.ownerReferences") {
		return
	}
	t := c.fights.track("claim " + string(x.new.UID))
	t.path.Begin(x.old.claim(), x.at)
	circle, who := t.come(fight.Visit[string]{State: x.new.claim(), By: x.who, At: x.at, Words: x.words()})
	if len(who) > 1 {
		c.fights.round(t, fightRound{object: x.new.ref(), about: t.key, what: "owner and labels of " + x.new.ref(), who: who,
			circle: circle})
	}
}

func (o *Version) claim() (sum uint64) {
	for k, v := range o.Labels {
		sum += sumOf("l" + k + "=" + v)
	}
	for _, r := range o.OwnerReferences {
		sum += sumOf("o" + string(r.UID) + strconv.FormatBool(r.Controller != nil && *r.Controller))
	}
	return sum
}

// fields adds changed fields to their histories. It ignores objects that have only one manager.
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
			c.fights.round(t, fightRound{object: x.new.ref(), about: string(x.new.UID), what: l.path, who: who,
				circle: circle, field: true})
		}
	}
}

// writer returns the last manager of a field. If no manager owns the field now, it returns the manager of the change.
func (l *leaf) writer(x *change) string {
	if who := newest(l.by); who != "" {
		return who
	}
	return x.who
}

// collector is the name of the garbage collector in a fight. It deletes objects whose owners do not exist.
const collector = "(the garbage collector)"

// exists adds a creation or a deletion to the history of an object's name. It ignores most deletions, because their
// managers are unknown. It adds a deletion if only the garbage collector can have deleted the object.
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
		c.fights.round(t, fightRound{object: o.ref(), about: t.key, what: "the existence of " + o.ref(), who: who,
			circle: circle})
	}
}

// counts counts the objects that several owners select and none controls. It adds each new number to a value history.
// If the owners want different numbers and set no ControllerRef, the number changes forever.
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

// loose reports whether an object has no controller but could get one. It counts for each owner that selects it.
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
	c.fights.round(t, fightRound{object: o.Namespace + "/" + o.of.Resource, about: key + " " + terms, set: true,
		what: strings.Join(names, " and ") + " of the " + o.of.Resource + " that they select, none of which has a " +
			"controller", who: slices.Compact(who), circle: circle})
}

// reporter returns the manager that last wrote the owner's status. It is taken for the controller of the owner's kind.
func (o *Version) reporter() string {
	who, at := "", time.Time{}
	for _, m := range o.ManagedFields {
		if m.Subresource == "status" && m.Time.After(at) {
			who, at = m.Manager, m.Time.Time
		}
	}
	return who
}
