// Keycloak from Maven Central, for the long lane: downloaded and built once into a folder that is kept.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../sockets.ts";
import { startBackground } from "./background.ts";
import { Front } from "./front.ts";
import type { Issuer } from "./issuer.ts";

const VERSION = "26.7.3";
const ARTIFACT = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "plugboard-test");
const FOLDER = join(CACHE, `keycloak-${VERSION}`);
/** Marks a folder that is complete. */
const BUILT = join(FOLDER, "built");
/** Minutes on a busy machine. */
const START_MS = 1_800_000;
const ADMIN = { username: "admin", password: "admin" };
const ALICE = { username: "alice", password: "alice's password" };

const run = promisify(execFile);

/** Why it cannot be used here, if it cannot. */
export async function prepareKeycloak(): Promise<string | undefined> {
  const hasMaven = await succeeds("mvn", ["-version"]);
  if (!hasMaven) return "no Maven: apt-get install -y --no-install-recommends maven";
  if (existsSync(BUILT)) return undefined;
  await mkdir(CACHE, { recursive: true });
  const isCopied = await succeeds("mvn", [
    "-q",
    "dependency:copy",
    `-Dartifact=${ARTIFACT}`,
    `-DoutputDirectory=${CACHE}`,
  ]);
  if (!isCopied) return `Maven cannot download ${ARTIFACT}`;
  const archive = join(CACHE, `keycloak-quarkus-dist-${VERSION}.zip`);
  await rm(FOLDER, { recursive: true, force: true });
  await run("python3", ["-m", "zipfile", "-e", archive, CACHE]);
  await rm(archive);
  await run("sh", [join(FOLDER, "bin/kc.sh"), "build", "--db=dev-mem"], { timeout: START_MS });
  await run("touch", [`${BUILT}.part`]);
  await rename(`${BUILT}.part`, BUILT);
  return undefined;
}

function succeeds(command: string, words: string[]): Promise<boolean> {
  return run(command, words, { timeout: START_MS }).then(
    () => true,
    () => false,
  );
}

export interface Keycloak extends Issuer {
  /** Adds a realm of users of the hub, set up as docs/access.md says. Returns its issuer. */
  addTeam(team: Team): Promise<string>;
}

export interface Team {
  /** The address of the group that its tokens are for. */
  readonly audience: string;
  /** Where people come back to after a sign-in to the hub. */
  readonly callback: string;
  /** The secret of the hub's own client, `hub`. */
  readonly secret: string;
}

