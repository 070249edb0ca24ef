// Checks that the program at an address is the user's hub before the token is sent there: it must answer a nonce with an
// HMAC by that token. The hub's half is http/hub-proof.ts.

import { randomBytes, timingSafeEqual } from "node:crypto";
import { request } from "node:http";
import { PROOF_PATH, proofOf } from "./hub-proof.ts";

const TIMEOUT_MS = 3000;
const MAX_ANSWER_BYTES = 4096;

export interface Claim {
  readonly url: string;
  /** Unknown for a hub that is given by its address. */
  readonly pid?: number | undefined;
}

export type Verdict = "ours" | "unreachable" | "silent" | "foreign";

/** Sends nothing secret. */
export async function checkProof({ url, pid }: Claim, token: string): Promise<Verdict> {
  const nonce = randomBytes(32).toString("hex");
  const { hostname, port } = new URL(url);
  const at = Number(port === "" ? 80 : port);
  const answer = await ask(`${PROOF_PATH}?nonce=${nonce}${pid === undefined ? "&by=address" : ""}`, {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: at,
  });
  if (answer === undefined || answer === "silent") return answer ?? "unreachable";
  const given = Buffer.from(proofIn(answer), "hex");
  const wanted = Buffer.from(proofOf(token, { nonce, port: at, pid }), "hex");
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? "ours" : "foreign";
}

function proofIn(answer: string): string {
  return /^\{"proof":"([0-9a-f]{64})"\}$/.exec(answer)?.[1] ?? "";
}

/** The text of the answer, "silent" without one, or undefined if nothing listens. */
function ask(path: string, { host, port }: { host: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, timeout: TIMEOUT_MS }, (response) => {
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) asked.destroy();
      });
      response.once("close", () => resolve(text));
    });
    const timer = setTimeout(() => {
      resolve("silent");
      asked.destroy();
    }, TIMEOUT_MS);
    asked.once("close", () => clearTimeout(timer));
    asked.once("error", (error) => {
      const refused = "code" in error && error.code === "ECONNREFUSED";
      resolve(refused ? undefined : "silent");
    });
    asked.end();
  });
}
