package install

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// recipe contains the parts of a Dockerfile that describe the operator's image.
type recipe struct {
	file   string // the Dockerfile, relative to the repository
	builds []build
	entry  []string // ENTRYPOINT of the last stage
	cmd    []string // CMD of the last stage
}

// build is a go build command: the name of the output, the package, and the build tags.
type build struct{ output, pkg, tags string }

// binary returns the name of the program that the image runs, or "".
func (r *recipe) binary() string {
	if command := withoutInit(slices.Concat(r.entry, r.cmd)); len(r.entry) > 0 && len(command) > 0 {
		return path.Base(command[0])
	}
	return ""
}

// readDockerfile reads ARG and ENV, the go build commands in RUN, and ENTRYPOINT and CMD of the last stage.
func readDockerfile(file string, text []byte) *recipe {
	r := &recipe{file: file}
	values := map[string]string{}
	stages := map[string]recipe{}
	stage := ""
	for _, line := range logicalLines(string(text)) {
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToUpper(word) {
		case "FROM":
			fields := strings.Fields(rest)
			for len(fields) > 0 && strings.HasPrefix(fields[0], "--") {
				fields = fields[1:]
			}
			if stage != "" {
				stages[stage] = *r
			}
			r.entry, r.cmd, stage = nil, nil, ""
			if len(fields) == 0 {
				continue
			}
			base := stages[fields[0]]
			r.entry, r.cmd = base.entry, base.cmd
			if len(fields) == 3 && strings.EqualFold(fields[1], "as") {
				stage = fields[2]
			}
		case "ARG", "ENV":
			if name, value, ok := strings.Cut(rest, "="); ok {
				values[name] = expand(strings.Trim(value, `"'`), values)
			}
		case "RUN":
			r.builds = append(r.builds, builds(expand(rest, values))...)
		case "ENTRYPOINT":
			r.entry, r.cmd = execForm(expand(rest, values)), nil
		case "CMD":
			r.cmd = execForm(expand(rest, values))
		}
	}
	return r
}

// makefile contains the go build commands and the variables of a Makefile. It leaves out variables of several words.
type makefile struct {
	builds []build
	values map[string]string
	deploy string // the kustomization that the target deploy applies; "" if there is none
}

var (
	target     = regexp.MustCompile(`^([\w.-]+)\s*:([^=]|$)`)
	kustomized = regexp.MustCompile(`(?i:kustomize\S*\s+build|\s-k|--kustomize)[\s=]+([\w./-]+)`)
)

func readMakefile(text []byte) makefile {
	m := makefile{values: map[string]string{}}
	assign := regexp.MustCompile(`^(?:export\s+)?([A-Za-z_]\w*)\s*[:?]?=\s*(\S*)$`)
	of := ""
	for _, line := range logicalLines(string(text)) {
		if is := target.FindStringSubmatch(line); is != nil {
			of = is[1]
		}
		if is := kustomized.FindStringSubmatch(line); is != nil && of == "deploy" {
			m.deploy = path.Clean(is[1])
		}
		if is := assign.FindStringSubmatch(line); is != nil {
			m.values[is[1]] = expand(is[2], m.values)
			continue
		}
		m.builds = append(m.builds, builds(expand(line, m.values))...)
	}
	return m
}

// forPlatform matches the end of a binary's name that stands for a platform, such as "-linux-$(ARCH)".
var forPlatform = regexp.MustCompile(`[-_.](linux|\$).*$`)

