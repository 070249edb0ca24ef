// A browser that is signed in to the web interface, as its requests look to the hub. test/support/browser.ts has a real one.

import { join } from "node:path";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import type { RunningHub } from "./hub.ts";
import { http, type HttpResult } from "./rpc.ts";

export interface SignedIn {
  /** The headers of every request, as a browser would send them. */
  readonly headers: Readonly<Record<"cookie" | "x-plugboard-key" | "origin" | "sec-fetch-site", string>>;
  /** The header of the answer to the sign-in. */
  readonly setCookie: string;
  readonly expiresAt: string;
}

type Hub = Pick<RunningHub, "url" | "home">;

/** One request below /api/v1, with exactly these headers. */
export function ask(
  { url }: Pick<Hub, "url">,
  route: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<HttpResult> {
  const [method = "", path = ""] = route.split(" ");
  return http(`${url}/api/v1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

export async function tokenOf({ home }: Pick<Hub, "home">): Promise<string> {
  return (await readManagementToken(join(home.dir, "data"))) ?? "";
}

/** The key of a new link. */
export async function makeKey(hub: Hub): Promise<string> {
  const answer = await ask(hub, "POST /ui/keys", { authorization: `Bearer ${await tokenOf(hub)}` });
  const { url } = JSON.parse(answer.body);
  return new URL(url).hash.replace("#k=", "");
}

/** What a page of the hub sends without being asked. */
export function pageHeaders({ url }: Pick<Hub, "url">) {
  return { origin: url, "sec-fetch-site": "same-origin", "user-agent": "Test browser" };
}

export async function signIn(hub: Hub, more: Readonly<Record<string, string>> = {}): Promise<SignedIn> {
  const key = await makeKey(hub);
  const answer = await ask(hub, "POST /ui/session", { ...pageHeaders(hub), ...more }, { key });
  if (answer.status !== 200) throw new Error(`Not signed in: ${answer.body}`);
  const { page_key, expires_at } = JSON.parse(answer.body);
  const [setCookie = ""] = answer.headers["set-cookie"] ?? [];
  const cookie = setCookie.split(";", 1)[0] ?? "";
  return {
    headers: { ...pageHeaders(hub), cookie, "x-plugboard-key": page_key },
    setCookie,
    expiresAt: expires_at,
  };
}
