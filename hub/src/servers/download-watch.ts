// Tells from a launcher's stderr that it is fetching the server, which happens inside the launched process. uv 0.4 to
// 0.13, npm 8 to 12, docker 20 to 28; a launcher that says nothing has the ordinary time to start.

import type { Launcher } from "../config/types.ts";

interface Words {
  readonly begins: RegExp;
  /** Absent where the launcher never says that it is done. */
  readonly ends?: RegExp;
}

const WORDS: Readonly<Partial<Record<Launcher, Words>>> = {
  uvx: { begins: /^\s*(?:Downloading|Building|Updating) /, ends: /^Installed \d+ packages? in / },
  npx: { begins: /^npm (?:warn|WARN) exec The following packages? (?:was|were) not found and will be installed/ },
  docker: { begins: /^Unable to find image |: Pulling from /, ends: /^Status: (?:Downloaded|Image is up to date)/ },
};
/** No line that matters is longer. */
const MAX_LINE_CHARS = 1000;

/** For what a launcher writes to stderr; undefined where it fetches nothing. */
export function watchDownload(
  launcher: Launcher,
  onChange: (isDownloading: boolean) => void,
): ((chunk: Uint8Array) => void) | undefined {
  const words = WORDS[launcher];
  if (words === undefined) return undefined;
  const decoder = new TextDecoder();
  let rest = "";
  let isDownloading = false;
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()?.slice(0, MAX_LINE_CHARS) ?? "";
    for (const line of lines) {
      const next = isDownloading ? words.ends?.test(line) !== true : words.begins.test(line);
      if (next !== isDownloading) onChange(next);
      isDownloading = next;
    }
  };
}
