// `plugboard-chat` and `plugboard-chat serve`: the MCP server, over stdio or HTTP, until it is told to stop.

import type { Command } from "commander";
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { openApp, type App } from "../app.ts";
import { ChatError, invalid } from "../errors.ts";
import { HttpEnd } from "../mcp/http.ts";
import { serveStdio } from "../mcp/stdio.ts";
import type { Context, Io } from "./io.ts";

interface ServeOptions {
  readonly port?: string;
  readonly host: string;
  readonly tokenFile?: string;
  readonly channel?: boolean;
}

export function serveCommand(program: Command, { io, done, isServing }: Context): void {
  program
    .command("serve", { isDefault: isServing })
    .description("serve agents: over stdin and stdout, or over HTTP with --port (the default command)")
    .option("--port <n>", "serve Streamable HTTP on this port instead of stdio; 0 for any")
    .option("--host <address>", "address to listen on; off loopback only with a token", "127.0.0.1")
    .option("--token-file <file>", "file with the bearer token that clients must send; or PLUGBOARD_CHAT_TOKEN")
    .option("--channel", "push new messages as notifications/claude/channel (stdio)")
    .action(async (options: ServeOptions) => done(await serve(io, options)));
}

interface End {
  /** The client has gone, where there is only one. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

async function serve(io: Io, options: ServeOptions): Promise<number> {
  const app = await openApp({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  try {
    const stopped = new Promise<void>((resolve) => {
      let asked = false;
      io.onSignal(() => {
        if (asked) io.exit(130);
        asked = true;
        resolve();
      });
    });
    const end = await openEnd(app, io, options);
    await app.start();
    await Promise.race([stopped, end.ended]);
    await app.requests.drain();
    // The last answers are on their way through the SDK, which takes a few turns.
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    await end.close();
    return 0;
  } finally {
    await app.close();
  }
}

async function openEnd(app: App, io: Io, { port, host, tokenFile, channel = false }: ServeOptions): Promise<End> {
  if (port === undefined) {
    if (io.stdin.isTTY === true) {
      io.stderr.write("This speaks MCP on stdin and stdout: start it from your agent's config. Ctrl-C ends it.\n");
    }
    return serveStdio(app, { stdin: io.stdin, stdout: io.stdout, channel });
  }
  const end = await HttpEnd.open(app, { host, port: parsePort(port), token: await readToken(io, tokenFile) });
  io.stdout.write(`MCP     ${end.url}\n`);
  return { ended: new Promise(() => undefined), close: () => end.close() };
}

async function readToken(io: Io, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return io.env["PLUGBOARD_CHAT_TOKEN"] || undefined;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new ChatError(
      "INVALID_PARAMETER",
      `${file} cannot be read`,
      { field: "token-file", hint: "Check the path and its rights" },
      error,
    );
  });
  if (text.trim() === "") throw invalid("token-file", `${file} is empty`, "Write a token into it");
  return text.trim();
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw invalid("port", `'${text}' is not a port`, "Use a number from 0 to 65535");
}
