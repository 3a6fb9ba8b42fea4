package install_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/install"
)

func mains(dirs ...string) string {
	text := "-- go.mod --\nmodule example.com/widget-operator\n\ngo 1.21\n"
	for _, dir := range dirs {
		text += "-- " + filepath.Join(dir, "main.go") + " --\npackage main\n\nfunc main() {}\n"
	}
	return text
}

// manager is a main package that can elect a leader, and elections is the package that it uses for this.
const (
	manager = `-- cmd/controller/main.go --
package main

import _ "k8s.io/client-go/tools/leaderelection"

func main() {}
`
	elections = `-- go.mod --
module example.com/widget-operator

go 1.21

require k8s.io/client-go v0.30.0

replace k8s.io/client-go => ./staging
-- staging/go.mod --
module k8s.io/client-go
-- staging/tools/leaderelection/election.go --
package leaderelection
`
)

func TestMainPackage(t *testing.T) {
	for _, c := range []struct {
		name, archive string
		opts          install.Options
		want          string
	}{
		{"PROJECT of layout v3", mains(".", "cmd/other") + "-- PROJECT --\nlayout: [go.kubebuilder.io/v3]\n",
			install.Options{}, "."},
		{"PROJECT of layout v4", mains("cmd", ".") + "-- PROJECT --\nlayout:\n- go.kubebuilder.io/v4\n", install.Options{},
			"./cmd"},
		{"PROJECT of a layout that no image has", mains("cmd", "cmd/a") + "-- PROJECT --\nlayout: [go.kubebuilder.io/v4]\n" +
			"-- Dockerfile --\nFROM x\nRUN go build -o widget cmd/a/*.go\nENTRYPOINT [\"/widget\"]\n", install.Options{}, "./cmd/a"},
		{"PROJECT without its main package", mains("cmd/operator") + "-- PROJECT --\nlayout: [go.kubebuilder.io/v3]\n",
			install.Options{}, "./cmd/operator"},
		{"the build line of the entry point", mains("submitter", "manager", "cmd/x") + `
-- Dockerfile --
FROM golang
# go build ./cmd/x
RUN go build -ldflags="-w -s" -o /out/submit ./submitter && \
    # a comment between
    go build -tags x -o /out/manager manager/main.go
FROM scratch AS submit
ENTRYPOINT ["/submit"]
FROM scratch
ENTRYPOINT /manager --flag
`, install.Options{}, "./manager"},
		{"a build argument", mains(".", "bootstrap") + `
-- Dockerfile --
FROM golang
ARG package=./bootstrap
RUN go build -o manager ${package}
ENTRYPOINT ["/manager"]
`, install.Options{}, "./bootstrap"},
		{"the Makefile's build of the entry point", mains("cmd/kube", "cmd/ctl") + `
-- Dockerfile --
FROM golang AS builder
RUN make build
FROM scratch
ENTRYPOINT ["/manager"]
-- Makefile --
BIN ?= bin
GO_CMD = go
build:
	$(GO_CMD) build -ldflags="$(LD_FLAGS)" -o $(BIN)/ctl cmd/ctl/main.go
	$(GO_CMD) build -ldflags="$(LD_FLAGS)" \
		-o $(BIN)/manager example.com/widget-operator/cmd/kube
`, install.Options{}, "./cmd/kube"},
		{"the entry point's name below cmd", mains("cmd/a", "cmd/b") + "-- Dockerfile --\nFROM x\nENTRYPOINT [\"/usr/bin/b\"]\n",
			install.Options{}, "./cmd/b"},
		{"a Dockerfile below build", mains("cmd/a", "cmd/b") +
			"-- build/Dockerfile --\nFROM x\nRUN go build -o manager ./cmd/b\nENTRYPOINT [\"/manager\"]\n",
			install.Options{}, "./cmd/b"},
		{"the image of the operator, not the last one", mains("cmd/widget-backup", "cmd/widget-controller") + "-- Dockerfile --\nFROM x AS build\n" +
			"RUN go build -o widget-controller ./cmd/widget-controller\nRUN go build -o widget-backup ./cmd/widget-backup\n" +
			"FROM scratch AS controller\nENTRYPOINT [\"/widget-controller\"]\nFROM scratch\nENTRYPOINT [\"/widget-backup\"]\n",
			install.Options{}, "./cmd/widget-controller"},
		{"a pattern of the Dockerfile", mains("cmd", "tcp") + "-- PROJECT --\nlayout: [go.kubebuilder.io/v4]\n-- Dockerfile --\n" +
			"FROM x\nRUN go build -o manager ./cmd/...\nRUN go build -o tcp/tcp tcp/main.go\nENTRYPOINT [\"/bin/bash\"]\n",
			install.Options{}, "./cmd"},
		{"the only one below cmd", mains("cmd/anything", "."), install.Options{}, "./cmd/anything"},
		{"the one below cmd with an operator's name", mains("cmd/kubectl-widget", "cmd/widget-operator"), install.Options{},
			"./cmd/widget-operator"},
		{"the one that can elect a leader", mains("cmd/widget-operator", "hack/x") + manager + elections, install.Options{},
			"./cmd/controller"},
		{"the one with the project's name that can elect a leader", mains("hack/x") + manager + elections +
			strings.Replace(manager, "cmd/controller", "cmd/widget-operator", 1), install.Options{}, "./cmd/widget-operator"},
		{"the image of the one that can elect a leader", mains("cmd/a-manager", "hack/x") + manager + elections +
			"-- images/a/Dockerfile --\nFROM x\nENTRYPOINT [\"/a-manager\"]\n" +
			"-- images/b/Dockerfile --\nFROM x\nENTRYPOINT [\"/controller\"]\n", install.Options{}, "./cmd/controller"},
		{"the one with an operator's name, anywhere", mains("proxy", "operator", "hack/operator"), install.Options{},
			"./operator"},
		{"the one with an operator's name above its version", mains("cmd/ui/v1beta1", "cmd/widget-controller/v1beta1"),
			install.Options{}, "./cmd/widget-controller/v1beta1"},
		{"the one that is built with the project's name", mains("cmd/a-manager", "cmd/b-manager") + "-- build/Dockerfile --\nFROM x\n" +
			"RUN go build -o a ./cmd/a-manager\nRUN go build -o bin/widget-operator cmd/b-manager/main.go\n", install.Options{}, "./cmd/b-manager"},
		{"the one with the plain name", mains("cmd/a-manager", "cmd/manager"), install.Options{}, "./cmd/manager"},
		{"the module's root", mains("."), install.Options{}, "."},
		{"named as a directory", mains("cmd/a", "cmd/b"), install.Options{Main: "cmd/b"}, "./cmd/b"},
		{"named as a file", mains("cmd/a", "cmd/b"), install.Options{Main: "./cmd/b/main.go"}, "./cmd/b"},
		{"named as an import path", mains("cmd/a", "cmd/b"), install.Options{Main: "example.com/widget-operator/cmd/b"},
			"./cmd/b"},
		{"the repository named", mains("cmd/a"), install.Options{Main: "."}, "./cmd/a"},
		{"named in a directory of the module", mains("cmd/a", "cmd/b"), install.Options{Dir: "cmd", Main: "b"}, "./cmd/b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := found(t, c.archive, c.opts); r.Main != c.want {
				t.Errorf("main package %s, want %s", r.Main, c.want)
			}
		})
	}
}

