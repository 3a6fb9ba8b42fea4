package house

const (
	api           = "k8s.io/api"
	apimachinery  = "k8s.io/apimachinery"
	kubeOpenAPI   = "k8s.io/kube-openapi/pkg"
	apiextensions = "k8s.io/apiextensions-apiserver/pkg"
	celOfAPI      = "k8s.io/apiserver/pkg/cel"
	celGo         = "github.com/google/cel-go"
	celLimits     = "k8s.io/apiserver/pkg/apis/cel"
	aggregator    = "k8s.io/kube-aggregator/pkg/apis"
	cache         = "k8s.io/client-go/tools/cache"
	listers       = "k8s.io/client-go/listers"
	workqueue     = "k8s.io/client-go/util/workqueue"
	btree         = "github.com/google/btree"
	apis          = "k8s.io/kubernetes/pkg/apis"
)

// edge is one row of the import table.
type edge struct {
	pkg string
	may []string
	why string
}

// edges is the import table: what a package of this module may import beside
// the standard library. Paths without a dot in their first element are inside
// the module. "p/..." is p and everything below it; any other path of another
// module stands for everything below it as well. The first row that matches a
// package counts.
var edges = []edge{
	{".", nil,
		"the root holds documentation only"},
	{"sim", nil,
		"the kernel is a scheduler: if it knew Kubernetes, it could not schedule a subject that is something else, " +
			"and nobody could read it in an hour"},
	{"internal/explore", []string{"sim", "internal/nearest"},
		"a strategy sees enabled actions, footprints and hashes; if it knew what they mean, it would be sound for " +
			"one host only"},
	{"internal/campaign", nil,
		"results are numbers, ranges and texts: merging them needs no world and no schedule"},
	{"internal/clause", nil,
		"what is demanded is data: it is there whoever checks it, and knows none of them"},
	{"internal/difference", nil,
		"where two values differ is seen in the values; what a field is called, in its type"},
	{"internal/render", []string{"sim", "sim/law", "internal/difference", apimachinery},
		"a picture is made from a history and what the laws found in it, so that a saved history can be drawn " +
			"without its world; it knows what owns an object, but no server and no host"},
	{"internal/page", []string{"sim", "internal/render", apimachinery, "go.yaml.in/yaml"},
		"a page is made from a history and the lines of its timeline, as a picture is: it runs nothing"},
	{"internal/live", []string{"sim", "internal/page", "internal/render"},
		"a page is fed from a history that grows, whatever world it is of: it knows no server and no host"},
	{"internal/page/pagetest", []string{"sim", api, apimachinery},
		"histories for the tests of pages are made of objects, without a world"},
	{"sim/law", []string{"sim", "sim/law/internal/meta", "sim/law/internal/view", "internal/clause", "internal/fight",
		apimachinery},
		"a law judges a history, whoever made it: it knows objects and selectors, but no server and no host"},
	{"sim/law/internal/view", []string{"sim", "sim/law/internal/meta", apimachinery},
		"what a process was shown is there whatever law asks for it: it must not know who does"},
	{"sim/law/internal/meta", []string{apimachinery},
		"what metadata says it says of any object, in any history"},
	{"internal/fight", []string{"internal/difference"},
		"a fight is told by hashes and by what objects differ in: knowing what the world is made of could only make " +
			"it blind elsewhere"},
	{"sim/host",
		[]string{"sim", "sim/law", "fakeapi", "internal/difference", "internal/goroutine", api, apimachinery, cache,
			workqueue, btree},
		"the host joins the kernel and the server, and offers controllers client-go's own types; of client-go only " +
			"the caches and queues are free of goroutines. It carries a controller's Contract and never reads it"},
	{"internal/usage", []string{api, apimachinery},
		"what an object uses is seen in the object: who charges for it and who counts it ask the same function"},
	{"fakeapi", []string{"fakeapi/internal/...", "internal/nearest", api, apimachinery, apiextensions, btree,
		"gopkg.in/evanphx/json-patch.v4", "sigs.k8s.io/json", "sigs.k8s.io/yaml",
		"sigs.k8s.io/structured-merge-diff/v6"},
		"the server is a function of time and request: it knows neither the kernel nor its clients, so that either " +
			"can be used without the other; of k8s.io/apiserver more than its evaluator would bring etcd, gRPC and " +
			"goroutines"},
	{"fakeapi/internal/same", []string{apimachinery},
		"when two values are the same does not depend on what they are for"},
	{"fakeapi/internal/metadata", []string{"fakeapi/internal/same", apimachinery},
		"metadata is what all kinds have in common, so it knows no kind"},
	{"fakeapi/internal/metapatch", []string{apimachinery},
		"a patch of metadata is read and applied whatever the rest of the object is"},
	{"fakeapi/internal/clientgates", []string{"k8s.io/client-go/features"},
		"it has to be initialized before anything of k8s.io/kubernetes"},
	{"fakeapi/internal/validation", []string{"fakeapi/internal/clientgates", "fakeapi/internal/metadata", api, apimachinery, aggregator, apis,
		"k8s.io/kubernetes/pkg/api", "k8s.io/kubernetes/pkg/capabilities", "k8s.io/kubernetes/pkg/volume/validation",
		"k8s.io/utils/ptr"},
		"what is wrong with an object is a function of the object and its old state: it knows no request and no " +
			"store. The rules are the real server's packages, without its strategies, which know both"},
	{"fakeapi/internal/crdschema", []string{"fakeapi/internal/same", apimachinery, apiextensions, kubeOpenAPI,
		celOfAPI, celLimits, celGo},
		"a schema says what it says of any value, whatever kind it is a value of; its rules are evaluated by the " +
			"real server's own code"},
	{"fakeapi/internal/crd", []string{"fakeapi/internal/metadata", "fakeapi/internal/crdschema",
		"fakeapi/internal/validation", api, apimachinery, apiextensions, celOfAPI, celLimits, celGo, kubeOpenAPI,
		"k8s.io/client-go/transport"},
		"a definition is checked as a text about objects: that it makes kinds is the server's doing"},
	{"fakeapi/internal/conversion", []string{apimachinery, apiextensions},
		"what is believed of an answer does not depend on who gives it: a webhook or a function"},
	{"fakeapi/internal/registry", []string{"fakeapi/internal/same", "fakeapi/internal/metadata",
		"fakeapi/internal/validation", "fakeapi/internal/expression", "fakeapi/internal/crd", api, apimachinery,
		apiextensions, aggregator, apis},
		"a row of the table of kinds knows objects: if it saw requests or the store, every kind could have rules of " +
			"its own for them"},
	{"fakeapi/internal/expression", []string{"fakeapi/internal/validation", celOfAPI, celGo,
		"k8s.io/apiserver/pkg/admission"},
		"whether an expression compiles is a question about a text, by the real server's own compiler"},
	{"fakeapi/internal/webhook", []string{"fakeapi/internal/crdschema", api, apimachinery, celOfAPI, celLimits, celGo,
		"k8s.io/apiserver/pkg/admission", "k8s.io/apiserver/pkg/authentication/user",
		"k8s.io/apiserver/pkg/authorization/authorizer"},
		"which webhooks a request is for and what is made of their answers does not depend on who calls them"},
	{"fakeapi/internal/policy", []string{"fakeapi/internal/webhook", "fakeapi/internal/crdschema", api, apimachinery,
		celOfAPI, celLimits, celGo, "k8s.io/apiserver/pkg/admission"},
		"what a policy has against a request is a function of both and of the parameters"},
	{"fakeapi/internal/fieldmanager", []string{"fakeapi/internal/registry", "fakeapi/internal/conversion",
		apimachinery, apiextensions, kubeOpenAPI, "k8s.io/kube-aggregator/pkg/generated/openapi",
		"k8s.io/client-go/applyconfigurations", "k8s.io/client-go/kubernetes/scheme",
		"sigs.k8s.io/structured-merge-diff/v6"},
		"a field manager is made of a row of the table and nothing else"},
	{"fakeapi/internal/admission", []string{"fakeapi/internal/metadata", "internal/usage", api, apimachinery,
		"k8s.io/component-helpers/resource"},
		"what is refused for what else there is, is a function of the object and what else there is: it knows no " +
			"request and no store"},
	{"fakeapi/internal/custom", []string{"fakeapi/internal/metadata", "fakeapi/internal/crdschema",
		"fakeapi/internal/conversion", "fakeapi/internal/crd", "fakeapi/internal/registry",
		"fakeapi/internal/fieldmanager", apimachinery,
		apiextensions, kubeOpenAPI, "sigs.k8s.io/structured-merge-diff/v6"},
		"a custom kind is a row like the others, made of a definition"},
	{"fakeapi/httpapi", []string{"fakeapi", "fakeapi/internal/validation", "fakeapi/internal/webhook",
		"fakeapi/httpapi/internal/...",
		"internal/fault", "internal/yamldoc", api, apimachinery, "sigs.k8s.io/yaml"},
		"the wire is a way in to the server: it knows no client and no host"},
	{"fakeapi/httpapi/internal/outbound", []string{"fakeapi/internal/webhook", apimachinery},
		"a webhook is called by whoever serves; nothing else of the wire is a client"},
	{"fakeapi/httpapi/internal/refusal", []string{apimachinery},
		"the words of a refusal are the same whatever is refused, so that every part of the wire can say them"},
	{"fakeapi/httpapi/internal/media", []string{"fakeapi/httpapi/internal/refusal", apimachinery},
		"what a client accepts is read from its request alone"},
	{"fakeapi/httpapi/internal/discovery", []string{"fakeapi", apimachinery},
		"the lists of resources are values: what they are sent as is decided above them"},
	{"fakeapi/httpapi/internal/route", []string{"fakeapi", "fakeapi/httpapi/internal/discovery",
		"fakeapi/httpapi/internal/refusal", apimachinery},
		"a path and a method name a kind and a verb before anything of the body is read"},
	{"fakeapi/httpapi/internal/codec", []string{"fakeapi", "fakeapi/httpapi/internal/media",
		"fakeapi/httpapi/internal/refusal", api, apimachinery, apiextensions, aggregator, "sigs.k8s.io/yaml"},
		"bytes become objects and objects bytes without a handler, so that neither depends on who asked"},
	{"fakeapi/httpapi/internal/table", []string{"fakeapi", "fakeapi/httpapi/internal/media", api, apimachinery,
		apiextensions, aggregator, "k8s.io/client-go/util/jsonpath"},
		"an object is printed from itself and the time; the paths of custom columns are read as the real server " +
			"reads them, by a package that brings nothing else of client-go"},
	{"fakeapi/httpapi/internal/openapi", []string{"fakeapi", "fakeapi/httpapi/internal/media", apimachinery,
		apiextensions, "github.com/google/gnostic-models/openapiv2", "google.golang.org/protobuf/proto"},
		"a schema is made from a kind's Go type or its definition"},
	{"sim/bubble",
		[]string{"sim", "sim/host", "sim/internal/quiet", "fakeapi", "fakeapi/httpapi", "internal/goroutine", apimachinery,
			"k8s.io/client-go"},
		"whoever hosts a whole program gives it the wire, and informers whose lists have an order; what the program " +
			"does with them is none of its business"},
	{"sim/internal/quiet", []string{"sim"}, "time passes in the same way for whole programs, wherever they run"},
	{"sim/agent", []string{"sim", "sim/host", "sim/internal/quiet", "fakeapi", "fakeapi/httpapi", "internal/overlay/wire", api,
		apimachinery},
		"whoever hosts a program in a process of its own speaks the protocol of the agent; how the program was built " +
			"is another's business"},
	{"internal/overlay", nil, "the overlay is files of the standard library: it knows no world"},
	{"internal/overlay/wire", nil, "the protocol is compiled into the standard library as well"},
	{"sim/trial", []string{"sim", "sim/host", "sim/law", "internal/difference", "internal/fight", "internal/render",
		"internal/watchdog", "fakeapi", apimachinery},
		"a trial joins the host, the laws and the page, so that nobody who runs a world can leave one of them out"},
	{"internal/audit", []string{"sim", "sim/host", "sim/law", "internal/fight", "internal/render", apimachinery,
		"k8s.io/utils/lru"},
		"a log is judged by the laws as a history is: what it is made into are records, and of controllers it knows " +
			"what they declare"},
	{"internal/watch", []string{"sim", "internal/fight", "internal/render", apimachinery, "k8s.io/client-go",
		"k8s.io/klog", "k8s.io/utils/lru", "gopkg.in/evanphx/json-patch.v4"},
		"a real cluster is read by client-go; what an object means is read from its metadata, so this package needs " +
			"no server and no law"},
	{"internal/fault", []string{"fakeapi", "internal/nearest", apimachinery},
		"what goes wrong with a request is read from a line and from the request: it knows no connection, no clock " +
			"and no world"},
	{"internal/realtime", []string{"sim", "sim/trial", "fakeapi"},
		"the one runner that reads the clock on the wall stands beside the kernel, so that nothing deterministic can " +
			"come to lean on it"},
	{"controllers/internal/cronjob",
		[]string{"controllers/...", "sim", "sim/host", "sim/law", "fakeapi", api, apimachinery, cache,
			"github.com/robfig/cron/v3"},
		"a schedule is read by the library that the real controller and the server read it with"},
	{"controllers/internal/quota",
		[]string{"controllers/...", "sim", "sim/host", "sim/law", "fakeapi", "internal/usage", api, apimachinery, cache},
		"what the controller counts is what the server charges: that the two agree is not left to two texts"},
	{"controllers/...",
		[]string{"controllers/...", "sim", "sim/host", "sim/law", "fakeapi", api, apimachinery, cache, listers,
			workqueue},
		"a controller is what a stranger could write: it sees the host's surface and declares a Contract, and never " +
			"sees the search that schedules it"},
	{"scenarios/conformance",
		[]string{"scenarios", "scenarios/simtest", "sim/bubble", "sim/host", "sim/law", "internal/check", apimachinery,
			"k8s.io/client-go/rest", "pgregory.net/rapid"},
		"it reads the files of a subject and tells a test what became of it; of client-go it needs the type by which " +
			"whole programs get the address of their server"},
	{"internal/check",
		[]string{"scenarios", "scenarios/builtin", "scenarios/casefile", "sim", "sim/host", "sim/law", "sim/trial",
			"internal/clause", "internal/nearest", "internal/render", "internal/yamldoc", "fakeapi", apimachinery,
			"go.yaml.in/yaml", "gopkg.in/evanphx/json-patch.v4", "sigs.k8s.io/yaml"},
		"worlds for anybody's controller are cases, whoever explores them and however the controller is hosted"},
	{"scenarios/simtest/...",
		[]string{"scenarios", "scenarios/builtin", "scenarios/casefile", "controllers/...", "sim/...",
			"internal/campaign", "internal/explore", "fakeapi", api, apimachinery, "pgregory.net/rapid"},
		"adapters for property tests and fuzzing are imported by tests only"},
	{"scenarios/casefile",
		[]string{"scenarios", "scenarios/builtin", "controllers/...", "sim/host", "sim/law", "internal/nearest",
			"internal/page", "fakeapi", apimachinery, "sigs.k8s.io/yaml"},
		"a case is compiled into a scenario file and explored as one: tests and the command both do it, so it " +
			"knows neither"},
	{"scenarios/builtin", []string{"scenarios", "controllers/...", "sim/host", "sim/law"},
		"the registry of this module joins its controllers, their mutants and the laws: tests need no command line"},
	{"scenarios/internal/golden", nil,
		"what a step should print is compared as text, whatever printed it"},
	{"scenarios/internal/words", nil,
		"a line is cut into words whatever they mean"},
	{"scenarios/internal/manifest", []string{"internal/nearest", "internal/render", "internal/yamldoc", "sim",
		"fakeapi", apimachinery, apiextensions, "sigs.k8s.io/json", "go.yaml.in/yaml"},
		"a manifest is read for a server, whichever script sends it: it knows no step and no run"},
	{"scenarios", []string{"scenarios/internal/...", "internal/campaign", "internal/nearest", "sim/...", "internal/explore",
		"internal/render", "fakeapi", apimachinery, "golang.org/x/tools/txtar", "go.yaml.in/yaml"},
		"scenarios are for anybody's controllers: the registry is passed in, so this module's controllers must not " +
			"be compiled in"},
	{"cli/internal/ci", nil,
		"what continuous integration reads is text: it knows files, lines and sentences, and nothing of runs"},
	{"cli", []string{"cli/internal/ci", "scenarios", "scenarios/builtin", "scenarios/casefile", "controllers/...",
		"sim/...", "internal/audit", "internal/campaign", "internal/check", "internal/clause", "internal/explore", "internal/fault",
		"internal/install", "internal/live", "internal/nearest", "internal/overlay", "internal/page", "internal/render",
		"internal/realtime", "internal/watch", "fakeapi/...", api, apimachinery, "github.com/spf13",
		"go.yaml.in/yaml", "golang.org/x/term", "k8s.io/client-go/util/cert"},
		"the command line joins everything but the test adapters"},
	{"cmd/threelaws", []string{"cli", "scenarios", "scenarios/builtin"},
		"the command is the command line with the controllers and scenarios of this module: whoever has others " +
			"writes the same lines"},
	{"internal/house", nil,
		"the rules of the tree are tests, which import what they hold to them"},
	{"internal/goroutine", nil,
		"telling goroutines apart needs nothing but the runtime"},
	{"internal/watchdog", []string{"internal/goroutine"},
		"who watches from real time knows of a world no more than that a step has ended"},
	{"internal/nearest", nil,
		"a word is near another whatever they are words of"},
	{"internal/install",
		[]string{"internal/nearest", "internal/yamldoc", apimachinery, "sigs.k8s.io/kustomize", "sigs.k8s.io/yaml"},
		"an operator's repository is read as its users read it: nothing here knows a world in which it is installed"},
	{"internal/yamldoc", nil,
		"where a document of a text begins does not depend on what is in it"},
	{"internal/recorded", nil,
		"the reader of the recorded cases compares text with text: it serves the tests of whatever answers, so it " +
			"may know none of them"},
	{"internal/recorded/replay", []string{"internal/recorded", apimachinery},
		"a case is played over HTTP, which every server speaks: this one with its own rules or with others', and any " +
			"other"},
	{"internal/generate", []string{"internal/recorded", apimachinery, "sigs.k8s.io/yaml"},
		"what a field may be tried with is seen in its type: no rule of any kind is known here, so that none is " +
			"left out"},
}

