package clock

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSleepEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if err := (System{}).Sleep(ctx, -1); err != nil {
		t.Error(err)
	}
	cancel()
	for _, d := range []time.Duration{0, time.Hour} {
		if err := (System{}).Sleep(ctx, d); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", d, err)
		}
	}
	if (System{}).Now().IsZero() {
		t.Error("no time")
	}
}
