package validation

import (
	"fmt"
	"regexp"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ResourceClaimStatus checks what a claim was given, who may use it, and what drivers say of it.
func ResourceClaimStatus(c, old *resourcev1.ResourceClaim) field.ErrorList {
	s, reserved := &c.Status, statusPath.Child("reservedFor")
	names := requestNames(&c.Spec.Devices)
	errs := setOf(s.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, reserved,
		func(r *resourcev1.ResourceClaimConsumerReference) types.UID { return r.UID },
		func(r *resourcev1.ResourceClaimConsumerReference, path *field.Path) field.ErrorList {
			errs := append(required(r.Resource, path.Child("resource")), required(r.Name, path.Child("name"))...)
			return append(errs, required(string(r.UID), path.Child("uid"))...)
		})
	allocated := map[sharedDevice]bool{}
	if s.Allocation != nil {
		for _, r := range s.Allocation.Devices.Results {
			allocated[sharedID(r.Driver, r.Pool, r.Device, (*string)(r.ShareID))] = true
		}
	}
	errs = append(errs, setOf(s.Devices, len(s.Devices), statusPath.Child("devices"),
		idOf,
		func(d *resourcev1.AllocatedDeviceStatus, path *field.Path) field.ErrorList {
			return deviceStatus(d, path, allocated)
		})...)
	if len(s.ReservedFor) > 0 && s.Allocation == nil {
		errs = append(errs, field.Forbidden(reserved, "may not be specified when `allocated` is not set"))
	} else if c.DeletionTimestamp != nil && moreUsers(s.ReservedFor, old.Status.ReservedFor) {
		errs = append(errs, field.Forbidden(reserved,
			"new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	switch at := statusPath.Child("allocation"); {
	case s.Allocation == nil:
		return errs
	case old.Status.Allocation != nil:
		return append(errs, unchanged(s.Allocation, old.Status.Allocation, at)...)
	default:
		return append(errs, allocation(s.Allocation, at, names)...)
	}
}

// moreUsers says whether there are users that there were not.
func moreUsers(now, was []resourcev1.ResourceClaimConsumerReference) bool {
	had := map[resourcev1.ResourceClaimConsumerReference]bool{}
	for _, r := range was {
		had[r] = true
	}
	for _, r := range now {
		if !had[r] {
			return true
		}
	}
	return false
}

// sharedDevice is a device, or a share of it, as messages show it.
type sharedDevice struct{ Driver, Pool, Device, ShareID string }

func sharedID(driver, pool, device string, share *string) sharedDevice {
	d := sharedDevice{Driver: driver, Pool: pool, Device: device}
	if share != nil {
		d.ShareID = *share
	}
	return d
}

func idOf(d *resourcev1.AllocatedDeviceStatus) sharedDevice {
	return sharedID(d.Driver, d.Pool, d.Device, d.ShareID)
}

func shareID(id *string, path *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	if why := notUUID(*id); why != "" {
		return field.ErrorList{field.Invalid(path, *id, "error validating uid: "+why)}
	}
	if len(*id) != 36 || *id != strings.ToLower(*id) {
		return field.ErrorList{field.Invalid(path, *id, "uid must be in RFC 4122 normalized form, "+
			"`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")}
	}
	return nil
}

var hexUUID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-?)([0-9A-Fa-f]{4}(-?)){3}[0-9A-Fa-f]{12}$`)

// notUUID says what is wrong with a UUID, in the words of the library that the real server asks.
func notUUID(id string) string {
	switch len(id) {
	case 32, 36:
	case 38:
		if id[0] != '{' || id[37] != '}' {
			return "invalid bracketed UUID format"
		}
		id = id[1:37]
	case 45:
		if !strings.EqualFold(id[:9], "urn:uuid:") {
			return fmt.Sprintf("invalid urn prefix: %q", id[:9])
		}
		id = id[9:]
	default:
		return fmt.Sprintf("invalid UUID length: %d", len(id))
	}
	if !hexUUID.MatchString(id) {
		return "invalid UUID format"
	}
	return ""
}

func allocation(a *resourcev1.AllocationResult, path *field.Path, names requests) field.ErrorList {
	devices := path.Child("devices")
	errs := upTo(a.Devices.Results, resourcev1.AllocationResultsMaxSize, devices.Child("results"),
		func(r *resourcev1.DeviceRequestAllocationResult, at *field.Path) field.ErrorList {
			errs := requestRef(r.Request, at.Child("request"), names)
			errs = append(errs, driverName(r.Driver, at.Child("driver"))...)
			errs = append(errs, poolName(r.Pool, at.Child("pool"))...)
			errs = append(errs, label(r.Device, at.Child("device"))...)
			errs = append(errs, bindingConditions(r.BindingConditions, r.BindingFailureConditions, at)...)
			return append(errs, shareID((*string)(r.ShareID), at.Child("shareID"))...)
		})
	errs = append(errs, upTo(a.Devices.Config, 2*resourcev1.DeviceConfigMaxSize, devices.Child("config"),
		func(c *resourcev1.DeviceAllocationConfiguration, at *field.Path) field.ErrorList {
			errs := amongSome(c.Source, at.Child("source"), resourcev1.AllocationConfigSourceClaim,
				resourcev1.AllocationConfigSourceClass)
			errs = append(errs, requestRefs(c.Requests, at, names)...)
			return append(errs, deviceConfiguration(&c.DeviceConfiguration, at, false)...)
		})...)
	if a.NodeSelector != nil {
		errs = append(errs, validateNodeSelector(a.NodeSelector, path.Child("nodeSelector"))...)
	}
	return errs
}

func deviceStatus(d *resourcev1.AllocatedDeviceStatus, path *field.Path,
	allocated map[sharedDevice]bool) field.ErrorList {
	errs := driverName(d.Driver, path.Child("driver"))
	errs = append(errs, poolName(d.Pool, path.Child("pool"))...)
	errs = append(errs, label(d.Device, path.Child("device"))...)
	errs = append(errs, shareID(d.ShareID, path.Child("shareID"))...)
	if device := idOf(d); !allocated[device] {
		errs = append(errs, field.Invalid(path, device, "must be an allocated device in the claim"))
	}
	conditions := path.Child("conditions")
	if len(d.Conditions) > resourcev1.AllocatedDeviceStatusMaxConditions {
		errs = append(errs, field.TooMany(conditions, len(d.Conditions), resourcev1.AllocatedDeviceStatusMaxConditions))
	}
	errs = append(errs, metav1validation.ValidateConditions(d.Conditions, conditions)...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		errs = append(errs, rawObject(*d.Data, path.Child("data"), resourcev1.AllocatedDeviceStatusDataMaxLength)...)
	}
	if n := d.NetworkData; n != nil {
		at := path.Child("networkData")
		errs = append(errs, notLonger(n.InterfaceName, resourcev1.NetworkDeviceDataInterfaceNameMaxLength,
			at.Child("interfaceName"))...)
		errs = append(errs, notLonger(n.HardwareAddress, resourcev1.NetworkDeviceDataHardwareAddressMaxLength,
			at.Child("hardwareAddress"))...)
		errs = append(errs, setOf(n.IPs, resourcev1.NetworkDeviceDataMaxIPs, at.Child("ips"), itself,
			func(ip *string, at *field.Path) field.ErrorList {
				return utilvalidation.IsValidInterfaceAddress(at, *ip)
			})...)
	}
	return errs
}

func notLonger(text string, most int, path *field.Path) field.ErrorList {
	if len(text) <= most {
		return nil
	}
	return field.ErrorList{field.TooLong(path, "", most)}
}
