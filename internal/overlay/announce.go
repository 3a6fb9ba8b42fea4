package overlay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// controllerRuntime is the module whose controllers announce what they reconcile, and what they read from caches.
const controllerRuntime = "sigs.k8s.io/controller-runtime"

// The files of the module that change. An added statement or file calls package agent of the overlay.
const (
	controllerFile = "pkg/internal/controller/controller.go"
	readerFile     = "pkg/cache/internal/cache_reader.go"
	wrapperFile    = "pkg/cache/internal/zz_threelaws.go"
	resultFile     = "pkg/reconcile/reconcile.go" // it does not change

	agentImport = "; import threelaws \"threelaws/agent\""
	result      = "threelaws" // together with the _ after it, the name of the result
	begin       = " defer func(end func(bool, int64)) { end(err != nil%s, int64(threelaws_.RequeueAfter)) }" +
		"(threelaws.Begin(c.Name, fmt.Sprint(req)));"
	requeued = " || threelaws_.Requeue && threelaws_.RequeueAfter <= 0" // the field Requeue is deprecated
)

// wrapper has methods in place of the reader's own methods, which get other names.
const wrapper = `package internal

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	threelaws "threelaws/agent"
)

func (c *CacheReader) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	err := c.threelawsGet(ctx, key, out, opts...)
	o := threelaws.Object{Namespace: key.Namespace, Name: key.Name}
	if c.scopeName == meta.RESTScopeNameRoot {
		o.Namespace = ""
	}
	if err == nil {
		o.Version = out.GetResourceVersion()
	}
	if err == nil || apierrors.IsNotFound(err) {
		threelaws.Saw(c.groupVersionKind.Group, c.groupVersionKind.Kind, o)
	}
	return err
}

func (c *CacheReader) List(ctx context.Context, out client.ObjectList, opts ...client.ListOption) error {
	err := c.threelawsList(ctx, out, opts...)
	if err != nil {
		return err
	}
	var objects []threelaws.Object
	if err := meta.EachListItem(out, func(item runtime.Object) error {
		m, err := meta.Accessor(item)
		if err == nil {
			objects = append(objects, threelaws.Object{Namespace: m.GetNamespace(), Name: m.GetName(), Version: m.GetResourceVersion()})
		}
		return err
	}); err == nil {
		threelaws.Saw(c.groupVersionKind.Group, c.groupVersionKind.Kind, objects...)
	}
	return nil
}
`

// announced returns the overlay and the flags of go build with which a program that uses controller-runtime announces its
// reconciles. The module is replaced by a copy in the cache. If it is in a vendor folder, files of dir replace its files.
// If the program does not use the module, or the module cannot be changed, announced returns nil.
func (b Build) announced(ctx context.Context, t Toolchain, dir string, base *Files) (files *Files, flags []string) {
	list := append([]string{"list", withoutRace, "-f", "{{.Dir}}"}, b.Flags...)
	cmd := t.command(ctx, b.Dir, append(list, controllerRuntime+"/pkg/internal/controller")...)
	cmd.Env = append(cmd.Env, b.Env...)
	out, err := cmd.Output()
	at := strings.TrimSuffix(strings.TrimSpace(string(out)), filepath.FromSlash("/pkg/internal/controller"))
	if err != nil || at == "" {
		return nil, nil
	}
	changed, err := announcements(at)
	if err != nil {
		return nil, nil
	}
	if strings.HasPrefix(at, t.modules+string(filepath.Separator)) {
		copied, err := copyOf(at, b.Cache, changed)
		if err != nil {
			return nil, nil
		}
		if flags, err = b.replaced(ctx, t, dir, copied); err != nil {
			return nil, nil
		}
		return base, flags
	}
	files = &Files{map[string]string{}}
	for name, by := range base.Replace {
		files.Replace[name] = by
	}
	for name, text := range changed {
		extra := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(extra, text, 0o644); err != nil {
			return nil, nil
		}
		files.Replace[filepath.Join(at, filepath.FromSlash(name))] = extra
	}
	return files, nil
}

