package serverdiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/internal/vectors/replay"
)

// rerecord sends the requests of the cases in a directory to a server. It rewrites the file of a case if responses
// differ. It reports each difference, and each response that it cannot record. At the end it deletes the namespace of
// each case.
func rerecord(dir string, h http.Handler, tell func(what string)) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: there are no recorded cases", dir)
	}
	for i, file := range files {
		raw, readErr := os.ReadFile(file)
		if readErr != nil {
			return readErr
		}
		again, caseErr := recordAgain(raw, h, fmt.Sprintf("record-%x-%d", time.Now().UnixMilli(), i), tell)
		if caseErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", file, caseErr))
		} else if !bytes.Equal(raw, again) {
			err = errors.Join(err, os.WriteFile(file, again, 0o644))
		}
	}
	return err
}

// recordAgain returns a recorded case with the responses of the server.
func recordAgain(raw []byte, h http.Handler, namespace string, tell func(what string)) ([]byte, error) {
	var c vectors.Recording
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	all, err := vectors.Decode(raw)
	if err != nil {
		return nil, err
	}
	if len(c.Controllers) > 0 {
		tell(c.Name() + ": not recorded, because controllers ran: " + strings.Join(c.Controllers, ", "))
		return raw, nil
	}
	b, err := replay.Begin(h, &c, namespace)
	if err != nil {
		return nil, err
	}
	defer replay.Send(h, "DELETE", "/api/v1/namespaces/"+namespace, "", nil, "")
	for _, name := range names.FindAllString(string(raw), -1) { // another case may have used the name itself
		first, rest, dot := strings.Cut(strings.TrimPrefix(name, "$name:"), ".")
		if first += namespace[len("record"):]; dot {
			first += "." + rest
		}
		b.Bind(name, strings.ToLower(first))
	}
	defer clean(h, &c, b)
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		time.Sleep(time.Duration(ex.Pause * float64(time.Second)))
		if ex.Method == "" || ex.Watch != nil || ex.ConcurrentGroup != 0 {
			tell(fmt.Sprintf("%s %d: kept, because it is a watch, a concurrent request or no request", c.Name(), ex.N))
			continue
		}
		w, why := replay.Exchange(h, &c, b, ex)
		if strings.HasPrefix(ex.Path, crds) && ex.Method != "GET" && w.Code < 300 {
			warm(h, w.Body.Bytes())
		}
		if why != nil {
			tell(fmt.Sprintf("%s %d: %v", c.Name(), ex.N, why))
			all.(map[string]any)["exchanges"].([]any)[i].(map[string]any)["response"] = response(&c, b, w.Code,
				w.Header().Values("Warning"), w.Body.Bytes())
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err = encoder.Encode(all)
	return out.Bytes(), err
}

// names matches placeholders for names that the recorder chose.
var names = regexp.MustCompile(`\$name:[A-Za-z0-9-]+(?:\.[A-Za-z0-9]+)*`)

// crdDelay is how long warm sleeps until a real server uses a changed CRD, and again until the caches of the CRD's
// versions are filled.
var crdDelay = 2 * time.Second

// warm waits until a changed CRD is in force. The first list of each version fills a cache.
func warm(h http.Handler, raw []byte) {
	var crd apiextensionsv1.CustomResourceDefinition
	_ = json.Unmarshal(raw, &crd)
	time.Sleep(crdDelay)
	for _, v := range crd.Spec.Versions {
		replay.Send(h, "GET", "/apis/"+crd.Spec.Group+"/"+v.Name+"/"+crd.Spec.Names.Plural, "", nil, "")
	}
	time.Sleep(crdDelay)
}

// clean deletes the cluster-scoped objects that a case created, whatever their finalizers are.
func clean(h http.Handler, c *vectors.Recording, b *vectors.Binding) {
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		var created struct{ Metadata struct{ Name string } }
		if ex.Method != "POST" || ex.Response.Status != http.StatusCreated || strings.Contains(ex.Path, "/namespaces/") ||
			json.Unmarshal(ex.Response.Body, &created) != nil {
			continue
		}
		path := b.Fill(ex.Path + "/" + created.Metadata.Name)
		replay.Send(h, "DELETE", path, "", nil, "")
		replay.Send(h, "PATCH", path, "", map[string]string{"content-type": "application/merge-patch+json"},
			`{"metadata":{"finalizers":null},"spec":{"finalizers":null}}`)
	}
}

// response returns a response with the placeholders of a case, and with new placeholders for new values.
func response(c *vectors.Recording, b *vectors.Binding, code int, warnings []string, body []byte) map[string]any {
	n := &notes{names: b.ByValue(), counts: map[string]int{}, began: time.Now()}
	for _, p := range n.names {
		form, number, _ := strings.Cut(p[1:], ":")
		if i, err := strconv.Atoi(number); err == nil {
			n.counts[form] = max(n.counts[form], i)
		}
	}
	v, err := vectors.Decode(n.body(body))
	if err != nil {
		v = string(body)
	}
	if !c.Managed {
		vectors.DropManaged(v)
	}
	out := map[string]any{"status": code, "body": v}
	for _, text := range warnings {
		texts, _ := out["warnings"].([]any)
		out["warnings"] = append(texts, n.text(replay.Unquoted(text)))
	}
	return out
}
