package table

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// printer makes the rows of a Table of one kind, as the real server's printers
// do (k8s.io/kubernetes, pkg/printers/internalversion).
type printer struct {
	columns []column
	cells   func(obj runtime.Object, now time.Time) []any
	// done says what a row's object has come to; nil for most kinds.
	done func(obj runtime.Object) []metav1.TableRowCondition
}

// prints makes a printer of a typed function.
func prints[T runtime.Object](cells func(obj T, now time.Time) []any, columns ...column) *printer {
	return &printer{columns: columns, cells: func(obj runtime.Object, now time.Time) []any {
		return cells(obj.(T), now)
	}}
}

// ends is the printer with a function that says what a row's object has come to.
func (p *printer) ends(done func(obj runtime.Object) []metav1.TableRowCondition) *printer {
	p.done = done
	return p
}

type column = metav1.TableColumnDefinition

var (
	metaDocs   = metav1.ObjectMeta{}.SwaggerDoc()
	nameColumn = column{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]}
	ageColumn  = text("Age", metaDocs["creationTimestamp"])
)

func text(name, description string) column {
	return column{Name: name, Type: "string", Description: description}
}

func number(name, description string) column {
	return column{Name: name, Type: "integer", Description: description}
}

// wide is a column that kubectl shows with -o wide only.
func wide(name, description string) column {
	return column{Name: name, Type: "string", Priority: 1, Description: description}
}

// since words the time that has passed.
func since(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}
