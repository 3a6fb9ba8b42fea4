package cli

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuilt(t *testing.T) {
	main := debug.Module{Path: module, Version: "v0.3.0"}
	stamps := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "4708600"}, {Key: "vcs.time", Value: "2026-11-21T10:00:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	clone, other := debug.Module{Path: module, Version: "(devel)"}, debug.Module{Path: "example.com/w"}
	local := debug.Module{Path: module, Version: "v0.3.0", Replace: &debug.Module{Path: "../x", Version: "(devel)"}}
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"nothing is recorded", nil, "tl devel\n"},
		{"installed at a version", &debug.BuildInfo{GoVersion: "go1.26.8", Main: main},
			"tl v0.3.0\n  go         go1.26.8\n"},
		{"built in a clone", &debug.BuildInfo{GoVersion: "go1.26.8", Main: clone, Settings: stamps},
			"tl devel\n  revision   4708600, modified\n  time       2026-11-21T10:00:00Z\n  go         go1.26.8\n"},
		{"another module", &debug.BuildInfo{GoVersion: "go1.26.8", Main: other, Deps: []*debug.Module{&main}},
			"tl devel\n  threelaws  v0.3.0\n  go         go1.26.8\n"},
		{"another module, with this one replaced", &debug.BuildInfo{Deps: []*debug.Module{&local}},
			"tl devel\n  threelaws  devel\n"},
	} {
		v := built(c.info)
		v.Name = "tl"
		if got := v.text(); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// The command and the flag say the same, in text and in JSON.
func TestVersion(t *testing.T) {
	for _, flag := range []string{"", "--json "} {
		command, flagged := cli(t, strings.Fields(flag+"version")...), cli(t, strings.Fields(flag+"--version")...)
		if command.code != 0 || command.out == "" || command != flagged {
			t.Errorf("%v and %v", command, flagged)
		}
	}
	var v versionJSON
	err := json.Unmarshal([]byte(cli(t, "version", "--json").out), &v)
	if err != nil || v.Name != "threelaws" || v.Version == "" || v.Go == "" {
		t.Errorf("%+v, %v", v, err)
	}
}
