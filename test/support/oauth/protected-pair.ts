// What most OAuth tests begin with: a protected server, its authorization server, and a hub that knows the server by a name.

import { afterAll, afterEach, beforeAll } from "vitest";
import type { StartOptions } from "../hub.ts";
import {
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from "./authorization-server.ts";
import type { Front } from "./front.ts";
import { OAuthHub } from "./oauth-hub.ts";
import { ProtectedServer, type ProtectedSettings } from "./protected-server.ts";

export interface Protected {
  readonly name: string;
  readonly server: ProtectedServer;
  readonly issuer: AuthorizationServer;
}

export interface ProtectOptions extends AuthorizationServerOptions {
  readonly settings?: Partial<ProtectedSettings>;
  /** More of the server's entry: `auth`. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

export interface OAuthTests {
  readonly hub: () => OAuthHub;
  /** Starts a protected server with an authorization server of its own, and adds it to the hub. */
  readonly protect: (options?: ProtectOptions) => Promise<Protected>;
  /** The same, logged in. */
  readonly protectLoggedIn: (options?: ProtectOptions) => Promise<Protected>;
  /** Closes something at the end of the test. Its front is searched for credentials. */
  readonly closeLater: (what: { close(): Promise<void>; readonly front?: Front }) => void;
}

/** One hub for the tests of a file. After each test it must be alive and must not have told a credential to anyone. */
export function useOAuth(options: StartOptions = {}): OAuthTests {
  let hub: OAuthHub | undefined;
  let names: string[] = [];
  let open: Parameters<OAuthTests["closeLater"]>[0][] = [];
  let count = 0;

  beforeAll(async () => {
    hub = await OAuthHub.open(options);
  });

  afterEach(async () => {
    const fronts = open.flatMap(({ front }) => front ?? []);
    try {
      await hub?.check(...fronts);
    } finally {
      for (const name of names) await hub?.remove(name);
      for (const each of open) await each.close();
      [names, open] = [[], []];
    }
  });

  afterAll(() => hub?.close());

  const hubNow = () => {
    if (hub === undefined) throw new Error("The hub has not been started");
    return hub;
  };
  const protect = async ({ settings, entry, ...given }: ProtectOptions = {}) => {
    const issuer = await startAuthorizationServer(given);
    const server = await ProtectedServer.open([issuer.issuer], settings);
    issuer.settings.resources.set(server.url, server.allScopes);
    open.push(server, issuer);
    const name = `s${++count}`;
    names.push(name);
    await hubNow().add(name, { url: server.url, ...entry });
    return { name, server, issuer };
  };
  return {
    hub: hubNow,
    protect,
    protectLoggedIn: async (given) => {
      const made = await protect(given);
      const { state, error } = await hubNow().logIn(made.name, made.issuer);
      if (state === "failed") throw new Error(`The login failed: ${JSON.stringify(error)}`);
      await hubNow().untilState(made.name, "running");
      return made;
    },
    closeLater: (what) => open.push(what),
  };
}
