package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// kubeconfig is a configuration of kubectl with this server as its only one.
func kubeconfig(url string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: threelaws
  cluster:
    server: %s
contexts:
- name: threelaws
  context:
    cluster: threelaws
    user: threelaws
current-context: threelaws
users:
- name: threelaws
  user: {}
`, url)
}

// writeWhole replaces a file, or leaves it as it is.
func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".threelaws-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// nameLetters are what the real server makes names of: no vowels, no words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// randomName makes a name for a prefix, as the real server does.
func randomName(prefix string, _ int) string {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = nameLetters[rand.IntN(len(nameLetters))]
	}
	return prefix + string(suffix)
}
