package httpapi

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/recorded"
	"github.com/threelaws/threelaws/internal/recorded/replay"
)

// What of the exchanges of the random sequences with rich specs has to be right:
// raise it with what is gained.
const (
	leastStatuses = 4275
	leastAnswers  = 4255
)

// A sequence goes on after a difference, which may then show again and again: one
// object that was refused wrongly is missing from every later list.
func TestRichSequences(t *testing.T) {
	all, err := recorded.Random2(vectors)
	if err != nil {
		t.Fatal(err)
	}
	var sum replay.Tally
	only, told := os.LookupEnv("VECTOR")
	for _, v := range all {
		if !strings.HasPrefix(v.Name(), only) && !strings.HasPrefix(only, "random2:") {
			continue
		}
		replay.Through(subject(), v, &sum, func(ex *recorded.Exchange, sent string, why error) {
			if told {
				t.Logf("%s %d: %v\n%s", v.Name(), ex.N, why, sent)
			}
		})
	}
	t.Logf("rich specs: %s", &sum)
	if told {
		return
	}
	if sum.Statuses < leastStatuses || sum.Answers < leastAnswers {
		t.Errorf("want at least %d statuses and %d answers", leastStatuses, leastAnswers)
	}
	// The order of maps shows in a few: what is documented is the least.
	documentPart(t, "rich", fmt.Sprintf("```\nexchanges %d\nstatuses  %d at least\nanswers   %d at least\n```\n",
		sum.Exchanges, leastStatuses, leastAnswers))
}
