/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"errors"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// NodeIP is the Node's address, and that of Pods on the host's network. Like the Pods' addresses it leads nowhere.
const NodeIP = "10.244.0.1"

// podRange is the range of the addresses of Pods: 65,533 at a time.
var podRange = netip.MustParsePrefix("10.244.0.0/16")

var errNoAddress = errors.New("all Pod addresses are in use")

// Addresses hands out Pod addresses, each to one Pod at a time. It goes round through the range, so that an address is
// not given away again right after its Pod is deleted: a client that still has the old one would reach the wrong Pod.
type Addresses struct {
	mu     sync.Mutex
	owner  map[netip.Addr]types.UID
	of     map[types.UID]netip.Addr
	newest netip.Addr
}

// NewAddresses returns the whole range, all of it free.
func NewAddresses() *Addresses {
	return &Addresses{
		owner:  map[netip.Addr]types.UID{},
		of:     map[types.UID]netip.Addr{},
		newest: netip.MustParseAddr(NodeIP),
	}
}

// Take returns the address of a Pod, a new one if it has none.
func (a *Addresses) Take(pod types.UID) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.of[pod]; ok {
		return address, nil
	}
	first := netip.MustParseAddr(NodeIP).Next()
	candidate := a.newest
	for range 1 << 16 {
		candidate = candidate.Next()
		// The last address of the range is its broadcast address.
		if !podRange.Contains(candidate.Next()) {
			candidate = first
		}
		if _, used := a.owner[candidate]; !used {
			a.newest = candidate
			a.set(pod, candidate)
			return candidate, nil
		}
	}
	return netip.Addr{}, errNoAddress
}

// keep notes that a Pod has an address already, as it does after a restart.
func (a *Addresses) keep(pod types.UID, text string) {
	address, err := netip.ParseAddr(text)
	if err != nil || !podRange.Contains(address) || text == NodeIP {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, used := a.owner[address]; !used {
		a.set(pod, address)
	}
}

// free gives a Pod's address back.
func (a *Addresses) free(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.of[pod]; ok {
		delete(a.of, pod)
		delete(a.owner, address)
	}
}

func (a *Addresses) set(pod types.UID, address netip.Addr) {
	a.of[pod] = address
	a.owner[address] = pod
}
