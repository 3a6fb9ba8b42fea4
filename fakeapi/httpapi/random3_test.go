package httpapi

import (
	"os"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/internal/recorded/replay"
)

// Random sequences of all kinds are answered as the recorded server answered them, to the last
// warning, cell and manager of a field.
func TestSequencesOfAllKinds(t *testing.T) {
	all, err := recorded.Random3(vectors)
	if err != nil {
		t.Fatal(err)
	}
	widgets, err := recorded.Widgets(vectors)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, widgets...)
	var sum replay.Tally
	only := os.Getenv("VECTOR")
	for _, v := range all {
		if !strings.HasPrefix(v.Name(), only) {
			continue
		}
		replay.Through(subject(), v, &sum, func(ex *recorded.Exchange, sent string, why error) {
			t.Errorf("%s %d: %v\n%s", v.Name(), ex.N, why, sent)
		})
	}
	t.Logf("all kinds: %s", &sum)
}
