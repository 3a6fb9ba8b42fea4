package recorded

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Binding holds the values of a case's placeholders.
type Binding struct {
	values map[string]string
	Tokens map[string]string // continue tokens that a request may replace
	named  int
	// Managed also compares managedFields; most records omit them.
	Managed bool
}

// NewBinding returns an empty binding.
func NewBinding() *Binding { return &Binding{values: map[string]string{}, Tokens: map[string]string{}} }

// Clone returns a copy that learns separately.
func (b *Binding) Clone() *Binding {
	c := *b
	c.values = maps.Clone(b.values)
	return &c
}

// Take copies another binding's values.
func (b *Binding) Take(other *Binding) { b.values, b.named = other.values, other.named }

// Value returns the value of a placeholder.
func (b *Binding) Value(name string) (string, bool) {
	v, ok := b.values[name]
	return v, ok
}

// Placeholders lists the placeholders in a text.
func Placeholders(text string) []string { return placeholder.FindAllString(text, -1) }

// Bind makes a placeholder known.
func (b *Binding) Bind(name, value string) { b.values[name] = value }

var placeholder = regexp.MustCompile(`\$(?:ns\b|uid:\d+|rv:\d+\+\d+|rv:\d+|rv:\?|` +
	`name:[A-Za-z0-9-]+(?:\.[A-Za-z0-9]+)*|gen:\d+|ip:\d+|` +
	`port:\d+|continue:\d+|time\b|age\b|evt\b|cron\b|hash\b|obj\b)`)

// Fill replaces placeholders in a request: by known values, or by new ones.
func (b *Binding) Fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := b.values[p]; ok {
			return v
		}
		if base, more, ok := strings.Cut(p, "+"); ok {
			n, _ := strconv.ParseUint(b.values[base], 10, 64)
			m, _ := strconv.ParseUint(more, 10, 64)
			return strconv.FormatUint(n+m, 10)
		}
		b.named++
		v := fmt.Sprintf("n%d", b.named)
		switch {
		case strings.HasPrefix(p, "$uid:"):
			v = fmt.Sprintf("dead0000-0000-4000-8000-%012d", b.named)
		case b.Tokens[p] != "":
			v = b.Tokens[p]
		case p == "$time":
			return "2026-01-01T00:00:00Z"
		case strings.HasPrefix(p, "$rv:"):
			v = strconv.Itoa(900000 + b.named)
		case strings.HasPrefix(p, "$name:"):
			v = strings.ToLower(strings.TrimPrefix(p, "$name:"))
		}
		b.values[p] = v
		return v
	})
}

// Order checks that the resource versions of a case grow as recorded.
func (b *Binding) Order(names []string) error {
	last := uint64(0)
	for _, name := range names {
		v, ok := b.values[name]
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is %q", name, v)
		}
		if n <= last {
			return fmt.Errorf("resource versions: %s is %d, not after %d", name, n, last)
		}
		last = n
	}
	return nil
}
