package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

// audience is the default audience of tokens, and their issuer.
const audience = "https://kubernetes.default.svc.cluster.local"

type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience []string `json:"aud"`
	Expires  int64    `json:"exp"`
	Issued   int64    `json:"iat"`
	Own      struct {
		Namespace string     `json:"namespace"`
		Account   boundName  `json:"serviceaccount"`
		Pod       *boundName `json:"pod,omitempty"`
		Node      *boundName `json:"node,omitempty"`
		Secret    *boundName `json:"secret,omitempty"`
	} `json:"kubernetes.io"`
}

// tokenKey signs tokens. It need not be secret, because a request without a token is allowed to do everything.
var tokenKey = []byte("threelaws")

var tokenHeader = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))

func sign(text string) string {
	mac := hmac.New(sha256.New, tokenKey)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (c *claims) token() string {
	raw, err := json.Marshal(c)
	if err != nil {
		panic("httpapi: claims do not encode: " + err.Error())
	}
	text := tokenHeader + "." + base64.RawURLEncoding.EncodeToString(raw)
	return text + "." + sign(text)
}

func readToken(token string) *claims {
	at := strings.LastIndexByte(token, '.')
	body, ours := strings.CutPrefix(token, tokenHeader+".")
	if !ours || at < len(tokenHeader) || !hmac.Equal([]byte(sign(token[:at])), []byte(token[at+1:])) {
		return nil
	}
	body, _, _ = strings.Cut(body, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	c := new(claims)
	if err != nil || json.Unmarshal(raw, c) != nil {
		return nil
	}
	return c
}

// holds reports whether a token is still valid. It must not have expired, its service account must have the same uid,
// and the object to which it is bound must exist.
func (h *Handler) holds(c *claims) bool {
	return h.now().Unix() < c.Expires && h.userNamed(c.Subject).UID == c.Own.Account.UID &&
		h.there("pods", c.Own.Namespace, c.Own.Pod) && h.there("secrets", c.Own.Namespace, c.Own.Secret) &&
		h.there("nodes", "", c.Own.Node)
}

// user returns the name of a request's user: the impersonated user, or the service account of the token. For other
// credentials it returns "", the administrator.
func (h *Handler) user(r *http.Request) (string, error) {
	name := ""
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if c := readToken(token); c != nil {
			if !h.holds(c) {
				return "", refusal.Unauthorized()
			}
			name = c.Subject
		}
	}
	if as := r.Header.Get("Impersonate-User"); as != "" {
		return as, nil
	}
	return name, refusal.NobodyToBe(r.Header)
}

func requestToken(h *Handler, t *route.Target, _ string, o *authenticationv1.TokenRequest) (runtime.Object, error) {
	kind := schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}
	if err := matchAccount(t, o, kind); err != nil {
		return nil, err
	}
	account, err := h.read("serviceaccounts", t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	if o.UID != "" && o.UID != account.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, t.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", o.UID,
				account.GetUID()))
	}
	out := o.DeepCopy()
	out.Name, out.Namespace, out.UID = account.GetName(), account.GetNamespace(), account.GetUID()
	now := h.now()
	out.CreationTimestamp = metav1.Time{Time: now}
	if len(out.Spec.Audiences) == 0 {
		out.Spec.Audiences = []string{audience}
	}
	if out.Spec.ExpirationSeconds == nil {
		out.Spec.ExpirationSeconds = new(int64(3600))
	}
	if err := checkExpiration(*out.Spec.ExpirationSeconds, kind); err != nil {
		return nil, err
	}
	expires := now.Add(time.Duration(*out.Spec.ExpirationSeconds) * time.Second)
	c := &claims{Issuer: audience, Subject: fakeapi.AccountName(account.GetNamespace(), account.GetName()),
		Audience: out.Spec.Audiences, Expires: expires.Unix(), Issued: now.Unix()}
	c.Own.Namespace, c.Own.Account = account.GetNamespace(), boundName{account.GetName(), string(account.GetUID())}
	if ref := out.Spec.BoundObjectRef; ref != nil {
		if err := h.bind(c, ref); err != nil {
			return nil, err
		}
	}
	out.Status = authenticationv1.TokenRequestStatus{Token: c.token(), ExpirationTimestamp: metav1.Time{Time: expires}}
	return out, nil
}

