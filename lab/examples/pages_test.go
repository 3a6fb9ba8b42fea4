package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// Every Go sample on the pages about reconcilers compiles in a fresh module. It finds the bug of the tutorial, or runs
// to its end. The text in testdata comes before a sample: the imports, and the operator of the page's reader.
func TestSamplesOfPages(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("a fresh module is compiled: with SOAK in the environment only")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples/memcached"))); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const module = "github.com/threelaws/threelaws"
	write("go.mod", read("examples/memcached/go.mod")+"\nrequire "+module+" v0.0.0\nrequire "+module+"/controllerruntime v0.0.0\n"+
		"replace "+module+" => "+root+"\nreplace "+module+"/controllerruntime => "+root+"/controllerruntime\n")
	write("go.sum", read("controllerruntime/go.sum")+read("examples/memcached/go.sum"))
	samples := goBlock.FindAllStringSubmatch(read("docs/use/conformance-test.md")+read("docs/use/controller-runtime.md"), -1)
	if len(samples) != 4 {
		t.Fatalf("%d samples", len(samples))
	}
	for i, frame := range []struct{ before, after string }{{}, {}, {}, {"var _ = simtest.Case{\n", "}\n"}} {
		write("page_test.go", read("lab/examples/testdata/frame.go.txt")+frame.before+samples[i][1]+frame.after)
		cmd := exec.Command("go", "test", "-mod=mod", "-vet=off", ".", "-threelaws.schedules=10")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		found := regexp.MustCompile(`VIOLATES|violated: `).Match(out)
		t.Logf("sample %d: finds the bug: %v", i+1, found)
		if err != nil && !found || regexp.MustCompile(`build failed|two runs`).Match(out) {
			t.Errorf("sample %d: %v\n%s", i+1, err, out)
		}
	}
}
