// The texts of the config files over the API: comments stay, secrets stay hidden, and what is invalid is not saved.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ConfigFile } from "../../hub/src/api/schemas/config-file.ts";
import { fixture } from "../support/hub.ts";
import { OWN_SECRET, useOwnHub, type OwnHub } from "./own-hub.ts";

const open = useOwnHub();

const ECHO = JSON.stringify({ ...fixture("echo"), enabled: false }).slice(1, -1);
const TEXT = `{
  // The servers of this machine
  "mcpServers": {
    "a": { ${ECHO},
      "env": { "API_KEY": "${OWN_SECRET}", "MODE": "fast" }, // not ${OWN_SECRET}
    },
    "b": {
      "command": "/no/such", "enabled": false,
      "args": ["--token", "${OWN_SECRET}", "--verbose"]
    },
    "c": { "url": "https://u:${OWN_SECRET}@x.example/mcp?api_key=${OWN_SECRET}", "enabled": false,
      "headers": { "X-Any": "${OWN_SECRET}" } },
    "d": { "command": "/no/such", "enabled": false,
      "env_vars": [{ "name": "CODE", "value": "${OWN_SECRET}", "is_secret": true }] },
  }
}
`;

const openText = () => open({}, () => TEXT);
const read = async (own: OwnHub): Promise<ConfigFile> => (await own.ask("/config/files/mcp_server")).json;
const save = (own: OwnHub, text: string, etag?: string) =>
  own.ask("/config/files/mcp_server", {
    method: "PUT",
    headers: { "content-type": "application/json", ...(etag === undefined ? {} : { "if-match": etag }) },
    body: JSON.stringify({ text }),
  });

describe("the text of a config file", () => {
  it("is shown with comments and without secrets, and saved with them", async () => {
    const own = await openText();
    const { text, path, etag } = await read(own);
    expect(path).toBe(join(own.paths.config, "mcp_server.json"));
    expect(text).toBe(TEXT.replaceAll(`u:${OWN_SECRET}`, "***").replaceAll(OWN_SECRET, "***"));
    const edited = text
      .replace('"fast"', '"slow"')
      .replace('"--token", "***", "--verbose"', '"--verbose", "--token", "***"');
    const valid = await own.ask("/config/files/mcp_server?only=validate", {
      method: "PUT",
      headers: { "content-type": "application/json", "if-match": etag },
      body: JSON.stringify({ text: edited }),
    });
    expect(valid.json).toMatchObject({ text, etag });
    const saved = await save(own, edited, etag);
    expect(saved.json).toMatchObject({ text: edited });
    expect(await own.file()).toBe(
      TEXT.replace('"fast"', '"slow"').replace(
        `"--token", "${OWN_SECRET}", "--verbose"`,
        `"--verbose", "--token", "${OWN_SECRET}"`,
      ),
    );
    expect(own.hub.supervisor.get("a").config.env["MODE"]).toEqual({ value: "slow" });
    expect(saved.json.etag).not.toBe(etag);
  });

  it("keeps no *** without a stored value, and says where it is", async () => {
    const own = await openText();
    const { text } = await read(own);
    const answer = await save(own, text.replace('"MODE": "fast"', '"OTHER": "***"'));
    expect(answer.json).toMatchObject({
      status: 400,
      kind: "InvalidConfig",
      errors: [{ field: "mcpServers.a.env.OTHER", message: "*** has no stored value here", line: 5 }],
    });
    expect(await own.file()).toBe(TEXT);
  });

  it("is not saved with errors; all of them are reported with their places", async () => {
    const own = await openText();
    const { text } = await read(own);
    const wrong = text.replace('"command": "/no/such", "enabled": false,\n      "args"', '"command": 5,\n      "args"');
    const answer = await save(own, wrong.replace('"url": "https:', '"url": "nothing:'));
    expect(answer.json.errors).toMatchObject([
      { field: "mcpServers.b.command", line: 8, column: 7 },
      { field: "mcpServers.c.url", line: 11, column: 12 },
    ]);
    const broken = await save(own, text.replace('"b": {', '"b": '));
    expect(broken.json).toMatchObject({ status: 400, errors: [{ line: 8, column: 16 }] });
    expect((await save(own, " ")).json).toMatchObject({ status: 400, message: "The text is empty" });
    expect(await own.file()).toBe(TEXT);
  });

  it("is not saved over a newer one", async () => {
    const own = await openText();
    const { text, etag } = await read(own);
    const newer = TEXT.replace("fast", "newer");
    await writeFile(join(own.paths.config, "mcp_server.json"), newer);
    expect((await save(own, text, etag)).json).toMatchObject({ status: 409, kind: "Conflict" });
    expect(await own.file()).toBe(newer);
  });

  it("cannot give a server access that may only be written by hand", async () => {
    const own = await openText();
    const { text } = await read(own);
    const risky = text.replace(
      '"command": "/no/such", "enabled": false,\n      "args": [',
      '"command": "docker", "enabled": false,\n      "args": ["run", "--privileged", "image", ',
    );
    const answer = await save(own, risky);
    expect(answer.json).toMatchObject({ status: 400, errors: [{ field: "mcpServers.b.args", line: 9 }] });
    expect(await own.file()).toBe(TEXT);
  });

  it("of groups is saved, too, and a file is made if there is none", async () => {
    const own = await openText();
    const path = "/config/files/group";
    const text = '{\n  // for work\n  "groups": { "work": { "servers": ["a"] } }\n}\n';
    expect((await own.ask(path)).json).toMatchObject({ text: "" });
    const put = (body: string) =>
      own.ask(path, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: body }),
      });
    expect((await put(text)).json).toMatchObject({ text });
    expect(await readFile(join(own.paths.config, "group.json"), "utf8")).toBe(text);
    expect(own.hub.catalog.groupNames).toContain("work");
    const answer = await put(text.replace('["a"]', '"a"'));
    expect(answer.json).toMatchObject({ status: 400, errors: [{ field: "groups.work.servers", line: 3 }] });
  });

  it("that is not JSON is refused with its place, since its secrets cannot be found", async () => {
    const own = await openText();
    await writeFile(join(own.paths.config, "mcp_server.json"), TEXT.replace('"mcpServers": {', '"mcpServers": '));
    expect((await own.ask("/config/files/mcp_server")).json).toMatchObject({
      status: 400,
      message: expect.stringContaining("line 4"),
    });
  });
});
