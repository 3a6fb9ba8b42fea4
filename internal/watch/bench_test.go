package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/lru"
)

// podJSON is a pod as kubelets write it: a third of it is managedFields.
func podJSON(i, version int) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-%d","generateName":"web-","namespace":"t",`+
		`"uid":"uid-%d","resourceVersion":"%d","creationTimestamp":"2026-11-23T10:00:00Z","labels":{"app":"web"},`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"uid-web","controller":true,`+
		`"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update",`+
		`"apiVersion":"v1","time":"2026-11-23T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":`+
		`{"f:generateName":{},"f:labels":{".":{},"f:app":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"uid-web\"}":{}}},`+
		`"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},`+
		`"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},"f:dnsPolicy":{},`+
		`"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},`+
		`"f:terminationGracePeriodSeconds":{}}}},{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":`+
		`"2026-11-23T10:00:%02dZ","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":`+
		`{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:phase":{},"f:startTime":{}}},`+
		`"subresource":"status"}]},"spec":{"volumes":[{"name":"token","projected":{"sources":[{"serviceAccountToken":`+
		`{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt",`+
		`"path":"ca.crt"}]}}],"defaultMode":420}}],"containers":[{"name":"c","image":"registry.example/web:%d","resources":`+
		`{"limits":{"cpu":"1","memory":"1Gi"}},"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"volumeMounts":`+
		`[{"name":"token","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],`+
		`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}],`+
		`"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":`+
		`"default","nodeName":"n1","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":`+
		`"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},"status":`+
		`{"phase":"Running","conditions":[{"type":"Ready","status":"%v","lastTransitionTime":"2026-11-23T10:00:00Z"}],`+
		`"startTime":"2026-11-23T10:00:00Z"}}`, i, i, version, version%60, version%3, version%2 == 0)
}

// version is an object that is written as JSON.
func version(t testing.TB, k *Kind, text string) *Version {
	t.Helper()
	var content map[string]any
	err := json.Unmarshal([]byte(text), &content)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(k, content)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// BenchmarkEvents is what an event costs of a cluster of 5,000 pods, from the bytes of the
// watch on; each writes the spec. At 200 a second a core is busy for share-%, where it has
// nothing else to do.
func BenchmarkEvents(b *testing.B) {
	const objects = 5000
	c := NewCluster(Options{Patience: 30 * time.Second, Stuck: time.Minute, Tell: func(f Finding) { b.Fatal(f) }})
	var pods *Kind
	for _, k := range kindsOfLogs {
		c.Look(k)
		if k.Kind == "Pod" {
			pods = k
		}
	}
	var all []*Version
	for i := range objects {
		all = append(all, version(b, pods, podJSON(i, i+1)))
	}
	web := version(b, kindsOfLogs[3], `{"metadata":{"name":"web","namespace":"t","uid":"uid-web",`+
		`"resourceVersion":"1","creationTimestamp":"2026-11-23T10:00:00Z"}}`)
	for _, k := range kindsOfLogs {
		switch k.Kind {
		case "Pod":
			c.Listed(began, k, all)
		case "ReplicaSet":
			c.Listed(began, k, []*Version{web})
		default:
			c.Listed(began, k, nil)
		}
	}
	all = nil
	play := func(n int, from int) {
		news := make(chan heard, 1000)
		f := &follower{Context: b.Context(), kind: pods, news: news}
		for done := 0; done < n; done += 1000 {
			var shown [][]byte
			for i := range 1000 {
				at := from + done + i
				shown = append(shown, []byte(podJSON(at%objects, objects+at+1)))
			}
			b.StartTimer()
			for _, text := range shown {
				var pod unstructured.Unstructured
				if err := errors.Join(pod.UnmarshalJSON(text), f.Update(&pod)); err != nil {
					b.Fatal(err)
				}
				h := <-news
				h.tell(c)
			}
			c.Tick(began.Add(time.Duration(from+done) * 5 * time.Millisecond))
			b.StopTimer()
		}
	}
	b.StopTimer()
	play(objects, 0) // every body is kept from now on
	before := live()
	b.ResetTimer()
	play(b.N, objects)
	per := float64(b.Elapsed().Nanoseconds()) / float64((b.N+999)/1000*1000)
	b.ReportMetric(per, "ns/event")
	b.ReportMetric(1e9/per, "events/s")
	b.ReportMetric(200*per/1e7, "share-%")
	b.ReportMetric(float64(live())/(1<<20), "live-MB")
	b.ReportMetric(float64(live()-before)/(1<<20), "grown-MB")
	runtime.KeepAlive(c)
}

// live is how many bytes of the heap are in use.
func live() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// It takes no more memory the longer it looks, whatever comes and goes.
func TestMemoryIsFlat(t *testing.T) {
	w := newWorld(t, web)
	w.cl.Tell = func(Finding) {}
	churn := func(n int) {
		for i := range n {
			name := strconv.Itoa(i)
			w.create("op", "ConfigMap t/c"+name+` {"data":{"mode":"`+name+`"}}`)
			w.write("b", "ConfigMap/c"+name, "data.mode=x")
			w.delete("ConfigMap/c" + name)
			w.found = nil
		}
	}
	w.cl.fights.tracks, w.cl.gone = lru.New(500), lru.New(500)
	churn(1000) // the tables are full
	before := live()
	churn(5000)
	if grown := live() - before; grown > 1<<18 {
		t.Errorf("it has grown by %d bytes in 15,000 events", grown)
	}
	runtime.KeepAlive(w)
}
