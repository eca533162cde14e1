package texture

// Add registers an entity; its textures are loaded from the next Update on.
// After Close it returns 0.
func (s *Streamer) Add(p Part) Entity {
	if s.closed {
		return 0
	}
	e, h := s.entities.add(p, &s.camera)
	for _, slot := range p.Slots {
		if slot.URI == "" {
			e.slots = append(e.slots, 0)
			continue
		}
		i, isNew := s.textures.acquire(e, slot)
		if isNew {
			s.first.push(i, &s.textures)
		}
		e.slots = append(e.slots, ID(i)+1)
	}
	s.resting = false
	if p.Burst && !p.Fixed && len(e.textures) > 0 {
		s.entities.fresh = append(s.entities.fresh, h)
	}
	return h
}

// Textures appends the IDs of an entity's textures in the order of its slots, 0
// where there is none. They stay the same as long as the entity exists; whether
// there is anything to draw yet, Look tells.
func (s *Streamer) Textures(dst []ID, h Entity) []ID {
	if e, _ := s.entities.find(h); e != nil {
		dst = append(dst, e.slots...)
	}
	return dst
}

// Begun reports whether of all textures of an entity something has come, or will not: what
// is drawn before is white. Textures that wait for the end of a draft are not waited for, nor are
// unknown handles.
func (s *Streamer) Begun(h Entity) bool {
	e, _ := s.entities.find(h)
	if e == nil {
		return true
	}
	for _, i := range e.textures {
		if t := &s.textures.list[i]; t.state == stateLoading || t.state == stateWaiting && !s.defers(t) {
			return false
		}
	}
	return true
}

// ID returns the texture of a slot, 0 when no entity has it.
func (s *Streamer) ID(slot Slot) ID {
	if i, ok := s.textures.byKey[keyOf(slot)]; ok && slot.URI != "" {
		return ID(i) + 1
	}
	return 0
}

// Remove takes an entity out. Textures that no other uses are released, and
// what is being loaded for it is dropped. Unknown handles are ignored.
func (s *Streamer) Remove(h Entity) {
	e, index := s.entities.find(h)
	if e == nil {
		return
	}
	s.cancelOp(e, index)
	for _, t := range e.textures {
		s.unref(t)
	}
	s.entities.remove(index)
}

// Move changes the box of an entity, in world space. It counts from the next
// tick on.
func (s *Streamer) Move(h Entity, boxMin, boxMax [3]float64) {
	if e, _ := s.entities.find(h); e != nil {
		e.place(boxMin, boxMax)
	}
}

// SetLevel changes which level of its LOD group an entity is. What is being
// loaded for the old one is dropped.
func (s *Streamer) SetLevel(h Entity, level, levels int) {
	e, index := s.entities.find(h)
	if e == nil || e.level == level && e.levels == levels {
		return
	}
	s.cancelOp(e, index)
	e.level, e.levels = level, levels
	e.limit()
}

// unref gives one entity's use of a texture back.
func (s *Streamer) unref(i int32) {
	t := &s.textures.list[i]
	if t.refs--; t.refs > 0 {
		return
	}
	if k := s.loads.of(i); k >= 0 {
		s.drop(k)
	}
	if t.state == stateResident {
		s.budget.use(-t.bytes)
		s.device.Release(ID(i) + 1)
		s.trace(Event{Kind: EventRelease, Texture: ID(i) + 1, From: t.edge()})
	}
	s.textures.release(i)
}
