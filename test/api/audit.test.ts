// What the API records in the audit log: every change, by whom, before it happens.

import { describe, expect, it } from "vitest";
import { adminTools } from "../../hub/src/api/server/admin/tools.ts";
import { AUDITED, NOT_AUDITED } from "../../hub/src/api/server/route-audit.ts";
import { openManaged } from "../support/api.ts";
import { usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();

describe("AU-5 the audit log of the API", () => {
  it("A27 every operation that is no read is recorded, or has a reason why not", async () => {
    const { json } = await managed().ask("/openapi.json");
    const operations = Object.values<Record<string, { operationId: string }>>(json.paths)
      .flatMap((methods) => Object.entries(methods))
      .filter(([method]) => method !== "get")
      .map(([, { operationId }]) => operationId);
    expect([...Object.keys(AUDITED), ...Object.keys(NOT_AUDITED)].toSorted()).toEqual(operations.toSorted());
    const { hub, paths, user } = managed();
    for (const { operation, definition } of adminTools({ hub, paths, user, callLog: hub.callLog })) {
      const isKnown = operation === undefined || operation === "callTool" || Object.hasOwn(AUDITED, operation);
      expect([definition.name, isKnown]).toEqual([definition.name, true]);
    }
  });

  it("T44 records who did what, and says if it had no effect", async () => {
    const hub = await openManaged({});
    try {
      const { ask } = hub;
      await ask("/tokens", { method: "POST", body: { name: "ops", role: "operator" } });
      await ask("/secrets/key", { method: "PUT", body: { value: "planted-secret-value" } });
      await ask("/servers/absent/start", { method: "POST" });
      await ask("/tokens/ops", { method: "DELETE" });
      const { rows } = (await ask("/audit")).json;
      const short = rows.map(({ action, object, outcome, principal, detail, address }: Record<string, string>) => {
        expect([principal, address]).toEqual(["local", "127.0.0.1"]);
        return [action, object, outcome, detail];
      });
      expect(short).toEqual([
        ["token.revoke", "ops", "allowed", null],
        ["server.control", "server absent", "failed", "ServerNotFound"],
        ["server.control", "server absent", "allowed", "started"],
        ["secret.set", "key", "allowed", null],
        ["token.create", "ops", "allowed", "operator"],
      ]);
      expect(JSON.stringify(rows)).not.toContain("planted-secret-value");
      const { head } = (await ask("/audit/verify")).json;
      expect((await ask("/audit")).json.head).toBe(head);
      expect((await ask(`/audit/verify?head=${head}`)).json).toMatchObject({ rows: 5, fault: null, noted: { n: 5 } });
      expect((await ask(`/audit/verify?head=${"x".repeat(43)}`)).json).toMatchObject({
        fault: null,
        noted: { n: null },
      });
      expect((await ask("/audit/verify?head=x")).json).toMatchObject({ kind: "InvalidArgument", field: "head" });
      expect((await ask("/audit?what=token&limit=1")).json).toMatchObject({ rows: [{ n: 5 }], next: 5 });
      expect((await ask("/audit?what=token&limit=1&before=5")).json).toMatchObject({ rows: [{ n: 1 }], next: null });
      expect((await ask("/audit?what=nothing")).json).toMatchObject({ kind: "InvalidArgument" });
    } finally {
      await hub.end();
    }
  });
});
