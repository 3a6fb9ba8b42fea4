package hosted_test

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func init() {
	klog.SetLogger(logr.Discard()) // upstream's controllers say a great deal
}
