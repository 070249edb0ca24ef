// Commands of this package that run for a short time beside a server, in their own processes and with that server's environment, so
// that they use the same files as the server.

import { randomBytes } from "node:crypto";
import { Chunks } from "@plugboard/shared/streams/chunks";
import type { ServerConfig } from "../config/schema/types.ts";
import { HubError } from "../errors.ts";
import { packagePath } from "../lib/package-path.ts";
import type { ServerContext } from "./context.ts";
import { childEnvironment, START_VARIABLE } from "./process/environment.ts";
import { ServerProcess } from "./process/process.ts";
import { resolveServer } from "./process/resolve.ts";

export interface CompanionOptions {
  /** Ends the command. */
  readonly signal?: AbortSignal | undefined;
  readonly onStderr?: ((chunk: Buffer) => void) | undefined;
}

export interface CompanionResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The last lines. */
  readonly stderr: string;
}

const MAX_STDOUT_BYTES = 8 << 20;
const MAX_STDERR_LINES = 20;
/** SIGTERM lets a command end what it has begun to write. */
const GRACE_MS = { stdin: 0, term: 5000 };

export class Companions {
  readonly #context: ServerContext;
  readonly #running = new Set<ServerProcess>();

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** `args` are those of the plugboard command. The exit code is the caller's to judge. */
  async run(
    config: ServerConfig,
    args: readonly string[],
    { signal, onStderr }: CompanionOptions = {},
  ): Promise<CompanionResult> {
    const { variables, instance, watchdog, redactor } = this.#context;
    const { env: granted } = await resolveServer(config, this.#context);
    const mark = { [START_VARIABLE]: `${instance}.${randomBytes(4).toString("hex")}` };
    const env = childEnvironment(variables, { ...granted, ...mark }, { tag: instance, launcher: "binary" });
    const command = { command: process.execPath, args: [packagePath("bin/plugboard.js"), ...args], env } as const;
    const running = await ServerProcess.spawn(
      { ...command, launcher: "binary" },
      { watchdog, graceMs: GRACE_MS, ...(onStderr === undefined ? {} : { onStderr }) },
    );
    this.#running.add(running);
    const end = () => void running.stop();
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
    try {
      running.stdin.end();
      const stdout = await readBounded(running);
      const { code } = await running.exited;
      if (signal?.aborted === true) throw new HubError("Cancelled", "The command was cancelled");
      return { code, stdout, stderr: redactor.redactText(running.stderr.tail(MAX_STDERR_LINES)) };
    } finally {
      signal?.removeEventListener("abort", end);
      this.#running.delete(running);
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.stop()));
  }
}

async function readBounded(running: ServerProcess): Promise<string> {
  const chunks = new Chunks();
  for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
    chunks.add(chunk);
    if (chunks.size <= MAX_STDOUT_BYTES) continue;
    await running.kill();
    throw new HubError("PayloadTooLarge", `The command wrote more than ${MAX_STDOUT_BYTES >> 20} MB`);
  }
  return chunks.take().toString();
}
