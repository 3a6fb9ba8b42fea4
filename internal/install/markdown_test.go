package install_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/install"
)

// If no manifest is a sample, the code blocks of Markdown pages are searched. Other objects of a block exist beside its sample.
func TestSamplesInPages(t *testing.T) {
	base := program + "-- config/crd/bases/widgets.yaml --\n" + crd
	manifest := widget("v1", "a", "{x: 1}")
	secret := "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	indented := "1. Apply this:\n\n   ```yml\n   " + strings.ReplaceAll(strings.TrimSpace(manifest), "\n", "\n   ") + "\n   ```\n"
	for _, c := range []struct {
		name, page string
		want       string // "file:line" of the sample
		beside     int
	}{
		{"a block", "# Use\n\n```yaml\n" + manifest + "```\n", "docs/use.md:4", 0},
		{"with a Secret", "```yaml\n" + manifest + secret + "```\n\n```yaml\n" + secret + "```\n", "docs/use.md:2", 1},
		{"in a list", indented, "docs/use.md:4", 0},
		{"for a shell", "~~~bash\nkubectl apply -f - <<'EOF'\n" + manifest + "EOF\nkubectl get widgets\n~~~\n", "docs/use.md:3", 0},
		{"output of a shell", "```\n$ kubectl get widget a -o yaml\n" + manifest + "```\n", "", 0},
		{"no block", manifest, "", 0},
		{"a part of one", "```yaml\n" + manifest + "  ...\n```\n", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, base+"-- docs/use.md --\n"+c.page, install.Options{})
			if c.want == "" {
				wantNote(t, r, "no sample of Widget.example.com")
				return
			}
			wantNote(t, r, "sample of Widget.example.com: "+c.want)
			if got := len(r.Samples[0].Beside); got != c.beside {
				t.Errorf("%d objects beside the sample, want %d", got, c.beside)
			}
		})
	}
	r := found(t, base+"-- docs/use.md --\n```yaml\n"+manifest+"```\n-- other/b.yaml --\n"+manifest, install.Options{})
	wantNote(t, r, "sample of Widget.example.com: other/b.yaml:1")
}
