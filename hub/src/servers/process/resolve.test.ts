import { beforeAll, describe, expect, it } from "vitest";
import type { ServerConfig, Transport } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import { MemorySecrets } from "../../secrets/memory-store.ts";
import { resolveServer } from "./resolve.ts";

const secrets = new MemorySecrets();
const variables = {
  HOST: "example.org",
  EMPTY: "",
  FILLED: "k3y-of-a-d00r",
  MY_TOKEN: "short",
  SHORT: "words",
  PWD: "/srv/p4thw1thd1g1ts99",
  HOME: "/home/u5er1234567890abcdef",
  DB: "postgres://u:pw@db/x",
};

const stdio = (...args: string[]): Transport => ({
  type: "stdio",
  launcher: "npx",
  command: "npx",
  args,
  hardened: false,
});

const remote = (url: string, headers: Record<string, string> = {}): Transport => ({ type: "http", url, headers });

function server(given: Partial<ServerConfig>): ServerConfig {
  return {
    id: "s",
    name: "s",
    enabled: true,
    source: { type: "manual" },
    transport: stdio(),
    env: {},
    timeouts: {},
    groups: [],
    ...given,
  };
}

const resolve = (given: Partial<ServerConfig>) => resolveServer(server(given), { variables, secrets });

async function refusal(given: Partial<ServerConfig>): Promise<unknown> {
  try {
    return await resolve(given);
  } catch (error) {
    return error instanceof HubError ? error.toJSON() : error;
  }
}

beforeAll(() => secrets.set("github_token", "s3cret"));

describe("a server with resolved variables and secrets", () => {
  it("LC-2 MC-T7 gets its secrets from the store, and lists what must be redacted", async () => {
    const resolved = await resolve({
      env: { TOKEN: { secretRef: "github_token" }, PLAIN: { value: "p" }, HIDDEN: { value: "h", isSecret: true } },
    });
    expect(resolved.env).toEqual({ TOKEN: "s3cret", PLAIN: "p", HIDDEN: "h" });
    expect(resolved.secrets).toEqual(["h", "s3cret"]);
  });

  it("treats a variable as secret by its name, unless the entry says otherwise", async () => {
    const { secrets: found } = await resolve({
      env: { API_KEY: { value: "one" }, DB_PASSWORD: { value: "two" }, MAX_TOKENS: { value: "9", isSecret: false } },
    });
    expect(found).toEqual(["one", "two"]);
  });

  it("CF-5 fills env, args, folder and command", async () => {
    const transport = {
      ...stdio("--host", "${HOST}", "${NOPE:-fallback}"),
      command: "${HOST}",
      cwd: "/${HOST}",
    } as const;
    const resolved = await resolve({ transport, env: { URL: { value: "http://${HOST}" } } });
    expect(resolved.transport).toEqual({
      ...transport,
      command: "example.org",
      cwd: "/example.org",
      args: ["--host", "example.org", "fallback"],
    });
    expect(resolved.env).toEqual({ URL: "http://example.org" });
  });

  it("CF-5 fills url and headers, from the server's own variables too: a remote server has no environment", async () => {
    const resolved = await resolve({
      transport: {
        type: "http",
        url: "https://u:p%40ss@${HOST}/mcp?api_key=q1&page=2",
        headers: { Authorization: "Bearer ${TOKEN}", "X-Host": "${HOST}" },
      },
      env: { TOKEN: { secretRef: "github_token" } },
    });
    expect(resolved.transport).toMatchObject({
      url: "https://u:p%40ss@example.org/mcp?api_key=q1&page=2",
      headers: { Authorization: "Bearer s3cret", "X-Host": "example.org" },
    });
    expect(resolved.secrets).toEqual(expect.arrayContaining(["s3cret", "Bearer s3cret", "p@ss", "q1"]));
    expect(resolved.secrets).not.toContain("example.org");
  });

  it.each<[string, Partial<ServerConfig>, string[]]>([
    ["an argument", { transport: stdio("--mode", "${FILLED}") }, ["k3y-of-a-d00r"]],
    ["a part of an argument", { transport: stdio("--x=a:${FILLED}:b") }, ["k3y-of-a-d00r"]],
    ["a variable of a harmless name", { env: { MODE: { value: "${FILLED}" } } }, ["k3y-of-a-d00r"]],
    ["the path of an address", { transport: remote("https://h/${FILLED}/mcp") }, ["k3y-of-a-d00r"]],
    ["a header", { transport: remote("https://h/", { "X-A": "${FILLED}" }) }, ["k3y-of-a-d00r"]],
    ["a variable that is marked as none", { env: { MODE: { value: "${FILLED}", isSecret: false } } }, []],
    ["a short one, by the name it comes from", { env: { A: { value: "${MY_TOKEN}" } } }, ["short"]],
    ["a short one, by the option before it", { transport: stdio("--api-key", "${SHORT}") }, ["words"]],
    ["what could be anyone's", { transport: stdio("${SHORT}", "${HOST}", "${PWD}/x", "${NOPE:-production}") }, []],
    ["what every program gets", { transport: stdio("${HOME}") }, []],
    ["the password of an address", { env: { DB: { value: "${DB}" } } }, ["u:pw", "pw"]],
    [
      "what is written there itself",
      { transport: stdio("--token=lit", "--config", '{"apiKey":"eral"}') },
      ["lit", "eral"],
    ],
    ["a header that anyone sends", { transport: remote("https://h/", { Accept: "application/json" }) }, []],
    [
      "a token in the place of a user",
      { transport: remote("https://k3y0fad00r9:x@h/") },
      ["k3y0fad00r9:x", "x", "k3y0fad00r9"],
    ],
    ["free JSON", { config: { apiKey: "jk", list: [{ password: "jp" }], mode: "fast" } }, ["jk", "jp"]],
  ])("SE-1 T12 lists what must be redacted: %s", async (_, given, expected) => {
    expect((await resolve(given)).secrets).toEqual(expected);
  });

  it("T15 does not put a server's own variables into its arguments", async () => {
    const given = { transport: stdio("${TOKEN}"), env: { TOKEN: { secretRef: "github_token" } } };
    expect(await refusal(given)).toMatchObject({ message: "Missing required credentials", field: "args.0" });
  });

  it("CF-1 passes the free config as JSON", async () => {
    expect((await resolve({ config: { a: [1] } })).env).toEqual({ MCP_SERVER_CONFIG: '{"a":[1]}' });
    const own = { config: {}, env: { MCP_SERVER_CONFIG: { value: "mine" } } };
    expect((await resolve(own)).env).toEqual({ MCP_SERVER_CONFIG: "mine" });
  });

  it("CF-6 an optional variable without a value is empty, also for a missing secret", async () => {
    const absent = { secretRef: "unknown" };
    const resolved = await resolve({
      env: {
        OPTIONAL: {},
        MARKED: { isSecret: false },
        BLANK: { value: "" },
        TOKEN: { value: "${EMPTY}" },
        ABSENT: absent,
      },
    });
    expect(resolved.env).toEqual({ OPTIONAL: "", MARKED: "", BLANK: "", TOKEN: "", ABSENT: "" });
    expect(resolved.secrets).toEqual([]);
  });

  it.each([
    [{ A: { secretRef: "unknown", required: true } }, "env.A", "The secret unknown for A is not in the secret store"],
    [{ A: { required: true } }, "env.A", "A is required and has no value"],
    [{ A: { required: true, value: "${EMPTY}" } }, "env.A", "A is required and has no value"],
    [{ B: { value: "${NOPE}" } }, "env.B", "The variable NOPE is not set"],
  ])("LC-3 CF-6 %j is Missing required credentials", async (env, field, detail) => {
    expect(await refusal({ env })).toMatchObject({
      code: "VALIDATION_ERROR",
      kind: "InvalidConfig",
      message: "Missing required credentials",
      field,
      detail,
    });
  });
});

