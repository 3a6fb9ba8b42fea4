// Package expression compiles the expressions of webhooks and policies with the real server's compiler, when they are
// stored.
package expression

import (
	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// yields are the result types of expressions.
var yields = map[validation.Yield][]*celgo.Type{
	validation.YieldBool:       {celgo.BoolType},
	validation.YieldText:       {celgo.StringType},
	validation.YieldAnnotation: {celgo.StringType, celgo.NullType},
	validation.YieldAny:        {celgo.AnyType, celgo.DynType},
	validation.YieldObject:     {apiservercel.NewObjectType("Object", nil).CelType()},
	validation.YieldJSONPatch:  {celgo.ListType(celgo.ObjectType("JSONPatch"))},
}

// accessor makes an expression what the compiler takes.
type accessor validation.Expression

// GetName is what later expressions call it.
func (a accessor) GetName() string { return a.Variable }

// GetExpression is its text.
func (a accessor) GetExpression() string { return a.Text }

// ReturnTypes are the types that it may yield.
func (a accessor) ReturnTypes() []*celgo.Type { return yields[a.Yields] }

type language struct {
	plain    cel.Compiler
	composed *cel.CompositedCompiler // nil: expressions have no names
}

// Language compiles the expressions of one object.
func Language(variables bool) validation.Expressions {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	if !variables {
		return &language{plain: cel.NewCompiler(base)}
	}
	composed, err := cel.NewCompositedCompiler(base)
	if err != nil {
		panic("fakeapi: no environment for expressions with variables: " + err.Error())
	}
	return &language{plain: composed, composed: composed}
}

// Wrong says what is wrong with an expression. One that names a variable is remembered.
func (l *language) Wrong(e validation.Expression) string {
	may := cel.OptionalVariableDeclarations{HasParams: e.Params, HasAuthorizer: e.Yields != validation.YieldText,
		HasPatchTypes: e.Yields == validation.YieldObject || e.Yields == validation.YieldJSONPatch}
	var result cel.CompilationResult
	if e.Yields == validation.YieldAny && l.composed != nil {
		result = l.composed.CompileAndStoreVariable(accessor(e), may, environment.NewExpressions)
	} else {
		result = l.plain.CompileCELExpression(accessor(e), may, environment.NewExpressions)
	}
	if result.Error == nil {
		return ""
	}
	return result.Error.Detail
}
