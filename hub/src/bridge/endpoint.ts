// The endpoint that messages are carried to, wherever it is just now: a hub that was started again may listen elsewhere.

import { toFields } from "./fields.ts";
import type { Receiver } from "./kept-socket.ts";
import { Sockets, type Request, type Sent } from "./sockets.ts";

export interface Place {
  readonly url: URL;
  /** Sent with everything. */
  readonly headers: Readonly<Record<string, string>>;
  /** What it is reached through, if not directly. */
  readonly proxy?: URL;
}

/** Where the endpoint is. Throws, in words for its user, where it is nowhere. */
export type Locate = () => Promise<Place>;

export class Endpoint {
  readonly #locate: Locate;
  #place: Place;
  #fields: string;
  #sockets: Sockets;
  #paused = false;
  #looking: Promise<"same" | "moved"> | undefined;

  constructor(place: Place, locate: Locate) {
    this.#place = place;
    this.#locate = locate;
    this.#fields = toFields(place.headers);
    this.#sockets = new Sockets(place.url, place.proxy);
  }

  dispatch({ method, fields, body }: Request, receiver: Receiver): Sent {
    return this.#sockets.dispatch({ method, fields: this.#fields + fields, body }, receiver);
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
    const sockets = new Sockets(place.url, place.proxy);
    if (this.#paused) sockets.pause();
    this.#place = place;
    this.#fields = toFields(place.headers);
    // What is still open at the old place ends by itself, and is told so.
    this.#sockets = sockets;
    return "moved";
  }
}
