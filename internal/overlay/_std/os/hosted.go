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
// read below hostedDir, and so is the absolute path that filepath.Abs makes of it, if the machine has no such file.
func hostedPath(name string, writes bool) string {
	if hostedRoot == "" || name == "" || within(name, "/dev") || within(name, "/proc") || within(name, hostedRoot) {
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
	if hostedDir != "" && within(in, hostedWork) && !there(name) {
		if in := hostedDir + in[len(hostedWork):]; there(in) {
			return in
		}
	}
	return name
}

// hostedShown returns the path that a hosted process sees instead of a path below hostedRoot. hostedRoot has another name
// in each process.
func hostedShown(name string) string {
	if !hosted.On || !within(name, hostedRoot) {
		return name
	}
	if name == hostedRoot {
		return "/"
	}
	return name[len(hostedRoot):]
}

// hostedUse replaces a path by the path that a hosted process uses. The caller must defer the result, which replaces the
// new path by the given one in the error.
func hostedUse(name *string, writes bool, err *error) func() {
	given, used := *name, hostedPath(*name, writes)
	if used == given {
		return func() {}
	}
	*name = used
	return func() {
		restore := func(path *string) {
			if within(*path, used) {
				*path = given + (*path)[len(used):]
			}
		}
		switch e := (*err).(type) {
		case *PathError:
			restore(&e.Path)
		case *LinkError:
			restore(&e.Old)
			restore(&e.New)
		}
	}
}

func there(path string) bool {
	_, err := lstatNolog(path)
	return err == nil
}

// within reports whether a path is equal to a folder or below the folder.
func within(path, folder string) bool {
	return len(path) >= len(folder) && path[:len(folder)] == folder && (len(path) == len(folder) || path[len(folder)] == '/')
}
