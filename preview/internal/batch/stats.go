package batch

// Stats are the counters of a Batcher.
type Stats struct {
	// Of the last Update.
	Arrivals             int // representations that came into cells
	DirtyBefore          int // dirty cells, before and after starting work
	DirtyAfter           int
	Promoted             int // cells that were looked at
	Busy                 int // dirty cells whose work is under way
	DeferredByQuiescence int
	DeferredByVisibility int
	DeferredByWork       int
	DeferredByMemory     int
	SkippedByComplexity  int
	Jobs                 int // started
	Applied              int // results that became batches
	Discarded            int // late results
	Released             int // retired batches that were released

	// Since New.
	Failed      int // uploads
	Unavailable int // meshes that could not be had for merging

	// Now.
	Waiting   int // representations that wait to come into cells
	Cells     int
	InFlight  int
	Ready     int // results that wait for their turn
	Batches   int
	Uploading int
	Retiring  int
	Bytes     int64 // of all batches on the device, the retiring ones included
}

// begin clears what counts one Update.
func (s *Stats) begin() {
	*s = Stats{Failed: s.Failed, Unavailable: s.Unavailable, Bytes: s.Bytes}
}

func (s *Stats) end(b *Batcher) {
	s.Waiting, s.Cells, s.InFlight, s.Ready = len(b.arrivals), len(b.list), b.inFlight, len(b.ready)
	s.Batches, s.Uploading, s.Retiring = len(b.live), len(b.uploading), len(b.retired)
}

// Stats returns the counters as of the last Update.
func (b *Batcher) Stats() Stats { return b.stats }