// celNeeds is what the evaluator of rules of definitions is made of: no server, no store
// and no client is among it.
var celNeeds = []string{celOfAPI, celLimits, "k8s.io/apiserver/pkg/warning", "k8s.io/apiserver/pkg/features",
	"k8s.io/apiserver/pkg/util/feature", "k8s.io/apiserver/pkg/util/compatibility",
	"k8s.io/apiserver/pkg/authentication/serviceaccount", "k8s.io/apiserver/pkg/authentication/user",
	"k8s.io/apiserver/pkg/authorization/authorizer",
	// The evaluator of match conditions takes a request as the admission chain has it.
	"k8s.io/apiserver/pkg/admission", "k8s.io/apiserver/pkg/apis/apiserver", "k8s.io/apiserver/pkg/apis/audit",
	"k8s.io/apiserver/pkg/audit", "k8s.io/apiserver/pkg/endpoints/request"}

// ruleNeeds is what the real server's rules about its kinds are made of, beside celNeeds.
var ruleNeeds = append([]string{apis, "k8s.io/kubernetes/pkg/api", "k8s.io/kubernetes/pkg/capabilities",
	"k8s.io/kubernetes/pkg/features", "k8s.io/kubernetes/pkg/fieldpath", "k8s.io/kubernetes/pkg/util/parsers",
	"k8s.io/kubernetes/pkg/volume/validation", "k8s.io/apiserver/pkg/apis/flowcontrol",
	"k8s.io/apiserver/pkg/util/shufflesharding"}, celNeeds...)

