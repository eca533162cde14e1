//go:build cgo && !nopreview

package gl41

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// Listen hands over what the driver says (GL_KHR_debug).
func (d *Device) Listen(heard func(*gpu.Message)) {
	switch {
	case !d.caps.DebugOutput:
		return
	case heard == nil:
		gl.Disable(gl.DEBUG_OUTPUT)
		gl.DebugMessageCallback(nil, nil)
		return
	}
	gl.Enable(gl.DEBUG_OUTPUT)
	gl.Enable(gl.DEBUG_OUTPUT_SYNCHRONOUS)
	gl.DebugMessageCallback(func(_, kind, id, severity uint32, _ int32, text string, _ unsafe.Pointer) {
		heard(&gpu.Message{Kind: kindOf(kind), Severity: severityOf(severity), ID: id, Text: text})
	}, nil)
}

func kindOf(kind uint32) gpu.MessageKind {
	switch kind {
	case gl.DEBUG_TYPE_ERROR:
		return gpu.MessageError
	case gl.DEBUG_TYPE_PERFORMANCE:
		return gpu.MessagePerformance
	case gl.DEBUG_TYPE_DEPRECATED_BEHAVIOR:
		return gpu.MessageDeprecated
	case gl.DEBUG_TYPE_UNDEFINED_BEHAVIOR:
		return gpu.MessageUndefined
	case gl.DEBUG_TYPE_PORTABILITY:
		return gpu.MessagePortability
	}
	return gpu.MessageOther
}

func severityOf(severity uint32) gpu.Severity {
	switch severity {
	case gl.DEBUG_SEVERITY_HIGH:
		return gpu.SeverityHigh
	case gl.DEBUG_SEVERITY_MEDIUM:
		return gpu.SeverityMedium
	case gl.DEBUG_SEVERITY_LOW:
		return gpu.SeverityLow
	}
	return gpu.SeverityNotification
}
