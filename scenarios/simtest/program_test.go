package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// A program that draws by itself is told so, with what is mostly the reason.
func TestProgramThatDraws(t *testing.T) {
	of := host.Controller{Name: "draws", For: configMaps}
	draws := bubble.Controller(of, func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		names := map[string]bool{}
		for i := range 20 {
			names[fmt.Sprint("n", i)] = true
		}
		for name := range names {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return nil
	})
	_, err := (&simtest.Case{Controllers: []host.Controller{draws}, Schedules: 20}).Explore(t.Context(), "w")
	if err == nil || !strings.Contains(err.Error(), "two runs of one schedule differ at step ") ||
		!strings.Contains(err.Error(), "bubble.NewInformer") {
		t.Errorf("%v", err)
	}
}
