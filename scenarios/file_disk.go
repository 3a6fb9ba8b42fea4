package scenarios

import (
	"errors"
	"os"
	"path/filepath"
)

// readFile reads a file up to [MaxSize].
func readFile(path string) ([]byte, error) {
	if st, err := os.Stat(path); err == nil && st.Size() > MaxSize {
		return nil, wrong(path, 0, "", "the file is too large: %d bytes, at most %d are read", st.Size(), MaxSize)
	}
	data, err := os.ReadFile(path)
	var pe *os.PathError
	if errors.As(err, &pe) {
		return nil, wrong(path, 0, "", "cannot be read: %v", pe.Err)
	}
	return data, err
}

// writeFile replaces a file atomically: readers see the old content or the new.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	_, err = f.Write(data)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
