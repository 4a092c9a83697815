package kubernetes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"photon/config"
	"photon/daemon"
)

// photon is the program, built as on a machine without DPDK.
func photon(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "photon")
	c := exec.Command("go", "build", "-o", file, "./cmd/photon")
	c.Dir, c.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// manifests reads the objects of a file into the types that Kubernetes has for
// them; a field that Kubernetes does not know is an error.
func manifests(t *testing.T, name string) (deployments []appsv1.Deployment, maps []corev1.ConfigMap, services []corev1.Service) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range regexp.MustCompile(`(?m)^---$`).Split(string(b), -1) {
		var kind struct{ Kind, APIVersion string }
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatalf("%s, object %d: %v", name, i, err)
		}
		strict := func(into any) {
			if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
				t.Fatalf("%s, object %d: %v", name, i, err)
			}
		}
		switch kind.APIVersion + " " + kind.Kind {
		case "apps/v1 Deployment":
			var d appsv1.Deployment
			strict(&d)
			deployments = append(deployments, d)
		case "v1 ConfigMap":
			var m corev1.ConfigMap
			strict(&m)
			maps = append(maps, m)
		case "v1 Service":
			var s corev1.Service
			strict(&s)
			services = append(services, s)
		default:
			t.Errorf("%s, object %d is a %s %s", name, i, kind.APIVersion, kind.Kind)
		}
	}
	return deployments, maps, services
}

