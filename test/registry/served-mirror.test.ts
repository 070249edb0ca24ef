// A hub that serves a mirror, and a second hub that uses it as a registry. Who gets in is a part of test/auth/matrix.test.ts.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { ServedMirror } from "../../hub/src/registry/mirror/served.ts";
import { closeHub, openHome } from "../support/cli.ts";
import { clientOf } from "../support/client.ts";
import { FakeRegistry, META, npmServer } from "../support/fake-registry.ts";
import { makeHome, plugboard, startHub, type RunningHub } from "../support/hub.ts";
import { http } from "../support/rpc.ts";

const JANUARY = "2026-01-01T00:00:00.000Z";
const FEBRUARY = "2026-02-01T00:00:00.000Z";

const published = (name: string, version: string, updatedAt: string, status = "active") => ({
  ...npmServer(name, {}, version),
  _meta: { [META]: { status, updatedAt } },
});

/** In no order, and over several pages. */
const SERVERS = [
  published("io.example/weather", "1.9.0", JANUARY),
  published("io.example/weather", "1.10.0", JANUARY),
  published("io.example/alpha", "1.0.0", FEBRUARY),
  published("io.example/gone", "1.0.0", FEBRUARY, "deleted"),
  published("io.example/beta", "2.0.0", JANUARY),
];

let serving: RunningHub;
let using: RunningHub;
let client: HubClient;
let token: string;

const mirrorOf = (hub: RunningHub) => join(hub.home.dir, "config/mirror");

async function get(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const authorization = `Bearer ${token}`;
  const url = `${serving.url}/registry/v0.1/servers${path}`;
  const { status, headers: got, body } = await http(url, { method, headers: { authorization, ...headers } });
  return { status, headers: got, json: body === "" ? undefined : JSON.parse(body) };
}

const labels = ({ json }: { json: { servers: { server: { name: string; version: string } }[] } }) =>
  json.servers.map(({ server }) => `${server.name.slice("io.example/".length)} ${server.version}`);

beforeAll(async () => {
  const home = await makeHome({});
  const fake = await FakeRegistry.open(SERVERS);
  const mirror = join(home.dir, "config/mirror");
  const written = await plugboard(home, ["registry", "mirror", mirror, "--registry", fake.url]);
  expect(written.code).toBe(0);
  await fake.close();
  const settings = { registry_mirror: "mirror", auth: { mcp: "required" } };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
  serving = await startHub(home);
  token = (await (await clientOf(serving)).tokens.create({ name: "other hub" })).token;
  const other = await makeHome({});
  const url = `${serving.url}/registry`;
  const registries = [
    { name: "company", url, key: token },
    { name: "keyless", url },
  ];
  await writeFile(join(other.dir, "config/hub.json"), JSON.stringify({ registries }));
  using = await startHub(other);
  client = await clientOf(using);
});

afterAll(() => Promise.all([closeHub(serving), closeHub(using)]));

describe("RG-1 another hub", () => {
  it("RG-1 searches it, page by page", async () => {
    const page = await client.registry.search({ query: "example", registry: "company", limit: 2 });
    const next = await client.registry.search({
      query: "example",
      registry: "company",
      limit: 2,
      cursor: page.next_cursor ?? "",
    });
    const found = [...page.servers, ...next.servers].map(({ name, version }) => `${name} ${version}`);
    expect(found).toEqual(["io.example/alpha 1.0.0", "io.example/beta 2.0.0", "io.example/weather 1.10.0"]);
    expect(next.next_cursor ?? undefined).toBeUndefined();
  });

  it("RG-1 gets the newest version, and an exact one", async () => {
    const newest = await client.registry.get("io.example/weather", { registry: "company" });
    const old = await client.registry.get("io.example/weather", { registry: "company", version: "1.9.0" });
    expect([newest, old].map(({ drafts }) => drafts[0]?.identifier)).toEqual([
      "@example/weather@1.10.0",
      "@example/weather@1.9.0",
    ]);
  });

  it("RG-1 is told what is not there, and that a key is needed", async () => {
    const absent = client.registry.get("io.example/absent", { registry: "company" });
    await expect(absent).rejects.toMatchObject({ kind: "ServerNotFound" });
    const gone = client.registry.get("io.example/gone", { registry: "company" });
    await expect(gone).rejects.toMatchObject({ kind: "ServerNotFound" });
    const refused = client.registry.get("io.example/alpha", { registry: "keyless" });
    await expect(refused).rejects.toMatchObject({ kind: "Forbidden" });
  });
});

