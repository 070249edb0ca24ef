// The two eras: classification of messages (compared with the official SDK), and conversion between them.

import { classifyInboundRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  adaptReply,
  adaptResult,
  classifyIncoming,
  eraOf,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSION,
  negotiate,
  outgoingMeta,
  SUPPORTED_VERSIONS,
} from "./era.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { raw, RPC } from "../rpc/jsonrpc.ts";

const ENVELOPE = { [META.version]: MODERN_VERSION, [META.clientCapabilities]: {} };

/** The era, or the error code. */
function verdict(method: string, params?: JsonObject, header?: string): string {
  const found = classifyIncoming(method, params, header);
  return found.era === "refused" ? String(found.error.code) : found.era;
}

describe("classifyIncoming", () => {
  const unsupported = String(RPC.unsupportedVersion);
  const mismatch = String(RPC.headerMismatch);
  const invalid = String(RPC.invalidParams);

  it.each([
    // No version in the body.
    ["tools/list", undefined, undefined, "legacy"],
    ["tools/list", {}, undefined, "legacy"],
    ["tools/list", { _meta: {} }, "2025-06-18", "legacy"],
    ["tools/list", { _meta: { [META.clientCapabilities]: {} } }, undefined, "legacy"],
    ["tools/list", { _meta: { progressToken: 1 } }, undefined, "legacy"],
    ["tools/list", { _meta: [] }, undefined, "legacy"],
    ["tools/list", { _meta: "x" }, undefined, "legacy"],
    ["tools/list", {}, MODERN_VERSION, invalid],
    ["tools/list", { _meta: { [META.clientCapabilities]: {} } }, MODERN_VERSION, invalid],
    ["tools/list", {}, "2099-01-01", invalid],
    // A version in the body, complete and malformed.
    ["tools/list", { _meta: ENVELOPE }, MODERN_VERSION, "modern"],
    ["tools/list", { _meta: ENVELOPE }, undefined, "modern"],
    ["tools/list", { _meta: { ...ENVELOPE, [META.clientInfo]: "nobody" } }, MODERN_VERSION, "modern"],
    ["tools/list", { _meta: ENVELOPE }, "2025-11-25", mismatch],
    ["tools/list", { _meta: ENVELOPE }, "2099-01-01", mismatch],
    ["tools/list", { _meta: { [META.version]: MODERN_VERSION } }, MODERN_VERSION, invalid],
    ["tools/list", { _meta: { ...ENVELOPE, [META.clientCapabilities]: null } }, undefined, invalid],
    ["tools/list", { _meta: { ...ENVELOPE, [META.clientCapabilities]: [] } }, undefined, invalid],
    ["tools/list", { _meta: { ...ENVELOPE, [META.version]: 20260728 } }, undefined, invalid],
    ["tools/list", { _meta: { ...ENVELOPE, [META.version]: null } }, undefined, invalid],
    ["tools/list", { _meta: { ...ENVELOPE, [META.version]: "2099-01-01" } }, "2099-01-01", unsupported],
    ["tools/list", { _meta: { ...ENVELOPE, [META.version]: "2025-11-25" } }, undefined, unsupported],
    ["tools/list", { _meta: { ...ENVELOPE, [META.version]: "" } }, undefined, unsupported],
    // `initialize` is the legacy handshake, unless it has a complete modern envelope.
    ["initialize", { protocolVersion: "2025-11-25" }, undefined, "legacy"],
    ["initialize", { protocolVersion: "2025-11-25" }, "2025-11-25", "legacy"],
    ["initialize", { protocolVersion: "2025-11-25" }, MODERN_VERSION, mismatch],
    ["initialize", { _meta: { [META.version]: "2025-11-25" } }, undefined, "legacy"],
    ["initialize", { _meta: { [META.version]: "2025-11-25" } }, MODERN_VERSION, mismatch],
    ["initialize", { _meta: { [META.version]: MODERN_VERSION } }, undefined, "legacy"],
    ["initialize", { _meta: { [META.version]: 7 } }, undefined, "legacy"],
    ["initialize", { _meta: ENVELOPE }, MODERN_VERSION, "modern"],
    ["initialize", { _meta: ENVELOPE }, undefined, "modern"],
    ["server/discover", undefined, undefined, "legacy"],
    ["server/discover", { _meta: ENVELOPE }, undefined, "modern"],
  ] as const)("CL-2 %s with %j and the header %s: %s", (method, params, header, expected) => {
    expect(verdict(method, params, header)).toBe(expected);
  });

  it("CL-2 an unsupported revision fails with the supported ones of both eras", () => {
    const found = classifyIncoming("tools/list", { _meta: { ...ENVELOPE, [META.version]: "2099-01-01" } });
    expect(found).toMatchObject({
      error: { code: -32022, data: { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: "2099-01-01" } },
    });
  });

  it("CL-2 missing keys are named", () => {
    expect(classifyIncoming("tools/list", {}, MODERN_VERSION)).toMatchObject({
      error: { message: expect.stringMatching(/protocolVersion.*clientCapabilities/) },
    });
  });

  it("CL-2 the envelope is read; malformed optional members are ignored", () => {
    const clientInfo = { name: "c", version: "1" };
    const whole = { ...ENVELOPE, [META.clientInfo]: clientInfo, [META.logLevel]: "info" };
    expect(classifyIncoming("x", { _meta: whole })).toEqual({
      era: "modern",
      envelope: { version: MODERN_VERSION, capabilities: {}, clientInfo, logLevel: "info" },
    });
    const broken = { ...ENVELOPE, [META.clientInfo]: 7, [META.logLevel]: { level: "info" } };
    expect(classifyIncoming("x", { _meta: broken })).toEqual({
      era: "modern",
      envelope: { version: MODERN_VERSION, capabilities: {} },
    });
  });
});

