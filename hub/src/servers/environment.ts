// What a child process may know of the hub's environment (SE-2): little, by name, and its own grants on top.
// Which variables a server is granted is resolve.ts's; how a container gets them is docker-run.ts's.

import type { Launcher } from "../config/types.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Marks every process of this hub, so that after its death those which left their process group are found again. */
export const TAG_VARIABLE = "PLUGBOARD_INSTANCE";
/** Marks the processes of one start of one server, for the same purpose when only that server ends. */
export const START_VARIABLE = "PLUGBOARD_START";

const EVERYONE = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;

// A proxy's address may hold a password, so that a program gets it only where it downloads something, or where its entry says so.
const PROXY = /^((HTTP|HTTPS|ALL|NO)_PROXY|(http|https|all|no)_proxy)$/;
// What a package runner needs to reach its registry: proxies, certificates, caches.
const NETWORK = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/;

// Not all of npm_config_*: a hub that was itself started by npx has its own call there (npm_config_package, _call,
// _local_prefix), and the npx of a server would obey it.
const NPM =
  /^npm_config_(.*registry|\/\/.*|_auth\w*|cache|userconfig|globalconfig|ca|cafile|cert|key|strict_ssl|proxy|https_proxy|noproxy|fetch_\w+|maxsockets|offline|prefer_offline|prefer_online|before|ignore_scripts|allow_scripts|nodedir)$/i;

const BY_LAUNCHER: Readonly<Record<Launcher, readonly RegExp[]>> = {
  npx: [PROXY, NETWORK, NPM],
  uvx: [PROXY, NETWORK, /^UV_/, /^(PIP_INDEX_URL|XDG_(CACHE|CONFIG|DATA)_HOME)$/],
  docker: [/^DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY)$/],
  binary: [],
};

/** Programs read either spelling. */
const PROXY_NAMES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] as const;

/** True for the variables that the docker client itself obeys. */
export function isDockerSetting(name: string): boolean {
  return BY_LAUNCHER.docker.some((pattern) => pattern.test(name));
}

/** What a docker client needs to find its engine, without the secrets of the server that it carries. */
export function clientEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isBasic(name) || isDockerSetting(name)));
}

/** True for the variables that any program needs to run at all. */
export function isBasic(name: string): boolean {
  return EVERYONE.test(name);
}

/**
 * The whole environment of one child.
 *
 * @example childEnvironment(process.env, { API_KEY: "k" }, { tag: "4f1c", launcher: "npx" })
 */
export function childEnvironment(
  hubEnv: Environment,
  granted: Readonly<Record<string, string>>,
  { tag, launcher, proxy }: { tag: string; launcher: Launcher; proxy?: string | boolean | undefined },
): Record<string, string> {
  const allowed = [EVERYONE, ...BY_LAUNCHER[launcher], ...(proxy === true ? [PROXY] : [])];
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(hubEnv)) {
    // A value that begins with () is a function which an old bash would run.
    if (value === undefined || value.startsWith("()")) continue;
    if (proxy === false && PROXY.test(name)) continue;
    if (allowed.some((pattern) => pattern.test(name))) env[name] = value;
  }
  if (typeof proxy === "string") for (const name of PROXY_NAMES) env[name] = proxy;
  return { ...env, ...granted, [TAG_VARIABLE]: tag };
}

/** The hub's own environment. Read here, so that no other file has a reason to. */
export function hubEnvironment(): Environment {
  return process.env;
}
