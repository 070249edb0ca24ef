// The hub as a service of the user: started at login or boot, and again when it fails. A manager is what the system has for that.

import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import type { Io } from "../io.ts";

/** What the manager runs. */
export interface ServiceProgram {
  /** `node`, the program and its arguments; the paths are absolute. */
  readonly command: readonly string[];
  /** Environment variables of the service: it has no others of the user's. */
  readonly variables: Readonly<Record<string, string>>;
  /** For output of the hub before it logs by itself. */
  readonly log: string;
}

export interface ServiceManager {
  readonly name: "systemd" | "launchd";
  /** The file that describes the service. */
  readonly file: string;
  /** The content of the file. Its first lines contain MARK. */
  render(program: ServiceProgram): string;
  /** Loads the file, starts the service now and at every login or boot. */
  enable(run: Run): Promise<readonly string[]>;
  disable(run: Run): Promise<void>;
  /** After the file is gone. */
  removed(run: Run): Promise<void>;
  isEnabled(run: Run): Promise<boolean>;
  isActive(run: Run): Promise<boolean>;
}

/** Runs a program of the system. Rejects if it fails. */
export type Run = (program: string, ...args: readonly string[]) => Promise<string>;

export const MARK = "Written by `plugboard service install`";

export interface ServiceState {
  readonly manager: ServiceManager["name"];
  readonly file: string;
  readonly installed: boolean;
  /** It starts by itself. */
  readonly enabled: boolean;
  readonly active: boolean;
}

export interface Installed {
  readonly changed: boolean;
  /** What works, but not as well as it could. */
  readonly warnings: readonly string[];
}

const RUN_MS = 30_000;

export class Service {
  readonly #manager: ServiceManager;
  readonly #run: Run;

  constructor(manager: ServiceManager, io: Pick<Io, "env">) {
    this.#manager = manager;
    this.#run = runner(io.env);
  }

  /** Installing again changes only what is different. Nothing is left if the service cannot be enabled. */
  async install(program: ServiceProgram): Promise<Installed> {
    const { file } = this.#manager;
    const text = this.#manager.render(program);
    const before = await this.#ownFile();
    const changed = before !== text;
    if (changed && before !== undefined) await this.#manager.disable(this.#run);
    if (changed) {
      await mkdir(dirname(file), { recursive: true });
      await writeFileAtomic(file, text, { mode: 0o644 });
    }
    try {
      return { changed, warnings: await this.#manager.enable(this.#run) };
    } catch (error) {
      if (before === undefined) {
        await rm(file, { force: true });
        await this.#manager.removed(this.#run).catch(() => undefined);
      }
      throw error;
    }
  }

  /** False if it was not installed. */
  async uninstall(): Promise<boolean> {
    if ((await this.#ownFile()) === undefined) return false;
    await this.#manager.disable(this.#run);
    await rm(this.#manager.file, { force: true });
    await this.#manager.removed(this.#run);
    return true;
  }

  async state(): Promise<ServiceState> {
    const { name: manager, file } = this.#manager;
    const installed = (await readIfThere(file))?.includes(MARK) === true;
    if (!installed) return { manager, file, installed, enabled: false, active: false };
    const [enabled, active] = await Promise.all([
      this.#manager.isEnabled(this.#run),
      this.#manager.isActive(this.#run),
    ]);
    return { manager, file, installed, enabled, active };
  }

  /** The text of the file; undefined if there is none. Refuses a file that somebody else has written. */
  async #ownFile(): Promise<string | undefined> {
    const { file } = this.#manager;
    const text = await readIfThere(file);
    if (text === undefined || text.includes(MARK)) return text;
    throw new HubError("Conflict", `${file} was not written by plugboard`, {
      hint: "Move it away, or manage that service yourself",
    });
  }
}

function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
}

function runner(env: Io["env"]): Run {
  const run = promisify(execFile);
  return async (program, ...args) => {
    try {
      return (await run(program, [...args], { env, timeout: RUN_MS })).stdout;
    } catch (error) {
      throw failure([program, ...args].join(" "), error);
    }
  };
}

function failure(command: string, error: unknown): HubError {
  if (errorCode(error) === "ENOENT") {
    return new HubError("ProcessSpawnFailed", `${command.split(" ", 1)[0]} is not on this machine`, {
      hint: "Start the hub by other means at boot: plugboard start",
      cause: error,
    });
  }
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  return new HubError("ProcessSpawnFailed", `${command} failed`, {
    ...(stderr === "" ? {} : { detail: stderr }),
    hint: "Run it yourself to see more. It needs a session of the user: log in as that user, not with su or sudo",
    cause: error,
  });
}
