package recorded

import (
	"fmt"
	"regexp"
	"strings"
)

// forms are the patterns of placeholder values.
var forms = map[string]string{
	"$uid": `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "$rv": `[0-9]+`, "$gen": `[a-z0-9]+`,
	"$ip": `[0-9a-f.:]+`, "$port": `[0-9]+`, "$obj": `.*`,
	"$time": `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z`, "$continue": `[A-Za-z0-9_-]+`,
	"$age":  `[0-9a-z<>]+`,
	"$name": `[A-Za-z0-9.-]+`, "$evt": `[0-9a-f]+`, "$cron": `[0-9]+`, "$hash": `[A-Za-z0-9+/=]+`,
}

// Match compares a recorded text with ours and learns its placeholders.
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

// free reports whether a placeholder may have another value each time.
func free(p string) bool {
	switch kind, _, _ := strings.Cut(p, ":"); kind {
	case "$time", "$age", "$evt", "$cron", "$hash", "$obj":
		return true
	}
	return p == "$rv:?"
}

// matchWhole is Match for a text that is one placeholder, as most are. It avoids compiling a pattern each time.
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

// wholes are forms that match a whole text.
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
