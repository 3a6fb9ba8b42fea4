// Package keeper keeps a Secret beside each ConfigMap, without any library.
package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Keeper creates a Secret for each ConfigMap.
type Keeper struct {
	API   string // the URL of the API server
	HTTP  *http.Client
	Sleep time.Duration // how long to wait after a failure

	Once bool // a bug: a Secret that was deleted is not created again

	made map[string]bool
}

type object struct {
	Metadata struct {
		Name              string `json:"name"`
		UID               string `json:"uid"`
		ResourceVersion   string `json:"resourceVersion"`
		DeletionTimestamp string `json:"deletionTimestamp"`
	} `json:"metadata"`
}

// Run creates Secrets until the context ends.
func (k *Keeper) Run(ctx context.Context) error {
	k.made = map[string]bool{}
	changed := make(chan struct{}, 1)
	for _, kind := range []string{"configmaps", "secrets"} {
		go k.follow(ctx, kind, changed)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
		for k.reconcile(ctx) != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(k.Sleep):
			}
		}
	}
}

func (k *Keeper) url(kind string) string { return k.API + "/api/v1/namespaces/default/" + kind }

// do sends a request and decodes the response into into.
func (k *Keeper) do(ctx context.Context, method, url string, body string, into any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := k.HTTP.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if into == nil || resp.StatusCode >= 300 {
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	return resp.StatusCode, json.NewDecoder(resp.Body).Decode(into)
}

// follow lists and watches a kind, and reports every change.
func (k *Keeper) follow(ctx context.Context, kind string, changed chan<- struct{}) {
	for ctx.Err() == nil {
		var list object
		if code, err := k.do(ctx, http.MethodGet, k.url(kind), "", &list); err != nil || code != http.StatusOK {
			time.Sleep(k.Sleep)
			continue
		}
		tell(changed)
		k.watch(ctx, kind, list.Metadata.ResourceVersion, changed)
	}
}

func tell(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

func (k *Keeper) watch(ctx context.Context, kind, from string, changed chan<- struct{}) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url(kind)+"?watch=1&resourceVersion="+from, nil)
	if err != nil {
		return
	}
	resp, err := k.HTTP.Do(r)
	if err != nil {
		time.Sleep(k.Sleep)
		return
	}
	defer resp.Body.Close()
	for d := json.NewDecoder(resp.Body); ; {
		var e struct {
			Type string `json:"type"`
		}
		if d.Decode(&e) != nil || e.Type == "ERROR" {
			return
		}
		tell(changed)
	}
}

func (k *Keeper) reconcile(ctx context.Context) error {
	var maps struct {
		Items []object `json:"items"`
	}
	if code, err := k.do(ctx, http.MethodGet, k.url("configmaps"), "", &maps); err != nil || code != http.StatusOK {
		return fmt.Errorf("configmaps: %d, %w", code, err)
	}
	for _, m := range maps.Items {
		if m.Metadata.Name == "kube-root-ca.crt" || m.Metadata.DeletionTimestamp != "" {
			continue
		}
		if err := k.keep(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) keep(ctx context.Context, m object) error {
	ref := fmt.Sprintf(`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"controller":true,`+
		`"blockOwnerDeletion":true}]`, m.Metadata.Name, m.Metadata.UID)
	var s object
	switch code, err := k.do(ctx, http.MethodGet, k.url("secrets")+"/"+m.Metadata.Name, "", &s); {
	case err != nil:
		return err
	case code == http.StatusOK || k.Once && k.made[m.Metadata.Name]:
		return nil
	case code != http.StatusNotFound:
		return fmt.Errorf("secret %s: %d", m.Metadata.Name, code)
	}
	code, err := k.do(ctx, http.MethodPost, k.url("secrets"), fmt.Sprintf(
		`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,%s}}`, m.Metadata.Name, ref), nil)
	if code == http.StatusCreated && k.Once {
		k.made[m.Metadata.Name] = true
	} else if err == nil && code != http.StatusCreated {
		err = fmt.Errorf("secret %s: %d", m.Metadata.Name, code)
	}
	return err
}
