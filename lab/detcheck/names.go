package detcheck

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"
)

// ban is a row of the table of banned names. A "*" in a name matches anything.
type ban struct {
	path  string
	names []string
	why   string
	out   string
}

const virtualTime = "take the time from the world's clock and wait with its timers"

var bans = []ban{
	{"time", []string{"Now", "Since", "Until"}, "reads the real clock", virtualTime},
	{"time", []string{"After", "AfterFunc", "Tick", "Sleep", "NewTimer", "NewTicker"}, "waits for the real clock",
		virtualTime},
	{"context", []string{"WithTimeout*", "WithDeadline*"}, "starts a timer on the real clock", virtualTime},
	{"k8s.io/apimachinery/pkg/apis/meta/v1", []string{"Now", "NowMicro"}, "reads the real clock",
		"build it from the world's clock: metav1.NewTime"},
	{"k8s.io/apimachinery/pkg/util/wait",
		[]string{"Jitter*", "Until*", "NonSliding*", "Forever", "Poll*", "BackoffUntil*", "ExponentialBackoff*"},
		"sleeps on the real clock or draws from math/rand",
		"use a timer of the world's clock; take variation from its choices"},
	{"k8s.io/utils/clock", []string{"RealClock"}, "reads the real clock", virtualTime},
	{"k8s.io/apimachinery/pkg/util/uuid", []string{"NewUUID"}, "draws a random uid", "number the uids from state"},
	{"github.com/google/uuid", []string{"New*", "Must"}, "draws a random uuid", "number the uids from state"},
	{"k8s.io/client-go/util/workqueue",
		[]string{"New", "NewTyped", "NewNamed*", "NewWithConfig", "New*Queue*", "NewTypedWithConfig",
			"Default*RateLimiter", "Parallelize*"},
		"runs on goroutines or the real clock",
		"use the queue of the host; per-item exponential limiters are pure and allowed"},
	{"k8s.io/client-go/tools/cache",
		[]string{"NewSharedInformer*", "NewSharedIndexInformer*", "NewInformer*", "NewReflector*", "NewController*",
			"WaitFor*"},
		"runs on goroutines and the real clock", "use the informers of the host"},
	{"sync.Map", []string{"Range"}, "visits entries in random order", "use a map under sorted keys"},
	{"reflect.Value", []string{"MapRange"}, "visits entries in random order", "sort what MapKeys returns"},
}

// bannedImports lists imports that checked packages must not have, with the alternative to each.
var bannedImports = map[string]string{
	"math/rand":                          "draw from the world's choices",
	"math/rand/v2":                       "draw from the world's choices",
	"crypto/rand":                        "draw from the world's choices",
	"k8s.io/apimachinery/pkg/util/rand":  "draw from the world's choices; number names from state",
	"os":                                 "let the caller read files and the environment and pass in what it found",
	"os/exec":                            "the core starts no program",
	"os/signal":                          "signals belong to the command",
	"syscall":                            "let the caller ask the system and pass in what it found",
	"golang.org/x/exp/maps":              "use the standard package maps with slices.Sorted",
	"k8s.io/client-go/kubernetes/fake":   "use package fakeapi",
	"k8s.io/apimachinery/pkg/util/clock": virtualTime,
}

func (c *checker) importSpec(n *ast.ImportSpec) {
	path, err := strconv.Unquote(n.Path.Value)
	if err != nil {
		return
	}
	if out, ok := bannedImports[path]; ok {
		c.Reportf(n.Pos(), "import of %s: what it returns differs from run to run; %s", path, out)
	}
}

// use flags any mention of a banned name, called or not.
func (c *checker) use(id *ast.Ident) {
	obj := c.TypesInfo.Uses[id]
	if obj == nil || obj.Pkg() == nil {
		return
	}
	path := obj.Pkg().Path()
	switch obj := obj.(type) {
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			path = receiver(recv.Type())
		}
	case *types.TypeName:
	default:
		return
	}
	for _, b := range bans {
		if b.path == path && b.has(obj.Name()) {
			c.Reportf(id.Pos(), "%s.%s %s; %s", obj.Pkg().Name(), obj.Name(), b.why, b.out)
			return
		}
	}
}

func (b ban) has(name string) bool {
	for _, pattern := range b.names {
		if match(pattern, name) {
			return true
		}
	}
	return false
}

func match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(name, p)
		if at < 0 {
			return false
		}
		name = name[at+len(p):]
	}
	return true
}

// receiver returns a method's receiver as "path.Type". No package path has this form.
func receiver(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name()
}
