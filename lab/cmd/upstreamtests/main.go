// Command upstreamtests runs upstream's own integration tests against the simulated API server. It copies the tests
// from the module cache, replaces the start of their server, and compares the failures with known.txt. An argument is
// the name of a suite, such as "kubernetes/cronjob", or "kubernetes" for all below it. Run it in the directory lab.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

//go:embed external.go.txt
var external string

//go:embed known.txt
var known string

//go:embed page.md
var pageText string

func main() {
	update := flag.Bool("update", false, "write docs/evidence/upstream-tests.md after a run of all suites")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Args(), *update)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstreamtests:", err)
		os.Exit(1)
	}
}

// run runs the named suites, or all suites. A difference from the known failures is an error.
func run(ctx context.Context, args []string, update bool) error {
	root, err := filepath.Abs("..")
	chosen, names := []*suite{}, ""
	for _, s := range list() {
		names += " " + s.name
		if len(args) == 0 || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(s.name+"/", a+"/") }) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 || update && len(args) > 0 {
		return fmt.Errorf("want names of suites, or -update, which runs all suites:%s", names)
	}
	r := &runner{ctx, root, filepath.Join(root, "bin", "upstream-tests")}
	if _, buildErr := r.goCommand(root, "build", "-o", r.dir+"/threelaws", "./cmd/threelaws"); err != nil || buildErr != nil {
		return errors.Join(err, buildErr)
	}
	differences := 0
	for _, s := range chosen {
		began := time.Now()
		results, count := map[string]string{}, map[string]int{}
		version, err := r.prepare(s)
		if err == nil {
			err = r.test(s, results)
		}
		if err != nil { // another version of upstream may have moved or changed this suite only
			fmt.Printf("%s: %s\n", s.name, err)
			differences++
			continue
		}
		for _, got := range results {
			count[got]++
		}
		fmt.Printf("%s: %d passed, %d failed, %d skipped (%.0f s)\n", s.name, count["PASS"], count["FAIL"], count["SKIP"],
			time.Since(began).Seconds())
		pageText += fmt.Sprintf("| %s | %s %s | %d | %d | %d |\n", s.name, s.module, version, count["PASS"],
			count["FAIL"], count["SKIP"])
		differences += compare(s.name, results)
	}
	if update {
		pageText += "\n## Tests that fail\n\n| suite | test | cause | reason |\n|---|---|---|---|\n"
		pageText += "| " + strings.ReplaceAll(strings.TrimSpace(known), "\n", " |\n| ") + " |\n"
		err = os.WriteFile(root+"/docs/evidence/upstream-tests.md", []byte(pageText), 0o644)
	}
	if differences > 0 && err == nil {
		err = errors.New("differences from lab/cmd/upstreamtests/known.txt; the output of tests is in bin/upstream-tests/out")
	}
	return err
}

// compare prints the differences between the results of a suite and the known failures, and returns their number. A
// known failure is a line: SUITE | TEST | CAUSE | REASON. A test with the cause "timing" may pass.
func compare(suite string, results map[string]string) int {
	n := 0
	for line := range strings.Lines(known) {
		f := strings.Split(line, " | ")
		if f[0] != suite {
			continue
		}
		if got := results[f[1]]; got != "FAIL" && (got == "" || f[2] != "timing") {
			n++
			fmt.Printf("  %s: a known failure, but %s\n", f[1], cmp.Or(got, "there is no such test"))
		}
		delete(results, f[1])
	}
	for test, got := range results {
		if got == "FAIL" {
			n++
			fmt.Printf("  %s: FAIL, and not a known failure\n", test)
		}
	}
	return n
}

type runner struct {
	ctx       context.Context
	root, dir string // the directory of this module, and the directory for copies
}

// goCommand runs the go command and returns its output. The error of a failure is one line.
func (r *runner) goCommand(dir string, args ...string) ([]byte, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(r.ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), "GOWORK=off"), &stderr
	if args[0] == "test" { // the tests need modules that the copied go.mod lacks
		cmd.Env = append(cmd.Env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod")
	}
	out, err := cmd.Output()
	if m := message.FindString(string(out) + stderr.String()); m != "" && err != nil {
		return nil, fmt.Errorf("go %s %s: %s", args[0], args[len(args)-1], strings.TrimSpace(m))
	}
	return out, err
}

