import { describe, expect, it } from "vitest";
import { credentialWarnings } from "./given-entry.ts";

const url = "https://a.example/mcp";
const warnings = (entry: object) => credentialWarnings({ name: "it", ...entry }, "mcp_server.json");

describe("T12 credentials in plain text are warned about without their value", () => {
  it.each([
    [{ url, auth: { client_id: "a", client_secret: "s3cret" } }, /^auth\.client_secret is stored in mcp_server\.json/],
    [{ url, auth: { CLIENT_ID: "a", CLIENT_SECRET: "s3cret" } }, /^auth\.client_secret is stored/],
    [{ url, auth: { type: "private_key_jwt", client_id: "a", key: "s3cret" } }, /^auth\.key is stored/],
    [{ url, headers: { Authorization: "Bearer s3cret" } }, /^The header Authorization is stored/],
    [{ command: "x", env: { API_KEY: "s3cret" } }, /^API_KEY is stored/],
  ])("%j", (entry, expected) => {
    expect(warnings(entry)).toEqual([expect.stringMatching(expected)]);
    expect(warnings(entry).join()).not.toContain("s3cret");
  });

  it.each([
    { url, auth: { client_id: "a", client_secret: { secretRef: "s" } } },
    { url, auth: { client_id: "a", client_secret: "${SECRET}" } },
    { url, auth: false },
    { url, auth: { type: "unknown", client_secret: "s3cret" } },
  ])("not about %j", (entry) => expect(warnings(entry)).toEqual([]));
});
