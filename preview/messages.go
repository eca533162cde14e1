package preview

import "time"

// How long messages stay in the picture.
const (
	noticeTime = 3 * time.Second
	alertTime  = 10 * time.Second
)

// messages owns what the person in front of the window is told: the latest notice
// and the latest alert. The same goes to the terminal.
type messages struct {
	out         func(string)
	clock       *clock
	notice      string
	noticeUntil time.Duration
	warning     string
	alertUntil  time.Duration
	errors      int // that were reported
}

// notify tells what was done.
func (m *messages) notify(text string) {
	m.notice, m.noticeUntil = text, m.clock.elapsed()+noticeTime
	m.out(text)
}

// alert tells of something that went wrong with the scene.
func (m *messages) alert(text string) {
	m.warning, m.alertUntil = text, m.clock.elapsed()+alertTime
	m.out(text)
}

// reportError tells of something that was asked for and could not be done, which
// counts as an error of the run.
func (m *messages) reportError(text string) {
	m.errors++
	m.alert(text)
}

// current returns what is shown now.
func (m *messages) current() (notice, alert string) {
	now := m.clock.elapsed()
	if now < m.noticeUntil {
		notice = m.notice
	}
	if now < m.alertUntil {
		alert = m.warning
	}
	return notice, alert
}
