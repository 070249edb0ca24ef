// Opens a connection to a server: its variables and secrets, its turn among those that start, its process or address, the
// handshake, all within its time to start. What the connection is then used for is left to others.

import { randomBytes } from "node:crypto";
import { delimiter } from "node:path";
import type { ServerConfig } from "../config/types.ts";
import { HubError, toHubError } from "../errors.ts";
import { childEnvironment } from "./environment.ts";
import { launchCommand } from "./launch.ts";
import { openStdio } from "./link.ts";
import type { PackageInUse, Packaged, Packages, Preparing, Renewal, Way } from "./npm/packages.ts";
import type { Redact } from "./redaction.ts";
import { openRemote } from "./remote-link.ts";
import { resolveServer, type ResolvedServer } from "./resolve.ts";
import type { ServerLog } from "./server-log.ts";
import type { Stage } from "./status.ts";
import { Upstream, type Ask, type ConnectOptions } from "./upstream.ts";
import type { ServerWorld } from "./world.ts";

/** A launcher may have to download the server first. */
const START_MS = { npx: 120_000, uvx: 120_000, docker: 120_000, binary: 30_000, remote: 30_000 } as const;
const PROBE_MS = { npx: 20_000, uvx: 20_000, docker: 20_000, binary: 5000, remote: 5000 } as const;
/** An update may have to download and to build. */
const RENEW_MS = 600_000;
const REQUEST_MS = { stdio: 120_000, remote: 30_000 } as const;

export interface DialerOptions {
  /** As it is now. */
  readonly config: () => ServerConfig;
  readonly world: ServerWorld;
  readonly redact: Redact;
  readonly log: ServerLog;
}

export interface Dialing extends Pick<
  ConnectOptions,
  "signal" | "onListChanged" | "onResourceUpdated" | "onTaskNews" | "onGap"
> {
  readonly onStage: (stage: Stage) => void;
  /** What it is run from, before it runs; nothing where that is not known. */
  readonly onPackage?: (inUse: PackageInUse | undefined) => void;
  /** Whose secrets they are: known for as long as it is there. */
  readonly owner: object;
  /** The last thing that the start is for, within the same time. */
  readonly ready?: (upstream: Upstream, signal: AbortSignal) => Promise<void>;
}

export class Dialer {
  readonly #options: DialerOptions;

  constructor(options: DialerOptions) {
    this.#options = options;
  }

  /** How long a request may take in all. */
  requestMs({ timeoutMs }: Pick<Ask, "timeoutMs"> = {}): number {
    const { timeouts, transport } = this.#options.config();
    return timeoutMs ?? timeouts.requestMs ?? REQUEST_MS[transport.type === "stdio" ? "stdio" : "remote"];
  }

  /** Rejects with the reason in the words of the requirements; nothing of it is left then. */
  async open({ owner, ready, onPackage, ...role }: Dialing): Promise<Upstream> {
    const { config, world } = this.#options;
    const { signal } = role;
    const { timeouts } = config();
    const startMs = timeouts.startMs ?? START_MS[this.#method];
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), startMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    let upstream: Upstream | undefined;
    let over: (() => void) | undefined;
    let way: Way | undefined;
    try {
      const resolved = await resolveServer(config(), world);
      world.redactor.setSecrets(owner, resolved.secrets);
      role.onStage("launching");
      over = await world.launches?.next({ signal: either, limitMs: startMs });
      way = await this.#prepare(resolved, { ...role, signal: either });
      onPackage?.(way?.by === "node" ? way.inUse : undefined);
      upstream = await this.#connect(resolved, way, { ...role, signal: either, timeoutMs: startMs });
      await ready?.(upstream, either);
      either.throwIfAborted();
      return upstream;
    } catch (thrown) {
      await upstream?.close();
      if (way?.by === "node") world.packages?.doubt(way.inUse);
      throw startError(thrown, { cancelled: signal.aborted, timedOut: deadline.signal.aborted });
    } finally {
      over?.();
      clearTimeout(timer);
    }
  }

