package recorded_test

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/threelaws/threelaws/internal/vectors"
)

// listing is one settled listing: the recorded one and ours.
type listing struct {
	n         int // number of the exchange
	path      string
	want, got map[string]any
	items     []any // the items of want
	ours      []any // the items of got
}

// newListing separates the items of a listing from its other fields. It drops the revision, because the revision counts
// all writes, even writes of leases.
func newListing(ex *vectors.Exchange, want, got any) (*listing, error) {
	w, ok := want.(map[string]any)
	g, fine := got.(map[string]any)
	if !ok || !fine {
		return nil, fmt.Errorf("%d: not JSON objects: %v, want %v", ex.N, got, want)
	}
	l := &listing{n: ex.N, path: ex.Path, want: w, got: g}
	l.items, _ = w["items"].([]any)
	l.ours, _ = g["items"].([]any)
	for _, o := range [...]map[string]any{w, g} {
		if _, ok := o["items"]; ok {
			delete(o, "items")
			delete(o, "metadata")
		}
	}
	return l, nil
}

// search looks for values of the recording's placeholders with which every listing equals the recorded one. The order
// in which similar objects were written or deleted is not determined, so search tries all pairs of items.
type search struct {
	listings []*listing
	present  map[string]string // uid -> the listings that contain the object, for both sides
	tries    int
}

// newSearch records which listings contain each object. Equal objects must be in the same listings.
func newSearch(listings []*listing) *search {
	s := &search{listings: listings, present: map[string]string{}}
	for i, l := range listings {
		for _, items := range [...][]any{l.items, l.ours} {
			for _, item := range items {
				s.present[uidOf(item)] += strconv.Itoa(i) + " "
			}
		}
	}
	return s
}

const maxTries = 200_000

var errTries = errors.New("too many tries to match the objects")

// name returns a binding that extends b with the placeholders of the listings.
func name(b *vectors.Binding, listings []*listing) (*vectors.Binding, error) {
	found, err := newSearch(listings).listing(b, 0)
	if err == nil {
		return found, nil
	}
	last := listings[len(listings)-1]
	if _, alone := newSearch([]*listing{last}).listing(b, 0); alone != nil { // compare it alone, for a clearer error
		return nil, fmt.Errorf("%d: %s: %w", last.n, last.path, alone)
	}
	return nil, fmt.Errorf("%d: %s, together with the earlier listings: %w", last.n, last.path, err)
}

func (s *search) listing(b *vectors.Binding, i int) (*vectors.Binding, error) {
	if i == len(s.listings) {
		return b, nil
	}
	l := s.listings[i]
	b = b.Clone()
	if err := b.Compare(l.want, l.got); err != nil {
		return nil, err
	}
	if len(l.items) != len(l.ours) {
		return nil, fmt.Errorf("%d items, want %d: %v, want %v", len(l.ours), len(l.items), names(l.ours),
			names(l.items))
	}
	return s.item(b, i, 0, make([]bool, len(l.ours)))
}

// item matches the j-th recorded item with one of our items, and then the next items.
func (s *search) item(b *vectors.Binding, i, j int, used []bool) (*vectors.Binding, error) {
	l := s.listings[i]
	if j == len(l.items) {
		return s.listing(b, i+1)
	}
	why := fmt.Errorf("no object is in the same listings as %s", nameOf(l.items[j]))
	first := true
	for k := range l.ours {
		if used[k] || s.present[uidOf(l.items[j])] != s.present[uidOf(l.ours[k])] {
			continue
		}
		if s.tries++; s.tries > maxTries {
			return nil, errTries
		}
		c := b.Clone()
		err := c.Compare(l.items[j], l.ours[k])
		if err != nil {
			err = fmt.Errorf("%s is not %s: %w", nameOf(l.ours[k]), nameOf(l.items[j]), err)
		} else {
			used[k] = true
			var found *vectors.Binding
			if found, err = s.item(c, i, j+1, used); err == nil {
				return found, nil
			}
			used[k] = false
		}
		if first || nameOf(l.ours[k]) == nameOf(l.items[j]) {
			why, first = err, false
		}
	}
	return nil, why
}

func names(items []any) (out []string) {
	for _, item := range items {
		out = append(out, nameOf(item))
	}
	return out
}

func nameOf(item any) string { return metadataOf(item, "name") }

func uidOf(item any) string { return metadataOf(item, "uid") }

func metadataOf(item any, field string) string {
	o, _ := item.(map[string]any)
	m, _ := o["metadata"].(map[string]any)
	text, _ := m[field].(string)
	return text
}
