// Validates config files and collects all errors and warnings. Starts and saves nothing.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkTexts } from "../config/parse/check.ts";
import { GROUP_FILE, parseServerDocument, SERVER_FILE, toServers } from "../config/parse/documents.ts";
import { parseJsonText } from "../config/parse/json.ts";
import { isObject } from "../lib/json/json.ts";
import { readTextFile } from "../config/files/text-file.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { Catalog } from "../catalog/catalog.ts";
import { HubError, type ErrorBody } from "../errors.ts";

export interface Check {
  readonly valid: boolean;
  readonly errors: readonly ErrorBody[];
  readonly warnings: readonly string[];
  readonly servers: number;
  readonly groups: number;
}

/** Checks the two files of a folder, or one file with servers, groups or both. */
export async function checkFiles(folder: string, file: string | undefined): Promise<Check> {
  if (file !== undefined) {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      throw new HubError("InvalidArgument", `Cannot read ${file}`, {
        field: "file",
        detail: String(error),
        cause: error,
      });
    });
    return check(...(await split(text, file)));
  }
  const [servers, groups] = await Promise.all(
    [SERVER_FILE, GROUP_FILE].map(async (name) => (await readTextFile(join(folder, name)))?.text ?? ""),
  );
  return check(servers ?? "", groups ?? "");
}

/** The valid servers of a folder, or none if its file is invalid. Unlike loading, this changes nothing. */
export async function readServers(folder: string): Promise<readonly ServerConfig[]> {
  try {
    const document = parseServerDocument((await readTextFile(join(folder, SERVER_FILE)))?.text ?? "");
    return toServers(document).filter(({ invalid }) => invalid === undefined);
  } catch {
    return []; // checkFiles reports the error
  }
}

/** Splits a single file, which may hold servers, groups or both. */
async function split(text: string, file: string): Promise<[servers: string, groups: string]> {
  const json = parseJsonText(text, file);
  const isServers = isObject(json) && ["mcpServers", "servers"].some((key) => isObject(json[key]));
  if (!isObject(json)) return [text, ""];
  if (isServers) return [text, isObject(json["groups"]) ? JSON.stringify({ groups: json["groups"] }) : ""];
  return ["", text];
}

export function check(serverText: string, groupText: string): Check {
  const { errors, warnings, config } = checkTexts(serverText, groupText);
  const servers = config.servers.filter(({ invalid }) => invalid === undefined);
  return {
    valid: errors.length === 0,
    errors,
    warnings: [...warnings, ...Catalog.build(config, new Map()).warnings],
    servers: servers.length,
    groups: config.groups.length,
  };
}
