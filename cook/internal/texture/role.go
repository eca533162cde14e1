package texture

// Use says how a material samples an image.
type Use uint8

// The uses. Colours are averaged in linear light, data as it is, normals as
// directions.
const (
	Unused Use = iota
	Data
	Normal
	Color

	uses // their number
)

// String returns the name that file names and messages use.
func (u Use) String() string { return [...]string{"unused", "data", "normal", "color"}[min(u, Color)] }

// Alpha says what an image's alpha means to the materials that use it.
type Alpha uint8

// The meanings of alpha. Of several uses the last of this list counts.
const (
	AlphaIgnored Alpha = iota // opaque materials, data and normals: alpha is dropped
	AlphaBlended              // colours are weighted by alpha
	AlphaMasked               // the same, and every level keeps the share of texels at or above the cutoff
)

// Edge says what lies beyond an image's border for a filter.
type Edge uint8

// The edges.
const (
	EdgeRepeat Edge = iota
	EdgeMirror
	EdgeClamp
)

// Role is what all materials together ask of an image for one use.
type Role struct {
	Use    Use
	Alpha  Alpha
	Cutoff float32 // of AlphaMasked: texels with alpha >= Cutoff are drawn, 0 to 1
	Edges  [2]Edge // along u and v
	// Atlas says that what lies side by side belongs to other places of a mesh: every pixel
	// counts by areas alone, as a wider filter would mix them.
	Atlas bool
}

// Roles are the roles of one image; Unused ones are zero. An image that serves
// as a colour and as data gets a file for each.
type Roles [uses]Role

// Add joins a role with what is known of the same use. Where roles disagree,
// AlphaMasked wins with the first cutoff, and repeating edges win.
func (r *Roles) Add(n Role) {
	old := &r[n.Use]
	if old.Use == Unused {
		*old = n
		return
	}
	if n.Alpha > old.Alpha {
		old.Alpha, old.Cutoff = n.Alpha, n.Cutoff
	}
	for i := range old.Edges {
		old.Edges[i] = min(old.Edges[i], n.Edges[i])
	}
}

// join adds all roles of another image with the same content.
func (r *Roles) join(o *Roles) {
	for _, n := range o {
		if n.Use != Unused {
			r.Add(n)
		}
	}
}

// List returns the roles in the order in which they are named: the first gets
// the plain name.
func (r *Roles) List() []Role {
	var out []Role
	for _, u := range [...]Use{Color, Normal, Data} {
		if r[u].Use != Unused {
			out = append(out, r[u])
		}
	}
	return out
}

// Count returns how many files serve the roles.
func (r *Roles) Count() int { return len(r.List()) }

// Merged returns the use that counts where one file serves all.
func (r *Roles) Merged() Use {
	u := Unused
	for _, n := range r {
		u = max(u, n.Use)
	}
	return u
}
