package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest/scenelist"
	"github.com/untoldkit/untold/runtime/remote"
)

// scenesAt returns the addresses of the manifests that an address stands for: of
// one that ends with a slash, such as untold serve prints, those that the server
// lists there, whether untold serve runs there or a folder was exported or published with
// the page; of others itself.
func (r *remoteFlags) scenesAt(ctx context.Context, a *app, address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Path != "" && !strings.HasSuffix(u.Path, "/") {
		return []string{address}, nil // what is wrong with it is said where it is opened
	}
	u.Path, u.RawPath, u.Fragment = "/"+strings.TrimPrefix(u.Path, "/"), "", ""
	var list []string
	err = r.visit(ctx, a, func(ctx context.Context, _ string, fetch *remote.Fetcher) error {
		path, err := fetch.Local(ctx, u.JoinPath(scenelist.Name).String(), remote.Expected{})
		if err != nil && ctx.Err() == nil {
			older, e := fetch.Local(ctx, u.JoinPath(scenelist.OlderName).String(), remote.Expected{})
			if e == nil {
				path, err = older, nil
			}
		}
		if err != nil {
			return err
		}
		list, err = readSceneList(path, u)
		return err
	})
	shown := remote.Redact(address)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s is a folder, and its server lists no scenes, as untold serve does; name a manifest in it (%w)", shown, err)
	case len(list) == 0:
		return nil, fmt.Errorf("%s has no scenes; name a manifest, or serve a folder that holds one", shown)
	}
	return list, nil
}

// oneSceneAt is scenesAt for commands that take one scene.
func (r *remoteFlags) oneSceneAt(ctx context.Context, a *app, address string) (string, error) {
	list, err := r.scenesAt(ctx, a, address)
	if err != nil || len(list) == 1 {
		return strings.Join(list, ""), err
	}
	shown := make([]string, len(list))
	for i := range list {
		shown[i] = remote.Redact(list[i])
	}
	return "", fmt.Errorf("%s has %s; name one: %s", remote.Redact(address), human.Plural(len(list), "scene"), strings.Join(shown, ", "))
}

// allScenesAt replaces the addresses among arguments by those of their scenes.
func (r *remoteFlags) allScenesAt(ctx context.Context, a *app, args []string) (list []string, err error) {
	for _, arg := range args {
		found := []string{arg}
		if remote.IsURL(arg) {
			if found, err = r.scenesAt(ctx, a, arg); err != nil {
				return nil, err
			}
		}
		list = append(list, found...)
	}
	return list, nil
}

// readSceneList reads a server's list of scenes, whose paths start at a folder.
func readSceneList(path string, folder *url.URL) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, scenelist.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	scenes, err := scenelist.Parse(data)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range scenes {
		list = append(list, folder.ResolveReference(&url.URL{Path: s.Path, RawQuery: folder.RawQuery}).String())
	}
	return list, nil
}