// The build tags of the Dockerfile are taken over, or those of the Makefile that it calls.
func TestBuildTags(t *testing.T) {
	for from, archive := range map[string]string{
		"Dockerfile": "-- Dockerfile --\nFROM x\nRUN go build -tags other ./hack/x\nRUN go build -tags a,b -o manager ./cmd\n" +
			"ENTRYPOINT [\"/manager\"]\n-- Makefile --\nbuild:\n\tgo build -tags=c ./cmd\n",
		"Makefile": "-- Dockerfile --\nFROM x\nRUN make\nENTRYPOINT [\"/manager\"]\n-- Makefile --\nbuild:\n\t" +
			"go build -tags=a,b -o manager ./cmd\n",
		"Makefile, for a platform": "-- Dockerfile --\nFROM x\nENTRYPOINT [\"/bin/manager\"]\n-- Dockerfile.alone --\nFROM x\n" +
			"RUN go build -o manager ./cmd\nENTRYPOINT [\"/manager\"]\n-- Makefile --\nexport TAGS ?= a,b\nbuild:\n\t" +
			"go build -tags $(TAGS) -o '$(OUT)/manager-linux-$*' cmd/main.go\n",
	} {
		r := found(t, mains("cmd", "hack/x")+archive, install.Options{})
		if r.Tags != "a,b" {
			t.Errorf("the tags are %q", r.Tags)
		}
		file, _, _ := strings.Cut(from, ",")
		wantNote(t, r, "build tags a,b, from "+file)
	}
}

// If the Dockerfile also builds the main package without tags, there are none.
func TestNoBuildTags(t *testing.T) {
	r := found(t, mains("cmd")+"-- Dockerfile --\nFROM x\nRUN if [ \"$FIPS\" = true ]; then \\\n  go build -tags fips -o manager ./cmd; \\\n"+
		"  else go build -o manager ./cmd; fi\nENTRYPOINT [\"/manager\"]\n", install.Options{})
	if r.Tags != "" {
		t.Errorf("the tags are %q", r.Tags)
	}
}

// A repository may build several programs that could be the operator.
func TestOtherMainPackages(t *testing.T) {
	r := found(t, mains("cmd/nfd-master", "cmd/nfd-worker", "cmd/kubectl-nfd")+
		"-- Dockerfile --\nFROM x\nENTRYPOINT [\"/usr/bin/nfd-worker\"]\n", install.Options{})
	wantNote(t, r, "main package ./cmd/nfd-worker, from Dockerfile")
	wantNote(t, r, "other main packages may be an operator's: ./cmd/nfd-master: name one, as in threelaws check ./cmd/nfd-master")
}