// logicalLines joins continued lines and removes comments.
func logicalLines(text string) []string {
	var all []string
	joined := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		head, more := strings.CutSuffix(line, `\`)
		joined += head + " "
		if more {
			continue
		}
		if joined = strings.TrimSpace(joined); joined != "" {
			all = append(all, joined)
		}
		joined = ""
	}
	return append(all, strings.TrimSpace(joined))
}

var variable = regexp.MustCompile(`\$\{(\w+)(?::-([^}]*))?\}|\$\((\w+)\)|\$(\w+)`)

func expand(line string, values map[string]string) string {
	return variable.ReplaceAllStringFunc(line, func(ref string) string {
		m := variable.FindStringSubmatch(ref)
		for _, name := range []string{m[1], m[3], m[4]} {
			if value, ok := values[name]; ok && name != "" {
				return value
			}
		}
		if m[2] != "" {
			return m[2]
		}
		return ref
	})
}

// execForm parses ENTRYPOINT or CMD, which is either JSON or words.
func execForm(text string) []string {
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	return shellWords(text)
}

// inits contains the programs that run as process 1 and start the program in their arguments.
var inits = []string{"tini", "tini-static", "dumb-init", "catatonit"}

// withoutInit returns the command line that an init program runs, or command if it does not begin with one. The flags of
// the init program end with "--", or with the first word that is not a flag.
func withoutInit(command []string) []string {
	if len(command) == 0 || !slices.Contains(inits, path.Base(command[0])) {
		return command
	}
	if end := slices.Index(command, "--"); end > 0 {
		return command[end+1:]
	}
	i := 1
	for i < len(command) && strings.HasPrefix(command[i], "-") {
		i++
	}
	return command[i:]
}

// takesValue contains the flags of go build that take the next word as their value.
var takesValue = map[string]bool{"-C": true, "-o": true, "-ldflags": true, "-tags": true, "-mod": true,
	"-gcflags": true, "-asmflags": true, "-p": true, "-buildmode": true, "-overlay": true, "-modfile": true,
	"-installsuffix": true, "-compiler": true, "-toolexec": true, "-pkgdir": true, "-pgo": true}

// builds returns the go build and go install commands in a shell line. The go command may be a variable.
func builds(line string) []build {
	if !strings.Contains(line, "build") && !strings.Contains(line, "install") {
		return nil
	}
	var all []build
	words := shellWords(line)
	for i := 1; i < len(words); i++ {
		command := strings.ToLower(words[i-1])
		isGo := path.Base(command) == "go" || strings.HasPrefix(command, "$") && strings.Contains(command, "go")
		if !isGo || words[i] != "build" && words[i] != "install" {
			continue
		}
		var b build
		dir := ""
		for i++; i < len(words) && !endsCommand(words[i]); i++ {
			flag, value, has := strings.Cut(words[i], "=")
			switch {
			case !strings.HasPrefix(flag, "-"):
				if b.pkg == "" && words[i] != "./..." {
					b.pkg = words[i]
				}
				continue
			case !has && takesValue[flag] && i+1 < len(words):
				i++
				value = words[i]
			}
			switch flag {
			case "-o":
				b.output = forPlatform.ReplaceAllString(path.Base(value), "")
			case "-C":
				dir = value
			case "-tags":
				b.tags = value
			}
		}
		if b.pkg == "" {
			b.pkg = "."
		}
		if dir != "" {
			b.pkg = path.Join(dir, b.pkg)
		}
		all = append(all, b)
	}
	return all
}

func endsCommand(word string) bool {
	return slices.Contains([]string{"&&", "||", ";", "|", ">", ">>", "2>&1"}, word)
}

// shellWords splits a line into words like a shell. "&&", ";" and "|" are separate words. Variables are not expanded.
func shellWords(line string) []string {
	var all []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	end := func() {
		if inWord {
			all = append(all, word.String())
		}
		word.Reset()
		inWord = false
	}
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == '\\' && i+1 < len(runes):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case c == ' ' || c == '\t' || c == '\n':
			end()
		case c == ';' || c == '|' || c == '&':
			end()
			operator := string(c)
			if c != ';' && i+1 < len(runes) && runes[i+1] == c {
				operator += string(c)
				i++
			}
			all = append(all, operator)
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	end()
	return all
}

// recipes reads the Dockerfiles of a repository, in the order of the patterns below.
func recipes(dir string) []*recipe {
	var all []*recipe
	seen := map[string]bool{}
	for _, pattern := range []string{"Dockerfile", "Containerfile", "build/Dockerfile", "docker/Dockerfile",
		"package/Dockerfile", "build/*/Dockerfile", "cmd/*/Dockerfile", "cmd/*/*/Dockerfile", "images/*/Dockerfile",
		"build/*/*/Dockerfile", "Dockerfile.*", "build/Dockerfile*", "*.Dockerfile"} {
		files, _ := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))) // the patterns are valid
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && !seen[file] {
				seen[file] = true
				rel, _ := filepath.Rel(dir, file) // the file is in the directory
				all = append(all, readDockerfile(filepath.ToSlash(rel), text))
			}
		}
	}
	return all
}
