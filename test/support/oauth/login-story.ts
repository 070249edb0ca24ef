// The life of a login at one protected server, from the first 401 to the logout. Every authorization server must get through it.

import { expect } from "vitest";
import type { Issuer } from "./issuer.ts";
import type { OAuthHub } from "./oauth-hub.ts";

export interface Place {
  /** Address of the protected server. Its tool `whoami` names the scopes of the token. */
  readonly url: string;
  readonly issuer: Issuer;
  /** Of the server's entry. */
  readonly auth?: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}

/** Fails where the hub does not do what a user expects. */
export async function liveThrough(hub: OAuthHub, { url, issuer, auth }: Place): Promise<void> {
  const name = "protected";
  const { front } = issuer;
  const expectWorking = async () => expect((await hub.call(name, "whoami")).text).toContain("mcp");
  try {
    await hub.add(name, { url, ...(auth === undefined ? {} : { auth }) });
    expect(await hub.server(name)).toMatchObject({ status: "unauthenticated", login: { state: "needs_login" } });
    expect((await hub.call(name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });

    expect(await hub.logIn(name, issuer)).toMatchObject({ state: "completed" });
    await hub.untilState(name, "running");
    const { login } = await hub.server(name);
    expect(login).toMatchObject({ state: "connected", issuer: issuer.issuer, renewable: true });
    expect(login.scopes).toContain("mcp");
    await expectWorking();

    await hub.restart();
    await expectWorking();
    expect(front.grants("authorization_code")).toHaveLength(1);

    expect((await hub.api("POST", `/servers/${name}/login/refresh`)).json).toMatchObject({ state: "connected" });
    expect(front.refreshes).toHaveLength(1);
    await expectWorking();

    expect((await hub.api("DELETE", `/servers/${name}/login`)).json).toMatchObject({ found: true, revoked: true });
    expect(front.of("revoke").map(({ answer }) => answer?.status)).toContain(200);
    expect((await hub.call(name, "whoami")).error).toMatchObject({ kind: "LoginRequired" });
    await hub.check(front);
  } finally {
    await hub.remove(name);
  }
}
