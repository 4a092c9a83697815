package suggest

// Kind is what has a name that scripts and files use.
type Kind string

// The kinds of names.
const (
	Flag   Kind = "flag"   // of a command
	Key    Kind = "key"    // of a YAML file
	Metric Kind = "metric" // of Prometheus
)

// Renamed is what names were called before, and are called now: whoever still uses an old one gets the new one in
// one line. CHANGELOG.md lists each below "Renamed", as a test sees to.
var Renamed = map[Kind]map[string]string{
	Flag:   {"output": "out", "write": "out"}, // of report; of capture
	Key:    {},
	Metric: {},
}
