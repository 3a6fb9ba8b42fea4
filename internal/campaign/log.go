package campaign

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Extension is the extension of result files.
const Extension = ".jsonl"

// Log is the open result file of one shard.
type Log struct {
	Path string
	Result
	Continued bool // the file existed when it was opened

	file *os.File
	size int64 // the size of the file, unless another process has written to it
}

// Open opens the result file of a shard in dir, and creates dir if necessary. If the file exists, the shard continues.
// Then Open calls each for every existing record, and removes an incomplete last record.
func Open(dir string, h Head, s Shard, each func(*Record) error) (*Log, error) {
	h.Format, h.Version = "results", Version
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	name := strings.NewReplacer("/", "+", "\\", "+", " ", "_").Replace(h.World)
	if strings.HasPrefix(name, ".") {
		name = "_" + name // shells and uploads of CI artifacts leave out hidden files
	}
	l := &Log{Path: filepath.Join(dir, fmt.Sprintf("%s-%dof%d%s", name, s.I, s.Of(), Extension)), Result: Result{Head: h}}
	var err error
	if l.file, err = os.OpenFile(l.Path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if info, e := l.file.Stat(); e == nil && info.Mode().IsRegular() && info.Size() > 0 {
		err = l.read(each)
	}
	if err == nil && !l.Continued {
		err = l.line(h)
	}
	if err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

func (l *Log) read(each func(*Record) error) error {
	whole, err := scan(l.Path, l.file, func(h *Head) error {
		if why := l.differs(h); why != "" {
			return fmt.Errorf("%s: name another folder with --results, or remove the file", why)
		}
		l.Continued = true
		return nil
	}, func(r *Record) error {
		if err := l.Add(r); err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
		return each(r)
	})
	if cut := (*cutOff)(nil); err != nil && !errors.As(err, &cut) {
		return err
	}
	l.size = whole
	return l.file.Truncate(whole)
}

// Append writes a record to the file and adds it to the result. It returns an error if another process has written to
// the file. For example, the Pod of a lost node can still run when its replacement has started.
func (l *Log) Append(r *Record) error {
	if err := l.Add(r); err != nil {
		return err
	}
	return l.line(r)
}

func (l *Log) line(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() != l.size {
		err = fmt.Errorf("%s: another process works on this shard, and has written to the file", l.Path)
	}
	if err != nil {
		return err
	}
	n, err := l.file.Write(append(data, '\n'))
	l.size += int64(n)
	if err != nil {
		return err
	}
	return l.file.Sync()
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
