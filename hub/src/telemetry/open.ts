// Loads tracing if the environment names a collector, and nothing otherwise.

import type { OtlpTracingOptions } from "./otlp-tracing.ts";
import type { Variables } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

export interface LoadedTracing {
  readonly create?: (options: Omit<OtlpTracingOptions, "settings">) => Tracing;
  /** Where traces are sent, without credentials. */
  readonly url?: string;
  readonly warnings: readonly string[];
}

export async function loadTracing(variables: Variables): Promise<LoadedTracing> {
  if (!wantsTraces(variables)) return { warnings: [] };
  const [{ readSettings }, { OtlpTracing }] = await Promise.all([import("./settings.ts"), import("./otlp-tracing.ts")]);
  const { settings, warnings } = readSettings(variables);
  if (settings === undefined) return { warnings };
  const { origin, pathname } = settings.url;
  return { create: (options) => new OtlpTracing({ ...options, settings }), url: origin + pathname, warnings };
}

function wantsTraces(variables: Variables): boolean {
  const endpoint = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || variables["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const disabled = variables["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  return Boolean(endpoint) && !disabled && variables["OTEL_TRACES_EXPORTER"] !== "none";
}
