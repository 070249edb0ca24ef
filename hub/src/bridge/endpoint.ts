// The endpoint that messages are carried to, wherever it is just now: a hub that was started again may listen elsewhere.

import type { Outgoing, Receiver } from "../wire/http-connection.ts";
import { Sockets } from "./sockets.ts";

export interface Place {
  readonly url: URL;
  /** Sent with everything. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where the endpoint is. Throws, in words for its user, where it is nowhere. */
export type Locate = () => Promise<Place>;

export class Endpoint {
  readonly #locate: Locate;
  #place: Place;
  #sockets: Sockets;
  #paused = false;
  #looking: Promise<"same" | "moved"> | undefined;

  constructor(place: Place, locate: Locate) {
    this.#place = place;
    this.#locate = locate;
    this.#sockets = new Sockets(place.url);
  }

  dispatch({ method, headers, body }: Omit<Outgoing, "url">, receiver: Receiver): void {
    const { url, headers: own } = this.#place;
    this.#sockets.dispatch(
      { method, url, headers: { ...own, ...headers }, ...(body === undefined ? {} : { body }) },
      receiver,
    );
  }

  /** Looks for it again, once at a time. */
  find(): Promise<"same" | "moved"> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  pause(): void {
    this.#paused = true;
    this.#sockets.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#sockets.resume();
  }

  close(): void {
    this.#sockets.close();
  }

  async #look(): Promise<"same" | "moved"> {
    const place = await this.#locate();
    if (place.url.href === this.#place.url.href) return "same";
    const sockets = new Sockets(place.url);
    if (this.#paused) sockets.pause();
    this.#place = place;
    // What is still open at the old place ends by itself, and is told so.
    this.#sockets = sockets;
    return "moved";
  }
}
