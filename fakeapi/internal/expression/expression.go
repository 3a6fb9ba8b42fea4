// Package expression compiles the CEL expressions of webhooks and policies with the real server's compiler.
package expression

import (
	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Yield is the set of types that the result of an expression may have.
type Yield int

// The result types of expressions in policies and webhooks.
const (
	Bool Yield = iota
	Text
	Annotation // string or null, for audit annotations
	Any        // any type, for variables
	Object     // an apply configuration of a mutating policy
	JSONPatch
)

// types maps a Yield to CEL types.
var types = map[Yield][]*celgo.Type{
	Bool:       {celgo.BoolType},
	Text:       {celgo.StringType},
	Annotation: {celgo.StringType, celgo.NullType},
	Any:        {celgo.AnyType, celgo.DynType},
	Object:     {apiservercel.NewObjectType("Object", nil).CelType()},
	JSONPatch:  {celgo.ListType(celgo.ObjectType("JSONPatch"))},
}

// Expression is a CEL expression with the methods that the compiler calls.
type Expression struct {
	Text   string
	Name   string // set for variables: the name by which later expressions use the variable
	Yields Yield
	Params bool // the expression can use params, the parameter object of the policy
}

func (e Expression) GetName() string { return e.Name }

func (e Expression) GetExpression() string { return e.Text }

func (e Expression) ReturnTypes() []*celgo.Type { return types[e.Yields] }

// Language compiles the CEL expressions of one policy or webhook configuration, to find errors in them.
type Language struct {
	plain    cel.Compiler
	composed *cel.CompositedCompiler // nil if expressions cannot be variables
}

// New returns a Language. If variables is set, expressions can be variables.
func New(variables bool) *Language {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	if !variables {
		return &Language{plain: cel.NewCompiler(base)}
	}
	composed, err := cel.NewCompositedCompiler(base)
	if err != nil {
		panic("fakeapi: no environment for expressions with variables: " + err.Error())
	}
	return &Language{plain: composed, composed: composed}
}

// Wrong returns the error in an expression, or "". A valid variable becomes available to later expressions.
func (l *Language) Wrong(e Expression) string {
	may := cel.OptionalVariableDeclarations{HasParams: e.Params, HasAuthorizer: e.Yields != Text,
		HasPatchTypes: e.Yields == Object || e.Yields == JSONPatch}
	var result cel.CompilationResult
	if e.Yields == Any && l.composed != nil {
		result = l.composed.CompileAndStoreVariable(e, may, environment.NewExpressions)
	} else {
		result = l.plain.CompileCELExpression(e, may, environment.NewExpressions)
	}
	if result.Error == nil {
		return ""
	}
	return result.Error.Detail
}
