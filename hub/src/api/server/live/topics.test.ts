import { describe, expect, it } from "vitest";
import type { HubError } from "../../../errors.ts";
import { parseTopics } from "./topics.ts";

const ALL = [
  "server.status",
  "server.circuit",
  "server.tools",
  "server.approved",
  "server.log",
  "catalog.changed",
  "call.started",
  "call.finished",
  "approval.pending",
  "approval.ended",
  "session.opened",
  "session.closed",
  "config.reloaded",
  "config.rejected",
  "group.changed",
  "secret.changed",
  "login.required",
  "login.started",
  "login.completed",
  "login.failed",
  "login.renewed",
  "login.retrying",
  "login.expired",
  "login.revoked",
  "warning",
];

describe("topics", () => {
  it.each<[string | undefined, string[]]>([
    [undefined, ALL],
    ["server", ["server.status", "server.circuit", "server.tools", "server.approved"]],
    ["config", ["config.reloaded", "config.rejected", "group.changed", "secret.changed"]],
    ["config.rejected", ["config.rejected"]],
    [
      "server, call",
      ["server.status", "server.circuit", "server.tools", "server.approved", "call.started", "call.finished"],
    ],
    ["log,server.log", ["server.log"]],
  ])("%s are %j", (topics, events) => expect([...parseTopics(topics)]).toEqual(events));

  it.each(["", "servers", "server,", "__proto__", "toString"])(
    "%j is refused, and the known ones are named",
    (topics) => {
      let refusal: HubError | undefined;
      try {
        parseTopics(topics);
      } catch (error) {
        refusal = error as HubError;
      }
      expect(refusal).toMatchObject({
        code: "VALIDATION_ERROR",
        field: "topics",
        hint: expect.stringContaining("catalog"),
      });
    },
  );
});
