package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that is replaced can be read by whom it could be read before, anybody when
// it is new; a link to it stays a link, and what is no file is not replaced by one.
func TestWriteWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path string) {
		t.Helper()
		if err := writeWhole(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("secret", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("secret", "link"); err != nil {
		t.Skip("this file system has no links, so that there is none to keep: ", err)
	}
	write("link")
	write("fresh")
	for path, want := range map[string]os.FileMode{"secret": 0o600, "fresh": 0o644} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want || read(t, path) != "new" {
			t.Errorf("%s: %v %v", path, st, err)
		}
	}
	if to, err := os.Readlink("link"); to != "secret" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
	if err := os.Symlink(os.DevNull, "null"); err != nil {
		t.Fatal(err)
	}
	write("null")
	if st, err := os.Stat("null"); err != nil || st.Mode().IsRegular() {
		t.Errorf("the device is replaced: %v %v", st, err)
	}
	if left, _ := filepath.Glob(".threelaws-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
