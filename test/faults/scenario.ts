// The scripted upstream as tests see it: the shape of a scenario, how it is started, and what it recorded. The folder upstream/
// implements the faults.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { nextLine } from "../support/processes.ts";

export const UPSTREAM = fileURLToPath(new URL("./upstream.mjs", import.meta.url));

/** What a step does instead of answering. `hold` and `late` answer in the end. */
export type Fault =
  | { do: "answer" | "silence" | "crlf" | "twice" | "toolError" | "closeStdout" | "deaf" | "freeze" | "forget" }
  | { do: "exit"; code?: number; stderr?: string }
  | { do: "signal"; signal: NodeJS.Signals }
  | { do: "late"; ms: number }
  | { do: "hold"; gate: string }
  | { do: "fork"; detached?: boolean }
  | { do: "wrongId"; ids: readonly (number | string | null)[] }
  | { do: "garbage"; lines?: readonly string[]; base64?: string }
  | { do: "slices"; size: number }
  | { do: "huge" | "sseHuge" | "gzip" | "floodStderr"; bytes: number }
  | { do: "half" | "unended"; code?: number }
  | { do: "error"; error: { code: number; message: string } }
  | { do: "flood"; count: number; method?: string; params?: object }
  | { do: "asks"; method: string }
  | { do: "status"; status: number; headers?: Readonly<Record<string, string>>; body?: string; ran?: boolean }
  | { do: "contentType"; type: string }
  | { do: "body"; body: string; type?: string }
  | { do: "reset"; bytes?: number }
  | { do: "sse"; before?: string; pad?: number; reports?: number; crlf?: boolean }
  | { do: "sseCut"; reports?: number; hard?: boolean; tail?: string };

/** The messages that a step applies to; all calls by default. `nth` and `first` count over all starts of the upstream. */
export type Step = Fault & {
  on?: string;
  tool?: string;
  nth?: number;
  first?: number;
  start?: number;
};

export interface Scenario {
  readonly transport?: "stdio" | "http";
  readonly era?: "legacy" | "modern";
  readonly steps?: readonly Step[];
  /** What the process does before it reads any message: on its first start, its second, and so on. */
  readonly starts?: readonly (Fault | null)[];
  readonly tools?: readonly string[];
  readonly toolsByStart?: readonly (readonly string[])[];
  /** Legacy: members of the initialize result. */
  readonly hello?: { readonly protocolVersion?: string; readonly capabilities?: unknown };
  readonly ignoreEof?: boolean;
  readonly ignoreSigterm?: boolean;
  /** A variable whose value it writes to stderr at the start. */
  readonly shout?: string;
  readonly tls?: object;
  readonly port?: number;
}

export interface Seen {
  readonly what: "start" | "heard" | "ran" | "told" | "left" | "waiting" | "frozen" | "helper" | "eof" | "answered";
  readonly method?: string;
  readonly tool?: string;
  readonly id?: string;
  readonly error?: number | null;
  readonly helper?: number;
  readonly pid: number;
  readonly at: number;
}

export class Upstream {
  readonly #spy: string;
  readonly #scenario: string;
  #child: { readonly stop: () => Promise<void> } | undefined;
  #url: string | undefined;

  constructor(dir: string, scenario: Scenario) {
    const name = join(dir, randomUUID());
    this.#spy = `${name}.spy`;
    this.#scenario = `${name}.json`;
    writeFileSync(this.#scenario, JSON.stringify({ ...scenario, spy: this.#spy }));
  }

  /** An entry that runs it on stdio. */
  get command(): { command: string; args: string[] } {
    return { command: process.execPath, args: [UPSTREAM, this.#scenario] };
  }

  /** Runs it on HTTP, on its former port if it ran before. */
  async listen(): Promise<string> {
    if (this.#url !== undefined) this.#usePort(Number(new URL(this.#url).port));
    const child = spawn(process.execPath, [UPSTREAM, this.#scenario], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {},
    });
    const exited = once(child, "exit");
    this.#url = await nextLine(child.stdout);
    this.#child = {
      stop: async () => {
        child.kill("SIGKILL");
        await exited;
      },
    };
    return this.#url;
  }

  /** Kills it, like a crash, if it was started by listen(). */
  async stop(): Promise<void> {
    await this.#child?.stop();
    this.#child = undefined;
  }

  get seen(): Seen[] {
    if (!existsSync(this.#spy)) return [];
    const lines = readFileSync(this.#spy, "utf8").split("\n").filter(Boolean);
    return lines.map((line): Seen => JSON.parse(line));
  }

  count(what: Seen["what"], about: Partial<Seen> = {}): number {
    const wanted = Object.entries({ ...about, what });
    return this.seen.filter((event) => wanted.every(([key, value]) => event[key as keyof Seen] === value)).length;
  }

  /** How often a tool did its work, which must not be repeated. */
  ran(tool?: string): number {
    return this.count("ran", tool === undefined ? {} : { tool });
  }

  async until(what: Seen["what"], about: Partial<Seen> = {}): Promise<void> {
    await vi.waitUntil(() => this.count(what, about) > 0, { timeout: 60_000, interval: 5 });
  }

  open(gate: string): void {
    writeFileSync(`${this.#spy}.${gate}`, "");
  }

  #usePort(port: number): void {
    const scenario: Scenario = JSON.parse(readFileSync(this.#scenario, "utf8"));
    writeFileSync(this.#scenario, JSON.stringify({ ...scenario, port }));
  }
}
