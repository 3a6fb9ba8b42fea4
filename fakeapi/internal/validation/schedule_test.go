package validation

import "testing"

func TestCheckSchedule(t *testing.T) {
	for text, want := range map[string]string{
		"*/5 * * * *":              "",
		"@hourly":                  "",
		"@every 1h":                "",
		"TZ=Europe/Rome 0 * * * *": "",
		"@every 1x":                `failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"`,
		"@daily-ish":               "unrecognized descriptor: @daily-ish",
		"* * * *":                  "expected exactly 5 fields, found 4: [* * * *]",
		"60 * * * *":               "end of range (60) above maximum (59): 60",
		"TZ=UTC":                   "empty spec string",
	} {
		got := ""
		if err := checkSchedule(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
