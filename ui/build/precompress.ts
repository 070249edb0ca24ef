// Writes a brotli and a gzip version beside every text file of the build, so that the hub never compresses at run time.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(?:html|js|css|svg|json|txt)$/;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

export function precompress(): Plugin {
  let folder = "";
  return {
    name: "precompress",
    apply: "build",
    configResolved: (config) => {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle: async () => {
      const names = await readdir(folder, { recursive: true });
      // index.html gets its <base> from the hub, which compresses the result itself.
      const texts = names.filter((name) => TEXT.test(name) && name !== "index.html");
      await Promise.all(texts.map((name) => compress(join(folder, name))));
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  await writeFile(`${path}.br`, await brotli(content, { params }));
  await writeFile(`${path}.gz`, await zip(content, { level: 9 }));
}
