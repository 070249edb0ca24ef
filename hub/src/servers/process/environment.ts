// The environment of child processes (SE-2): a few variables of the hub by name, and those that the entry grants.

import { resolve } from "node:path";
import type { Launcher } from "../../config/schema/types.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Tags every process of this hub, so that the watchdog finds those that left their process group. */
export const TAG_VARIABLE = "PLUGBOARD_INSTANCE";
/** Tags the processes of one start of one server, for the same purpose when only that server ends. */
export const START_VARIABLE = "PLUGBOARD_START";

/** PLUGBOARD_HOME of the hub: the chat server keeps its files there too. */
const HUB_HOME_VARIABLE = "PLUGBOARD_HUB_HOME";
const EVERYONE = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR|PLUGBOARD_CHAT_HOME)$/;

/** What programs on Windows do not start without; names are in any case there. */
const WINDOWS =
  /^(PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|TEMP|TMP|USERPROFILE|USERNAME|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(\(X86\))?|COMMONPROGRAMFILES|NUMBER_OF_PROCESSORS|PROCESSOR_ARCHITECTURE|OS)$/i;

// The address of a proxy may contain a password: a program gets it only if it downloads packages, or if its entry allows it.
const PROXY = /^((HTTP|HTTPS|ALL|NO)_PROXY|(http|https|all|no)_proxy)$/;
// Variables that a package runner needs for its registry: proxies, certificates, caches.
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

/** Programs read one spelling or the other. */
const PROXY_NAMES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] as const;

/** True for variables that configure the docker client. */
export function isDockerSetting(name: string): boolean {
  return BY_LAUNCHER.docker.some((pattern) => pattern.test(name));
}

/** Variables that a docker client needs to find its engine, without the secrets of the server. */
export function clientEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isBasic(name) || isDockerSetting(name)));
}

/** True for the variables that any program needs to run at all. */
export function isBasic(name: string, platform = process.platform): boolean {
  return EVERYONE.test(name) || (platform === "win32" && WINDOWS.test(name));
}

interface ChildOptions {
  readonly tag: string;
  readonly launcher: Launcher;
  readonly proxy?: string | boolean | undefined;
  readonly platform?: NodeJS.Platform;
}

/**
 * The whole environment of one child.
 *
 * @example childEnvironment(process.env, { API_KEY: "k" }, { tag: "4f1c", launcher: "npx" })
 */
export function childEnvironment(
  hubEnv: Environment,
  granted: Readonly<Record<string, string>>,
  { tag, launcher, proxy, platform = process.platform }: ChildOptions,
): Record<string, string> {
  const allowed = [...BY_LAUNCHER[launcher], ...(proxy === true ? [PROXY] : [])];
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(hubEnv)) {
    // A value that begins with () is a function that an old bash would run.
    if (value === undefined || value.startsWith("()")) continue;
    if (proxy === false && PROXY.test(name)) continue;
    if (isBasic(name, platform) || allowed.some((pattern) => pattern.test(name))) env[name] = value;
  }
  // Under another name: a hub that runs as a server must not use the files of this one.
  const home = hubEnv["PLUGBOARD_HOME"];
  if (home) env[HUB_HOME_VARIABLE] = resolve(home);
  if (typeof proxy === "string") for (const name of PROXY_NAMES) env[name] = proxy;
  return { ...env, ...granted, [TAG_VARIABLE]: tag };
}

/** The hub's own environment. The only place that reads it. */
export function hubEnvironment(): Environment {
  return process.env;
}
