// One open connection to a server, on any transport, and how to open it over stdio (remote-link.ts has the others).

import { HubError } from "../../errors.ts";
import { atRate, type ReadLimiterOptions } from "../../protocol/connect/read-limiter.ts";
import { Peer, type PeerHandlers } from "../../protocol/connect/peer.ts";
import type { TransportName } from "../../protocol/serve/service.ts";
import { StdioChannel } from "../../protocol/connect/stdio-client.ts";
import { diagnoseExit } from "../process/diagnose.ts";
import type { Watchdog } from "../process/watchdog.ts";
import type { LaunchCommand } from "../process/command-line.ts";
import { ServerProcess, type ProcessExit } from "../process/process.ts";
import type { Redact } from "../server-redaction.ts";
import { explain } from "../process/failure-line.ts";
import { TransportWatch, type TransportWatchOptions } from "../process/wrong-transport.ts";

export const MAX_MESSAGE_BYTES = 16 << 20;
const SHOWN_LINES = 12;
/** More than is shown: a launcher may print the reason early and much after it. */
const SEARCHED_LINES = 200;
/** For the exit that usually follows a closed stdout and has a better reason. */
const MUTED_MS = 3000;

export interface Link {
  readonly transport: TransportName;
  /** Of a remote server. */
  readonly address?: { readonly host: string; readonly port: number };
  readonly peer: Peer;
  readonly pid: number | undefined;
  /** Resolves with the reason when the connection is lost. Never rejects. */
  readonly lost: Promise<HubError>;
  /** The last lines that the server wrote to stderr. */
  stderr(): string;
  /** The handshake agreed on this revision. */
  agreed(version: string, options: { modern: boolean }): void;
  /** Legacy HTTP: holds the stream for announcements. Resolves with the HTTP status when it ends. */
  readonly listen?: (onOpen?: () => void) => Promise<number | undefined>;
  /** HTTP: connects by the older HTTP+SSE transport. */
  readonly fallback?: () => Promise<Link>;
  close(): Promise<void>;
  /** Closes without grace, for a start that was cancelled. */
  kill(): Promise<void>;
}

export interface StdioOptions {
  readonly watchdog: Watchdog;
  /** Applied to stderr before it is shown. */
  readonly redact: Redact;
  readonly inflow: ReadLimiterOptions;
  /** Chunks of stderr. */
  readonly onStderr?: (chunk: Buffer) => void;
  readonly watching?: Omit<TransportWatchOptions, "onElsewhere">;
}

export async function openStdio(
  command: LaunchCommand,
  handlers: PeerHandlers,
  { watchdog, redact, inflow, onStderr = () => {}, watching = {} }: StdioOptions,
): Promise<Link> {
  const watch = new TransportWatch({
    onElsewhere: (address) => giveUp(listensElsewhere(address, stderr())),
    ...watching,
  });
  const process = await ServerProcess.spawn(command, {
    watchdog,
    onStderr: (chunk) => {
      watch.stderr(chunk);
      onStderr(chunk);
    },
  });
  // Some programs print their usage to stdout.
  const searched = () => redact(process.stderr.tail(SEARCHED_LINES) || watch.printed);
  const stderr = () => explain(searched(), SHOWN_LINES);
  const broken = deferred<HubError>();
  const giveUp = (error: HubError) => {
    broken.resolve(error);
    void process.kill();
  };
  let shookHands = false;
  const reading = atRate(inflow);
  const channel: StdioChannel = new StdioChannel({
    stdin: process.stdin,
    stdout: process.stdout,
    maxLineBytes: MAX_MESSAGE_BYTES,
    onMessage: reading.receive((line) => {
      if (!shookHands) watch.line(line);
      return peer.receive(line);
    }),
    pauseMs: reading.pauseMs,
    onOverflow: () =>
      giveUp(new HubError("ProtocolError", `The server wrote a line of more than ${MAX_MESSAGE_BYTES} bytes`)),
  });
  // It may keep running, but can answer nothing any more.
  process.stdout.once("close", () => {
    const muted = setTimeout(() => giveUp(lostProcess("closed its output", stderr())), MUTED_MS).unref();
    // The reason of its exit is reported when its whole process group has exited. Clearing the timer frees its buffers until
    // then.
    void process.left.then(() => clearTimeout(muted));
  });
  const peer: Peer = new Peer(channel, handlers);
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
    hint: "Add its option for stdio (such as --stdio or --transport stdio), or run it yourself and add its URL",
  });
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function lostProcess(how: string, stderr: string): HubError {
  return new HubError("ServerNotRunning", `The server ${how}`, stderr === "" ? {} : { detail: stderr });
}

/** A promise and its resolve function. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
