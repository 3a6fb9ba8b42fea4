package replay

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/recorded"
)

// compareAnswer compares status, warnings and body. The random sequences and the cases of admission were recorded
// without warnings: silent.
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
		got = append(got, Unquoted(text))
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
	if err := b.CompareJSON(ex.Response.Body, w.Body.Bytes()); err != nil && !reordered(ex, w.Body.Bytes()) &&
		!(b.Managed && shuffled(b, ex, w.Body.Bytes())) {
		return fmt.Errorf("%s %s: body%w", ex.Method, ex.Path, err)
	}
	return nil
}

// reordered reports whether a request was refused for the same causes in another order. The real server uses Go's map
// order for errors of custom resources, and for conflicts with several field managers.
func reordered(ex *recorded.Exchange, got []byte) bool {
	want, have := causes(ex.Response.Body), causes(got)
	return len(want) > 1 && slices.Equal(want, have)
}

// shuffled reports whether a request was refused for the same causes, with those of one field in another order: labels,
// annotations and other maps have no order.
func shuffled(b *recorded.Binding, ex *recorded.Exchange, got []byte) bool {
	want, have := byField(b.Fill(string(ex.Response.Body))), byField(string(got))
	return len(want) > 1 && slices.Equal(want, have)
}

// byField lists the causes of a refusal, with adjacent causes of one field sorted.
func byField(body string) (texts []string) {
	var st metav1.Status
	if json.Unmarshal([]byte(body), &st) != nil || st.Details == nil {
		return nil
	}
	start := 0
	for i, c := range st.Details.Causes {
		if i > 0 && c.Field != st.Details.Causes[i-1].Field {
			slices.Sort(texts[start:])
			start = i
		}
		texts = append(texts, fmt.Sprint(c))
	}
	slices.Sort(texts[start:])
	return texts
}

func causes(body []byte) (texts []string) {
	var st metav1.Status
	if json.Unmarshal(body, &st) != nil || st.Details == nil {
		return nil
	}
	defined := strings.HasSuffix(st.Details.Group, ".example.com")
	for _, c := range st.Details.Causes {
		if !defined && c.Type != metav1.CauseTypeFieldManagerConflict {
			return nil
		}
		texts = append(texts, fmt.Sprint(c))
	}
	slices.Sort(texts)
	return texts
}

// Unquoted is the text of a Warning header.
func Unquoted(text string) string {
	text = strings.TrimPrefix(text, `299 - "`)
	text = strings.TrimSuffix(text, `"`)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(text)
}
