package overlay

import (
	"fmt"
	"regexp"
	"strings"
)

// patch contains the edits of one file of the standard library.
type patch struct {
	file  string // relative to GOROOT/src
	edits []edit
}

// edit replaces old by new. old must occur exactly count times; 0 means once. If pattern is set, old is a regular
// expression that must match at least once.
type edit struct {
	old, new string
	count    int
	pattern  bool
}

// applies reports whether an edit with a pattern would change a text.
func (e edit) applies(text string) bool {
	return regexp.MustCompile(e.old).ReplaceAllString(text, e.new) != text
}

func (p patch) apply(text string) (string, error) {
	for _, e := range p.edits {
		if e.pattern {
			re := regexp.MustCompile(e.old)
			if !re.MatchString(text) {
				return "", fmt.Errorf("%s has no match of %q", p.file, e.old)
			}
			text = re.ReplaceAllString(text, e.new)
			continue
		}
		if n := strings.Count(text, e.old); n != max(e.count, 1) {
			return "", fmt.Errorf("%s has %d times %q, not %d", p.file, n, e.old, max(e.count, 1))
		}
		text = strings.ReplaceAll(text, e.old, e.new)
	}
	return text, nil
}

// imports adds imports: the given packages, and internal/hosted, which reports whether the process is hosted.
func imports(packages ...string) edit {
	return edit{old: "import (\n", new: "import (\n\t\"" + strings.Join(append(packages, "internal/hosted"), "\"\n\t\"") + "\"\n"}
}

// path returns an edit of a function in package os. The edit replaces each of the named parameters by the path that a
// hosted process uses. The function's errors, and the file that it opens, have the given paths.
func path(function, writes string, names ...string) edit {
	head, results, _ := strings.Cut(function, ") ")
	if first, two := strings.CutSuffix(results, ", error) {"); two {
		results = "(hostedResult " + strings.TrimPrefix(first, "(") + ", hostedErr error) {"
	} else {
		results = "(hostedErr error) {"
	}
	body := ""
	if strings.Contains(results, "*File") {
		body = "	defer func(name string) {\n		if hostedResult != nil {\n			hostedResult.name = name\n		}\n	}(name)\n"
	}
	for _, name := range names {
		body += "	defer hostedUse(&" + name + ", " + writes + ", &hostedErr)()\n"
	}
	return edit{old: function + "\n", new: head + ") " + results + "\n" + body}
}

// nothing returns an edit of a method of net.Resolver. In a hosted process, the method returns the given values and the
// error "no such host" for name.
func nothing(method, values, name string) edit {
	head := "func (r *Resolver) " + method + " {\n"
	return edit{old: head, new: head + "	if hosted.On {\n		return " + values + "newDNSError(errNoSuchHost, " + name + ", \"\")\n	}\n"}
}

// maps is the directory with the runtime's maps. In its files, the hash seed of maps is replaced by a constant. So the
// order of a map depends only on its history.
const maps = "internal/runtime/maps"

var hash = edit{pattern: true, old: `\bm\.seed\b([^ ]| [^=]| =[=])`, new: "0x1d8e4e27c47d124f$1"}

// placed records the insertion order at every place where a table gets an entry. Maps with more than eight entries and
// with addresses in their keys iterate in this order, because addresses differ between runs.
var placed = edit{pattern: true, old: `(?m)^(\t{3,})(g\.ctrls\(\)\.set\(i, ctrl\(h2.*\)\))$`,
	new: "${1}${2}\n${1}t.hostedPlace(typ.GroupSize, g, i)"}

var tables = []edit{
	{old: "type table struct {\n", new: "type table struct {\n	hostedOrder\n"},
	{old: "	t.reset(typ, uint16(capacity))\n", new: "	t.reset(typ, uint16(capacity))\n	if hostedAddress(typ.Key) {\n		t.came = make([]uint64, capacity)\n	}\n"},
	{old: "newTable.uncheckedPutSlot(typ, hash, key, elem)\n", new: "newTable.hostedKeep(t, i, j)\n			newTable.uncheckedPutSlot(typ, hash, key, elem)\n", count: 2},
	{old: "	t.groups = newGroups\n", new: "	t.groups = newGroups\n	t.came = append([]uint64(nil), t.came...)\n"},
	{old: "	it.clearSeq = m.clearSeq\n", new: "	it.clearSeq = m.clearSeq\n	it.hostedInit()\n"},
	{old: "	if it.dirIdx < 0 {\n", new: "	if it.dirIdx == hostedIndex {\n		it.hostedNext()\n		return\n	}\n	if it.dirIdx < 0 {\n"},
}

