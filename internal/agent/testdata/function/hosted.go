//go:build overlaid

// Command function hosts a function in place of a main. Its first argument selects more behaviour.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"threelaws/agent" // exists only in the overlay

	"github.com/threelaws/threelaws/internal/agent/testdata/copier"
)

func init() { agent.HostFunction(run) }

var (
	mu   sync.Mutex
	runs int
)

// order returns the iteration orders of maps and selects. times is the number of maps and groups of selects.
func order(times int) (all string) {
	one, other := make(chan int), make(chan int)
	close(one)
	close(other)
	for range times {
		for k := range map[string]bool{"a": true, "b": true, "c": true, "d": true, "e": true, "f": true, "g": true} {
			all += k
		}
		for range 7 {
			select {
			case <-one:
				all += "0"
			case <-other:
				all += "1"
			}
		}
	}
	return all
}

func run(ctx context.Context) {
	does := ""
	if len(os.Args) > 1 {
		does = os.Args[1]
	}
	runs++
	cfg := &rest.Config{Host: "http://apiserver", Transport: http.DefaultTransport, QPS: -1}
	switch does {
	case "variable": // the next life sees this variable
		cfg.UserAgent = fmt.Sprint(runs)
		if runs%2 == 0 {
			copier.Run(ctx, cfg)
			return
		}
		<-ctx.Done()
		return
	case "cache": // one life in three fills this cache
		if runs%3 == 0 {
			var filled sync.WaitGroup
			filled.Go(func() { order(50) })
			filled.Wait()
		}
		name := order(1)
		if resp, err := http.Get("http://apiserver/api/v1/namespaces/default/secrets/" + name); err == nil {
			resp.Body.Close()
		}
	case "leak":
		go func() {
			for range time.Tick(time.Minute) {
			}
		}()
	case "mutex": // the next life cannot lock this mutex
		mu.Lock()
	case "spin":
		context.AfterFunc(ctx, func() {
			for {
			}
		})
	case "exit":
		context.AfterFunc(ctx, func() { os.Exit(1) })
	case "once":
		if runs > 1 {
			fmt.Println("it runs once")
			os.Exit(1)
		}
	case "files":
		if _, err := os.Stat("/var/lib/state"); err == nil {
			panic("a file of an earlier life is there")
		}
		if err := os.MkdirAll("/var/lib", 0o755); err != nil {
			panic(err)
		}
		if err := os.WriteFile("/var/lib/state", nil, 0o644); err != nil {
			panic(err)
		}
		os.Setenv("STATE", "1")
		os.Chdir("/var/lib")
	}
	copier.Run(ctx, cfg)
}
