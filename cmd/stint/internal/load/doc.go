// Package load drives rate limiters open loop and judges what they admitted.
//
// A [Plan] says which take goes where and when, and [Plan.Drive] calls it out on time
// whether or not earlier takes have been answered: a slow limiter is asked no less for
// being slow. [Run] does so over HTTP against daemons; stint demo does so in process.
//
// Every take leaves a [Take]. From these records alone [Analyse] finds what one central
// counter would have admitted on the same arrivals, by how much the admissions exceeded
// a bucket over any interval, and whether that was more than nodes which did not hear
// of each other at once can be forgiven.
package load
