package validation

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// shown is a value as messages of the real server show it: by the Go names of
// the fields of its internal types, with nothing left out.
type shown struct{ raw []byte }

func (s shown) MarshalJSON() ([]byte, error) { return s.raw, nil }

// internalFields are the fields of internal types whose order is not that of
// the API's. A name that the API's type does not have is looked up in the
// Pod's spec: its host settings are part of the internal security context.
var internalFields = map[reflect.Type][]string{
	reflect.TypeFor[corev1.PodSpec](): {"Volumes", "InitContainers", "Containers", "EphemeralContainers",
		"RestartPolicy",
		"TerminationGracePeriodSeconds", "ActiveDeadlineSeconds", "DNSPolicy", "NodeSelector", "ServiceAccountName",
		"AutomountServiceAccountToken", "NodeName", "SecurityContext", "ImagePullSecrets", "Hostname", "Subdomain",
		"SetHostnameAsFQDN", "Affinity", "SchedulerName", "Tolerations", "HostAliases", "PriorityClassName", "Priority",
		"PreemptionPolicy", "DNSConfig", "ReadinessGates", "RuntimeClassName", "Overhead", "EnableServiceLinks",
		"TopologySpreadConstraints", "OS", "SchedulingGates", "ResourceClaims", "Resources", "HostnameOverride",
		"SchedulingGroup"},
	reflect.TypeFor[corev1.VolumeSource](): {"HostPath", "EmptyDir", "GCEPersistentDisk", "AWSElasticBlockStore",
		"GitRepo", "Secret", "NFS", "ISCSI", "Glusterfs", "PersistentVolumeClaim", "RBD", "Quobyte", "FlexVolume",
		"Cinder", "CephFS", "Flocker", "DownwardAPI", "FC", "AzureFile", "ConfigMap", "VsphereVolume", "AzureDisk",
		"PhotonPersistentDisk", "Projected", "PortworxVolume", "ScaleIO", "StorageOS", "CSI", "Ephemeral", "Image"},
	reflect.TypeFor[corev1.PersistentVolumeSource](): {"GCEPersistentDisk", "AWSElasticBlockStore", "HostPath",
		"Glusterfs", "NFS", "RBD", "Quobyte", "ISCSI", "FlexVolume", "Cinder", "CephFS", "FC", "Flocker", "AzureFile",
		"VsphereVolume", "AzureDisk", "PhotonPersistentDisk", "PortworxVolume", "ScaleIO", "Local", "StorageOS",
		"CSI"},
	reflect.TypeFor[corev1.PodSecurityContext](): {"HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace",
		"HostUsers",
		"SELinuxOptions", "WindowsOptions", "RunAsUser", "RunAsGroup", "RunAsNonRoot", "SupplementalGroups",
		"SupplementalGroupsPolicy", "FSGroup", "FSGroupChangePolicy", "Sysctls", "SeccompProfile", "AppArmorProfile",
		"SELinuxChangePolicy"},
}

// shownTemplate is a Pod template as messages show it.
func shownTemplate(t *corev1.PodTemplateSpec) any {
	meta, err := json.Marshal(t.ObjectMeta)
	if err != nil {
		panic("fakeapi: a template's metadata does not encode: " + err.Error())
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(meta, []byte("}")))
	if len(meta) > 2 {
		b.WriteByte(',')
	}
	b.WriteString(`"Spec":`)
	writeShown(&b, reflect.ValueOf(t.Spec), reflect.ValueOf(t.Spec))
	b.WriteByte('}')
	return shown{b.Bytes()}
}

// asShown is a value of the core group as messages show it.
func asShown[T any](value *T) any {
	if value == nil {
		return value
	}
	var b bytes.Buffer
	writeShown(&b, reflect.ValueOf(*value), reflect.ValueOf(*value))
	return shown{b.Bytes()}
}

// shownList is asShown for a list.
func shownList[T any](list []T) any { return asShown(&list) }

// writeShown writes a value of a Pod's spec.
func writeShown(b *bytes.Buffer, v, spec reflect.Value) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	_, encodes := v.Interface().(json.Marshaler)
	switch {
	case encodes || v.Kind() != reflect.Struct && v.Kind() != reflect.Slice || v.Kind() == reflect.Slice && v.IsNil(),
		v.Kind() == reflect.Struct && !strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/"):
		raw, err := json.Marshal(v.Interface())
		if err != nil {
			panic("fakeapi: a part of a template does not encode: " + err.Error())
		}
		b.Write(raw)
	case v.Kind() == reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			writeShown(b, v.Index(i), spec)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		writeFields(b, v, spec)
		b.WriteByte('}')
	}
}

func writeFields(b *bytes.Buffer, v, spec reflect.Value) {
	comma := func() {
		if last := b.Bytes()[b.Len()-1]; last != '{' && last != ',' {
			b.WriteByte(',')
		}
	}
	names := internalFields[v.Type()]
	if names == nil {
		for i := range v.NumField() {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	for _, name := range names {
		if of, ok := v.Type().FieldByName(name); ok && of.Anonymous {
			comma()
			writeEmbedded(b, v.FieldByIndex(of.Index), spec)
			continue
		}
		f := v.FieldByName(name)
		if !f.IsValid() {
			f = spec.FieldByName(name)
		}
		comma()
		b.WriteString(`"` + name + `":`)
		if !f.IsValid() {
			b.WriteString("null")
			continue
		}
		writeShown(b, f, spec)
	}
}

// writeEmbedded writes the fields of what is embedded: metadata by the names that the API has for them.
func writeEmbedded(b *bytes.Buffer, v, spec reflect.Value) {
	if strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/") {
		writeFields(b, v, spec)
		return
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		panic("fakeapi: embedded fields do not encode: " + err.Error())
	}
	b.Write(bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("{")), []byte("}")))
}
