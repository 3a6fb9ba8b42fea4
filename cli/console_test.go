package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Who keeps what a command prints is not told that all went well when it was lost.
func TestFullDisk(t *testing.T) {
	for _, line := range []string{
		"help", "help --json", "laws", "laws --json", "version", "completion bash",
		"run testdata/settles.txtar", "show testdata/settles.txtar",
	} {
		var err bytes.Buffer
		c := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: full{}, Err: &err}
		code := c.Run(t.Context(), strings.Fields(line))
		if code != scenarios.ExitUsage || !strings.Contains(err.String(), "no space left on device") {
			t.Errorf("%s: exit %d, %q", line, code, err.String())
		}
	}
}
