/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

// ImportLine is the import of the package of the Go type.
func (b builtIn) ImportLine() string { return b.Import + " " + b.Alias }

// BindsImport is the import of the type that the kind refers to.
func (m *model) BindsImport() string {
	if m.Binds == nil {
		return ""
	}
	return m.Binds.ImportLine()
}

// BindsInformer is the import of the injected informer of what the kind refers to.
func (m *model) BindsInformer() string { return m.ofReference("informers/", " refinformer") }

// BindsFake is the import of the fake of that informer.
func (m *model) BindsFake() string { return m.ofReference("informers/", "/fake _") }

func (m *model) ofReference(folder, suffix string) string {
	switch {
	case m.Binds == nil:
		return ""
	case m.Binds.OwnGroup:
		return m.own("pkg/client/injection/" + folder + m.Binds.Folder + "/" + m.Binds.Lower() + suffix)
	default:
		return "knative.dev/pkg/client/injection/kube/" + folder + m.Binds.Folder + "/" + m.Binds.Lower() + suffix
	}
}

// BindsLister is the import of the lister of what the kind refers to. In the package of the kind's own lister, both have one import.
func (m *model) BindsLister() string {
	switch {
	case m.Binds == nil:
		return ""
	case m.Binds.OwnGroup:
		return m.own("pkg/client/listers/" + m.Binds.Folder + " " + m.Reflisters())
	default:
		return "k8s.io/client-go/listers/" + m.Binds.Folder + " " + m.Reflisters()
	}
}

// Reflisters is the name of that package.
func (m *model) Reflisters() string {
	if m.Binds.OwnGroup && m.Binds.Version == m.Version {
		return "listers"
	}
	return "reflisters"
}
