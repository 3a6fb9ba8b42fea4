package scenarios

import (
	"strings"

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
	File     []byte       `json:"-"` // a scenario file that replays it

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
