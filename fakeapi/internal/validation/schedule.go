package validation

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// checkSchedule says what is wrong with a cron schedule, by the library that
// the real server reads it with. A time zone in front is left out: which ones
// there are depends on the machine.
func checkSchedule(text string) error {
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimSpace(text)
	}
	_, err := cron.ParseStandard(text)
	return err
}
