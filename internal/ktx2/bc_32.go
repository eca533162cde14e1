//go:build 386 || arm || mips || mipsle

package ktx2

// decodeBC has no decoder: the one in use needs 64-bit integers.
func decodeBC(f Format, _ []byte, _, _ int) ([]byte, error) {
	return nil, unsupported("%v is decoded on 64-bit processors only", f)
}
