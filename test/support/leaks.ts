// Collects the output of a hub and searches it for planted markers in any encoding.

import { readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";

/** A marker in every encoding in which it could leak, by name, without duplicates. */
export function encodingsOf(marker: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(marker);
  const hex = bytes.toString("hex");
  const forms: [form: string, name: string][] = [
    [marker, "plain"],
    ...[0, 1, 2].flatMap((offset): [string, string][] => {
      const core = base64Core(bytes, offset);
      return [
        [core, `base64 at ${offset}`],
        [core.replaceAll("+", "-").replaceAll("/", "_"), `base64url at ${offset}`],
      ];
    }),
    [hex, "hex"],
    [hex.toUpperCase(), "hex in capitals"],
    [encodeURIComponent(marker), "URL"],
    [encodeURIComponent(marker).replaceAll(/%../g, (code) => code.toLowerCase()), "URL in lower case"],
    [JSON.stringify(marker).slice(1, -1), "JSON"],
    [JSON.stringify(JSON.stringify(marker)).slice(3, -3), "JSON in JSON"],
    [
      marker
        .split("")
        .map((letter) => `\\u${hexCode(letter)}`)
        .join(""),
      "JSON, all escaped",
    ],
  ];
  return new Map(forms.toReversed().map(([form, name]) => [form, name]));
}

/** The characters that do not depend on the text before and after. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function hexCode(letter: string): string {
  return letter.charCodeAt(0).toString(16).padStart(4, "0");
}

export class Outputs {
  readonly #pieces: { readonly where: string; readonly bytes: Buffer }[] = [];

  get bytes(): number {
    return this.#pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  add(where: string, ...pieces: readonly (string | Buffer)[]): void {
    for (const piece of pieces) this.#pieces.push({ where, bytes: Buffer.from(piece) });
  }

  /** Adds every file below a folder, except paths that match a pattern. */
  async addFiles(folder: string, when: string, skipped: RegExp): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const read = paths.map((path) => relative(folder, path)).filter((path) => !skipped.test(path));
    // A temporary file may have been removed meanwhile.
    for (const path of read) this.add(`${path} ${when}`, await readFile(join(folder, path)).catch(() => ""));
    return read;
  }

  /** The markers found, with their source and the surrounding text. */
  hits(markers: Readonly<Record<string, string>>): string[] {
    const hits = new Map<string, string>();
    for (const [name, marker] of Object.entries(markers)) {
      for (const [form, how] of encodingsOf(marker)) {
        for (const { where, bytes } of this.#pieces) {
          const at = bytes.indexOf(form);
          if (at < 0) continue;
          const around = bytes.toString("latin1", Math.max(0, at - 100), at + form.length + 20);
          hits.set(`${name} (${how}) in ${where}`, around);
        }
      }
    }
    return [...hits].map(([hit, around]) => `${hit}: ${JSON.stringify(around)}`);
  }
}
