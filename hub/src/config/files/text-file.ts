// Reads a config file as text, with a size limit.

import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errorCode } from "@plugboard/shared/error-code";
import { HubError } from "../../errors.ts";
import { tooLarge } from "../parse/json.ts";
import { FILE_MAX_BYTES } from "../schema/limits.ts";

interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  /** Empty if the file has none. */
  readonly byteOrderMark: string;
  /** Permission bits. */
  readonly mode: number;
}

const BYTE_ORDER_MARK = "\uFEFF";

/** The text of a file, or undefined if it does not exist. */
export async function readTextFile(path: string): Promise<TextFile | undefined> {
  const file = basename(path);
  try {
    const handle = await open(path, "r");
    try {
      const info = await handle.stat();
      // Reading a named pipe would never end.
      if (!info.isFile()) throw new HubError("InvalidConfig", `${path} is not a file`);
      if (info.size > FILE_MAX_BYTES) throw tooLarge(file);
      const text = decode(await handle.readFile(), file);
      const byteOrderMark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
      return { text: text.slice(byteOrderMark.length), byteOrderMark, mode: info.mode & 0o777 };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof HubError) throw error;
    if (errorCode(error) === "ENOENT") return undefined;
    if (errorCode(error) === "ENOTDIR") {
      const folder = dirname(path);
      const hint = `The config path must be the folder of ${file}, such as ${dirname(folder)}`;
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
