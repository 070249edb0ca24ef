// What goes out as the body of an answer, over a real socket: the same bytes, whatever their size and their letters.

import { once } from "node:events";
import { Agent, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendJson, sendReply } from "./http-answer.ts";
import { raw, type Id } from "./jsonrpc.ts";

const LETTERS = 'aä日😀"\\\n';
/** Either side of what is small. */
const SIZES = [0, 1, 100, 2000, 20_000, 300_000];

let send: (response: ServerResponse) => void = () => {};
const server = createServer((_request, response) => send(response));
/** One connection: what is wrong with one answer shows in the next. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => void (await once(server.listen(0, "127.0.0.1"), "listening")));
afterAll(async () => {
  agent.destroy();
  await once(server.close(), "close");
});

async function bodyOf(answer: (response: ServerResponse) => void): Promise<{ body: Buffer; length: string }> {
  send = answer;
  const { port } = server.address() as AddressInfo;
  const [response] = await once(request({ port, agent }).end(), "response");
  const pieces: Buffer[] = await response.toArray();
  return { body: Buffer.concat(pieces), length: response.headers["content-length"] };
}

describe("answers over HTTP", () => {
  it.each<Id>([7, "seven", "sieben ä", "七"])(
    "CL-5 an answer to %j has its bytes and its length, small or large",
    async (id) => {
      for (const size of SIZES) {
        const result = { text: LETTERS.repeat(size / 5) };
        const { body, length } = await bodyOf((response) =>
          sendReply(response, 200, id, { ok: true, result: raw(result) }, { "x-own": "1" }),
        );
        expect(JSON.parse(body.toString())).toEqual({ jsonrpc: "2.0", id, result });
        expect(Number(length)).toBe(body.length);
      }
    },
  );

  it("CL-5 bytes that are sent as a whole stay as they are", async () => {
    for (const size of SIZES) {
      const bytes = Buffer.from(JSON.stringify(LETTERS.repeat(size / 5)));
      const { body } = await bodyOf((response) => sendJson(response, 404, bytes));
      expect(body.equals(bytes)).toBe(true);
    }
  });
});
