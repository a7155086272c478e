package gossip

// version names one version of a record.
type version struct {
	key             RecordKey
	version, writer uint64
}

func versionOf(r *Record) version { return version{r.Key(), r.Version, r.Writer} }

// put is this node's word on a record, which the oracle keeps.
func (n *node) put(r Record) bool {
	n.w.t.Helper()
	old, known := n.Record(r.Key())
	ok := n.Put(n.time(), r)
	if ok {
		got, there := n.Record(r.Key())
		if !there || got.Writer != n.id || known && !got.newerThan(&old) {
			n.w.t.Fatalf("%s put %+v and has %+v, %v", n.name, r, got, there)
		}
		n.knows[r.Key()] = got
		got.Until, got.life = got.Until-n.clock, got.life-n.clock
		if got.Per == 0 {
			got.Start -= n.clock
		}
		n.w.puts[versionOf(&got)] = got
	}
	n.record(nil)
	n.collect()
	return ok
}

// auditNews holds a record of a peer against what its writer put, and against what this
// node had: it is newer, the same but for its times, and those are no earlier.
func (n *node) auditNews(news RecordNews) {
	n.w.t.Helper()
	fail := func(why string) {
		n.w.t.Helper()
		n.w.t.Fatalf("%s: news %+v %s", n.name, news, why)
	}
	r := news.New
	truth, put := n.w.puts[versionOf(&r)]
	if !put {
		fail("that nobody put")
	}
	r.Until -= n.clock
	late := r.Until - truth.Until
	if r.Per == 0 {
		if r.Start -= n.clock; r.Start-truth.Start != late {
			fail("whose times moved apart")
		}
		r.Start = truth.Start
	}
	if r.life -= n.clock; r.life < truth.life {
		fail("that will be forgotten too early")
	}
	if r.Until, r.life = truth.Until, truth.life; late < 0 || r != truth {
		fail("other than it was put")
	}
	had, known := n.knows[r.Key()]
	if known && had.life+n.cfg.PartitionMemory > n.time() && !news.Known {
		fail("taken for unknown")
	}
	had.life = news.Old.life // which may have become longer meanwhile
	if news.Known && (news.Old != had || !news.New.newerThan(&news.Old)) {
		fail("that is older or of another")
	}
	n.knows[r.Key()] = news.New
}
