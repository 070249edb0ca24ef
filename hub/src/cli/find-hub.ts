// Which hub a command talks to: the one that its options or the environment name, or the one that runs on this machine
// for the same config folder. The token goes to nobody else.

import { HubError } from "../errors.ts";
import type { HubClient } from "../api/client.ts";
import type { AnsweredRequest } from "../api/connection.ts";
import { readManagementToken } from "../auth/management-token.ts";
import { readPrivateFile } from "../secrets/private-file.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { CLIENT } from "./client-name.ts";
import { isLoopback } from "./loopback.ts";
import { checkProof } from "./proof.ts";
import { isAlive, placesOf, readRecord, type HubRecord } from "./record.ts";
import { timeoutOf } from "./timeout.ts";
import { duration } from "./times.ts";
import { trimEnd } from "../trim.ts";

export interface RunningHub {
  readonly url: string;
  readonly client: HubClient;
  /** What it says of itself; undefined for a hub elsewhere. */
  readonly record: HubRecord | undefined;
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
    throw new HubError("InvalidConfig", `${given} is for a hub elsewhere`, { hint: "Say which: --url https://…" });
  }
  const local = await findLocalHub(io, options);
  return local === undefined ? undefined : connect(local.record.url, local.token, local.record);
}

/** The hub that a command cannot do without. */
export async function requireHub(io: Io, options: GlobalOptions): Promise<RunningHub> {
  const hub = await findHub(io, options);
  if (hub !== undefined) return hub;
  throw new HubError("ConnectionFailed", "No hub is running", {
    detail: `None for the config folder ${placesOf(io, options).config}`,
    hint: "plugboard start",
  });
}

/** The hub of this machine for this config folder, proven to be it. */
export async function findLocalHub(
  io: Io,
  options: GlobalOptions,
): Promise<{ record: HubRecord; token: string } | undefined> {
  const { config, data, record: path } = placesOf(io, options);
  const record = await readRecord(path);
  // Killed hubs leave their record behind.
  if (record === undefined || record.config !== config || !isAlive(record.pid)) return undefined;
  const token = await readManagementToken(data);
  if (token === undefined) return undefined;
  switch (await checkProof(record, token)) {
    case "ours":
      return { record, token };
    case "nobody":
      return undefined; // the process id belongs to another program by now
    case "silent":
      throw new HubError("Timeout", `The hub at ${record.url} does not answer`, {
        detail: `Its process ${record.pid} is there`,
        hint: `kill ${record.pid} && plugboard start`,
      });
    case "stranger":
      throw new HubError("ConnectionFailed", `The program at ${record.url} is not your hub: nothing was sent to it`, {
        detail: "It could not prove that it has the management token",
        hint: `If your hub does not run: rm '${path}', then plugboard start --port with another port`,
      });
  }
}

type Connect = (url: string, token: string, record: HubRecord | undefined) => Promise<RunningHub>;

function connector({ stderr }: Io, options: GlobalOptions): Connect {
  const timeoutMs = timeoutOf(options);
  const tell = ({ method, path, status, requestId, durationMs }: AnsweredRequest) =>
    void stderr.write(`${method} ${path} ${status} ${duration(durationMs)} ${requestId ?? ""}\n`);
  const onAnswer = options.verbose === true ? tell : undefined;
  return async (url, token, record) => {
    const { HubClient: Client } = await import("../api/client.ts");
    if (options.verbose === true) stderr.write(`hub ${url}\n`);
    return { url, record, client: new Client({ url, token, client: CLIENT, timeoutMs, onAnswer }) };
  };
}

async function givenToken(io: Io, { token: typed, tokenFile }: GlobalOptions): Promise<string> {
  if (typed !== undefined && tokenFile !== undefined) {
    throw new HubError("InvalidConfig", "--token and --token-file cannot both be given", { field: "token" });
  }
  if (tokenFile === undefined) {
    const token = (typed ?? io.env["PLUGBOARD_TOKEN"])?.trim();
    if (token !== undefined && token !== "") return token;
    throw new HubError("Unauthenticated", "A hub elsewhere needs its token", {
      hint: "Put it into a file and give --token-file FILE, or set PLUGBOARD_TOKEN, or give --token",
    });
  }
  const token = (await readPrivateFile(tokenFile))?.trim();
  if (token !== undefined && token !== "") return token;
  throw new HubError("Unauthenticated", `There is no token in ${tokenFile}`, { field: "token-file" });
}

/** Over TLS the certificate says who it is; on this machine anybody may listen, so the hub must show that it has the token. */
async function requireProof(url: string, token: string): Promise<void> {
  if (new URL(url).protocol === "https:") return;
  switch (await checkProof({ url }, token)) {
    case "ours":
    case "nobody": // the request itself says it better
      return;
    case "silent":
      throw new HubError("Timeout", `The program at ${url} does not answer`, { hint: "Check the address" });
    case "stranger":
      throw new HubError(
        "Unauthenticated",
        `The program at ${url} did not prove that it has this token: nothing was sent to it`,
        {
          detail: "The token is not this hub's, or another program listens there",
          hint: "Check address and token; a tunnel must have the hub's own port at both ends, or use https",
        },
      );
  }
}

/** Without TLS a token can be read on its way, except to this very machine. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const loopback = url !== undefined && isLoopback(url);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && loopback)) return trimEnd(text, "/");
  throw new HubError("InvalidConfig", `"${text}" is not an address that a token may be sent to`, {
    field: "url",
    hint: "Use https://…, or http://127.0.0.1:PORT through a tunnel",
  });
}
