package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/scenarios"
)

// fewest is the minimal number of schedules of a case without --schedules. With fewer, the case counts as cut short.
const fewest = 5

func (c *checking) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	c.found(fl)
	fl.StringVar(&c.Test, "test", "", "host this test of the package instead of a main; it must call agent.Test")
	fl.StringVar(&c.Settled, "settled", "", "the unix socket on which the test judges settled clusters; agent.Test sets it")
	fl.StringArrayVar(&c.Env, "env", nil, "NAME=value in the operator's environment; may be repeated")
	fl.StringSliceVar(&c.With, "with", nil, "files with further objects that exist in every cluster")
	fl.StringArrayVar(&c.Edits, "edit", nil, "a merge patch of the sample to try, such as '{spec: {replicas: 3}}'; may be repeated")
	fl.BoolVar(&c.Strict, "strict", false, "labels and annotations that users add to dependents must stay")
	fl.StringArrayVar(&c.skips, "skip", nil, "a case or a law to leave out, as NAME=REASON; may be repeated")
	fl.StringArrayVar(&c.accepts, "accept", nil,
		"a known violation, such as '{law: exact-sum, case: orphan, object: svc/web, reason: ...}'; may be repeated")
	fl.DurationVar(&c.Time, "time", 0, "time limit for all samples and cases together; building the operator does not count "+
		"(default 3m, and up to 6m if several samples have dependents)")
	fl.DurationVar(&c.For, "for", 0, "the simulated time after which each cluster ends; by default it ends when it settles, or "+
		"after the third tick of an operator that works at fixed intervals")
	fl.IntVarP(&c.Schedules, "schedules", "n", 0,
		"number of schedules in each case, without the default of --time; 0 for as many as --time allows")
	fl.Uint64Var(&c.Seed, "seed", 1, "the seed of the choices")
	fl.StringVar(&c.faults, "faults", "",
		"number of faults of each name in a run, such as crash:1,relist:2; replaces the faults of the cases; none for no faults")
	fl.IntVar(&c.Workers, "workers", 0, "number of runs at a time; 0 means one for each core")
	fl.IntVar(&c.Budget, "budget", 100, "number of runs for minimizing a violation, which also ends after an eighth of the remaining time")
	fl.StringSliceVar(&c.cases, "case", nil, "try only these cases, such as faults")
	fl.IntVar(&c.twice, "twice", 64, "run one in this many schedules of a case twice, and compare; 1 for every schedule")
	fl.StringVar(&c.replay, "replay", "", "run only this failure file")
	fl.BoolVarP(&c.verbose, "verbose", "v", false, "print each timeline and log in full, and the progress of a case every 10 seconds")
	fl.StringVarP(&c.output, "output", "o", "text", "text, json, or json-lines: one line for each case and law, as soon as it is known")
	c.sharding.flags(cmd)
	c.checks.flags(cmd)
	cmd.ValidArgsFunction = completeDirs
	complete(cmd, "output", completeWords("text", "json", "json-lines"))
	complete(cmd, "case", completeWords(check.Names...))
	complete(cmd, "faults", completeList(append(faultWords(), "none")))
}

func (s *settings) found(fl *pflag.FlagSet) {
	fl.StringVar(&s.Install, "install", "",
		"the install manifests: a kustomization, a chart, a folder or a file of YAML; none for no manifests")
	fl.StringVar(&s.Workload, "workload", "", "the name of the workload that runs the operator")
	fl.StringArrayVar(&s.Args, "args", nil, "arguments of the operator, which replace the arguments of its workload")
	fl.StringSliceVar(&s.CRDs, "crds", nil, "files and folders with CustomResourceDefinitions")
	fl.StringSliceVar(&s.Samples, "sample", nil, "files with samples of the kinds that the operator reconciles")
}

