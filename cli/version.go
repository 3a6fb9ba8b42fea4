package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const module = "github.com/threelaws/threelaws"

// versionJSON contains the build information that Go recorded.
type versionJSON struct {
	Name     string `json:"name"`
	Version  string `json:"version"`            // the version of the program's module; "devel" if unknown
	Revision string `json:"revision,omitempty"` // the revision of the program's repository
	Time     string `json:"time,omitempty"`     // time of the revision
	Modified bool   `json:"modified,omitempty"` // the build contains uncommitted changes
	Go       string `json:"go"`
	Library  string `json:"library,omitempty"` // for a program in another module: the version of threelaws
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of the program",
		Long: `Prints the version of the program's module, the revision and time of the repository from
which it was built, and the version of Go. "devel" means that the version is unknown.
"--version" prints the same.`,
		Example: "  threelaws version\n  threelaws version --json",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

func printVersion(a *app) error {
	info, _ := debug.ReadBuildInfo()
	v := built(info)
	v.Name, v.Version = a.name, cmp.Or(a.version, v.Version)
	if a.json {
		return a.encode(v)
	}
	a.print(v.text())
	return nil
}

func built(info *debug.BuildInfo) versionJSON {
	if info == nil {
		return versionJSON{Version: known("")}
	}
	v := versionJSON{Version: known(info.Main.Version), Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, d := range info.Deps {
		if d.Path == module {
			if d.Replace != nil {
				d = d.Replace
			}
			v.Library = known(d.Version)
		}
	}
	return v
}

func known(version string) string {
	if version == "" || version == "(devel)" {
		return "devel"
	}
	return version
}

func (v versionJSON) text() string {
	text := v.Name + " " + v.Version + "\n"
	for _, fact := range [][2]string{
		{"threelaws", v.Library}, {"revision", v.Revision}, {"time", v.Time}, {"go", v.Go},
	} {
		if fact[1] == "" {
			continue
		}
		if fact[0] == "revision" && v.Modified {
			fact[1] += ", modified"
		}
		text += fmt.Sprintf("  %-9s  %s\n", fact[0], fact[1])
	}
	return text
}
