package audit_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/threelaws/threelaws/internal/audit"
)

// generated repeats the lines of a recorded log. In each round, the namespace, the UIDs and the names are different,
// the times are later, and the resource versions are higher.
type generated struct {
	story [][]byte
	round int
	at    int
	left  int64
	buf   bytes.Buffer
}

func newGenerated(t testing.TB, size int64, files ...string) *generated {
	t.Helper()
	g := &generated{left: size}
	for _, name := range files {
		g.story = append(g.story, bytes.SplitAfter(unzipped(t, name), []byte("\n"))...)
	}
	return g
}

func unzipped(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (g *generated) Read(p []byte) (int, error) {
	for g.buf.Len() == 0 {
		if g.left <= 0 {
			return 0, io.EOF
		}
		line := g.again(g.story[g.at])
		g.left -= int64(len(line))
		g.buf.Write(line)
		if g.at++; g.at == len(g.story) {
			g.at, g.round = 0, g.round+1
		}
	}
	return g.buf.Read(p)
}

// again rewrites a line for the current round.
func (g *generated) again(line []byte) []byte {
	out := bytes.ReplaceAll(line, []byte(`"namespace":"t`), fmt.Appendf(nil, `"namespace":"r%dt`, g.round))
	out = bytes.ReplaceAll(out, []byte(`"resourceVersion":"`), fmt.Appendf(nil, `"resourceVersion":"%d`, g.round+1))
	out = bytes.ReplaceAll(out, []byte(`"uid":"`), fmt.Appendf(nil, `"uid":"%d-`, g.round))
	hour := time.Date(2026, 11, 21, 19, 0, 0, 0, time.UTC).Add(time.Duration(g.round) * time.Hour)
	return bytes.ReplaceAll(out, []byte("2026-11-21T19:"), []byte(hour.Format("2006-01-02T15:")))
}

// A log that is ten times as long needs no more memory. With SOAK=1, the log is a hundred times as long.
func TestMemoryIsFlat(t *testing.T) {
	least, most := int64(10), int64(100)
	if os.Getenv("SOAK") != "" {
		most = 1000
	}
	small, large := heapAfter(t, least<<20), heapAfter(t, most<<20)
	t.Logf("live heap: %.1f MB after %d MB, %.1f MB after %d MB", float64(small)/1e6, least, float64(large)/1e6, most)
	if float64(large) > 1.5*float64(small)+4e6 {
		t.Errorf("the live heap is %d bytes after %d MB of log and %d after %d MB", small, least, large, most)
	}
}

func heapAfter(t *testing.T, size int64) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := audit.NewSource()
	if err := s.Add("log", newGenerated(t, size, "clean-rollout", "job-run")); err != nil {
		t.Fatal(err)
	}
	a := run(t, options(), s)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if r := a.Report(s); r.Judged == 0 {
		t.Fatal("nothing was judged")
	}
	runtime.KeepAlive(a)
	return max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
}
