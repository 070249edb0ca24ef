import { describe, expect, it } from "vitest";
import {
  entriesOf,
  groupsOf,
  notesOf,
  planProduct as plan,
} from "../../../../test/support/client-configs/plan-product.ts";
import { MARKER, PRODUCT_FILES as FILES } from "../../../../test/support/client-configs/product-files.ts";
import { HubError } from "../../errors.ts";
import { goDuration } from "./go-duration.ts";

describe("CF-11 what cannot be translated is said, without credentials", () => {
  it.each([
    [
      "mcphub",
      { mcpServers: { a: { command: "x", passthroughHeaders: ["X"], newKey: { b: 1 } } } },
      /passthroughHeaders.*login[^]*newKey/,
    ],
    ["mcphub", { mcpServers: { a: { type: "openapi", openapi: { url: "https://x" } } } }, /^a is an OpenAPI service/],
    [
      "mcphub",
      {
        mcpServers: {},
        users: [{ username: "a", password: MARKER }],
        bearerKeys: [{ id: "1", name: "ci", token: MARKER }],
        oauthClients: [{ clientId: "x", clientSecret: MARKER, name: "y" }],
        systemConfig: { routing: { enableBearerAuth: true, bearerAuthKey: MARKER }, smartRouting: { enabled: true } },
      },
      /1 user: [^]*\(ci\): plugboard token add[^]*OAuth clients[^]*"mcp": "required"[^]*smartRouting/,
    ],
    ["metamcp", FILES.metamcp, /team: wiki is inactive[^]*\/metamcp\/team\/mcp[^]*needs credentials/],
    [
      "mcpproxy-go",
      {
        mcpServers: [{ name: "a", command: "x", isolation: { enabled: true } }],
        api_key: MARKER,
        require_mcp_auth: true,
      },
      /a: "isolation": [^]*API key is not taken over: plugboard token add[^]*"mcp": "required"/,
    ],
    ["mcpproxy-go", { mcpServers: [{ name: "a", command: "x", url: "https://x" }] }, /a is started and then reached/],
    [
      "1mcp",
      {
        mcpServers: { a: { command: "x", maxRestarts: 3, disabled: "{{#if x}}true{{/if}}" } },
        mcpTemplates: { t: {} },
      },
      /"disabled" is ignored[^]*maxRestarts[^]*the template t is not imported/,
    ],
    [
      "mcp-proxy",
      { mcpProxy: { options: { authTokens: [MARKER] } }, mcpServers: { a: { command: "x" } } },
      /tokens are not taken over/,
    ],
    ["mcp-proxy", { mcpProxy: {}, mcpServers: { [`a/${MARKER}`]: { command: "x" } } }, /token in its name/],
    [
      "supergateway",
      { apiKey: [MARKER], mcpServers: { a: { command: "x", toolPrefix: "p_" } } },
      /toolPrefix[^]*"apiKey": keys are not/,
    ],
  ] as const)("%s", async (id, file, said) => {
    const planned = await plan(id, file);
    expect(notesOf(planned).join("\n")).toMatch(said);
  });

  it.each(Object.entries(FILES))("%s: no credential is in an entry, a group or a note", async (id, file) => {
    const planned = await plan(id, file);
    expect(JSON.stringify([entriesOf(planned), groupsOf(planned), notesOf(planned)])).not.toContain(MARKER);
  });
});

describe("CF-11 a second import finds what the first one made", () => {
  it.each(Object.entries(FILES))("%s", async (id, file) => {
    const first = await plan(id, file);
    const servers = first.add.map(({ name, entry }) => ({ name, ...entry }));
    const second = await plan(id, file, { servers, groups: groupsOf(first) });
    expect([second.add, second.groups, second.notes, second.refused]).toEqual([[], [], [], []]);
    expect(second.known.map(({ name, from }) => [from.name, name])).toEqual(
      first.add.map(({ name, from }) => [from.name, name]),
    );
  });

  it("a group of the same name with other servers is kept, and the new one has a number", async () => {
    const planned = await plan("mcphub", FILES.mcphub, { groups: { work: { servers: ["other"], tools: [] } } });
    expect(planned.groups.map(({ name }) => name)).toEqual(["mcphub", "work-2", "mcphub-default"]);
    expect(notesOf(planned)).toContain("the group work: it is named work-2 here");
  });
});

describe("CF-11 a file of another shape is refused as a whole, with the field", () => {
  /** Every value of the fixture, by its path. */
  const pathsIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
    typeof value === "object" && value !== null
      ? [
          ...(path.length > 0 ? [path] : []),
          ...Object.entries(value).flatMap(([key, member]) => pathsIn(member, [...path, key])),
        ]
      : [path];

  const withValue = (data: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown => {
    if (typeof data !== "object" || data === null) return value;
    const changed = rest.length === 0 ? value : withValue(Reflect.get(data, key), rest, value);
    return Array.isArray(data)
      ? data.map((item: unknown, at) => (String(at) === key ? changed : item))
      : { ...data, [key]: changed };
  };

  /** A value that is wrong wherever the given one is right. */
  const wrong = (data: unknown, path: readonly string[]): unknown => {
    const given = path.reduce<unknown>(
      (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
      data,
    );
    return typeof given === "object" ? 5 : ["wrong"];
  };

  /** Members that are not translated, and so are not checked. */
  const FREE = /^(?:port|mcpProxy\.(?:baseURL|addr)|groups\.1\.servers\.0\.tools)$|redirect_uris/;

  it.each(
    Object.entries(FILES).flatMap(([id, file]) =>
      pathsIn(file)
        .filter((path) => !FREE.test(path.join(".")))
        .map((path) => [id, path.join("."), file, path] as const),
    ),
  )("%s: %s", async (id, where, file, path) => {
    const refused = await plan(id, withValue(file, path, wrong(file, path))).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(refused).toBeInstanceOf(HubError);
    const { kind, message, field = "" } = refused as HubError;
    expect(kind).toBe("InvalidConfig");
    expect(message).toContain(`/${id}.json: `);
    expect(where.startsWith(field) || field.startsWith(where)).toBe(true);
    expect(message).not.toContain(MARKER);
  });
});

it.each([
  ["30s", 30_000],
  ["1m30s", 90_000],
  ["1.5h", 5_400_000],
  ["250ms", 250],
  ["0s", 0],
  ["5", undefined],
  ["", undefined],
  ["1d", undefined],
])("the duration %j is %j ms", (text, ms) => {
  expect(goDuration(text)).toBe(ms);
});
