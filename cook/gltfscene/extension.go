package gltfscene

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
)

const (
	dracoName    = "KHR_draco_mesh_compression"
	variantsName = "KHR_materials_variants"
)

// decodeHint is for codecs that are not handled here: glTF Transform decodes
// on reading and does not compress again on copying.
const decodeHint = "decode it first, for example with `gltf-transform copy in.glb out.glb`"

// policy is what becomes of an extension.
type policy uint8

const (
	unknown  policy = iota // refused when required, else noted
	handled                // cooked
	shading                // refines shading: noted, a warning if required
	metadata               // does not change the picture: noted
)

// policies lists the extensions that have a rule of their own; see policyOf.
var policies = map[string]policy{
	"KHR_mesh_quantization":                   handled,
	"KHR_materials_unlit":                     handled,
	"KHR_materials_emissive_strength":         handled,
	specGlossName:                             handled,
	variantsName:                              handled,
	"KHR_texture_transform":                   handled,
	"KHR_texture_basisu":                      handled,
	"EXT_texture_webp":                        handled,
	"EXT_texture_avif":                        handled,
	"MSFT_texture_dds":                        handled,
	instancingName:                            handled,
	lightsName:                                handled,
	"KHR_node_visibility":                     handled,
	dracoName:                                 handled,
	"EXT_meshopt_compression":                 handled,
	"KHR_meshopt_compression":                 handled,
	"KHR_animation_pointer":                   metadata,
	"KHR_audio_emitter":                       metadata,
	"KHR_interactivity":                       metadata,
	"KHR_node_hoverability":                   metadata,
	"KHR_node_selectability":                  metadata,
	"KHR_xmp":                                 metadata,
	"KHR_xmp_json_ld":                         metadata,
	"EXT_feature_metadata":                    metadata,
	"EXT_instance_features":                   metadata,
	"EXT_mesh_features":                       metadata,
	"EXT_structural_metadata":                 metadata,
	"EXT_lights_ies":                          shading,
	"EXT_lights_image_based":                  shading,
	"CESIUM_primitive_outline":                shading,
	lodName:                                   handled,
	"MSFT_packing_normalRoughnessMetallic":    shading,
	"MSFT_packing_occlusionRoughnessMetallic": shading,
	"FB_geometry_metadata":                    metadata,
	"FB_ngon_encoding":                        metadata,
	"GODOT_single_root":                       metadata,
	"HUBS_components":                         metadata,
	"MOZ_hubs_components":                     metadata,
	"AGI_articulations":                       metadata,
	"AGI_stk_metadata":                        metadata,
	"KHR_techniques_webgl":                    shading,
	"ADOBE_materials_clearcoat_specular":      shading,
	"ADOBE_materials_clearcoat_tint":          shading,
	"ADOBE_materials_thin_transparency":       shading,
}

// policyOf returns the rule for an extension.
func policyOf(name string) policy {
	if p, ok := policies[name]; ok {
		return p
	}
	if strings.HasPrefix(name, "KHR_materials_") || strings.HasPrefix(name, "EXT_materials_") {
		return shading
	}
	return unknown
}

// extensionUse remembers what the file declares.
type extensionUse struct {
	used, required map[string]bool
	noted          map[string]bool
}

// checkExtensions refuses required extensions that cannot be honoured and
// notes those that are ignored.
func (se *session) checkExtensions() error {
	se.ext = extensionUse{used: make(map[string]bool), required: make(map[string]bool), noted: make(map[string]bool)}
	for _, name := range se.doc.extUsed {
		se.ext.used[name] = true
	}
	for i, name := range se.doc.extNeeded {
		place := fmt.Sprintf("extensionsRequired[%d]", i)
		se.ext.required[name] = true
		switch p := policyOf(name); p {
		case unknown:
			return unsupported(place, "export the file without it", "the extension %s is required but not supported", clip(name))
		case shading, metadata:
			se.ignore(name, place, true)
		}
		if !se.ext.used[name] {
			se.notes.warn("extension-not-used", place, "extensionsRequired lists an extension that extensionsUsed lacks: "+clip(name))
		}
	}
	for i, name := range se.doc.extUsed {
		if p := policyOf(name); p != handled {
			se.ignore(name, fmt.Sprintf("extensionsUsed[%d]", i), p == unknown)
		}
	}
	se.observeRoot()
	return nil
}

