package os

import (
	"internal/hosted"
	"syscall"
	_ "unsafe" // for linkname
)

// hostedRoot is the process's own directory. It contains the files that the world provides, and all files that the
// process writes. hostedDir is the directory of the program's repository, which is only read. hostedWork is the working
// directory at the start, which is below hostedRoot.
var hostedRoot, hostedDir, hostedWork string

//go:linkname pathOfTimes syscall.hostedPath
var pathOfTimes func(name string, writes bool) string

func init() {
	if hosted.On {
		pathOfTimes = hostedPath
		hostedRoot, hostedDir = Getenv("THREELAWS_ROOT"), Getenv("THREELAWS_DIR")
		hostedWork, _ = syscall.Getwd() // if this fails, only relative paths are read below hostedDir
	}
}

// hostedPath returns the path that a hosted process uses instead of a given path. Paths in /dev and /proc stay the
// same. Writes go below hostedRoot, and so do reads of files that exist there. A relative path that does not exist is
// read below hostedDir, and so is the absolute path that filepath.Abs makes of it.
func hostedPath(name string, writes bool) string {
	if hostedRoot == "" || name == "" || within(name, "/dev") || within(name, "/proc") {
		return name
	}
	if within(name, hostedRoot) {
		if writes || hostedDir == "" || hostedWork == "" || !within(name, hostedWork) || there(name) {
			return name
		}
		if in := hostedDir + name[len(hostedWork):]; there(in) {
			return in
		}
		return name
	}
	if name[0] != '/' { // the working directory is below hostedRoot
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
				_ = MkdirAll(in[:i], 0o700) // if this fails, the write reports the error
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

// within reports whether a path is equal to a folder or below the folder.
func within(path, folder string) bool {
	return len(path) >= len(folder) && path[:len(folder)] == folder && (len(path) == len(folder) || path[len(folder)] == '/')
}
