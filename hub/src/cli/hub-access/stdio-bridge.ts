// `plugboard stdio` as a bridge to the running hub or another endpoint. Imports as little as possible: a client may launch many
// of these.

import { once } from "node:events";
import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Bridge } from "../../bridge/bridge.ts";
import { Endpoint } from "../../bridge/endpoint.ts";
import { HubError, type ErrorKind } from "../../errors.ts";
import { errorIn } from "../../protocol/connect/http-failure.ts";
import { LogLines, type LogLevel } from "../../log/log-lines.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Io } from "../io.ts";
import { DRAIN_MS } from "../commands/stdio.ts";
import type { Target } from "./stdio-target.ts";

interface BridgeSettings {
  readonly target: Target;
  readonly output: Writable;
  readonly level: LogLevel;
}

const INTERRUPTED = 130;

export async function serveBridge(io: Io, { target, output, level }: BridgeSettings): Promise<number> {
  const endpoint = new Endpoint(target.address, () => target.locate());
  const lines = new LogLines(io.stderr, level);
  const log = (severity: LogLevel, message: string) => lines.say(severity, message);
  if (target.kind === "hub") await requireGroup(endpoint);
  const { url, proxy } = target.address;
  const through = proxy === undefined ? "" : ` through the proxy ${proxy.host}`;
  log("info", `forwarding messages to ${url.origin}${url.pathname}${through}`);
  const bridge = new Bridge({ input: io.stdin, output, endpoint, isHub: target.kind === "hub", log });
  io.onSignal(() => void bridge.close().then(() => io.exit(INTERRUPTED)));
  const clientDisconnected = new Promise<void>((resolve) => output.once("error", () => resolve()));
  const tooLong = once(io.stdin, "end").then(() => sleep(DRAIN_MS, undefined, { ref: false }));
  await Promise.race([bridge.ended, clientDisconnected, tooLong]);
  await bridge.close();
  // Flush the last answers.
  await new Promise<void>((resolve) => output.end(resolve));
  return 0;
}

/** Exits with an error that names the group if it does not exist: a client could do nothing about it. */
function requireGroup(endpoint: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    endpoint.send(
      { method: "GET", headers: { accept: "text/event-stream" } },
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
        // The endpoint is down now: requests fail until it is back.
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
