package recorded_test

// races are the cases of which the record shows one end of several: which one it is
// upstream depends on the schedule, too. They are replayed as recorded only.
var races = map[string]string{
	"controllers/ds-taint-noschedule": "a DaemonSet whose controller sees it before the taint that was put on a node " +
		"just before makes a pod for that node, which no NoSchedule taint drives away",
	"controllers/quota-status": "the record waits until the controller has seen the Pods that admission has charged: " +
		"one that recalculates before it sees them writes less, until it recalculates again",
}
