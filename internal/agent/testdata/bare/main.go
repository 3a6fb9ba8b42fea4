// Command bare creates a Secret for each ConfigMap. It uses only the standard library. Its argument adds a special
// behaviour, such as "deadlock".
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	mathrand "math/rand"
	"net/http"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const api = "http://apiserver/api/v1/namespaces/default/"

type object struct {
	Metadata struct {
		Name            string `json:"name"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

func main() {
	does := ""
	if len(os.Args) > 1 {
		does = os.Args[1]
	}
	if does == "electedcrashloop" {
		announce()
		os.Exit(3)
	}
	if does == "crashloop" {
		fmt.Fprintln(os.Stderr, "cannot find the certificate\nmain.main\n\t/src/main.go:40\nruntime.main\n\t/src/proc.go:290")
		os.Exit(3)
	}
	if does == "usage" {
		flag.CommandLine = flag.NewFlagSet("bare", flag.ExitOnError)
		flag.String("zone", "", "where it runs,\nas the provider calls it")
		flag.CommandLine.Parse([]string{"-zones=a"})
	}
	if does == "webhook" {
		go serve()
	}
	if does == "converts" {
		go convert()
		go readGauges()
	}
	if does == "elected" || does == "retries" || does == "follows" {
		go renew()
	}
	if does == "retries" || does == "follows" {
		go retry()
	}
	if does == "follows" {
		go follow()
	}
	if does == "reports" {
		go report()
	}
	go wait(does)
	client := &http.Client{Transport: &http.Transport{}}
	lists := api + "configmaps"
	if does == "cached" {
		lists += "?resourceVersion=0"
	}
	for {
		var list struct {
			object
			Items []object `json:"items"`
		}
		get(client, lists, &list)
		for _, m := range list.Items {
			keep(client, m, does)
		}
		watch(client, list.Metadata.ResourceVersion, does)
	}
}

var (
	early    = make(chan struct{})
	rw       sync.RWMutex
	locked   sync.Mutex
	group    sync.WaitGroup
	awaiting = sync.NewCond(&sync.Mutex{})
	reader   *os.File
	writer   *os.File
)

// wait blocks for ever, for example by reading from an empty pipe if does is "io".
func wait(does string) {
	switch does {
	case "io":
		reader, writer, _ = os.Pipe()
		reader.Read(make([]byte, 1))
	case "rlock":
		rw.Lock()
		rw.RLock()
	case "rwlock":
		rw.RLock()
		rw.Lock()
	case "mutex":
		locked.Lock()
		go func() { locked.Lock() }()
		<-early
	case "group":
		group.Add(1)
		group.Wait()
	case "cond":
		awaiting.L.Lock()
		awaiting.Wait()
	case "receive":
		<-early
	case "send":
		early <- struct{}{}
	case "select": // the timer ends this select
		select {
		case <-early:
		case <-time.After(time.Hour):
		}
	}
}

// Some libraries start to measure time during package initialization.
func init() {
	go func() {
		for range time.Tick(100 * time.Microsecond) {
		}
	}()
}

// crowd returns a digest of the order in which 600 goroutines run. A processor's run queue holds fewer goroutines.
func crowd() string {
	var turns sync.WaitGroup
	order := fnv.New64a()
	for i := range 600 {
		turns.Go(func() {
			for range 20 {
				fmt.Fprint(order, i, " ")
				runtime.Gosched()
			}
		})
	}
	turns.Wait()
	return fmt.Sprintf("%x", order.Sum64())
}

type node struct{ n, other int }

type place struct {
	name string
	at   *node
}

// addresses returns a digest of the iteration order of maps whose keys are pointers. Pointers differ between processes.
func addresses() string {
	var others []*node
	for range syscall.Getpid() % 64 {
		others = append(others, &node{})
	}
	order := fnv.New64a()
	for _, size := range []int{5, 12, 100, 3000} {
		pointers, interfaces, structs, channels := map[*node]int{}, map[any]int{}, map[place]int{}, map[chan int]int{}
		for i := range size {
			at := &node{n: i}
			pointers[at], interfaces[at], structs[place{"at", at}], channels[make(chan int)] = i, i, i, i
			if i%7 == 3 {
				delete(pointers, at)
			}
		}
		for at, i := range pointers {
			fmt.Fprint(order, at.n, i)
			delete(interfaces, at)
		}
		for _, i := range interfaces {
			fmt.Fprint(order, i)
		}
		for at, i := range structs {
			fmt.Fprint(order, at.at.n, i)
		}
		for _, i := range maps.Clone(channels) {
			fmt.Fprint(order, i)
		}
	}
	runtime.KeepAlive(others)
	return fmt.Sprintf("%x", order.Sum64())
}

// pipe tests when the reader of a pipe runs after a write. It returns how often another goroutine runs before the
// reader, within 30 ms of real time.
func pipe() string {
	in, out, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer in.Close()
	defer out.Close()
	read := false
	var both sync.WaitGroup
	both.Go(func() {
		in.Read(make([]byte, 1))
		read = true
	})
	runtime.Gosched()
	out.Write([]byte{1})
	turns := 0
	both.Go(func() {
		for range 300 {
			nap(100 * time.Microsecond)
			if runtime.Gosched(); !read {
				turns++
			}
		}
	})
	both.Wait()
	return fmt.Sprint(turns)
}

// slow returns the order in which two goroutines finish. The first goroutine is in a system call for 40 ms.
func slow() (order string) {
	var both sync.WaitGroup
	both.Go(func() { order += " second" })
	both.Go(func() { // this goroutine runs first
		nap(40 * time.Millisecond)
		order += "first"
	})
	both.Wait()
	return order
}

// keys generates keys with known primes, and returns the first error. The last bytes of known primes are small.
func keys() string {
	seen := map[string]bool{}
	for _, bits := range []int{2048, 4096} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err == nil {
			err = key.Validate()
		}
		if err != nil {
			return err.Error()
		}
		for _, p := range key.Primes {
			if end := p.Uint64() % (1 << 16); end > 4000 || seen[p.String()] {
				return fmt.Sprintf("the prime of %d bits is %s", bits, p)
			}
			seen[p.String()] = true
		}
	}
	for range 8 {
		token := make([]byte, 128)
		if rand.Read(token); seen[string(token)] {
			return "two tokens are equal"
		}
		seen[string(token)] = true
	}
	return "right"
}

// nap sleeps in a system call.
func nap(d time.Duration) {
	wait := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&wait, nil)
}

// serve runs a webhook that denies objects with the name bad. For objects with the name panics, it logs a recovered panic, as
// controller-runtime does. As a mutating webhook it adds a label to the others. For
// objects with the name late, it does not answer in the first 15 seconds, and it allows them unchanged later.
func serve() {
	began := time.Now()
	listen(
		func(w http.ResponseWriter, r *http.Request) {
			var review struct {
				Request struct{ UID, Name string }
			}
			json.NewDecoder(r.Body).Decode(&review)
			if review.Request.Name == "panics" {
				fmt.Fprintln(os.Stderr, `ERROR Observed a panic: "no label"`)
			}
			late := review.Request.Name == "late"
			if late && time.Since(began) < 15*time.Second {
				time.Sleep(time.Minute)
			}
			list, err := http.Get(api + "configmaps")
			if err != nil || list.StatusCode != http.StatusOK {
				http.Error(w, "the API server cannot be read", http.StatusInternalServerError)
				return
			}
			list.Body.Close()
			patch := ""
			if r.URL.Path == "/mutate" && !late {
				operation := []byte(`[{"op":"add","path":"/metadata/labels","value":{"admitted":"yes"}}]`)
				patch = fmt.Sprintf(`,"patchType":"JSONPatch","patch":%q`, base64.StdEncoding.EncodeToString(operation))
			}
			fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":%t%s}}`,
				review.Request.UID, review.Request.Name != "bad", patch)
		})
}

