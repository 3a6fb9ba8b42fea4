package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

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
	return b.Compare(w, g)
}

// Learn binds the placeholders in want to values in got. It stops at the first difference.
func (b *Binding) Learn(want json.RawMessage, got []byte) {
	w, err := Decode(want)
	if err != nil {
		return
	}
	if g, err := Decode(got); err == nil {
		b.Compare(w, g)
	}
}

// Glean does the same as Learn, but continues after differences.
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

// Decode decodes JSON. Numbers keep their text. For an empty text it returns nil.
func Decode(raw []byte) (v any, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// DropManaged removes all managedFields from a decoded value.
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

// SortManaged sorts all managedFields in a decoded value. The order does not depend on their times.
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

func manager(entry any) string {
	e, _ := entry.(map[string]any)
	return fmt.Sprint(e["operation"], e["manager"], e["apiVersion"], e["subresource"])
}

// Compare compares two decoded values. The error begins with the path of the first difference.
func (b *Binding) Compare(want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf(" is %s, want an object", show(got))
		}
		return b.compareMaps(w, g)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf(" is %s, want %s", show(got), show(want))
		}
		for i := range w {
			if err := b.Compare(w[i], g[i]); err != nil {
				return fmt.Errorf("[%d]%w", i, err)
			}
		}
		return nil
	case string:
		if g, ok := got.(string); ok {
			return b.Match(w, g)
		}
		if n, ok := got.(json.Number); ok && strings.HasPrefix(w, "$port:") {
			return b.Match(w, n.String())
		}
	}
	if want != got {
		return fmt.Errorf(" is %s, want %s", show(got), show(want))
	}
	return nil
}

// compareMaps compares two maps in the order of their keys, so that placeholders are bound in a fixed order.
func (b *Binding) compareMaps(w, g map[string]any) error {
	filled := map[string]bool{} // the keys in g that match a key in w with a placeholder
	for _, k := range slices.Sorted(maps.Keys(w)) {
		own := k
		if strings.Contains(k, "$") {
			own = b.Fill(k)
			filled[own] = true
		}
		child, ok := g[own]
		if !ok {
			return fmt.Errorf("/%s is missing, want %s", k, show(w[k]))
		}
		if err := b.Compare(w[k], child); err != nil {
			return fmt.Errorf("/%s%w", k, err)
		}
	}
	for k := range g {
		if _, ok := w[k]; !ok && !filled[k] {
			return fmt.Errorf("/%s is %s, want nothing", k, show(g[k]))
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

// forms contains a regular expression for the values of each kind of placeholder.
var forms = map[string]string{
	"$uid": `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "$rv": `[0-9]+`, "$gen": `[a-z0-9]+`,
	"$ip": `[0-9a-f.:]+`, "$port": `[0-9]+`, "$obj": `.*`,
	"$time": `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z`, "$continue": `[A-Za-z0-9_-]+`,
	"$age":  `[0-9a-z<>]+`,
	"$name": `[A-Za-z0-9.-]+`, "$evt": `[0-9a-f]+`, "$cron": `[0-9]+`, "$hash": `[A-Za-z0-9+/=]+`,
}

// Match compares a recorded text with the server's text, and binds the placeholders in the recorded text.
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

// free reports whether a placeholder may have a different value each time.
func free(p string) bool {
	switch kind, _, _ := strings.Cut(p, ":"); kind {
	case "$time", "$age", "$evt", "$cron", "$hash", "$obj":
		return true
	}
	return p == "$rv:?"
}

// matchWhole does the work of Match for a text that is a single placeholder. It compiles no pattern.
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

// wholes contains the regular expressions of forms, compiled to match a whole text.
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
