package recorded_test

import (
	"slices"

	"github.com/threelaws/threelaws/internal/recorded"
)

// expected are the cases that do not pass, each with the reason. One that
// passes may not be named here.
var expected = map[string]string{}

// missing names a controller that ran in the record and is not in our table; "".
func missing(c *recorded.Case) string {
	i := slices.IndexFunc(c.Controllers, func(name string) bool { return ours[name] == "" })
	if i < 0 {
		return ""
	}
	return c.Controllers[i]
}
