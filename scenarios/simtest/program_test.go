package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// lives counts the program starts in this process, so two runs of a schedule see different numbers.
var lives int

// once returns a program that calls does and then waits until ctx is done.
func once(does func(ctx context.Context, c *kubernetes.Clientset, life int) error) host.Controller {
	return bubble.Controller(host.Controller{Name: "keeper", For: configMaps},
		func(ctx context.Context, cfg *rest.Config) error {
			lives++
			cfg.ContentType = "application/json"
			if lives%2 == 0 {
				cfg.ContentType = "application/vnd.kubernetes.protobuf"
			}
			client, err := kubernetes.NewForConfig(cfg)
			if err == nil {
				err = does(ctx, client, lives)
			}
			if err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
}

// The requests of a program are compared. If two runs differ in a field, the report contains the field. Requests with
// different encodings can be equal.
func TestRequestsAreCompared(t *testing.T) {
	secret := func(stamp string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "m3", Labels: map[string]string{"a": "1", "b": "2", "c": "3"}},
			Data: map[string][]byte{"stamp": []byte(stamp)}}
	}
	create := func(ctx context.Context, c *kubernetes.Clientset, s *corev1.Secret) error {
		_, err := c.CoreV1().Secrets("default").Create(ctx, s, metav1.CreateOptions{})
		return err
	}
	patch := func(ctx context.Context, c *kubernetes.Clientset, form types.PatchType, body string) error {
		_, err := c.CoreV1().ConfigMaps("default").Patch(ctx, "m", form, []byte(body), metav1.PatchOptions{FieldManager: "keeper"})
		return err
	}
	for _, test := range []struct {
		name, want string
		does       func(ctx context.Context, c *kubernetes.Clientset, life int) error
	}{
		{"counter", `keeper: create secrets default/m3: data.stamp: "life \d+" then "life \d+"\nusual causes: `,
			func(ctx context.Context, c *kubernetes.Clientset, life int) error {
				return create(ctx, c, secret(fmt.Sprint("life ", life)))
			}},
		{"time of the bubble", "", func(ctx context.Context, c *kubernetes.Clientset, _ int) error {
			time.Sleep(time.Minute)
			return create(ctx, c, secret(time.Now().String()))
		}},
		{"encodings", "", func(ctx context.Context, c *kubernetes.Clientset, life int) error {
			body := `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"2"}}`
			if life%2 == 0 {
				body = "data: {b: '2', a: '1'}\nkind: ConfigMap\napiVersion: v1\n"
			}
			if err := patch(ctx, c, types.ApplyPatchType, body); err != nil {
				return err
			}
			body = `{"data":{"c":"1","d":"2"}}`
			if life%2 == 0 {
				body = ` {"data": {"d":"2", "c":"\u0031"}}`
			}
			if err := patch(ctx, c, types.MergePatchType, body); err != nil {
				return err
			}
			return create(ctx, c, secret("same"))
		}},
		{"patch", `keeper: patch configmaps default/m: data.a: "\d+" then "\d+"\n`,
			func(ctx context.Context, c *kubernetes.Clientset, life int) error {
				return patch(ctx, c, types.MergePatchType, fmt.Sprintf(`{"data":{"a":"%d"}}`, life))
			}},
		{"options", `keeper: delete configmaps default/m: options.gracePeriodSeconds: \d+ then \d+\n`,
			func(ctx context.Context, c *kubernetes.Clientset, life int) error {
				grace := int64(life)
				return c.CoreV1().ConfigMaps("default").Delete(ctx, "m", metav1.DeleteOptions{GracePeriodSeconds: &grace})
			}},
		{"number of requests", `keeper: list configmaps default: only in the (first|second) run\n`,
			func(ctx context.Context, c *kubernetes.Clientset, life int) (err error) {
				for range life % 2 {
					_, err = c.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
				}
				return err
			}},
		{"review", `keeper: POST /apis/authorization\.k8s\.io/v1/selfsubjectaccessreviews: spec\.resourceAttributes\.name: "\d+" then "\d+"\n`,
			func(ctx context.Context, c *kubernetes.Clientset, life int) error {
				review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
					ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Name: fmt.Sprint(life)}}}
				_, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
				return err
			}},
		{"encodings of a review", "", func(ctx context.Context, c *kubernetes.Clientset, _ int) error {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Name: "m"}}}
			_, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err
		}},
		{"discovery", "", func(_ context.Context, c *kubernetes.Clientset, _ int) error {
			_, _, err := c.Discovery().ServerGroupsAndResources()
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}}
			_, err := (&simtest.Case{Controllers: []host.Controller{once(test.does)}, Objects: []runtime.Object{kept},
				Schedules: 1}).Explore(t.Context(), "w")
			switch want := `^run 0 \(seed \d+\): two runs of one schedule differ at step \d+: ` + test.want; {
			case test.want == "" && err != nil:
				t.Errorf("it differs: %v", err)
			case test.want != "" && (err == nil || !regexp.MustCompile(want).MatchString(err.Error())):
				t.Errorf("%v\ndoes not match %s", err, want)
			}
		})
	}
}

// A kept file contains choices but no hash. If the program sends other values, the file can still be replayed. If the
// program sends other requests, the file does not fit.
func TestKeptFileOfAProgramThatChanged(t *testing.T) {
	first, stamp := "secrets", "then"
	c := &simtest.Case{Controllers: []host.Controller{once(func(ctx context.Context, c *kubernetes.Clientset, _ int) error {
		if first == "events" {
			if _, err := c.CoreV1().Events("default").List(ctx, metav1.ListOptions{}); err != nil {
				return err
			}
		}
		list, err := c.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		m := metav1.ObjectMeta{Name: fmt.Sprint("n", len(list.Items)), Annotations: map[string]string{"stamp": stamp}}
		_, err = c.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: m}, metav1.CreateOptions{})
		return err
	})}, Faults: map[string]int{"crash": 1}, Schedules: 50,
		Settled: func(user host.Client) error {
			all, err := user.List(t.Context(), secrets, "default", metav1.ListOptions{})
			if err == nil && len(all) > 1 {
				err = errors.New("there are two Secrets")
			}
			return err
		}}
	x, err := c.Explore(t.Context(), "w")
	if err != nil || len(x.Failures) != 1 {
		t.Fatalf("%+v, %v", x, err)
	}
	path := filepath.Join(t.TempDir(), "kept.txtar")
	if err := x.Failures[0].WriteFile(path); err != nil {
		t.Fatal(err)
	}
	replay := func() (fails bool, hash, text string) {
		res := scenarios.RunFile(path, scenarios.Options{Registry: c.Registry(), Inspect: func(r *scenarios.Run) {
			fails = len(r.Failures()) > 0
		}})
		for _, e := range res.Errors {
			text += e.Text
		}
		return fails, res.Hash, text
	}
	fails, then, text := replay()
	if !fails {
		t.Fatalf("the replay does not fail: %s", text)
	}
	stamp = "now"
	if fails, now, text := replay(); !fails || now == then {
		t.Errorf("with other values, the replay fails: %t, with the hashes %s and %s: %s", fails, then, now, text)
	}
	first = "events"
	if _, _, text := replay(); !strings.Contains(text, "the schedule does not fit the file: ") {
		t.Errorf("with another request, the file still fits: %q", text)
	}
}
