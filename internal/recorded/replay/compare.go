package replay

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/threelaws/threelaws/internal/recorded"
)

// compareAnswer compares status, warnings and body. The random sequences and the cases
// of admission were recorded without warnings: silent.
func compareAnswer(b *recorded.Binding, ex *recorded.Exchange, w *httptest.ResponseRecorder, silent bool) error {
	if w.Code != ex.Response.Status {
		return fmt.Errorf("%s %s: status %d, want %d: %s", ex.Method, ex.Path, w.Code, ex.Response.Status, w.Body)
	}
	if ex.ConcurrentGroup != 0 {
		b.Learn(ex.Response.Body, w.Body.Bytes())
		return nil
	}
	if silent {
		return compareBody(b, ex, w)
	}
	var got []string
	for _, text := range w.Header().Values("Warning") {
		got = append(got, unquoteWarning(text))
	}
	if len(got) != len(ex.Response.Warnings) {
		return fmt.Errorf("%s %s: warnings %q, want %q", ex.Method, ex.Path, got, ex.Response.Warnings)
	}
	for i := range got {
		if err := b.Match(ex.Response.Warnings[i], got[i]); err != nil {
			return fmt.Errorf("%s %s: warning: %w", ex.Method, ex.Path, err)
		}
	}
	return compareBody(b, ex, w)
}

func compareBody(b *recorded.Binding, ex *recorded.Exchange, w *httptest.ResponseRecorder) error {
	if err := b.CompareJSON(ex.Response.Body, w.Body.Bytes()); err != nil {
		return fmt.Errorf("%s %s: body%w", ex.Method, ex.Path, err)
	}
	return nil
}

func unquoteWarning(text string) string {
	text = strings.TrimPrefix(text, `299 - "`)
	text = strings.TrimSuffix(text, `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}
