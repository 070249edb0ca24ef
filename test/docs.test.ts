// The documents are correct: the paths they name exist, their tables match the code, their commands match package.json.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { AUTH_TYPES, authFields } from "../hub/src/config/schema/auth.ts";
import { ERRORS } from "../hub/src/errors.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("docs/errors.md", () => {
  const rows = read("docs/errors.md")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length === 8 && /^[A-Z]\w+$/.test(cells[1] ?? ""))
    .map(([, kind, , code, http, rpc, exit]) => [
      kind,
      { code, http: Number(http), rpc: Number(rpc), exit: Number(exit) },
    ]);

  it("has exactly the rows of errors.ts", () => {
    expect(Object.fromEntries(rows)).toEqual(ERRORS);
  });
});

describe("docs/telemetry.md", () => {
  const page = read("docs/telemetry.md");
  const inSource = (pattern: RegExp, ...paths: string[]) => [
    ...new Set(paths.flatMap((path) => [...read(path).matchAll(pattern)].map((match) => match[1] ?? match[2] ?? ""))),
  ];

  it.each([
    ["variable", /"((?:OTEL|PLUGBOARD)_\w+)"/g, ["settings.ts", "open.ts"].map((file) => `hub/src/telemetry/${file}`)],
    ["attribute", /"([a-z_]+(?:\.[a-z_]+)+)"/g, ["hub/src/telemetry/attributes.ts"]],
    ["metric", /metric\(\s*"(\w+)"|METRIC = "(\w+)"/g, ["hub/src/api/server/metrics.ts", "hub/src/calls/latency.ts"]],
  ])("MG-3 has every %s of the code", (_what, pattern, paths) => {
    const named = inSource(pattern, ...paths).filter((name) => name !== "service.name");
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !page.includes(name.replace("_TRACES_HEADERS", "_HEADERS")))).toEqual([]);
  });
});

describe("docs/README.md", () => {
  it("links every page", () => {
    const links = [...read("docs/README.md").matchAll(/\]\(([^)#]+)/g)].map((match) => match[1] ?? "");
    const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
    expect(pages.filter((name) => !links.includes(name))).toEqual([]);
    const products = readdirSync(join(ROOT, "docs/migrate")).filter((name) => name !== "README.md");
    expect(products.filter((name) => !read("docs/migrate/README.md").includes(`](${name})`))).toEqual([]);
  });
});

describe("docs/tour.md", () => {
  it("is what the recording shows: npm run screenshots records it again", () => {
    const commands = [...read("docs/tour.md").matchAll(/^\$ (.*)$/gm)].map((match) => match[1] ?? "");
    const [, ...events] = read("docs/images/tour.cast").trimEnd().split("\n");
    const shown = events.map((line) => String((JSON.parse(line) as unknown[])[2])).join("");
    const typed = shown
      .split("$ \u001b[0m")
      .slice(1)
      .map((text) => text.split("\r\n", 1)[0]);
    expect(typed).toEqual(commands);
    expect(shown).not.toMatch(/pbt_\w{5}/);
  });
});

describe("every page", () => {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);

  it.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...pages])(
    "%s links only to files that exist",
    (page) => {
      const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? "");
      const missing = links.filter(
        (link) => statSync(join(ROOT, dirname(page), link), { throwIfNoEntry: false }) === undefined,
      );
      expect(missing).toEqual([]);
    },
  );
});

describe.each(["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/lifecycle.md", "docs/decisions.md"])(
  "%s",
  (document) => {
    const text = read(document);
    const named = [
      ...text.matchAll(/`((?:shared|hub|chat|ui|test|docs|\.ci)\/[\w./-]*|[\w.-]+\.(?:md|json|ts))`/g),
    ].map((match) => match[1] ?? "");
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? "");

    it.each([...new Set([...named, ...links])])("names %s, which exists", (path) => {
      expect(exists(path) || exists(join(dirname(document), path))).toBe(true);
    });

    it("names at least one path", () => {
      expect(named.length + links.length).toBeGreaterThan(0);
    });
  },
);

/** A path from the root, or a file name that occurs anywhere in the sources. Config files of users need not exist. */
function exists(path: string): boolean {
  if (["mcp_server.json", "group.json", "chat.json", "hub.json"].includes(path)) return true;
  if (statSync(join(ROOT, path), { throwIfNoEntry: false }) !== undefined) return true;
  return !path.includes("/") && sources().some((source) => source.endsWith(`/${path}`));
}

function sources(): string[] {
  return ["hub/src", "chat/src", "test"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
}

describe("README.md", () => {
  it("has the two commands in its first screen, and they are scripts of package.json", () => {
    const firstScreen = read("README.md").split("\n").slice(0, 25).join("\n");
    expect(firstScreen).toContain("npm ci && npm start");
    expect(firstScreen).toContain("npm ci && npm test");
    expect(Object.keys(JSON.parse(read("package.json")).scripts)).toEqual(expect.arrayContaining(["start", "test"]));
  });

  it(".ci/run calls the README's test command", () => {
    expect(read(".ci/run")).toMatch(/^npm test$/m);
  });
});

describe("docs/config.md", () => {
  it("describes every key and type of auth", () => {
    const text = read("docs/config.md");
    for (const key of [...Object.keys(authFields.shape), ...AUTH_TYPES]) expect(text).toContain(`\`${key}\``);
  });
});
