package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
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

// forms are what the values of placeholders look like.
var forms = map[string]string{
	"$uid": `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "$rv": `[0-9]+`, "$gen": `[a-z0-9]+`,
	"$ip": `[0-9a-f.:]+`, "$port": `[0-9]+`, "$obj": `.*`,
	"$time": `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z`, "$continue": `[A-Za-z0-9_-]+`,
	"$age":  `[0-9a-z<>]+`,
	"$name": `[A-Za-z0-9.-]+`, "$evt": `[0-9a-f]+`, "$cron": `[0-9]+`, "$hash": `[A-Za-z0-9+/=]+`,
}

// Match compares a recorded text with ours and learns the placeholders in it.
func (b *Binding) Match(want, got string) error {
	if want == got {
		return nil
	}
	if !strings.Contains(want, "$") {
		return fmt.Errorf(" is %q, want %q", got, want)
	}
	if placeholder.FindString(want) == want {
		return b.matchWhole(want, got)
	}
	var pattern strings.Builder
	var fresh []string
	pattern.WriteString("^")
	last := 0
	for _, at := range placeholder.FindAllStringIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[last:at[0]]))
		last = at[1]
		p := want[at[0]:at[1]]
		kind, _, _ := strings.Cut(p, ":")
		if strings.Contains(p, "+") {
			pattern.WriteString(regexp.QuoteMeta(b.Fill(p)))
			continue
		}
		v, known := b.values[p]
		switch {
		case free(p):
			pattern.WriteString(forms[kind])
		case known:
			pattern.WriteString(regexp.QuoteMeta(v))
		default:
			pattern.WriteString("(" + forms[kind] + ")")
			fresh = append(fresh, p)
		}
	}
	pattern.WriteString(regexp.QuoteMeta(want[last:]) + "$")
	re, err := regexp.Compile("(?s)" + pattern.String())
	if err != nil {
		return err
	}
	m := re.FindStringSubmatch(got)
	if m == nil {
		return fmt.Errorf(" is %q, want %q", got, b.known(want))
	}
	for i, p := range fresh {
		if v, ok := b.values[p]; ok && v != m[i+1] {
			return fmt.Errorf(" is %q, want %q (%s twice)", got, want, p)
		}
		b.values[p] = m[i+1]
	}
	return nil
}

// free reports whether a placeholder may stand for another value each time.
func free(p string) bool {
	switch kind, _, _ := strings.Cut(p, ":"); kind {
	case "$time", "$age", "$evt", "$cron", "$hash", "$obj":
		return true
	}
	return p == "$rv:?"
}

// matchWhole is Match where the text is one placeholder, as most are: its pattern
// need not be compiled each time.
func (b *Binding) matchWhole(p, got string) error {
	v, known := b.values[p]
	if strings.Contains(p, "+") {
		v, known = b.Fill(p), true
	}
	if known && !free(p) {
		if v != got {
			return fmt.Errorf(" is %q, want %q", got, v)
		}
		return nil
	}
	kind, _, _ := strings.Cut(p, ":")
	if form := wholes[kind]; form == nil || !form.MatchString(got) {
		return fmt.Errorf(" is %q, want %q", got, p)
	}
	if !free(p) {
		b.values[p] = got
	}
	return nil
}

// wholes are forms that fill a text.
var wholes = func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for kind, form := range forms {
		out[kind] = regexp.MustCompile("(?s)^(?:" + form + ")$")
	}
	return out
}()

func (b *Binding) known(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := b.values[p]; ok {
			return v
		}
		return p
	})
}

// CompareJSON compares a recorded body with ours.
func (b *Binding) CompareJSON(want json.RawMessage, got []byte) error {
	w, err := Decode(want)
	if err != nil {
		return fmt.Errorf(": the record: %v", err)
	}
	g, err := Decode(got)
	if err != nil {
		if text, ok := w.(string); ok {
			return b.Match(text, string(got))
		}
		return fmt.Errorf(": ours: %v: %s", err, got)
	}
	if b.Managed {
		SortManaged(g)
	} else {
		DropManaged(g)
	}
	if text, ok := w.(string); ok {
		if s, ok := g.(string); !ok || s != text {
			return b.Match(text, string(got))
		}
	}
	return b.Compare("", w, g)
}

// Learn takes over what placeholders it can without complaint.
func (b *Binding) Learn(want json.RawMessage, got []byte) {
	w, err := Decode(want)
	if err != nil {
		return
	}
	if g, err := Decode(got); err == nil {
		b.Compare("", w, g)
	}
}

// Glean is Learn that goes on after a difference.
func (b *Binding) Glean(want json.RawMessage, got []byte) {
	w, err := Decode(want)
	if err != nil {
		return
	}
	if g, err := Decode(got); err == nil {
		b.glean(w, g)
	}
}

func (b *Binding) glean(want, got any) {
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(w)) {
			b.glean(w[k], g[k])
		}
	case []any:
		g, _ := got.([]any)
		for i := 0; i < len(w) && len(g) == len(w); i++ {
			b.glean(w[i], g[i])
		}
	case string:
		if g, ok := got.(string); ok {
			_ = b.Match(w, g)
		}
	}
}

// Decode decodes JSON, numbers as they are written.
func Decode(raw []byte) (v any, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// DropManaged drops the managedFields everywhere in a decoded value.
func DropManaged(v any) {
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v["metadata"].(map[string]any); ok {
			delete(m, "managedFields")
		}
		for _, child := range v {
			DropManaged(child)
		}
	case []any:
		for _, child := range v {
			DropManaged(child)
		}
	}
}

// SortManaged puts managedFields everywhere in a decoded value into an order that the times
// in them have no part in.
func SortManaged(v any) {
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v["metadata"].(map[string]any); ok {
			if entries, ok := m["managedFields"].([]any); ok {
				slices.SortFunc(entries, func(a, b any) int { return strings.Compare(manager(a), manager(b)) })
			}
		}
		for _, child := range v {
			SortManaged(child)
		}
	case []any:
		for _, child := range v {
			SortManaged(child)
		}
	}
}

// manager is whose an entry of managedFields is.
func manager(entry any) string {
	e, _ := entry.(map[string]any)
	return fmt.Sprint(e["operation"], e["manager"], e["apiVersion"], e["subresource"])
}

// Compare compares two decoded values; at is where they are, for errors.
func (b *Binding) Compare(at string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s is %s, want an object", at, show(got))
		}
		return b.compareMaps(at, w, g)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s is %s, want %s", at, show(got), show(want))
		}
		for i := range w {
			if err := b.Compare(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if g, ok := got.(string); ok {
			if err := b.Match(w, g); err != nil {
				return fmt.Errorf("%s%w", at, err)
			}
			return nil
		}
		if n, ok := got.(json.Number); ok && strings.HasPrefix(w, "$port:") {
			return b.Match(w, n.String())
		}
	}
	if want != got {
		return fmt.Errorf("%s is %s, want %s", at, show(got), show(want))
	}
	return nil
}

func (b *Binding) compareMaps(at string, w, g map[string]any) error {
	keys := make([]string, 0, len(w))
	for k := range w {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	seen := map[string]bool{}
	for _, k := range keys {
		own := k
		if placeholder.MatchString(k) {
			own = b.Fill(k)
		}
		child, ok := g[own]
		if !ok {
			return fmt.Errorf("%s/%s is missing, want %s", at, k, show(w[k]))
		}
		seen[own] = true
		if err := b.Compare(at+"/"+k, w[k], child); err != nil {
			return err
		}
	}
	for k := range g {
		if !seen[k] {
			return fmt.Errorf("%s/%s is %s, want nothing", at, k, show(g[k]))
		}
	}
	return nil
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
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
