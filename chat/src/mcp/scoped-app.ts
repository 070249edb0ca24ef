// The app as the client with an access token of the hub sees it.

import { ScopedSources, type TokenScope } from "../access/token-scope.ts";
import type { VisibleWithin } from "../access/visibility.ts";
import type { App } from "../app.ts";

export function scopedApp(app: App, scope: TokenScope): App {
  const sources = new ScopedSources(app.sources, scope);
  const { sources: given } = scope;
  if (given === undefined) return { ...app, sources, reader: app.reader.within(sources, (policy) => policy) };
  const within: VisibleWithin = new Map(Object.entries(given).map(([source, { chats }]) => [source, chats]));
  const reader = app.reader.within(sources, (policy) => ({
    ...policy,
    visibility: policy.visibility.within(within),
    shownRules: JSON.stringify([policy.shownRules, given]),
  }));
  return { ...app, sources, reader };
}
