// Reads OpenTelemetry's environment variables for traces.
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/

import { createSampler, DEFAULT_SAMPLER, type Sampler } from "./sampler.ts";
import type { Attributes } from "./span.ts";
import { trimEnd } from "@plugboard/shared/trim";

export type Variables = Readonly<Record<string, string | undefined>>;

export interface TraceSettings {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: boolean;
  readonly timeoutMs: number;
  /** How long spans are collected into a batch. */
  readonly delayMs: number;
  readonly sampler: Sampler;
  readonly resource: Attributes;
}

export interface ReadSettings {
  /** Absent if traces cannot be sent with these settings. */
  readonly settings?: TraceSettings;
  readonly warnings: readonly string[];
}

/** Both are sent as JSON, which every OTLP/HTTP collector accepts. */
const PROTOCOLS = ["http/protobuf", "http/json"];

export function readSettings(variables: Variables): ReadSettings {
  const warnings: string[] = [];
  // The variables for traces take precedence. An empty variable counts as unset.
  const exporter = (name: string) =>
    variables[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || variables[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const number = (name: string, value: string | undefined, { or, max }: { or: number; max: number }) => {
    if (value === undefined || value === "") return or;
    const parsed = Number(value);
    if (parsed >= 0 && parsed <= max) return parsed;
    warnings.push(`${name} must be a number from 0 to ${max}: using ${or}`);
    return or;
  };
  const url = endpointOf(variables);
  if (url === undefined) {
    return { warnings: ["The OTLP endpoint is not an http:// or https:// URL: no traces are sent"] };
  }
  const protocol = exporter("PROTOCOL");
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    const known = PROTOCOLS.join(" or ");
    return { warnings: [`OTEL_EXPORTER_OTLP_PROTOCOL must be ${known}, not ${protocol}: no traces are sent`] };
  }
  const ratio = number("OTEL_TRACES_SAMPLER_ARG", variables["OTEL_TRACES_SAMPLER_ARG"], { or: 1, max: 1 });
  const samplerName = variables["OTEL_TRACES_SAMPLER"] || DEFAULT_SAMPLER;
  const sampler = createSampler(samplerName, ratio);
  if (sampler === undefined) warnings.push(`Unknown OTEL_TRACES_SAMPLER ${samplerName}: every trace is sent`);
  const settings = {
    url,
    headers: {
      ...pairs(variables["OTEL_EXPORTER_OTLP_HEADERS"]),
      ...pairs(variables["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]),
    },
    gzip: exporter("COMPRESSION") === "gzip",
    timeoutMs: number("OTEL_EXPORTER_OTLP_TIMEOUT", exporter("TIMEOUT"), { or: 10_000, max: MAX_MS }),
    delayMs: number("OTEL_BSP_SCHEDULE_DELAY", variables["OTEL_BSP_SCHEDULE_DELAY"], { or: 5000, max: MAX_MS }),
    sampler: sampler ?? (() => true),
    resource: resourceOf(variables),
  };
  return { settings, warnings };
}

const MAX_MS = 3_600_000;

/** The endpoint for traces is used as it is; `/v1/traces` is added to the general one. */
function endpointOf(variables: Variables): URL | undefined {
  const own = variables["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const text = own || variables["OTEL_EXPORTER_OTLP_ENDPOINT"] || "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  if (!own) url.pathname = `${trimEnd(url.pathname, "/")}/v1/traces`;
  return url;
}

function resourceOf(variables: Variables): Attributes {
  const given = pairs(variables["OTEL_RESOURCE_ATTRIBUTES"]);
  return { ...given, "service.name": variables["OTEL_SERVICE_NAME"] || given["service.name"] || "plugboard" };
}

/** Parses `a=b,c=d`, percent-encoded. Malformed pairs are ignored. */
function pairs(text: string | undefined): Record<string, string> {
  const found = (text ?? "").split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    const key = decode(pair.slice(0, at));
    const value = decode(pair.slice(at + 1));
    return at > 0 && key && value !== undefined ? [[key, value]] : [];
  });
  return Object.fromEntries(found);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined; // a stray percent sign
  }
}
