package scenarios

import (
	"embed"
	"io/fs"
	"os"
	"strings"
)

// verbs contains all verbs. Only the functions below use this variable, because a file keeps the table with which it
// was parsed, and a step keeps its verb.
var verbs = []*Verb{
	// user actions
	verbControllers, verbManagers, verbInstall, verbDefine, verbApply, verbCreate, verbDelete, verbLabel, verbAnnotate, verbScale,
	verbPatch,
	// time
	verbSettle, verbRace, verbWait, verbStep, verbAdvance,
	// faults and versions
	verbHold, verbRelease, verbCrash, verbRestart, verbFail, verbRelist, verbDuplicate, verbSwitch,
	verbDowngrade, verbMark,
	// reading, checking, and Go functions
	verbOwners, verbGet, verbLaws, verbJudge, verbExpect, verbPredict, verbHash, verbDo, verbEnsure,
	// exploring
	verbExplore, verbMutant, verbSchedule,
}

// Verbs returns all verbs in the order of the help.
func Verbs() []*Verb { return verbs }

// FindVerb returns the verb with a name, or nil.
func FindVerb(name string) *Verb { return verbNamed(verbs, name) }

// Parse parses a scenario file. name is used in messages. Errors are [*Error]s. Parse checks only the syntax and the
// names of verbs; see [File.Check].
func Parse(name string, data []byte) (*File, error) { return parse(name, data, verbs) }

// Load reads and parses a file. Errors are [*Error]s.
func Load(path string) (*File, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// RunFile reads and runs a file. If Update is set, RunFile replaces the golden texts in the file. It does not write the
// file after an unexpected violation or another error, or if CI is set in the environment.
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

//go:embed testdata
var library embed.FS

// Library returns the scenarios of this module: *.txtar files, with a directory for each family. They are embedded only
// in programs that call Library.
func Library() fs.FS {
	sub, err := fs.Sub(library, "testdata")
	if err != nil {
		panic(err) // only an invalid path is an error
	}
	return sub
}
