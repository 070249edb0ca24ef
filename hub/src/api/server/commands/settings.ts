// Settings of the hub: what is in force, and changes of those that are in a config file.

import type { EditOptions } from "../../../config/files/config-store.ts";
import type { Settings, SettingsPatch } from "../../schemas/settings.ts";
import type { Managed } from "../core.ts";

const DAY_MS = 24 * 3_600_000;

export class SettingsCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async show(): Promise<Settings> {
    const { hub, paths, callLog } = this.#managed;
    const { bytes, oldestAt } = await callLog.usage();
    const { maxAgeMs, maxBytes, maxRows } = callLog.retention;
    const { config, data, state, cache } = paths;
    return {
      call_log: {
        retention_days: maxAgeMs / DAY_MS,
        max_bytes: maxBytes,
        max_calls: maxRows,
        used_bytes: bytes,
        oldest_at: oldestAt === undefined ? null : new Date(oldestAt).toISOString(),
      },
      otlp: { endpoint: hub.tracesUrl ?? null },
      paths: { config, data, state, cache },
      listen: hub.url ?? null,
    };
  }

  /** The settings that are in force then. Calls beyond the new retention are removed in the background. */
  async change({ call_log }: SettingsPatch, options?: EditOptions): Promise<Settings> {
    if (call_log !== undefined) await this.#managed.hub.configuration.setCallLog(call_log, options);
    return this.show();
  }
}
