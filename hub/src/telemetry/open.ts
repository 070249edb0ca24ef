// Traces, where the environment names a collector for them. Nothing is loaded where it does not.

import type { OtlpTracingOptions } from "./otlp-tracing.ts";
import type { Variables } from "./settings.ts";
import type { Tracing } from "./tracing.ts";

export interface LoadedTracing {
  readonly create?: (options: Omit<OtlpTracingOptions, "settings">) => Tracing;
  readonly warnings: readonly string[];
}

export async function loadTracing(variables: Variables): Promise<LoadedTracing> {
  if (!wantsTraces(variables)) return { warnings: [] };
  const [{ readSettings }, { OtlpTracing }] = await Promise.all([import("./settings.ts"), import("./otlp-tracing.ts")]);
  const { settings, warnings } = readSettings(variables);
  if (settings === undefined) return { warnings };
  return { create: (options) => new OtlpTracing({ ...options, settings }), warnings };
}

function wantsTraces(variables: Variables): boolean {
  const endpoint = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || variables["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const disabled = variables["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  return Boolean(endpoint) && !disabled && variables["OTEL_TRACES_EXPORTER"] !== "none";
}
