package serverdiff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/vectors"
	"github.com/threelaws/threelaws/internal/vectors/replay"
)

// rerecord sends the requests of the cases in a directory to a server, and rewrites the files of cases whose responses
// differ. It reports each difference and whatever it does not record. The namespace of each case is deleted at the end.
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
	for i := range c.Exchanges {
		ex := &c.Exchanges[i]
		time.Sleep(time.Duration(ex.Pause * float64(time.Second)))
		if ex.Method == "" || ex.Watch != nil || ex.ConcurrentGroup != 0 {
			tell(fmt.Sprintf("%s %d: kept, because it is a watch, a concurrent request or no request", c.Name(), ex.N))
			continue
		}
		if w, why := replay.Exchange(h, &c, b, ex); why != nil {
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
