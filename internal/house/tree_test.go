package house

import (
	"go/build"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kept is the table of files that are no Go code and no page: what each is for, or
// what reads those of a directory.
var kept = []struct {
	files string // a path, or a directory with what stands below it
	named string // how the files of a directory end, or are called
	by    string // the file that reads them; "" where why says who does
	why   string
}{
	{".ci/run", "", "", "what continuous integration calls"},
	{".github/workflows/", `(test|nightly)\.yml`, "", "what GitHub runs at each change and every night"},
	{".gitignore", "", "", "git reads it"},
	{"LICENSE", "", "", "the licence"},
	{"Makefile", "", "", "the commands of the README"},
	{"action.yml", "", "internal/house/action_test.go", "the action that others' workflows use"},
	{"go.mod", "", "", "the module"},
	{"go.sum", "", "", "the module's checksums"},
	{"agent/go.mod", "", "", "a module of its own that requires nothing, so that operators keep their versions"},
	{"agent/testdata/keeper/", `go\.mod|\w+\.go|testdata/sample\.yaml`, "agent/agent_test.go", "an operator with its tests"},
	{"browser/go.mod", "", "", "a module of its own, so that what drives a browser is nobody else's"},
	{"browser/go.sum", "", "", "its checksums"},
	{"browser/testdata/", `fight\.json`, "browser/page_test.go", "where things stand in the page of a fight"},
	{"docs/fight.svg", "", "cli/pictures_test.go", "the picture of the README"},
	{"internal/page/assets/", `\w+\.(html|css|js)`, "internal/page/html.go", "what a page is made of, embedded"},
	{"kubectltest/go.mod", "", "", "a module of its own, so that kubectl's dependencies are not ours"},
	{"kubectltest/go.sum", "", "", "its checksums"},
	{"kubectltest/operator/config/", `.*\.yaml`, "kubectltest/operator_test.go", "what the operator is installed from"},
	{"controllerruntime/go.mod", "", "", "a module of its own, so that controller-runtime is not everybody's"},
	{"controllerruntime/go.sum", "", "", "its checksums"},
	{"controllerruntime/internal/widget/", `crd\.yaml`, "controllerruntime/internal/widget/types.go",
		"the definition of the operator under test, embedded"},
	{"cli/testdata/", `.*\.(txtar|txt|json|xml)`, "cli/golden_test.go", "the command line's goldens and what they run"},
	{"controllers/internal/endpointslice/testdata/", `plans\.txt`, "controllers/internal/endpointslice/plan_test.go",
		"the plans of its test"},
	{"controllers/kubelet/testdata/", `lifelike\.txt`, "controllers/kubelet/lifelike_test.go",
		"what a lifelike one writes"},
	{"controllers/states/testdata/", `[a-z-]+\.txtar`, "controllers/states/states_test.go",
		"worlds with the states that they come to"},
	{"fakeapi/testdata/vectors/", `.*\.(json|jsonl|gz)`, "internal/recorded", "what the real server answered"},
	{"fakeapi/httpapi/testdata/checks/", `[a-z]+\.jsonl|README\.md`, "fakeapi/httpapi/checks_test.go",
		"what upstream's own checks say of objects"},
	{"fakeapi/httpapi/internal/table/testdata/", `columns\.jsonl`, "fakeapi/httpapi/internal/table/columns_test.go",
		"the real server's columns"},
	{"fakeapi/httpapi/internal/discovery/", `resources\.txt`, "fakeapi/httpapi/internal/discovery/resources.go",
		"the table of resources, embedded"},
	{"internal/audit/testdata/", `[a-z-]+\.log\.gz`, "internal/audit/logs_test.go",
		"audit logs of a real control plane"},
	{"internal/goroutine/", `current_\w+\.s`, "internal/goroutine/", "assembly, built with the package"},
	{"lab/go.mod", "", "", "a module of its own: it judges this module, and does not ship"},
	{"lab/go.sum", "", "", "its checksums"},
	{"lab/conform/", `(generations|unfound)\.md`, "lab/conform/page_generations.go", "parts of pages, embedded"},
	{"lab/mutate/testdata/", `toy\.txt`, "lab/mutate/mutate_test.go", "what becomes of a toy's mutants"},
	{"internal/render/testdata/", `\w+\.(txt|dot)`, "internal/render/render_test.go", "goldens of pages"},
	{"internal/overlay/", `sums\.txt`, "internal/overlay/overlay.go", "the Go releases whose files the patches were tried on"},
	{"sim/agent/testdata/", `(bare|manager)/go\.(mod|sum)`, "sim/agent/build_test.go", "programs that are hosted in tests"},
	{"strangers/go.mod", "", "", "a module of its own, so that other projects are nobody's dependencies"},
	{"strangers/go.sum", "", "", "its checksums"},
	{"strangers/testdata/", `head\.md`, "strangers/page_test.go", "how the page on strangers begins"},
	{"strangers/", `[a-z]+/testdata/(shrunk/)?[a-z0-9-]+\.txtar|[a-z]+/testdata/(about|verdict)\.md`,
		"strangers/stranger/test.go", "worlds in which other projects' controllers are tried, and what was found"},
	{"upstream/go.mod", "", "", "a module of its own, so that its replacements are nobody else's"},
	{"upstream/go.sum", "", "", "its checksums"},
	{"upstream/testdata/", `\w+\.yaml`, "upstream/seeds_test.go", "good objects of each kind, to begin with"},
	{"upstream/hosted/testdata/", `(shrunk/)?[a-z0-9.-]+\.txtar`, "upstream/hosted/proofs_test.go",
		"worlds in which upstream's own controllers are found guilty, and the shortest ways there"},
	{"kubectltest/testdata/", `\w+\.txtar`, "kubectltest/kubectl_test.go", "kubectl's command lines with their output"},
	{"scenarios/conformance/testdata/", `(crd/)?[a-z]+\.yaml`, "scenarios/conformance/conformance_test.go",
		"the sample and the definition of its tests' operators"},
	{"scenarios/testdata/", `\w+/[a-z0-9-]+\.txtar`, "scenarios/run_test.go", "the scenarios"},
}

// Every file is there for something: Go compiles it, a page that is reached from the
// README is it, or the table above says what it is for.
func TestEveryFileIsThereForSomething(t *testing.T) {
	all := files(t)
	for _, complaint := range strays(all, func(f string) string { return read(t, f) }) {
		t.Error(complaint)
	}
	for _, k := range kept {
		if k.files == "action.yml" || strings.HasPrefix(k.files, "cli/") {
			continue
		}
		if !slices.ContainsFunc(all, func(f string) bool { return keeps(k.files, k.named, f) }) {
			t.Errorf("the table has a row for %s %s, but there is no such file; remove it", k.files, k.named)
		}
		if k.by != "" && !slices.ContainsFunc(all, func(f string) bool { return strings.HasPrefix(f, k.by) }) {
			t.Errorf("%s is said to be read by %s, which is not there", k.files, k.by)
		}
	}
}

func keeps(files, named, f string) bool {
	rest, below := strings.CutPrefix(f, files)
	return f == files || below && named != "" && regexp.MustCompile("^(?:"+named+")$").MatchString(rest)
}

// strays are complaints of files that nothing names.
func strays(all []string, read func(string) string) (complaints []string) {
	reached := reach(all, read)
	for _, f := range all {
		switch {
		case path.Ext(f) == ".go" && !strings.Contains(f, "testdata/"):
			if !compiled(f, read(f)) {
				complaints = append(complaints, f+" is never compiled: no platform takes its name and its build "+
					"constraint; remove it, or what keeps it out")
			}
		case path.Ext(f) == ".go" && slices.Contains(all, analysed(f)):
		case slices.Contains(reached, f):
		case !slices.ContainsFunc(kept,
			func(k struct{ files, named, by, why string }) bool { return keeps(k.files, k.named, f) }):
			complaints =
				append(complaints,
					f+": nothing names it: link it from a page, add a row to kept in tree_test.go, or remove it")
		}
	}
	return complaints
}

// compiled reports whether some platform compiles a Go file without tags of one's own.
func compiled(f, text string) bool {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64", "riscv64"} {
			c := build.Default
			c.GOOS, c.GOARCH, c.CgoEnabled = system, arch, true
			c.BuildTags = []string{"strangers"} // of make strangers
			c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
			if ok, err := c.MatchFile(path.Split(f)); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// analysed is the test that reads a Go file of test data: that of the package whose
// test data it is.
func analysed(f string) string {
	dir, _, _ := strings.Cut(f, "/testdata/")
	return dir + "/" + path.Base(dir) + "_test.go"
}

// reach are the pages that one comes to from the README by links.
func reach(all []string, read func(string) string) []string {
	reached := []string{"README.md"}
	for i := 0; i < len(reached); i++ {
		if path.Ext(reached[i]) != ".md" || !slices.Contains(all, reached[i]) {
			continue
		}
		for _, m := range links.FindAllStringSubmatch(read(reached[i]), -1) {
			to := path.Join(path.Dir(reached[i]), m[1])
			if path.Ext(to) == ".md" && !slices.Contains(reached, to) {
				reached = append(reached, to)
			}
		}
	}
	return reached
}

// The checker must see what it is there for.
func TestStraysAreSeen(t *testing.T) {
	tree := map[string]string{
		"README.md":                     "[a](docs/a.md)",
		"docs/a.md":                     "[b](b.md)",
		"docs/b.md":                     "",
		"docs/lost.md":                  "",
		"Makefile":                      "",
		"one.sh":                        "",
		"out.txt":                       "",
		"sim/world.go":                  "package sim",
		"sim/old.go":                    "//go:build ignore\n\npackage sim",
		"sim/linux.go":                  "//go:build linux\n\npackage sim",
		"sim/other.go":                  "//go:build !amd64 && !arm64\n\npackage sim",
		"sim/windows.go":                "//go:build linux && windows\n\npackage sim",
		"sim/tag.go":                    "//go:build mine\n\npackage sim",
		"sim/a_plan9.go":                "package sim",
		"sim/_under.go":                 "package sim",
		"scenarios/testdata/a/b.txtar":  "",
		"scenarios/testdata/a/b.txtar~": "",
	}
	var all []string
	for f := range tree {
		all = append(all, f)
	}
	slices.Sort(all)
	var got []string
	for _, complaint := range strays(all, func(f string) string { return tree[f] }) {
		f, _, _ := strings.Cut(strings.Replace(complaint, " is", ":", 1), ":")
		got = append(got, f)
	}
	want := "docs/lost.md one.sh out.txt scenarios/testdata/a/b.txtar~ sim/_under.go sim/a_plan9.go sim/old.go " +
		"sim/tag.go sim/windows.go"
	if strings.Join(got, " ") != want {
		t.Errorf("strays %v, want %s", got, want)
	}
}
