// Conversion of invariants to laws, and mistakes in an invariant or a contract.

package law

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
)

// Law returns the law that checks the invariant for a whole world. Each call returns the same value.
func (v *Invariant) Law() *Law {
	v.ofWorld.once.Do(func() { v.ofWorld.law = v.asLaw(ofWorld(v)) })
	return v.ofWorld.law.(*Law)
}

// own returns the law that checks the invariant for each controller with this invariant in its Contract.
func (v *Invariant) own() *Law {
	v.ofContract.once.Do(func() {
		l := v.asLaw(invariantLaw(v.ID, v.When))
		if v.When&^WhenSettled != 0 {
			l.Needs |= Reads | Deliveries
		}
		v.ofContract.law = l
	})
	return v.ofContract.law.(*Law)
}

func (v *Invariant) asLaw(asks func(*Judge) Check) *Law {
	l := &Law{ID: v.ID, Name: v.ID, Sentence: v.Sentence, Source: "an invariant", Needs: Commits,
		New: asks, invariant: v}
	if c := clause.ByID(v.ID); c != nil {
		l.Source = c.Source
	}
	if v.When&WhenSettled != 0 {
		l.Needs |= SettledWorld
	}
	return l
}

// Laws returns the laws of the contract's invariants.
func (c *Contract) Laws() (all []*Law) {
	for _, v := range c.Invariants {
		all = append(all, v.own())
	}
	return all
}

func (v *Invariant) mistake() string {
	switch {
	case v.ID == "":
		return "an invariant has no ID: failures and pages name it"
	case strings.ContainsAny(v.ID, " \t\r\n\"'@#,=/\\"):
		return fmt.Sprintf("invariant %q: an ID is one word, without quotes, slashes and @ # , =", v.ID)
	case v.Check == nil:
		return "invariant " + v.ID + ": Check is nil: it says what is wrong"
	case v.When == 0:
		return "invariant " + v.ID + ": When is empty: Check would never be called"
	case v.When >= AtDelete<<1:
		return fmt.Sprintf("invariant %s: When is %d: combine WhenSettled, BeforeCreate, AtWrite and AtDelete", v.ID, v.When)
	case v.Recent < 0:
		return "invariant " + v.ID + ": Recent is negative: it is how long a deleted object still counts"
	case v.Sentence == "":
		return "invariant " + v.ID + ": Sentence is empty: say what must hold"
	}
	return ""
}

// CheckInvariants returns nil, or an error of one line that names a wrong invariant. An invariant is wrong if it cannot
// be checked, or if its ID is used twice or belongs to a law of this package.
func CheckInvariants(invariants []*Invariant) error {
	seen := map[string]bool{}
	for i, v := range invariants {
		what := ""
		if v == nil {
			return Misuse(fmt.Sprintf("Invariants[%d] is nil", i))
		}
		switch what = v.mistake(); {
		case what != "":
		case seen[v.ID]:
			what = "two invariants have the ID " + v.ID
		default:
			for _, l := range All() {
				if l.Name == v.ID || l.ID == v.ID {
					what = "invariant " + v.ID + ": a law has that name: give it another ID"
				}
			}
		}
		if what != "" {
			return Misuse(what)
		}
		seen[v.ID] = true
	}
	return nil
}

// Check returns an error of one line that names the wrong field of a contract, or nil.
func (c *Contract) Check() error {
	switch {
	case c.Profile >= profiles:
		return Misuse(fmt.Sprintf("Contract.Profile is %d: there are Ownership, Writing and Upstream", c.Profile))
	case c.Replicas == nil && c.MaxSurge != nil:
		return Misuse("Contract.MaxSurge needs Replicas: it is how many more than that an owner may have")
	case c.Replicas == nil && c.MaxUnavailable != nil:
		return Misuse("Contract.MaxUnavailable needs Replicas: it is how many fewer than that an owner may have")
	case c.Replicas != nil && c.MaxActive != nil:
		return Misuse("Contract.MaxActive needs a nil Replicas, which already says how many dependents an owner has")
	case slices.Contains(c.Finalizers, ""):
		return Misuse("Contract.Finalizers has an empty name")
	case c.Identity == nil && c.AllowDuplicate != nil:
		return Misuse("Contract.AllowDuplicate needs Identity: it says which two may have the same")
	}
	for i := range c.Counts {
		if n := &c.Counts[i]; n.Of == nil || n.Is == nil && n.Each == nil {
			return Misuse(fmt.Sprintf("Contract.Counts[%d] needs Of, and Is or Each", i))
		}
	}
	return CheckInvariants(c.Invariants)
}
