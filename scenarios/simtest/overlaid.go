package simtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// farewell is how long before its own deadline a test ends the test with the overlay.
const farewell = 10 * time.Second

// overlaid runs the whole test again, built with the overlay, if two runs differ whose code runs in a bubble. In a test
// without the overlay, the order of a map and the choice of a select between two timers of one instant are random. The
// result is the result of the test. overlaid reports false if it did nothing, because the error has another reason,
// because this test itself has the overlay, or because it cannot be built.
func (c *Case) overlaid(t *testing.T, err error) bool {
	t.Helper()
	if !c.bubbles() || !differ(err) || os.Getenv(overlay.Variable) != "" {
		return false
	}
	cache, err := overlay.Cache()
	if err != nil {
		return false
	}
	cmd, err := overlay.Test(t.Context(), ".", cache, append(flags(t), "."))
	if err != nil {
		t.Log(err)
		return false
	}
	t.Log("two runs of one schedule differ, so the test runs again under the overlay, in which they are equal")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	} else {
		t.Logf("\n%s", out)
	}
	return true
}

// bubbles reports whether the code of a controller runs in a bubble, where the overlay has an effect.
func (c *Case) bubbles() bool {
	return slices.ContainsFunc(c.Controllers, func(k host.Controller) bool {
		return k.Hosted() || k.Inside != nil || k.Goroutines != nil
	})
}

// differ reports whether an error says that two runs of one schedule differ.
func differ(err error) bool {
	if d := (*explore.Disagreement)(nil); errors.As(err, &d) {
		return true
	}
	e := (*scenarios.Error)(nil)
	return errors.As(err, &e) && e.Code == scenarios.ExitNondetermine
}

// flags returns the flags with which go test runs the same top-level test again.
func flags(t *testing.T) []string {
	name, _, _ := strings.Cut(t.Name(), "/")
	list := []string{"-count=1", "-run", "^" + regexp.QuoteMeta(name) + "$", fmt.Sprintf("-v=%t", testing.Verbose()),
		fmt.Sprintf("-short=%t", testing.Short())}
	if deadline, ok := t.Deadline(); ok {
		list = append(list, fmt.Sprintf("-timeout=%s", max(time.Until(deadline)-farewell, time.Second)))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" && s.Value != "" {
				list = append(list, "-tags="+s.Value)
			}
		}
	}
	flag.Visit(func(f *flag.Flag) {
		if strings.HasPrefix(f.Name, "threelaws.") {
			list = append(list, "-"+f.Name+"="+f.Value.String())
		}
	})
	return list
}
