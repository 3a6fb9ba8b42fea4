//go:build overlaid

package keeper_test

import _ "threelaws/agent" // which is in the overlay alone
