// The part of the client about the config as a whole and its files.

import type { JsonObject } from "../../lib/json/json.ts";
import type { ConfigChangesView, ConfigCheck, ConfigDocument, ConfigView } from "../schemas/config.ts";
import type { ConfigFile, ConfigFileName } from "../schemas/config-file.ts";
import type { Connection } from "./connection.ts";
import { type EditOptions, ifMatch } from "./request-parts.ts";

export class ConfigClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  get(): Promise<ConfigView> {
    return this.#hub.request("/config");
  }

  validate(document: JsonObject): Promise<ConfigCheck> {
    return this.#hub.request("/config/validate", { method: "POST", body: document });
  }

  /** The text of a config file, with comments. Secrets are `***`. */
  file(file: ConfigFileName): Promise<ConfigFile> {
    return this.#hub.request(`/config/files/${file}`);
  }

  /** `***` keeps the stored secret. An invalid text changes nothing. */
  replaceFile(file: ConfigFileName, text: string, options?: EditOptions): Promise<ConfigFile> {
    return this.#hub.request(`/config/files/${file}`, { method: "PUT", body: { text }, headers: ifMatch(options) });
  }

  export(): Promise<ConfigDocument> {
    return this.#hub.request("/config/export");
  }

  reload(): Promise<ConfigChangesView> {
    return this.#hub.request("/config/reload", { method: "POST" });
  }
}
