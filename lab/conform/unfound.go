package conform

import (
	"fmt"
	"slices"
	"strings"
)

const unfoundHead = `
## Known, and not looked for

Bugs of the same collection that no file has, and why.

| bug | what happened | why not |
|---|---|---|
`

// unfound are bugs that no file is for.
var unfound = []struct{ id, url, what, why string }{
	{"A05", "https://github.com/kubernetes/kubernetes/issues/34466",
		"of two Deployments with one selector the newer is skipped, and neither can be deleted",
		"the version that marked Deployments as overlapping and skipped them is none of the generations here"},
	{"B09", "https://github.com/redpanda-data/redpanda-operator/pull/1795",
		"an operator adopts again what was just orphaned from its owner",
		"as B01, by an operator; played step by step below"},
	{"B10", "https://github.com/kubernetes-sigs/cluster-api/issues/7529",
		"two controllers adopt one object, one of them without saying that it controls it",
		"no law speaks of owners that do not control; F11 has the reference that does not"},
	{"B11", "https://github.com/kubernetes-sigs/cluster-api/pull/1430",
		"a patch that adopts is made from two names of one object, and is empty",
		"a slip in a client library's diff: patches are written out here"},
	{"B15", "https://github.com/coreos/etcd-operator/pull/334",
		"a ReplicaSet goes, and leaves a Pod that it would have adopted",
		"it is what ADOPT-3 asks: an orphan stays an orphan; how the Pod came to be one is not told"},
	{"B16", "https://github.com/kubernetes/kubernetes/issues/22909",
		"a selector is changed, and what it selected before runs on",
		"what no longer matches is released, as ORPHAN-1 asks; selectors of apps/v1 do not change any more"},
	{"B17", "https://github.com/kubernetes-sigs/cluster-api/issues/746",
		"objects are moved to another cluster, and their controllers never adopt them",
		"it is the controllers of Cluster API; ADOPT-1 finds who does not adopt"},
	{"B23", "https://github.com/kubernetes/kubernetes/issues/59676",
		"a Job that a finalizer holds is deleted again every few seconds",
		"deleting what is being deleted changes nothing, and no law counts it"},
	{"C13", "https://github.com/kubernetes/kubernetes/issues/59848",
		"a kubelet starts from an old list, and runs a Pod whose successor runs elsewhere",
		"there are no containers here: the API never shows two Pods of one name"},
	{"C19", "https://github.com/openshift/origin/issues/17435",
		"a revision never equals the one stored, and every sync makes another",
		"bugs/c19-statefulset-revisions-grow shows it to be settled at once; no law counts revisions"},
	{"C23", "https://github.com/ray-project/kuberay/issues/715",
		"an operator counts Pods in a late cache, makes too many, and deletes any of them",
		"as C11 and C12, by an operator"},
	{"C25", "https://github.com/scylladb/scylla-operator/issues/2492",
		"an operator makes a second object that a late cache does not show, and clears away the wrong one",
		"as C24, and the wrong one is its own: no law says which to keep"},
	{"C27", "https://github.com/ai-dynamo/grove/issues/122",
		"an operator makes and deletes Pods in bursts, by a late cache", "as C11 and C12, by an operator"},
	{"C28", "https://github.com/opensearch-project/opensearch-k8s-operator/issues/1471",
		"an operator disrupts two Pods where one may be missing, by a late cache",
		"how many an operator may disrupt is its own rule; EXACT-1 is asked of those that say it"},
	{"C29", "https://github.com/kubeedge/kubeedge/pull/4116",
		"a queue keyed by name loses that a Pod was deleted and made again",
		"it is a store between cloud and edge, none of the actors here"},
	{"C30", "https://github.com/kubernetes/kubernetes/issues/130767",
		"caches lag because readers hold their lock", "a cause of late caches, which every file explores"},
	{"D02", "https://github.com/kubernetes/kubernetes/issues/88097",
		"the collector deletes what has owners while the control plane is replaced",
		"nobody found out what it was; D01 is one way to it"},
	{"D05", "https://github.com/kubernetes/kubernetes/issues/124378",
		"an owner that was never seen is given the namespace of a dependent that it has not",
		"it never did harm; bugs/d05-virtual-owner-with-a-namespace-it-has-not keeps it so"},
	{"D11", "https://github.com/kubernetes/kubernetes/pull/131307",
		"a dependent is collected while its owner's are orphaned",
		"a claim that was not accepted; D10 and B01 are what is known of it"},
	{"D14", "https://github.com/kubernetes/kubernetes/issues/111251",
		"an empty namespace hangs with the finalizer of foreground deletion",
		"how the finalizer came there is not told; D12 has the collector that does not see one come back"},
	{"D18", "https://github.com/kubernetes/kubernetes/issues/32519",
		"the namespace controller takes objects that wait for the collector for an error",
		"it was slow, and emptied the namespace in the end: no law times that"},
	{"D19", "https://github.com/kubernetes/kubernetes/issues/76042",
		"deleting a namespace in the background leaves the orphan finalizer on it",
		"a rule of the server, which the recorded cases pin (GCPOLICY-1)"},
	{"D20", "https://github.com/kubernetes/kubernetes/pull/84123",
		"controllers try for ever to create in a namespace that is going away",
		"with back-off it breaks no law; orphan/terminating-namespace shows that nobody does"},
	{"D23", "https://github.com/longhorn/longhorn/issues/743",
		"a foreground deletion hangs, and its dependents are not touched", "the cause is not known"},
	{"D24", "https://github.com/elastic/cloud-on-k8s/pull/1891",
		"a reference that blocks is refused, as its writer may not delete the owner",
		"there are no users and no permissions here"},
	{"D27", "https://github.com/crossplane/crossplane/issues/895",
		"objects that name an owner in another namespace are collected",
		"it is what GC-7 asks, in every order of events"},
	{"D29", "https://github.com/kubernetes/kubernetes/pull/127752",
		"foreground deletion begins with the dependents although the owner has other finalizers",
		"it is the rule (FIN-1, GC-2): finalizers have no order"},
	{"D30", "https://github.com/package-operator/package-operator/pull/1713",
		"an operator deletes what has just been orphaned from its object",
		"as B12 and F06, by an operator"},
	{"F07", "https://github.com/sourcegraph/sourcegraph-public-snapshot/pull/63826",
		"a component that is switched off deletes Secrets that an administrator made",
		"as F04 and F05: by name, whoever made it"},
	{"F12", "https://github.com/kubernetes/kubernetes/pull/47471",
		"kubectl drain takes the first owner for the controller",
		"kubectl's own: kubectltest drains Pods with today's"},
	{"F13", "https://github.com/kubernetes/kubernetes/pull/56864",
		"kubectl drain fails on controllers of kinds that it does not know",
		"kubectl's own: kubectltest drains Pods with today's"},
	{"F14", "https://github.com/3scale/3scale-operator/pull/866",
		"a reference that does not say whether it controls makes an operator panic",
		"a slip in Go: EXACT-7b names whoever panics"},
	{"S01", "https://github.com/instaclustr/cassandra-operator/issues/402",
		"a restarted operator deletes the claims of its object's successor, by their labels",
		"bugs/s01-claims-deleted-by-label has the world; no guard here is left out by it"},
	{"S02", "https://github.com/instaclustr/cassandra-operator/issues/404",
		"a restarted operator sees its object going as it was, and deletes the successor's StatefulSet",
		"as S01, with a StatefulSet in place of claims"},
	{"S05", "https://github.com/datastax/cass-operator/issues/412",
		"a restarted operator deletes the claims of its object's successor, by their names",
		"bugs/s05-claims-deleted-by-name has the world; no guard here is left out by it"},
	{"S06", "https://github.com/Orange-OpenSource/casskop/issues/316",
		"a restarted operator deletes the claims of its object's successor, by cluster and rack", "as S01"},
	{"S07", "https://github.com/pravega/zookeeper-operator/issues/312",
		"a restarted operator deletes the claims of its object's successor, by name", "as S05"},
	{"S09", "https://github.com/rabbitmq/cluster-operator/issues/648",
		"a restarted operator deletes the StatefulSet of its object's successor, by name",
		"as S05, with a StatefulSet in place of claims"},
	{"S10", "https://github.com/rabbitmq/cluster-operator/issues/653",
		"a restarted operator resizes claims to what an old spec said",
		"sizes of claims are no matter of ownership"},
	{"S11", "https://github.com/Orange-OpenSource/casskop/issues/321",
		"an operator deletes a disruption budget and makes it again", "what it should be is not told"},
	{"S12", "https://github.com/Orange-OpenSource/casskop/issues/342",
		"an operator does not see a state that passed, and a Pod too many stays",
		"as S04: by an edge that is not seen"},
}

