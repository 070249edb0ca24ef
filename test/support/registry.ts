// A small npm registry on loopback with generated packages. The test controls versions, outages and hanging downloads.
// npm itself is real.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { listen } from "./sockets.ts";

export interface Published {
  readonly name: string;
  readonly version: string;
  readonly bin?: string | Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  /** File contents by path; the default has a server at server.js. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An MCP server that reports its version, arguments and environment. */
export const SERVER = `#!/usr/bin/env node
const { version } = require("./package.json");
const fs = require("fs"), path = require("path");
const about = () => JSON.stringify({
  version, args: process.argv.slice(2), execPath: process.execPath, file: __filename, cwd: process.cwd(),
  path: process.env.PATH, scripted: fs.existsSync(path.join(__dirname, "scripted")), pid: process.pid,
});
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "told", version } });
  } else if (method === "tools/list") {
    answer(id, { tools: [{ name: "about", inputSchema: { type: "object" } }] });
  } else if (method === "tools/call") {
    answer(id, { content: [{ type: "text", text: about() }] });
  } else if (id !== undefined) {
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }) + "\\n");
  }
});
`;

interface Stored {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly tarball: Buffer;
}

export class Registry {
  readonly url: string;
  /** Paths of the requested tarballs. */
  readonly downloads: string[] = [];
  /** Paths of all requests. */
  readonly requests: string[] = [];
  /** Downloads wait until they are released; a name: only those of that package. */
  holding: boolean | string = false;
  /** No request is answered. */
  down = false;
  readonly #packages = new Map<string, Map<string, Stored>>();
  readonly #server = createServer((request, response) => this.#serve(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];
  #onHeld: () => void = () => undefined;

  static async open(): Promise<Registry> {
    const registry = new Registry();
    const port = await listen(registry.#server);
    return Object.assign(registry, { url: `http://127.0.0.1:${port}/` });
  }

  private constructor() {
    this.url = "";
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  publish({ name, version, bin = "server.js", dependencies = {}, scripts = {}, files = {} }: Published): void {
    const manifest = { name, version, bin, dependencies, scripts };
    const tarball = pack({ "package.json": JSON.stringify(manifest), "server.js": SERVER, ...files });
    const versions = this.#packages.get(name) ?? new Map<string, Stored>();
    versions.set(version, { manifest, tarball });
    this.#packages.set(name, versions);
  }

  unpublish(name: string, version: string): void {
    this.#packages.get(name)?.delete(version);
  }

  /** Releases all downloads. */
  release(): void {
    this.holding = false;
    for (const send of this.#waiting.splice(0)) send();
  }

  /** Resolves when a download hangs. */
  held(): Promise<void> {
    return new Promise((resolve) => {
      this.#onHeld = resolve;
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    this.requests.push(path);
    if (this.down) return void request.socket.destroy();
    const [, name = path, version] = /^(.+)\/-\/(.+)\.tgz$/.exec(path) ?? [];
    const versions = this.#packages.get(name);
    if (versions === undefined) return void response.writeHead(404).end("{}");
    if (version === undefined)
      return void response.setHeader("content-type", "application/json").end(this.#packument(name));
    this.downloads.push(path);
    const send = () => void response.end(versions.get(version)?.tarball);
    if (this.holding !== true && this.holding !== name) return send();
    this.#waiting.push(send);
    this.#onHeld();
  }

  #packument(name: string): string {
    const all = [...(this.#packages.get(name) ?? [])];
    const versions = all.map(([version, { manifest, tarball }]) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const hasInstallScript = Object.keys((manifest["scripts"] as object | undefined) ?? {}).length > 0;
      const dist = { tarball: `${this.url}${name}/-/${version}.tgz`, integrity };
      return [version, { ...manifest, dist, ...(hasInstallScript ? { hasInstallScript } : {}) }];
    });
    return JSON.stringify({ name, "dist-tags": { latest: all.at(-1)?.[0] }, versions: Object.fromEntries(versions) });
  }
}

const BLOCK = 512;

/** A tar archive in the form that npm packs: every file below `package/`. */
function pack(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const body = Buffer.from(text);
    return [header(`package/${path}`, body.length), body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
}

function header(path: string, size: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(path, 0);
  block.write("0000755\0", 100);
  block.write("0000000\0", 108);
  block.write("0000000\0", 116);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write("        ", 148);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
