// The further addresses for callbacks, over real sockets.

import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { freePort, listen } from "../../../test/support/sockets.ts";
import { CallbackListeners } from "./callback-listeners.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

/** A hub's own listener on 127.0.0.1, and the further addresses beside it. */
async function start() {
  const own = createServer((_, response) => void response.end("own"));
  const port = await listen(own);
  const warnings: string[] = [];
  const callbacks = new CallbackListeners({
    url: `http://127.0.0.1:${port}`,
    edge: ({ url }, response) => {
      if (url !== "/oauth/callback") return false;
      response.end("callback");
      return true;
    },
    onWarning: (message) => warnings.push(message),
  });
  open.push(own, callbacks);
  return { port, callbacks, warnings };
}

/** Undefined: nothing listens there. */
const get = (url: string) =>
  fetch(url).then(
    async (response) => `${response.status} ${response.status === 200 ? await response.text() : ""}`.trim(),
    () => undefined,
  );

const hasIpv6 = async () => {
  const server = createServer().listen(0, "::1");
  const isOpen = await once(server, "listening").then(
    () => true,
    () => false,
  );
  server.close();
  return isOpen;
};

describe("AU-1 addresses for callbacks", () => {
  it("[::1] answers callbacks and nothing else, and only while a login waits", async ({ skip }) => {
    if (!(await hasIpv6())) return skip("no IPv6 here");
    const { port, callbacks, warnings } = await start();
    const at = `http://[::1]:${port}/oauth/callback`;
    expect(await get(at)).toBeUndefined();
    const waiting = [`http://localhost:${port}/oauth/callback`];
    callbacks.update(waiting);
    callbacks.update(waiting);
    await expect.poll(() => get(at)).toBe("200 callback");
    expect(await get(`http://[::1]:${port}/api/v1/status`)).toBe("404");
    expect(await get(`http://127.0.0.1:${port}/`)).toBe("200 own");
    callbacks.update([]);
    await expect.poll(() => get(at)).toBeUndefined();
    callbacks.update(waiting);
    await expect.poll(() => get(at)).toBe("200 callback");
    await callbacks.close();
    expect(await get(at)).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it("another port that an authorization server knows is open while a login waits", async () => {
    const { callbacks } = await start();
    const port = await freePort();
    callbacks.update([`http://127.0.0.1:${port}/oauth/callback`]);
    await expect.poll(() => get(`http://127.0.0.1:${port}/oauth/callback`)).toBe("200 callback");
    await callbacks.close();
    expect(await get(`http://127.0.0.1:${port}/oauth/callback`)).toBeUndefined();
  });

  it("A31 a port that another program has is a warning that names it", async () => {
    const { callbacks, warnings } = await start();
    const other = createServer();
    const port = await listen(other);
    open.push(other);
    callbacks.update([`http://127.0.0.1:${port}/oauth/callback`]);
    await expect
      .poll(() => warnings)
      .toEqual([`Port ${port} on 127.0.0.1 is already in use, so that a browser may not come back from a login`]);
  });
});
