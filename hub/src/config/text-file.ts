// A config file as text, read within bounds. What the text says is left to the parsers.

import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorCode } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { tooLarge } from "./json.ts";
import { FILE_MAX_BYTES } from "./limits.ts";

interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  /** What stood before it: a byte order mark, or nothing. */
  readonly mark: string;
  /** Permission bits. */
  readonly mode: number;
}

const MARK = "\uFEFF";

/** The text of a file, or undefined where there is no such file. */
export async function readTextFile(path: string): Promise<TextFile | undefined> {
  const file = basename(path);
  try {
    const handle = await open(path, "r");
    try {
      const info = await handle.stat();
      // A pipe would never end, a folder never begin.
      if (!info.isFile()) throw new HubError("InvalidConfig", `${path} is not a file`);
      if (info.size > FILE_MAX_BYTES) throw tooLarge(file);
      const text = decode(await handle.readFile(), file);
      const mark = text.startsWith(MARK) ? MARK : "";
      return { text: text.slice(mark.length), mark, mode: info.mode & 0o777 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (errorCode(error) === "ENOENT") return undefined;
    if (errorCode(error) === "ENOTDIR") {
      const folder = dirname(path);
      const hint = `The config is the folder that ${file} is in, such as ${dirname(folder)}`;
      throw new HubError("InvalidConfig", `${folder} is not a folder`, { hint, cause: error });
    }
    const detail = error instanceof Error ? error.message : String(error);
    throw new HubError("InvalidConfig", `Cannot read ${path}`, { detail, cause: error });
  }
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new HubError("InvalidConfig", `${file} is not UTF-8 text`, { hint: "Save it as UTF-8", cause: error });
  }
}
