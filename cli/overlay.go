package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/overlay"
)

// overlayJSON is what overlay prints with --json.
type overlayJSON struct {
	Path string `json:"path"` // for go build -overlay
	Go   string `json:"go"`   // the version of the toolchain
	Root string `json:"root"` // its GOROOT
}

func overlayCommand(a *app) *cobra.Command {
	clean := false
	cmd := &cobra.Command{
		Use:   "overlay [DIR]",
		Short: "print the overlay that hosted programs are built with",
		Long: `Writes the overlay for the Go toolchain that builds the module in DIR ("." by default),
unless it exists, and prints its path for "go build -overlay". The overlay is a standard
library in which maps, selects, random numbers and timers depend on one seed inside a
bubble of testing/synctest. "threelaws check" makes it by itself.

A toolchain is recognized by the sha256 sums of the files that the overlay patches. The
overlay, and a copy of a toolchain in the module cache, are kept in the user's cache
folder (XDG_CACHE_HOME); --clean removes them.`,
		Example: "  threelaws overlay\n  go test -overlay \"$(threelaws overlay)\" ./...\n  threelaws overlay --clean",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cache, err := cacheDir()
			if err != nil {
				return err
			}
			if clean {
				return os.RemoveAll(cache)
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			t, err := overlay.In(cmd.Context(), dir)
			if err != nil {
				return usage("%s: %v", dir, err)
			}
			path, err := overlay.Make(&t, cache)
			if err != nil {
				return usage("%v", err)
			}
			if a.json {
				return a.encode(overlayJSON{path, t.Version, t.Root})
			}
			a.printf("%s\n", path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&clean, "clean", false, "remove every overlay and copied toolchain")
	return cmd
}

// cacheDir is the folder in which overlays, toolchains and built programs are kept.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", usage("there is no cache folder: %v; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "threelaws"), nil
}
