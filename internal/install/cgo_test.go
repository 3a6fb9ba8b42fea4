package install_test

import (
	"testing"

	"github.com/threelaws/threelaws/internal/install"
)

// A program that does not compile without cgo is refused before the build. A program that may compile is not refused.
func TestCgo(t *testing.T) {
	const (
		mod  = "-- go.mod --\nmodule example.com/main\n\ngo 1.25.0\n"
		main = "-- main.go --\npackage main\n\nimport \"example.com/main/a\"\n\nfunc main() { a.A() }\n" +
			"-- a/a.go --\npackage a\n\nimport \"example.com/main/b\"\n\nfunc A() { b.B() }\n"
		uses = "package b\n\n// int one() { return 1; }\nimport \"C\"\n\n"
	)
	for name, c := range map[string]struct{ archive, want string }{
		"all files": {"-- b/b.go --\n" + uses + "func B() { C.one() }\n",
			".: example.com/main/b needs cgo, and check builds without cgo: each of its files needs cgo, such as b.go; the imports: " +
				"example.com/main -> example.com/main/a -> example.com/main/b: add a file with the build tag !cgo, or replace the module"},
		"a function": {"-- b/c.go --\n" + uses + "func one() { C.one() }\n-- b/b.go --\npackage b\n\nfunc B() {\n\tone()\n}\n",
			"example.com/main/b needs cgo, and check builds without cgo: b.go:4 uses one of c.go, which needs cgo; "},
		"a type": {"-- b/c.go --\n" + uses + "type T struct{ x C.int }\n-- b/b.go --\npackage b\n\nimport \"fmt\"\n\n" +
			"func B() { fmt.Println(T{}) }\n", "b.go:5 uses T of c.go"},
		"a function of another package": {"-- b/c.go --\n" + uses + "func B() { C.one() }\n-- b/b.go --\npackage b\n", ".: example.com/main/a " +
			"needs cgo, and check builds without cgo: a.go:5 uses b.B of c.go, which needs cgo; the imports: example.com/main -> example.com/main/a: "},
		"a constraint": {"-- b/c.go --\n//go:build cgo && linux\n\npackage b\n\nvar x int\n-- b/b.go --\npackage b\n\nfunc B() { x++ }\n",
			"b.go:3 uses x of c.go, which needs cgo"},
		"another file without cgo": {"-- b/c.go --\n" + uses + "func one() { C.one() }\n-- b/n.go --\n//go:build !cgo\n\npackage b\n\n" +
			"func one() {}\n-- b/b.go --\npackage b\n\nfunc B() { one() }\n", ""},
		"nothing that is used": {"-- b/c.go --\n" + uses + "func one() { C.one() }\n-- b/b.go --\npackage b\n\nimport \"os\"\n\n" +
			"type s struct{ one int }\n\nfunc B() { _ = s{one: os.Getpid()}.one; one := 1; _ = one }\n", ""},
		"a dot import": {"-- b/c.go --\n" + uses + "func Getpid() { C.one() }\n-- b/b.go --\npackage b\n\nimport . \"os\"\n\n" +
			"func B() { Getpid() }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := find(t, mod+main+c.archive, install.Options{})
			if c.want == "" && err == nil {
				return
			}
			wantError(t, err, c.want)
		})
	}
}
