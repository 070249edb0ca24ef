// Connects the pages of logins to the hub: what they show, and the addresses for callbacks while a login is open.

import type { IncomingMessage, ServerResponse } from "node:http";
import { HubError } from "../errors.ts";
import type { HubEvents } from "../events.ts";
import { CallbackListeners } from "../http/callback-listeners.ts";
import { Listener } from "../http/listener.ts";
import { LoginPages, type PageLogins } from "../http/pages/login-pages.ts";
import type { Logins } from "../servers/login/logins.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { PublicAddress } from "./edges.ts";

export interface HubLoginPagesOptions {
  readonly logins: Logins;
  readonly supervisor: Supervisor;
  readonly events: HubEvents;
  readonly onUnexpected: (error: unknown, requestId: string) => void;
  /** The web interface, where people sign in; undefined: it is not served. */
  readonly ui?: (() => PublicAddress) | undefined;
}

const SHOW_MS = 2000;
/** A login may end without an event, together with its server. */
const CHECK_MS = 60_000;

export class HubLoginPages {
  readonly #pages: LoginPages;
  readonly #options: HubLoginPagesOptions;
  #callbacks: CallbackListeners | undefined;
  /** Of pages that are served alone. */
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HubLoginPagesOptions) {
    this.#options = options;
    this.#pages = new LoginPages(pageLogins(options), options.onUnexpected);
    options.events.on("login", () => this.#update());
  }

  readonly edge = (request: IncomingMessage, response: ServerResponse) => this.#pages.edge(request, response);

  /** Serves the pages alone, without the rest of the hub. */
  async serve(address: { readonly host: string; readonly port: number }): Promise<string> {
    this.#listener = await Listener.open({ ...address, edges: [this.edge], fastPath: false });
    const { url } = this.#listener;
    this.listening(url);
    return url;
  }

  /** The hub listens at this address. */
  listening(url: string): void {
    const onWarning = (message: string) => void this.#options.events.emit("warning", { message });
    this.#callbacks = new CallbackListeners({ url, edge: this.#pages.callbackEdge(url), onWarning });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    // A command that has logged in ends at once, and its person still wants to see the result.
    if (this.#listener !== undefined) await this.#pages.resultsShown(SHOW_MS);
    const callbacks = this.#callbacks;
    this.#callbacks = undefined;
    await Promise.all([callbacks?.close(), this.#listener?.close()]);
  }

  #update(): void {
    clearTimeout(this.#timer);
    const uris = this.#options.logins.attempts.redirectUris;
    this.#callbacks?.update(uris);
    if (this.#callbacks !== undefined && uris.length > 0) {
      this.#timer = setTimeout(() => this.#update(), CHECK_MS);
      this.#timer.unref();
    }
  }
}

function pageLogins({ logins, supervisor, ui }: HubLoginPagesOptions): PageLogins {
  return {
    offer: async (server) => {
      const { config } = supervisor.get(server);
      const { authorizationServer, scopes, redirectUri } = await logins.preview(config);
      const view = logins.view(config);
      const account = view?.state === "connected" ? (view.account ?? "") : undefined;
      return { server: config.name, authorizationServer, scopes, redirectUri, account };
    },
    begin: async (server, browser) => {
      const { id, flow } = await logins.begin(supervisor.get(server).config, { browser });
      return { id, url: flow.flow === "browser" ? flow.request.url : flow.device.verificationUri };
    },
    findByState: (state) => logins.attempts.findByState(state),
    elsewhere: (server, link) => {
      const place = ui?.();
      if (link === undefined && place?.isPublic !== true) return undefined;
      if (place === undefined) throw new HubError("Forbidden", "This link is for another person");
      if (link === undefined && place.adminUrl !== undefined) {
        throw new HubError("Forbidden", `The login at ${server} belongs to everyone: an administrator makes it`, {
          hint: `On the computer of the hub: plugboard auth ${server}, or ${place.adminUrl}/ui/access`,
        });
      }
      const query = new URLSearchParams({ server, ...(link === undefined ? {} : { for: link }) });
      return link === undefined ? `${place.url}/ui/access` : `${place.url}/ui/connections?${query.toString()}`;
    },
    callback: async (url) => (await logins.attempts.callback(url))?.id,
    result: (id) => {
      const { login, progress } = logins.attempts.find(id);
      const server = login.config.name;
      if (progress.state !== "completed") return { server, ...progress };
      const { account, renewable = false } = logins.view(login.config) ?? {};
      return { server, state: "completed", account, isRenewable: renewable };
    },
  };
}
