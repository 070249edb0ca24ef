// Finds the hub that a command talks to: the one named by options or environment, or the one that runs on this machine for the
// same config folder. The token is sent to no other program.

import { HubError } from "../../errors.ts";
import type { HubClient } from "../../api/client/client.ts";
import type { AnsweredRequest } from "../../api/client/connection.ts";
import { readManagementToken } from "../../auth/management-token.ts";
import { readPrivateFile } from "../../lib/files/private-file.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { CLIENT } from "./client-name.ts";
import { isLoopback } from "./loopback.ts";
import { checkProof } from "../../http/check-proof.ts";
import { isAlive } from "@plugboard/shared/process-identity";
import { hubFoldersOf } from "./run-file.ts";
import { readRecord, type RunFile } from "../../run-file.ts";
import { timeoutOf } from "../input/timeout.ts";
import { duration } from "../terminal/times.ts";
import { trimEnd } from "@plugboard/shared/trim";

export interface RunningHub {
  readonly url: string;
  readonly client: HubClient;
  /** The hub's run file; undefined for a remote hub. */
  readonly record: RunFile | undefined;
}

export async function findHub(io: Io, options: GlobalOptions): Promise<RunningHub | undefined> {
  const url = options.url ?? (io.env["PLUGBOARD_URL"] || undefined);
  const connect = connector(io, options);
  if (url !== undefined) {
    const address = checkedUrl(url);
    const token = await givenToken(io, options);
    await requireProof(address, token);
    return connect(address, token, undefined);
  }
  const given = options.token === undefined ? options.tokenFile && "--token-file" : "--token";
  if (given !== undefined) {
    throw new HubError("InvalidArgument", `${given} is for a remote hub`, { hint: "Add --url https://…" });
  }
  const local = await findLocalHub(io, options);
  return local === undefined ? undefined : connect(local.record.url, local.token, local.record);
}

/** Like `findHub`, but throws if no hub is running. */
export async function requireHub(io: Io, options: GlobalOptions): Promise<RunningHub> {
  const hub = await findHub(io, options);
  if (hub !== undefined) return hub;
  throw new HubError("ConnectionFailed", "No hub is running", {
    detail: `The config folder is ${hubFoldersOf(io, options).config}`,
    hint: "plugboard start",
  });
}

/** The hub of this machine for this config folder, after it has proven its identity. */
export async function findLocalHub(
  io: Io,
  options: GlobalOptions,
): Promise<{ record: RunFile; token: string } | undefined> {
  const { config, data, record: path } = hubFoldersOf(io, options);
  const record = await readRecord(path);
  // Killed hubs leave their run file behind.
  if (record === undefined || record.config !== config || !isAlive(record.pid)) return undefined;
  const token = await readManagementToken(data);
  if (token === undefined) return undefined;
  switch (await checkProof(record, token)) {
    case "ours":
      return { record, token };
    case "unreachable":
      return undefined; // the pid belongs to another program by now
    case "silent":
      throw new HubError("Timeout", `The hub at ${record.url} does not answer`, {
        detail: `Its process ${record.pid} exists`,
        hint: `kill ${record.pid} && plugboard start`,
      });
    case "foreign":
      throw new HubError("ConnectionFailed", `The program at ${record.url} is not your hub; nothing was sent to it`, {
        detail: "It could not prove that it has the management token",
        hint: `If your hub is not running: rm '${path}', then plugboard start --port N`,
      });
  }
}

type Connect = (url: string, token: string, record: RunFile | undefined) => Promise<RunningHub>;

function connector({ stderr }: Io, options: GlobalOptions): Connect {
  const timeoutMs = timeoutOf(options);
  const tell = ({ method, path, status, requestId, durationMs }: AnsweredRequest) =>
    void stderr.write(`${method} ${path} ${status} ${duration(durationMs)} ${requestId ?? ""}\n`);
  const onAnswer = options.verbose === true ? tell : undefined;
  return async (url, token, record) => {
    const { HubClient: Client } = await import("../../api/client/client.ts");
    if (options.verbose === true) stderr.write(`hub ${url}\n`);
    return { url, record, client: new Client({ url, token, client: CLIENT, timeoutMs, onAnswer }) };
  };
}

async function givenToken(io: Io, { token: typed, tokenFile }: GlobalOptions): Promise<string> {
  if (typed !== undefined && tokenFile !== undefined) {
    throw new HubError("InvalidArgument", "Use either --token or --token-file", { field: "token" });
  }
  if (tokenFile === undefined) {
    const token = (typed ?? io.env["PLUGBOARD_TOKEN"])?.trim();
    if (token !== undefined && token !== "") return token;
    throw new HubError("Unauthenticated", "A remote hub needs a token", {
      hint: "Use --token-file FILE, PLUGBOARD_TOKEN or --token",
    });
  }
  const token = (await readPrivateFile(tokenFile))?.trim();
  if (token !== undefined && token !== "") return token;
  throw new HubError("Unauthenticated", `No token in ${tokenFile}`, { field: "token-file" });
}

/**
 * With TLS the certificate identifies the hub. On this machine any program may listen, so the hub must prove that it has the
 * token.
 */
async function requireProof(url: string, token: string): Promise<void> {
  if (new URL(url).protocol === "https:") return;
  switch (await checkProof({ url }, token)) {
    case "ours":
    case "unreachable": // the request will fail with a better error
      return;
    case "silent":
      throw new HubError("Timeout", `The program at ${url} does not answer`, { hint: "Check the address" });
    case "foreign":
      throw new HubError(
        "Unauthenticated",
        `The program at ${url} did not prove that it has this token; nothing was sent to it`,
        {
          detail: "The token belongs to another hub, or another program listens there",
          hint: "Check address and token. A tunnel must use the hub's own port at both ends, or https",
        },
      );
  }
}

/** Without TLS a token can be intercepted, except on this machine. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const loopback = url !== undefined && isLoopback(url);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && loopback)) return trimEnd(text, "/");
  throw new HubError("InvalidArgument", `Invalid --url "${text}"`, {
    field: "url",
    hint: "Use https://…, or http://127.0.0.1:PORT through a tunnel",
  });
}
