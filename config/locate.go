package config

import (
	"strconv"

	"go.yaml.in/yaml/v4"
)

// LineOf is the line of a file on which the value of a key stands, of a key below
// a key and so on; 0 if it is not there.
func LineOf(b []byte, keys ...string) int {
	var file yaml.Node
	if err := yaml.Load(b, &file); err != nil || len(file.Content) == 0 {
		return 0
	}
	node := file.Content[0]
	for _, key := range keys {
		if node = child(node, key); node == nil {
			return 0
		}
	}
	return node.Line
}

// child is the value of a key of a mapping, or of a number of a list; nil: there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}