func matchAccount(t *route.Target, o *authenticationv1.TokenRequest, kind schema.GroupKind) error {
	path := field.NewPath("metadata")
	switch {
	case o.Name != "" && o.Name != t.Name:
		return apierrors.NewInvalid(kind, t.Name, field.ErrorList{field.Invalid(path.Child("name"), o.Name,
			"must match the service account name if specified")})
	case o.Namespace != "" && o.Namespace != t.Namespace:
		return apierrors.NewInvalid(kind, t.Name, field.ErrorList{field.Invalid(path.Child("namespace"), o.Namespace,
			"must match the service account namespace if specified")})
	}
	return nil
}

func checkExpiration(seconds int64, kind schema.GroupKind) error {
	why := ""
	switch {
	case seconds < 600:
		why = "may not specify a duration less than 10 minutes"
	case seconds > 1<<32:
		why = "may not specify a duration larger than 2^32 seconds"
	default:
		return nil
	}
	return apierrors.NewInvalid(kind, "", field.ErrorList{field.Invalid(field.NewPath("spec", "expirationSeconds"),
		seconds, why)})
}

func reviewToken(h *Handler, _ *route.Target, _ string, o *authenticationv1.TokenReview) (runtime.Object, error) {
	if o.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	c := readToken(o.Spec.Token)
	if c == nil || !h.holds(c) {
		o.Status = authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
		return o, nil
	}
	o.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: h.userNamed(c.Subject),
		Audiences: c.Audience}
	return o, nil
}

// boundName names a service account, or an object to which a token is bound.
type boundName struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// there reports whether the bound object b exists with the same uid. It returns true if b is nil.
func (h *Handler) there(resource, namespace string, b *boundName) bool {
	if b == nil {
		return true
	}
	obj, err := h.read(resource, namespace, b.Name)
	return err == nil && string(obj.GetUID()) == b.UID
}

func (h *Handler) read(resource, namespace, name string) (metav1.Object, error) {
	resp := h.do(&fakeapi.Request{Verb: fakeapi.Get, Kind: h.kindNamed(resource), Namespace: namespace, Name: name})
	if resp.Err != nil {
		return nil, resp.Err
	}
	return resp.Object.(metav1.Object), nil
}

func (h *Handler) bind(c *claims, ref *authenticationv1.BoundObjectReference) error {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	kinds := map[string]struct {
		resource, namespace string
		bound               **boundName
	}{"Pod": {"pods", c.Own.Namespace, &c.Own.Pod}, "Node": {"nodes", "", &c.Own.Node},
		"Secret": {"secrets", c.Own.Namespace, &c.Own.Secret}}
	k, ok := kinds[gvk.Kind]
	if !ok || gvk.Group != "" {
		return apierrors.NewBadRequest("cannot bind token to object of type " + gvk.String())
	}
	obj, err := h.read(k.resource, k.namespace, ref.Name)
	if err != nil {
		return err
	}
	if p, ok := obj.(*corev1.Pod); ok && p.Spec.ServiceAccountName != c.Own.Account.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with "+
			"different serviceaccount name.", c.Own.Account.Name))
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. "+
				"The object might have been deleted and then recreated", ref.UID))
	}
	*k.bound = &boundName{ref.Name, string(obj.GetUID())}
	return nil
}

// pretend sets the uid, groups and extra fields of an impersonated user, as k8s.io/apiserver does for such requests.
func pretend(r *http.Request, u *authenticationv1.UserInfo) {
	name := r.Header.Get("Impersonate-User")
	if name == "" {
		return
	}
	u.UID = r.Header.Get("Impersonate-Uid")
	groups := r.Header.Values("Impersonate-Group")
	switch {
	case name == "system:anonymous":
		if u.Groups = slices.Clone(groups); !slices.Contains(groups, "system:unauthenticated") {
			u.Groups = append(u.Groups, "system:unauthenticated")
		}
	case len(groups) > 0:
		if u.Groups = slices.Clone(groups); !slices.Contains(groups, "system:authenticated") &&
			!slices.Contains(groups, "system:unauthenticated") {
			u.Groups = append(u.Groups, "system:authenticated")
		}
	case name == "admin": // only the admin's credentials give the group system:masters, an impersonation does not
		u.Groups = []string{"system:authenticated"}
	}
	for key, values := range refusal.Extras(r.Header) {
		if u.Extra == nil {
			u.Extra = map[string]authenticationv1.ExtraValue{}
		}
		u.Extra[key] = values
	}
}