describe("classifyIncoming compared with the SDK's classifyInboundRequest", () => {
  interface Case {
    readonly method: string;
    readonly claim: unknown;
    readonly capabilities: unknown;
    readonly clientInfo: unknown;
    readonly header: string | undefined;
  }
  const ABSENT = Symbol("absent");
  const cases: Case[] = [];
  for (const method of ["initialize", "tools/list", "server/discover", "notifications/x"]) {
    for (const claim of [ABSENT, MODERN_VERSION, "2025-11-25", "2099-01-01", "", 7, null]) {
      for (const capabilities of [ABSENT, {}, { sampling: {}, unknown: 1 }, "all", null, []]) {
        for (const clientInfo of [ABSENT, { name: "c", version: "1" }, "somebody"]) {
          for (const header of [undefined, MODERN_VERSION, "2025-11-25", "2099-01-01", "nonsense"]) {
            cases.push({ method, claim, capabilities, clientInfo, header });
          }
        }
      }
    }
  }

  function paramsOf({ claim, capabilities, clientInfo }: Case): JsonObject {
    const keys = { [META.version]: claim, [META.clientCapabilities]: capabilities, [META.clientInfo]: clientInfo };
    return { _meta: Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== ABSENT)) };
  }

  function theirs(given: Case): string {
    const outcome = classifyInboundRequest({
      httpMethod: "POST",
      ...(given.header === undefined ? {} : { protocolVersionHeader: given.header }),
      body: { jsonrpc: "2.0", id: 1, method: given.method, params: paramsOf(given) },
    });
    if (outcome.kind === "reject") return String(outcome.code);
    // The SDK leaves unsupported revisions to its next step, which refuses them with this code.
    const unknown = outcome.kind === "modern" && outcome.classification.revision !== MODERN_VERSION;
    return unknown ? String(RPC.unsupportedVersion) : outcome.kind;
  }

  /** Where we differ from the SDK on purpose, and why. */
  const DIFFERENCES: readonly { readonly why: string; readonly holds: (given: Case) => boolean }[] = [
    {
      why: "clientInfo is never used for a decision, so a malformed one is no reason to refuse a request",
      holds: ({ clientInfo }) => clientInfo === "somebody",
    },
    {
      why: "a revision that we do not speak may have another envelope: we say so before we look for its keys",
      holds: ({ claim }) => typeof claim === "string" && claim !== MODERN_VERSION,
    },
  ];

  it("CL-2 agrees with the SDK on every combination, except for the listed differences", () => {
    const disagreements = cases.filter(
      (given) => verdict(given.method, paramsOf(given), given.header) !== theirs(given),
    );
    expect(cases).toHaveLength(4 * 7 * 6 * 3 * 5);
    expect(disagreements.filter((given) => !DIFFERENCES.some(({ holds }) => holds(given)))).toEqual([]);
    for (const { why, holds } of DIFFERENCES) {
      expect(
        disagreements.some((given) => holds(given)),
        `still true: ${why}`,
      ).toBe(true);
    }
  });

  it("CL-2 agrees with the SDK's isLegacyRequest whenever both accept", async () => {
    for (const given of cases) {
      const ours = verdict(given.method, paramsOf(given), given.header);
      if ((ours !== "legacy" && ours !== "modern") || DIFFERENCES.some(({ holds }) => holds(given))) continue;
      const body = { jsonrpc: "2.0", id: 1, method: given.method, params: paramsOf(given) };
      const headers = {
        "content-type": "application/json",
        ...(given.header === undefined ? {} : { "mcp-protocol-version": given.header }),
      };
      const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers });
      expect({ body, legacy: await isLegacyRequest(request, body) }).toEqual({ body, legacy: ours === "legacy" });
    }
  });
});

