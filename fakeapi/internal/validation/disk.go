package validation

import (
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateDisk checks a source that Pods and PersistentVolumes have in the same or nearly
// the same form.
func validateDisk(source any, at *field.Path) (errs field.ErrorList) {
	need := func(pairs ...string) (errs field.ErrorList) {
		for i := 0; i < len(pairs); i += 2 {
			errs = append(errs, required(pairs[i+1], at.Child(pairs[i]))...)
		}
		return errs
	}
	some := func(list []string, name string) {
		if len(list) == 0 {
			errs = append(errs, field.Required(at.Child(name), ""))
		}
	}
	switch s := source.(type) {
	case *corev1.HostPathVolumeSource:
		return validateHostPath(s, at)
	case *corev1.NFSVolumeSource:
		return validateNFS(s, at)
	case *corev1.GCEPersistentDiskVolumeSource:
		return append(need("pdName", s.PDName), partition(s.Partition, at)...)
	case *corev1.AWSElasticBlockStoreVolumeSource:
		return append(need("volumeID", s.VolumeID), partition(s.Partition, at)...)
	case *corev1.ISCSIVolumeSource:
		return validateISCSI(&iscsi{s.TargetPortal, s.IQN, s.Lun, s.DiscoveryCHAPAuth || s.SessionCHAPAuth,
			s.SecretRef != nil, s.InitiatorName, "must be valid format starting with iqn, eui, or naa"}, at)
	case *corev1.GlusterfsVolumeSource:
		return need("endpoints", s.EndpointsName, "path", s.Path)
	case *corev1.FlockerVolumeSource:
		return validateFlocker(s, at)
	case *corev1.QuobyteVolumeSource:
		return validateQuobyte(s, at)
	case *corev1.FCVolumeSource:
		return validateFC(s, at)
	case *corev1.RBDVolumeSource:
		some(s.CephMonitors, "monitors")
		return append(errs, need("image", s.RBDImage)...)
	case *corev1.RBDPersistentVolumeSource:
		some(s.CephMonitors, "monitors")
		return append(errs, need("image", s.RBDImage)...)
	case *corev1.CephFSVolumeSource:
		some(s.Monitors, "monitors")
	case *corev1.CephFSPersistentVolumeSource:
		some(s.Monitors, "monitors")
	case *corev1.CinderVolumeSource:
		errs = need("volumeID", s.VolumeID)
		if s.SecretRef != nil {
			errs = append(errs, required(s.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
	case *corev1.FlexVolumeSource:
		return append(need("driver", s.Driver), flexOptions(s.Options, at.Child("options"))...)
	case *corev1.FlexPersistentVolumeSource:
		return append(need("driver", s.Driver), flexOptions(s.Options, at.Child("options"))...)
	case *corev1.AzureFileVolumeSource:
		return need("secretName", s.SecretName, "shareName", s.ShareName)
	case *corev1.VsphereVirtualDiskVolumeSource:
		return need("volumePath", s.VolumePath)
	case *corev1.PhotonPersistentDiskVolumeSource:
		return need("pdID", s.PdID)
	case *corev1.PortworxVolumeSource:
		return need("volumeID", s.VolumeID)
	case *corev1.AzureDiskVolumeSource:
		return validateAzureDisk(s, at)
	case *corev1.ScaleIOVolumeSource:
		return need("gateway", s.Gateway, "system", s.System, "volumeName", s.VolumeName)
	case *corev1.ScaleIOPersistentVolumeSource:
		return need("gateway", s.Gateway, "system", s.System, "volumeName", s.VolumeName)
	case *corev1.StorageOSVolumeSource:
		errs = storageOS(s.VolumeName, s.VolumeNamespace, at)
		if s.SecretRef != nil {
			errs = append(errs, required(s.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
	}
	return errs
}

var hostPathTypes = []corev1.HostPathType{corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev,
	corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate,
	corev1.HostPathSocket}

func validateHostPath(h *corev1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	if h.Path == "" {
		return field.ErrorList{field.Required(at.Child("path"), "")}
	}
	return append(noBacksteps(h.Path, at.Child("path")), among(h.Type, at.Child("type"), hostPathTypes...)...)
}

func validateNFS(n *corev1.NFSVolumeSource, at *field.Path) field.ErrorList {
	errs := append(required(n.Server, at.Child("server")), required(n.Path, at.Child("path"))...)
	if !path.IsAbs(n.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), n.Path, "must be an absolute path"))
	}
	return errs
}

func partition(n int32, at *field.Path) field.ErrorList {
	if n >= 0 && n <= 255 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("partition"), n, utilvalidation.InclusiveRangeError(1, 255))}
}

const longPortal = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if " +
	"iscsi.initiatorName is specified."

// iscsi is what the two forms of the source have in common, and what they say of a name
// that is of no kind.
type iscsi struct {
	portal, iqn  string
	lun          int32
	auth, secret bool
	initiator    *string
	unknown      string
}

// iscsiNames are the three kinds of names of iSCSI, by their beginning.
var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

func (s *iscsi) name(text string, path *field.Path) field.ErrorList {
	of := iscsiNames[text[:min(3, len(text))]]
	switch {
	case of == nil:
		return field.ErrorList{field.Invalid(path, text, s.unknown)}
	case !of.MatchString(text):
		return field.ErrorList{field.Invalid(path, text, "must be valid format")}
	}
	return nil
}

func validateISCSI(s *iscsi, at *field.Path) field.ErrorList {
	errs := required(s.portal, at.Child("targetPortal"))
	return append(errs, validateISCSIRest(s, at)...)
}

func validateISCSIRest(s *iscsi, at *field.Path) (errs field.ErrorList) {
	if s.iqn == "" {
		errs = append(errs, field.Required(at.Child("iqn"), ""))
	} else {
		errs = append(errs, s.name(s.iqn, at.Child("iqn"))...)
	}
	if s.lun < 0 || s.lun > 255 {
		errs = append(errs, field.Invalid(at.Child("lun"), s.lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	if s.auth && !s.secret {
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if s.initiator != nil {
		errs = append(errs, s.name(*s.initiator, at.Child("initiatorname"))...)
	}
	return errs
}

func validateFlocker(s *corev1.FlockerVolumeSource, at *field.Path) (errs field.ErrorList) {
	if s.DatasetName == "" && s.DatasetUUID == "" {
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	}
	if s.DatasetName != "" && s.DatasetUUID != "" {
		errs = append(errs, field.Invalid(at, "resource",
			"datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(s.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), s.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateQuobyte(s *corev1.QuobyteVolumeSource, at *field.Path) (errs field.ErrorList) {
	const pairs = "must be a host:port pair or multiple pairs separated by commas"
	switch {
	case s.Registry == "":
		errs = append(errs, field.Required(at.Child("registry"), pairs))
	case len(s.Tenant) >= 65:
		errs = append(errs, field.Required(at.Child("tenant"),
			"must be a UUID and may not exceed a length of 64 characters"))
	default:
		for pair := range strings.SplitSeq(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(at.Child("registry"), s.Registry, pairs))
			}
		}
	}
	return append(errs, required(s.Volume, at.Child("volume"))...)
}

func validateFC(s *corev1.FCVolumeSource, at *field.Path) (errs field.ErrorList) {
	targets, lun := at.Child("targetWWNs"), at.Child("lun")
	if len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0 {
		errs = append(errs, field.Required(targets, "must specify either targetWWNs or wwids, but not both"))
	}
	if len(s.TargetWWNs) > 0 && len(s.WWIDs) > 0 {
		errs = append(errs, field.Invalid(targets, s.TargetWWNs,
			"targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(s.TargetWWNs) == 0:
	case s.Lun == nil:
		errs = append(errs, field.Required(lun, "lun is required if targetWWNs is specified"))
	case *s.Lun < 0 || *s.Lun > 255:
		errs = append(errs, field.Invalid(lun, s.Lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	return errs
}

func flexOptions(options map[string]string, path *field.Path) (errs field.ErrorList) {
	for _, key := range slices.Sorted(maps.Keys(options)) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(path.Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func validateAzureDisk(s *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := append(required(s.DiskName, at.Child("diskName")), required(s.DataDiskURI, at.Child("diskURI"))...)
	errs = append(errs, among(s.CachingMode, at.Child("cachingMode"), corev1.AzureDataDiskCachingNone,
		corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	errs = append(errs, among(s.Kind, at.Child("kind"), corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk,
		corev1.AzureSharedBlobDisk)...)
	if s.Kind == nil {
		return errs
	}
	begin, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *s.Kind == corev1.AzureManagedDisk {
		begin, form = "/subscriptions/",
			"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if !strings.HasPrefix(s.DataDiskURI, begin) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), s.DataDiskURI, []string{form}))
	}
	return errs
}

func storageOS(name, namespace string, at *field.Path) field.ErrorList {
	errs := mustName(name, at.Child("volumeName"), plain(utilvalidation.IsDNS1123Label))
	if namespace != "" {
		errs = append(errs, label(namespace, at.Child("volumeNamespace"))...)
	}
	return errs
}

// driverName checks the name of a driver, which has to be given.
func driverName(name string, path *field.Path) (errs field.ErrorList) {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if len(name) > 63 {
		errs = append(errs, field.TooLong(path, "", 63))
	}
	for _, msg := range apivalidation.NameIsDNSSubdomain(strings.ToLower(name), false) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}
