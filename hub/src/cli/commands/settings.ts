// `plugboard settings`: shows the settings of the hub, or changes how long calls are recorded.

import { HubError } from "../../errors.ts";
import type { Settings, SettingsPatch } from "../../api/schemas/settings.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";
import type { Output } from "../terminal/output.ts";

type CallLogPatch = NonNullable<SettingsPatch["call_log"]>;

/** How the value of each setting is read. */
const NAMES: { readonly [K in keyof Required<CallLogPatch> as `call_log.${K}`]: (given: string) => CallLogPatch } = {
  "call_log.retention_days": (given) => ({ retention_days: toNumber(given, DAYS) }),
  "call_log.max_bytes": (given) => ({ max_bytes: toNumber(given, BYTES) }),
};
const DEFAULT = "default";
const DAYS = { d: 1 };
const BYTES = { KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 };
const EXAMPLE = "plugboard settings call_log.retention_days=90 call_log.max_bytes=2GB";

export const settingsCommand: Register = (program, { io }) => {
  program
    .command("settings")
    .description("show the settings of the hub, or change how long calls are recorded")
    .argument("[name=value...]", `${Object.keys(NAMES).join(", ")}; the value ${DEFAULT} restores the default`)
    .addHelpText("after", `\n  ${EXAMPLE}\n  plugboard settings call_log.max_bytes=${DEFAULT}`)
    .action(async (changes: string[], options: GlobalOptions) => {
      const call_log = changes.map(parseChange).reduce((all, one) => ({ ...all, ...one }), {});
      await withAccess(io, options, async ({ api, out, where }) => {
        if (changes.length === 0) return show(await api.settings(), out);
        const settings = await api.changeSettings({ call_log });
        out.changed(`Changed ${Object.keys(call_log).join(", ")} in ${where("mcp_server.json")}`, settings);
      });
    });
};

function parseChange(given: string): CallLogPatch {
  const [name = "", value = ""] = given.split(/=(.*)/s);
  const known = Object.entries(NAMES).find(([each]) => each === name);
  if (known === undefined || value === "") {
    throw new HubError("InvalidArgument", `Invalid setting "${given}"`, { hint: EXAMPLE });
  }
  return known[1](value);
}

/** Null: the default. A value that is not a number is refused by the hub, with the allowed range. */
function toNumber(given: string, units: Readonly<Record<string, number>>): number | null {
  if (given === DEFAULT) return null;
  const [, digits = "", unit = ""] = /^([\d.]+) ?([a-z]*)$/i.exec(given) ?? [];
  const factor =
    unit === "" ? 1 : Object.entries(units).find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1];
  const value = Number(digits) * (factor ?? NaN);
  if (digits !== "" && Number.isFinite(value)) return value;
  throw new HubError("InvalidArgument", `"${given}" is not a number`, {
    hint: `Use a number, also with ${Object.keys(units).join(", ")}, or ${DEFAULT}`,
  });
}

function show(settings: Settings, out: Output): void {
  if (out.json) return out.data(settings);
  const { call_log, otlp, paths, listen } = settings;
  const { retention_days, max_bytes, max_calls, used_bytes, oldest_at } = call_log;
  const rows = [
    ["call_log.retention_days", String(retention_days)],
    [
      "call_log.max_bytes",
      `${max_bytes} (${size(max_bytes)}), ${size(used_bytes)} used, and at most ${max_calls} calls`,
    ],
    ["oldest call", oldest_at ?? "none"],
    ["traces to", otlp.endpoint ?? "nowhere: OTEL_EXPORTER_OTLP_ENDPOINT is not set"],
    ["address", listen ?? "none: no hub is running"],
    ...Object.entries(paths).map(([name, path]) => [`${name} folder`, out.tilde(path)]),
  ];
  out.table(rows.map(([name = "", value = ""]) => [{ text: name, paint: out.color.faint }, value]));
}

function size(bytes: number): string {
  const [unit, factor] = Object.entries(BYTES).findLast(([, each]) => bytes >= each) ?? ["bytes", 1];
  return `${Math.round((bytes / factor) * 10) / 10} ${unit}`;
}
