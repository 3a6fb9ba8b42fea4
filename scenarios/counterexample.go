package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Counterexample is a schedule that broke a law, made small.
type Counterexample struct {
	Law      string       `json:"law"`
	Text     string       `json:"text"`
	Index    int          `json:"index"` // of the schedule that broke it first
	Strategy string       `json:"strategy"`
	Small    string       `json:"small"` // how small it is
	Page     *render.Page `json:"page"`
	File     []byte       `json:"-"` // a scenario file that replays it

	// Found runs the schedule once more as it was found, before it was made small; nil where it does not
	// fail any more.
	Found func() *render.Page `json:"-"`
}

// Said is the violation's text, with the object of the write that violates the law in front unless the text names it:
// "deploy/web: owned by none".
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
