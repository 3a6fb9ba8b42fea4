package bubble

import (
	"context"
	"os"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientfeatures "k8s.io/client-go/features"
)

// settle makes the settings of the Go process that the package's documentation names.
var settle = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = nil
	utilruntime.PanicHandlers = append([]func(context.Context, any){toldOfPanic}, utilruntime.PanicHandlers...)
	clientfeatures.ReplaceFeatureGates(gates{clientfeatures.FeatureGates()})
	if err := os.Setenv("GODEBUG", "randseednop=0,"+os.Getenv("GODEBUG")); err != nil {
		panic("bubble: " + err.Error())
	}
})

// gates are client-go's features without WatchListClient.
type gates struct{ clientfeatures.Gates }

func (g gates) Enabled(f clientfeatures.Feature) bool {
	return f != clientfeatures.WatchListClient && g.Gates.Enabled(f)
}
