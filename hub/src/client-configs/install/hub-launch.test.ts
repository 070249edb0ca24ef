import { describe, expect, it } from "vitest";
import { CLIENTS } from "../client-table.ts";
import { toHubEntry } from "./hub-entry.ts";
import { hubAddress, hubProgram } from "./hub-launch.ts";

const context = { platform: "linux", home: "/home/ann", env: {} } as const;
const CONFIG = "/home/ann/.config/plugboard";
const SEARCHING = ["claude-code", "vscode"];

describe.each(CLIENTS)("the hub in $name", (client) => {
  const searches = SEARCHING.includes(client.id);

  it(`RG-3 lists ${searches ? "all tools, since it searches by itself" : "what the group says"}`, () => {
    const address = hubAddress("http://127.0.0.1:7430", "/groups/office/mcp", client);
    expect(address).toEqual({ url: `http://127.0.0.1:7430/groups/office/mcp${searches ? "?tools=all" : ""}` });
    const entry = JSON.stringify(toHubEntry(hubProgram(context, { config: CONFIG, group: "work", client }), client));
    expect(entry.includes('"--tools","all"')).toBe(searches);
  });
});