// An image that is not at the top of the repository may run another program than the operator.
func TestMainPackageOfAnImageBesideOperator(t *testing.T) {
	wantNote(t, found(t, mains("cmd/operator", "cmd/report")+"-- build/Dockerfile.operator --\nFROM x\nRUN make operator\nENTRYPOINT [\"/run\"]\n"+
		"-- build/Dockerfile.report --\nFROM x\nENTRYPOINT [\"/report\"]\n", install.Options{}), "main package ./cmd/operator, from its name")
}

// The packages below a main package are its tools.
func TestMainPackageWithTools(t *testing.T) {
	wantNote(t, found(t, mains("cmd/install-crds", "cmd", "cmd/report"), install.Options{}), "main package ./cmd, from cmd")
}

func TestMainPackageIsMistaken(t *testing.T) {
	for _, c := range []struct {
		name, archive string
		opts          install.Options
		want          string
	}{
		{"several", mains("cmd/a", "cmd/b"), install.Options{},
			"several main packages: ./cmd/a, ./cmd/b: name the operator's, as in threelaws check ./cmd/a"},
		{"none", "-- go.mod --\nmodule example.com/x\n-- x.go --\npackage x\n", install.Options{},
			"the module has no main package: run threelaws check in the operator's module, or name its main package"},
		{"named, and no main package", "-- go.mod --\nmodule example.com/x\n-- x.go --\npackage x\n",
			install.Options{Main: "."}, "the module has no main package: run threelaws check in the operator's module"},
		{"named, and a library", mains(".") + "-- api/x.go --\npackage x\n", install.Options{Main: "./api"},
			"./api: it is package x, and main is needed"},
		{"named, and not there", mains("."), install.Options{Main: "./cmd/x"}, "./cmd/x: go list: "},
		{"no module", "-- x.go --\npackage x\n", install.Options{}, "no go.mod here or above"},
		{"a module below", "-- operator/go.mod --\nmodule example.com/x\n", install.Options{},
			"run the command in the operator's module, one of operator"},
		{"a module of its own", mains("cmd/controller") + "-- cmd/controller/go.mod --\nmodule example.com/x/cmd/controller\n",
			install.Options{}, "./cmd/controller: it is a module of its own: run threelaws check there, with --install"},
		{"no directory", mains("."), install.Options{Dir: "nowhere"}, "nowhere: no such directory"},
		{"a newer Go", "-- go.mod --\nmodule example.com/x\n\ngo 1.999\n-- main.go --\npackage main\n\nfunc main() {}\n",
			install.Options{}, "go.mod requires Go 1.999, and the go command in PATH is "},
		{"an embedded file is missing", "-- go.mod --\nmodule example.com/x\n-- main.go --\npackage main\n\n" +
			"import _ \"embed\"\n\n//go:embed chart.tgz\nvar chart []byte\n\nfunc main() {}\n", install.Options{},
			"main.go:5:12: pattern chart.tgz: no matching files found: if it is generated, generate it first"},
		{"a sum is missing", "-- go.mod --\nmodule example.com/x\n\ngo 1.16\n\nrequire github.com/google/uuid v1.1.2\n-- main.go --\n" +
			"package main\n\nimport _ \"github.com/google/uuid\"\n\nfunc main() {}\n", install.Options{}, "to add it: go "},
		{"a nested module is missing", `
-- go.mod --
module example.com/x

go 1.21

require example.com/x/api v0.0.0

replace example.com/x/api => ./api
-- main.go --
package main

import _ "example.com/x/api"

func main() {}
`, install.Options{}, ".: go.mod replaces example.com/x/api by ./api, which is not there: use a full checkout of " +
			"the repository"},
		{"a submodule is empty", "-- go.mod --\nmodule example.com/x\n\ngo 1.21\n\nrequire example.com/x/api v0.0.0\n\n" +
			"replace example.com/x/api => ./api\n-- api/README --\n-- main.go --\npackage main\n\nimport _ \"example.com/x/api\"\n\nfunc main() {}\n",
			install.Options{}, ".: go.mod replaces example.com/x/api by ./api, which has no go.mod: if it is a submodule, run"},
		{"a module of the workspace is missing", mains(".") + "-- go.work --\ngo 1.21\n\nuse (\n\t.\n\t./api\n)\n",
			install.Options{}, ".: go.work lists api, which has no go.mod: use a full checkout"},
		{"a requirement is missing", "-- go.mod --\nmodule example.com/x\n\ngo 1.21\n-- main.go --\npackage main\n\n" +
			"import _ \"example.com/y/z\"\n\nfunc main() {}\n", install.Options{},
			".: no module in go.mod provides the package example.com/y/z: run go mod tidy"},
		{"half a vendor folder", `
-- go.mod --
module example.com/x

go 1.21

require example.com/y v1.0.0
-- vendor/modules.txt --
-- main.go --
package main

func main() {}
`, install.Options{}, ".: the vendor folder does not fit go.mod: use a full checkout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := find(t, c.archive, c.opts)
			wantError(t, err, c.want)
		})
	}
}