describe("revisions", () => {
  it.each([
    ["2024-11-05", "legacy"],
    ["2025-11-25", "legacy"],
    ["2026-07-27", "legacy"],
    ["2026-07-28", "modern"],
    ["2027-01-01", "modern"],
    ["", "legacy"],
  ])("CL-2 %s is %s", (version, era) => {
    expect(eraOf(version)).toBe(era);
  });

  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
    ["2024-10-07", "2025-11-25"],
    ["1.0", "2025-11-25"],
    [undefined, "2025-11-25"],
    [20251125, "2025-11-25"],
    [["2024-11-05"], "2025-11-25"],
  ])("CL-2 a client that offers %j gets %s", (offered, expected) => {
    expect(negotiate(offered)).toBe(expected);
  });

  it("CL-2 all five are supported, the newest first", () => {
    expect(SUPPORTED_VERSIONS).toEqual(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
  });
});

describe("outgoingMeta", () => {
  const hop = { clientInfo: { name: "hub" }, capabilities: { roots: {} } };
  const from = {
    [META.version]: "2026-07-28",
    [META.clientInfo]: { name: "caller" },
    [META.clientCapabilities]: { sampling: {} },
    [META.logLevel]: "debug",
    progressToken: "theirs",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "com.example/x": [1],
  };
  const kept = { traceparent: from.traceparent, "com.example/x": [1] };
  const envelope = {
    [META.version]: MODERN_VERSION,
    [META.clientInfo]: hop.clientInfo,
    [META.clientCapabilities]: hop.capabilities,
  };

  it.each([
    ["a legacy server gets the caller's own keys, no envelope", { from, era: "legacy" }, kept],
    ["a modern one gets this hop's envelope", { from, era: "modern" }, { ...kept, ...envelope }],
    [
      "our progress token and the wanted level",
      { from, era: "modern", progressToken: 7, logLevel: "info" },
      { ...kept, ...envelope, progressToken: 7, [META.logLevel]: "info" },
    ],
    ["a legacy server gets no level", { from: {}, era: "legacy", logLevel: "info" }, undefined],
    ["nothing to say, nothing said", { from: { progressToken: 1 }, era: "legacy" }, undefined],
    ["no _meta", { from: undefined, era: "legacy" }, undefined],
    ["no object", { from: [1], era: "legacy", progressToken: 3 }, { progressToken: 3 }],
    ["nothing but the envelope", { from: undefined, era: "modern" }, envelope],
  ] as const)("GR-7 %s", (_, given, expected) => {
    expect(outgoingMeta({ ...hop, ...given })).toEqual(expected);
  });

  it("T36 __proto__ is an ordinary key", () => {
    const meta = outgoingMeta({ ...hop, era: "legacy", from: JSON.parse('{"__proto__":{"progressToken":9},"a":1}') });
    expect(JSON.stringify(meta)).toBe('{"__proto__":{"progressToken":9},"a":1}');
  });
});

