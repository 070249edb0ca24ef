// fetch for addresses that came out of someone else's document. Such an address may not point inside the network, or a server could
// make the hub send requests to other machines (SSRF). A host is looked up once, its addresses are checked, and the connection
// goes to one of those: a name that resolves to something else a moment later changes nothing. Without proxies, which would look
// it up again.

import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { HubError, type Delivery } from "../../errors.ts";
import { allowedAddresses, unreachable, type AddressRules } from "./allowed-addresses.ts";
import { readBody } from "./read-body.ts";
import { toHttpUrl } from "./safe-url.ts";
import type { GuardedFetch, GuardedRequest } from "../types.ts";

export interface GuardedFetchOptions {
  /** The address that the operator typed: addresses of its class (loopback, private) may be used. */
  readonly server: URL;
  /** Private addresses may be used in any case. */
  readonly allowPrivate?: boolean;
  /** Replaces the system's DNS lookup. */
  readonly lookup?: LookupFunction | undefined;
  /** How many redirects are followed. */
  readonly maxRedirects?: number;
  /** Of an answer's body. */
  readonly maxBytes?: number;
}

const TIMEOUT_MS = 5000;
const MAX_REDIRECTS = 3;
const MAX_BODY_BYTES = 64 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** A Response of these must not have a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const {
    server,
    allowPrivate,
    lookup = systemLookup,
    maxRedirects = MAX_REDIRECTS,
    maxBytes = MAX_BODY_BYTES,
  } = options;
  const rules: AddressRules = { server: toHttpUrl(server), allowPrivate: allowPrivate === true, lookup };
  return async (address, init = {}) => {
    const timeout = AbortSignal.timeout(init.timeoutMs ?? TIMEOUT_MS);
    const signal = init.signal === undefined ? timeout : AbortSignal.any([timeout, init.signal]);
    let url = parse(address);
    try {
      for (let redirects = 0; ; redirects++) {
        const addresses = await unlessAborted(allowedAddresses(url, rules), signal);
        const answer = await send(url, init, addresses, signal, maxBytes);
        if (answer instanceof Response) return answer;
        if (redirects >= maxRedirects) throw refusedRedirect(url, `more than ${maxRedirects} redirects`);
        url = redirectTarget(url, answer.location);
      }
    } catch (thrown) {
      if (timeout.aborted || isTimeout(init.signal)) throw timedOut(url, thrown);
      if (init.signal?.aborted === true) throw new HubError("Cancelled", "Cancelled by the caller");
      throw thrown;
    }
  };
}

function parse(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new HubError("UnsafeAddress", "Only http:// and https:// addresses can be requested");
  }
  if (url.username !== "" || url.password !== "") {
    throw new HubError("UnsafeAddress", `The address of ${url.host} contains credentials`);
  }
  return url;
}

/** The whole answer, or the target of a redirect that may be followed. */
async function send(
  url: URL,
  { method = "GET", headers = {}, body }: GuardedRequest,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
  maxBytes: number,
): Promise<Response | { readonly location: string }> {
  const message = await exchange(url, { method, headers, body: body?.toString() }, addresses, signal);
  const status = message.statusCode ?? 0;
  const { location } = message.headers;
  if (status < 200 || status > 599) {
    message.destroy();
    throw new HubError("ProtocolError", `${url.origin} answered with HTTP status ${status}`);
  }
  if (method === "GET" && REDIRECTS.has(status) && location !== undefined) {
    message.destroy();
    return { location };
  }
  const content = await readBody(message, maxBytes).catch((error: unknown) => {
    throw error instanceof HubError ? error : unreachable(url, error, "unknown");
  });
  const pairs = Object.entries(message.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(WITHOUT_BODY.has(status) ? null : content, { status, headers: pairs });
}

interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Resolves with the head of the answer. */
async function exchange(
  url: URL,
  { method, headers, body }: Outgoing,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    let delivery: Delivery = "unsent";
    const outgoing = request(url, {
      method,
      headers: { "user-agent": "plugboard", ...headers, "accept-encoding": "identity" },
      // A separate connection, closed after the answer.
      agent: false,
      lookup: fixedLookup(addresses),
      signal,
    });
    outgoing.on("socket", (socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
        delivery = "unknown";
      });
    });
    outgoing.on("response", resolve);
    outgoing.on("error", (error) => reject(unreachable(url, error, delivery)));
    outgoing.end(body);
  });
}

/** Answers with the addresses that were checked. */
function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true || first === undefined) process.nextTick(callback, null, [...addresses]);
    else process.nextTick(callback, null, first.address, first.family);
  };
}

function redirectTarget(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to?.origin === from.origin && to.username === "" && to.password === "") return to;
  throw refusedRedirect(from, to === undefined ? "to no address" : `to ${to.origin}`);
}

/** The lookup itself cannot be aborted. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new HubError("Timeout", "The lookup took too long", { delivery: "unsent" }));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function refusedRedirect(url: URL, what: string): HubError {
  return new HubError("ConnectionFailed", `${url.origin} redirects, which is not followed`, {
    detail: what,
    delivery: "rejected",
  });
}

/** Whether a signal of the caller is one of AbortSignal.timeout, and its time is over. */
function isTimeout(signal: AbortSignal | undefined): boolean {
  const reason: unknown = signal?.reason;
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

function timedOut(url: URL, thrown: unknown): HubError {
  const delivery = thrown instanceof HubError ? (thrown.delivery ?? "unknown") : "unknown";
  return new HubError("Timeout", `${url.origin} did not answer in time`, { delivery });
}