// walls are packages that may not be reached at all, directly or through other
// modules.
var walls = []struct {
	from   string
	to     []string
	except []string
	why    string
}{
	{"sim", []string{"net", "os", "math/rand", "crypto", "log"}, []string{"os/internal"},
		"a run is a function of its actors and choices: the kernel has no way to the outside"},
	{"fakeapi", []string{"sim/...", "k8s.io/client-go/informers", "k8s.io/client-go/tools/cache",
		"k8s.io/client-go/kubernetes/typed", "k8s.io/apiserver", "net/http/httptest"}, ruleNeeds,
		"the server can be embedded without its clients"},
	{"scenarios", []string{"controllers/..."}, nil,
		"the registry of controllers is passed in"},
	{"cli", []string{"pgregory.net/rapid", "github.com/cockroachdb/datadriven", "github.com/google/go-cmp",
		"github.com/stretchr/testify", "golang.org/x/tools/go", "testing", "net/http/httptest", "scenarios/simtest"},
		nil,
		"what only tests need does not ship"},
	{"scenarios/casefile", []string{"pgregory.net/rapid", "testing"}, nil,
		"the command tries cases too"},
	{"...", []string{"k8s.io/apiserver", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime",
		"k8s.io/client-go/kubernetes/fake"}, ruleNeeds,
		"the library's dependencies stay small; subjects that need these live in modules of their own"},
}
