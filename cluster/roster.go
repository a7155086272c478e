package cluster

import (
	"slices"
	"time"
)

const (
	maxMembers = 4096 // that memberlist may hold at a time
	maxLost    = 256  // dead members that are looked for
	showLeft   = time.Minute
	settled    = 5 * time.Second // after which two of one name are no mere restart
)

// sighting is a member as memberlist reports it.
type sighting struct {
	meta
	addr string
}

// record is a member and the reasons for its state.
type record struct {
	Member
	start uint64    // of the process, by its own clock
	heard bool      // memberlist counts it as alive
	left  bool      // it said goodbye
	since time.Time // of the State
	clash bool      // its name being taken was reported
}

// roster decides who is a member from what memberlist and links report. It is
// values in, events out: no lock, clock or goroutine.
//
// memberlist believes a killed process alive until probes fail. When another
// process answers at the same address, the older one must be gone: roster says
// so at once. The younger is the one that started later; should clocks make
// that the wrong one, memberlist's verdict puts it right within seconds.
type roster struct {
	self    Member
	start   uint64
	records map[uint64]*record // by incarnation, without self
}

func newRoster(self Member, start uint64) *roster {
	return &roster{self: self, start: start, records: make(map[uint64]*record)}
}

// seen takes a report that a member is alive.
func (r *roster) seen(s sighting, now time.Time) []Event {
	if s.incarnation == r.self.Incarnation {
		return nil
	}
	rec := r.records[s.incarnation]
	if rec == nil {
		rec = &record{since: now}
		rec.Name, rec.Incarnation, rec.State = s.name, s.incarnation, Dead
		r.records[s.incarnation] = rec
	}
	moved := rec.State == Alive && rec.Addr != s.addr
	rec.Addr, rec.start, rec.heard = s.addr, s.start, true
	events := r.settle(now)
	if moved && rec.State == Alive {
		events = append(events, Event{MemberUp, rec.Member})
	}
	return events
}

// lost takes a report that memberlist gave a member up.
func (r *roster) lost(incarnation uint64, now time.Time) []Event {
	if rec := r.records[incarnation]; rec != nil {
		rec.heard = false
	}
	return r.settle(now)
}

// leave takes a member's own goodbye. An incarnation that left never returns.
func (r *roster) leave(incarnation uint64, now time.Time) []Event {
	if rec := r.records[incarnation]; rec != nil {
		rec.left = true
	}
	return r.settle(now)
}

// settle gives every record its state and returns what changed: first who went
// down, then who came up, each by name.
func (r *roster) settle(now time.Time) []Event {
	owners := r.owners()
	var down, up []Member
	for _, rec := range r.records {
		state := Dead
		switch {
		case rec.left:
			state = Left
		case rec.heard && owners[rec.Addr] == rec.Incarnation:
			state = Alive
		}
		if state == rec.State {
			continue
		}
		was := rec.State
		rec.State, rec.since, rec.clash = state, now, false
		if state == Alive {
			up = append(up, rec.Member)
		} else if was == Alive {
			down = append(down, rec.Member)
		}
	}
	sortMembers(down)
	sortMembers(up)
	var events []Event
	for _, m := range down {
		events = append(events, Event{MemberDown, m})
	}
	for _, m := range up {
		events = append(events, Event{MemberUp, m})
	}
	return events
}

// owners says which incarnation lives at each address: of those heard there,
// the one that started last.
func (r *roster) owners() map[string]uint64 {
	owner := map[string]uint64{r.self.Addr: r.self.Incarnation}
	for _, rec := range r.records {
		if !rec.heard || rec.left {
			continue
		}
		held, taken := owner[rec.Addr]
		if !taken || held != r.self.Incarnation && rec.younger(r.records[held]) {
			owner[rec.Addr] = rec.Incarnation
		}
	}
	return owner
}

func (a *record) younger(b *record) bool {
	if a.start != b.start {
		return a.start > b.start
	}
	return a.Incarnation > b.Incarnation
}

// sweep forgets who need not be looked for any longer: those who left, whose
// address or name has a new owner, who are lost for longer than forget, and
// the longest lost beyond maxLost.
func (r *roster) sweep(now time.Time, forget time.Duration) {
	names := map[string]*record{}
	addrs := map[string]bool{r.self.Addr: true}
	for _, rec := range r.records {
		if rec.State == Alive {
			names[rec.Name], addrs[rec.Addr] = rec, true
		}
	}
	var lost []*record
	for id, rec := range r.records {
		if rec.heard || rec.State == Alive {
			continue
		}
		heir := names[rec.Name]
		replaced := addrs[rec.Addr] || heir != nil && heir.younger(rec) || rec.Name == r.self.Name && r.start > rec.start
		age := now.Sub(rec.since)
		switch {
		case replaced, rec.State == Left && age > showLeft, rec.State == Dead && age > forget:
			delete(r.records, id)
		case rec.State == Dead:
			lost = append(lost, rec)
		}
	}
	if len(lost) > maxLost {
		slices.SortFunc(lost, func(a, b *record) int { return b.since.Compare(a.since) })
		for _, rec := range lost[maxLost:] {
			delete(r.records, rec.Incarnation)
		}
	}
}

// clashes returns, once each, the members that live at the same time as
// another, this node included, of their name.
func (r *roster) clashes(now time.Time) []Member {
	var old []*record
	count := map[string]int{r.self.Name: 1}
	for _, rec := range r.records {
		if rec.State == Alive && now.Sub(rec.since) >= settled {
			old = append(old, rec)
			count[rec.Name]++
		}
	}
	var found []Member
	for _, rec := range old {
		if count[rec.Name] > 1 && !rec.clash {
			rec.clash = true
			found = append(found, rec.Member)
		}
	}
	sortMembers(found)
	return found
}

// members returns all, self included, by name.
func (r *roster) members() []Member {
	all := []Member{r.self}
	for _, rec := range r.records {
		all = append(all, rec.Member)
	}
	sortMembers(all)
	return all
}
