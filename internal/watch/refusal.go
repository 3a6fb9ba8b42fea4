package watch

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// refusal is an answer that is not what was asked for.
type refusal struct {
	code    int
	message string
	after   time.Duration // when to come back; zero where the server does not say
}

func (r *refusal) Error() string { return r.message }

// refusalOf reads an answer, and closes it.
func refusalOf(resp *http.Response) error {
	defer resp.Body.Close()
	r := &refusal{code: resp.StatusCode, message: resp.Status}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	var status struct{ Message string }
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		r.message = status.Message
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		r.after = time.Duration(s) * time.Second
	}
	return r
}

// is reports whether an error is a refusal with one of these codes.
func is(err error, codes ...int) bool {
	r := (*refusal)(nil)
	if !errors.As(err, &r) {
		return false
	}
	for _, c := range codes {
		if r.code == c {
			return true
		}
	}
	return false
}
