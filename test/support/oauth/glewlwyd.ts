// Glewlwyd, an authorization server in C from Debian, as a second implementation: its issuer has a path, its metadata are at
// one place only, it registers no public clients, and it names `Bearer` in small letters.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { exportJWK, generateKeyPair } from "jose";
import { freePort } from "../sockets.ts";
import { startBackground } from "./background.ts";
import type { Browser, Page } from "./browser.ts";
import { Front } from "./front.ts";
import type { Issuer } from "./issuer.ts";

const PROGRAM = "/usr/bin/glewlwyd";
const SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3";
const MODULES = "/usr/lib/glewlwyd";
const INSTALL =
  'echo "glewlwyd glewlwyd/config_type select No configuration" | debconf-set-selections && ' +
  "apt-get install -y --no-install-recommends glewlwyd dbconfig-no-thanks";
const START_MS = 30_000;
const ADMIN = { username: "admin", password: "password" };
const ALICE = { username: "alice", password: "alice's password" };

export const isGlewlwydInstalled = existsSync(PROGRAM) && existsSync(SCHEMA);
if (!isGlewlwydInstalled) process.stderr.write(`Tests with Glewlwyd are skipped: ${INSTALL}\n`);

/** Gives tokens with a scope for the protected servers that are named. */
export async function startGlewlwyd(scope: string, resources: readonly string[]): Promise<Issuer> {
  const front = await Front.open([
    [/\/\.well-known\//, "metadata"],
    [/^\/api\/oidc\/auth$/, "authorize"],
    [/^\/api\/oidc\/token$/, "token"],
    [/^\/api\/oidc\/register/, "register"],
    [/^\/api\/oidc\/revoke$/, "revoke"],
    [/^\/api\/oidc\/device_authorization$/, "device"],
    [/^\/api\/oidc\/jwks$/, "jwks"],
  ]);
  const folder = await mkdtemp(join(tmpdir(), "plugboard-glewlwyd-"));
  const database = join(folder, "glewlwyd.db");
  await promisify(execFile)("sqlite3", [database, `.read ${SCHEMA}`]);
  const port = await freePort();
  const config = join(folder, "glewlwyd.conf");
  await writeFile(config, configText(port, front.url, database));
  const program = await startBackground([PROGRAM, `--config-file=${config}`], {
    url: `http://127.0.0.1:${port}/api/`,
    withinMs: START_MS,
  });
  front.serve(port);
  const issuer = `${front.url}/api/oidc`;
  await setUp(front.url, issuer, scope, resources);
  front.passed.length = 0;
  return {
    issuer,
    front,
    approve: (browser, url, until) => approve(front.url, browser, url, until),
    close: async () => {
      await front.close();
      await program.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configText(port: number, publicUrl: string, database: string): string {
  return `port=${port}
bind_address="127.0.0.1"
external_url="${publicUrl}"
login_url="login.html"
api_prefix="api"
log_mode="console"
log_level="WARNING"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="${MODULES}/user"
user_middleware_module_path="${MODULES}/user_middleware"
client_module_path="${MODULES}/client"
user_auth_scheme_module_path="${MODULES}/scheme"
plugin_module_path="${MODULES}/plugin"
hash_algorithm="SHA512"
database = { type = "sqlite3" path = "${database}" };
`;
}

async function setUp(url: string, issuer: string, scope: string, resources: readonly string[]): Promise<void> {
  const signedIn = await send("POST", `${url}/api/auth/`, ADMIN);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "test", alg: "ES256", use: "sig" };
  await send("POST", `${url}/api/scope/`, { name: scope, password_required: true, scheme: {} }, cookie);
  await send("POST", `${url}/api/user/`, { ...ALICE, scope: ["openid", scope], enabled: true }, cookie);
  const parameters = {
    iss: issuer,
    "jwks-private": JSON.stringify({ keys: [key] }),
    "jwt-type": "ecdsa",
    "jwt-key-size": "256",
    "access-token-duration": 3600,
    "refresh-token-duration": 1_209_600,
    "refresh-token-rolling": true,
    "refresh-token-one-use": "always",
    "allow-non-oidc": true,
    "auth-type-code-enabled": true,
    "auth-type-refresh-enabled": true,
    "jwks-show": true,
    "subject-type": "public",
    "allowed-scope": ["openid", scope],
    "pkce-allowed": true,
    "pkce-required": true,
    "introspection-revocation-allowed": true,
    "introspection-revocation-allow-target-client": true,
    "register-client-allowed": true,
    "register-client-auth-scope": [],
    "register-client-credentials-scope": [scope],
    "register-client-management-allowed": true,
    "oauth-as-iss-id": true,
    "resource-allowed": true,
    "resource-scope": { [scope]: resources },
  };
  const plugin = { module: "oidc", name: "oidc", display_name: "oidc", enabled: true, parameters };
  await send("POST", `${url}/api/mod/plugin/`, plugin, cookie);
}

async function send(method: string, url: string, body: object, cookie = ""): Promise<Response> {
  const headers = { "content-type": "application/json", cookie };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response;
}

/** Its pages are a program of their own; what they send is sent here. */
async function approve(
  publicUrl: string,
  browser: Browser,
  url: string,
  until: ((url: URL) => boolean) | undefined,
): Promise<Page> {
  const isLogin = ({ pathname }: URL) => pathname === "/login.html";
  const login = await browser.open(url, (next) => isLogin(next) || until?.(next) === true);
  const { searchParams } = new URL(login.url);
  await browser.send("POST", `${publicUrl}/api/auth/`, ALICE);
  const scope = searchParams.get("scope") ?? "";
  await browser.send("PUT", `${publicUrl}/api/auth/grant/${searchParams.get("client_id")}`, { scope });
  return browser.open(`${searchParams.get("callback_url")}&g_continue`, until);
}
