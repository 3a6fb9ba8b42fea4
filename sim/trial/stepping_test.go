package trial_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// steps matches a call that takes a step of a world.
var steps = regexp.MustCompile(`\b(?:[wW]orld(?:\(\))?|w)\.(?:Step|Take)\(`)

// judges matches the creation of a judge.
var judges = regexp.MustCompile(`\blaw\.NewJudge\(`)

// Only a trial runs worlds under the laws. Apart from trials, only the kernel, the runner in real time and the searches
// take steps. Only package audit also creates a judge.
func TestOnlyTrialsStepWorlds(t *testing.T) {
	may := []string{"sim/world.go", "sim/trial/", "internal/wallclock/", "sim/law/", "internal/explore/",
		"internal/audit/judge.go"}
	const root = "../.."
	looked := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		looked++
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, m := range may {
			if strings.HasPrefix(filepath.ToSlash(inside), m) {
				return nil
			}
		}
		text, err := os.ReadFile(path)
		if at := steps.Find(text); at != nil {
			t.Errorf("%s has %s: run the world through a trial", path, at)
		}
		if at := judges.Find(text); at != nil {
			t.Errorf("%s has %s: run the world through a trial", path, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 100 {
		t.Errorf("found only %d files of the project", looked)
	}
}

// beats returns a controller that writes the time into its object every two seconds.
func beats() host.Controller {
	return syncs(later(2*time.Second, writes(func(_ *corev1.ConfigMap, now time.Time) string {
		return now.Format(time.RFC3339)
	})))
}

// waits returns a controller that creates a Secret twelve hours after its first reconcile.
func waits() host.Controller {
	const morning = "default/morning"
	waiting := false
	return syncs(func(ctx context.Context, r reads, key string) error {
		if !waiting {
			r.Queue.AddAfter(morning, 12*time.Hour)
			waiting = true
		}
		if key != morning {
			return nil
		}
		_, err := r.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
		return err
	})
}

// wanders returns a controller that reads another object in each reconcile.
func wanders() host.Controller {
	return syncs(func(_ context.Context, r reads, key string) error {
		r.Queue.AddAfter(key+"x", 10*time.Second)
		return nil
	})
}

// While the world waits for a distant timer, heartbeats do not count for the limits of Settle. An endless chain of
// timers counts.
func TestHeartbeatsDoNotCount(t *testing.T) {
	for _, c := range []struct {
		name   string
		other  host.Controller
		broken string // the violated law; "" for none
		within time.Duration
		made   int
	}{
		{"acts after twelve hours", waits(), "", 15 * time.Hour, 1},
		{"looks at another every time", wanders(), "EXACT-7", 2 * time.Hour, 0},
	} {
		w := trial.New(trial.Options{})
		t.Cleanup(w.Stop)
		w.Start("beats", beats())
		w.Start("other", c.other)
		object(t, w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		how := w.Settle(trial.Limits{Writes: 5000, Steps: 30_000})
		broken := ""
		if b := w.Broken(); b != nil {
			broken = b.Law.ID
		}
		if n := w.Server.Len(w.Server.Kind(secrets)); broken != c.broken || how.Settled != (c.broken == "") ||
			how.At > c.within || n != c.made {
			t.Errorf("%s: %+v, breaks %q, %d Secrets", c.name, how, broken, n)
		}
	}
}
