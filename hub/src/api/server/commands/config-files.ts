// The texts of the config files, for an editor.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ConfigFileName, EditOptions } from "../../../config/files/config-store.ts";
import { requireSaveable } from "../../../config/edit/server-changes.ts";
import {
  GROUP_FILE,
  namedEntries,
  parseServerDocument,
  SERVER_FILE,
  toServers,
} from "../../../config/parse/documents.ts";
import { withPath } from "../../../config/parse/error-path.ts";
import { parseJsonText } from "../../../config/parse/json.ts";
import { errorsOf, placeOf } from "../../../config/parse/positions.ts";
import { HubError } from "../../../errors.ts";
import { InvalidRequest, type FieldError } from "../../../http/problem.ts";
import type { ConfigFile } from "../../schemas/config-file.ts";
import type { Managed } from "../core.ts";
import { KnownSecrets } from "../entry/known-secrets.ts";
import { maskConfigText, unmaskConfigText } from "../entry/masked-text.ts";
import { toEtag } from "../revision.ts";

const FILES = { mcp_server: SERVER_FILE, group: GROUP_FILE } as const;

export class ConfigFileCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** Throws if the file is not JSON: its secrets could not be found. */
  async read(file: ConfigFileName): Promise<ConfigFile> {
    const { [file]: text, revision } = await this.#managed.hub.configuration.readTexts();
    parseJsonText(text, FILES[file], () => undefined);
    const path = join(this.#managed.paths.config, FILES[file]);
    return { path, text: maskConfigText(text, await this.#secrets()), etag: toEtag(revision) };
  }

  /** Saves a text without errors, with the stored secrets in place of `***`. */
  async replace(file: ConfigFileName, given: string, options: EditOptions = {}): Promise<ConfigFile> {
    const { text, revision } = await this.#checked(file, given, options);
    await this.#managed.hub.configuration.replaceText(file, text, { ...options, ifRevision: revision });
    return this.read(file);
  }

  /** Throws what `replace` would throw. */
  async validate(file: ConfigFileName, given: string, options: EditOptions = {}): Promise<ConfigFile> {
    await this.#checked(file, given, options);
    return this.read(file);
  }

  /** The text to save, and the revision that it replaces. */
  async #checked(
    file: ConfigFileName,
    given: string,
    { ifRevision }: EditOptions,
  ): Promise<{ readonly text: string; readonly revision: string }> {
    const stored = await this.#managed.hub.configuration.readTexts();
    if (ifRevision !== undefined && ifRevision !== stored.revision) {
      throw new HubError("Conflict", "The config has changed since you read it", { hint: "Read it again and retry" });
    }
    const invalid = file === "group" ? errorsOf(stored.mcp_server, given) : errorsOf(given);
    if (invalid.length > 0) throw new InvalidRequest(invalid.map(toFieldError), "InvalidConfig");
    const { text, errors } = unmaskConfigText(given, stored[file], await this.#secrets());
    if (file === "mcp_server") errors.push(...(await this.#refusals(given, text, stored.mcp_server)));
    // A value that was hidden may be invalid, too.
    if (errors.length === 0 && file === "mcp_server") errors.push(...errorsOf(text).map(toFieldError));
    if (errors.length > 0) throw new InvalidRequest(errors, "InvalidConfig");
    return { text, revision: stored.revision };
  }

  /** What may not be saved through the hub, as for single entries. Entries that stay as they are may keep it. */
  async #refusals(given: string, text: string, stored: string): Promise<FieldError[]> {
    const [document, old] = [parseServerDocument(text), parseServerDocument(stored)];
    const before = new Map(toServers(old).map((server) => [server.name, server]));
    const oldKeys = new Map(namedEntries(old).map(({ name, key }) => [name, key]));
    const keys = new Map(namedEntries(document).map(({ name, key }) => [name, key]));
    const refusals: FieldError[] = [];
    for (const server of toServers(document)) {
      const known = before.get(server.name);
      if (isDeepStrictEqual(server, known)) continue;
      const [key = server.name, oldKey] = [keys.get(server.name), oldKeys.get(server.name)];
      const field = `${document.root}.${key}`;
      try {
        const replaced = oldKey === undefined ? undefined : { key: oldKey, entry: old.entries[oldKey] };
        withPath(`Server ${JSON.stringify(key)}`, field, () =>
          requireSaveable(server, document.entries[key], replaced),
        );
        await this.#managed.hub.configuration.requireResolvable(
          server,
          known?.invalid === undefined ? known : undefined,
        );
      } catch (thrown) {
        if (!(thrown instanceof HubError)) throw thrown;
        const inside = thrown.field?.startsWith(field) === true ? thrown.field : `${field}.${thrown.field ?? ""}`;
        refusals.push(toFieldError({ ...thrown.toJSON(), field: inside, ...placeOf(given, { field: inside }) }));
      }
    }
    return refusals;
  }

  #secrets(): Promise<KnownSecrets> {
    return KnownSecrets.of(this.#managed.hub.secrets);
  }
}

function toFieldError({ field = "", code, message, line, column }: ReturnType<typeof errorsOf>[number]): FieldError {
  return { field, code, message, ...(line === undefined || column === undefined ? {} : { line, column }) };
}
