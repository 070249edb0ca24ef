// `plugboard import --from` a product: its file or command line, with the built command.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MARKER, PRODUCT_FILES } from "../support/client-configs/product-files.ts";
import { makeHome, plugboard, type Home } from "../support/hub.ts";
import { Outputs } from "../support/leaks.ts";

let home: Home;
beforeEach(async () => void (home = await makeHome(undefined)));
afterEach(() => home.remove());

/** The hub's folders and those of the user are below one folder. */
const run = (...args: string[]) => plugboard({ ...home, env: { ...home.env, HOME: home.dir } }, args);

async function write(path: string, data: unknown): Promise<string> {
  const file = join(home.dir, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof data === "string" ? data : JSON.stringify(data));
  return file;
}

const saved = (name: string) => readFile(join(home.dir, "config", name), "utf8").catch(() => undefined);

/** Without the login, whose server would have to be there: test/oauth/import.test.ts takes one over. */
const FILES = { ...PRODUCT_FILES, metamcp: { ...PRODUCT_FILES.metamcp, oauth_sessions: [] } };

describe("CF-11 import --from a product", () => {
  it.each(Object.entries(FILES))(
    "%s: what is saved is valid, and no credential is readable anywhere",
    async (id, file) => {
      const path = await write("product.json", file);
      const outputs = new Outputs();
      for (const args of [["--dry-run"], ["--dry-run", "--json"], ["-y"]]) {
        const { code, stdout, stderr } = await run("import", "--from", id, path, ...args);
        expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
        outputs.add(`import ${args.join(" ")}`, stdout, stderr);
      }
      const { code, stdout } = await run("config", "validate");
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^Valid: [1-9]/)]);
      const again = await run("import", "--from", id, path, "-y");
      expect(again.stdout).toMatch(/^[1-9]\d* known, 0 new\n$/);
      await outputs.addFiles(join(home.dir, "config"), "config", /^$/);
      await outputs.addFiles(join(home.dir, "data"), "data", /^$/);
      expect(outputs.hits({ credential: MARKER })).toEqual([]);
    },
  );

  it.each(Object.entries(FILES))(
    "%s: a damaged file is an error with exit code 2, and nothing is saved",
    async (id, file) => {
      const text = JSON.stringify(file);
      const list = "mcp_servers" in file ? "mcp_servers" : "mcpServers";
      for (const damaged of [text.slice(0, -40), JSON.stringify({ ...file, [list]: 5 }), "[]", '"x"']) {
        const path = await write("product.json", damaged);
        const { code, stdout, stderr } = await run("import", "--from", id, path, "-y");
        expect([code, stdout]).toEqual([2, ""]);
        expect(stderr).toMatch(/^error: .*product\.json/);
        expect(stderr).not.toContain(MARKER);
      }
      expect([await saved("mcp_server.json"), await saved("group.json")]).toEqual([undefined, undefined]);
      expect((await run("secret", "ls", "--json")).stdout).toBe("[]\n");
    },
  );

  it("files where the product keeps them are found, with the presets beside them", async () => {
    await write(".config/1mcp/mcp.json", { mcpServers: { a: { command: "x", tags: ["web"] }, b: { command: "y" } } });
    await write(".config/1mcp/presets.json", { presets: { dev: { strategy: "or", tagQuery: { tag: "web" } } } });
    await write(".mcpproxy/mcp_config.json", { mcpServers: [{ name: "c", command: "z" }] });
    const { code, stdout } = await run("import", "--from", "1mcp,mcpproxy-go", "-y");
    expect([code, stdout]).toEqual([0, expect.stringContaining("0 known, 3 new")]);
    expect(JSON.parse((await saved("group.json")) ?? "")).toMatchObject({
      dev: { servers: ["a"] },
      web: { servers: ["a"] },
    });
  });

  it("a command line is imported like its config file", async () => {
    const { code, stdout } = await run(
      "import",
      "--from",
      "supergateway",
      "-y",
      "--",
      "npx",
      "-y",
      "supergateway",
      "--sse",
      "https://acme.example/sse",
      "--oauth2Bearer",
      MARKER,
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("Added acme from supergateway")]);
    expect(stdout).toContain("(1 secret stored)");
    expect(JSON.parse((await saved("mcp_server.json")) ?? "")).toMatchObject({
      mcpServers: { acme: { type: "sse", headers: { Authorization: "Bearer ${AUTHORIZATION}" } } },
    });
  });

  it.each([
    [["x.json"], /--from with one client/],
    [["--from", "mcphub,1mcp", "x.json"], /--from with one client/],
    [["--from", "mcphub", "x.json"], /There is no file .*x\.json/],
    [["--from", "mcphub", "a", "b"], /MCPHub is imported from one file/],
    [["--from", "metamcp"], /No config of MetaMCP was found[^]*docs\/migrate\/metamcp\.md/],
    [["--from", "mcp-hub", "x.json"], /There is no client "mcp-hub"/],
    [["--from", "supergateway", "--", "--stdio", "npx", "-y", "x"], /supergateway has no option -y/],
  ])("import %j: an error that says what to do", async (args, message) => {
    const { code, stderr } = await run("import", "-y", ...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(await saved("mcp_server.json")).toBeUndefined();
  });
});
