package engineoracle

// lightKinds is indexed by light_type.
var lightKinds = [...]string{1: "directional", 2: "point", 3: "spot", 4: "area"}

// decodeLight reads a light.
func decodeLight(v any, path string) Light {
	k := asKeyed(v, path)
	for _, key := range []string{"color", "position", "direction", "right", "up", "area_size"} {
		ifPresent(k, key, asFloats)
	}
	for _, key := range []string{
		"intensity", "radius", "range", "falloff", "inner_cone", "outer_cone", "source_power", "source_exposure",
	} {
		ifPresent(k, key, asFloat)
	}
	ifPresent(k, "casts_shadow", asBool)
	ifPresent(k, "uses_radiometric_units", asBool)
	ifPresent(k, "local_transform_rows", listOf(asFloats))
	ifPresent(k, "local_transform", listOf(asFloats))
	return Light{Name: name(k), Kind: lightKind(k)}
}

// name prefers name to entity_name.
func name(k keyed) string {
	long := ifPresent(k, "entity_name", asString)
	return or(ifPresent(k, "name", asString), or(long, ""))
}

// lightKind goes through the keys that may hold the kind.
func lightKind(k keyed) string {
	words := []*string{ifPresent(k, "kind", asString), ifPresent(k, "type", asString), nil}
	number := int64(0)
	if _, text := k.object["light_type"].(string); text {
		words[2] = ifPresent(k, "light_type", asString)
	} else {
		number = or(ifPresent(k, "light_type", asInt), 0)
	}
	for _, w := range words {
		switch or(w, "") {
		case "directional", "point", "spot", "area":
			return *w
		case "sun", "dir":
			return "directional"
		}
	}
	if number >= 1 && number < int64(len(lightKinds)) {
		return lightKinds[number]
	}
	return "point"
}

func decodeCamera(v any, path string) Camera {
	k := asKeyed(v, path)
	for _, key := range []string{"position", "forward", "up", "right"} {
		ifPresent(k, key, asFloats)
	}
	for _, key := range []string{"fov_y_degrees", "near_clip", "far_clip", "aspect_ratio"} {
		ifPresent(k, key, asFloat)
	}
	ifPresent(k, "local_transform_rows", listOf(asFloats))
	return Camera{Name: name(k)}
}
