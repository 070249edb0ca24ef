// `${user:NAME}`: a server that gets a secret of whoever calls it. The built hub, real servers, and access tokens for two people.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type RunningHub } from "../support/hub.ts";
import { Outputs } from "../support/leaks.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, modern } from "../support/rpc.ts";

interface Person {
  readonly principal: string;
  readonly headers: Record<string, string>;
  readonly client: HubClient;
}

const KEYS = { alice: "alice-k3y-7f31c9", bob: "bob-k3y-90ab12" };
const outputs = new Outputs();
let hub: RunningHub;
let owner: HubClient;
let remote: Remote;
let people: Record<"alice" | "bob", Person>;

beforeAll(async () => {
  remote = await startRemote("legacy-http", [`--key=${KEYS.alice}`]);
  const local = fixture("given");
  const home = await makeHome({
    local: { ...local, args: [...local.args, "--key=${user:TRACKER}"], env: { KEY: "${user:TRACKER}" } },
    remote: { url: remote.url, headers: { Authorization: "Bearer ${user:TRACKER}" } },
  });
  await writeFile(join(home.dir, "config/hub.json"), '{ "auth": { "mcp": "required" } }');
  hub = await startHub(home);
  owner = await clientOf(hub);
  people = { alice: await person("alice"), bob: await person("bob") };
});

afterAll(async () => {
  await hub?.stop();
  await hub?.home.remove();
  await remote?.stop();
});

async function person(name: string): Promise<Person> {
  const { token } = await owner.tokens.create({ name });
  const client = new HubClient({ url: hub.url, token });
  return { principal: `service:${name}`, headers: { authorization: `Bearer ${token}` }, client };
}

async function call({ headers }: Person, name: string) {
  const { body } = await modern(`${hub.url}/mcp`, "tools/call", { name, arguments: {} }, headers);
  return answerOf(body).result;
}

const errorOf = (result: Awaited<ReturnType<typeof call>>) => result._meta["io.plugboard/error"];
const givenOf = async (who: Person) => JSON.parse((await call(who, "local:given")).content[0].text);

describe("AU-5 a server that needs a secret of each caller", () => {
  it("waits until somebody has stored theirs, which lists its tools", async () => {
    expect(await owner.servers.get("local")).toMatchObject({
      status: "unauthenticated",
      personal_secrets: ["TRACKER"],
      error: { kind: "SecretRequired", hint: "plugboard secret set TRACKER --for local" },
    });
    const stored = await people.alice.client.connections.setSecret("TRACKER", KEYS.alice);
    expect(stored).toMatchObject({ principal: "service:alice", is_set: true, used_by: ["local", "remote"] });
    for (const name of ["local", "remote"]) {
      await expect.poll(async () => (await owner.servers.get(name)).status).toBe("running");
    }
  });

  it("A21 gets that of the caller, in a process of its own, and never another's", async () => {
    const { alice, bob } = people;
    const hers = await givenOf(alice);
    expect(hers.given).toEqual([KEYS.alice, `--key=${KEYS.alice}`]);
    expect(errorOf(await call(bob, "local:given"))).toMatchObject({
      code: "UNAUTHENTICATED",
      kind: "SecretRequired",
      hint: "plugboard secret set TRACKER --for service:bob",
    });
    const set = await plugboard(hub.home, ["secret", "set", "TRACKER", "--for", "bob"], { stdin: KEYS.bob });
    outputs.add("secret set", set.stdout, set.stderr);
    expect(set.stdout).toContain("Stored the secret TRACKER of service:bob");
    const his = await givenOf(bob);
    expect(his.given).toEqual([KEYS.bob, `--key=${KEYS.bob}`]);
    expect(his.pid).not.toBe(hers.pid);
    expect((await givenOf(alice)).pid).toBe(hers.pid);
    expect(await call(alice, "remote:echo")).not.toHaveProperty("_meta");
    expect(errorOf(await call(bob, "remote:echo"))).toMatchObject({
      kind: "Unauthenticated",
      hint: "plugboard secret set TRACKER --for me",
    });
  });

  it("ends what was opened with a secret that is replaced or deleted", async () => {
    const { bob } = people;
    const before = await givenOf(bob);
    await bob.client.connections.setSecret("TRACKER", `${KEYS.bob}-2`);
    expect(await givenOf(bob)).toMatchObject({ given: [`${KEYS.bob}-2`, `--key=${KEYS.bob}-2`] });
    expect((await givenOf(bob)).pid).not.toBe(before.pid);
    await bob.client.connections.deleteSecret("TRACKER");
    expect(errorOf(await call(bob, "local:given"))).toMatchObject({ kind: "SecretRequired" });
    await expect(bob.client.connections.deleteSecret("TRACKER")).rejects.toMatchObject({ kind: "SecretNotFound" });
  });

  it("A21 shows people their own secrets only, by name, and no value to anybody", async () => {
    const { alice, bob } = people;
    const mine = await alice.client.connections.get();
    expect(mine).toMatchObject({ principal: "service:alice", secrets: [{ name: "TRACKER", is_set: true }] });
    expect(await bob.client.connections.get()).toMatchObject({ secrets: [{ name: "TRACKER", is_set: false }] });
    await expect(bob.client.connections.get({ for: "alice" })).rejects.toMatchObject({ kind: "Forbidden" });
    await expect(bob.client.secrets.list()).rejects.toMatchObject({ kind: "Forbidden" });
    expect((await owner.secrets.list()).map(({ name }) => name)).toEqual([]);
    const listed = await plugboard(hub.home, ["secret", "ls", "--for", "alice"]);
    expect(listed.stdout).toMatch(/TRACKER +stored +local remote/);
    outputs.add("connections", JSON.stringify(mine), listed.stdout);
    const { lines } = await owner.servers.logs("local");
    expect(JSON.stringify(lines)).toContain("given");
    outputs.add("log", ...lines.map((line) => JSON.stringify(line)));
    outputs.add("hub", hub.stdout(), hub.stderr(), JSON.stringify(await owner.servers.list()));
    await outputs.addFiles(hub.home.dir, "on disk", /^$/);
    expect(outputs.hits({ alice: KEYS.alice, bob: KEYS.bob })).toEqual([]);
  });
});