// corpus are the bugs of the collection, a letter for each chapter: fights; adoption and
// orphaning; caches and expectations; the collector and namespaces; PodGC; operators;
// operators after a restart.
const corpus = `
A01 A02 A03 A05 A06 A07 A08 A09 A11
B01 B02 B03 B05 B06 B07 B08 B09 B10 B11 B12 B15 B16 B17 B18 B19 B20 B21 B22 B23 B24 B25 B26 B27
C01 C03 C04 C05 C07 C08 C09 C10 C11 C12 C13 C14 C15 C17 C19 C20 C21 C23 C24 C25 C26 C27 C28 C29 C30 C31 C32
D01 D02 D04 D05 D07 D08 D09 D10 D11 D12 D14 D15 D16 D17 D18 D19 D20 D21 D23 D24 D25 D26 D27 D28 D29 D30
E01 E02
F01 F02 F03 F04 F05 F06 F07 F08 F09 F11 F12 F13 F14
S01 S02 S04 S05 S06 S07 S09 S10 S11 S12
`

// Unaccounted says what of the collection is in no file and has no reason, or has both,
// and what is in none of its chapters: nothing where all is accounted for.
func Unaccounted(bugs []*Bug) (wrong []string) {
	known := strings.Fields(corpus)
	for _, id := range known {
		inFile := slices.ContainsFunc(bugs, func(b *Bug) bool { return b.ID == id })
		reasons := 0
		for i := range unfound {
			if unfound[i].id == id {
				reasons++
			}
		}
		switch {
		case !inFile && reasons == 0:
			wrong = append(wrong, id+": no file has it, and nothing says why not")
		case inFile && reasons > 0:
			wrong = append(wrong, id+": a file has it, and something says why none does")
		case reasons > 1:
			wrong = append(wrong, id+": two reasons why no file has it")
		}
	}
	for i := range unfound {
		if !slices.Contains(known, unfound[i].id) {
			wrong = append(wrong, unfound[i].id+": not in the collection")
		}
	}
	for _, b := range bugs {
		if !slices.Contains(known, b.ID) {
			wrong = append(wrong, b.ID+" of "+b.File.Name+": not in the collection")
		}
	}
	return wrong
}

// unfoundTable is the table of those that no file is for.
func unfoundTable() string {
	var b strings.Builder
	b.WriteString(unfoundHead)
	for _, u := range unfound {
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", u.id, u.url, u.what, u.why)
	}
	return b.String()
}
