// Response bodies over a real socket: the same bytes for any size and any characters.

import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NodeResponse } from "../../http/node-response.ts";
import { sendJson, sendReply, type HttpResponse } from "./http-response.ts";
import { raw, type Id } from "../rpc/jsonrpc.ts";
import { listen, portOf } from "../../../../test/support/sockets.ts";

const LETTERS = 'aä日😀"\\\n';
/** Sizes below and above the limit for small bodies. */
const SIZES = [0, 1, 100, 2000, 20_000, 300_000];

let send: (response: HttpResponse) => void = () => {};
const server = createServer((_request, response) => send(new NodeResponse(response)));
/** One connection, so that a framing error corrupts the next response. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(() => listen(server));
afterAll(async () => {
  agent.destroy();
  await once(server.close(), "close");
});

async function bodyOf(answer: (response: HttpResponse) => void): Promise<{ body: Buffer; length: string }> {
  send = answer;
  const port = portOf(server);
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
