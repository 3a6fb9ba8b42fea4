package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/internal/campaign"
	"github.com/threelaws/threelaws/internal/render"
)

// Counterexample is a schedule that violates a law, minimized.
type Counterexample struct {
	Law      string       `json:"law"`
	Text     string       `json:"text"`
	Index    int          `json:"index"` // of the schedule that broke it first
	Strategy string       `json:"strategy"`
	Small    string       `json:"small"` // how small it is
	Page     *render.Page `json:"page"`
	File     []byte       `json:"-"`                // a scenario file that replays it
	Often    *Often       `json:"often,omitempty"`  // of drawn schedules: how many violate the law
	Likely   []Likely     `json:"likely,omitempty"` // how likely it still was after each step

	// Found runs the schedule again as it was found, before minimizing; it returns nil if it does not fail any more.
	Found func() *render.Page `json:"-"`
}

// Said returns the violation's text. Unless the text names the written object, the object comes first: "deploy/web:
// owned by none".
func (c *Counterexample) Said() string {
	if c.Page == nil {
		return c.Text
	}
	object := c.Page.Object()
	if object == "" || strings.Contains(c.Text, object) {
		return c.Text
	}
	return object + ": " + c.Text
}

// Shard is a part of an exploration that is divided among processes.
type Shard = campaign.Shard

// Often says in how many of some schedules something happened, with an interval of confidence.
type Often = campaign.Often

// continuations is the number of random continuations from each step of a failure.
const continuations = 200

// Likely says how often a failure still happens if a run goes on at random after a line of its page.
type Likely struct {
	Line int   `json:"line"` // its number; 0 for the start
	How  Often `json:"how"`
}