// prepare copies the tests of a suite into a module of their own, edits them, and returns the version of the upstream
// module.
func (r *runner) prepare(s *suite) (string, error) {
	const self = "github.com/threelaws/threelaws"
	from, to := filepath.Join(r.root, s.from), filepath.Join(r.dir, filepath.Base(s.module))
	out, err := r.goCommand(from, "mod", "download", "-json", s.module)
	if err != nil {
		return "", err
	}
	var m struct{ Dir, Version string }
	err = errors.Join(json.Unmarshal(out, &m), os.RemoveAll(to))
	edits := []string{"mod", "edit", "-module=" + copied[:len(copied)-1], "-dropreplace=" + self, "-droprequire=" + self}
	for _, f := range s.folders {
		if _, statErr := os.Stat(filepath.Join(m.Dir, f)); statErr != nil {
			return "", fmt.Errorf("%s %s has no folder %s", s.module, m.Version, f)
		}
		err = errors.Join(err, os.CopyFS(filepath.Join(to, f), os.DirFS(filepath.Join(m.Dir, f))))
	}
	if len(s.folders) == 0 { // a whole module keeps its requirements, except for those of Kubernetes
		out, listErr := r.goCommand(from, "list", "-m", "-f", "-require={{.Path}}@{{.Version}}", "k8s.io/api",
			"k8s.io/apiextensions-apiserver", "k8s.io/apimachinery", "k8s.io/apiserver", "k8s.io/client-go")
		err = errors.Join(err, os.CopyFS(to, os.DirFS(m.Dir)), listErr)
		edits = append(edits[:2], strings.Fields(string(out))...)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, readErr := os.ReadFile(filepath.Join(from, name))
		own, ownErr := os.ReadFile(filepath.Join(to, name))
		if name == "go.sum" || ownErr != nil {
			err = errors.Join(err, readErr, os.WriteFile(filepath.Join(to, name), append(own, text...), 0o644))
		}
	}
	replacer := strings.NewReplacer(s.edits...)
	err = errors.Join(err, filepath.Walk(to, func(name string, _ os.FileInfo, err error) error {
		if err != nil || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".sh" {
			return err
		}
		text, err := os.ReadFile(name)
		text = []byte(replacer.Replace(string(text)))
		return errors.Join(err, os.WriteFile(name, text, 0), os.Chmod(name, 0o755)) // the cache has no executable files
	}))
	for _, h := range s.hooks {
		text := []byte(strings.Replace(external, "PACKAGE", filepath.Base(h), 1))
		err = errors.Join(err, os.WriteFile(filepath.Join(to, h, "external.go"), text, 0o644))
	}
	if err == nil {
		_, err = r.goCommand(to, edits...)
	}
	return m.Version, err
}

var (
	outcome = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+)`)
	listed  = regexp.MustCompile(`(?m)^Test\w+$`)
	message = regexp.MustCompile(`(?m)^\s*("Error": .*|go: [^d].*|g[^o].*|[^\s#{}"g].*)$`) // an error of the go command
	states  = map[string]string{"passed": "PASS", "skipped": "SKIP", "pending": "SKIP"}
	entry   = regexp.MustCompile(`=== RUN   (\w+)\nRunning Suite`)
)

// test compiles and runs the copied tests of a suite, stores their results (PASS, FAIL or SKIP), and removes the copy.
// Each test has its own process, so that a panic does not end the others. Ginkgo's specs share a process.
func (r *runner) test(s *suite, results map[string]string) error {
	module := filepath.Join(r.dir, filepath.Base(s.module))
	defer os.RemoveAll(module)
	dir := filepath.Join(module, s.pkg)
	binary, report := filepath.Join(dir, filepath.Base(dir)+".test"), filepath.Join(dir, "report.json")
	if _, err := r.goCommand(module, "test", "-c", "-o", binary, "./"+s.pkg); err != nil {
		return err
	}
	names, flags := []string{"Test.*"}, []string{"-test.timeout=20m", "-ginkgo.json-report=" + report}
	if !s.ginkgo {
		list, err := r.output(s, "", binary, "-test.list=^Test")
		if err != nil {
			return err
		}
		names, flags = listed.FindAllString(list, -1), []string{"-test.timeout=2m"}
	}
	for _, name := range names {
		text, err := r.output(s, "-"+name, binary, append(flags, "-test.v", "-test.run=^"+name+"$")...)
		if err != nil {
			return err
		}
		results[name] = "FAIL" // stays if the test panics, which prints no result
		for _, m := range outcome.FindAllStringSubmatch(text, -1) {
			results[m[2]] = m[1]
		}
		for _, m := range entry.FindAllStringSubmatch(text, -1) {
			delete(results, m[1]) // this test only starts Ginkgo's specs, which have their own results
		}
	}
	if s.ginkgo {
		delete(results, names[0])
		return specs(report, results)
	}
	return nil
}

// output runs a program and returns its output, also of a program that fails. It keeps the output in a file, and ends
// all processes of the program's group.
func (r *runner) output(s *suite, test, program string, args ...string) (string, error) {
	var text strings.Builder
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(program), &text, &text
	cmd.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "SERVE="+r.dir+"/threelaws serve --listen 127.0.0.1:0 "+
		"--external-controllers --start namespaces,service,priority-classes "+s.flags)
	cmd.WaitDelay = time.Second // a server that outlives the test keeps the output open
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return "", err
	}
	cmd.Wait() // the output says what failed
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	file := filepath.Join(r.dir, "out", strings.ReplaceAll(s.name, "/", "-")+test+".txt")
	return text.String(), errors.Join(r.ctx.Err(), os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte(text.String()), 0o644))
}

// specs adds the results of Ginkgo's specs.
func specs(report string, results map[string]string) error {
	type spec struct {
		ContainerHierarchyTexts           []string
		LeafNodeText, LeafNodeType, State string
	}
	reports := make([]struct{ SpecReports []spec }, 1)
	data, err := os.ReadFile(report) // a process that panics writes no report
	if err == nil {
		err = json.Unmarshal(data, &reports)
	}
	for _, s := range reports[0].SpecReports {
		name := strings.Join(append(s.ContainerHierarchyTexts, s.LeafNodeText), " ")
		if got := cmp.Or(states[s.State], "FAIL"); s.LeafNodeType == "It" || got == "FAIL" {
			results[strings.TrimPrefix(s.LeafNodeType+" "+name, "It ")] = got
		}
	}
	return err
}
