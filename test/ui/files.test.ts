// The files of the web interface, over real HTTP: what is at which path, and the headers that protect the pages.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Listener } from "../../hub/src/http/listener.ts";
import { uiEdge } from "../../hub/src/http/ui-files.ts";
import { homePageEdge } from "../../hub/src/http/pages/home-page.ts";
import { message, raw } from "../support/listener.ts";
import { http } from "../support/rpc.ts";

const INDEX =
  '<!doctype html><html><head><title>It</title></head><body><script src="./assets/a-1.js"></script></body></html>';
const SCRIPT = `console.log("${"x".repeat(500)}");`;

let dir: string;
let listener: Listener;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-ui-"));
  await writeFile(join(dir, "secret.txt"), "outside");
  await mkdir(join(dir, "ui", "assets"), { recursive: true });
  await writeFile(join(dir, "ui", "index.html"), INDEX);
  await writeFile(join(dir, "ui", "favicon.svg"), "<svg/>");
  await writeFile(join(dir, "ui", "assets", "a-1.js"), SCRIPT);
  await writeFile(join(dir, "ui", "assets", "a-1.js.br"), brotliCompressSync(SCRIPT));
  await writeFile(join(dir, "ui", "assets", "a-1.js.gz"), gzipSync(SCRIPT));
  const edges = [uiEdge(join(dir, "ui")), homePageEdge({ version: "1", hasUi: true })];
  listener = await Listener.open({ host: "127.0.0.1", port: 0, edges });
});

afterEach(async () => {
  await listener.close();
  await rm(dir, { recursive: true, force: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  http(listener.url + path, { method, headers });

describe("paths", () => {
  it.each([
    ["/ui/", "./"],
    ["/ui/?paste=x", "./"],
    ["/ui/index.html", "./"],
    ["/ui/servers", "./"],
    ["/ui/servers/", "../"],
    ["/ui/servers/git.hub?tab=tools", "../"],
    ["/ui/try/a%2Fb/tool.js", "../../"],
  ])("%s is the page, which finds its files at %s", async (path, base) => {
    const { status, headers, body } = await get(path);
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-cache",
    ]);
    expect(body).toBe(INDEX.replace("<head>", `<head><base href="${base}">`));
    expect(new URL(base, listener.url + path).pathname).toBe("/ui/");
  });

  it.each(["/ui/assets/none.js", "/ui/assets/", "/ui/theme.js", "/ui/a-1.js.br"])("%s is not found", async (path) => {
    const { status, body } = await get(path);
    expect([status, JSON.parse(body).code]).toEqual([404, "NOT_FOUND"]);
  });

  it.each(["/ui/../secret.txt", "/ui/%2e%2e/secret.txt", "/ui/assets/..%2f..%2f..%2fsecret.txt", "/ui//etc/passwd"])(
    "T17 %s does not leave the folder",
    async (path) => {
      // Not through a URL, which would resolve the dots.
      const port = Number(new URL(listener.url).port);
      const { body } = await raw(port, message(["Host: localhost"], { line: `GET ${path} HTTP/1.1`, body: "" }));
      expect(body).not.toContain("outside");
    },
  );

  it("a folder or prefix is reached without its slash", async () => {
    for (const path of ["/ui", "/"]) {
      const { status, headers } = await get(path, { accept: "text/html,*/*" });
      expect([status, headers["location"]]).toEqual([302, "ui/"]);
    }
    expect((await get("/", { accept: "*/*" })).status).toBe(200);
    expect((await get("/uix")).status).toBe(404);
  });

  it("only GET and HEAD are allowed", async () => {
    for (const path of ["/ui/", "/ui/assets/a-1.js"]) {
      expect(await get(path, {}, "HEAD")).toMatchObject({ status: 200, body: "" });
      expect(await get(path, {}, "POST")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    }
  });
});

describe("files", () => {
  it.each([
    ["", undefined, SCRIPT.length],
    ["gzip", "gzip", gzipSync(SCRIPT).length],
    ["gzip, deflate, br, zstd", "br", brotliCompressSync(SCRIPT).length],
  ])("accepting %s, are sent as %s", async (accepted, coding, length) => {
    const { status, headers } = await get("/ui/assets/a-1.js", { "accept-encoding": accepted });
    expect([status, headers["content-encoding"], headers["content-length"], headers["vary"]]).toEqual([
      200,
      coding,
      String(length),
      "accept-encoding",
    ]);
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
  });

  it("with a hash in the name are kept by browsers; others are asked for again", async () => {
    expect((await get("/ui/assets/a-1.js")).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const { headers } = await get("/ui/favicon.svg");
    expect(headers["cache-control"]).toBe("no-cache");
    const again = await get("/ui/favicon.svg", { "if-none-match": headers["etag"] ?? "" });
    expect(again).toMatchObject({ status: 304, body: "" });
  });

  it("are read once", async () => {
    await get("/ui/");
    await rm(join(dir, "ui"), { recursive: true });
    expect((await get("/ui/")).status).toBe(200);
    expect((await get("/ui/assets/a-1.js")).body).toBe(SCRIPT);
  });

  it("that are missing are one sentence, until they are there", async () => {
    await rm(join(dir, "ui"), { recursive: true });
    const { status, body } = await get("/ui/servers");
    expect(status).toBe(404);
    expect(body).toContain("The files of the web interface are missing.");
    await mkdir(join(dir, "ui"));
    await writeFile(join(dir, "ui", "index.html"), INDEX);
    expect((await get("/ui/servers")).status).toBe(200);
  });
});

describe("T30 the headers of every answer", () => {
  it.each(["/ui/", "/ui/servers/x", "/ui/assets/a-1.js", "/ui/assets/none.js", "/ui/favicon.svg", "/ui"])(
    "T30 %s allows no foreign or inline script, no frame and no markup from text",
    async (path) => {
      const { headers } = await get(path);
      const policy = String(headers["content-security-policy"]).split("; ");
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self' data: blob:",
          "connect-src 'self'",
          "frame-src 'none'",
          "frame-ancestors 'none'",
          "form-action 'none'",
          "base-uri 'self'",
          "require-trusted-types-for 'script'",
          "trusted-types svelte-trusted-html plugboard-worker",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|\*|http/);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": expect.stringMatching(/camera=\(\).*clipboard-write=\(self\)/),
      });
    },
  );

  it("a page that needs a nonce for styles gets a new one each time", async () => {
    await writeFile(join(dir, "ui", "index.html"), '<head><meta name="csp-nonce" content="%CSP_NONCE%"></head>');
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await get("/ui/");
        const [, nonce = ""] =
          /style-src 'self' 'nonce-([^']+)';/.exec(String(headers["content-security-policy"])) ?? [];
        expect(Buffer.from(nonce, "base64")).toHaveLength(16);
        expect(body).toContain(`content="${nonce}"`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });
});

describe("other sites", () => {
  const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

  it("may link to a page", async () => {
    expect((await get("/ui/servers/x", link)).status).toBe(200);
  });

  it("T02 may not embed or read one", async () => {
    for (const more of [
      { "sec-fetch-dest": "iframe" },
      { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" },
      { origin: "http://evil.example" },
    ])
      expect((await get("/ui/", { ...link, ...more })).status).toBe(403);
  });
});
