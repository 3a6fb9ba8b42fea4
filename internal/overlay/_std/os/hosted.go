package os

import "internal/hosted"

// hostedRoot is a folder that belongs to this process alone: what the world gives it to read, and everything
// that it writes. hostedDir is the folder of the program's repository, which is only read.
var hostedRoot, hostedDir string

func init() {
	if hosted.On {
		hostedRoot, hostedDir = Getenv("THREELAWS_ROOT"), Getenv("THREELAWS_DIR")
	}
}

// hostedPath is the path that a hosted process uses in place of another: below its root where it writes, or
// where there is something to read.
func hostedPath(name string, writes bool) string {
	if hostedRoot == "" || name == "" || within(name, hostedRoot) || within(name, "/dev") || within(name, "/proc") {
		return name
	}
	if name[0] != '/' { // the working directory is below the root
		if _, err := lstatNolog(name); err == nil || writes || hostedDir == "" {
			return name
		}
		if in := hostedDir + "/" + name; there(in) {
			return in
		}
		return name
	}
	in := hostedRoot + name
	if writes {
		for i := len(in) - 1; i > 0; i-- {
			if in[i] == '/' {
				_ = MkdirAll(in[:i], 0o700) // what is then done says what is wrong
				break
			}
		}
		return in
	}
	if there(in) {
		return in
	}
	return name
}

func there(path string) bool {
	_, err := lstatNolog(path)
	return err == nil
}

// within reports whether a path is a folder or below it.
func within(path, folder string) bool {
	return len(path) >= len(folder) && path[:len(folder)] == folder && (len(path) == len(folder) || path[len(folder)] == '/')
}
