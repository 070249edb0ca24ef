import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { normalizeServer } from "../../config/parse/normalize.ts";
import { HubError } from "../../errors.ts";
import { MemorySecrets } from "../../secrets/memory-store.ts";
import { resolveServer } from "../process/resolve.ts";
import { resolveAuth } from "./resolve-auth.ts";

const url = "https://a.example/mcp";
const JWT = "eyJh.eyJz.c2ln";
const secrets = new MemorySecrets();
const variables = { ID: "me", SECRET: "s3cret-of-env", HOST: "as.example", EMPTY: "", TOKEN: JWT, OTHER: "no token" };
let folder = "";

beforeAll(async () => {
  await secrets.set("stored", "s3cret-of-store");
  folder = await mkdtemp(join(tmpdir(), "auth-"));
  await writeFile(join(folder, "token"), `${JWT}\n`);
  await writeFile(join(folder, "key"), "-----BEGIN PRIVATE KEY-----");
});
afterAll(() => rm(folder, { recursive: true }));

const resolve = (entry: object) =>
  resolveAuth(normalizeServer("it", { url, ...entry }), { variables, secrets, configFolder: folder });
const refusal = async (entry: object) =>
  resolve(entry).then(
    () => undefined,
    (error: unknown) => (error instanceof HubError ? error.toJSON() : error),
  );

describe("auth with everything filled in", () => {
  it("LC-2 has variables and stored secrets as texts", async () => {
    const auth = await resolve({
      auth: {
        type: "enterprise",
        client_id: "${ID}",
        client_secret: { secretRef: "stored" },
        key: "${SECRET}",
        scopes: ["a", "${ID}:read"],
        issuer: "https://${HOST}",
        idp: { issuer: "https://${HOST}/idp", client_id: "b", client_secret: "literal-s3cret", id_token: "${GIVEN}" },
      },
      env: { GIVEN: { secretRef: "stored" } },
    });
    expect(auth).toEqual({
      type: "enterprise",
      clientId: "me",
      clientSecret: "s3cret-of-store",
      key: "s3cret-of-env",
      scopes: ["a", "me:read"],
      issuer: "https://as.example",
      idp: {
        issuer: "https://as.example/idp",
        clientId: "b",
        clientSecret: "literal-s3cret",
        idToken: "s3cret-of-store",
      },
      secrets: expect.arrayContaining(["s3cret-of-store", "s3cret-of-env", "literal-s3cret"]) as string[],
    });
  });

  it.each([
    [{}, "oauth"],
    [{ headers: { "X-A": "b" } }, "oauth"],
    [{ headers: { authorization: "Bearer x" } }, "none"],
    [{ auth: false }, "none"],
    [{ url: undefined, command: "x" }, "none"],
  ])("of %j is of type %s", async (entry, type) => {
    expect((await resolve(entry)).type).toBe(type);
  });

  it.each([
    [
      { auth: { client_id: "a", client_secret: { secretRef: "gone" } } },
      "auth.client_secret",
      "plugboard secret set gone",
    ],
    [{ auth: { client_id: "${GONE}" } }, "auth.client_id", "Set GONE"],
    [{ auth: { client_id: "a", client_secret: "${EMPTY}" } }, "auth.client_secret", undefined],
    [{ auth: { client_id: "${A}" }, env: { A: { secretRef: "gone" } } }, "env.A", "plugboard secret set gone"],
    [{ auth: { issuer: "http://${HOST}" } }, "auth.issuer", "http is allowed for localhost"],
    [{ auth: { resource: "${OTHER}" } }, "auth.resource", "Write the URI"],
  ])("LC-2 is refused for %j", async (entry, field, hint) => {
    expect(await refusal(entry)).toMatchObject({
      kind: "InvalidConfig",
      field,
      ...(hint === undefined ? {} : { hint: expect.stringContaining(hint) as string }),
    });
  });

  it("LC-2 keeps a server from starting without its secret, and SE-1 tells the redactor", async () => {
    const config = (secretRef: string) =>
      normalizeServer("it", { url, auth: { client_id: "a", client_secret: { secretRef } } });
    await expect(resolveServer(config("gone"), { variables, secrets })).rejects.toMatchObject({
      field: "auth.client_secret",
    });
    const resolved = await resolveServer(config("stored"), { variables, secrets });
    expect(resolved.secrets).toContain("s3cret-of-store");
  });
});

describe("the token of a workload", () => {
  const token = async (auth: object) => (await resolve({ auth: { type: "workload", ...auth } })).workloadToken?.();

  it("is read from its file or variable each time", async () => {
    expect(await token({ token_env: "TOKEN" })).toBe(JWT);
    const { workloadToken } = await resolve({ auth: { type: "workload", token_file: "token" } });
    expect(await workloadToken?.()).toBe(JWT);
    await writeFile(join(folder, "token"), "a.b.c");
    expect(await workloadToken?.()).toBe("a.b.c");
  });

  it.each([
    [{ token_env: "OTHER" }, "auth.token_env"],
    [{ token_env: "GONE" }, "auth.token_env"],
    [{ token_file: "key" }, "auth.token_file"],
    [{ token_file: "gone" }, "auth.token_file"],
    [{ token_file: "." }, "auth.token_file"],
  ])("is nothing but a JWT: %j", async (auth, field) => {
    const error = await token(auth).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: "InvalidConfig", field });
    expect(JSON.stringify(error)).not.toMatch(/BEGIN PRIVATE|no token/);
  });
});
