// Package scenelist reads and writes the list of the scenes of a place: what a server, an
// exported folder and a published one tell pages and programs of what there is to show.
package scenelist

import (
	"encoding/json"
	"fmt"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// Name is the file that lists the scenes of a place, at its root.
const Name = "untold-scenes.json"

// OlderName is what servers of version 0.1 call it.
const OlderName = "scenes.json"

// Bounds of what is read.
const (
	MaxBytes  = 1 << 20
	MaxScenes = 1000
)

// Scene is a scene as the list has it.
type Scene struct {
	Path  string `json:"path"`  // of the manifest, from the place of the list, with slashes
	Tiles int    `json:"tiles"` // of it; 0 where they are not known
	Bytes int64  `json:"bytes"` // of its payloads; in published places, of all its files
	// Packed is a copy of the manifest as gzip, from the place of the list, "" for none.
	Packed string `json:"packed,omitempty"`
}

// Is reports whether a name is that of a list, of today or older.
func Is(name string) bool { return name == Name || name == OlderName }

// Encode writes a list.
func Encode(list []Scene) ([]byte, error) {
	if list == nil {
		list = []Scene{}
	}
	data, err := json.MarshalIndent(list, "", " ")
	return append(data, '\n'), err
}

// Parse reads a list from elsewhere, of at most MaxBytes and MaxScenes, whose paths all
// lie below its place. Errors name the scene, from 0.
func Parse(data []byte) ([]Scene, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the list of scenes has more than %s", human.Bytes(MaxBytes))
	}
	var list []Scene
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("this is no list of scenes: %w", err)
	}
	if len(list) > MaxScenes {
		return nil, fmt.Errorf("the list has %d scenes; the most that are read are %d", len(list), MaxScenes)
	}
	for i := range list {
		if err := payloadpath.Check(list[i].Path); err != nil {
			return nil, fmt.Errorf("scene %d of the list: %w", i, err)
		}
		if list[i].Packed == "" {
			continue
		}
		if err := payloadpath.Check(list[i].Packed); err != nil {
			return nil, fmt.Errorf("scene %d of the list: its packed manifest: %w", i, err)
		}
	}
	return list, nil
}
