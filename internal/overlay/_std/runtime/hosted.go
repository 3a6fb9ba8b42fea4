package runtime

import (
	"internal/hosted"
	"internal/runtime/atomic"
	"unsafe"
)

// hostedTime is the time in a hosted process before its world begins. Package initialization may use it as a seed. It is
// 2017-03-01, the epoch of every world, and later by one second for each earlier life of the world.
var hostedTime int64 = 1488326400

// hostedInit sets hosted.On, and the seeds for the package initialization of the process's life. It is called when the
// environment can be read.
func hostedInit() {
	hosted.On = gogetenv("THREELAWS_AGENT") != ""
	digits, life := gogetenv("THREELAWS_LIFE"), int64(0)
	for i := 0; i < len(digits); i++ {
		life = 10*life + int64(digits[i]-'0')
	}
	hostedTime += life
	hostedDrawn = [2]uint64{hostedMix(uint64(life)), ^hostedMix(uint64(life))}
}

// In a hosted process, a goroutine with one of these wait reasons also counts as durably blocked (see
// testing/synctest), because no message of the world ends its wait.
var hostedIdle = [len(waitReasonStrings)]bool{
	waitReasonIOWait:            true,
	waitReasonSelect:            true,
	waitReasonChanReceive:       true,
	waitReasonChanSend:          true,
	waitReasonSyncMutexLock:     true,
	waitReasonSyncRWMutexRLock:  true,
	waitReasonSyncRWMutexLock:   true,
	waitReasonSyncWaitGroupWait: true,
}

// hostedDrawn has the states of two streams of random numbers: of goroutine 1, which initializes all packages, and of the
// other goroutines outside of the bubble, whose order may vary.
var hostedDrawn [2]uint64

// hostedRand returns a random number for a goroutine outside of the bubble.
func hostedRand() uint64 {
	i := 1
	if getg().goid == 1 {
		i = 0
	}
	return hostedMix(atomic.Xadd64(&hostedDrawn[i], -0x61c8864680b583eb))
}

func (b *synctestBubble) draw() uint64 {
	b.drawn += 0x9e3779b97f4a7c15
	return hostedMix(b.drawn)
}

func hostedMix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// hostedBegan is set when the first bubble begins.
var hostedBegan bool

// hostedSeed sets the seed of the calling goroutine's bubble.
//
//go:linkname hostedSeed threelaws/agent.seedBubble
func hostedSeed(seed uint64) {
	hostedBegan = true
	b := getg().bubble
	b.drawn, b.order = seed, seed
}

// hostedRandSeed sets the seed of the calling goroutine's bubble. It returns false if the goroutine is in none.
//
//go:linkname hostedRandSeed math/rand.hostedSeed
func hostedRandSeed(seed int64) bool {
	b := getg().bubble
	if b != nil {
		b.drawn = uint64(seed) * 0xbf58476d1ce4e5b9
		b.order = b.drawn
	}
	return b != nil
}

// hostedBubble returns the number of the calling goroutine's bubble, or 0 if the goroutine is in none.
//
//go:linkname hostedBubble math/rand.hostedBubble
func hostedBubble() uint64 {
	if b := getg().bubble; b != nil {
		return b.id
	}
	return 0
}

// hostedSelects is the number of selects after which a goroutine lets others run, although it does not wait.
const hostedSelects = 1000

// hostedTurn returns the index of the case that a select tries first. The index depends only on the bubble's seed and
// the number of earlier selects of the goroutine. One-time work of a process, such as filling caches, has no influence.
func hostedTurn(gp *g, n uint32) uint32 {
	if gp.turner != gp.goid {
		gp.turner, gp.turns = gp.goid, 0
	}
	if gp.turns++; gp.turns%hostedSelects == 0 {
		Gosched() // as in client-go's StartEventWatcher, the goroutine may read a closed channel until another one runs
	}
	return uint32(hostedMix(gp.bubble.order+gp.turns*0x9e3779b97f4a7c15) >> 32 * uint64(n) >> 32)
}

// hostedNext returns the time of the bubble's next timer, or 0 if there is none.
//
//go:linkname hostedNext threelaws/agent.nextTimer
func hostedNext() int64 { return getg().bubble.timers.wakeTime() }

