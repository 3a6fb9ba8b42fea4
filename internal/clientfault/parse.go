package clientfault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
)

// Grammar is the syntax of faults, one per line.
const Grammar = `hold WHO sees=KIND
release WHO [sees=KIND]
relist WHO KIND
fail WHO VERB [NAMESPACE/]KIND[/NAME] [nth=N] with=409|429|500|503|504|timeout|lost
delay WHO VERB [NAMESPACE/]KIND[/NAME] [nth=N] by=DURATION`

// Kinds finds kinds by the words that users type. [fakeapi.Server] implements Kinds.
type Kinds interface {
	KindNamed(typed string) *fakeapi.Kind
	NearestKind(typed string) string
}

// forms lists the verbs of fault lines with their arguments and parameters.
var forms = []struct {
	verb  string
	words []string // arguments after the verb
	must  []string // required parameters
	may   []string
}{
	{hold, []string{"WHO"}, []string{"sees"}, nil},
	{release, []string{"WHO"}, nil, []string{"sees"}},
	{relist, []string{"WHO", "KIND"}, nil, nil},
	{fail, []string{"WHO", "VERB", "KIND"}, []string{"with"}, []string{"nth"}},
	{delay, []string{"WHO", "VERB", "KIND"}, []string{"by"}, []string{"nth"}},
}

// asked lists the verbs of requests that a fault can name.
var asked = []string{string(fakeapi.Create), string(fakeapi.Update), string(fakeapi.Patch), string(fakeapi.Delete),
	string(fakeapi.DeleteCollection), string(fakeapi.Get), string(fakeapi.List), watches, write}

// longest is the maximal delay of a request.
const longest = time.Hour

// widest is the maximal number of bytes in a line. A line contains at most two long names, of 253 bytes each.
const widest = 1000

// parse parses a line. For the verb release it returns a rule that ends faults and is never added to the list.
func parse(kinds Kinds, line string) (*rule, error) {
	words := strings.Fields(line)
	switch {
	case len(line) > widest:
		return nil, fmt.Errorf("%.40s...: a line of %d bytes; none needs more than %d", line, len(line), widest)
	case len(words) == 0:
		return nil, fmt.Errorf("no fault is given")
	}
	var verbs []string
	for _, f := range forms {
		verbs = append(verbs, f.verb)
	}
	i := slices.Index(verbs, words[0])
	if i < 0 {
		return nil, fmt.Errorf("unknown fault %s%s", words[0], suggest(words[0], verbs))
	}
	form := &forms[i]
	bare, params, err := split(words, append(slices.Clone(form.must), form.may...))
	if err != nil {
		return nil, err
	}
	for _, p := range form.must {
		if params[p] == "" {
			return nil, fmt.Errorf("%s: %s is missing: write %s=%s", form.verb, p, p, valuesOf(p))
		}
	}
	if len(bare) != len(form.words) {
		return nil, fmt.Errorf("%s takes %s, not %s", form.verb, strings.Join(form.words, " "), plural(len(bare)))
	}
	r := &rule{verb: form.verb, who: bare[0], nth: 1}
	if kind := params["sees"]; kind != "" {
		return r, r.readKind(kinds, kind)
	}
	if len(bare) == 1 {
		return r, nil // a release without sees= ends the hold faults on all kinds
	}
	if r.verb == relist {
		return r, r.readKind(kinds, bare[1])
	}
	if r.asks = bare[1]; !slices.Contains(asked, r.asks) {
		return nil, fmt.Errorf("%s: unknown API verb %s%s", r.verb, r.asks, suggest(r.asks, asked))
	}
	if err := r.readObject(kinds, bare[2]); err != nil {
		return nil, err
	}
	return r, r.readParams(params)
}

// split separates the key=value parameters of a line from its other words. It leaves out the verb.
func split(words, known []string) (bare []string, params map[string]string, err error) {
	params = map[string]string{}
	for _, w := range words[1:] {
		key, value, is := strings.Cut(w, "=")
		switch {
		case !is:
			bare = append(bare, w)
		case !slices.Contains(known, key):
			return nil, nil, fmt.Errorf("%s: unknown parameter %s%s", words[0], key, suggest(key, known))
		case params[key] != "":
			return nil, nil, fmt.Errorf("%s: %s is given twice", words[0], key)
		case value == "":
			return nil, nil, fmt.Errorf("%s: %s has no value: write %s=%s", words[0], key, key, valuesOf(key))
		default:
			params[key] = value
		}
	}
	return bare, params, nil
}

func valuesOf(param string) string {
	switch param {
	case "with":
		return strings.Join(answerWords(), "|")
	case "by":
		return "DURATION"
	case "nth":
		return "N"
	}
	return "KIND"
}

// readKind parses a kind, or * for all kinds.
func (r *rule) readKind(kinds Kinds, word string) error {
	if r.resource = word; word == "*" {
		return nil
	}
	k := kinds.KindNamed(word)
	if k == nil {
		text := fmt.Sprintf("%s: the kind %q is not served", r.verb, word)
		if n := kinds.NearestKind(word); n != "" {
			return fmt.Errorf("%s; did you mean %s?", text, n)
		}
		return fmt.Errorf("%s; a custom kind is served once its CRD is created", text)
	}
	r.kind, r.resource = k.GVK.GroupKind(), k.Resource
	if k.GVK.Group != "" {
		r.resource += "." + k.GVK.Group
	}
	return nil
}

// readObject parses the object of a request: KIND, KIND/NAME, or NAMESPACE/KIND/NAME.
func (r *rule) readObject(kinds Kinds, word string) error {
	switch parts := strings.Split(word, "/"); {
	case slices.Contains(parts, "") || len(parts) > 3:
		return fmt.Errorf("%s: %s is not [NAMESPACE/]KIND[/NAME]", r.verb, word)
	case len(parts) == 3:
		r.namespace, r.name = parts[0], parts[2]
		return r.readKind(kinds, parts[1])
	case len(parts) == 2:
		r.name = parts[1]
		return r.readKind(kinds, parts[0])
	}
	return r.readKind(kinds, word)
}

func (r *rule) readParams(params map[string]string) (err error) {
	if nth, ok := params["nth"]; ok {
		if r.nth, err = strconv.Atoi(nth); err != nil || r.nth < 0 {
			return fmt.Errorf("%s: nth=%s is not a number from 0; 0 means every one", r.verb, nth)
		}
	}
	if by, ok := params["by"]; ok {
		if r.by, err = time.ParseDuration(by); err != nil || r.by <= 0 || r.by > longest {
			return fmt.Errorf("%s: by=%s is not a duration of up to an hour, such as 2s or 500ms", r.verb, by)
		}
		return nil
	}
	at := slices.Index(answerWords(), params["with"])
	if at < 0 {
		return fmt.Errorf("%s: with=%s is not an answer%s", r.verb, params["with"],
			suggest(params["with"], answerWords()))
	}
	r.with = answers[at]
	if reads(r.asks) && !r.with.can(&fakeapi.Request{Verb: fakeapi.Get}, r.asks) {
		return fmt.Errorf("%s: with=%s is not an answer to %s: only a write can conflict, and relist ends an open "+
			"watch", r.verb, r.with.word, r.asks)
	}
	return nil
}

// suggest returns a hint for an error: the valid word nearest to the given word, or all valid words.
func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	return "; there are " + strings.Join(valid, ", ")
}

func plural(n int) string {
	if n == 1 {
		return "1 word"
	}
	return fmt.Sprintf("%d words", n)
}
