import { describe, expect, it } from "vitest";
import type { HubError } from "../../errors.ts";
import { parseTopics } from "./topics.ts";

const ALL = [
  "server.status",
  "server.circuit",
  "server.tools",
  "server.log",
  "catalog.changed",
  "call.finished",
  "config.reloaded",
  "config.rejected",
  "warning",
];

describe("topics", () => {
  it.each<[string | undefined, string[]]>([
    [undefined, ALL],
    ["server", ["server.status", "server.circuit", "server.tools"]],
    ["config", ["config.reloaded", "config.rejected"]],
    ["config.rejected", ["config.rejected"]],
    ["server, call", ["server.status", "server.circuit", "server.tools", "call.finished"]],
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
