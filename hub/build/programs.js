// Puts the hub's files and the libraries that they need into a few: opening and compiling 450 small ones was half of the start.
// What the sources load with `import()` stays apart. Nothing is minified, so that stacks can be read. The types, and the
// modules one by one for the tests, are tsc's.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { oneLanguage } from "./one-language.js";
import { thirdPartyLicenses } from "./third-party-licenses.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
/** Two below the package, as those of the sources are: a path that is relative to a file holds for both. */
const BUNDLE = join(PACKAGE, "dist/bundle");
const EMBED = join(PACKAGE, "dist/embed");
/** The private workspace is bundled as tsc compiles it. */
const SHARED = fileURLToPath(new URL("../../shared/dist", import.meta.url));
const CHAT = fileURLToPath(new URL("../../chat", import.meta.url));
/** One below the package, like `chat/src`: version.ts reads `../package.json`. */
const CHAT_BUNDLE = join(CHAT, "bundle");
export const FOLDERS = [BUNDLE, EMBED, CHAT_BUNDLE];

/** A hash of the sources: the hub compares it with that of its worker thread. */
function buildId() {
  const hash = createHash("sha256");
  for (const folder of [join(PACKAGE, "src"), SHARED]) {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    for (const name of names.filter((file) => /(?<!\.test|\.d)\.[jt]s$/.test(file)).toSorted())
      hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest("hex").slice(0, 16);
}

const BUILD_ID = buildId();

/**
 * One program with all that it loads.
 *
 * @param {string} name
 * @param {string} source
 * @param {string} folder
 * @param {import("rolldown").OutputOptions} [output]
 */
function program(name, source, folder, output = {}) {
  /** @type {import("rolldown").BuildOptions} */
  const options = {
    cwd: PACKAGE,
    input: { [name]: source },
    platform: "node",
    // Two are native, one is for those who switch it on, and one is a package of our own.
    external: ["@photostructure/sqlite", "oidc-provider", "pg-native", /^plugboard-chat(?:\/|$)/],
    // Where a library comes as an ES module too, what is not used of it can be left out.
    resolve: { mainFields: ["module", "main"] },
    transform: { define: { PLUGBOARD_BUILD_ID: JSON.stringify(BUILD_ID) } },
    // One that changes nothing here still does so for the modules one by one.
    checks: { ineffectiveDynamicImport: false },
    plugins: [oneLanguage(), thirdPartyLicenses()],
    output: { dir: folder, chunkFileNames: "[name].js", comments: { legal: true, jsdoc: false }, ...output },
  };
  return { folder, options };
}

/**
 * The chat package keeps its dependencies; only the private workspace is inlined.
 *
 * @type {import("rolldown").BuildOptions}
 */
const chatOptions = {
  cwd: CHAT,
  input: { main: "src/main.ts", cli: "src/cli/cli.ts" },
  platform: "node",
  external: /^(?!@plugboard\/shared\/)[@\w]/,
  checks: { ineffectiveDynamicImport: false },
  output: { dir: CHAT_BUNDLE, chunkFileNames: "[name].js", comments: { legal: true, jsdoc: false } },
};

const MAIN = /[\\/]src[\\/]main\.ts$/;
const BRIDGE = /[\\/]src[\\/]cli[\\/](?:commands[\\/]stdio|hub-access[\\/]stdio-(?:target|bridge))\.ts$/;
const UP = /[\\/]src[\\/]cli[\\/]commands[\\/]up\.ts$/;
const COMMANDS = /[\\/]src[\\/]cli[\\/]program\.ts$/;
const HUB = /[\\/]src[\\/]hub[\\/]hub\.ts$/;
/** What both the commands and the hub use, and is small: without it the hub would load all commands. */
const COMMON =
  /[\\/](?:src[\\/](?:config[\\/]parse[\\/]docker-flags|entry-input[\\/]launch-words|lib[\\/](?:quoted|json[\\/]canonical-json|files[\\/]find-program)|call-log[\\/]outcome|catalog[\\/](?:tokens|tool-diff)|registry[\\/]model|search[\\/]signature|protocol[\\/]rpc[\\/]log-level)\.ts|shared[\\/]dist[\\/](?:near-names|files[\\/]exists)\.js)$/;

export const programs = [
  // First: the licences of its libraries are among those of the main program, which replace them.
  program("pg-call-worker", "src/database/call-log/worker.ts", BUNDLE),
  program("main", "src/main.ts", BUNDLE, {
    codeSplitting: {
      groups: [
        // Each with all that it needs, but for what stands in one before it: the smaller a process is to be, the earlier.
        // Without the entry, which is not over before the command is: nobody may wait for it.
        { name: "entry", tags: ["$initial"], test: (id) => !MAIN.test(id), priority: 5 },
        { name: "bridge", test: BRIDGE, priority: 4 },
        { name: "up", test: UP, priority: 3 },
        { name: "common", test: COMMON, priority: 2.5 },
        { name: "cli", test: COMMANDS, priority: 2 },
        { name: "hub", test: HUB, priority: 1 },
      ],
    },
  }),
  program("demo", "src/demo/main.ts", BUNDLE),
  program("call-worker", "src/call-log/sqlite/worker.ts", BUNDLE),
  program("index", "src/index.ts", EMBED),
  { folder: CHAT_BUNDLE, options: chatOptions },
];
