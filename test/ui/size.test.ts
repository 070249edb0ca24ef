// What a browser loads of the web interface: CI fails before it gets heavy.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const FOLDER = join(import.meta.dirname, "../../hub/dist/ui");
const KB = 1000;
/** Html, styles, the shell and the first page, compressed. The aim is 60 KB. */
const FIRST_LOAD_MAX = 90 * KB;
const ALL_MAX = 310 * KB;
/** Loaded only for the editor of the config files. */
const EDITOR = /^code-mirror-/;
const EDITOR_MAX = 150 * KB;

const read = (name: string) => readFileSync(join(FOLDER, name));
const sizeOf = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);

/** A script and all that it imports before it runs. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, imported = ""] of read(name)
    .toString()
    .matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    closureOf(`assets/${imported}`, found);
  return found;
}

describe("MG-4 size of the web interface", () => {
  const index = read("index.html").toString();
  const assets = readdirSync(join(FOLDER, "assets")).filter((name) => /\.(?:js|css)$/.test(name));

  it("the first page is small", () => {
    const named = [...index.matchAll(/\.\/((?:assets\/)?[\w.-]+\.(?:js|css))"/g)].map(([, name = ""]) => name);
    const overview = assets.filter((name) => name.startsWith("Overview-")).map((name) => `assets/${name}`);
    expect(overview).not.toEqual([]);
    const scripts = [...named, ...overview].filter((name) => name.endsWith(".js"));
    const all = new Set([...named, ...overview, ...scripts.flatMap((name) => [...closureOf(name)]), "index.html"]);
    expect(sizeOf(all)).toBeLessThan(FIRST_LOAD_MAX);
  });

  it("so is all of it", () => {
    const others = assets.filter((name) => !EDITOR.test(name));
    expect(sizeOf(others.map((name) => `assets/${name}`))).toBeLessThan(ALL_MAX);
  });

  it("the editor is loaded for itself", () => {
    const editor = assets.filter((name) => EDITOR.test(name)).map((name) => `assets/${name}`);
    expect(editor).not.toEqual([]);
    expect(sizeOf(editor)).toBeLessThan(EDITOR_MAX);
  });

  it("nothing is inline, as the Content-Security-Policy demands", () => {
    expect(index).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/);
  });
});
