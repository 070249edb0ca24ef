// The paths of the MCP endpoints.

/** Both forms of paths: with the group as suffix or prefix. */
const GROUP_SUFFIX = /^\/(mcp|sse|messages)(?:\/([^/?]+))?\/?(?:\?(.*))?$/;
const GROUP_PREFIX = /^\/groups\/([^/?]+)\/(mcp|sse|messages)\/?(?:\?(.*))?$/;
const ADMIN = /^\/mcp\/(?:@|%40)admin\/?(?:\?.*)?$/;

export interface Target {
  /** `mcp`, `sse` or `messages`. */
  readonly route: string;
  /** Not yet decoded. */
  readonly group: string | undefined;
  readonly query: string | undefined;
  /** The path for messages of HTTP+SSE. */
  readonly messages: string;
}

export function targetOf(url: string): Target | undefined {
  const [, route, group, query] = GROUP_SUFFIX.exec(url) ?? [];
  if (route !== undefined)
    return { route, group, query, messages: group === undefined ? "/messages" : `/messages/${group}` };
  const [, prefix, prefixedRoute, prefixedQuery] = GROUP_PREFIX.exec(url) ?? [];
  if (prefixedRoute === undefined) return undefined;
  return { route: prefixedRoute, group: prefix, query: prefixedQuery, messages: `/groups/${prefix}/messages` };
}

export function isAdminPath(url: string): boolean {
  return ADMIN.test(url);
}
