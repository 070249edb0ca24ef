// One open connection to a server, whatever carries it, and how it is opened over a process's pipes (remote-link.ts has the
// others). Says when it is lost; the handshake and everything after is upstream.ts's.

import { HubError } from "../errors.ts";
import { Inflow, type InflowOptions } from "../wire/inflow.ts";
import { Peer, type PeerHandlers } from "../wire/peer.ts";
import type { Carrier } from "../wire/server.ts";
import { StdioChannel } from "../wire/stdio-client.ts";
import { diagnoseExit } from "./diagnose.ts";
import type { Guard } from "./guard.ts";
import type { LaunchCommand } from "./launch.ts";
import { ServerProcess, type ProcessExit } from "./process.ts";
import type { Redact } from "./redaction.ts";
import { explain } from "./telling.ts";
import { TransportWatch, type TransportWatchOptions } from "./wrong-transport.ts";

export const MAX_MESSAGE_BYTES = 16 << 20;
const SHOWN_LINES = 12;
/** More than is shown: a launcher may say the reason early and much after it. */
const SEARCHED_LINES = 200;
/** For the exit that nearly always follows a closed stdout, and has a better reason to give. */
const MUTED_MS = 3000;

export interface Link {
  readonly transport: Carrier;
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
  readonly listen?: (onOpen?: () => void) => Promise<number | undefined>;
  /** HTTP: the way of the oldest servers, for one that does not know this way. */
  readonly fallback?: () => Promise<Link>;
  close(): Promise<void>;
  /** Close without waiting for the server's consent: the start was cancelled. */
  kill(): Promise<void>;
}

export interface StdioOptions {
  readonly guard: Guard;
  /** What the server wrote to stderr is shown only after this. */
  readonly redact: Redact;
  readonly inflow: InflowOptions;
  /** What the server writes to stderr, as it comes. */
  readonly onStderr?: (chunk: Buffer) => void;
  readonly watching?: Omit<TransportWatchOptions, "onElsewhere">;
}

export async function openStdio(
  command: LaunchCommand,
  handlers: PeerHandlers,
  { guard, redact, inflow, onStderr = () => {}, watching = {} }: StdioOptions,
): Promise<Link> {
  const watch = new TransportWatch({
    onElsewhere: (address) => giveUp(listensElsewhere(address, stderr())),
    ...watching,
  });
  const process = await ServerProcess.spawn(command, {
    guard,
    onStderr: (chunk) => {
      watch.stderr(chunk);
      onStderr(chunk);
    },
  });
  // Usage and greetings are often printed to stdout.
  const searched = () => redact(process.stderr.tail(SEARCHED_LINES) || watch.printed);
  const stderr = () => explain(searched(), SHOWN_LINES);
  const broken = deferred<HubError>();
  const giveUp = (error: HubError) => {
    broken.resolve(error);
    void process.kill();
  };
  const reading = atRate(inflow);
  const channel: StdioChannel = new StdioChannel({
    stdin: process.stdin,
    stdout: process.stdout,
    maxLineBytes: MAX_MESSAGE_BYTES,
    onMessage: reading.receive((line) => {
      watch.line(line);
      return peer.receive(line);
    }),
    pauseMs: reading.pauseMs,
    onOverflow: () =>
      giveUp(new HubError("ProtocolError", `The server wrote a line of more than ${MAX_MESSAGE_BYTES} bytes`)),
  });
  // It may go on running, but nothing that it is asked will ever be answered.
  process.stdout.once("close", () => {
    const muted = setTimeout(() => giveUp(lostProcess("closed its output", stderr())), MUTED_MS).unref();
    // What its exit says is told when its whole group is gone. And else all that is left of it, which may be much, would be
    // kept for as long.
    void process.left.then(() => clearTimeout(muted));
  });
  const peer: Peer = new Peer(channel, handlers);
  let shookHands = false;
  const exited = process.exited.then((exit) =>
    shookHands ? lostProcess(howItEnded(exit), stderr()) : diagnoseExit(command, exit, searched()),
  );
  const lost = Promise.race([exited, broken.promise]);
  void lost.then(() => watch.end());
  void lost.then((error) => peer.fail(error));
  return {
    transport: "stdio",
    peer,
    pid: process.pid,
    lost,
    stderr,
    agreed: () => {
      shookHands = true;
      watch.end();
    },
    close: async () => void (await process.stop()),
    kill: async () => void (await process.kill()),
  };
}

function listensElsewhere(address: string, detail: string): HubError {
  return new HubError("InitializationFailed", `The server does not speak over stdio: it listens at ${address}`, {
    detail,
    hint: "Give it its option for stdio (--stdio, --transport stdio or the like), or run it yourself and add its URL",
  });
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function lostProcess(how: string, stderr: string): HubError {
  return new HubError("ServerNotRunning", `The server ${how}`, stderr === "" ? {} : { detail: stderr });
}

/** Reads a connection no faster than its server may talk. */
export function atRate(options: InflowOptions) {
  const inflow = new Inflow(options);
  return {
    receive: (take: (bytes: Buffer, via?: number) => boolean) => (bytes: Buffer, via?: number) =>
      inflow.note(bytes.length, { isAnswer: take(bytes, via) }),
    pauseMs: () => inflow.pauseMs(performance.now()),
  };
}

/** A promise that somebody else settles. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
