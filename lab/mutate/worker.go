package mutate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/threelaws/threelaws/lab/mutate/switches"
)

// worker is a process that is asked about one mutant after another. It is started
// again when it has died of one.
type worker struct {
	path string
	args []string
	env  []string
	root string

	cmd  *exec.Cmd
	in   io.WriteCloser
	from *os.File // what out reads
	out  *json.Decoder
}

// ask asks about a mutant. A process that dies was killed by the first check: which
// it was nobody knows.
func (w *worker) ask(r switches.Request, init bool) (*switches.Answer, error) {
	if w.cmd == nil || init {
		w.stop()
		begin := switches.None
		if init {
			begin = r.Mutation
		}
		if err := w.start(begin); err != nil {
			return nil, err
		}
	}
	if err := json.NewEncoder(w.in).Encode(r); err != nil {
		return w.died(), nil
	}
	var a switches.Answer
	if err := w.out.Decode(&a); err != nil {
		return w.died(), nil
	}
	if a.Ended || init {
		w.stop()
	}
	return &a, nil
}

func (w *worker) start(mutation int) error {
	w.cmd = exec.Command(w.path, w.args...)
	w.cmd.Dir = w.root
	w.cmd.Env = append(append(os.Environ(), w.env...), "GOMAXPROCS=1", switches.Env+"="+strconv.Itoa(mutation))
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answers.Close()
	w.cmd.ExtraFiles = []*os.File{answers} // the first is [switches.AnswersFile]
	w.in, w.from, w.out = in, out, json.NewDecoder(bufio.NewReader(out))
	if err := w.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		w.cmd = nil // there is none to stop
		return fmt.Errorf("%s: %w", w.path, err)
	}
	return nil
}

func (w *worker) died() *switches.Answer {
	w.stop()
	return &switches.Answer{By: 0, Why: "the process dies"}
}

func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.from.Close()
	w.cmd = nil
}
