import { expect, it } from "vitest";
import { Announcements } from "./announcements.ts";

/** What a legacy HTTP server gives for each try to open its stream; resolves when it is not tried again. */
function listenWith(statuses: (number | undefined)[]): Promise<number> {
  return new Promise((resolve) => {
    let tries = 0;
    const announcements = new Announcements({
      hello: { era: "legacy", version: "2025-11-25", capabilities: {}, serverInfo: undefined, instructions: undefined },
      ask: () => Promise.reject(new Error("nothing is asked")),
      listen: async () => {
        const status = statuses[tries++];
        if (tries === statuses.length) setImmediate(() => resolve(tries));
        return status;
      },
      onListChanged: () => undefined,
      onGap: () => undefined,
    });
    void announcements.start();
  });
}

it("GR-8 LC-6 a stream that broke before the answer is opened again, so that a server that died is noticed", async () => {
  expect(await listenWith([undefined, 405])).toBe(2);
});
