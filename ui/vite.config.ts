// Builds the web UI into hub/dist/ui, from where the hub serves it.

import { join } from "node:path";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { precompress } from "./build/precompress.ts";

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  // Relative, so that the UI works under any prefix: the hub inserts <base href>.
  base: "./",
  // Named, since Vitest runs from another folder.
  plugins: [svelte({ configFile: join(import.meta.dirname, "svelte.config.js") }), precompress()],
  // Tests of stores run in Node, with Svelte's browser code.
  ...(mode === "test" ? { resolve: { conditions: ["browser"] } } : {}),
  worker: { format: "es" },
  build: {
    outDir: "../hub/dist/ui",
    emptyOutDir: true,
    target: "es2023",
    // The Content-Security-Policy forbids inline scripts, and data: only for images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    license: { fileName: "THIRD-PARTY-LICENSES.txt" },
    rolldownOptions: {
      // How long plugins take on a busy machine is no warning for the person who starts the hub.
      checks: { bundlerTimings: false },
      output: {
        // What most screens use is one file: dozens of small ones compress badly, and each is a request.
        codeSplitting: {
          groups: [
            { name: "shared", test: /[\\/]src[\\/]|svelte/, minShareCount: 3 },
            { name: "schema-form", test: /[\\/](?:schema-form|schema)[\\/]/ },
            // Pages that people go between: together they are smaller.
            { name: "groups", test: /[\\/]screens[\\/]groups[\\/]/ },
            { name: "access", test: /[\\/]screens[\\/](?:access|audit|connections|secrets)[\\/]/ },
          ],
        },
      },
    },
  },
}));
