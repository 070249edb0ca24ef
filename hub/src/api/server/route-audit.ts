// What the audit log says about the operations of the API, by their operationId. An operation that changes something and is not
// listed here, in either table, is refused by test/api/audit.test.ts.

import type { AuditAction, AuditedBy, AuditEntry, AuditLog } from "../../auth/audit.ts";
import { isObject } from "../../lib/json/json.ts";

/** An operation as it was asked for, after it was validated. */
export interface Operation {
  readonly params?: unknown;
  readonly body?: unknown;
  readonly query?: unknown;
}

type Audited = (operation: Operation) => readonly Pick<AuditEntry, "action" | "object" | "detail">[];

const server =
  (action: AuditAction, detail?: string): Audited =>
  ({ params, body }) => [{ action, object: `server ${text(params, "id") ?? text(body, "name") ?? "?"}`, detail }];

const group =
  (detail: string): Audited =>
  ({ params, body }) => [
    { action: "config.edit", object: `group ${text(params, "name") ?? text(body, "name") ?? "?"}`, detail },
  ];

const named =
  (action: AuditAction, name: string, detail?: string): Audited =>
  ({ params, body }) => [{ action, object: text(params, name) ?? text(body, name), detail }];

const about =
  (action: AuditAction, object: string): Audited =>
  () => [{ action, object }];

export const AUDITED: Readonly<Record<string, Audited>> = {
  createServer: server("config.edit", "added"),
  addRegistryServer: ({ body }) => [
    {
      action: "config.edit",
      object: `server ${text(body, "as") ?? text(body, "name") ?? "?"}`,
      detail: "added from a registry",
    },
  ],
  updateServer: server("config.edit", "replaced"),
  patchServer: server("config.edit", "changed"),
  deleteServer: server("config.edit", "removed"),
  approveServer: ({ params, body }) => {
    const tools = isObject(body) && Array.isArray(body["tools"]) ? `tools ${body["tools"].join(", ")}` : "all of it";
    return [{ action: "server.approve", object: `server ${text(params, "id") ?? "?"}`, detail: tools }];
  },
  enableServer: server("config.edit", "enabled"),
  disableServer: server("config.edit", "disabled"),
  changeChatAccess: server("config.edit", "changed the access to chats"),
  startServer: server("server.control", "started"),
  stopServer: server("server.control", "stopped"),
  restartServer: server("server.control", "restarted"),
  updateServerPackage: server("server.control", "updated"),
  rollBackServerPackage: server("server.control", "went back to the version before"),
  // They run a command.
  testServer: server("server.control", "tested an entry"),
  testSavedServer: server("server.control", "tested"),
  previewServerUpdate: server("server.control", "tried an update"),
  createGroup: group("added"),
  setGroup: group("replaced"),
  deleteGroup: group("removed"),
  importServers: about("config.edit", "servers of other programs"),
  replaceConfigFile: named("config.edit", "file"),
  changeSettings: about("config.edit", "settings"),
  reloadConfig: about("config.edit", "read the files again"),
  repair: about("config.edit", "repairs of doctor"),
  installClient: named("config.edit", "client", "entry of the hub in a client's file"),
  uninstallClient: named("config.edit", "client", "entry of the hub in a client's file, removed"),
  restoreClientBackup: named("config.edit", "id", "backup of a client's file"),
  setSecret: named("secret.set", "name"),
  deleteSecret: named("secret.delete", "name"),
  setPersonalSecret: named("secret.set", "name", "personal"),
  deletePersonalSecret: named("secret.delete", "name", "personal"),
  rotateSecretKey: about("secret.rotate_key", "key of the secrets"),
  beginLogin: server("login.begin"),
  importLogin: server("login.import"),
  logout: server("login.removed"),
  createToken: ({ body }) => [
    {
      action: "token.create",
      object: text(body, "name"),
      detail: [text(body, "role") ?? "user", text(body, "for")].filter((part) => part !== undefined).join(" for "),
    },
  ],
  revokeToken: named("token.revoke", "id"),
  createGrant: ({ body }) => [{ action: "client.added", object: text(body, "name") }],
  approveAccessRequest: about("auth.signed_in", "page of an OAuth client"),
  changeUser: ({ params, body }) => {
    const object = text(params, "id");
    const { role, disabled } = isObject(body) ? body : {};
    return [
      ...(role === undefined
        ? []
        : [{ action: "user.role", object, detail: typeof role === "string" ? role : "as the issuer says" } as const]),
      ...(disabled === undefined
        ? []
        : [{ action: disabled === true ? "user.disable" : "user.enable", object } as const]),
    ];
  },
  removeUser: named("user.remove", "id"),
  deleteCalls: about("calls.delete", "recorded calls"),
  endSession: named("session.end", "id"),
  cancelCall: named("call.cancel", "id"),
  signIn: about("auth.signed_in", "web interface"),
  signOut: about("auth.signed_out", "web interface"),
  signOutAll: about("auth.signed_out", "web interface, all browsers"),
  endUiSession: named("auth.signed_out", "id", "web interface"),
  createUiKey: about("auth.sign_in_link", "web interface"),
};

/** Operations that are no reads by their method, and change nothing that has to be accounted for. */
export const NOT_AUDITED: Readonly<Record<string, string>> = {
  callTool: "It is in the call log",
  callGroupTool: "It is in the call log",
  approveCall: "The decision is recorded, wherever it is made",
  denyCall: "The decision is recorded, wherever it is made",
  readResource: "A read",
  getPrompt: "A read",
  previewGroup: "Saves nothing",
  parseServers: "Saves nothing",
  validateConfig: "Saves nothing",
  planClientInstall: "Saves nothing",
  refreshLogin: "The hub does the same by itself",
  revokeGrant: "The authorization server records it, with the client",
  beginSignIn: "The sign-in is recorded when it is complete",
  finishLogin: "The completion of the login is recorded",
  cancelLogin: "Nothing has been changed by then",
};

export interface AuditContext extends Pick<AuditEntry, "address" | "requestId"> {
  readonly by: AuditedBy;
  readonly log: Pick<AuditLog, "run">;
}

/** Records what the table says about an operation, then does it. */
export function audited<T>(
  { log, ...context }: AuditContext,
  operationId: string,
  operation: Operation,
  effect: () => T | Promise<T>,
): Promise<T> | T {
  const entries = AUDITED[operationId]?.(operation);
  if (entries === undefined) return effect();
  return log.run(
    entries.map((entry) => ({ ...context, ...entry })),
    effect,
  );
}

function text(from: unknown, key: string): string | undefined {
  const value = isObject(from) ? from[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
