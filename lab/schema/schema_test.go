package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"photon/lab/experiments"
)

// docs/experiment.schema.json is what the types say.
func TestSchemaIsUpToDate(t *testing.T) {
	want, err := Experiment()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/experiment.schema.json is old: photon check --schema > docs/experiment.schema.json")
	}
}

// node is a schema, as far as ours say anything.
type node struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Properties map[string]*node `json:"properties"`
	Additional json.RawMessage  `json:"additionalProperties"`
	Items      *node            `json:"items"`
	AnyOf      []*node          `json:"anyOf"`
	Pattern    string           `json:"pattern"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	Defs       map[string]*node `json:"$defs"`
}

// wrong says where a value is not what a schema wants; "": nowhere.
func (s *node) wrong(root *node, v any, at string) string {
	if s.Ref != "" {
		return root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].wrong(root, v, at)
	}
	if s.AnyOf != nil {
		all := ""
		for _, one := range s.AnyOf {
			w := one.wrong(root, v, at)
			if w == "" {
				return ""
			}
			all += w + "; "
		}
		return all
	}
	is := func(name string) bool { return s.Type == nil || s.Type == name || contains(s.Type, name) }
	number := func(f float64, whole bool) string {
		less, more := s.Minimum != nil && f < *s.Minimum, s.Maximum != nil && f > *s.Maximum
		if !is("number") && !(whole && is("integer")) || less || more {
			return fmt.Sprintf("%s: %v", at, f)
		}
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if !is("object") {
			return at + ": keys"
		}
		for key, x := range v {
			below := s.Properties[key]
			if below == nil {
				var further node
				if json.Unmarshal(s.Additional, &further) != nil {
					return at + ": unknown key " + key
				}
				below = &further
			}
			if w := below.wrong(root, x, at+"."+key); w != "" {
				return w
			}
		}
	case []any:
		if !is("array") {
			return at + ": a list"
		}
		for i, x := range v {
			if w := s.Items.wrong(root, x, at+"."+strconv.Itoa(i)); w != "" {
				return w
			}
		}
	case string:
		if !is("string") || s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Sprintf("%s: %q", at, v)
		}
	case bool:
		if !is("boolean") {
			return fmt.Sprintf("%s: %v", at, v)
		}
	case int:
		return number(float64(v), true)
	case float64:
		return number(v, v == math.Trunc(v))
	default:
		return fmt.Sprintf("%s: %T", at, v)
	}
	return ""
}

func contains(list any, name string) bool {
	l, _ := list.([]any)
	return slices.Contains(l, any(name))
}

func read(t *testing.T) *node {
	t.Helper()
	b, err := Experiment()
	s := new(node)
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sources are all experiments that there are.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	folders := map[string]fs.FS{"lab/experiments/": experiments.Files, "docs/examples/": os.DirFS("../../docs/examples")}
	for folder, files := range folders {
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || strings.Contains(path, "sweep") {
				return err
			}
			b, err := fs.ReadFile(files, path)
			all[folder+path] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What photon check takes, the schema takes.
func TestExperimentsFitTheSchema(t *testing.T) {
	s := read(t)
	for file, text := range sources(t) {
		var v any
		if err := yaml.Load([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if w := s.wrong(s, v, ""); w != "" {
			t.Errorf("%s: %s", file, w)
		}
	}
}
