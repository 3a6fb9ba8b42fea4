package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// outside panics if the process can reach something outside the world: programs, the network, or the files in dir,
// which has a file "kept".
func outside(dir string) {
	refused("a program", exec.Command("/bin/true").Run(), syscall.EPERM)
	refused("a program by a system call", syscall.Exec("/bin/true", nil, nil), syscall.EPERM)
	for _, family := range []int{syscall.AF_INET, syscall.AF_INET6, syscall.AF_UNIX} {
		_, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
		refused("a socket", err, syscall.EPERM)
	}
	refused("a signal", syscall.Kill(syscall.Getppid(), 0), syscall.EPERM)
	refused("an owner of a file", os.Chown(dir, os.Getuid(), os.Getgid()), syscall.EPERM)
	if os.Getpid() != 1 || os.Getppid() != 0 {
		panic(fmt.Sprint("the numbers of the process and its parent are ", os.Getpid(), os.Getppid()))
	}
	files(dir)
	paths()
	names()
}

// paths panics if the program can see the name of its own directory, which differs between runs.
func paths() {
	dir, err := os.Getwd()
	must(err)
	own, err := os.CreateTemp("", "own")
	must(err)
	_, err = os.OpenFile("/tmp", os.O_WRONLY, 0)
	seen := []any{dir, own.Name(), err, os.Remove("/tmp/none"), os.Chmod("/tmp/none", 0), os.Mkdir("/tmp", 0), os.Truncate("/tmp/none", 0),
		os.Rename("/tmp/none", "/tmp/other"), os.Link("/tmp/none", "/tmp"), os.Symlink("none", "/tmp")}
	for _, text := range seen {
		if text == nil || strings.Contains(fmt.Sprint(text), "threelaws-root") {
			panic(fmt.Sprint("the program sees ", text))
		}
	}
	if dir != "/" || !strings.HasPrefix(own.Name(), "/tmp/own") {
		panic(fmt.Sprint("the working directory and a new file are ", dir, own.Name()))
	}
}

func files(dir string) {
	kept := filepath.Join(dir, "kept")
	_, err := syscall.Open(kept, syscall.O_WRONLY, 0)
	refused("a file by a system call", err, syscall.EACCES)
	_, err = syscall.Open(filepath.Join(dir, "new"), syscall.O_CREAT|syscall.O_WRONLY, 0o600)
	refused("a new file by a system call", err, syscall.EACCES)
	refused("a file that is removed by a system call", syscall.Unlink(kept), syscall.EACCES)
	root, err := os.OpenRoot(dir)
	must(err)
	_, err = root.Create("new")
	refused("a new file in a root", err, syscall.EACCES)
	refused("the time of a file", os.Chtimes(kept, time.Time{}, time.Now()), fs.ErrNotExist)

	own, err := os.MkdirTemp("", "")
	must(err)
	must(os.WriteFile(filepath.Join(own, "kept"), nil, 0o600))
	must(os.Chtimes(filepath.Join(own, "kept"), time.Time{}, time.Now()))
	root, err = os.OpenRoot(own)
	must(err)
	_, err = root.Create("new")
	must(err)
	_, err = syscall.Open("/dev/null", syscall.O_WRONLY|syscall.O_TRUNC, 0)
	must(err)
	for dir, want := range map[string]int{own: 2, os.Getenv("HOME"): 0} {
		if all, err := os.ReadDir(dir); err != nil || len(all) != want {
			panic(fmt.Sprint(dir, " has ", all, err))
		}
	}
}

func names() {
	ctx, host, r := context.Background(), "example.com", net.DefaultResolver
	_, err := http.Get("http://" + host)
	unknown(err)
	_, err = net.LookupHost(host)
	unknown(err)
	_, err = net.LookupIP(host)
	unknown(err)
	_, err = r.LookupCNAME(ctx, host)
	unknown(err)
	_, _, err = r.LookupSRV(ctx, "dns", "tcp", host)
	unknown(err)
	_, err = r.LookupMX(ctx, host)
	unknown(err)
	_, err = r.LookupNS(ctx, host)
	unknown(err)
	_, err = r.LookupTXT(ctx, host)
	unknown(err)
	_, err = net.LookupTXT(host)
	unknown(err)
	_, err = r.LookupAddr(ctx, "192.0.2.1")
	unknown(err)
	if all, err := net.LookupHost("localhost"); err != nil || all[0] != "127.0.0.1" {
		panic(fmt.Sprint("localhost is ", all, err))
	}
	const service = "kubernetes.default.svc"
	if all, err := net.LookupHost(service); err != nil || all[0] != "10.96.0.1" {
		panic(fmt.Sprint(service, " is ", all, err))
	}
	if name, err := net.LookupCNAME(service); err != nil || name != service+".cluster.local." {
		panic(fmt.Sprint(service, " has the name ", name, err))
	}
	_, err = net.Dial("tcp", service+":6443")
	refused("dial", err, syscall.ECONNREFUSED)
	answer, err := http.Get("https://" + service + "/version")
	must(err)
	must(answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		panic(fmt.Sprint("the API server answers ", answer.Status))
	}
}

func refused(what string, err, want error) {
	if !errors.Is(err, want) {
		panic(fmt.Sprintf("%s: %v", what, err))
	}
}

func unknown(err error) {
	if dns := new(net.DNSError); !errors.As(err, &dns) || !dns.IsNotFound {
		panic(err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
