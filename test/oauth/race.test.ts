// Two hubs on one data folder, and tokens that expire under the load of both: each expiry leads to one refresh, and the login
// survives. The authorization server replaces the refresh token each time, and ends the login if an old one is used.

import { afterAll, beforeAll, expect, it } from "vitest";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { OAuthHub } from "../support/oauth/oauth-hub.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";
import { scaled } from "../support/scale.ts";

const EXPIRIES = scaled(5, 1000);
const CALLS = 50;

let issuer: AuthorizationServer;
let server: ProtectedServer;
let first: OAuthHub;
let second: OAuthHub;

beforeAll(async () => {
  issuer = await startAuthorizationServer();
  server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  first = await OAuthHub.open();
  await first.add("protected", { url: server.url });
  expect(await first.logIn("protected", issuer)).toMatchObject({ state: "completed" });
  second = await OAuthHub.open({ home: first.home });
});

afterAll(async () => {
  await second.close();
  await first.close();
  await server.close();
  await issuer.close();
});

it(`A15 AU-1 ${EXPIRIES} expiries under ${CALLS} calls of two hubs lead to ${EXPIRIES} refreshes`, async () => {
  const callAll = () =>
    Promise.all(
      Array.from({ length: CALLS }, (_, n) =>
        (n % 2 === 0 ? first : second).call("protected", "echo", { text: `${n}` }),
      ),
    );
  const expected = Array.from({ length: CALLS }, (_, n) => String(n));
  expect((await callAll()).map((answer) => answer.text)).toEqual(expected);
  for (let round = 1; round <= EXPIRIES; round++) {
    server.revokeTokens();
    const answers = await callAll();
    expect([round, answers.map((answer) => answer.text ?? answer)]).toEqual([round, expected]);
    expect(issuer.front.refreshes).toHaveLength(round);
  }
  for (const hub of [first, second]) {
    expect((await hub.server("protected")).login).toMatchObject({ state: "connected" });
    await hub.check(issuer.front);
  }
});