// settle reads threelaws.yaml and the flags, and checks the values. Flags have precedence over the file.
func (c *checking) settle(cmd *cobra.Command) error {
	c.Dir = repository()
	given := func(name string) bool { return cmd.Flags().Changed(name) }
	c.selects = selecting(cmd.Flags())
	if c.Test == "" { // a test has its settings in its agent.Subject
		if err := c.readFile(given); err != nil {
			return err
		}
	}
	if err := oneOf("output", c.output, "text", "json", "json-lines"); err != nil {
		return err
	}
	for _, name := range c.cases {
		if err := aCase(name); err != nil {
			return err
		}
	}
	if err := c.known(given); err != nil {
		return err
	}
	if err := c.sharding.check(); err != nil {
		return err
	}
	c.lines = c.output == "json-lines"
	c.json = c.json || c.output == "json" || c.lines
	if given("args") {
		c.Args = strings.Fields(strings.Join(c.Args, " "))
		if i := slices.IndexFunc(c.Args, halfQuoted); i >= 0 {
			return usage("--args: %s: arguments are separated by spaces, and quotes do not join them: list the arguments under "+
				"args in %s", c.Args[i], settingsFile)
		}
	}
	for _, v := range c.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return usage("--env %s: write NAME=value", v)
		}
	}
	if c.replay != "" && !onDisk(c.replay) {
		return usage("--replay %s: no such file", c.replay)
	}
	switch {
	case c.Time < 0 || c.Time == 0 && given("time"):
		return usage("--time=%s: schedules need some time", c.Time)
	case c.For < 0:
		return usage("--for=%s: at least 0", c.For)
	case c.Schedules < 0:
		return usage("--schedules=%d: at least 0", c.Schedules)
	case c.twice < 1:
		return usage("--twice=%d: at least 1", c.twice)
	case c.Budget < 1:
		return usage("--budget=%d: at least 1", c.Budget)
	case c.Workers < 0:
		return usage("--workers=%d: at least 0", c.Workers)
	}
	if c.flexible = c.Time == 0; c.flexible {
		c.Time = 3 * time.Minute
	}
	if c.set = c.faults != ""; c.set && c.faults != "none" {
		var what string
		if c.Faults, what = scenarios.ParseFaults(c.faults); what != "" {
			return usage("--faults: %s", what)
		}
	}
	for _, list := range [][]string{c.CRDs, c.Samples, c.With} {
		for _, path := range list {
			if _, err := os.Stat(path); err != nil {
				return missing(path, err, nil)
			}
		}
	}
	return nil
}

// selecting returns the given flags that select the operator, its cluster and its laws, as words of a shell. A replay
// without them would run another operator.
func selecting(fl *pflag.FlagSet) string {
	var words strings.Builder
	for _, name := range []string{"install", "workload", "args", "env", "crds", "sample", "with", "edit", "strict", "for"} {
		f := fl.Lookup(name)
		if !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			words.WriteString(" --" + name + "=" + quoted(value))
		}
	}
	return words.String()
}

func (c *checking) known(given func(name string) bool) error {
	if given("accept") {
		c.Accept = nil
	}
	for _, text := range c.accepts {
		a := &accepted{}
		if err := yaml.Unmarshal([]byte(text), a); err != nil {
			return usage("--accept: %s", decodeError(err))
		}
		if err := a.Check(); err != nil { // UnmarshalYAML has already called Check, except for an empty text
			return usage("--accept: %v", err)
		}
		a.line = 0
		c.Accept = append(c.Accept, a)
	}
	if given("skip") {
		c.Skip = map[string]string{}
	}
	for _, text := range c.skips {
		name, reason, _ := strings.Cut(text, "=")
		c.Skip[name] = reason
	}
	if m := (*check.Mistake)(nil); errors.As(check.CheckSkip(c.Skip), &m) {
		return usage("--skip: %s", m.Text)
	}
	return nil
}