  /** Installs what the server's package is today. It is run from there at the next start. */
  async renewPackage(packages: Packages, signal: AbortSignal): Promise<Renewal> {
    const { config, world } = this.#options;
    const resolved = await resolveServer(config(), world);
    const packaged = this.#packagedOf(resolved);
    if (packaged === undefined) throw new HubError("InvalidConfig", "Only a server that is a package can be updated");
    const limit = AbortSignal.any([signal, AbortSignal.timeout(RENEW_MS)]);
    return packages.renew(packaged, this.#preparing(resolved, { signal: limit, onInstall: () => undefined }));
  }

  /** What a package that npx would run is run by. */
  async #prepare(
    resolved: ResolvedServer,
    { signal, onStage }: Pick<Dialing, "signal" | "onStage">,
  ): Promise<Way | undefined> {
    const packaged = this.#packagedOf(resolved);
    if (packaged === undefined) return undefined;
    const onInstall = () => onStage("installing");
    const way = await this.#options.world.packages?.prepare(packaged, this.#preparing(resolved, { signal, onInstall }));
    onStage("launching");
    return way;
  }

  #packagedOf({ transport, env }: ResolvedServer): Packaged | undefined {
    const isPackage = transport.type === "stdio" && transport.launcher === "npx";
    return isPackage ? { transport, env, npm: this.#options.config().npm } : undefined;
  }

  #preparing({ env }: ResolvedServer, asked: Pick<Preparing, "signal" | "onInstall">): Preparing {
    const { world, log } = this.#options;
    const { variables, guard, instance: tag } = world;
    const environment = childEnvironment(variables, env, { tag, launcher: "npx" });
    return { ...asked, environment, guard, onOutput: log.start() };
  }

  #connect(
    resolved: ResolvedServer,
    way: Way | undefined,
    role: Omit<ConnectOptions, "known" | "probeMs" | "requestMs" | "open">,
  ) {
    const { config, world, redact, log } = this.#options;
    return Upstream.connect({
      known: world.eras.recall(config().transport),
      // Once it is installed there is nothing to download any more.
      probeMs: PROBE_MS[way?.by === "node" ? "binary" : this.#method],
      requestMs: this.requestMs(),
      open: (handlers) => {
        const { transport } = resolved;
        if (transport.type !== "stdio") return openRemote(resolved, handlers, { lookup: world.lookup });
        const { instance, guard } = world;
        const unique = randomBytes(4).toString("hex");
        const command = launchCommand(resolved, { instance, unique, ...(way?.by === "node" ? way : {}) });
        const { launcher } = transport;
        const env = forWay(way, childEnvironment(world.variables, command.env, { tag: instance, launcher }));
        return openStdio({ ...command, env }, handlers, { guard, redact, onStderr: log.start() });
      },
      ...role,
    });
  }

  get #method(): keyof typeof START_MS {
    const { transport } = this.#options.config();
    return transport.type === "stdio" ? transport.launcher : "remote";
  }
}

/** The programs of a package's dependencies are found as they are behind npx. */
function forWay(way: Way | undefined, env: Record<string, string>): Record<string, string> {
  if (way?.by === "node") return { ...env, PATH: [way.bins, env["PATH"] ?? ""].join(delimiter) };
  return way?.offline === true ? { ...env, npm_config_offline: "true" } : env;
}

function startError(thrown: unknown, { cancelled, timedOut }: { cancelled: boolean; timedOut: boolean }): HubError {
  const error = toHubError(thrown);
  if (cancelled) return new HubError("Cancelled", "The start was cancelled", { cause: thrown });
  if (!timedOut && error.kind !== "Timeout") return error;
  const { detail } = error;
  return new HubError("Timeout", "Handshake timed out", { cause: thrown, ...(detail === undefined ? {} : { detail }) });
}
