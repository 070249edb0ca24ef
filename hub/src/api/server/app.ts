// The management API as an edge of the listener: checks the credentials before anything else, and loads the
// routes and the web framework on the first request. Most hubs never get one, and they take a tenth of its memory.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { Grant } from "../../auth/grant.ts";
import type { SsoSignIns } from "../../auth/sso/sign-ins.ts";
import { BACK_CHANNEL_PATH, SIGN_IN_CALLBACK_PATH } from "../../http/pages/linked-pages.ts";
import { HubError } from "../../errors.ts";
import { identify } from "../../http/request-id.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { BASE_PATH } from "./base-path.ts";
import type { BrowserAccess, BrowserAccessOptions } from "./browser/access.ts";
import { hasSession, isBeforeSignIn, requireOwnPage } from "./browser/own-page.ts";
import type { Managed } from "./core.ts";
import { collect } from "./live/collect.ts";
import { EventLog } from "./live/event-log.ts";
import { EventStreams } from "./live/event-streams.ts";
import type { Listener } from "./rest.ts";
import { addressOf } from "../../http/client-address.ts";

export interface ApiOptions extends Managed {
  readonly authenticator: Authenticator;
  /** Access for browsers. Undefined: the hub serves no web interface. */
  readonly ui?: Omit<BrowserAccessOptions, "token" | "isLimited"> | undefined;
  /** Serves MCP at `servers/{id}/mcp` and `groups/{name}/mcp`. Throws if there is no such server or group. */
  readonly mcp?:
    | ((target: McpTarget, request: IncomingMessage, response: ServerResponse, grant: Grant) => void)
    | undefined;
  /** Gets unexpected errors for the log: the answer shows no details. */
  readonly onUnexpected?: (error: unknown, requestId: string) => void;
}

export interface McpTarget {
  readonly kind: "servers" | "groups";
  /** Not yet decoded. */
  readonly name: string;
}

type Edge = (request: IncomingMessage, response: ServerResponse) => boolean;

/** An edge of the listener. */
export interface Api extends Edge {
  /**
   * What people need who cannot reach the whole API: their sign-in, and what the role user may do, by a browser. Undefined: there is
   * no identity provider by which they could sign in.
   */
  readonly accounts: Edge | undefined;
  /** Number of open event streams. */
  eventClients(): number;
  /** Ends all event streams. Call it before the listener closes. */
  close(): void;
  /** A key that signs one browser in; undefined without the web interface. */
  makeUiKey(): Promise<string | undefined>;
  /** Resolves when the sessions of browsers are on disk. */
  saved(): Promise<void>;
}

type UnexpectedHandler = NonNullable<ApiOptions["onUnexpected"]>;

