package preview

import "time"

// How long messages stay in the picture.
const (
	newsTime  = 3 * time.Second
	alarmTime = 10 * time.Second
)

// news is what the person in front of the window is told. The same goes to the
// terminal.
type news struct {
	out     func(string)
	text    string
	until   time.Duration
	alert   string
	alertTo time.Duration
}

func (n *news) now(t time.Duration) (text, alert string) {
	if t < n.until {
		text = n.text
	}
	if t < n.alertTo {
		alert = n.alert
	}
	return text, alert
}

// alarm reports something that went wrong with the scene.
func (n *news) alarm(t time.Duration, text string) {
	n.alert, n.alertTo = text, t+alarmTime
	n.out(text)
}

// say reports what was done.
func (a *app) say(text string) {
	a.news.text, a.news.until = text, a.clock.elapsed()+newsTime
	a.news.out(text)
}

// fault reports something that was asked for and could not be done.
func (a *app) fault(text string) {
	a.errs++
	a.news.alarm(a.clock.elapsed(), text)
}
