// How a command knows that the program at an address is its own hub, before it sends the token there: the hub answers a
// fresh question in a way that only someone who has the token can. Both halves of it are here.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request } from "node:http";

export const PROOF_PATH = "/.well-known/plugboard-hub";
const NONCE = /^[0-9a-f]{64}$/;
const PATIENCE_MS = 3000;
const MAX_ANSWER_BYTES = 4096;

export interface Claim {
  readonly url: string;
  /** Unknown of a hub that is named by its address alone. */
  readonly pid?: number | undefined;
}

export type Verdict = "ours" | "nobody" | "silent" | "stranger";

/** The hub's half: answers the question, and shows nothing else. Gives false for every other address. */
export function proofEdge(
  token: string,
  pid: number,
): (request: Pick<IncomingMessage, "url" | "method" | "socket">, response: ServerResponse) => boolean {
  return ({ url = "", method, socket }, response) => {
    const [path, query = ""] = url.split("?", 2);
    if (path !== PROOF_PATH) return false;
    const [, nonce, byAddress] = /^nonce=([0-9a-f]{64})(&by=address)?$/.exec(query) ?? [];
    if (method !== "GET" || nonce === undefined) {
      response
        .writeHead(400, { "content-type": "application/json" })
        .end('{"code":"VALIDATION_ERROR","message":"A nonce is needed"}');
      return true;
    }
    // The port is part of it: nobody can pass the question on to a hub that listens elsewhere.
    const port = socket.localPort ?? 0;
    const proof = proofOf(token, { nonce, port, pid: byAddress === undefined ? pid : undefined });
    response
      .writeHead(200, { "content-type": "application/json", "cache-control": "no-store" })
      .end(JSON.stringify({ proof }));
    return true;
  };
}

/** The command's half. Nothing secret is sent. */
export async function checkProof({ url, pid }: Claim, token: string): Promise<Verdict> {
  const nonce = randomBytes(32).toString("hex");
  const { hostname, port } = new URL(url);
  const at = Number(port === "" ? 80 : port);
  const answer = await ask(`${PROOF_PATH}?nonce=${nonce}${pid === undefined ? "&by=address" : ""}`, {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: at,
  });
  if (answer === undefined || answer === "silent") return answer ?? "nobody";
  const given = Buffer.from(proofIn(answer), "hex");
  const wanted = Buffer.from(proofOf(token, { nonce, port: at, pid }), "hex");
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? "ours" : "stranger";
}

function proofOf(
  token: string,
  { nonce, port, pid }: { nonce: string; port: number; pid: number | undefined },
): string {
  if (!NONCE.test(nonce)) throw new Error("The nonce is not one");
  return createHmac("sha256", token)
    .update(`plugboard hub ${nonce} ${port} ${pid ?? "by address"}`)
    .digest("hex");
}

function proofIn(answer: string): string {
  return /^\{"proof":"([0-9a-f]{64})"\}$/.exec(answer)?.[1] ?? "";
}

/** The answer's text; undefined where nobody listens. */
function ask(path: string, { host, port }: { host: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, timeout: PATIENCE_MS }, (response) => {
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) asked.destroy();
      });
      response.once("close", () => resolve(text));
    });
    const impatient = setTimeout(() => {
      resolve("silent");
      asked.destroy();
    }, PATIENCE_MS);
    asked.once("close", () => clearTimeout(impatient));
    asked.once("error", (error) => {
      const refused = "code" in error && error.code === "ECONNREFUSED";
      resolve(refused ? undefined : "silent");
    });
    asked.end();
  });
}