export function createApi(options: ApiOptions): Api {
  const { hub, authenticator, ui, mcp, onUnexpected = () => undefined } = options;
  const log = new EventLog();
  const streams = new EventStreams(log);
  collect(hub, log);
  const limited = new WeakSet<IncomingMessage>();
  const isLimited = (request: IncomingMessage) => limited.has(request);
  const browser =
    ui === undefined ? undefined : new LazyBrowserAccess({ ...ui, isLimited, token: authenticator.management });
  const grants = new WeakMap<ServerResponse, Grant>();
  const answer = lazyListener(options, { streams, lazyBrowser: browser, grants }, onUnexpected);

  const serve = (request: IncomingMessage, response: ServerResponse, requestId: string): void => {
    answer(request, response).catch((error: unknown) => {
      onUnexpected(error, requestId);
      sendProblem(response, error, requestId);
    });
  };

  /** The addresses that identity providers use. */
  const servePage = async (request: IncomingMessage, response: ServerResponse, sso: SsoSignIns): Promise<void> => {
    const requestId = identify(request, response);
    const [{ answerSignInPage }, access] = await Promise.all([import("./browser/sign-in-pages.ts"), browser?.load()]);
    if (access === undefined) return;
    const report = (error: unknown) => onUnexpected(error, requestId);
    await answerSignInPage(request, response, { browser: access, sso, onUnexpected: report });
  };

  const edge = (request: IncomingMessage, response: ServerResponse): boolean => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (ui?.sso !== undefined && isSignInPage(path)) {
      servePage(request, response, ui.sso).catch(() => response.destroy());
      return true;
    }
    if (path !== "/api" && !path.startsWith("/api/")) return false;
    const requestId = identify(request, response);
    response.setHeader("cache-control", "no-store");
    response.setHeader("x-content-type-options", "nosniff");
    admit(request, response, path)
      .then((grant) => {
        if (grant === undefined) return serve(request, response, requestId);
        grants.set(response, grant);
        const target = mcp === undefined ? undefined : mcpTargetOf(path);
        if (target === undefined) return serve(request, response, requestId);
        // A server shows all its tools, whatever the groups say.
        if (target.kind === "servers")
          authenticator.requireRole(grant, { role: "admin", changes: false }, addressOf(request));
        mcp?.(target, request, response, grant);
      })
      .catch((error: unknown) => sendProblem(response, error, requestId));
    return true;
  };

  /** Who makes the request; undefined: someone who wants to sign in. */
  const admit = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<Grant | undefined> => {
    if (browser !== undefined && isBeforeSignIn(request, path)) {
      requireOwnPage(request);
      return undefined;
    }
    if (browser !== undefined && hasSession(request)) return browser.admit(request, response);
    if (isLimited(request)) {
      throw new HubError("Unauthenticated", "This browser is not signed in", { hint: "Sign in to the web interface" });
    }
    const grant = await authenticator.authenticate(request, addressOf(request));
    release(grant, response);
    return grant;
  };
  const accounts = (request: IncomingMessage, response: ServerResponse): boolean => {
    // Of a program: at this address there is no API for programs.
    if (request.headers.authorization !== undefined) return false;
    limited.add(request);
    return edge(request, response);
  };
  return Object.assign(edge, {
    accounts: ui?.sso === undefined ? undefined : accounts,
    eventClients: () => streams.count,
    close: () => streams.close(),
    makeUiKey: async () => (await browser?.load())?.makeKey().key,
    saved: async () => browser?.saved(),
  });
}

const MCP_PATH = new RegExp(`^${BASE_PATH}/(servers|groups)/([^/]+)/mcp$`);

function isSignInPage(path: string): boolean {
  return path === SIGN_IN_CALLBACK_PATH || path.startsWith(BACK_CHANNEL_PATH);
}

function mcpTargetOf(path: string): McpTarget | undefined {
  const [, kind, name] = MCP_PATH.exec(path) ?? [];
  return (kind === "servers" || kind === "groups") && name !== undefined ? { kind, name } : undefined;
}

/** Loads the access of browsers on their first request. */
class LazyBrowserAccess {
  readonly #options: BrowserAccessOptions;
  #loaded: Promise<BrowserAccess> | undefined;

  constructor(options: BrowserAccessOptions) {
    this.#options = options;
  }

  load(): Promise<BrowserAccess> {
    return (this.#loaded ??= import("./browser/access.ts").then((module) => new module.BrowserAccess(this.#options)));
  }

  async admit(request: IncomingMessage, response: ServerResponse): Promise<Grant> {
    return (await this.load()).admit(request, response);
  }

  async saved(): Promise<void> {
    await (await this.#loaded)?.saved();
  }
}

/** An answer that is still open when the access of its requester ends is cut off. */
function release(grant: Grant, response: ServerResponse): void {
  const forget = grant.onceEnded(() => response.destroy());
  response.once("close", forget);
}

interface LazyParts {
  readonly streams: EventStreams;
  readonly lazyBrowser: LazyBrowserAccess | undefined;
  readonly grants: WeakMap<ServerResponse, Grant>;
}

/** Loads the web application on the first request; if that fails, the next request tries again. */
function lazyListener(
  managed: ApiOptions,
  { streams, lazyBrowser, grants }: LazyParts,
  onUnexpected: UnexpectedHandler,
): Listener {
  const load = async (): Promise<Listener> => {
    const [{ createRest }, { createRoutes }, browser] = await Promise.all([
      import("./rest.ts"),
      import("./route-table.ts"),
      lazyBrowser?.load(),
    ]);
    const revision = () => managed.hub.configuration.revision;
    const sessionOf = (response: ServerResponse) => browser?.sessionOf(response);
    const routes = createRoutes(managed, streams, browser);
    const { authenticator } = managed;
    return createRest({
      audit: managed.hub.audit,
      requireRole: (...given) => authenticator.requireRole(...given),
      routes,
      revision,
      onUnexpected,
      sessionOf,
      grantOf: (response) => grants.get(response),
    });
  };
  let loading: Promise<Listener> | undefined;
  return async (request, response) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const listener = await loading;
    await listener(request, response);
  };
}
