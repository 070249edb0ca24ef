// The endpoint that the bridge sends to, at its current address: a hub that was restarted may listen on another port.

import { BRIDGE_HEADER } from "../protocol/revisions/headers.ts";
import {
  HttpClient,
  type Headers,
  type HttpRequest,
  type PendingRequest,
  type ResponseHandler,
} from "./http-client.ts";

export interface EndpointAddress {
  readonly url: URL;
  /** Sent with every request. */
  readonly headers: Headers;
  readonly proxy?: URL;
}

/** Looks up the current address. Throws an error for the user if there is none. */
export type Locate = () => Promise<EndpointAddress>;

export class Endpoint {
  readonly #locate: Locate;
  #address: EndpointAddress;
  #client: HttpClient;
  #isPaused = false;
  #relocating: Promise<"same" | "moved"> | undefined;

  constructor(address: EndpointAddress, locate: Locate) {
    this.#address = address;
    this.#locate = locate;
    this.#client = new HttpClient(address.url, address.proxy);
  }

  send({ method, headers, body }: HttpRequest, handler: ResponseHandler): PendingRequest {
    const all = { [BRIDGE_HEADER]: "1", ...this.#address.headers, ...headers };
    return this.#client.send({ method, headers: all, body }, handler);
  }

  /** Looks up the address again; concurrent calls share one lookup. */
  relocate(): Promise<"same" | "moved"> {
    this.#relocating ??= this.#relocate().finally(() => {
      this.#relocating = undefined;
    });
    return this.#relocating;
  }

  pause(): void {
    this.#isPaused = true;
    this.#client.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#client.resume();
  }

  close(): void {
    this.#client.close();
  }

  async #relocate(): Promise<"same" | "moved"> {
    const address = await this.#locate();
    if (address.url.href === this.#address.url.href) return "same";
    this.#address = address;
    // Requests at the old address are not aborted: they end when its connections close.
    this.#client = new HttpClient(address.url, address.proxy);
    if (this.#isPaused) this.#client.pause();
    return "moved";
  }
}
