package recorded

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// Binding is what is known of a case's placeholders.
type Binding struct {
	values map[string]string
	Tokens map[string]string // continue tokens that a request may invent
	named  int
	// Managed says that who manages which field is compared, too: most records leave it out.
	Managed bool
}

// NewBinding knows nothing.
func NewBinding() *Binding { return &Binding{values: map[string]string{}, Tokens: map[string]string{}} }

// Clone returns a binding that learns on its own from here on.
func (b *Binding) Clone() *Binding {
	c := *b
	c.values = maps.Clone(b.values)
	return &c
}

// Take makes the binding know what another knows.
func (b *Binding) Take(other *Binding) { b.values, b.named = other.values, other.named }

// Value is what a placeholder stands for.
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

// Fill replaces placeholders in a request: by what is known, else by something new.
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
