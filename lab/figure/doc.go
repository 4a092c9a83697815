// Package figure draws results as pictures to compare with a paper's figures: the
// same charts as the page of the report has (package report says which). It is apart from
// lab so that what only runs experiments does not carry fonts and renderers with it.
//
// In the order in which data passes them: write.go asks for the charts of a result and leaves
// pictures, curves.go has those of a sweep; plot.go draws a chart, axis.go its axes, bars.go and
// marks.go what is on them; layout.go puts charts and their legends onto one picture.
package figure
