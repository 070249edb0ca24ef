// HTTP to one server, for the transports on top of it: redirects within the origin are followed, what breaks is told in the
// hub's words. What bodies mean is theirs.

import { Pool, type Dispatcher } from "undici";
import { HubError } from "../errors.ts";
import { broken, followRedirect, isUnreachable, type Headers } from "./http-failure.ts";

export interface Outgoing {
  readonly method: "POST" | "GET" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Ends the exchange from our side; the error is what its receiver is told. */
export type Abort = (error: HubError) => void;

export interface Receiver {
  /** It goes out; again where a redirect is followed. */
  onStart?(abort: Abort): void;
  onResponse(status: number, headers: Headers, abort: Abort): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** In place of onEnd. */
  onError(error: HubError, options: { readonly unreachable: boolean }): void;
}

const MAX_REDIRECTS = 5;

export class HttpConnection {
  readonly #pool: Pool;

  constructor(origin: string, { connectTimeoutMs }: { connectTimeoutMs: number }) {
    this.#pool = new Pool(origin, {
      connect: { timeout: connectTimeoutMs },
      // Deadlines are the request table's, which knows of progress; a stream may stay silent for hours.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  dispatch(outgoing: Outgoing, receiver: Receiver, redirects = 0): void {
    const { method, url, headers, body } = outgoing;
    let status = 0;
    let redirected: URL | undefined;
    this.#pool.dispatch(
      { method, path: url.pathname + url.search, headers, ...(body === undefined ? {} : { body }) },
      {
        onRequestStart: (controller) => receiver.onStart?.(abortBy(controller)),
        onResponseStart: (controller, code, responseHeaders) => {
          status = code;
          if (code < 300 || code > 399) return receiver.onResponse(code, responseHeaders, abortBy(controller));
          const to = followRedirect(code, responseHeaders, url);
          if (to instanceof HubError) controller.abort(to);
          else if (redirects >= MAX_REDIRECTS) controller.abort(tooManyRedirects());
          else redirected = to;
        },
        onResponseData: (_, chunk) => {
          if (redirected === undefined) receiver.onData(chunk);
        },
        onResponseEnd: () => {
          if (redirected === undefined) receiver.onEnd();
          else this.dispatch({ ...outgoing, url: redirected }, receiver, redirects + 1);
        },
        onResponseError: (_, error) => receiver.onError(broken(error, status), { unreachable: isUnreachable(error) }),
      },
    );
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

function abortBy(controller: Dispatcher.DispatchController): Abort {
  return (error) => controller.abort(error);
}

function tooManyRedirects(): HubError {
  const message = `The server redirects more than ${MAX_REDIRECTS} times`;
  return new HubError("ConnectionFailed", message, { delivery: "rejected" });
}
