// docs/dependencies.md lists every package that runs with Plugboard, with the licence that it has, and no others.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/dependencies.md");
const locked: Readonly<Record<string, Locked>> = JSON.parse(read("package-lock.json")).packages;

/** The packages that an install of a workspace brings, by their places in the lock file. */
function installedWith(workspace: string): Map<string, Locked> {
  const found = new Map<string, Locked>();
  const visit = (place: string) => {
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = locked[place] ?? {};
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const at = placeOf(name, place);
      const entry = locked[at];
      if (entry === undefined || entry.link === true || found.has(at)) continue;
      found.set(at, entry);
      visit(at);
    }
  };
  visit(workspace);
  return found;
}

/** As Node looks for a package: in the folder itself, then in the folders above. */
function placeOf(name: string, from: string): string {
  for (let folder = from; folder !== "";) {
    const inside = `${folder}/node_modules/${name}`;
    if (inside in locked) return inside;
    const parent = folder.lastIndexOf("/node_modules/");
    folder = parent < 0 ? "" : folder.slice(0, parent);
  }
  return `node_modules/${name}`;
}

const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
const installed = new Map([...installedWith("hub"), ...installedWith("chat")]);
const inBundle = [...read("hub/dist/bundle/THIRD-PARTY-LICENSES.txt").matchAll(/(?:^|-{80}\n\n)(\S+) \d+\.\d+\S*\n/g)];
const inUi = [...read("hub/dist/ui/THIRD-PARTY-LICENSES.txt").matchAll(/^## (\S+) - /gm)];
const bundled = [...inBundle, ...inUi].map(([, name = ""]) => name);

const ALLOWED = new Set(["MIT", "ISC", "BSD-3-Clause", "Apache-2.0"]);

describe("docs/dependencies.md", () => {
  it("names every package that is installed or bundled, and no other", () => {
    expect(inBundle.length).toBeGreaterThan(8);
    expect(inUi.length).toBeGreaterThan(8);
    const running = new Set([...[...installed.keys()].map(nameOf), ...bundled]);
    const own = new Set(["plugboard", "plugboard-chat", "package.json", "package-lock.json", "node:sqlite"]);
    const named = [...page.matchAll(/`([@a-z][\w@./:-]*)`/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !own.has(name) && !name.startsWith("dist/"));
    expect([...new Set(named)].toSorted()).toEqual([...running].toSorted());
  });

  it("has the licence of each package in its row", () => {
    const rows = [...page.matchAll(/^\| `(\S+)` *\| (\S+) *\|/gm)];
    expect(rows.length).toBeGreaterThan(30);
    for (const [, name = "", licence] of rows) {
      expect([name, locked[`node_modules/${name}`]?.license]).toEqual([name, licence]);
    }
  });

  it("no package has a licence that asks for more than a notice, or needs an install script", () => {
    for (const [place, { license, hasInstallScript }] of installed) {
      // Three old packages say it in a form that npm does not read, and have the text of MIT in a file.
      const old = /^node_modules\/sasl(?:mechanisms|-anonymous|-plain)$/.test(place);
      const says = license ?? (old && read(`${place}/LICENSE`).includes("The MIT License") ? "MIT" : "none");
      expect([place, ALLOWED.has(says)]).toEqual([place, true]);
      // It looks whether there is a binary for this machine; packages.test.ts installs without scripts, and uses it.
      if (nameOf(place) !== "@photostructure/sqlite") expect([place, hasInstallScript]).toEqual([place, undefined]);
    }
  });
});
