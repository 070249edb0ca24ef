// One open connection to a server, whatever carries it: a process's pipes or HTTP. Opens it and says when it is lost;
// the handshake and everything after is upstream.ts's.

import type { LookupFunction } from "node:net";
import { HubError } from "../errors.ts";
import { Peer, type PeerHandlers } from "../wire/peer.ts";
import { StdioChannel } from "../wire/stdio-client.ts";
import { diagnoseExit } from "./diagnose.ts";
import type { Guard } from "./guard.ts";
import type { LaunchCommand } from "./launch.ts";
import { ServerProcess, type ProcessExit } from "./process.ts";
import type { Redact } from "./redaction.ts";
import type { ResolvedServer } from "./resolve.ts";

export const MAX_MESSAGE_BYTES = 16 << 20;
/** The library's clock is up to a second late: after five in all, a server that cannot be reached is told to be so. */
const CONNECT_TIMEOUT_MS = 4000;
const SHOWN_LINES = 12;
/** More than is shown: a launcher may say the reason early and much after it. */
const SEARCHED_LINES = 50;
/** For the exit that nearly always follows a closed stdout, and has a better reason to give. */
const MUTED_MS = 3000;

export interface Link {
  readonly transport: "stdio" | "http";
  /** Where a remote server is. */
  readonly address?: { readonly host: string; readonly port: number };
  readonly peer: Peer;
  readonly pid: number | undefined;
  /** Resolves when the connection is gone, with the reason. Never rejects. */
  readonly lost: Promise<HubError>;
  /** The last lines that the server wrote to stderr. */
  stderr(): string;
  /** The handshake agreed on this revision. */
  agreed(version: string, options: { modern: boolean }): void;
  /** Legacy HTTP: holds the stream for what the server says unasked; resolves when it ends, with the HTTP status. */
  readonly listen?: () => Promise<number | undefined>;
  close(): Promise<void>;
  /** Close without waiting for the server's consent: the start was cancelled. */
  kill(): Promise<void>;
}

export interface StdioOptions {
  readonly guard: Guard;
  /** What the server wrote to stderr is shown only after this. */
  readonly redact: Redact;
  /** What the server writes to stderr, as it comes. */
  readonly onStderr?: (chunk: Buffer) => void;
}

export async function openStdio(
  command: LaunchCommand,
  handlers: PeerHandlers,
  { guard, redact, onStderr = () => {} }: StdioOptions,
): Promise<Link> {
  const process = await ServerProcess.spawn(command, { guard, onStderr });
  const stderr = (lines = SHOWN_LINES) => redact(process.stderr.tail(lines));
  const broken = deferred<HubError>();
  const giveUp = (error: HubError) => {
    broken.resolve(error);
    void process.kill();
  };
  const channel = new StdioChannel({
    stdin: process.stdin,
    stdout: process.stdout,
    maxLineBytes: MAX_MESSAGE_BYTES,
    onMessage: (line) => peer.receive(line),
    onOverflow: () =>
      giveUp(new HubError("ProtocolError", `The server wrote a line of more than ${MAX_MESSAGE_BYTES} bytes`)),
  });
  // It may go on running, but nothing that it is asked will ever be answered.
  process.stdout.once("close", () => {
    setTimeout(() => giveUp(lostProcess("closed its output", stderr())), MUTED_MS).unref();
  });
  const peer = new Peer(channel, handlers);
  let shookHands = false;
  const exited = process.exited.then((exit) =>
    shookHands ? lostProcess(howItEnded(exit), stderr()) : diagnoseExit(command, exit, stderr(SEARCHED_LINES)),
  );
  const lost = Promise.race([exited, broken.promise]);
  void lost.then((error) => peer.fail(error));
  return {
    transport: "stdio",
    peer,
    pid: process.pid,
    lost,
    stderr: () => stderr(),
    agreed: () => {
      shookHands = true;
    },
    close: async () => void (await process.stop()),
    kill: async () => void (await process.kill()),
  };
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function lostProcess(how: string, stderr: string): HubError {
  return new HubError("ServerNotRunning", `The server ${how}`, stderr === "" ? {} : { detail: stderr });
}

export async function openHttp(
  server: ResolvedServer,
  handlers: PeerHandlers,
  { lookup }: { lookup?: LookupFunction | undefined } = {},
): Promise<Link> {
  if (server.transport.type !== "http") {
    throw new HubError("InvalidConfig", `Transport "${server.transport.type}" is not supported yet`, {
      field: "type",
      hint: 'Use "type": "http" if the server speaks Streamable HTTP',
    });
  }
  const { url, headers } = server.transport;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    throw new HubError(
      "InvalidConfig",
      "The url, with its variables filled in, is not an http:// or https:// address",
      {
        field: "url",
      },
    );
  }
  // Loaded only where a remote server is configured: the library costs more to load than the rest of the hub.
  const { HttpChannel } = await import("../wire/http-client.ts");
  const { promise: lost, resolve: onLost } = deferred<HubError>();
  const channel = new HttpChannel({
    url: new URL(url),
    headers,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    ...(lookup === undefined ? {} : { lookup }),
    onMessage: (bytes, via) => peer.receive(bytes, via),
    onFinished: (id, error) => peer.failRequest(id, error),
    onUnreachable: (error) => onLost(error),
  });
  const peer = new Peer(channel, handlers);
  void lost.then((error) => peer.fail(error));
  return {
    transport: "http",
    address: addressOf(new URL(url)),
    peer,
    pid: undefined,
    lost,
    stderr: () => "",
    agreed: (version, { modern }) => channel.agreed(version, { closeCancels: modern }),
    listen: () => channel.listen(),
    close: () => channel.close(),
    kill: () => channel.close(),
  };
}

function addressOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  const standard = protocol === "https:" ? 443 : 80;
  return { host: hostname, port: port === "" ? standard : Number(port) };
}

/** A promise that somebody else settles. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