describe("adaptResult", () => {
  const CACHED = ',"ttlMs":0,"cacheScope":"private"';

  it.each([
    ["tools/call", '{"content":[]}', '{"content":[],"resultType":"complete"}'],
    ["tools/call", "{}", '{"resultType":"complete"}'],
    ["tools/call", '{"resultType":"complete","x":1.0}', '{"resultType":"complete","x":1.0}'],
    ["tools/call", '{"resultType":"task","taskId":"t"}', '{"resultType":"task","taskId":"t"}'],
    ["tools/list", '{"tools":[]}', `{"tools":[],"resultType":"complete"${CACHED}}`],
    ["prompts/list", '{"prompts":[]}', `{"prompts":[],"resultType":"complete"${CACHED}}`],
    ["resources/list", '{"resources":[]}', `{"resources":[],"resultType":"complete"${CACHED}}`],
    ["resources/templates/list", "{}", `{"resultType":"complete"${CACHED}}`],
    ["resources/read", '{"contents":[]}', `{"contents":[],"resultType":"complete"${CACHED}}`],
    ["server/discover", "{}", `{"resultType":"complete"${CACHED}}`],
    [
      "tools/list",
      '{"resultType":"complete","ttlMs":5,"cacheScope":"public"}',
      '{"resultType":"complete","ttlMs":5,"cacheScope":"public"}',
    ],
    [
      "resources/read",
      '{"resultType":"input_required","requestState":"s"}',
      '{"resultType":"input_required","requestState":"s"}',
    ],
    ["prompts/get", '{"messages":[]}', '{"messages":[],"resultType":"complete"}'],
  ])("GR-7 for a modern client, %s: %s becomes %s", (method, from, to) => {
    const bytes = Buffer.from(from);
    expect(adaptResult({ bytes, value: JSON.parse(from) }, method, "modern").bytes.toString()).toBe(to);
  });

  it.each([
    ['{"content":[],"n":1.0}', '{"content":[],"n":1.0}'],
    ['{"resultType":"complete","content":[1.0]}', '{"content":[1.0]}'],
    ['{"tools":[],"resultType":"complete","ttlMs":9,"cacheScope":"public"}', '{"tools":[]}'],
    [`{"resultType":"complete","_meta":{"${META.serverInfo}":{"name":"s"}}}`, "{}"],
    [`{"resultType":"complete","_meta":{"${META.serverInfo}":{"name":"s"},"a":1}}`, '{"_meta":{"a":1}}'],
    ['{"resultType":"complete","_meta":{"a":1.0}}', '{"_meta":{"a":1.0}}'],
    // Without a resultType it is a legacy result, where these names may have another meaning.
    ['{"ttlMs":9,"cacheScope":"public"}', '{"ttlMs":9,"cacheScope":"public"}'],
  ])("GR-7 for a legacy client: %s becomes %s", (from, to) => {
    const bytes = Buffer.from(from);
    expect(adaptResult({ bytes, value: JSON.parse(from) }, "tools/list", "legacy").bytes.toString()).toBe(to);
  });

  it.each(["null", "[]", "7", '"x"'])("F06 a result that is not an object stays unchanged: %s", (text) => {
    const result = { bytes: Buffer.from(text), value: JSON.parse(text) };
    expect(adaptResult(result, "tools/list", "modern")).toBe(result);
    expect(adaptResult(result, "tools/list", "legacy")).toBe(result);
  });

  it("CL-5 bytes and value agree after every change, and a round trip keeps the rest", () => {
    const member = fc.constantFrom("content", "tools", "_meta", "n", "structuredContent");
    const result = fc.dictionary(member, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
    fc.assert(
      fc.property(result, fc.constantFrom("tools/list", "tools/call"), (value, method) => {
        const given = raw(JSON.parse(JSON.stringify(value)));
        const modern = adaptResult(given, method, "modern");
        expect(JSON.parse(modern.bytes.toString())).toEqual(modern.value);
        const legacy = adaptResult(modern, method, "legacy");
        expect(legacy.bytes.toString()).toBe(given.bytes.toString());
      }),
    );
  });
});

describe("adaptReply", () => {
  const reply = (error: object) => ({ ok: false, error: raw(error) }) as const;

  it("GR-5 resource-not-found has another code in the modern era; message and data stay", () => {
    const given = reply({ code: -32002, message: "no such", data: { uri: "a:1" } });
    expect(adaptReply(given, "resources/read", "legacy")).toBe(given);
    const adapted = adaptReply(given, "resources/read", "modern");
    expect(adapted).toMatchObject({ ok: false, error: { value: { code: -32602 } } });
    expect(!adapted.ok && JSON.parse(adapted.error.bytes.toString())).toEqual({
      code: -32602,
      message: "no such",
      data: { uri: "a:1" },
    });
  });

  it("GR-5 any other error stays unchanged", () => {
    const given = reply({ code: -32050, message: "mine" });
    for (const era of ["legacy", "modern"] as const) expect(adaptReply(given, "tools/call", era)).toBe(given);
  });
});
