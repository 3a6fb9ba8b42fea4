package validation

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes checks a Pod's volumes and keeps those that are good, for the mounts.
func (p *podScope) validateVolumes(path *field.Path) (errs field.ErrorList) {
	p.volumes = make(map[string]*corev1.VolumeSource, len(p.spec.Volumes))
	for i := range p.spec.Volumes {
		v, at := &p.spec.Volumes[i], path.Index(i)
		own := p.validateSource(v, at)
		own = append(own, mustName(v.Name, at.Child("name"), plain(utilvalidation.IsDNS1123Label))...)
		if p.volumes[v.Name] != nil {
			own = append(own, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(own) == 0 {
			p.volumes[v.Name] = &v.VolumeSource
		}
		errs = append(errs, own...)
		if c := v.PersistentVolumeClaim; c != nil && p.makes(c.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// makes says whether a claim is one that is made for a volume of the Pod.
func (p *podScope) makes(claim string) bool {
	for i := range p.spec.Volumes {
		if v := &p.spec.Volumes[i]; p.pod != "" && v.Ephemeral != nil && claim == p.pod+"-"+v.Name {
			return true
		}
	}
	return false
}

// The sources of a Pod's volumes in the order in which the real server looks at them, and
// what it calls those that it does not call by their names in JSON.
var sourceOrder = []string{"EmptyDir", "HostPath", "GitRepo", "GCEPersistentDisk", "AWSElasticBlockStore", "Secret",
	"NFS", "ISCSI", "Glusterfs", "Flocker", "PersistentVolumeClaim", "RBD", "Cinder", "CephFS", "Quobyte",
	"DownwardAPI", "FC", "FlexVolume", "ConfigMap", "AzureFile", "VsphereVolume", "PhotonPersistentDisk",
	"PortworxVolume", "AzureDisk", "StorageOS", "Projected", "ScaleIO", "CSI", "Ephemeral", "Image"}

var (
	calledSecond = map[string]string{"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
	calledFirst  = map[string]string{"gcePersistentDisk": "persistentDisk"}
)

func calledOr(name string, called map[string]string) string {
	if other, ok := called[name]; ok {
		return other
	}
	return name
}

// eachSource visits the sources that are set. Of a source after the first no more is
// said than that it is one too many.
func eachSource(sources reflect.Value, order []string, path *field.Path,
	check func(source any, at *field.Path) field.ErrorList) (errs field.ErrorList, n int) {
	for _, name := range order {
		v := sources.FieldByName(name)
		if v.IsNil() {
			continue
		}
		f, _ := sources.Type().FieldByName(name)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if n++; n > 1 && v.Type() != reflect.TypeFor[*corev1.FlexPersistentVolumeSource]() {
			errs = append(errs, field.Forbidden(path.Child(calledOr(name, calledSecond)),
				"may not specify more than 1 volume type"))
			continue
		}
		errs = append(errs, check(v.Interface(), path.Child(calledOr(name, calledFirst)))...)
	}
	return errs, n
}

func (p *podScope) validateSource(v *corev1.Volume, path *field.Path) field.ErrorList {
	errs, n := eachSource(reflect.ValueOf(&v.VolumeSource).Elem(), sourceOrder, path,
		func(source any, at *field.Path) (errs field.ErrorList) {
			switch s := source.(type) {
			case *corev1.EmptyDirVolumeSource:
				if s.SizeLimit != nil && s.SizeLimit.Sign() < 0 {
					errs = append(errs, field.Forbidden(at.Child("sizeLimit"),
						"SizeLimit field must be a valid resource quantity"))
				}
			case *corev1.GitRepoVolumeSource:
				errs = append(required(s.Repository, at.Child("repository")),
					descending(s.Directory, at.Child("directory"))...)
			case *corev1.SecretVolumeSource:
				errs = required(s.SecretName, at.Child("secretName"))
				errs = append(errs, fileMode(s.DefaultMode, "defaultMode", at)...)
				errs = append(errs, validateItems(s.Items, at.Child("items"))...)
			case *corev1.ConfigMapVolumeSource:
				errs = append(required(s.Name, at.Child("name")), fileMode(s.DefaultMode, "defaultMode", at)...)
				errs = append(errs, validateItems(s.Items, at.Child("items"))...)
			case *corev1.PersistentVolumeClaimVolumeSource:
				errs = required(s.ClaimName, at.Child("claimName"))
			case *corev1.DownwardAPIVolumeSource:
				errs = fileMode(s.DefaultMode, "defaultMode", at)
				for i := range s.Items {
					errs = append(errs, validateDownward(&s.Items[i], at)...)
				}
			case *corev1.ProjectedVolumeSource:
				errs = append(fileMode(s.DefaultMode, "defaultMode", at), validateProjected(s, at)...)
			case *corev1.CSIVolumeSource:
				errs = driverName(s.Driver, at.Child("driver"))
				if ref := s.NodePublishSecretRef; ref != nil && ref.Name == "" {
					errs = append(errs, field.Required(at.Child("nodePublishSecretRef", "name"), ""))
				} else if ref != nil {
					errs = append(errs, named(ref.Name, at.Child("name"), apivalidation.NameIsDNSSubdomain)...)
				}
			case *corev1.EphemeralVolumeSource:
				errs = p.validateEphemeralSource(s, v.Name, path, at)
			case *corev1.ImageVolumeSource:
				if p.isPod {
					errs = required(s.Reference, at.Child("reference"))
				}
				errs = append(errs, pullPolicy(s.PullPolicy, at.Child("pullPolicy"))...)
			default:
				errs = validateDisk(source, at)
			}
			return errs
		})
	if s := v.ISCSI; s != nil && s.InitiatorName != nil && len(v.Name+":"+s.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(path.Child("name"), v.Name, longPortal))
	}
	if n == 0 {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	return errs
}

func (p *podScope) validateEphemeralSource(s *corev1.EphemeralVolumeSource, name string,
	path, at *field.Path) (errs field.ErrorList) {
	if t := s.VolumeClaimTemplate; t == nil {
		errs = append(errs, field.Required(at.Child("volumeClaimTemplate"), ""))
	} else {
		of := at.Child("volumeClaimTemplate")
		errs = append(errs, templateMeta(&t.ObjectMeta, of.Child("metadata"))...)
		errs = append(errs, validateClaimSpec(&t.Spec, of.Child("spec"))...)
	}
	if claim := p.pod + "-" + name; p.pod != "" && name != "" {
		for _, msg := range apivalidation.NameIsDNSSubdomain(claim, false) {
			errs = append(errs, field.Invalid(path.Child("name"), name, fmt.Sprintf("PVC name %q: %v", claim, msg)))
		}
	}
	return errs
}

// templateMeta: a template of another object says its labels and annotations.
func templateMeta(m *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(m.Annotations, path.Child("annotations"))
	errs = append(errs, metav1validation.ValidateLabels(m.Labels, path.Child("labels"))...)
	return append(errs, onlyFields(*m, map[string]bool{"Annotations": true, "Labels": true}, "cannot be set", path)...)
}

// fileMode checks the rights of files.
func fileMode(mode *int32, name string, path *field.Path) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child(name), *mode,
		"must be a number between 0 and 0777 (octal), both inclusive")}
}

func validateItems(items []corev1.KeyToPath, path *field.Path) (errs field.ErrorList) {
	for i := range items {
		errs = append(errs, validateItem(&items[i], path.Index(i))...)
	}
	return errs
}

func validateItem(item *corev1.KeyToPath, path *field.Path) field.ErrorList {
	errs := append(required(item.Key, path.Child("key")), required(item.Path, path.Child("path"))...)
	errs = append(errs, unreserved(item.Path, path.Child("path"))...)
	return append(errs, fileMode(item.Mode, "mode", path)...)
}

func validateDownward(f *corev1.DownwardAPIVolumeFile, path *field.Path) field.ErrorList {
	errs := append(required(f.Path, path.Child("path")), unreserved(f.Path, path.Child("path"))...)
	switch {
	case f.FieldRef != nil:
		errs = append(errs, validateFieldRef(f.FieldRef, fieldsOfFiles, path.Child("fieldRef"))...)
		if f.ResourceFieldRef != nil {
			errs = append(errs, field.Invalid(path, "resource",
				"fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case f.ResourceFieldRef != nil:
		errs = append(errs, validateResourceRef(f.ResourceFieldRef, path.Child("resourceFieldRef"), true)...)
	default:
		errs = append(errs, field.Required(path, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, fileMode(f.Mode, "mode", path)...)
}

// validateProjected checks sources that share one directory, and so may not have files of one name.
func validateProjected(s *corev1.ProjectedVolumeSource, path *field.Path) (errs field.ErrorList) {
	paths := map[string]bool{}
	taken := func(file, what string) {
		if file != "" && paths[file] {
			errs = append(errs, field.Invalid(path, what, "conflicting duplicate paths"))
		}
		paths[file] = true
	}
	keys := func(name string, items []corev1.KeyToPath, at *field.Path) {
		errs = append(errs, required(name, at.Child("name"))...)
		for i := range items {
			errs = append(errs, validateItem(&items[i], at.Child("items").Index(i))...)
			taken(items[i].Path, name)
		}
	}
	for i := range s.Sources {
		one, at, n := &s.Sources[i], path.Child("sources").Index(i), 0
		if one.Secret != nil {
			n++
			keys(one.Secret.Name, one.Secret.Items, at.Child("secret"))
		}
		if one.ConfigMap != nil {
			n++
			keys(one.ConfigMap.Name, one.ConfigMap.Items, at.Child("configMap"))
		}
		if one.DownwardAPI != nil {
			n++
			for j := range one.DownwardAPI.Items {
				f := &one.DownwardAPI.Items[j]
				errs = append(errs, validateDownward(f, at.Child("downwardAPI"))...)
				taken(f.Path, f.Path)
			}
		}
		if one.ServiceAccountToken != nil {
			n++
			errs = append(errs, validateToken(one.ServiceAccountToken, path, at.Child("serviceAccountToken"))...)
		}
		if n > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

func validateToken(t *corev1.ServiceAccountTokenProjection, path, at *field.Path) (errs field.ErrorList) {
	if t.ExpirationSeconds != nil && *t.ExpirationSeconds < 600 {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *t.ExpirationSeconds,
			"may not specify a duration less than 10 minutes"))
	}
	if t.ExpirationSeconds != nil && *t.ExpirationSeconds > 1<<32 {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *t.ExpirationSeconds,
			"may not specify a duration larger than 2^32 seconds"))
	}
	if t.Path == "" {
		return append(errs, field.Required(path.Child("path"), ""))
	}
	return append(errs, unreserved(t.Path, path.Child("path"))...)
}
