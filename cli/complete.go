package cli

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// What a shell offers behind a word that is begun. cobra takes these functions
// by flag, and one for a command's arguments.

// completing is what cobra asks for what may come next.
type completing = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeWords offers words.
func completeWords(words ...string) completing {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return beginning(words, "", begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeList offers words for a list with commas, each of them once.
func completeList(words []string) completing {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		done := begun[:strings.LastIndex(begun, ",")+1]
		named := strings.Split(done, ",")
		left := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(named, w) })
		return beginning(left, done, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFiles offers scenario files of the disk and of the library, a directory
// or a family at a time, for a command that takes so many; any number for 0.
func completeFiles(s *shelf, most int) completing {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offered := append(filesBeginning(begun), beginning(s.stage(strings.Contains(begun, "/")), "", begun)...)
		goesOn := func(name string) bool { return strings.HasSuffix(name, "/") }
		if slices.ContainsFunc(offered, goesOn) {
			return offered, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// stage lists the families of the library, or what is in them.
func (s *shelf) stage(within bool) []string {
	var words []string
	for _, w := range s.words() {
		switch {
		case strings.Contains(w, "/") == within:
			words = append(words, w)
		case !within:
			words = append(words, path.Dir(w)+"/")
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return !within && slices.Contains(words, w+"/") })
}

// filesBeginning lists the scenario files and the directories of the disk whose
// paths begin as typed.
func filesBeginning(begun string) []string {
	dir, name := filepath.Split(begun)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	var fit []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		switch {
		case hidden || !strings.HasPrefix(e.Name(), name):
		case e.IsDir():
			fit = append(fit, dir+e.Name()+"/")
		case strings.HasSuffix(e.Name(), extension):
			fit = append(fit, dir+e.Name())
		}
	}
	return fit
}

// completeDirs lets the shell offer directories.
func completeDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// beginning lists the words that begin as typed, each behind what stands before it.
func beginning(words []string, before, begun string) []string {
	var fit []string
	for _, w := range words {
		if strings.HasPrefix(before+w, begun) {
			fit = append(fit, before+w)
		}
	}
	slices.Sort(fit)
	return slices.Compact(fit)
}

// complete tells what the values of a flag may be.
func complete(cmd *cobra.Command, flag string, with completing) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err) // there is no such flag, or it has them already
	}
}

// controllerWords are what a file may call a controller.
func controllerWords(g *scenarios.Registry) []string {
	var words []string
	for _, c := range g.Controllers {
		words = append(words, c.Name)
		if c.Era != "" {
			words = append(words, c.Name+"@"+c.Era)
		}
	}
	for alias := range g.Aliases {
		words = append(words, alias)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// faultWords are the faults, each as often as a run usually has it.
func faultWords() []string {
	var words []string
	for _, name := range host.FaultNames {
		words = append(words, name+":1")
	}
	return words
}

// verbNames are the verbs of scenario files.
func verbNames() []string {
	var names []string
	for _, v := range scenarios.Verbs() {
		names = append(names, v.Name)
	}
	return names
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}
