// Package s3 makes a bucket of an S3 server a place of objects (package blob).
//
// It is told what other S3 clients are told, by the same variables: AWS_ENDPOINT_URL_S3
// or AWS_ENDPOINT_URL name another server than Amazon's, which is addressed in path
// style; AWS_REGION or AWS_DEFAULT_REGION its region, else the server is asked.
// Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, then from the
// profile AWS_PROFILE of the shared files, then from the role of the container or
// machine. Without any, requests are not signed. A machine is asked for its role only
// where Amazon's own server is meant and AWS_EC2_METADATA_DISABLED is not true.
package s3

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/clock"
)

// amazon is the server when no variable names another.
const amazon = "https://s3.amazonaws.com"

// roleTimeout bounds a question for the role of a machine, which most have none of.
const roleTimeout = 2 * time.Second

// Options change how a bucket is reached. The zero value is right for most.
type Options struct {
	// Transport brings requests to the server; nil for one with room for 64
	// connections that are kept.
	Transport http.RoundTripper
	// Clock waits between attempts; nil for the machine's.
	Clock clock.Clock
	// Attempts is how often a request is made before it has failed; 0 means 5, with
	// pauses of 0.25 s, then twice as long each.
	Attempts int
	// PartSize is the size in bytes, at least 5 MiB, of the parts in which larger
	// objects are sent; 0 means 16 MiB. One part of each is held in memory.
	PartSize uint64
}

// Open returns the bucket at an address, without asking whether it is there.
func Open(ctx context.Context, a blob.Address, o Options) (*Bucket, error) {
	fail := func(err error, hint string) (*Bucket, error) {
		return nil, &blob.Error{Op: "open", Place: a.String(), Err: err, Hint: hint}
	}
	if a.Bucket == "" {
		return fail(errors.New("it is no bucket"), "write s3://BUCKET/PREFIX")
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	own := endpoint == ""
	u, err := url.Parse(cmp.Or(endpoint, amazon))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		// The text may hold a password, so it is not shown.
		return fail(errors.New("AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is no address of a server"), "write https://HOST or https://HOST:PORT")
	}
	if o.Transport == nil {
		o.Transport = transport()
	}
	creds, err := login(ctx, o.Transport, own)
	if err != nil {
		return fail(err, "")
	}
	lookup := minio.BucketLookupPath
	if own {
		lookup = minio.BucketLookupAuto
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: creds, Secure: u.Scheme == "https", Transport: o.Transport, BucketLookup: lookup,
		Region:     cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		MaxRetries: 1, // attempts are counted here, on a clock that tests can hold
	})
	if err != nil {
		return fail(err, "look at AWS_ENDPOINT_URL")
	}
	b := &Bucket{core: core, bucket: a.Bucket, prefix: a.Prefix, address: a.String(), server: u.Host, clock: o.Clock, attempts: cmp.Or(o.Attempts, 5), partSize: o.PartSize}
	if b.clock == nil {
		b.clock = clock.System{}
	}
	if v, err := creds.GetWithContext(nil); err == nil {
		b.anonymous = v.SignerType.IsAnonymous()
	}
	return b, nil
}

// transport is the default one with room for many goroutines.
func transport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 64
	t.ResponseHeaderTimeout = time.Minute
	t.DisableCompression = true // ranges and sizes mean the bytes of the object
	return t
}

// login finds credentials. A chain that found none would look again before every
// request; here that is final.
func login(ctx context.Context, t http.RoundTripper, amazon bool) (*credentials.Credentials, error) {
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	role := amazon && !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true")
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		role = role || os.Getenv(name) != ""
	}
	if role {
		providers = append(providers, &credentials.IAM{Client: &http.Client{Transport: t, Timeout: roleTimeout}})
	}
	creds := credentials.NewChainCredentials(providers)
	// The library's questions take no context; they end after roleTimeout each.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v, err := creds.GetWithContext(&credentials.CredContext{Client: &http.Client{Transport: t, Timeout: roleTimeout}})
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if v.SignerType.IsAnonymous() {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	return creds, nil
}
