package clause

import (
	"regexp"
	"slices"
	"strconv"
)

// names finds clauses in a text: "LAW-2", "ADOPT-4b", "WATCH-1..6", "KIND-DS".
var names = regexp.MustCompile(`\b([A-Z]+(?:-[A-Z]+)*)(?:-(\d+)([a-z]?)(?:\.\.(\d+))?)?`)

// In lists the clauses that a text names, each once; a range names all in it.
// What looks like a clause and has another number is listed as well.
func In(text string) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, m := range names.FindAllStringSubmatch(text, -1) {
		if m[2] == "" {
			if ByID(m[1]) != nil {
				add(m[1])
			}
			continue
		}
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[4] != "" {
			last, _ = strconv.Atoi(m[4])
		}
		for n := first; n <= last && n < first+100; n++ {
			add(m[1] + "-" + strconv.Itoa(n) + m[3])
		}
	}
	return ids
}