// hostedAfter returns the time of the bubble's first timer that is due after the given time, or 0 if there is none. All
// other goroutines of the bubble wait, so no timer changes meanwhile.
//
//go:linkname hostedAfter threelaws/agent.timerAfter
func hostedAfter(after int64) (first int64) {
	for _, entry := range getg().bubble.timers.heap {
		t := entry.timer
		if when := t.when; t.state&timerZombie == 0 && when > after && (first == 0 || when < first) {
			first = when
		}
	}
	return first
}

//go:linkname hostedGoroutine threelaws/agent.goroutine
func hostedGoroutine() uint64 { return getg().goid }

// hostedLabels returns the goroutine's profiler labels.
//
//go:linkname hostedLabels threelaws/agent.labels
func hostedLabels() unsafe.Pointer { return getg().labels }

// hostedHolder returns the goroutine's number for package internal/sync, which records it as the holder of a mutex.
//
//go:linkname hostedHolder internal/sync.hostedGoroutine
func hostedHolder() uint64 { return getg().goid }

// hostedMutex has the fields of a mutex in package internal/sync.
type hostedMutex struct {
	state  int32
	sema   uint32
	holder uint64
}

// hostedWaits records that the calling goroutine waits for a mutex, or for none if m is nil.
//
//go:linkname hostedWaits internal/sync.hostedWaits
func hostedWaits(m *hostedMutex) {
	gp := getg()
	gp.awaited = m
	if b := gp.bubble; b != nil && m != nil {
		b.locked++
	} else if b != nil {
		b.locked--
	}
}

// hostedLocked reports whether a goroutine of the bubble waits for a mutex.
//
//go:linkname hostedLocked threelaws/agent.locked
func hostedLocked() bool { return getg().bubble.locked > 0 }

// hostedDeadlock returns the numbers of goroutines in a deadlock: each waits for a mutex that the next one holds, and
// the last waits for a mutex that the first holds. It returns nil if there is no deadlock.
//
//go:linkname hostedDeadlock threelaws/agent.deadlock
func hostedDeadlock() (circle []uint64) {
	waits := map[uint64]uint64{}
	var all []uint64
	forEachG(func(gp *g) {
		if m := gp.awaited; m != nil && gp.bubble != nil && readgstatus(gp)&^_Gscan == _Gwaiting {
			waits[gp.goid] = m.holder
			all = append(all, gp.goid)
		}
	})
	for _, first := range all {
		circle = append(circle[:0], first)
		for at := waits[first]; at != 0 && len(circle) <= len(all); at = waits[at] {
			if at == first {
				return circle
			}
			circle = append(circle, at)
		}
	}
	return nil
}

// hostedWaiting returns the numbers of the bubble's goroutines that wait for something outside the bubble: I/O, a
// mutex, or a channel or WaitGroup that was made before the bubble began. It leaves out selects, because a timer or a
// context may end them.
//
//go:linkname hostedWaiting threelaws/agent.waiting
func hostedWaiting() (all []uint64) {
	forEachG(func(gp *g) {
		if gp.bubble != nil && readgstatus(gp)&^_Gscan == _Gwaiting && hostedIdle[gp.waitreason] && gp.waitreason != waitReasonSelect {
			all = append(all, gp.goid)
		}
	})
	return all
}

// hostedRandom fills b for package crypto/rand. It returns false if the process is not hosted, and the calling goroutine is
// in no bubble.
//
//go:linkname hostedRandom crypto/internal/sysrand.hosted
func hostedRandom(b []byte) bool {
	if !hosted.On && getg().bubble == nil {
		return false
	}
	if hostedPrime(b) {
		return true
	}
	for len(b) > 0 {
		x := rand()
		for i := 0; i < 8 && len(b) > 0; i++ {
			b[0] = byte(x)
			b, x = b[1:], x>>8
		}
	}
	return true
}

// hostedPatience is the time in nanoseconds after which the runtime preempts a goroutine of a bubble.
const hostedPatience = 10 * 1000 * 1000 * 1000

// hostedRuns reports whether a processor is running a goroutine that must not be preempted yet: a goroutine of a bubble, or
// any goroutine of a hosted process. There, the scheduler could start another goroutine before the caller preempts it.
func hostedRuns(pp *p, ran int64) bool {
	if ran > hostedPatience {
		return false
	}
	mp := pp.m.ptr()
	if hosted.On || mp == nil {
		return hosted.On
	}
	gp := mp.curg
	return gp != nil && gp.bubble != nil
}
