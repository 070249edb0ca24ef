// Detects by a launcher's stderr that it downloads the server. Made for uv 0.4 to 0.13, npm 8 to 12, docker 20 to 28. A silent
// launcher has the ordinary start limit.

import type { Launcher } from "../../config/schema/types.ts";

interface DownloadPhrases {
  readonly begins: RegExp;
  /** Absent if the launcher does not report the end. */
  readonly ends?: RegExp;
}

const WORDS: Readonly<Partial<Record<Launcher, DownloadPhrases>>> = {
  uvx: { begins: /^\s*(?:Downloading|Building|Updating) /, ends: /^Installed \d+ packages? in / },
  npx: { begins: /^npm (?:warn|WARN) exec The following packages? (?:was|were) not found and will be installed/ },
  docker: { begins: /^Unable to find image |: Pulling from /, ends: /^Status: (?:Downloaded|Image is up to date)/ },
};
/** No line that matters is longer. */
const MAX_LINE_CHARS = 1000;

/** Takes chunks of stderr. Undefined if the launcher downloads nothing. */
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