// The manifests are what Kubernetes takes, and agree with each other: what the
// pod mounts is there, what it asks for the plugin hands out, and what it writes
// with the cards that it got is a configuration of photon.
func TestKubernetesManifests(t *testing.T) {
	deployments, maps, services := manifests(t, "switch.yaml")
	if len(deployments) != 1 || len(maps) != 1 || len(services) != 1 {
		t.Fatalf("%d deployments, %d config maps, %d services", len(deployments), len(maps), len(services))
	}
	pod := deployments[0].Spec.Template
	labels := func(selector map[string]string) bool {
		for k, v := range selector {
			if pod.Labels[k] != v {
				return false
			}
		}
		return len(selector) > 0
	}
	if !labels(deployments[0].Spec.Selector.MatchLabels) || !labels(services[0].Spec.Selector) {
		t.Error("the pod is not the one that is selected")
	}
	volumes := map[string]corev1.Volume{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = v
		if v.ConfigMap != nil && v.ConfigMap.Name != maps[0].Name {
			t.Errorf("volume %s: there is no config map %s", v.Name, v.ConfigMap.Name)
		}
	}
	c := pod.Spec.Containers[0]
	writable, used := map[string]bool{}, map[string]bool{}
	for _, m := range c.VolumeMounts {
		if _, ok := volumes[m.Name]; !ok {
			t.Errorf("there is no volume %s", m.Name)
		}
		writable[m.MountPath], used[m.Name] = !m.ReadOnly, true
	}
	for name := range volumes {
		if !used[name] {
			t.Errorf("nobody mounts the volume %s", name)
		}
	}
	if !writable["/run/photon"] { // the file that it makes, and the admin socket
		t.Error("/run/photon cannot be written")
	}
	if deployments[0].Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Error("two pods want the same cards")
	}
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second < 2*daemon.DrainTime {
		t.Errorf("it is killed after %v s, and may drain for %v", grace, daemon.DrainTime)
	}
	if cpu := c.Resources.Limits.Cpu(); cpu.MilliValue() < 2000 || cpu.MilliValue()%1000 != 0 { // the static CPU manager deals out whole ones
		t.Errorf("%v cores", cpu)
	}

	// What its file says is what the pod has.
	file := filepath.Join(t.TempDir(), "switch.yaml")
	if err := os.WriteFile(file, []byte(maps[0].Data["switch.yaml"]+"ports: [{device: 0000:03:00.0}, {device: 0000:03:00.1}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	conf, err := config.ReadSwitch(file)
	if err != nil {
		t.Fatal(err)
	}
	o := conf.Options()
	huge := c.Resources.Limits["hugepages-2Mi"]
	if need := int64(o.Frames) * int64(o.FrameSize+512); !o.Hugepages || huge.Value() < 2*need {
		t.Errorf("huge pages: %v in the file, %v in the pod, frame buffers of %d MB", o.Hugepages, &huge, need>>20)
	}
	if a := c.SecurityContext.Capabilities.Add; len(a) != 1 || a[0] != "IPC_LOCK" { // cards write into locked memory
		t.Errorf("capabilities %v", a)
	}
	host, port, err := net.SplitHostPort(conf.MetricsAddress())
	if err != nil || !net.ParseIP(host).IsUnspecified() || port != fmt.Sprint(c.Ports[0].ContainerPort) || port != pod.Annotations["prometheus.io/port"] {
		t.Errorf("metrics at %s, the container's port is %d, Prometheus looks at %s", conf.MetricsAddress(), c.Ports[0].ContainerPort, pod.Annotations["prometheus.io/port"])
	}
	if p := services[0].Spec.Ports[0]; p.TargetPort.StrVal != c.Ports[0].Name || fmt.Sprint(p.Port) != port {
		t.Errorf("the service leads to %+v", p)
	}
	for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != "/healthz" || p.HTTPGet.Port.StrVal != c.Ports[0].Name {
			t.Errorf("probe %+v", p)
		}
	}
	if s := c.SecurityContext; *s.Privileged || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" {
		t.Errorf("security context %+v", s)
	}
	for name, limit := range c.Resources.Limits { // huge pages and devices must be asked for whole; so must cores for one's own
		if request, ok := c.Resources.Requests[name]; !ok || request.Cmp(limit) != 0 {
			t.Errorf("%s: asks for %v, limit %v", name, request, limit)
		}
	}

	_, plugin, _ := manifests(t, "sriov-device-plugin.yaml")
	var offered struct {
		ResourceList []struct {
			ResourcePrefix, ResourceName string
			Selectors                    []struct{ Drivers []string }
		}
	}
	if err := json.Unmarshal([]byte(plugin[0].Data["config.json"]), &offered); err != nil || len(offered.ResourceList) != 1 {
		t.Fatalf("config.json: %v, %+v", err, offered)
	}
	for _, s := range offered.ResourceList[0].Selectors {
		if len(s.Drivers) != 1 || s.Drivers[0] != "vfio-pci" {
			t.Errorf("cards of the drivers %v are handed out", s.Drivers)
		}
	}
	resource := offered.ResourceList[0].ResourcePrefix + "/" + offered.ResourceList[0].ResourceName
	if n, ok := c.Resources.Limits[corev1.ResourceName(resource)]; !ok || n.Value() < 2 {
		t.Errorf("the pod does not ask for two of %s", resource)
	}
	// The plugin's name of a resource's addresses.
	variable := "PCIDEVICE_" + strings.ToUpper(strings.NewReplacer(".", "_", "/", "_").Replace(resource))

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.yaml"), []byte(maps[0].Data["switch.yaml"]), 0o644); err != nil {
		t.Fatal(err)
	}
	script := strings.NewReplacer("/etc/photon/switch.yaml", filepath.Join(dir, "in.yaml"), "/run/photon/switch.yaml", filepath.Join(dir, "out.yaml"),
		"exec photon switch -c", "exec "+photon(t)+" check").Replace(c.Args[0])
	shell := exec.Command(c.Command[0], append(c.Command[1:], script)...)
	shell.Env = append(os.Environ(), variable+"=0000:03:00.0,0000:03:00.1")
	out, err := shell.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("port 1:")) || bytes.Contains(out, []byte("port 2:")) {
		t.Errorf("%v\n%s", err, out)
	}
	made, err := os.ReadFile(filepath.Join(dir, "out.yaml"))
	if err != nil || !bytes.Contains(made, []byte("- device: 0000:03:00.1\n")) {
		t.Errorf("%v\n%s", err, made)
	}
}
