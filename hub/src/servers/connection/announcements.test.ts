import { expect, it } from "vitest";
import { Announcements } from "./announcements.ts";

/** Opens the stream of a legacy HTTP server that answers with these statuses. Resolves to the number of attempts. */
function listenWith(statuses: (number | undefined)[]): Promise<number> {
  return new Promise((resolve) => {
    let tries = 0;
    const announcements = new Announcements({
      info: { era: "legacy", version: "2025-11-25", capabilities: {}, serverInfo: undefined, instructions: undefined },
      forward: () => Promise.reject(new Error("nothing is asked")),
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

it("GR-8 LC-6 a stream that broke before the answer is reopened, so that a dead server is noticed", async () => {
  expect(await listenWith([undefined, 405])).toBe(2);
});
