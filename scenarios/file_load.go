package scenarios

import (
	"os"
	"strings"
)

// Parse reads a scenario file. The name is for messages; errors are [*Error]s with the line. Parse knows the names of
// the verbs but not their meaning: see [File.Check].
func Parse(name string, data []byte) (*File, error) { return parse(name, data, verbs) }

// Load reads and parses a file. Errors are [*Error]s.
func Load(path string) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// RunFile reads and runs one file. With Update it rewrites the golden text atomically. It does not rewrite after a
// violation without a "!", after another error, or if CI is set in the environment.
func RunFile(path string, o Options) *Result {
	f, err := Load(path)
	if err != nil {
		return Unread(path, err)
	}
	if o.Update && inCI() {
		return Unread(path, wrong(path, 0, "", "--update is refused under CI: expectations are changed by people"))
	}
	res := Interpret(f, o)
	if o.Update && res.ExitCode == ExitPass {
		if text := f.Format(); string(text) != f.src {
			if err := writeFile(path, text); err != nil {
				res.add(wrong(path, 0, "", "not updated: %v", err))
			} else {
				res.Updated = true
			}
		}
	}
	return res
}

func inCI() bool {
	v := strings.ToLower(os.Getenv("CI"))
	return v != "" && v != "0" && v != "false"
}