// replaced writes to dir a copy of go.mod and go.sum in which controller-runtime is replaced. It returns the flag that
// uses the copy.
func (b Build) replaced(ctx context.Context, t Toolchain, dir, by string) ([]string, error) {
	mod, err := b.module(ctx, t)
	if err != nil {
		return nil, err
	}
	// This replaces an earlier replacement, also one of a single version.
	cmd := t.command(ctx, b.Dir, "mod", "edit", "-print", "-replace="+controllerRuntime+"="+by, mod)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod edit: %w", err)
	}
	sums, err := os.ReadFile(strings.TrimSuffix(mod, ".mod") + ".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	to := filepath.Join(dir, "go.mod")
	return []string{"-modfile=" + to}, errors.Join(os.WriteFile(to, text, 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
}

// module returns the path of the program's go.mod. It returns an error if a go.mod of another name cannot be used.
func (b Build) module(ctx context.Context, t Toolchain) (string, error) {
	cmd := t.command(ctx, b.Dir, "env", "-json", "GOMOD", "GOWORK", "GOFLAGS")
	cmd.Env = append(cmd.Env, b.Env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	var env struct{ GOMOD, GOWORK, GOFLAGS string }
	if err := json.Unmarshal(out, &env); err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	if env.GOWORK != "" || strings.Contains(env.GOFLAGS+strings.Join(b.Flags, " "), "-modfile") {
		return "", errors.New("the go command uses a workspace, or another go.mod")
	}
	return env.GOMOD, nil
}

// copyOf returns a copy of the module with the changed files. Its path is always the same, so that Go's build cache is
// used.
func copyOf(at, cache string, changed map[string][]byte) (string, error) {
	h := sha256.New()
	h.Write([]byte(at)) // a fork may have the same name and version
	for _, name := range []string{controllerFile, readerFile, wrapperFile} {
		h.Write(changed[name])
	}
	to := filepath.Join(cache, filepath.Base(at)+"-"+hex.EncodeToString(h.Sum(nil))[:12])
	if _, err := os.Stat(to); err == nil {
		return to, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(cache, "copy")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := os.CopyFS(fresh, os.DirFS(at)); err != nil {
		return "", err
	}
	for name, text := range changed {
		if err := os.WriteFile(filepath.Join(fresh, filepath.FromSlash(name)), text, 0o644); err != nil {
			return "", err
		}
	}
	if err := os.Rename(fresh, to); err != nil {
		if _, again := os.Stat(to); again != nil {
			return "", err
		}
	}
	return to, nil
}

// announcements returns the changed files of a copy of controller-runtime.
func announcements(at string) (map[string][]byte, error) {
	results, err := os.ReadFile(filepath.Join(at, filepath.FromSlash(resultFile)))
	if err != nil {
		return nil, err
	}
	begin := fmt.Sprintf(begin, map[bool]string{true: requeued}[bytes.Contains(results, []byte("\tRequeue bool\n"))])
	controller, err := edited(filepath.Join(at, filepath.FromSlash(controllerFile)), agentImport,
		func(f *ast.FuncDecl) []insertion {
			if f.Name.Name != "Reconcile" || f.Type.Results == nil || len(f.Type.Results.List) != 2 {
				return nil
			}
			return []insertion{{f.Type.Results.List[0].Pos(), result}, {f.Body.Lbrace + 1, begin}}
		})
	if err != nil {
		return nil, err
	}
	reader, err := edited(filepath.Join(at, filepath.FromSlash(readerFile)), "",
		func(f *ast.FuncDecl) []insertion {
			if f.Name.Name == "Get" || f.Name.Name == "List" {
				return []insertion{{f.Name.Pos(), "threelaws"}}
			}
			return nil
		})
	return map[string][]byte{controllerFile: controller, readerFile: reader, wrapperFile: []byte(wrapper)}, err
}

type insertion struct {
	at   token.Pos
	text string
}

// edited returns a Go file with a text after its package clause. For a method, it makes the insertions that edit returns,
// which are sorted by position.
func edited(path, first string, edit func(*ast.FuncDecl) []insertion) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	added := 0
	insert := func(at token.Pos, what string) {
		offset := set.Position(at).Offset + added
		text = slices.Insert(text, offset, []byte(what)...)
		added += len(what)
	}
	insert(file.Name.End(), first)
	for _, d := range file.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Recv != nil && f.Body != nil {
			for _, i := range edit(f) {
				insert(i.at, i.text)
			}
		}
	}
	return text, nil
}
