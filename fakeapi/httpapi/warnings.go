package httpapi

import (
	"net/http"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// How much an answer may warn of, in runes: of all texts together, and of each when all are
// too much. See WithWarningRecorder of k8s.io/apiserver.
const (
	mostWarned    = 4096
	mostOfWarning = 256
)

// setWarnings gives the answer's warnings their headers. What cannot be one is left out,
// as are those that come after too many.
func (a *answer) setWarnings(header http.Header) {
	texts, seen, total := []string(nil), map[string]bool{}, 0
	for _, text := range a.warnings {
		if _, err := utilnet.NewWarningHeader(299, "-", text); err != nil || text == "" || seen[text] {
			continue
		}
		seen[text] = true
		texts, total = append(texts, text), total+utf8.RuneCountInString(text)
	}
	for written, i := 0, 0; i < len(texts) && (total <= mostWarned || written < mostWarned); i++ {
		text := texts[i]
		if runes := []rune(text); total > mostWarned && len(runes) > mostOfWarning {
			text = string(runes[:mostOfWarning])
		}
		line, _ := utilnet.NewWarningHeader(299, "-", text)
		header.Add("Warning", line)
		written += utf8.RuneCountInString(text)
	}
}
