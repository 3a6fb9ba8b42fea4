package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warnVolumes warns of sources that are no more.
func warnVolumes(at *field.Path, volumes []corev1.Volume) (all []string) {
	for i := range volumes {
		v := &volumes[i]
		path := at.Child("spec", "volumes").Index(i)
		for _, gone := range [...]struct {
			is         bool
			name, text string
		}{
			{v.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
			{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
			{v.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
			{v.Flocker != nil, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
			{v.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Quobyte != nil, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		} {
			if gone.is {
				all = append(all, fmt.Sprintf("%s: %s", path.Child(gone.name), gone.text))
			}
		}
		if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			all = append(all, WarnClaimSpec(&e.VolumeClaimTemplate.Spec,
				path.Child("ephemeral").Child("volumeClaimTemplate").Child("spec"))...)
		}
		if v.CephFS != nil {
			all = append(all, fmt.Sprintf("%s: deprecated in v1.28, non-functional in v1.31+", path.Child("cephfs")))
		}
		if v.RBD != nil {
			all = append(all, fmt.Sprintf("%s: deprecated in v1.28, non-functional in v1.31+", path.Child("rbd")))
		}
	}
	return all
}

// file is a file in a volume, and what it is made of, where that may differ.
type file struct{ path, source string }

func (f file) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

func keyFiles(items []corev1.KeyToPath, source string) (files []file) {
	for _, item := range items {
		files = append(files, file{item.Path, source})
	}
	return files
}

func downwardFiles(items []corev1.DownwardAPIVolumeFile, source string) (files []file) {
	for _, item := range items {
		files = append(files, file{item.Path, source})
	}
	return files
}

// warnOverlaps warns of files of one volume that are in each other's way.
func warnOverlaps(volumes []corev1.Volume) (all []string) {
	for i := range volumes {
		v := &volumes[i]
		warn := func(of string, files []file) {
			all = append(all, overlaps(files, fmt.Sprintf("volume %q (%s): overlapping paths: ", v.Name, of))...)
		}
		if c := v.ConfigMap; c != nil && len(c.Items) > 0 {
			warn(fmt.Sprintf("ConfigMap %q", c.Name), keyFiles(c.Items, ""))
		}
		if s := v.Secret; s != nil && len(s.Items) > 0 {
			warn(fmt.Sprintf("Secret %q", s.SecretName), keyFiles(s.Items, ""))
		}
		if d := v.DownwardAPI; d != nil && len(d.Items) > 0 {
			warn("DownwardAPI", downwardFiles(d.Items, ""))
		}
		if p := v.Projected; p != nil {
			var files []file
			for j := range p.Sources {
				if p.Sources[j] == (corev1.VolumeProjection{}) {
					all = append(all, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
				}
				files = append(files, projected(&p.Sources[j])...)
			}
			warn("Projected", files)
		}
	}
	return all
}

// projected are the files of one source of a projected volume.
func projected(s *corev1.VolumeProjection) (files []file) {
	switch {
	case s.ConfigMap != nil && s.ConfigMap.Items != nil:
		return keyFiles(s.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", s.ConfigMap.Name))
	case s.Secret != nil && s.Secret.Items != nil:
		return keyFiles(s.Secret.Items, fmt.Sprintf("Secret %q", s.Secret.Name))
	case s.DownwardAPI != nil && s.DownwardAPI.Items != nil:
		return downwardFiles(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []file{{s.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		name := s.ClusterTrustBundle.Name
		if name == nil {
			name = s.ClusterTrustBundle.SignerName
		}
		return []file{{s.ClusterTrustBundle.Path, fmt.Sprintf("ClusterTrustBundle %q", *name)}}
	case s.PodCertificate != nil:
		for _, f := range [...]file{{s.PodCertificate.CertificateChainPath, "PodCertificate chain"},
			{s.PodCertificate.KeyPath, "PodCertificate key"},
			{s.PodCertificate.CredentialBundlePath, "PodCertificate credential bundle"}} {
			if f.path != "" {
				files = append(files, f)
			}
		}
	}
	return files
}

// overlaps tells which files are others before them, or are in them.
func overlaps(files []file, text string) (all []string) {
	for i := range files {
		f := &files[i]
		if f.path = strings.TrimRight(f.path, "/"); f.path == "" {
			continue
		}
		for _, other := range files[:i] {
			if other.path != "" && (strings.HasPrefix(other.path+"/", f.path+"/") ||
				strings.HasPrefix(f.path+"/", other.path+"/")) {
				all = append(all, fmt.Sprintf("%s%s with %s", text, f, other))
			}
		}
	}
	return all
}
