// `plugboard stdio` as a bridge to a hub that runs, or to any other endpoint. Loads as little as it can: a client may launch
// many of these.

import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Bridge } from "../bridge/bridge.ts";
import { Endpoint } from "../bridge/endpoint.ts";
import { HubError, type ErrorKind } from "../errors.ts";
import { errorIn } from "../wire/http-failure.ts";
import { LogLines, type LogLevel } from "../log-lines.ts";
import { isObject } from "../wire/json.ts";
import type { Io } from "./io.ts";
import { DRAIN_MS } from "./stdio.ts";
import type { Target } from "./stdio-target.ts";

interface BridgeSettings {
  readonly target: Target;
  readonly output: Writable;
  readonly level: LogLevel;
}

const INTERRUPTED = 130;

export async function serveBridge(io: Io, { target, output, level }: BridgeSettings): Promise<number> {
  const endpoint = new Endpoint(target.place, () => target.locate());
  const lines = new LogLines(io.stderr, level);
  const log = (severity: LogLevel, message: string) => lines.say(severity, message);
  if (target.kind === "hub") await requireGroup(endpoint);
  const { url, proxy } = target.place;
  const through = proxy === undefined ? "" : ` through the proxy ${proxy.host}`;
  log("info", `messages are carried to ${url.origin}${url.pathname}${through}`);
  const bridge = new Bridge({ input: io.stdin, output, endpoint, isHub: target.kind === "hub", log });
  io.onSignal(() => void bridge.close().then(() => io.exit(INTERRUPTED)));
  const clientGone = new Promise<void>((resolve) => output.once("error", () => resolve()));
  const tooLong = once(io.stdin, "end").then(() => sleep(DRAIN_MS, undefined, { ref: false }));
  await Promise.race([bridge.ended, clientGone, tooLong]);
  await bridge.close();
  // The last answers are on their way through the pipe.
  await new Promise<void>((resolve) => output.end(resolve));
  return 0;
}

/** A group that does not exist ends it here, with its name: no client could do anything about it. */
function requireGroup(endpoint: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    endpoint.dispatch(
      { method: "GET", fields: "accept: text/event-stream\r\n" },
      {
        onHead: (code) => {
          status = code;
        },
        onBody: (chunk) => void chunks.push(chunk),
        onEnd: () => {
          const missing = status === 404 ? missingGroup(Buffer.concat(chunks)) : undefined;
          if (missing === undefined) resolve();
          else reject(missing);
        },
        // Not there just now: each request will say so, until it is.
        onError: () => resolve(),
      },
    );
  });
}

function missingGroup(body: Buffer): HubError | undefined {
  const data = errorIn(body)?.data;
  const kind: ErrorKind = "GroupNotFound";
  if (!isObject(data) || data["kind"] !== kind || typeof data["message"] !== "string") return undefined;
  const { detail, hint } = data;
  return new HubError(kind, data["message"], {
    ...(typeof detail === "string" ? { detail } : {}),
    ...(typeof hint === "string" ? { hint } : {}),
  });
}
