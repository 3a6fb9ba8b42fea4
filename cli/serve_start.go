package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
)

// starts are the parts of what a real server holds when it is new, by the word of the flag
// --start.
var starts = []struct {
	word string
	in   func(*fakeapi.Start)
}{
	{"namespaces", func(s *fakeapi.Start) { s.Namespaces = true }},
	{"service", func(s *fakeapi.Start) { s.Service = true }},
	{"priority-classes", func(s *fakeapi.Start) { s.PriorityClasses = true }},
	{"service-accounts", func(s *fakeapi.Start) { s.ServiceAccounts = true }},
}

func startWords() (words []string) {
	for _, s := range starts {
		words = append(words, s.word)
	}
	return words
}

// startOf reads the flag --start: all of it, none, or what is named.
func startOf(words []string, now time.Time) (fakeapi.Start, error) {
	start := fakeapi.Start{At: now.UTC().Truncate(time.Second)}
	if len(words) == 1 && words[0] == "none" {
		return start, nil
	}
	for _, word := range words {
		i := slices.Index(startWords(), word)
		if i < 0 {
			return start, usage("--start: %s is not one of %s, or none alone%s", word, strings.Join(startWords(), ", "),
				suggest(word, startWords()))
		}
		starts[i].in(&start)
	}
	return start, nil
}