// listen serves webhooks as soon as the certificate exists.
func listen(f http.HandlerFunc) {
	for {
		if _, err := os.Stat("/certs/tls.crt"); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	err := http.ListenAndServeTLS(":9443", "/certs/tls.crt", "/certs/tls.key", f)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func get(client *http.Client, url string, into any) {
	r, err := client.Get(url)
	if err != nil {
		time.Sleep(time.Second)
		return
	}
	defer r.Body.Close()
	json.NewDecoder(r.Body).Decode(into)
}

func watch(client *http.Client, from, does string) {
	r, err := client.Get(api + "configmaps?watch=1&resourceVersion=" + from)
	if err != nil {
		time.Sleep(time.Second)
		return
	}
	defer r.Body.Close()
	for d := json.NewDecoder(r.Body); ; {
		var e struct {
			Type   string `json:"type"`
			Object object `json:"object"`
		}
		if d.Decode(&e) != nil || e.Type == "ERROR" {
			return
		}
		if e.Type == "ADDED" {
			keep(client, e.Object, does)
		}
	}
}

var (
	mu   sync.Mutex
	once sync.Once

	drawn = fmt.Sprint(mathrand.New(mathrand.NewSource(time.Now().UnixNano())).Intn(1000), mathrand.Intn(1000))
)

func keep(client *http.Client, m object, does string) {
	stamp := ""
	switch does {
	case "order":
		for stamp = range map[string]bool{"a": true, "b": true, "c": true, "d": true} {
			break
		}
	case "stamp":
		stamp = time.Now().String()
	case "crowd":
		stamp = crowd()
	case "pipe":
		stamp = pipe()
	case "slow":
		stamp = slow()
	case "addresses":
		stamp = addresses()
	case "keys":
		stamp = keys()
	case "name":
		stamp, _ = os.Hostname()
	case "drawn":
		stamp = drawn
	case "environment":
		stamp = fmt.Sprint(os.Environ())
	case "patient":
		time.Sleep(10 * time.Minute)
		stamp = "late"
	case "hesitant":
		time.Sleep(2 * time.Minute)
		time.Sleep(9 * time.Minute)
		stamp = "late"
	case "twofold":
		go time.Sleep(9 * time.Minute)
		time.Sleep(11 * time.Minute)
		stamp = "late"
	case "random":
		text, _ := os.ReadFile("/proc/sys/kernel/random/uuid")
		stamp = string(text)
	}
	data := fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","stringData":{"stamp":%q},"metadata":{"name":%q,`+
		`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"controller":true}]}}`,
		stamp, m.Metadata.Name, m.Metadata.Name, m.Metadata.UID)
	r, err := client.Post(api+"secrets", "application/json", bytes.NewReader([]byte(data)))
	if err == nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	switch does {
	case "stuck": // it puts a finalizer on its owner, and lacks what it needs to remove it
		patch, _ := http.NewRequest("PATCH", api+"configmaps/"+m.Metadata.Name,
			bytes.NewReader([]byte(`{"metadata":{"finalizers":["example.com/bare"]}}`)))
		patch.Header.Set("Content-Type", "application/merge-patch+json")
		if r, err := client.Do(patch); err == nil {
			r.Body.Close()
		}
		go func() {
			for {
				fmt.Println("ERROR no such secret")
				time.Sleep(10 * time.Minute)
			}
		}()
	case "fork": // the child holds the output open
		if pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); pid == 0 {
			for wait := (syscall.Timespec{Sec: 60}); ; {
				syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&wait)), 0, 0)
			}
		}
	case "panic":
		go func() {
			var counts map[string]int
			counts[m.Metadata.Name]++
		}()
	case "fatal":
		new(sync.Mutex).Unlock()
	case "exit":
		if err != nil || r.StatusCode != http.StatusCreated {
			return
		}
		fmt.Fprintln(os.Stderr, "lost the lease")
		os.Exit(7)
	case "deadlock":
		mu.Lock()
		mu.Lock()
	case "loop":
		for {
		}
	case "recursion":
		depth(0)
	case "spin":
		wake := make(chan struct{})
		go spin(wake)
		for range wake {
		}
	case "polls": // it uses some CPU time each minute
		once.Do(func() {
			go func() {
				for {
					time.Sleep(time.Minute)
					work()
				}
			}()
		})
	case "closed": // a goroutine reads a closed channel until another goroutine stops it
		closed, begun, stop := make(chan struct{}), make(chan struct{}), make(chan struct{})
		close(closed)
		go func() {
			close(begun)
			for {
				select {
				case <-stop:
					return
				case <-closed:
				}
			}
		}()
		<-begun
		close(stop)
	case "hang":
		var pipe [2]int
		syscall.Pipe(pipe[:])
		syscall.Read(pipe[0], make([]byte, 1))
	case "memory":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<26))
		}
	case "print":
		for range 1000 {
			fmt.Println("a line that says nothing at all, again and again")
		}
	case "writes":
		for fd := 3; fd < 50; fd++ {
			syscall.Write(fd, []byte("not for the world"))
		}
	case "files":
		for fd := 3; fd < 1024; fd++ {
			syscall.Close(fd)
		}
	case "outside":
		once.Do(func() { outside(os.Args[2]) })
	}
}
