package kubectltest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// script is a session file: text and commands, some followed by their output.
type script struct {
	steps []step
	tail  string // text after the last command
	files []txtar.File
}

type step struct {
	line    int
	before  string // blank lines and comments above the command
	command string
	want    string // the output after ----
	printed bool   // a line ---- follows the command
}

// parseScript reads a session. Output ends at the first blank line.
func parseScript(a *txtar.Archive) *script {
	s := &script{files: a.Files}
	var text strings.Builder
	lines := strings.SplitAfter(string(a.Comment), "\n")
	for i := 0; i < len(lines); i++ {
		trimmed := strings.TrimSpace(lines[i])
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			text.WriteString(lines[i])
			continue
		}
		st := step{line: i + 1, before: text.String(), command: trimmed}
		text.Reset()
		if i+1 < len(lines) && strings.TrimSpace(lines[i+1]) == "----" {
			st.printed = true
			for i += 2; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				st.want += lines[i]
			}
			i--
		}
		s.steps = append(s.steps, st)
	}
	s.tail = text.String()
	return s
}

func (s *script) format() []byte {
	var b strings.Builder
	for _, st := range s.steps {
		b.WriteString(st.before + st.command + "\n")
		if st.printed {
			b.WriteString("----\n" + st.want)
		}
	}
	b.WriteString(s.tail)
	return txtar.Format(&txtar.Archive{Comment: []byte(b.String()), Files: s.files})
}

func (s *script) extract(dir string) error {
	for _, f := range s.files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) do(line string) (string, error) {
	for name, value := range s.names {
		line = strings.ReplaceAll(line, "$"+name, value)
	}
	words, err := split(line)
	if err != nil {
		return "", err
	}
	switch verb, args := words[0], words[1:]; verb {
	case "kubectl":
		if n := len(args); n > 0 && args[n-1] == "&" {
			s.start(args[:n-1])
			return "", nil
		}
		var out output
		if n := len(args); n > 2 && args[n-2] == "<" {
			in, err := os.Open(args[n-1])
			if err != nil {
				return "", err
			}
			defer in.Close()
			defer func(old *os.File) { os.Stdin = old }(os.Stdin) // for "-f -"
			os.Stdin, args = in, args[:n-2]
		}
		s.kubectl(args, &out)
		return out.String(), nil
	case "let": // NAME ARGS: $NAME stands for the output of kubectl
		if len(args) < 2 {
			return "", errors.New("let needs a name and a command")
		}
		var out output
		s.kubectl(args[1:], &out)
		s.names[args[0]] = strings.TrimSpace(out.String())
		return "", nil
	case "controllers": // LIST: start these controllers too
		s.manager.add(s.t, args)
		return "", nil
	case "node": // add a node with a kubelet, as serve does
		return "", s.manager.join()
	case "sleep": // DURATION
		d, err := time.ParseDuration(strings.Join(args, " "))
		time.Sleep(d)
		return "", err
	case "await": // wait for the oldest command in the background
		return s.join()
	case "hangup": // end the open watches, as a server does; then do the same as await
		s.transport.hangUp()
		return s.join()
	case "editor": // OLD NEW...: the replacements that kubectl edit will make
		return "", os.Setenv(editVariable, strings.Join(args, editSeparator))
	}
	return "", fmt.Errorf("no command %q; use kubectl, let, controllers, node, sleep, await, hangup or editor", words[0])
}

// split cuts a line into words. Single and double quotes group; there are no escapes.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, quote = true, r
		case r == ' ':
			if in {
				words = append(words, word.String())
			}
			in = false
			word.Reset()
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// volatile lists the parts of the output that a session does not compare.
var volatile = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`(resourceVersion"?: ?)"\d+"`), `$1"RV"`},
	{regexp.MustCompile(`[^\s"]*/kubectl[^\s"]*`), "TEMPFILE"},
	{regexp.MustCompile(`("goVersion": )"[^"]*"`), `$1"GO"`},
	{regexp.MustCompile(`("platform": )"[^"]*"`), `$1"PLATFORM"`},
	{regexp.MustCompile(`\b(LIVE|MERGED)-\d+/`), "$1/"},
}

// unordered matches lines that kubectl prints from several goroutines. Adjacent matches are sorted.
var unordered = []*regexp.Regexp{
	regexp.MustCompile(`^evicting pod `),
	regexp.MustCompile(`^pod/\S+ (evicted|deleted)$`),
	regexp.MustCompile(`^cannot delete `),
}

// lists matches the lists that kubectl drain prints in the order of a map. between is the text between two parts. It
// ends with the words that begin each part.
var lists = []struct {
	pattern *regexp.Regexp
	between string
}{
	{regexp.MustCompile(`(\[)(cannot delete .*)(\], continuing)`), ", cannot delete "},
	{regexp.MustCompile(`(Warning: )((?:ignoring|deleting) .*)()`), "; "},
}

// sortLists sorts the parts of the lists that kubectl drain prints.
func sortLists(text string) string {
	for _, l := range lists {
		lead := strings.TrimLeft(l.between, ",; ") // begins every part
		text = l.pattern.ReplaceAllStringFunc(text, func(list string) string {
			m := l.pattern.FindStringSubmatch(list)
			parts := strings.Split(strings.TrimPrefix(m[2], lead), l.between)
			slices.Sort(parts)
			return m[1] + lead + strings.Join(parts, l.between) + m[3]
		})
	}
	return text
}

// golden returns output in the form of a session file. It replaces uids and revisions, and removes blank lines and
// spaces at the ends of lines. Empty output becomes "(none)".
func golden(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.instead)
	}
	var lines []string
	for line := range strings.Lines(sortLists(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "(none)\n"
	}
	sortRuns(lines)
	return strings.Join(lines, "\n") + "\n"
}

func sortRuns(lines []string) {
	for _, form := range unordered {
		for from := 0; from < len(lines); from++ {
			to := from
			for to < len(lines) && form.MatchString(lines[to]) {
				to++
			}
			slices.Sort(lines[from:to])
			from = max(from, to-1)
		}
	}
}
