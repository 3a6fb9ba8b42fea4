package imports

import (
	_ "crypto/rand" // want `import of crypto/rand: what it returns differs from run to run; draw from the world's choices`
	_ "math/bits"
	_ "math/rand"    // want `import of math/rand:`
	_ "math/rand/v2" // want `import of math/rand/v2:`
	_ "os"           // want `import of os: what it returns differs from run to run; let the caller read files and the environment`
	_ "strings"

	_ "k8s.io/apimachinery/pkg/util/rand" // want `import of k8s.io/apimachinery/pkg/util/rand:`
)