// repository returns the relative path of the nearest directory with a go.mod: the working directory or one of its
// parents. If there is none, it returns ".".
func repository() string {
	at, err := filepath.Abs(".")
	for dir := "."; err == nil; dir = filepath.Join(dir, "..") {
		if onDisk(filepath.Join(dir, "go.mod")) {
			return dir
		}
		if filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	return "."
}

func (c *checking) fields() map[string]any {
	return map[string]any{"package": &c.Package, "install": &c.Install, "workload": &c.Workload, "args": &c.Args,
		"env": &c.Env, "crds": &c.CRDs, "sample": &c.Samples, "with": &c.With, "time": &c.Time, "for": &c.For,
		"schedules": &c.Schedules, "seed": &c.Seed, "faults": &c.faults, "workers": &c.Workers, "budget": &c.Budget,
		"twice": &c.twice, "accept": &c.Accept, "skip": &c.Skip, "edit": &c.Edits, "strict": &c.Strict}
}

// readFile reads threelaws.yaml, if the file exists. Paths in it are relative to the file's directory.
func (c *checking) readFile(given func(name string) bool) error {
	path := filepath.Join(c.Dir, settingsFile)
	wrong := func(line int, text string) error {
		return &scenarios.Error{File: path, Line: line, Text: text, Code: scenarios.ExitUsage}
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return missing(path, err, nil)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return wrong(0, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root, fields := doc.Content[0], c.fields()
	if root.Kind != yaml.MappingNode {
		return wrong(root.Line, "the settings are a mapping, as time: 5m")
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		into, known := fields[key.Value]
		if !known {
			return wrong(key.Line, "unknown field "+key.Value+suggest(key.Value, names))
		}
		if _, again := seen[key.Value]; again {
			return wrong(key.Line, "field "+key.Value+" is given twice")
		}
		seen[key.Value] = key.Line
		if given(key.Value) || key.Value == "package" && c.packaged {
			continue
		}
		if list, ok := into.(*[]string); ok && value.Kind != yaml.SequenceNode {
			value = listed(value)
			*list = nil
		}
		if err := value.Decode(into); err != nil {
			text := decodeError(err)
			if _, time := into.(*time.Duration); time {
				text = value.Value + " is no duration, such as 5m"
			}
			return wrong(value.Line, key.Value+": "+text)
		}
	}
	for name, list := range map[string][]string{"crds": c.CRDs, "sample": c.Samples, "with": c.With} {
		if seen[name] > 0 && !given(name) {
			for i := range list {
				list[i] = c.from(list[i])
			}
		}
	}
	if seen["package"] > 0 && strings.HasPrefix(c.Package, ".") && c.Dir != "." && !c.packaged {
		c.Package = c.from(c.Package)
	}
	if seen["install"] > 0 && !given("install") && c.Install != "none" {
		c.Install = c.from(c.Install)
	}
	return nil
}

// listed converts a scalar to a list with one item, or a mapping to a list of NAME=value.
func listed(n *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line}
	if n.Kind != yaml.MappingNode {
		list.Content = []*yaml.Node{n}
		return list
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Line: n.Content[i].Line,
			Value: n.Content[i].Value + "=" + n.Content[i+1].Value})
	}
	return list
}

func (c *checking) from(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// decodeError removes the YAML library's prefixes from an error.
func decodeError(err error) string {
	text := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: unmarshal errors:")
	if _, rest, ok := strings.Cut(text, ": "); ok && strings.Contains(text, "line ") {
		text = rest
	}
	return strings.TrimSpace(text)
}

func acceptedAs(all []*accepted, in string, f *scenarios.Counterexample) *accepted {
	for _, a := range all {
		if a.Is(in, f) {
			a.met = true
			return a
		}
	}
	return nil
}

// halfQuoted reports whether one of an argument's quotes is missing.
func halfQuoted(arg string) bool {
	return strings.Count(arg, `"`)%2 == 1 || strings.Count(arg, "'")%2 == 1
}
