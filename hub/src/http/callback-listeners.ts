// Further addresses for callbacks of logins, open only while a login waits for one: browsers look for `localhost` at [::1] first,
// and an authorization server may know the hub under another port.

import { HubError, toHubError } from "../errors.ts";
import { Listener, type Edge } from "./listener.ts";

export interface CallbackListenersOptions {
  /** The hub's own address. */
  readonly url: string;
  /** Answers callbacks and nothing else. */
  readonly edge: Edge;
  /** An address at which a browser would look first cannot be opened. */
  readonly onWarning: (message: string) => void;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

interface Address {
  readonly host: string;
  readonly port: number;
}

export class CallbackListeners {
  readonly #options: CallbackListenersOptions;
  readonly #own: Address;
  /** By host and port. Undefined: it could not be opened. */
  readonly #open = new Map<string, Promise<Listener | undefined>>();
  #closing: Promise<unknown> = Promise.resolve();

  constructor(options: CallbackListenersOptions) {
    this.#options = options;
    const { hostname, port } = new URL(options.url);
    this.#own = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) };
  }

  /** Listens on the addresses of these redirect URIs only. */
  update(redirectUris: readonly string[]): void {
    const wanted = new Map(redirectUris.flatMap(addressesOf).map((address) => [keyOf(address), address]));
    wanted.delete(keyOf(this.#own));
    for (const [key, opening] of this.#open) {
      if (wanted.has(key)) continue;
      this.#open.delete(key);
      this.#closing = Promise.all([this.#closing, opening.then((listener) => listener?.close())]);
    }
    for (const [key, address] of wanted) {
      if (!this.#open.has(key)) this.#open.set(key, this.#listen(address));
    }
  }

  async close(): Promise<void> {
    this.update([]);
    await this.#closing;
  }

  async #listen({ host, port }: Address): Promise<Listener | undefined> {
    const { edge, onWarning } = this.#options;
    try {
      // An address that is being closed may be needed again.
      await this.#closing;
      return await Listener.open({ host, port, edges: [edge], fastPath: false });
    } catch (thrown) {
      const error = toHubError(thrown);
      // Without IPv6, browsers use 127.0.0.1.
      if (isInUse(error)) onWarning(`${error.message}, so that a browser may not come back from a login`);
      return undefined;
    }
  }
}

function isInUse({ kind }: HubError): boolean {
  return kind === "PortInUse";
}

function addressesOf(redirectUri: string): Address[] {
  const { protocol, hostname, port } = new URL(redirectUri);
  const hosts = hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname];
  // The public address of a hub has a listener already.
  if (protocol !== "http:" || !LOOPBACK.test(hostname)) return [];
  return hosts.map((host) => ({ host, port: Number(port) }));
}

function keyOf({ host, port }: Address): string {
  return `${host} ${port}`;
}
