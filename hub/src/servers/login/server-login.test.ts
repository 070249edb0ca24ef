import { expect, it } from "vitest";
import { normalizeServer } from "../../config/parse/normalize.ts";
import type { LoginRecord } from "../../secrets/login-store.ts";
import { MemoryLogins } from "../../secrets/memory-logins.ts";
import { LOCAL, ServerLogin } from "./server-login.ts";

const URL_TEXT = "https://mcp.example/mcp";
const OLD: LoginRecord = {
  v: 1,
  server: "linear",
  principal: LOCAL,
  url: URL_TEXT,
  issuer: "https://as.example",
  client: { id: "c", method: "none", how: "registered", issuer: "https://as.example" },
  access: "access-1",
  type: "Bearer",
  receivedAt: 0,
  refresh: "refresh-1",
  requested: [],
  generation: 1,
};
const NEW: LoginRecord = { ...OLD, access: "access-2", refresh: "refresh-2", generation: 2 };

it("A15 AU-1 a record that is read while a newer one comes does not replace it", async () => {
  const store = new MemoryLogins();
  const reads = [OLD, NEW];
  const login = new ServerLogin(normalizeServer("linear", { url: URL_TEXT }), new URL(URL_TEXT), {
    store: Object.assign(store, {
      // The renewal of another request is over before what was read has arrived.
      read: async () => {
        const read = reads.shift();
        if (read === OLD) login.adopt(NEW);
        return read;
      },
    }),
    clock: { now: () => 0, monotonic: () => 0 },
    onSecrets: () => {},
    resolveAuth: async () => ({ type: "oauth", secrets: [] }),
    loginUrl: () => undefined,
    onEvent: () => {},
    principal: LOCAL,
  });
  login.adopt(OLD);
  await login.load();
  expect(login.headersFor("POST", login.url)).toEqual({ authorization: "Bearer access-2" });
  login.stop();
});
