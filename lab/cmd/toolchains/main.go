// Command toolchains writes internal/overlay/sums.txt: the checksums of the files that the overlay patches. The
// arguments name Go releases ("go1.26.8 go1.27.1"). Without arguments, it takes all releases of 1.25 to 1.27 on the
// module proxy. It adds a release only if every patch fits. Before you commit the checksums of a new minor version, run
// the tests of internal/agent with that version.
//
//	go run -C lab ./cmd/toolchains
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/overlay"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "toolchains:", err)
		os.Exit(1)
	}
}

const module = "golang.org/toolchain"

// released matches the releases that the patches support.
var released = regexp.MustCompile(`^v0\.0\.1-(go1\.2[567]\.\d+)\.linux-amd64$`)

func run(versions []string) error {
	if len(versions) == 0 {
		out, err := exec.Command("go", "list", "-m", "-versions", "-f", "{{join .Versions \"\\n\"}}", module).Output()
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			if m := released.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				versions = append(versions, m[1])
			}
		}
	}
	var known []string
	sums := map[string][]string{}
	for _, v := range versions {
		lines, err := try(v)
		if err != nil {
			fmt.Fprintln(os.Stderr, "toolchains:", err)
			continue
		}
		known = append(known, v)
		for _, line := range lines {
			file, sum, _ := strings.Cut(line, " ")
			if !slices.Contains(sums[file], sum) {
				sums[file] = append(sums[file], sum)
			}
		}
	}
	if len(known) == 0 {
		return errors.New("no release fits")
	}
	text := "versions " + strings.Join(known, " ") + "\n"
	for _, file := range slices.Sorted(maps.Keys(sums)) {
		text += file + " " + strings.Join(sums[file], " ") + "\n"
	}
	return os.WriteFile(filepath.Join("..", "internal", "overlay", "sums.txt"), []byte(text), 0o644)
}

// try downloads a release and returns its lines for sums.txt.
func try(version string) ([]string, error) {
	dir, err := os.MkdirTemp("", "toolchains")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "mod", "download", "-json", module+"@v0.0.1-"+version+".linux-amd64")
	cmd.Env = append(os.Environ(), "GOMODCACHE="+dir, "GOFLAGS=-modcacherw")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", version, err)
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return nil, fmt.Errorf("%s: %w", version, err)
	}
	return overlay.Sums(overlay.Toolchain{Root: got.Dir, Version: version})
}
