package blob

import (
	"fmt"
	"strings"
)

// Scheme begins the addresses of buckets.
const Scheme = "s3://"

// Address is where a place is: s3://BUCKET/PREFIX, or the path of a folder.
type Address struct {
	Bucket string // "" for a folder
	Prefix string // of all keys in the bucket: "" or with a slash at its end
	Folder string
}

// ParseAddress reads an address. It looks at the text only.
func ParseAddress(text string) (Address, error) {
	bad := func(format string, args ...any) (Address, error) {
		return Address{}, fmt.Errorf("%q is no place: %s", text, fmt.Sprintf(format, args...))
	}
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		scheme, _, other := strings.Cut(text, "://")
		switch {
		case text == "":
			return bad("it is empty: write s3://BUCKET/PREFIX or the path of a folder")
		case other && !strings.ContainsAny(scheme, `/\.`):
			return bad("only s3:// and folders are known: for another server that speaks S3 set AWS_ENDPOINT_URL and write s3://BUCKET/PREFIX")
		}
		return Address{Folder: text}, nil
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	if why := checkBucket(bucket); why != "" {
		return bad("the bucket's name %s: write s3://BUCKET/PREFIX", why)
	}
	if prefix = strings.TrimSuffix(prefix, "/"); prefix == "" {
		return Address{Bucket: bucket}, nil
	}
	if err := CheckKey(prefix); err != nil {
		return bad("%v", err)
	}
	return Address{Bucket: bucket, Prefix: prefix + "/"}, nil
}

// checkBucket tells what is wrong with the name of a bucket. Rules beyond those that
// keep it one name in an address are the server's.
func checkBucket(name string) string {
	switch {
	case name == "":
		return "is missing"
	case len(name) < 3 || len(name) > 63:
		return "does not have 3 to 63 letters"
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || i == len(name)-1 || r != '-' && r != '.') {
			return "is not of a-z, 0-9, hyphens and dots, with a letter or digit at both ends"
		}
	}
	return ""
}

// String writes the address as ParseAddress reads it.
func (a Address) String() string {
	if a.Bucket == "" {
		return a.Folder
	}
	return strings.TrimSuffix(Scheme+a.Bucket+"/"+a.Prefix, "/")
}
