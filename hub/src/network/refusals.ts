// When a hub that others can reach must not start: the table of settings that would make it unsafe.

import { isIP } from "node:net";
import { HubError } from "../errors.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import type { Certificate } from "./certificate.ts";
import type { Network } from "./network.ts";

/** Everything that the rules look at. */
export interface Exposure {
  readonly network: Network;
  readonly isMcpOpen: boolean;
  readonly certificate: Certificate | undefined;
  /** Issuers of tokens. Those of sign-ins are checked with the file. */
  readonly issuers: readonly string[];
  /** Files with the key of the secrets that other users of the machine can read. */
  readonly openKeyFiles: readonly string[];
}

interface Refusal {
  readonly setting: string;
  readonly message: string;
  readonly fix: string;
}

type Rule = (exposure: Exposure) => Refusal | undefined;

/** For a hub that listens on an address that other machines can reach. */
const BEYOND_LOOPBACK: readonly Rule[] = [
  ({ isMcpOpen }) =>
    refuse(isMcpOpen, "auth.mcp", {
      message: "the MCP endpoints are open to everybody",
      fix: 'In hub.json: "auth": { "mcp": "required" }',
    }),
  ({ network: { publicUrl } }) =>
    refuse(publicUrl === undefined, "public_url", {
      message: "public_url is not set",
      fix: 'In hub.json: "public_url": "https://hub.example.com"',
    }),
  ({ network: { publicUrl, insecureHttp } }) =>
    refuse(publicUrl !== undefined && isPlain(publicUrl) && !insecureHttp, "public_url", {
      message: "public_url is http, so that credentials can be read on the way",
      fix: 'In hub.json: "public_url": "https://…"; or, in a network that you trust, --insecure-http at each start',
    }),
  ({ network: { tls, trustedProxies, insecureHttp } }) =>
    refuse(tls === undefined && trustedProxies.length === 0 && !insecureHttp, "tls", {
      message: "neither tls nor trusted_proxies is set",
      fix: 'In hub.json: "tls": { "cert": "…/fullchain.pem", "key": "…/privkey.pem" }, or "trusted_proxies": ["10.0.0.2"]',
    }),
  ({ network: { trustedProxies } }) =>
    refuse(trustedProxies.some(isEverybody), "trusted_proxies", {
      message: "trusted_proxies contains all addresses",
      fix: 'In hub.json: "trusted_proxies": ["10.0.0.2"], with the address of the proxy only',
    }),
  ({ certificate }) => certificate?.problem,
  ({ network: { allowedHosts } }) =>
    refuse(
      allowedHosts.some((host) => host.includes("*")),
      "allowed_hosts",
      {
        message: "allowed_hosts has a *",
        fix: 'In hub.json: "allowed_hosts": ["hub.example.com"], with each name in full',
      },
    ),
  ({ issuers }) => {
    const plain = issuers.find(isPlain);
    return refuse(plain !== undefined, "auth.issuers", {
      message: `the issuer ${plain} is http, so that its keys can be replaced on the way`,
      fix: "In hub.json: use its https address",
    });
  },
  ({ openKeyFiles: [path] }) =>
    refuse(path !== undefined, "PLUGBOARD_SECRET_KEY_FILE", {
      message: `the key of the secrets, ${path}, is open to other users of this machine`,
      fix: `chmod 600 '${path}'`,
    }),
];

/** For a hub on loopback to which a proxy brings others: it cannot tell them from programs of this machine. */
const BEHIND_PROXY: readonly Rule[] = BEYOND_LOOPBACK.slice(0, 1);
/** For a hub of this machine. */
const LOOPBACK: readonly Rule[] = [({ certificate }) => certificate?.problem];

/** Throws InvalidConfig if the hub must not start. Names all that is wrong, and the line that mends each. */
export function requireSafeExposure(exposure: Exposure): void {
  const { host, publicUrl } = exposure.network;
  const isPublished = publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname);
  const rules = isReachable(exposure.network) ? BEYOND_LOOPBACK : [...(isPublished ? BEHIND_PROXY : []), ...LOOPBACK];
  const [first, ...others] = rules.flatMap((rule) => rule(exposure) ?? []);
  if (first === undefined) return;
  const also = others.map(({ message, fix }) => `Also, ${message}. ${fix}`).join("\n");
  throw new HubError("InvalidConfig", `Refused to listen on ${host}: ${first.message}`, {
    field: first.setting,
    hint: first.fix,
    ...(also === "" ? {} : { detail: also }),
  });
}

/** Whether other machines can connect to the listener. */
export function isReachable({ host }: Pick<Network, "host">): boolean {
  return !isLoopbackHost(host);
}

function refuse(isWrong: boolean, setting: string, about: Omit<Refusal, "setting">): Refusal | undefined {
  return isWrong ? { setting, ...about } : undefined;
}

function isPlain(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "http:" && !isLoopbackHost(url.hostname);
}

function isEverybody(range: string): boolean {
  const [address = "", bits] = range.split("/");
  return bits === "0" || (bits === undefined && isIP(address) !== 0 && /^[0.:]+$/.test(address));
}
