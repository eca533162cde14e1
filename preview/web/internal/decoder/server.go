package decoder

import (
	"context"
	"errors"
	"path"
	"sync"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/workpool"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// textureWorkers is how many textures a worker is at together: while one waits for its
// file another one is decoded.
const textureWorkers = 4

// Server is a worker's side: it reads and decodes what messages ask for. Its methods are
// safe for concurrent use.
type Server struct {
	send     func(parts [][]byte)
	distrust func(file string)
	expect   func(file string, size int64)
	files    *payload.FileLoader
	textures *workpool.Pool[func()]

	mu      sync.Mutex
	cancels map[uint64]context.CancelFunc
}

// NewServer returns a server that answers by send, whose parts it does not use again,
// and says that it is ready. distrust, which may be nil, is told of files that make no
// sense: what is kept of them may be damaged. expect, which may be nil, is told of files
// that will be read whole, and of their declared size in bytes.
func NewServer(send func(parts [][]byte), distrust func(file string), expect func(file string, size int64)) *Server {
	if distrust == nil {
		distrust = func(string) {}
	}
	if expect == nil {
		expect = func(string, int64) {}
	}
	s := &Server{send: send, distrust: distrust, expect: expect, files: payload.NewFileLoader(0), cancels: map[uint64]context.CancelFunc{}}
	s.textures = workpool.New(textureWorkers, func(f func()) { f() })
	send(newWriter(kindReady, 0).message())
	return s
}

// Handle takes a message, which is not used again. The error is about one that makes no
// sense.
func (s *Server) Handle(message []byte) error {
	r, kind, token := newReader(message)
	if r.err != nil {
		return r.err
	}
	switch kind {
	case kindLoad:
		req, kept, err := readLoad(r, token)
		if err != nil {
			return err
		}
		s.load(req, kept)
		return nil
	case kindTexture:
		q, err := readTexture(r)
		if err != nil {
			return err
		}
		s.texture(token, q)
		return nil
	case kindCancel:
		err := r.end()
		s.mu.Lock()
		cancel := s.cancels[token]
		s.mu.Unlock()
		if err == nil && cancel != nil {
			cancel()
		}
		return err
	}
	r.fail("kind %d", kind)
	return r.err
}

// begin returns the context of a request.
func (s *Server) begin(token uint64) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels[token] = cancel
	return ctx
}

// answer ends a request.
func (s *Server) answer(token uint64, w *writer) {
	s.mu.Lock()
	cancel := s.cancels[token]
	delete(s.cancels, token)
	s.mu.Unlock()
	cancel()
	s.send(w.message())
}

func (s *Server) load(req payload.Request, version [32]byte) {
	req.Context = s.begin(req.Token)
	if version != ([32]byte{}) {
		req.Kept = payload.NewAsset(nil)
		req.Kept.Version = version
	}
	req.Done = payload.Intercept(func(token uint64, x payload.Result) {
		defer x.Asset.Release()
		switch {
		case x.Err != nil:
			if damaged(x.Err) {
				s.distrust(req.File())
			}
			s.answer(token, writeFailure(token, x.Err))
		case req.Kept != nil && x.Asset.Shares(req.Kept):
			s.answer(token, newWriter(kindKept, token))
		default:
			s.pack(req.Context, token, x.Asset)
			s.answer(token, writeAsset(token, &x))
		}
	}, nil)
	if req.Size > 0 {
		s.expect(req.File(), req.Size)
	}
	s.files.Start(req)
}

// pack sends what the vertices of a tile become on the GPU, ahead of the tile.
func (s *Server) pack(ctx context.Context, token uint64, a *payload.Asset) {
	if a.Parts != nil || ctx.Err() != nil {
		return
	}
	if made := render.Pack(a); made != nil && made.Packing.Layout != compact.Full {
		s.send(writePacked(token, made).message())
	}
}

// damaged reports whether an error says that a file is not as it should be.
func damaged(err error) bool {
	var bad *format.Error
	return errors.Is(err, payload.ErrPayload) || errors.As(err, &bad) || errors.Is(err, texfile.ErrDamaged) || errors.Is(err, texfile.ErrFormat)
}

// textureFile names the file of a texture.
func textureFile(dir, uri string) string { return path.Join(dir, path.Clean(uri)) }

func (s *Server) texture(token uint64, q textureRequest) {
	ctx := s.begin(token)
	if !s.textures.Start(func() {
		img, err := texfile.ReadFile(ctx, q.dir, q.uri, q.options)
		if err != nil {
			if damaged(err) {
				s.distrust(textureFile(q.dir, q.uri))
			}
			s.answer(token, writeFailure(token, err))
			return
		}
		s.answer(token, writeImage(token, img))
	}) {
		s.answer(token, writeFailure(token, payload.ErrClosed))
	}
}

// Close ends what is under way and waits for it.
func (s *Server) Close() error {
	s.mu.Lock()
	for _, cancel := range s.cancels {
		cancel()
	}
	s.mu.Unlock()
	s.textures.Close(func(f func()) { f() })
	return s.files.Close()
}