/** A realm with one user and one public client, whose tokens are for the protected servers that are named. */
export async function startKeycloak(clientId: string, resource: string): Promise<Keycloak> {
  const front = await Front.open([
    [/\/\.well-known\//, "metadata"],
    [/^\/realms\/test\/protocol\/openid-connect\/auth$/, "authorize"],
    [/^\/realms\/test\/protocol\/openid-connect\/token$/, "token"],
    [/^\/realms\/test\/clients-registrations\//, "register"],
    [/^\/realms\/test\/protocol\/openid-connect\/revoke$/, "revoke"],
  ]);
  const port = await freePort();
  const options = ["--http-enabled=true", "--http-host=127.0.0.1", `--http-port=${port}`, `--hostname=${front.url}`];
  const program = await startBackground(["sh", join(FOLDER, "bin/kc.sh"), "start", "--optimized", ...options], {
    url: `http://127.0.0.1:${port}/realms/master`,
    isReady: (status) => status === 200,
    withinMs: START_MS,
    env: {
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
      JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m",
    },
  });
  front.serve(port);
  await createRealm(front.url, clientId, resource);
  front.passed.length = 0;
  return {
    issuer: `${front.url}/realms/test`,
    front,
    approve: async (browser, url, until) => {
      const form = await browser.open(url, until);
      return until?.(new URL(form.url)) === true ? form : browser.submit(form, ALICE, until);
    },
    addTeam: (team) => addTeam(front.url, team),
    close: async () => {
      await front.close();
      await program.close();
    },
  };
}

type Manage = (method: string, path: string, body?: object) => Promise<unknown>;

/** Requests of its administrator. */
async function openAdmin(url: string): Promise<Manage> {
  const { access_token: token } = await passwordGrant(`${url}/realms/master`, "admin-cli", ADMIN);
  return async (method, path, body) => {
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
}

interface Password {
  readonly username: string;
  readonly password: string;
}

/** What a program gets that knows the password of a person. */
export async function passwordGrant(
  issuer: string,
  clientId: string,
  password: Password = ALICE,
  scope?: string,
): Promise<{ readonly access_token: string; readonly id_token?: string }> {
  const response = await fetch(`${issuer}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "password",
      client_id: clientId,
      username: password.username,
      password: password.password,
      ...(scope === undefined ? {} : { scope }),
    }),
  });
  if (!response.ok) throw new Error(`No token: ${response.status} ${await response.text()}`);
  return (await response.json()) as { access_token: string };
}

const PERSON = {
  username: ALICE.username,
  enabled: true,
  email: "alice@example.com",
  emailVerified: true,
  firstName: "Alice",
  lastName: "Example",
  credentials: [{ type: "password", value: ALICE.password }],
};

function audienceMapper(audience: string) {
  return {
    name: "audience",
    protocol: "openid-connect",
    protocolMapper: "oidc-audience-mapper",
    config: { "included.custom.audience": audience, "access.token.claim": "true" },
  };
}

async function addTeam(url: string, { audience, callback, secret }: Team): Promise<string> {
  const manage = await openAdmin(url);
  await manage("POST", "", {
    realm: "team",
    enabled: true,
    sslRequired: "none",
    roles: { realm: [{ name: "hub-operator" }] },
    groups: [{ name: "eng" }],
    users: [{ ...PERSON, groups: ["/eng"], realmRoles: ["hub-operator"] }],
    clients: [
      { clientId: "agent", publicClient: true, directAccessGrantsEnabled: true, redirectUris: [] },
      { clientId: "hub", secret, redirectUris: [callback] },
    ],
  });
  const groups = {
    name: "groups",
    protocol: "openid-connect",
    protocolMapper: "oidc-group-membership-mapper",
    config: { "claim.name": "groups", "full.path": "false", "access.token.claim": "true", "id.token.claim": "true" },
  };
  await manage("POST", "/team/client-scopes", {
    name: "mcp",
    protocol: "openid-connect",
    attributes: { "include.in.token.scope": "true" },
    protocolMappers: [audienceMapper(audience), groups],
  });
  const scopes = (await manage("GET", "/team/client-scopes")) as { id: string; name: string }[];
  const scope = scopes.find(({ name }) => name === "mcp")?.id;
  for (const client of (await manage("GET", "/team/clients")) as { id: string; clientId: string }[]) {
    if (!["agent", "hub"].includes(client.clientId)) continue;
    await manage("PUT", `/team/clients/${client.id}/optional-client-scopes/${scope}`);
  }
  return `${url}/realms/team`;
}

async function createRealm(url: string, clientId: string, resource: string): Promise<void> {
  const scope = {
    name: "mcp",
    protocol: "openid-connect",
    attributes: { "include.in.token.scope": "true" },
    protocolMappers: [audienceMapper(resource)],
  };
  const realm = {
    realm: "test",
    enabled: true,
    sslRequired: "none",
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    clientScopes: [scope],
    defaultOptionalClientScopes: ["mcp", "offline_access"],
    clients: [
      {
        clientId,
        publicClient: true,
        redirectUris: ["http://localhost:*", "*"],
        optionalClientScopes: ["mcp", "offline_access"],
        defaultClientScopes: [],
      },
    ],
    users: [PERSON],
  };
  await (
    await openAdmin(url)
  )("POST", "", realm);
}
