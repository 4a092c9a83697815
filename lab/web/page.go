package web

// Page is a whole report.
type Page struct {
	Title       string
	About       string
	Papers      []Paper  // the index; empty in the report of one experiment
	Counts      Counts   // of all claims
	NotRun      []string // experiments of the catalogue without results
	Experiments []*Experiment
}

// Paper is a part of the index.
type Paper struct {
	Name, Venue string
	Counts      Counts
	Rows        []IndexRow
}

// IndexRow is an experiment in the index.
type IndexRow struct {
	Anchor, ID, Title, Figure string
	Quick                     bool // its results are of a quick run
	Counts                    Counts
}

// Counts of verdicts, by their names.
type Counts map[string]int

// Verdicts in the order in which they are shown.
var Verdicts = []string{"reproduced", "direction", "differs", "holds", "contradicted", "shape", "not-run"}

// Total is the number of claims.
func (c Counts) Total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// Add counts those of another as well.
func (c Counts) Add(other Counts) {
	for v, n := range other {
		c[v] += n
	}
}

// Experiment is a section of a report.
type Experiment struct {
	Anchor, ID, Title string
	Source            string // paper, figure and section
	About             string
	Counts            Counts // of its claims
	Summary           string // what else there is to say in a line
	Wiring            *Wiring
	Command           string // that repeats it
	Coverage          string // whether all of it ran, and how long that took
	Worlds            []string
	Schemes           []Scheme
	Charts            []*Chart
	Claims            []Claim
	Metrics           []Row // a row for each metric and world
	Docs              []Doc
	Parameters        []Parameter
	Others            []Row // choices that were made otherwise
	OtherMetrics      []string
	Runs              []Run
	Sound             bool // no run lost a frame
	SinglePage        bool // on its page, which has no index that says what verdicts mean
	Sweep             bool // it is of a sweep, of which there are charts and numbers only
}

// Scheme is one that was run.
type Scheme struct {
	LineStyle
	Name, Summary, Source string
	Hidden                bool // at first, in its charts
	Settings              []Parameter
}

// Claim is a statement of the paper and what became of it.
type Claim struct {
	ID, Text, Schemes, Paper, Note string
	Measured                       []Measured // by world
	Verdicts                       []Verdict
}

// Measured is a number, and how it stands to the paper's, in words.
type Measured struct{ Value, Words string }

// Verdict is that of a world, and More what else is said of it in parentheses; World is empty where all worlds agree.
type Verdict struct{ World, Verdict, More string }

// Row is a row of numbers. Apart says which values the two worlds do not agree on.
type Row struct {
	Name, Detail string
	Values       []string
	Differs      []bool
}

// Doc says what a metric is.
type Doc struct{ Name, Doc string }

// Parameter is a value and where it comes from.
type Parameter struct{ Name, Value, Doc, Source string }

// Run is what held in a run of a scheme, and why a mechanism never acted.
type Run struct {
	World, Scheme, What string
	Notes               []string
	Sound               bool
}
