package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/bubble"
)

// prepare reads the files of a subject and derives the cases of a sample. The error is a mistake in it, in one line.
func (s *Subject) prepare(path string) (*check.Plan, error) {
	c := s.Controller
	switch {
	case s.Run != nil && c.New != nil:
		return nil, errors.New("conformance.Subject: Run and Controller: it is one or the other")
	case s.Run != nil:
		c.Name = cmp.Or(c.Name, "program")
		c = bubble.Controller(c, s.Run)
	case c.New == nil && c.Name == "":
		return nil, errors.New("conformance.Subject: there is nothing to try: give a program as Run, or a stepped " +
			"reconciler as Controller")
	}
	c = bubble.Timed(c)
	crds, err := s.readCRDs()
	if err != nil {
		return nil, fmt.Errorf("conformance.Subject: CRDs: %w", err)
	}
	sample, err := s.readSample(path)
	if err != nil {
		return nil, err
	}
	files, err := s.readFiles()
	if err != nil {
		return nil, err
	}
	for i, a := range s.Accept {
		known := a.known()
		if err := known.Check(s.own()...); err != nil {
			return nil, fmt.Errorf("conformance.Subject: Accept[%d]: %w", i, err)
		}
	}
	plan, err := check.Prepare(context.Background(), check.Subject{Controller: c, Others: s.Others, CRDs: crds,
		Installed: files, Sample: sample, With: s.With, Edits: s.Edits, Settled: s.Settled, Skip: s.Skip, For: s.For, Invariants: s.Invariants,
		Profile: s.Profile, Schedules: s.Schedules})
	if m := (*check.Mistake)(nil); errors.As(err, &m) {
		return nil, fmt.Errorf("conformance.Subject: %w", err)
	}
	return plan, err
}

// own are the IDs of the subject's invariants.
func (s *Subject) own() (ids []string) {
	for _, v := range append(slices.Clone(s.Invariants), s.Controller.Contract.Invariants...) {
		if v != nil {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// readCRDs reads the files with definitions.
func (s *Subject) readCRDs() (files []*check.File, err error) {
	if s.CRDs == nil {
		return nil, nil
	}
	some := false
	err = fs.WalkDir(s.CRDs, ".", func(name string, d fs.DirEntry, err error) error {
		if ext := path.Ext(name); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return err
		}
		data, err := fs.ReadFile(s.CRDs, name)
		if err != nil {
			return err
		}
		f, err := check.Read(name, data)
		if err != nil {
			return err
		}
		for _, o := range f.Objects {
			some = some || o.GetKind() == "CustomResourceDefinition"
		}
		files = append(files, f)
		return nil
	})
	if err == nil && !some {
		err = errors.New("no file *.yaml of it holds a CustomResourceDefinition")
	}
	return files, err
}

// readSample reads the file with a sample.
func (s *Subject) readSample(path string) (*check.File, error) {
	if path == "" {
		return nil, errors.New("conformance.Subject: Samples is empty: name a YAML file with a sample " +
			cmp.Or(s.Controller.For.Kind, "of the kind that it works on"))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, absent("Samples", path)
	}
	return check.Read(path, data)
}

// readFiles reads the files with further objects.
func (s *Subject) readFiles() (objects []*unstructured.Unstructured, err error) {
	for _, path := range s.Files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, absent("Files", path)
		}
		f, err := check.Read(path, data)
		if err != nil {
			return nil, err
		}
		for _, o := range f.Objects {
			objects = append(objects, o.Unstructured)
		}
	}
	return objects, nil
}

func absent(field, path string) error {
	at, _ := os.Getwd()
	return fmt.Errorf("conformance.Subject: %s: %s is not there: paths are relative to the package's directory, %s", field,
		path, filepath.Base(at))
}
