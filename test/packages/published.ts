// The packages as they would be published: packed, and installed into an empty folder.

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

export interface Tarball {
  readonly name: string;
  readonly path: string;
  readonly files: readonly string[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Packs a workspace. The global setup of the tests has made the bundles; the types are made here. */
async function pack(workspace: string, folder: string): Promise<Tarball> {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const { stdout } = await run("npm", args, { cwd: join(ROOT, workspace) });
  const [{ filename, name, files }] = JSON.parse(stdout);
  const path = join(folder, filename);
  return {
    name,
    path,
    files: files.map((file: { path: string }) => file.path),
    bytes: new Uint8Array(await readFile(path)),
  };
}

/** A folder outside the repository with the tarballs of both packages, and an empty project. */
export class Published {
  readonly folder: string;
  readonly hub: Tarball;
  readonly chat: Tarball;

  private constructor(folder: string, hub: Tarball, chat: Tarball) {
    this.folder = folder;
    this.hub = hub;
    this.chat = chat;
  }

  static async open(): Promise<Published> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "plugboard-published-")));
    await run(process.execPath, [join(ROOT, "hub/build/types.js")]);
    const [hub, chat] = await Promise.all([pack("hub", folder), pack("chat", folder)]);
    const published = new Published(folder, hub, chat);
    await mkdir(published.project);
    await writeFile(join(published.project, "package.json"), '{ "name": "mine", "private": true, "type": "module" }');
    return published;
  }

  get project(): string {
    return join(this.folder, "project");
  }

  /** The environment of a user who has none of our settings. */
  get env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return {
      PATH,
      HOME: this.folder,
      PLUGBOARD_HOME: join(this.folder, "home"),
      npm_config_cache: process.env["npm_config_cache"] ?? join(process.env["HOME"] ?? "/", ".npm"),
      ...(process.env["npm_config_registry"] === undefined
        ? {}
        : { npm_config_registry: process.env["npm_config_registry"] }),
      npm_config_update_notifier: "false",
    };
  }

  /** Dependencies come from npm's cache where it has them. */
  async install({ path }: Tarball): Promise<void> {
    const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await this.run("npm", ["install", ...quiet, path]);
  }

  run(command: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    return run(command, args, { cwd: this.project, env: this.env });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
