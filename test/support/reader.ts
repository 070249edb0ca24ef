// Runs the commands of a document in a shell with an empty home, `plugboard` installed and none of the machine's settings.
// The hub gets a free port, which is replaced by the default port in the output.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Messages, onLines } from "./streams.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const USUAL = "127.0.0.1:7430";

export interface Printed {
  readonly code: number;
  /** stdout and stderr in order, with the paths and the address that the documents use. */
  readonly output: string;
}

export interface ReaderOptions {
  /** Texts of the document and their values in this run. */
  readonly places?: readonly [shown: string, here: string][];
  /** Files in the reader's folder; those in `bin/` are programs. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commands may open a browser: `bin/xdg-open`. */
  readonly hasScreen?: boolean;
}

export class Reader {
  /** The folder that the reader is in, which is also the home folder. */
  readonly folder: string;
  /** Marks every process that the commands start. */
  readonly mark: string;
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #lines = new Messages();

  readonly #options: ReaderOptions;

  private constructor(folder: string, options: ReaderOptions) {
    this.folder = folder;
    this.#options = options;
    const id = randomUUID();
    this.mark = `TEST_MARK=${id}`;
    this.#shell = spawn("sh", { cwd: folder, env: this.#env(id) });
    // Separate pipes would lose the order.
    this.#shell.stdin.write("exec 2>&1\n");
    onLines(this.#shell.stdout, (line) => this.#lines.push(line));
    this.#shell.stdout.on("close", () => this.#lines.end());
  }

  static async open(options: ReaderOptions = {}): Promise<Reader> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "plugboard-reader-")));
    // npx finds packages here without a registry.
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    await symlink(join(ROOT, "examples"), join(folder, "examples"));
    const server = "node_modules/@modelcontextprotocol/server-memory/dist/index.js";
    await symlink(server, join(folder, "server.js"));
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin/server"), `#!/bin/sh\nexec node "${folder}/server.js"\n`);
    await chmod(join(folder, "bin/server"), 0o755);
    for (const [name, text] of Object.entries(options.files ?? {})) {
      await writeFile(join(folder, name), text, { mode: name.startsWith("bin/") ? 0o755 : 0o600 });
    }
    return new Reader(folder, options);
  }

  #env(id: string): Record<string, string> {
    return {
      PATH: [join(this.folder, "bin"), join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
      HOME: this.folder,
      PLUGBOARD_HOME: this.#home,
      TEST_MARK: id,
      // No look for a newer npm, and none of its settings.
      npm_config_update_notifier: "false",
      npm_config_registry: "http://127.0.0.1:9",
      // npx finds the packages of the folder; an install would ask the registry.
      PLUGBOARD_NPM: "npx",
      ...(this.#options.hasScreen === true ? { DISPLAY: ":0" } : {}),
    };
  }

  get #home(): string {
    return join(this.folder, ".plugboard");
  }

  /** Where the hub listens, if one runs. */
  get #address(): string | undefined {
    const note = join(this.#home, "state/hub.json");
    if (!existsSync(note)) return undefined;
    const { url }: { url: string } = JSON.parse(readFileSync(note, "utf8"));
    return new URL(url).host;
  }

  /** Texts of the documents and their values in this run. */
  #places(): [shown: string, here: string][] {
    const places: [string, string][] = [
      ["~/.config/plugboard", join(this.#home, "config")],
      ["~/.local/share/plugboard", join(this.#home, "data")],
      ["~/.local/state/plugboard", join(this.#home, "state")],
      ...(this.#options.places ?? []),
    ];
    const address = this.#address;
    return address === undefined ? places : [...places, [USUAL, address]];
  }

  /** The text of a document with the values of this run. */
  localized(text: string): string {
    const here = this.#places().reduce((each, [shown, real]) => each.replaceAll(shown, real), text);
    return here.replaceAll(/\bplugboard (start|up)(?=\s*(?:#.*)?$)/gm, "plugboard $1 --port 0");
  }

  /** Runs one command and waits for its exit. Variables stay set for the next command. */
  async type(command: string): Promise<Printed> {
    const before = this.#places();
    const end = `end-${randomUUID()}`;
    const from = this.#lines.all.length;
    // The exit code is there for an `echo $?` that comes next.
    const script = `{ ${this.localized(command)}\n} </dev/null\n__code=$?; printf '\\n%s %s\\n' ${end} $__code; (exit $__code)\n`;
    this.#shell.stdin.write(script);
    const last: string = await this.#lines.find((line: string) => line.startsWith(end));
    const lines: string[] = this.#lines.all.slice(from, this.#lines.all.indexOf(last));
    const printed = lines.filter((line) => !/^npm (warn|notice)/.test(line)).join("\n");
    const output = [...before, ...this.#places()].reduce(
      // Commands write the reader's home as ~, too.
      (text, [shown, here]) => text.replaceAll(here, shown).replaceAll(here.replace(this.folder, "~"), shown),
      printed.trimEnd(),
    );
    return { code: Number(last.slice(end.length)), output };
  }

  /** Runs a command of this repository beside the reader, as in another terminal, until told to stop. */
  async beside(command: string): Promise<() => Promise<void>> {
    const [program, ...args] = command.split(" ");
    const env = { ...process.env, ...this.#env(this.mark.slice("TEST_MARK=".length)) };
    const child = spawn(program ?? "", [...args, "--", "--port", "0"], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const exited = once(child, "exit");
    const killLast = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
    process.once("exit", killLast);
    void exited.then(() => process.off("exit", killLast));
    const said = new Messages();
    for (const stream of [child.stdout, child.stderr]) onLines(stream, (line) => said.push(line));
    void exited.then(() => said.end());
    const stop = async () => {
      // Ctrl-C reaches every process of the terminal.
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
      await exited;
    };
    try {
      await said.find((line: string) => line.includes("Press Ctrl-C to stop"));
    } catch (error) {
      await stop();
      throw error;
    }
    return stop;
  }

  /** Ends the hub that a document left running, and the shell. */
  async close(): Promise<void> {
    if (this.#address !== undefined) await this.type("plugboard stop");
    const ended = once(this.#shell, "close");
    this.#shell.stdin.end();
    await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}