describe("RG-1 the list", () => {
  it.each([
    ["", ["alpha 1.0.0", "beta 2.0.0", "weather 1.10.0", "weather 1.9.0"]],
    ["?version=latest", ["alpha 1.0.0", "beta 2.0.0", "weather 1.10.0"]],
    ["?version=1.9.0", ["weather 1.9.0"]],
    ["?search=WEATH&version=latest", ["weather 1.10.0"]],
    ["?search=what+beta", ["beta 2.0.0"]],
    ["?search=nothing", []],
    [`?updated_since=${JANUARY.replace("01-01", "01-15")}`, ["alpha 1.0.0", "gone 1.0.0"]],
    ["?updated_since=2026-03-01T00:00:00%2B02:00", []],
    ["/?limit=1", ["alpha 1.0.0"]],
  ])("RG-1 of servers%s", async (query, expected) => {
    expect(labels(await get(query))).toEqual(expected);
  });

  it("RG-1 has cursors that end, and servers as their registry had them", async () => {
    const seen: string[] = [];
    let cursor: string | undefined = "";
    while (cursor !== undefined) {
      const page = await get(`?limit=3&cursor=${encodeURIComponent(cursor)}`);
      expect(page.json.metadata.count).toBe(page.json.servers.length);
      seen.push(...labels(page));
      cursor = page.json.metadata.nextCursor;
    }
    expect(seen).toEqual(["alpha 1.0.0", "beta 2.0.0", "weather 1.10.0", "weather 1.9.0"]);
    const { _meta, ...server } = SERVERS[2] ?? {};
    expect((await get("?limit=1")).json.servers).toEqual([{ server, _meta }]);
  });

  it.each([
    ["?limit=0", "limit"],
    ["?limit=101", "limit"],
    ["?limit=ten", "limit"],
    ["?updated_since=yesterday", "updated_since"],
  ])("RG-1 refuses %s", async (query, field) => {
    expect(await get(query)).toMatchObject({ status: 400, json: { kind: "InvalidArgument", field } });
  });
});

describe("RG-1 one server", () => {
  it.each([
    ["/io.example%2Fabsent/versions/latest"],
    ["/io.example%2Falpha/versions/9.9.9"],
    ["/..%2F..%2Fhub.json/versions/latest"],
    ["/..%2Fhub/versions/..%2F..%2Fdata%2Ftoken"],
    ["/%2Fetc%2Fpasswd/versions/latest"],
    ["/%E0%A4%A/versions/%00"],
    ["/__proto__/versions/constructor"],
  ])("RG-1 %s is not found", async (path) => {
    const { status, headers, json } = await get(path);
    expect([status, headers["content-type"], json.kind]).toEqual([404, "application/problem+json", "ServerNotFound"]);
    expect(JSON.stringify(json)).not.toContain(serving.home.dir);
  });

  it.each(["/../../hub.json", "/io.example/alpha/versions/latest", "/a", "/a/versions"])(
    "RG-1 %s is no address of it",
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404, json: { kind: null } });
    },
  );

  it("RG-1 is sent again only if it has changed, and cannot be changed", async () => {
    const path = "/io.example%2Falpha/versions/latest";
    const { status, headers, json } = await get(path);
    expect([status, json.server.name]).toEqual([200, "io.example/alpha"]);
    expect(await get(path, { "if-none-match": headers.etag ?? "" })).toMatchObject({ status: 304, json: undefined });
    expect(await get(path, {}, "HEAD")).toMatchObject({ status: 200, json: undefined });
    for (const method of ["POST", "PUT", "DELETE"]) {
      expect(await get(path, {}, method)).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    }
  });
});

it("RG-1 without the setting there is no registry", async () => {
  const { status, headers } = await http(`${using.url}/registry/v0.1/servers`, { method: "GET" });
  expect([status, headers["content-type"]]).toEqual([404, "application/problem+json"]);
});

it("RG-1 the folder is read again when it has changed, and its place is not told", async () => {
  const folder = mirrorOf(serving);
  const warnings: string[] = [];
  let now = 0;
  const mirror = new ServedMirror({ folder, now: () => now, onWarning: (message) => warnings.push(message) });
  const names = async () => labels({ json: JSON.parse(await mirror.list({ search: "own" })) });
  expect(await names()).toEqual([]);
  await mkdir(join(folder, "own"));
  await writeFile(join(folder, "own/server.json"), JSON.stringify(npmServer("io.example/own")));
  expect(await names()).toEqual([]);
  now += 11_000;
  expect(await names()).toEqual(["own 1.0.0"]);
  await rm(folder, { recursive: true });
  now += 11_000;
  await expect(names()).rejects.toMatchObject({ kind: "IoError", message: expect.not.stringContaining(folder) });
  expect(warnings).toEqual([`registry_mirror: The folder ${folder} cannot be read`]);
});

it("RG-1 a hub warns of a folder that is not there", async (test) => {
  const home = await openHome(test, {});
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ registry_mirror: "/srv/absent" }));
  const hub = await startHub(home);
  test.onTestFinished(async () => void (await hub.stop()));
  const { warnings } = await (await clientOf(hub)).status();
  expect(warnings).toContain("registry_mirror: The folder /srv/absent cannot be read");
  const { status } = await http(`${hub.url}/registry/v0.1/servers`, { method: "GET" });
  expect(status).toBe(500);
});
