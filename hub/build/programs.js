// Puts the hub's files and the libraries that they need into a few: opening and compiling 450 small ones was half of the start.
// What the sources load with `import()` stays apart. Nothing is minified, so that stacks can be read. The types, and the
// modules one by one for the tests, are tsc's.

import { fileURLToPath } from "node:url";
import { oneLanguage } from "./one-language.js";
import { thirdPartyLicenses } from "./third-party-licenses.js";

/**
 * One program with all that it loads. Its folder is two below the package, as those of the sources are: a path that is
 * relative to a file holds for both.
 *
 * @param {string} name
 * @param {string} source
 * @param {"bundle" | "embed"} folder
 * @param {import("rolldown").OutputOptions} [output]
 * @returns {import("rolldown").BuildOptions}
 */
function program(name, source, folder, output = {}) {
  return {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    input: { [name]: source },
    platform: "node",
    // The one is native, the other a package of our own.
    external: ["@photostructure/sqlite", /^plugboard-chat(?:\/|$)/],
    // Where a library comes as an ES module too, what is not used of it can be left out.
    resolve: { mainFields: ["module", "main"] },
    // Of the modules one by one it is not: there it keeps a command from loading another's.
    checks: { ineffectiveDynamicImport: false },
    plugins: [oneLanguage(), thirdPartyLicenses()],
    output: { dir: `dist/${folder}`, chunkFileNames: "[name].js", comments: { legal: true, jsdoc: false }, ...output },
  };
}

const MAIN = /[\\/]src[\\/]main\.ts$/;
const HUB = /[\\/]src[\\/]hub\.ts$/;

export const programs = [
  program("main", "src/main.ts", "bundle", {
    cleanDir: true,
    codeSplitting: {
      groups: [
        // What every command needs. Without the entry, which is not over before the command is: nobody may wait for it.
        { name: "cli", tags: ["$initial"], test: (id) => !MAIN.test(id), priority: 2 },
        { name: "hub", test: HUB, priority: 1 },
      ],
    },
  }),
  program("demo", "src/demo/main.ts", "bundle"),
  program("call-worker", "src/store/call-worker.ts", "bundle"),
  program("index", "src/index.ts", "embed", { cleanDir: true }),
];
