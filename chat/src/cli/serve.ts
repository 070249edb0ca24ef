// `plugboard-chat` and `plugboard-chat serve`: the MCP server over stdio or HTTP, until a signal or a disconnect.

import type { Command } from "commander";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { setImmediate } from "node:timers/promises";
import { openApp, type App } from "../app.ts";
import { ChatError, invalid } from "../errors.ts";
import { HttpEndpoint } from "../mcp/http.ts";
import { serveStdio } from "../mcp/stdio.ts";
import type { Context, Io } from "./io.ts";

interface ServeOptions {
  readonly port?: string;
  readonly host: string;
  readonly tokenFile?: string;
  readonly hubData?: string;
  readonly channel?: boolean;
}

export function serveCommand(program: Command, { io, done, isServing }: Context): void {
  program
    .command("serve", { isDefault: isServing })
    .description("run the MCP server on stdio, or on HTTP with --port (default command)")
    .option("--port <n>", "serve Streamable HTTP on this port (0 for any free port)")
    .option("--host <address>", "address to listen on; a token is required off loopback", "127.0.0.1")
    .option("--token-file <file>", "file with the bearer token for clients; or PLUGBOARD_CHAT_TOKEN")
    .option("--hub-data <folder>", "data folder of the hub whose access tokens are accepted; or data in PLUGBOARD_HOME")
    .option("--channel", "push new messages as notifications/claude/channel (stdio)")
    .action(async (options: ServeOptions) => done(await serve(io, options)));
}

interface RunningEndpoint {
  /** Resolves when the only client disconnects. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

async function serve(io: Io, options: ServeOptions): Promise<number> {
  const app = await openApp({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  try {
    const stopped = new Promise<void>((resolve) => {
      let isStopping = false;
      io.onSignal(() => {
        if (isStopping) io.exit(130);
        isStopping = true;
        resolve();
      });
    });
    // Before the first request arrives, since older messages are fetched through the sources.
    await app.start();
    const endpoint = await openEndpoint(app, io, options);
    await Promise.race([stopped, endpoint.ended]);
    await app.requests.drain();
    // The SDK needs a few event-loop turns to send the last responses.
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    await endpoint.close();
    return 0;
  } finally {
    await app.close();
  }
}

async function openEndpoint(
  app: App,
  io: Io,
  { port, host, tokenFile, hubData, channel = false }: ServeOptions,
): Promise<RunningEndpoint> {
  if (port === undefined) {
    if (io.stdin.isTTY === true) {
      io.stderr.write(
        "This is an MCP server on stdin and stdout: start it from your agent's config. Stop with Ctrl-C.\n",
      );
    }
    return serveStdio(app, { stdin: io.stdin, stdout: io.stdout, channel });
  }
  const endpoint = await HttpEndpoint.open(app, {
    host,
    port: parsePort(port),
    token: await readToken(io, tokenFile),
    identity: identityFile(io, hubData),
  });
  io.stdout.write(`MCP     ${endpoint.url}\n`);
  return { ended: new Promise(() => undefined), close: () => endpoint.close() };
}

/** Where the hub keeps its access tokens. */
function identityFile({ env }: Io, hubData: string | undefined): string | undefined {
  const home = env["PLUGBOARD_HOME"] || env["PLUGBOARD_HUB_HOME"];
  const folder = hubData ?? (home === undefined || home === "" ? undefined : path.join(home, "data"));
  return folder === undefined ? undefined : path.join(path.resolve(folder), "identity.db");
}

async function readToken(io: Io, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return io.env["PLUGBOARD_CHAT_TOKEN"] || undefined;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new ChatError(
      "INVALID_PARAMETER",
      `Cannot read ${file}`,
      { field: "token-file", hint: "Check the path and the permissions" },
      error,
    );
  });
  if (text.trim() === "") throw invalid("token-file", `${file} is empty`, "Write a token into the file");
  return text.trim();
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw invalid("port", `Invalid port '${text}'`, "Use a number from 0 to 65535");
}
