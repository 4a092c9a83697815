// Package measure turns a network at work into numbers: probes are sampled, and
// metrics are computed from the samples and from the flows that ended.
package measure
