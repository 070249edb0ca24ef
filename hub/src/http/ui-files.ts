// The files of the web interface, at `/ui/`. Read into memory with the first request: later requests do not reach the file
// system, so no path can lead out of the folder.

import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { identify } from "./request-id.ts";
import { HttpFailure, wrongMethod } from "./problem.ts";
import { sendPage } from "./pages/page.ts";
import { html } from "./pages/html.ts";
import { sendProblem } from "./send-problem.ts";

/** A file with what the build made of it. */
interface UiFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
}

type UiFiles = ReadonlyMap<string, UiFile>;

const INDEX = "index.html";
/** Names of these files have a hash of their content. */
const HASHED = "assets/";
/** Stands in the index where a page needs the nonce for styles that a library inserts. */
const NONCE_MARK = "%CSP_NONCE%";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

const OFF = ["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb", "serial", "hid"];

const HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": [...OFF.map((feature) => `${feature}=()`), "clipboard-write=(self)"].join(", "),
};

/** Nothing from elsewhere, no inline script or style; text becomes markup only by Svelte's own templates, and a worker only from the hub. */
function contentSecurityPolicy(nonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data: blob:",
    "media-src blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    "base-uri 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types svelte-trusted-html plugboard-worker",
  ].join("; ");
}

/** Answers `/ui` and everything below; returns false for every other path. */
export function uiEdge(folder: string): (request: IncomingMessage, response: ServerResponse) => boolean {
  let files: Promise<UiFiles | undefined> | undefined;
  return (request, response) => {
    const path = request.url?.split("?", 1)[0] ?? "";
    if (path !== "/ui" && !path.startsWith("/ui/")) return false;
    const requestId = identify(request, response);
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader("content-security-policy", contentSecurityPolicy());
    files ??= readFiles(folder);
    files
      .then((read) => {
        // Perhaps it is being built.
        if (read === undefined) files = undefined;
        answer(request, response, path, read);
      })
      .catch((error: unknown) => {
        files = undefined;
        sendProblem(response, error, requestId);
      });
    return true;
  };
}

function answer(request: IncomingMessage, response: ServerResponse, path: string, files: UiFiles | undefined): void {
  const { method } = request;
  const isHead = method === "HEAD";
  if (method !== "GET" && !isHead) throw wrongMethod(["GET", "HEAD"]);
  // Relative: a proxy may serve the hub under a prefix.
  if (path === "/ui") return void response.writeHead(302, { location: "ui/" }).end();
  const index = files?.get(INDEX);
  if (files === undefined || index === undefined) return sendMissing(response, isHead);
  const name = path.slice("/ui/".length);
  const file = name === INDEX ? undefined : files.get(name);
  if (file !== undefined) return sendFile(request, response, name, file);
  if (isFileName(name)) throw new HttpFailure(404, "NOT_FOUND", "The web interface has no such file");
  sendIndex(response, { index, name, isHead });
}

/** A path of the interface's own may contain dots, but not in its first part. */
function isFileName(name: string): boolean {
  return name.startsWith(HASHED) || (name !== INDEX && name.includes(".") && !name.includes("/"));
}

function sendFile({ method, headers }: IncomingMessage, response: ServerResponse, name: string, file: UiFile): void {
  const accepted = headers["accept-encoding"] ?? "";
  const [coding, body] =
    file.br !== undefined && /\bbr\b/.test(accepted)
      ? (["br", file.br] as const)
      : file.gzip !== undefined && /\bgzip\b/.test(accepted)
        ? (["gzip", file.gzip] as const)
        : ([undefined, file.bytes] as const);
  const shared = {
    etag: file.etag,
    vary: "accept-encoding",
    "cache-control": name.startsWith(HASHED) ? "public, max-age=31536000, immutable" : "no-cache",
  };
  if (headers["if-none-match"] === file.etag) return void response.writeHead(304, shared).end();
  response.writeHead(200, {
    ...shared,
    "content-type": file.type,
    "content-length": body.length,
    ...(coding === undefined ? {} : { "content-encoding": coding }),
  });
  response.end(method === "HEAD" ? undefined : body);
}

interface IndexAnswer {
  readonly index: UiFile;
  /** The path below `/ui/`. */
  readonly name: string;
  readonly isHead: boolean;
}

/** Every path of the interface is the same page, which finds its files by the base. */
function sendIndex(response: ServerResponse, { index, name, isHead }: IndexAnswer): void {
  const depth = name.split("/").length - 1;
  const base = `<base href="${depth === 0 ? "./" : "../".repeat(depth)}">`;
  const text = index.bytes.toString().replace("<head>", `<head>${base}`);
  const nonce = text.includes(NONCE_MARK) ? randomBytes(16).toString("base64") : undefined;
  if (nonce !== undefined) response.setHeader("content-security-policy", contentSecurityPolicy(nonce));
  const body = Buffer.from(nonce === undefined ? text : text.replaceAll(NONCE_MARK, nonce));
  response.writeHead(200, {
    "content-type": index.type,
    "content-length": body.length,
    // Also because a cached page would have an old nonce.
    "cache-control": "no-cache",
  });
  response.end(isHead ? undefined : body);
}

function sendMissing(response: ServerResponse, isHead: boolean): void {
  const main = html`<p>
    The files of the web interface are missing. In the sources, <code>npm run build</code> makes them.
  </p>`;
  sendPage(response, { status: 404, page: { title: "Plugboard", main }, isHead });
}

/** Undefined if the folder does not exist. */
async function readFiles(folder: string): Promise<UiFiles | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (entries === undefined) return undefined;
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = new Map(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length + 1).replaceAll(sep, "/"), await readFile(path)] as const),
    ),
  );
  const files = [...contents].filter(([name]) => !/\.(?:br|gz)$/.test(name));
  return new Map(
    files.map(([name, bytes]) => [
      name,
      {
        type: TYPES[extname(name)] ?? "application/octet-stream",
        etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
        bytes,
        br: contents.get(`${name}.br`),
        gzip: contents.get(`${name}.gz`),
      },
    ]),
  );
}
