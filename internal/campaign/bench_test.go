package campaign

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMerge merges 20 result files of about 1 MB. Each has 90,000 distinct random schedules in three lines.
func BenchmarkMerge(b *testing.B) {
	const files, schedules, lines = 20, 90_000, 3
	dir := b.TempDir()
	random := rand.New(rand.NewPCG(1, 1))
	wide := head
	wide.Total = files * schedules
	var paths []string
	for i := range files {
		s := Shard{I: i, N: files}
		from, _ := s.Range(wide.Total)
		var records []*Record
		for j := range lines {
			hashes := make([]uint64, schedules/lines)
			for k := range hashes {
				hashes[k] = random.Uint64()
			}
			start := from + j*len(hashes)
			r := &Record{Ranges: [][2]int{{start, start + len(hashes)}}, Counts: map[string]int{"schedules": len(hashes)},
				Outcomes: map[string]int{fmt.Sprint("outcome ", j): len(hashes)}}
			r.Seen.Add(hashes)
			records = append(records, r)
		}
		paths = append(paths, write(b, dir, wide, s, records...))
	}
	for b.Loop() {
		merged(b, paths...)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*files)*1000, "ms/file")
}
