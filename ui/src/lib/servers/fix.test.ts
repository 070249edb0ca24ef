import { expect, it } from "vitest";
import { fixOf } from "./fix.ts";

type Broken = Parameters<typeof fixOf>[0];

const error = (kind: string, field?: string): NonNullable<Broken["error"]> => ({
  code: "X",
  kind,
  message: "x",
  ...(field === undefined ? {} : { field }),
});

it.each<[string, Broken, ReturnType<typeof fixOf>]>([
  [
    "a missing variable is set",
    { status: "error", error: error("ProcessSpawnFailed", "env.API_KEY"), login: null },
    { kind: "secret", variable: "API_KEY" },
  ],
  [
    "a login is made at the hub's page for it",
    {
      status: "unauthenticated",
      error: error("LoginRequired"),
      login: { server: "x", principal: "local", state: "needs_login", by: "person", login_url: "http://h/login" },
    },
    { kind: "login", url: "http://h/login" },
  ],
  ["a wrong package is edited", { status: "error", error: error("PackageNotFound"), login: null }, { kind: "edit" }],
  [
    "what a server runs is approved by a person",
    { status: "error", error: error("ApprovalRequired"), login: null },
    { kind: "approve" },
  ],
  [
    "withheld tools are approved by a person",
    { status: "running", error: null, login: null, approval: { withheld: 1 } },
    { kind: "approve" },
  ],
  [
    "all else is tried again",
    { status: "disconnected", error: error("ConnectionFailed"), login: null },
    { kind: "retry" },
  ],
])("%s", (_, server, fix) => expect(fixOf(server)).toEqual(fix));
