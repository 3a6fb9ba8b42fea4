package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Times in a text are replaced in all usual formats. Other numbers stay.
func TestTimeless(t *testing.T) {
	at := sim.Epoch.Add(36*time.Hour + 505*time.Millisecond)
	for _, text := range []string{at.Format(time.RFC3339), at.Format(time.RFC3339Nano), at.Format("2006-01-02T15:04:05.000000-07:00"), at.String(),
		at.String() + " m=+0.5", at.Format(time.DateTime), fmt.Sprint(at.Unix()), fmt.Sprint(at.UnixMilli()), fmt.Sprint(at.UnixMicro()),
		fmt.Sprint(at.UnixNano())} {
		for _, around := range []string{"%s", "updated at %s, twice", "web-%s"} {
			if got, want := sim.Timeless(fmt.Sprintf(around, text)), fmt.Sprintf(around, "(time)"); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
	for _, text := range []string{"", "1073741824", "2.1.0-2017", "10.96.0.1", "sha256:1488326400a", "v2017-03-01"} {
		if got := sim.Timeless(text); got != text {
			t.Errorf("%s: %q", text, got)
		}
	}
}
