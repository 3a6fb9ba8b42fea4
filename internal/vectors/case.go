// Package vectors reads cases that were recorded from a real cluster, and compares the responses of a server with them.
// In the recorded responses, values that differ between servers are placeholders. fakeapi/testdata/vectors/README.md
// describes the format. Only tests use the package.
package vectors

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Recording is a recorded case.
type Recording struct {
	Area, Case    string
	Controllers   []string // the controllers that ran during the recording
	Exchanges     []Exchange
	RVOrder       []string                   `json:"rvOrder"`
	ContinueToken map[string]json.RawMessage `json:"continueTokens"`
	Managed       bool                       // recorded with managedFields and warnings
}

func (c *Recording) Name() string { return c.Area + "/" + c.Case }

// Exchange is a request with its response, or an aside: an action outside the API, such as a restart.
type Exchange struct {
	N        int
	Aside    string
	Method   string
	Path     string
	Query    map[string]any
	Headers  map[string]string
	Body     json.RawMessage
	RawBody  *string
	Response struct {
		Status   int
		Warnings []string
		Body     json.RawMessage
	}
	Watch           *Watch // nil if the request opened none
	ConcurrentGroup int
	Settled         bool
	Pause           float64 // seconds that the client waited before the request
}

// Watch is a recorded watch. Its events go on until it ends, so later exchanges may have caused them.
type Watch struct {
	End    string // "client-closed" or "server-closed"
	Events []Event
}

// Event is an event of a watch.
type Event struct {
	Type   string
	Object json.RawMessage
}

// Random2 reads random request sequences with valid and invalid objects of many kinds with large specs.
func Random2(dir string) ([]*Recording, error) {
	return readRandom(filepath.Join(dir, "random2.jsonl.gz"))
}

// Random3 reads random request sequences for all kinds, with warnings, tables and managedFields in the responses.
func Random3(dir string) ([]*Recording, error) {
	return readRandom(filepath.Join(dir, "random3.jsonl.gz"))
}

// Widgets reads random request sequences for custom resources.
func Widgets(dir string) ([]*Recording, error) {
	return readRandom(filepath.Join(dir, "widgets.jsonl.gz"))
}

// CRDs reads the random sequences in crds.jsonl.gz: each changes a CRD while watches of its objects are open.
func CRDs(dir string) ([]*Recording, error) {
	return readRandom(filepath.Join(dir, "crds.jsonl.gz"))
}

// Read reads the cases in the directories below dir and the request sequences in random.jsonl.gz, sorted by name.
func Read(dir string) ([]*Recording, error) {
	all, err := readRandom(filepath.Join(dir, "random.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	areas, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, area := range areas {
		if !area.IsDir() {
			continue
		}
		cases, err := ReadArea(filepath.Join(dir, area.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name() < all[j].Name() })
	return all, nil
}

// ReadArea reads the cases in one directory, sorted by file name.
func ReadArea(dir string) ([]*Recording, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []*Recording
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c, err := parse(file, raw)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func readRandom(file string) (all []*Recording, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		c, err := parse(file, lines.Bytes())
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, lines.Err()
}

func parse(file string, raw []byte) (*Recording, error) {
	c := new(Recording)
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Binding contains the values of a case's placeholders.
type Binding struct {
	values map[string]string
	Tokens map[string]string // the continue tokens of lists, by placeholder
	named  int
	// Managed, if set, compares managedFields too. Most cases do not contain them.
	Managed bool
}

func NewBinding() *Binding { return &Binding{values: map[string]string{}, Tokens: map[string]string{}} }

// Clone returns a copy with its own values. Both share the map Tokens.
func (b *Binding) Clone() *Binding {
	c := *b
	c.values = maps.Clone(b.values)
	return &c
}

func (b *Binding) Take(other *Binding) { b.values, b.named = other.values, other.named }

// Value returns the value of a placeholder.
func (b *Binding) Value(name string) (string, bool) {
	v, ok := b.values[name]
	return v, ok
}

// Placeholders lists the placeholders in a text.
func Placeholders(text string) []string { return placeholder.FindAllString(text, -1) }

// ByValue returns the placeholders by their values.
func (b *Binding) ByValue() map[string]string {
	names := map[string]string{}
	for p, v := range b.values {
		names[v] = p
	}
	return names
}

func (b *Binding) Bind(name, value string) { b.values[name] = value }

var placeholder = regexp.MustCompile(`\$(?:ns\b|uid:\d+|rv:\d+\+\d+|rv:\d+|rv:\?|` +
	`name:[A-Za-z0-9-]+(?:\.[A-Za-z0-9]+)*|gen:\d+|ip:\d+|` +
	`port:\d+|continue:\d+|time\b|age\b|evt\b|cron\b|hash\b|obj\b)`)

// Fill replaces the placeholders in a request by their values. It binds a new value to a placeholder without a value.
func (b *Binding) Fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		if v, ok := b.values[p]; ok {
			return v
		}
		if base, more, ok := strings.Cut(p, "+"); ok {
			n, _ := strconv.ParseUint(b.values[base], 10, 64)
			m, _ := strconv.ParseUint(more, 10, 64)
			return strconv.FormatUint(n+m, 10)
		}
		b.named++
		v := fmt.Sprintf("n%d", b.named)
		switch {
		case strings.HasPrefix(p, "$uid:"):
			v = fmt.Sprintf("dead0000-0000-4000-8000-%012d", b.named)
		case b.Tokens[p] != "":
			v = b.Tokens[p]
		case p == "$time":
			return "2026-01-01T00:00:00Z"
		case strings.HasPrefix(p, "$rv:"):
			v = strconv.Itoa(900000 + b.named)
		case strings.HasPrefix(p, "$name:"):
			v = strings.ToLower(strings.TrimPrefix(p, "$name:"))
		}
		b.values[p] = v
		return v
	})
}

// Order checks that the resource versions of placeholders increase in the order of names. It skips unbound names.
func (b *Binding) Order(names []string) error {
	last := uint64(0)
	for _, name := range names {
		v, ok := b.values[name]
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is %q", name, v)
		}
		if n <= last {
			return fmt.Errorf("resource versions: %s is %d, not after %d", name, n, last)
		}
		last = n
	}
	return nil
}
