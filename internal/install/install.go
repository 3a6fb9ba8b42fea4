// Package install reads an operator's repository: the main package, the install manifests, the CRDs, and samples. It
// reads files, renders kustomizations and charts, and runs go list. It does not build the operator, contact a cluster,
// or write into the repository.
package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Repository describes an operator's repository.
type Repository struct {
	Dir  string // the directory of the main module's go.mod, as an absolute path
	Main string // the main package, as an argument of go build in Dir: "./cmd/manager"
	Name string // the project's name: projectName in the file PROJECT, or the last element of the module's path

	// Tags contains the build tags with which the repository builds the main package, as for go build -tags; "" for none.
	Tags string

	// CRDs contains the CustomResourceDefinitions, without duplicate names.
	CRDs []Object

	// OtherCRDs contains the other CRDs in the repository, without duplicate names. They are not installed, because the
	// operator may not need them.
	OtherCRDs []Object

	// Objects contains the other installed objects, without the operator's workload; dependencies come first.
	Objects []Object

	// Samples contains at most one sample for each custom kind, or all samples in [Options].
	Samples []Sample

	// OtherSamples contains the samples of the repository that Samples lacks, because the options name others.
	OtherSamples []Sample

	// Named returns the objects of a kind with this name in the repository's files that may contain samples, the likeliest
	// first. Those in the directory near come before all others. kind is a kind or the name of a resource, in lower case.
	Named func(kind, name, near string) []Object

	// From is the path from which Objects was read, relative to Dir if it is below Dir; "" without install manifests.
	From string

	// Workload is the workload that runs the operator, or nil if it is not in the install manifests.
	Workload *Workload

	// Args contains the operator's arguments in the Dockerfile. It is only set if Workload is nil.
	Args []string

	// Notes are sentences for the user. They say what was read from which file, and what was left out and why.
	Notes []string
}

// Object is an object and its place in a file.
type Object struct {
	*unstructured.Unstructured
	File string // relative to Repository.Dir if the file is below it
	Line int    // the first line of the document; 0 if unknown
}

func (o Object) place() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Sample is a custom object. Beside contains objects of other kinds in the same file. Next contains further samples of the
// kind, the best one first, for the case that a server refuses the sample.
type Sample struct {
	Object
	Beside []Object
	Next   []Sample
}

type Options struct {
	Dir      string   // a directory in the operator's module; "" means the working directory
	Main     string   // the main package: a directory, a file in it, or an import path
	Test     bool     // the operator runs in a test of the package Main, which need not be a main package
	Install  string   // a kustomization, a chart, or a directory or file of YAML; "none" means no install manifests
	Workload string   // the name of the workload that runs the operator
	CRDs     []string // files and directories with CRDs, which replace installed CRDs with the same names
	Samples  []string // files and folders with samples
	Version  string   // the Kubernetes version for which charts are rendered, such as "1.30.0"; "" means helm's default
}

type finder struct {
	Repository
	opts    Options
	files   []string // the repository's YAML and JSON files, relative to Dir, sorted by depth
	pages   []string // its Markdown files, like files
	sources []string // its Go files without tests
	recipes []*recipe
	texts   map[string][]document // the documents of each file that was read
	names   names

	foreign   map[string]bool // names of CRDs that belong to another module in go.mod
	remote    []Object        // CRDs that replace remote manifests of the last rendered kustomization
	namespace string          // as in manifests
	picked    *picked         // the workload, before it becomes Repository.Workload
}

// Find reads the repository that contains opts.Dir. An error is one line about a mistake in the repository or in opts.
func Find(ctx context.Context, opts Options) (*Repository, error) {
	f := &finder{opts: opts, foreign: map[string]bool{}}
	for _, step := range []func(context.Context) error{
		f.findModule, f.findMain, f.findFiles, f.findInstall, f.findCRDs, f.pickWorkload, f.place, f.dropWebhooks, f.describe,
		f.findSamples, f.findOtherCRDs,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if n := len(f.names.project); n > 0 {
		f.Name = f.names.project[n-1]
	}
	f.Named = f.named
	return &f.Repository, nil
}

func (f *finder) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(f.Notes, note) {
		f.Notes = append(f.Notes, note)
	}
}

func (f *finder) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(f.Dir, filepath.FromSlash(name))
}

// rel returns a path below the repository relative to the repository, and any other path unchanged.
func (f *finder) rel(name string) string {
	if rel, err := filepath.Rel(f.Dir, name); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return name
}

// given returns the absolute path for a path in the options, which may be relative to opts.Dir. The file must exist.
func (f *finder) given(name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.opts.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	_, err = os.Stat(path)
	return path, err
}
