package overlay

import (
	"errors"
	"fmt"
	"strings"
)

// mostCompiled is how many lines of the compiler's are shown.
const mostCompiled = 20

// failed words a build that failed.
func (b Build) failed(text string) error {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "no space left on device") {
			return fmt.Errorf("%s does not build: the disk is full (%s): free some space, or set GOCACHE and TMPDIR to another disk",
				b.Package, strings.TrimSpace(line))
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if more := len(lines) - mostCompiled; more > 1 {
		lines = append(lines[:mostCompiled], fmt.Sprintf("... %d more lines", more))
	}
	return errors.New(b.Package + " does not build:\n" + strings.Join(lines, "\n"))
}
