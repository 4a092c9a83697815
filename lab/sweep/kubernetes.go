package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// mostConfig is what a ConfigMap holds, with room for its own words.
const mostConfig = 1000 << 10

// m is an object whose keys stay in their order.
type m []pair

type pair struct {
	Key   string
	Value any
}

// MarshalYAML implements yaml.Marshaler.
func (l m) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, p := range l {
		var value yaml.Node
		if err := value.Dump(p.Value, form); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, word(p.Key), &value)
	}
	return n, nil
}

// Kubernetes is a manifest: a ConfigMap with the spec and its experiments, and an
// Indexed Job with a pod for every worker. Results go to a volume, by the name of its
// claim, that all pods can write to. A pod that is evicted is started again; one
// that failed three times is left alone.
func (s *Spec) Kubernetes(w Workers, image, claim string) ([]byte, error) {
	files, err := s.Bundle()
	if err != nil {
		return nil, err
	}
	name := "photon-" + s.Name.V
	data, size := m{}, 0
	for _, file := range slices.Sorted(maps.Keys(files)) {
		data = append(data, pair{Key: file, Value: string(files[file])})
		size += len(files[file])
	}
	if size > mostConfig {
		return nil, s.located(fmt.Errorf("the spec and its experiments have %d bytes, and a ConfigMap holds %d", size, mostConfig))
	}
	resources := m{{Key: "cpu", Value: strconv.Itoa(w.CPUs)}}
	if w.Memory > 0 {
		resources = append(resources, pair{Key: "memory", Value: strconv.FormatInt(int64(w.Memory), 10)})
	}
	container := m{
		{Key: "name", Value: "photon"},
		{Key: "image", Value: image},
		{Key: "command", Value: append([]string{"photon", "sweep", "/sweep/" + specName, "--out", "/out", "--worker", fmt.Sprintf("$(WORKER)/%d", w.Count)}, w.flags()...)},
		{Key: "env", Value: []m{{
			{Key: "name", Value: "WORKER"},
			{Key: "valueFrom", Value: m{{Key: "fieldRef", Value: m{{Key: "fieldPath", Value: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}}},
		}}},
		{Key: "resources", Value: m{{Key: "requests", Value: resources}, {Key: "limits", Value: resources}}},
		{Key: "volumeMounts", Value: []m{
			{{Key: "name", Value: "sweep"}, {Key: "mountPath", Value: "/sweep"}, {Key: "readOnly", Value: true}},
			{{Key: "name", Value: "out"}, {Key: "mountPath", Value: "/out"}},
		}},
	}
	config := m{
		{Key: "apiVersion", Value: "v1"},
		{Key: "kind", Value: "ConfigMap"},
		{Key: "metadata", Value: m{{Key: "name", Value: name}}},
		{Key: "data", Value: data},
	}
	job := m{
		{Key: "apiVersion", Value: "batch/v1"},
		{Key: "kind", Value: "Job"},
		{Key: "metadata", Value: m{{Key: "name", Value: name}}},
		{Key: "spec", Value: m{
			{Key: "completionMode", Value: "Indexed"},
			{Key: "completions", Value: w.Count},
			{Key: "parallelism", Value: w.Count},
			{Key: "backoffLimitPerIndex", Value: 3},
			{Key: "podFailurePolicy", Value: m{{Key: "rules", Value: []m{{
				{Key: "action", Value: "Ignore"},
				{Key: "onPodConditions", Value: []m{{{Key: "type", Value: "DisruptionTarget"}, {Key: "status", Value: "True"}}}},
			}}}}},
			{Key: "template", Value: m{{Key: "spec", Value: m{
				{Key: "restartPolicy", Value: "Never"},
				{Key: "containers", Value: []m{container}},
				{Key: "volumes", Value: []m{
					{{Key: "name", Value: "sweep"}, {Key: "configMap", Value: m{{Key: "name", Value: name}}}},
					{{Key: "name", Value: "out"}, {Key: "persistentVolumeClaim", Value: m{{Key: "claimName", Value: claim}}}},
				}},
			}}}},
		}},
	}
	a, err := dump(config)
	if err != nil {
		return nil, err
	}
	b, err := dump(job)
	return slices.Concat(a, []byte("---\n"), b), err
}
