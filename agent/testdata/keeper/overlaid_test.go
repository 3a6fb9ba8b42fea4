//go:build overlaid

package keeper_test

import _ "threelaws/agent" // this package exists only in the overlay
