package tiles3d

import (
	"fmt"
	"math"

	"github.com/untoldkit/untold/internal/geom"
)

// Place is where a scene stands on the globe (WGS84): the point of its origin, in
// degrees and in metres above the ellipsoid, and where its north, -Z of glTF, points:
// Heading in degrees clockwise from the globe's north, as seen from above.
type Place struct {
	Longitude, Latitude, Height, Heading float64
}

// Check refuses what is no place on the globe.
func (p Place) Check() error {
	switch {
	case !(p.Longitude >= -180 && p.Longitude <= 180):
		return fmt.Errorf("tiles3d: the longitude is %v degrees, not within -180 to 180", p.Longitude)
	case !(p.Latitude >= -90 && p.Latitude <= 90):
		return fmt.Errorf("tiles3d: the latitude is %v degrees, not within -90 to 90", p.Latitude)
	case !(p.Height >= -1e7 && p.Height <= 1e7):
		return fmt.Errorf("tiles3d: the height is %v metres, not within -10000000 to 10000000", p.Height)
	case !(p.Heading >= -360 && p.Heading <= 360):
		return fmt.Errorf("tiles3d: the heading is %v degrees, not within -360 to 360", p.Heading)
	}
	return nil
}

// The ellipsoid of WGS84: its equatorial radius in metres, and the square of its
// eccentricity.
const (
	equator      = 6378137.0
	eccentricity = 6.69437999014e-3
)

// transform returns the matrix, by columns, from the scene's axes with Z up to the
// globe's: X at 0 degrees, Y at 90 degrees east, Z at the north pole.
func (p Place) transform() geom.Mat4 {
	sinLon, cosLon := geom.Sincos(p.Longitude * (math.Pi / 180))
	sinLat, cosLat := geom.Sincos(p.Latitude * (math.Pi / 180))
	sinHead, cosHead := geom.Sincos(p.Heading * (math.Pi / 180))
	east := geom.Vec3{-sinLon, cosLon, 0}
	north := geom.Vec3{-sinLat * cosLon, -sinLat * sinLon, cosLat}
	up := geom.Vec3{cosLat * cosLon, cosLat * sinLon, sinLat}
	n := equator / math.Sqrt(1-float64(eccentricity*float64(sinLat*sinLat)))
	at := geom.Vec3{
		float64((n + p.Height) * up[0]), float64((n + p.Height) * up[1]),
		float64((float64(n*(1-eccentricity)) + p.Height) * up[2]),
	}
	x := east.Scale(cosHead).Sub(north.Scale(sinHead))
	y := east.Scale(sinHead).Add(north.Scale(cosHead))
	return geom.Mat4{x[0], x[1], x[2], 0, y[0], y[1], y[2], 0, up[0], up[1], up[2], 0, at[0], at[1], at[2], 1}
}
