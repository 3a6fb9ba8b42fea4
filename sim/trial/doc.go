// Package trial runs a world once, to its end, under the laws.
//
// A world consists of an API server, a cluster of controllers, a user, and one source of choices. A [Trial] consists of
// a world, the judge that evaluates the laws, and the fight detector. Scenario files, simtest, benchmarks, exploration
// and serve run every world as a trial. Therefore they all apply all laws.
//
// # Five names to know
//
//   - [New] makes a trial from [Options]: the laws, the choices, the initial state of the server. The zero value of
//     Options means every law, the default schedule and an empty cluster.
//   - [Trial.Start] runs a [host.Controller] as a process under the laws.
//   - [Trial.Request] executes a request of the user at once. [Trial.Later] adds a user action that races with the
//     controllers.
//   - [Trial.Settle] executes steps until the world has settled, a fight is found, or a limit is reached. In a settled
//     world, the laws about settled worlds are evaluated. A world that does not settle violates the law always-settle.
//   - [Trial.Broken] returns the violation that fails the run, or nil.
//
// # One run
//
//	t := trial.New(trial.Options{})
//	defer t.Stop()
//	t.Start("keeper", keeper)
//	t.Request(&fakeapi.Request{Verb: fakeapi.Create, ...})
//	if how := t.Settle(trial.Limits{}); !how.Settled {
//		fmt.Println("not settled after", how.Steps, "steps")
//	}
//	if b := t.Broken(); b != nil {
//		fmt.Println(b.Law.Name, b.Text)
//	}
//
// The package's example is the complete program.
//
// # Where to go next
//
// One run is one schedule. To try many, write the world as a simtest.Case and call simtest.Check (package
// scenarios/simtest), or write it as a scenario file (package scenarios). Package sim/host defines controllers, and
// package sim/law defines laws.
package trial
