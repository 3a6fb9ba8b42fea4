package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// convert serves a conversion webhook: a Gauge of version v1 has the level 7, where one of version v2 has the level "7cm".
func convert() {
	listen(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/validate" {
			validate(w, r)
			return
		}
		var review struct {
			Request struct {
				UID               string           `json:"uid"`
				DesiredAPIVersion string           `json:"desiredAPIVersion"`
				Objects           []map[string]any `json:"objects"`
			} `json:"request"`
		}
		json.NewDecoder(r.Body).Decode(&review)
		result := map[string]any{"status": "Success"}
		for _, o := range review.Request.Objects {
			o["apiVersion"] = review.Request.DesiredAPIVersion
			spec := o["spec"].(map[string]any)
			switch level := spec["level"].(type) {
			case float64:
				spec["level"] = fmt.Sprint(level, "cm")
			case string:
				n, err := strconv.Atoi(strings.TrimSuffix(level, "cm"))
				if spec["level"] = n; err != nil {
					result = map[string]any{"status": "Failure", "message": "no level: " + level}
				}
			}
		}
		if time.Sleep(3 * time.Second); result["status"] != "Success" {
			review.Request.Objects = nil
		}
		json.NewEncoder(w).Encode(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
			"response": map[string]any{"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": result}})
	})
}

// validate allows an object if there is a Gauge of its name with the level 7.
func validate(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct{ UID, Name string }
	}
	json.NewDecoder(r.Body).Decode(&review)
	var g gauge
	get(http.DefaultClient, "http://apiserver/apis/example.com/v1/namespaces/default/gauges/"+review.Request.Name, &g)
	fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%t}}`,
		review.Request.UID, g.Spec.Level == 7)
}

type gauge struct {
	object
	Spec struct {
		Level int `json:"level"`
	} `json:"spec"`
}

// readGauges lists and watches Gauges of version v1. It writes the level of each into a Secret, and prints each error.
func readGauges() {
	const gauges = "http://apiserver/apis/example.com/v1/namespaces/default/gauges"
	for ; ; time.Sleep(10 * time.Second) {
		var list struct {
			object
			Items   []gauge `json:"items"`
			Message string  `json:"message"`
		}
		get(http.DefaultClient, gauges, &list)
		if list.Message != "" {
			complain("list: " + list.Message)
			continue
		}
		for _, g := range list.Items {
			measure(g)
		}
		r, err := http.Get(gauges + "?watch=1&resourceVersion=" + list.Metadata.ResourceVersion)
		if err != nil {
			continue
		}
		for d := json.NewDecoder(r.Body); ; {
			var e struct {
				Type   string `json:"type"`
				Object struct {
					gauge
					Message string `json:"message"`
				} `json:"object"`
			}
			if d.Decode(&e) != nil {
				break
			}
			if e.Type == "ERROR" {
				complain("watch: " + e.Object.Message)
				break
			}
			measure(e.Object.gauge)
		}
		r.Body.Close()
	}
}

var complaints = map[string]bool{}

// complain prints a text once.
func complain(text string) {
	if !complaints[text] {
		complaints[text] = true
		fmt.Fprintln(os.Stderr, text)
	}
}

func measure(g gauge) {
	data := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","stringData":{"level":"%d"},"metadata":{"name":"%s-%s"}}`,
		g.Spec.Level, g.Metadata.Name, g.Metadata.ResourceVersion)
	if r, err := http.Post(api+"secrets", "application/json", bytes.NewReader([]byte(data))); err == nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
}
