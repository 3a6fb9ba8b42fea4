package render

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

var (
	uidShape     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	invalidHead  = regexp.MustCompile(`^[A-Za-z.]+ "[^"]*" is invalid: `)
	invalidValue = regexp.MustCompile(`Invalid value: (\[.*\]|\{.*\}|".*"|[^:]*): `)
)

// WithoutUIDs replaces uids. They are the same in every run of one schedule, but tell a reader nothing.
func WithoutUIDs(text string) string { return uidShape.ReplaceAllString(text, "(uid)") }

// RefusalOf returns why a request was refused: the status, and the informative part of the message.
func RefusalOf(r *sim.Record) string {
	text := invalidHead.ReplaceAllString(r.Message, "")
	text = invalidValue.ReplaceAllString(text, "")
	text = WithoutUIDs(text)
	if i := strings.Index(text, "Only one reference can have Controller set to true"); i >= 0 {
		text = "only one reference can have controller=true"
	}
	head := strings.TrimSpace(fmt.Sprintf("%d %s", r.Code, r.Reason))
	if text == "" || r.Code == 404 {
		return head
	}
	return head + ": " + text
}
