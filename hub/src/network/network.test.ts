// Where the hub listens, from hub.json and the options of the command.

import { describe, expect, it } from "vitest";
import { hubSettingsEntry } from "../config/schema/hub-settings.ts";
import { parseWith } from "../config/schema/schema.ts";
import { toNetwork } from "./network.ts";

const read = (settings: object) => parseWith(hubSettingsEntry, settings);

describe("the address", () => {
  it.each([
    ["nothing", {}, {}, { host: "127.0.0.1", port: 7430 }],
    ["hub.json", { listen: { host: "::1", port: 8000 } }, {}, { host: "::1", port: 8000 }],
    [
      "options",
      { listen: { host: "::1", port: 8000 } },
      { host: "localhost", port: 0 },
      { host: "localhost", port: 0 },
    ],
    ["one of each", { listen: { host: "::1" } }, { port: 9000 }, { host: "::1", port: 9000 }],
  ])("AU-6 comes from %s", (_, settings, flags, expected) => {
    expect(toNetwork(read(settings), flags)).toMatchObject(expected);
  });

  it.each([
    ["https://hub.example.com", "https://hub.example.com"],
    ["https://hub.example.com/", "https://hub.example.com"],
    ["https://HUB.example.com:443", "https://hub.example.com"],
    ["http://127.0.0.1:7430", "http://127.0.0.1:7430"],
  ])("AU-6 public_url %s is %s", (given, expected) => {
    expect(toNetwork(read({ public_url: given })).publicUrl).toBe(expected);
  });

  it.each([
    ["public_url", { public_url: "hub.example.com" }],
    ["public_url", { public_url: "https://hub.example.com/plugboard" }],
    ["public_url", { public_url: "https://user@hub.example.com" }],
    ["public_url", { public_url: "ftp://hub.example.com" }],
    ["allowed_origins", { allowed_origins: ["https://app.example.com/x"] }],
    ["allowed_origins", { allowed_origins: ["*"] }],
    ["listen.port", { listen: { port: 70_000 } }],
    ["listen", { listen: { adress: "::1" } }],
  ])("AU-6 names a wrong %s: %j", (field, settings) => {
    let error: unknown;
    try {
      read(settings);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ kind: "InvalidConfig", field: expect.stringMatching(new RegExp(`^${field}`)) });
  });
});