describe("CF-1 paths of a program", () => {
  const path = async (command: string, cwd?: string, configFolder: string | undefined = "/etc/plugboard") => {
    const transport: Transport = { ...stdio(), command, ...(cwd === undefined ? {} : { cwd }) } as Transport;
    const sources = { variables, secrets, ...(configFolder === undefined ? {} : { configFolder }) };
    const resolved = (await resolveServer(server({ transport }), sources)).transport;
    return resolved.type === "stdio" ? [resolved.command, resolved.cwd] : [];
  };

  it.each<[command: string, cwd: string | undefined, expected: [string, string | undefined]]>([
    ["node", undefined, ["node", undefined]],
    ["node", "tools/sub", ["node", "/etc/plugboard/tools/sub"]],
    ["node", "/srv", ["node", "/srv"]],
    ["node", "~", ["node", variables.HOME]],
    ["node", "~/x", ["node", `${variables.HOME}/x`]],
    ["node", "${HOME}/x", ["node", `${variables.HOME}/x`]],
    ["./bin/x", undefined, ["/etc/plugboard/bin/x", undefined]],
    ["${HOME}/x", undefined, [`${variables.HOME}/x`, undefined]],
    ["~/bin/x", undefined, [`${variables.HOME}/bin/x`, undefined]],
    ["~user/x", undefined, ["/etc/plugboard/~user/x", undefined]],
    ["${NONE:-node}", undefined, ["node", undefined]],
  ])("%s in %s is %j", async (command, cwd, expected) => expect(await path(command, cwd)).toEqual(expected));

  it("of a config in memory are left to the system", async () => {
    const transport = { ...stdio(), command: "./x", cwd: "y" } as Transport;
    expect((await resolve({ transport })).transport).toMatchObject({ command: "./x", cwd: "y" });
  });
});