// patches lists the edits of standard library files outside the directory maps. Comments give reasons of edits.
var patches = []patch{
	{"runtime/rand.go", []edit{
		// Random numbers that are read before the first goroutine runs, such as hash keys, come from a fixed sequence.
		{old: "func bootstrapRand() uint64 {\n", new: `var bootstrapDrawn uint64

func bootstrapRand() uint64 {
	bootstrapDrawn += 0x9e3779b97f4a7c15
	if z := bootstrapDrawn; z != 0 {
		return hostedMix(z)
	}
`},
		// A bubble has its own random sequence.
		{old: "func rand() uint64 {\n", new: `func rand() uint64 {
	if b := getg().bubble; b != nil {
		return b.draw()
	}
	if hosted.On {
		return hostedRand()
	}
`},
		// The order of a map does not depend on how many random numbers were read before.
		{old: "func maps_rand() uint64 {\n", new: "func maps_rand() uint64 {\n	if b := getg().bubble; b != nil {\n		return hostedMix(b.order)\n	}\n"},
		imports(),
	}},
	{"runtime/synctest.go", []edit{
		{old: "	waiting bool   // true if a goroutine is calling synctest.Wait\n",
			new: "	waiting bool   // true if a goroutine is calling synctest.Wait\n	drawn   uint64 // the state of its random source\n	order   uint64 // of maps and selects\n	locked  int    // goroutines that wait for a mutex\n	primes  uint64 // how often a number of the length of a prime was read\n"},
		// Each read of the clock increments it. So the clock may be later than the next timer.
		{old: "			throw(\"time went backwards\")\n", new: "			next = bubble.now\n"},
	}},
	{"runtime/select.go", []edit{
		// The case that select tries first is deterministic.
		{old: "j := cheaprandn(uint32(norder + 1))", new: `j := cheaprandn(uint32(norder + 1))
		if gp.bubble != nil {
			j = hostedTurn(gp, uint32(norder+1))
		}`},
	}},
	{"runtime/time.go", []edit{
		// Timers that are due at the same time fire in a fixed order.
		{old: "			t.rand = cheaprand()", new: "			t.rand = 0"},
		// A hosted program never reads the same time twice, because names of Events contain the time and must differ.
		{old: "		sec = bubble.now / (1000 * 1000 * 1000)\n", new: "		if hosted.On {\n			bubble.now++\n		}\n		sec = bubble.now / (1000 * 1000 * 1000)\n"},
		{old: "		return sec, nsec, 0\n	}\n	return time_now()\n", new: `		return sec, nsec, 0
	}
	if hosted.On {
		return hostedTime, 0, 0
	}
	return time_now()
`},
		imports(),
	}},
	{"runtime/proc.go", []edit{
		// A goroutine in a bubble runs until it waits.
		{old: "} else if pd.schedwhen+forcePreemptNS <= now {", new: "} else if pd.schedwhen+forcePreemptNS <= now && !hostedRuns(pp, now-pd.schedwhen) {"},
		// If GOMAXPROCS is 1, a goroutine in a slow system call, such as a read from a pipe, keeps its processor.
		{old: "if runqempty(pp) && sched.nmspinning.Load()+sched.npidle.Load() > 0 && pd.syscallwhen+10*1000*1000 > now {",
			new: "if gomaxprocs == 1 && pd.syscallwhen+hostedPatience > now || runqempty(pp) && sched.nmspinning.Load()+sched.npidle.Load() > 0 && pd.syscallwhen+10*1000*1000 > now {"},
		{old: "			sysretake = true\n", new: "			sysretake = gomaxprocs > 1\n"},
		{old: "\n	goenvs()\n", new: "\n	goenvs()\n	hostedInit()\n"},
		// The global queue receives goroutines when the local queue is full, after hundreds of goroutines. This edit
		// uses it only when the local queue is empty. Otherwise real time would decide when its goroutines run.
		{old: "if pp.schedtick%61 == 0 && !sched.runq.empty() {", new: "if !hosted.On && pp.schedtick%61 == 0 && !sched.runq.empty() {"},
		// The readers of pipes are woken only when nothing else runs. Otherwise real time would decide when they run.
		{old: "if netpollinited() && lastpoll != 0 && lastpoll+10*1000*1000 < now {",
			new: "if !hosted.On && netpollinited() && lastpoll != 0 && lastpoll+10*1000*1000 < now {"},
		// When a bubble begins, the timers that were started before it stop, because they use real time.
		{old: "	now, pollUntil, _ := pp.timers.check(0, nil)\n", new: "	var now, pollUntil int64\n	if !hostedBegan {\n		now, pollUntil, _ = pp.timers.check(0, nil)\n	}\n"},
		imports(),
	}},
	{"runtime/runtime2.go", []edit{
		{old: "	bubble  *synctestBubble\n", new: "	bubble  *synctestBubble\n	awaited *hostedMutex // that it waits for\n	turns   uint64 // how often it has selected\n	turner  uint64 // the goroutine that turns counts for\n"},
		{old: "	return isIdleInSynctest[w]\n", new: "	return isIdleInSynctest[w] || hosted.On && hostedIdle[w]\n"},
		imports(),
	}},
	{"internal/sync/mutex.go", []edit{
		// A mutex records which goroutine holds it, so that deadlocks can be found.
		{old: "	state int32\n	sema  uint32\n}\n", new: `	state  int32
	sema   uint32
	holder uint64 // the goroutine that locked it last
}

//go:linkname hostedGoroutine
func hostedGoroutine() uint64

//go:linkname hostedWaits
func hostedWaits(m *Mutex)
`},
		{old: "			race.Acquire(unsafe.Pointer(m))\n		}\n		return\n	}\n	// Slow path",
			new: "			race.Acquire(unsafe.Pointer(m))\n		}\n		m.holder = hostedGoroutine()\n		return\n	}\n	// Slow path"},
		{old: "		race.Acquire(unsafe.Pointer(m))\n	}\n	return true\n", new: "		race.Acquire(unsafe.Pointer(m))\n	}\n	m.holder = hostedGoroutine()\n	return true\n"},
		{old: "func (m *Mutex) lockSlow() {\n", new: "func (m *Mutex) lockSlow() {\n	defer func() { m.holder = hostedGoroutine() }()\n"},
		{old: "			runtime_SemacquireMutex(&m.sema, queueLifo, 2)\n", new: "			hostedWaits(m)\n			runtime_SemacquireMutex(&m.sema, queueLifo, 2)\n			hostedWaits(nil)\n"},
		// Real time does not decide whether a waiting goroutine gets a mutex before other goroutines.
		{old: "	starvationThresholdNs = 1e6\n", new: "	starvationThresholdNs = 1e18\n"},
	}},
	{"runtime/debug.go", []edit{
		// A hosted process uses one processor, even if the program sets another number.
		{old: "func GOMAXPROCS(n int) int {\n", new: "func GOMAXPROCS(n int) int {\n	if hosted.On {\n		return 1\n	}\n"},
		{old: "	return int(numCPUStartup)\n", new: "	if hosted.On {\n		return 2\n	}\n	return int(numCPUStartup)\n"},
		imports(),
	}},
	{"runtime/debug/garbage.go", []edit{
		// The agent collects garbage between commands.
		{old: "func SetGCPercent(percent int) int {\n", new: "func SetGCPercent(percent int) int {\n	if hosted.On {\n		return 100\n	}\n"},
		{old: "func SetMemoryLimit(limit int64) int64 {\n", new: "func SetMemoryLimit(limit int64) int64 {\n	if hosted.On {\n		return 1<<63 - 1\n	}\n"},
		imports(),
	}},
	{"math/rand/rand.go", []edit{
		// In a bubble, Seed also changes the order of maps and selects.
		{old: "func Seed(seed int64) {\n", new: "func Seed(seed int64) {\n	if hostedSeed(seed) {\n		return\n	}\n"},
		{old: "//go:linkname runtime_rand runtime.rand\n", new: `//go:linkname hostedSeed
func hostedSeed(seed int64) bool

//go:linkname hostedBubble
func hostedBubble() uint64

//go:linkname runtime_rand runtime.rand
`},
	}},
	{"math/rand/rng.go", []edit{
		// In a bubble, a source that was seeded outside, such as that of a package, has the random numbers of the bubble.
		{old: "	vec  [rngLen]int64 // current feedback register\n", new: "	vec  [rngLen]int64 // current feedback register\n	bubble uint64 // in which it was seeded, or 0\n"},
		{old: "func (rng *rngSource) Seed(seed int64) {\n", new: "func (rng *rngSource) Seed(seed int64) {\n	rng.bubble = hostedBubble()\n"},
		{old: "func (rng *rngSource) Uint64() uint64 {\n", new: `func (rng *rngSource) Uint64() uint64 {
	if b := hostedBubble(); b != 0 && b != rng.bubble {
		return runtime_rand()
	}
`},
	}},
	{"crypto/internal/sysrand/rand.go", []edit{
		{old: "func Read(b []byte) {\n", new: "func Read(b []byte) {\n	if hosted(b) {\n		return\n	}\n"},
		{old: "var testingOnlyFailRead bool\n", new: "var testingOnlyFailRead bool\n\n//go:linkname hosted\nfunc hosted(b []byte) bool\n"},
	}},
	{"net/http/roundtrip.go", []edit{
		{old: "import _ \"unsafe\" // for linkname\n", new: `import (
	"internal/hosted"
	_ "unsafe" // for linkname
)

// hostedRoundTrip, if set, answers the requests for the API server.
//
//go:linkname hostedRoundTrip
var hostedRoundTrip func(*Request) (*Response, error)
`},
		{old: "	return t.roundTrip(req)\n", new: `	if hostedRoundTrip != nil && req.URL != nil && hosted.IsAPI(req.URL.Host) {
		return hostedRoundTrip(req)
	}
	return t.roundTrip(req)
`},
	}},
	{"net/dial.go", []edit{
		{old: "func (lc *ListenConfig) Listen(ctx context.Context, network, address string) (Listener, error) {\n",
			new: "func (lc *ListenConfig) Listen(ctx context.Context, network, address string) (Listener, error) {\n	if hosted.On {\n		return hostedListen(network, address)\n	}\n"},
		{old: "func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n",
			new: "func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {\n	if hosted.On {\n		return hostedDial(ctx, network, address)\n	}\n"},
		imports(),
	}},
	{"net/sock_posix.go", []edit{
		// The process opens no network socket.
		{old: "	s, err := sysSocket(family, sotype, proto)\n", new: "	if hosted.On {\n		return nil, hostedRefused\n	}\n	s, err := sysSocket(family, sotype, proto)\n"},
		imports(),
	}},
	{"net/lookup.go", []edit{
		{old: "	trace, _ := ctx.Value(nettrace.TraceKey{}).(*nettrace.Trace)\n	if trace != nil && trace.DNSStart != nil {\n",
			new: "	if hosted.On {\n		return hostedLookup(host)\n	}\n	trace, _ := ctx.Value(nettrace.TraceKey{}).(*nettrace.Trace)\n	if trace != nil && trace.DNSStart != nil {\n"},
		{old: "		return []string{host}, nil\n	}\n	return r.lookupHost(ctx, host)\n", new: `		return []string{host}, nil
	}
	if hosted.On {
		return hostedLookupHost(host)
	}
	return r.lookupHost(ctx, host)
`},
		{old: "func (r *Resolver) LookupCNAME(ctx context.Context, host string) (string, error) {\n",
			new: "func (r *Resolver) LookupCNAME(ctx context.Context, host string) (string, error) {\n	if hosted.On {\n		return hostedCNAME(host)\n	}\n"},
		nothing("LookupSRV(ctx context.Context, service, proto, name string) (string, []*SRV, error)", `"", nil, `, "name"),
		nothing("LookupMX(ctx context.Context, name string) ([]*MX, error)", "nil, ", "name"),
		nothing("LookupNS(ctx context.Context, name string) ([]*NS, error)", "nil, ", "name"),
		nothing("LookupTXT(ctx context.Context, name string) ([]string, error)", "nil, ", "name"),
		{old: "	return DefaultResolver.lookupTXT(context.Background(), name)\n", new: "	return DefaultResolver.LookupTXT(context.Background(), name)\n"},
		nothing("LookupAddr(ctx context.Context, addr string) ([]string, error)", "nil, ", "addr"),
		imports(),
	}},
	{"os/signal/signal.go", []edit{
		// A hosted process receives no signals.
		{old: "		panic(\"os/signal: Notify using nil channel\")\n	}\n", new: "		panic(\"os/signal: Notify using nil channel\")\n	}\n	if hosted.On {\n		return\n	}\n"},
		imports(),
	}},
	{"os/file.go", []edit{
		{old: "func (f *File) Write(b []byte) (n int, err error) {\n", new: `func (f *File) Write(b []byte) (n int, err error) {
	if f != nil && (f == Stdout || f == Stderr) && hosted.Output != nil {
		hosted.Output(b)
		return len(b), nil
	}
`},
		// A hosted program reads the files that the world provides, and writes to its own directory.
		path("func OpenFile(name string, flag int, perm FileMode) (*File, error) {", "flag&(O_WRONLY|O_RDWR|O_CREATE) != 0", "name"),
		path("func openDir(name string) (*File, error) {", "false", "name"),
		path("func Mkdir(name string, perm FileMode) error {", "true", "name"),
		path("func Chdir(dir string) error {", "false", "dir"),
		path("func Rename(oldpath, newpath string) error {", "true", "oldpath", "newpath"),
		path("func Readlink(name string) (string, error) {", "false", "name"),
		{old: "error { return chmod(name, mode) }", new: "(err error) {\n	defer hostedUse(&name, true, &err)()\n	return chmod(name, mode)\n}"},
		imports(),
	}},
	{"os/stat.go", []edit{
		path("func Stat(name string) (FileInfo, error) {", "false", "name"),
		path("func Lstat(name string) (FileInfo, error) {", "false", "name"),
	}},
	{"os/root.go", []edit{path("func OpenRoot(name string) (*Root, error) {", "false", "name")}},
	{"os/path.go", []edit{path("func RemoveAll(path string) error {", "true", "path")}},
	{"os/file_unix.go", []edit{
		path("func Remove(name string) error {", "true", "name"),
		path("func Truncate(name string, size int64) error {", "true", "name"),
		path("func Link(oldname, newname string) error {", "true", "newname"),
		path("func Symlink(oldname, newname string) error {", "true", "newname"),
	}},
	{"os/getwd.go", []edit{
		{old: "func Getwd() (dir string, err error) {\n", new: "func Getwd() (dir string, err error) {\n	defer func() { dir = hostedShown(dir) }()\n"},
	}},
	{"syscall/syscall_linux.go", []edit{
		// A hosted program gets no notifications about changed files. Programs that watch files also poll them.
		{old: "func Syscall(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err Errno) {\n", new: `func Syscall(trap, a1, a2, a3 uintptr) (r1, r2 uintptr, err Errno) {
	if trap == SYS_INOTIFY_ADD_WATCH && hosted.On {
		return 1, 0, 0
	}
`},
		// os.Chtimes calls UtimesNano.
		{old: "func UtimesNano(path string, ts []Timespec) (err error) {\n", new: `// hostedPath, if set, returns the path that a hosted process uses instead of a given path.
//
//go:linkname hostedPath
var hostedPath func(name string, writes bool) string

func UtimesNano(path string, ts []Timespec) (err error) {
	if hosted.On && hostedPath != nil {
		path = hostedPath(path, true)
	}
`},
		imports(),
	}},
	{"os/exec.go", []edit{
		// A hosted program cannot start other programs.
		{old: "	testlog.Open(name)\n	return startProcess(name, argv, attr)\n", new: "	testlog.Open(name)\n	if hosted.On {\n		return nil, &PathError{Op: \"fork/exec\", Path: name, Err: syscall.EPERM}\n	}\n	return startProcess(name, argv, attr)\n"},
		{old: "func Getpid() int {", new: "func Getpid() int {\n	if hosted.On {\n		return 1\n	}\n	return getpid()\n}\n\nfunc getpid() int {"},
		{old: "func Getppid() int { return", new: "func Getppid() int {\n	if hosted.On {\n		return 0\n	}\n	return"},
		imports(),
	}},
	{"os/sys.go", []edit{
		{old: "	return hostname()\n", new: "	if name := Getenv(\"HOSTNAME\"); hosted.On && name != \"\" {\n		return name, nil\n	}\n	return hostname()\n"},
		{old: "package os\n", new: "package os\n\nimport \"internal/hosted\"\n"},
	}},
}
