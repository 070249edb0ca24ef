import { describe, expect, it } from "vitest";
import { readSettings } from "./settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const settings = (variables: Record<string, string>) => readSettings({ ...ENDPOINT, ...variables }).settings;
const warnings = (variables: Record<string, string>) => readSettings({ ...ENDPOINT, ...variables }).warnings;

describe("the collector endpoint", () => {
  it.each([
    [ENDPOINT, "http://collector:4318/v1/traces"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "https://example.com/otlp/?a=1" }, "https://example.com/otlp/v1/traces?a=1"],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other:1/exact/" }, "http://other:1/exact/"],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other:1" }, "http://other:1/"],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" }, "http://collector:4318/v1/traces"],
  ])("MG-3 %j", (variables, url) => expect(readSettings(variables).settings?.url.href).toBe(url));

  it.each(["collector:4318", "grpc://collector:4317", "nonsense"])("MG-3 %s is rejected with a warning", (endpoint) => {
    const read = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(read).toEqual({ warnings: [expect.stringContaining("not an http:// or https:// URL")] });
  });
});

describe("the other variables", () => {
  it("MG-3 have the defaults of the specification", () => {
    expect(readSettings(ENDPOINT)).toMatchObject({
      settings: { headers: {}, gzip: false, timeoutMs: 10_000, delayMs: 5000 },
      warnings: [],
    });
    expect(settings({})?.resource).toEqual({ "service.name": "plugboard" });
  });

  it("MG-3 variables for traces take precedence over general ones", () => {
    expect(
      settings({
        OTEL_EXPORTER_OTLP_HEADERS: "a=1, b = two%20words ,broken,=none,c=%E0%A4%A",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=3",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TIMEOUT: "1",
        OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "2000",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      }),
    ).toMatchObject({ headers: { a: "1", b: "3" }, timeoutMs: 2000, gzip: true });
  });

  it("MG-3 OTEL_SERVICE_NAME takes precedence over OTEL_RESOURCE_ATTRIBUTES", () => {
    const OTEL_RESOURCE_ATTRIBUTES = "service.name=one,team=a%2Cb";
    expect(settings({ OTEL_RESOURCE_ATTRIBUTES })?.resource).toEqual({ "service.name": "one", team: "a,b" });
    expect(settings({ OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME: "two" })?.resource).toEqual({
      "service.name": "two",
      team: "a,b",
    });
  });

  it.each([
    [{ OTEL_TRACES_SAMPLER: "sometimes" }, /Unknown OTEL_TRACES_SAMPLER sometimes/],
    [{ OTEL_TRACES_SAMPLER_ARG: "2" }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
    [{ OTEL_BSP_SCHEDULE_DELAY: "soon" }, /OTEL_BSP_SCHEDULE_DELAY must be a number/],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: "-1" }, /OTEL_EXPORTER_OTLP_TIMEOUT must be a number/],
  ])("MG-3 %j falls back to the default, with a warning", (variables, warning) => {
    expect(warnings(variables)).toEqual([expect.stringMatching(warning)]);
    expect(settings(variables)).toMatchObject({ timeoutMs: 10_000, delayMs: 5000 });
  });
});

describe("sampling", () => {
  const spanId = "1".repeat(16);
  const low = `${"f".repeat(16)}${"0".repeat(16)}`;
  const high = `${"0".repeat(16)}${"f".repeat(16)}`;
  const decide = (OTEL_TRACES_SAMPLER: string, traceId: string, parentSampled?: boolean) =>
    settings({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: "0.5" })?.sampler(
      traceId,
      parentSampled === undefined ? undefined : { traceId, spanId, sampled: parentSampled },
    );

  it.each([
    ["", low, undefined, true],
    ["", low, false, false],
    ["", low, true, true],
    ["always_on", low, false, true],
    ["always_off", low, true, false],
    ["traceidratio", low, undefined, false],
    ["traceidratio", high, false, true],
    ["parentbased_always_off", low, undefined, false],
    ["parentbased_always_off", low, true, true],
    ["parentbased_traceidratio", low, undefined, false],
    ["parentbased_traceidratio", high, undefined, true],
    ["parentbased_traceidratio", low, true, true],
  ])("MG-3 OTEL_TRACES_SAMPLER=%s: id %s, parent %s → %s", (sampler, traceId, parent, expected) => {
    expect(decide(sampler, traceId, parent)).toBe(expected);
  });
});
