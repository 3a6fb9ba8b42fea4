package campaign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Merge holds the merged results of several worlds.
type Merge struct {
	Results []*Result // sorted by world
	Cut     []string  // one line for each file whose last record is incomplete
}

// ReadFile adds the results in a file. An incomplete last record is not an error; Cut then names the file.
func (m *Merge) ReadFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var at *Result
	_, err = scan(path, f, func(h *Head) error {
		at, err = m.world(h)
		return err
	}, func(r *Record) error {
		r.Resume = nil
		if err := at.Add(r); err != nil {
			return fmt.Errorf("%s: overlaps with another result of %s: %w", path, at.World, err)
		}
		return nil
	})
	if cut := (*cutOff)(nil); errors.As(err, &cut) {
		m.Cut = append(m.Cut, fmt.Sprintf("%v: the records before it count", cut))
		return nil
	}
	return err
}

// world returns the result of the world in h, and adds one for a new world. Different heads of one world are an error.
func (m *Merge) world(h *Head) (*Result, error) {
	i, found := slices.BinarySearchFunc(m.Results, h.World, func(r *Result, name string) int {
		return bytes.Compare([]byte(r.World), []byte(name))
	})
	if !found {
		m.Results = slices.Insert(m.Results, i, &Result{Head: *h})
		return m.Results[i], nil
	}
	if why := m.Results[i].differs(h); why != "" {
		return nil, errors.New(why)
	}
	return m.Results[i], nil
}

// differs returns why results with these two heads cannot be merged, or "".
func (h *Head) differs(g *Head) string {
	switch {
	case *h == *g:
		return ""
	case h.World != g.World || h.Hash != g.Hash:
		return fmt.Sprintf("result of another world: %s has the hash %.8s here and %.8s elsewhere", g.World, g.Hash, h.Hash)
	case h.Settings != g.Settings:
		return fmt.Sprintf("result of %s with other settings: %s here, %s elsewhere", g.World, g.Settings, h.Settings)
	}
	return fmt.Sprintf("result of %s with %d in all, elsewhere %d", g.World, g.Total, h.Total)
}

// cutOff is the error for an incomplete last line.
type cutOff struct{ where string }

func (c *cutOff) Error() string { return c.where + ": the last record is cut off" }

const beginning = `{"threelaws"`

// isCut reports whether an incomplete first line is the beginning of a [Head].
func isCut(line []byte) bool {
	return bytes.HasPrefix(line, []byte(beginning)) || bytes.HasPrefix([]byte(beginning), line)
}

// scan reads a result file, and calls head or record for each line. It returns the number of bytes in complete lines.
func scan(path string, from io.Reader, head func(*Head) error, record func(*Record) error) (whole int64, err error) {
	in := bufio.NewReaderSize(from, 1<<16)
	began, of := false, Head{}
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		where := fmt.Sprintf("%s:%d", path, n)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && began:
			return whole, nil
		case errors.Is(err, io.EOF) && (began || isCut(line)):
			return whole, &cutOff{where}
		case err != nil && !errors.Is(err, io.EOF):
			return whole, err
		}
		var is struct {
			Format  string `json:"threelaws"`
			Version int    `json:"version"`
		}
		switch {
		case bytes.HasPrefix(line, []byte(beginning)):
			var h Head
			if err := json.Unmarshal(line, &is); err != nil || is.Format != "results" {
				return whole, fmt.Errorf("%s: this is not a result of threelaws", where)
			}
			if is.Version != Version {
				return whole, fmt.Errorf("%s: a result of version %d: this threelaws reads version %d", where, is.Version, Version)
			}
			if err := json.Unmarshal(line, &h); err != nil {
				return whole, fmt.Errorf("%s: %w", where, err)
			}
			began, of = true, h
			if err := head(&h); err != nil {
				return whole, fmt.Errorf("%s: %w", where, err)
			}
		case !began:
			return whole, fmt.Errorf("%s: this is not a result of threelaws", where)
		default:
			var r Record
			if err := json.Unmarshal(line, &r); err != nil {
				return whole, fmt.Errorf("%s: this is not a record: %w", where, err)
			}
			if why := r.wrong(&of); why != "" {
				return whole, fmt.Errorf("%s: this is not a record: %s", where, why)
			}
			if err := record(&r); err != nil {
				return whole, err
			}
		}
		whole += int64(len(line))
	}
}

// wrong returns why a record cannot belong to a result with this head, or "".
func (r *Record) wrong(h *Head) string {
	n := 0
	for _, x := range r.Ranges {
		if x[0] < 0 || x[1] < x[0] || x[1] > h.Total {
			return fmt.Sprintf("%v is not a range within %d", x, h.Total)
		}
		n += x[1] - x[0]
	}
	if h.Shards > 0 { // an exhaustive search
		return ""
	}
	if m := r.Counts["schedules"]; m != n {
		return fmt.Sprintf("it counts %d schedules, its ranges have %d", m, n)
	}
	for law, m := range r.Laws {
		if m < 0 || m > n {
			return fmt.Sprintf("%d of its %d schedules violate %s", m, n, law)
		}
	}
	return ""
}
