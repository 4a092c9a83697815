package kubernetes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The manifest of a sweep is what the API's own types say, with no word that they do not know.
func TestSweepManifest(t *testing.T) {
	const dir = "../../docs/examples"
	c := exec.Command(photon(t), "sweep", filepath.Join(dir, "incast-sweep.yaml"), "--kubernetes", "--image", "registry/photon:1", "--volume", "results",
		"--workers", "12", "--cpus", "2", "--memory", "2GB")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := bytes.Cut(out, []byte("---\n"))
	var config corev1.ConfigMap
	if err := yaml.UnmarshalStrict(first, &config); err != nil {
		t.Fatal(err)
	}
	for key, name := range map[string]string{"spec.yaml": "incast-sweep.yaml", "incast.yaml": "incast.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if config.Data[key] != string(text) {
			t.Errorf("%s is not %s:\n%s", key, name, config.Data[key])
		}
	}
	if config.Kind != "ConfigMap" || len(config.Data) != 2 {
		t.Errorf("%s with %d files", config.Kind, len(config.Data))
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(second, &job); err != nil {
		t.Fatal(err)
	}
	j, pod := job.Spec, job.Spec.Template.Spec
	if job.Kind != "Job" || job.APIVersion != "batch/v1" || *j.CompletionMode != batchv1.IndexedCompletion || *j.Completions != 12 || *j.Parallelism != 12 ||
		*j.BackoffLimitPerIndex != 3 || pod.RestartPolicy != corev1.RestartPolicyNever || len(pod.Containers) != 1 {
		t.Errorf("%+v", job)
	}
	worker := pod.Containers[0]
	if worker.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.annotations['batch.kubernetes.io/job-completion-index']" || !slices.Contains(worker.Command, "$(WORKER)/12") ||
		worker.Image != "registry/photon:1" || worker.Resources.Requests.Cpu().Value() != 2 || worker.Resources.Limits.Memory().Value() != 2_000_000_000 {
		t.Errorf("%+v", worker)
	}
	for _, mount := range worker.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if i < 0 {
			t.Fatalf("nothing is mounted at %s", mount.MountPath)
		}
		v := pod.Volumes[i]
		if mount.Name == "sweep" && v.ConfigMap.Name != config.Name || mount.Name == "out" && v.PersistentVolumeClaim.ClaimName != "results" {
			t.Errorf("%+v", v)
		}
	}
}
