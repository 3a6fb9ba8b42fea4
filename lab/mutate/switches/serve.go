package switches

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type Check struct {
	Name string
	Run  func() error // returns the failure; nil if there is none
}

type Request struct {
	Mutation int
	Checks   []int           // the checks to run, by index in the list of all checks
	Limits   []time.Duration // maximal processor time of each check; empty for no limit
}

type Answer struct {
	Checks  []string        // the names of all checks; only in the answer to a request without checks
	By      int             // index, in the request's checks, of the check that killed the mutant; -1 for none
	Why     string          // why that check failed; "" for none
	Reached []int           // mutations reached by the checks, or by the initialization if no checks were requested
	Took    []time.Duration // processor time of each check that was run
	Ended   bool            // the process has ended itself, because the check took too much time or memory
}

const doesNotEnd = "does not end"

// heapLimit is the maximal size of the heap in bytes while a check runs. addressLimit is the kernel's limit for the
// address space in bytes. It stops a check that allocates too fast for the method watch.
const (
	heapLimit    = 1 << 30
	addressLimit = 4 << 30
)

// AnswersFile is the file descriptor for answers. Checks may print to standard output.
const AnswersFile = 3

// CleanEnv is an environment variable. If it is set, each check first runs once without a mutation. Checks that
// remember results of their first run need this.
const CleanEnv = "THREELAWS_MUTATION_CLEAN"

// Serve answers the requests on standard input, one per line. A check that takes too much time or memory ends the
// process.
func Serve(checks []Check) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.NewFile(AnswersFile, "answers"))
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: addressLimit, Max: addressLimit}); err != nil {
		panic("switches: " + err.Error())
	}
	s := &server{checks: checks, out: out, ran: make([]bool, len(checks))}
	for i := range s.ran {
		s.ran[i] = os.Getenv(CleanEnv) == ""
	}
	go s.watch()
	for in.Scan() {
		var r Request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			panic("switches: " + err.Error())
		}
		if err := out.Encode(s.answer(&r)); err != nil {
			panic("switches: " + err.Error())
		}
	}
}

type server struct {
	checks   []Check
	out      *json.Encoder
	ran      []bool       // for each check, whether it can skip the run without a mutation (see CleanEnv)
	at       atomic.Int64 // index of the running check in the request
	deadline atomic.Int64 // processor time, in nanoseconds, at which the running check must end; 0 for none
}

func (s *server) answer(r *Request) *Answer {
	a := &Answer{By: -1}
	defer func() { a.Reached = Reached() }()
	if len(r.Checks) == 0 {
		for _, c := range s.checks {
			a.Checks = append(a.Checks, c.Name)
		}
		return a
	}
	Reached() // mutations that the initialization reached belong to no check
	defer Turn(None)
	for i, n := range r.Checks {
		if r.Mutation != None && !s.ran[n] {
			Turn(None)
			_ = run(s.checks[n])
		}
		s.ran[n] = true
		Turn(r.Mutation)
		began := processorTime()
		if len(r.Limits) > 0 {
			s.at.Store(int64(i))
			s.deadline.Store(int64(began + r.Limits[i]))
		}
		err := run(s.checks[n])
		s.deadline.Store(0)
		a.Took = append(a.Took, processorTime()-began)
		if err != nil {
			a.By, a.Why = i, firstLine(err.Error())
			break
		}
	}
	return a
}

func run(c Check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.Run()
}

func (s *server) watch() {
	for range time.Tick(50 * time.Millisecond) {
		deadline := time.Duration(s.deadline.Load())
		if deadline == 0 {
			continue
		}
		why := ""
		var m runtime.MemStats
		if runtime.ReadMemStats(&m); m.HeapAlloc > heapLimit {
			why = doesNotEnd + ": it takes all memory"
		} else if processorTime() > deadline {
			why = doesNotEnd
		}
		if why != "" {
			_ = s.out.Encode(&Answer{By: int(s.at.Load()), Why: why, Ended: true})
			os.Exit(3)
		}
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("switches: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// ChecksEnv is the environment variable that makes the tests of a package serve. It contains the path of a file with
// the names of the checks, one per line, such as TestA/subtest. The names could exceed the limit of 128 KiB for a
// variable.
const ChecksEnv = "THREELAWS_MUTATION_CHECKS"

// Tests replaces TestMain in a mutated build. If [ChecksEnv] is set, it serves the tests as checks. Otherwise it runs
// them once. It returns the exit code.
func Tests(m interface{ Run() int }) int {
	file := os.Getenv(ChecksEnv)
	if file == "" {
		return m.Run()
	}
	names, err := os.ReadFile(file)
	if err != nil {
		panic("switches: " + err.Error())
	}
	var checks []Check
	for name := range strings.SplitSeq(string(names), "\n") {
		checks = append(checks, Check{Name: name, Run: func() error { return one(m, name) }})
	}
	flag.Parse()
	if f := flag.Lookup("rapid.nofailfile"); f != nil { // no files for hundreds of failing mutants
		if err := f.Value.Set("true"); err != nil {
			panic("switches: " + err.Error())
		}
	}
	Serve(checks)
	return 0
}

func one(m interface{ Run() int }, name string) error {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	if err := flag.Set("test.run", strings.Join(parts, "/")); err != nil {
		return err
	}
	if m.Run() != 0 {
		return errors.New("fails")
	}
	return nil
}
