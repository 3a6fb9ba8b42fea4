package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// announce creates a Lease and an Event, as a manager with leader election does before its controllers start.
func announce() {
	for path, object := range map[string]string{
		"apis/coordination.k8s.io/v1/namespaces/default/leases": `{"metadata":{"generateName":"lock-"}}`,
		"api/v1/namespaces/default/events": `{"metadata":{"generateName":"elected-"},"reason":"LeaderElection",` +
			`"involvedObject":{"kind":"Lease","namespace":"default","name":"lock"}}`,
	} {
		r, err := http.Post("http://apiserver/"+path, "application/json", strings.NewReader(object))
		if err != nil {
			panic(err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusCreated {
			panic(r.Status)
		}
	}
}

// renew updates a leader election lock, as old versions of client-go do.
func renew() {
	method, url := http.MethodPost, api+"endpoints"
	for range time.Tick(2 * time.Second) {
		record := fmt.Sprintf(`{"holderIdentity":"keeper","renewTime":%q}`, time.Now().UTC().Format(time.RFC3339))
		lock, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{
			"name": "lock", "annotations": map[string]string{"control-plane.alpha.kubernetes.io/leader": record}}})
		req, _ := http.NewRequest(method, url, bytes.NewReader(lock))
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			continue
		}
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		method, url = http.MethodPut, api+"endpoints/lock"
	}
}

// retry sends a patch without an effect, and an Event, at the longest interval of client-go's queues.
func retry() {
	for range time.Tick(1000 * time.Second) {
		req, _ := http.NewRequest(http.MethodPatch, api+"configmaps/m0", strings.NewReader("{}"))
		req.Header.Set("Content-Type", "application/merge-patch+json")
		if r, err := http.DefaultClient.Do(req); err == nil {
			r.Body.Close()
		}
		sendRefused()
	}
}

// follow watches the lock.
func follow() {
	if r, err := http.Get(api + "endpoints?watch=1"); err == nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}

// report sends an Event every minute.
func report() {
	for range time.Tick(time.Minute) {
		sendRefused()
	}
}

// sendRefused sends an Event that the server refuses.
func sendRefused() {
	r, err := http.Post("http://apiserver/apis/events.k8s.io/v1/namespaces/default/events", "application/json",
		strings.NewReader(`{"metadata":{"name":"old"}}`))
	if err == nil {
		r.Body.Close()
	}
}