// ignore notes once that an extension has no effect.
func (se *session) ignore(name, place string, warning bool) {
	if se.ext.noted[name] {
		return
	}
	const most = 64 // distinct notes
	se.ext.noted[name] = true
	if len(se.ext.noted) > most {
		se.notes.add(1, warning, "extensions-ignored", place, "more extensions were ignored")
		return
	}
	what := "is not supported and was ignored"
	if policyOf(name) == shading {
		what = "refines shading and was ignored"
	}
	se.notes.add(1, warning, "extension-ignored:"+clip(name), place, "the extension "+clip(name)+" "+what)
}

// location is the kind of object that an extension sits on.
type location uint16

const (
	onRoot location = 1 << iota
	onNode
	onPrimitive
	onMaterial
	onPBR
	onTexture
	onTextureInfo
	onAccessor
	onView
	onBuffer
	anywhere location = 0xFFFF
)

// homes says where the known extensions may occur.
var homes = map[string]location{
	lightsName:                        onRoot | onNode,
	"KHR_node_visibility":             onNode,
	lodName:                           onNode | onMaterial,
	instancingName:                    onNode,
	dracoName:                         onPrimitive,
	variantsName:                      onRoot | onPrimitive,
	"KHR_texture_transform":           onTextureInfo,
	"KHR_texture_basisu":              onTexture,
	"EXT_texture_webp":                onTexture,
	"EXT_texture_avif":                onTexture,
	"MSFT_texture_dds":                onTexture,
	"KHR_mesh_quantization":           0,
	"EXT_meshopt_compression":         onView | onBuffer,
	"KHR_meshopt_compression":         onView | onBuffer,
	"EXT_structural_metadata":         anywhere,
	"KHR_xmp_json_ld":                 anywhere,
	"KHR_materials_unlit":             onMaterial,
	"KHR_materials_emissive_strength": onMaterial,
}

// extensionsOf returns the extensions object of the element raw, nil if there is
// none.
func extensionsOf(raw []byte) []byte {
	if ext := jsonscan.Member(raw, "extensions"); isObjectValue(ext) {
		return ext
	}
	return nil
}

// observe is extensionsOf, and notes extensions that are undeclared or misplaced.
func (se *session) observe(place string, loc location, raw []byte) []byte {
	ext := extensionsOf(raw)
	if ext != nil {
		se.observeMembers(place, loc, ext)
	}
	return ext
}

// observeMembers notes what is undeclared or misplaced of an extensions object.
func (se *session) observeMembers(place string, loc location, ext []byte) {
	for key, span := range jsonscan.Members(ext, 0) {
		name, val := string(key.Text), span.Of(ext)
		where := strings.TrimPrefix(place+".extensions.", ".") + clip(name)
		if !se.ext.used[name] {
			se.notes.warn("extension-undeclared", where, "an extension that extensionsUsed does not list is in use: "+clip(name))
		}
		home, known := homes[name]
		if !known && strings.HasPrefix(name, "KHR_materials_") {
			home, known = onMaterial, true
		}
		if known && home&loc == 0 {
			se.notes.warn("extension-misplaced", where, "an extension stands where it has no meaning: "+clip(name))
		}
		if !isObjectValue(val) && !isNull(val) {
			se.notes.warn("extension-no-object", where, "an extension's value must be an object: "+clip(name))
		}
		if p := policyOf(name); p != handled && !se.ext.used[name] {
			se.ignore(name, where, p == unknown)
		}
	}
}

// observeRoot looks at the extensions of the document itself.
func (se *session) observeRoot() {
	if se.doc.extensions == nil {
		return
	}
	se.observeMembers("", onRoot, se.doc.extensions)
	if v := jsonscan.Member(se.doc.extensions, variantsName); v != nil && jsonscan.Member(v, "variants") == nil {
		se.notes.warn("variants-faulty", "extensions."+variantsName, "material variants, which are not cooked, are faulty: variants is missing")
	}
}

// noteQuantized notes the use of formats that need KHR_mesh_quantization, which
// therefore must be required.
func (se *session) noteQuantized(place string) {
	if !se.ext.required["KHR_mesh_quantization"] {
		se.notes.warn("quantization-not-required", place, "quantized attributes are in use, but KHR_mesh_quantization is not required")
	}
}

func isObjectValue(val []byte) bool { return len(val) > 0 && val[0] == '{' }
