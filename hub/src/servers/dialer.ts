// Opens a connection to a server: its variables and secrets, its package, its turn among those that start, its process or
// address, the handshake. What the connection is then used for is left to others.

import { randomBytes } from "node:crypto";
import { delimiter } from "node:path";
import type { ServerConfig } from "../config/types.ts";
import { HubError, toHubError } from "../errors.ts";
import { childEnvironment } from "./environment.ts";
import { watchDownload } from "./download-watch.ts";
import { launchCommand } from "./launch.ts";
import { openStdio } from "./link.ts";
import type { PackageInUse, Packaged, Packages, Preparing, Renewal, Way } from "./npm/packages.ts";
import type { Redact } from "./redaction.ts";
import { openRemote } from "./remote-link.ts";
import { resilienceOf } from "./resilience.ts";
import { resolveServer, type ResolvedServer } from "./resolve.ts";
import type { ServerLog } from "./server-log.ts";
import { defaultStartMs, StartClock, type Phase } from "./start-clock.ts";
import type { Stage } from "./status.ts";
import { Upstream, type Ask, type ConnectOptions } from "./upstream.ts";
import type { ServerWorld } from "./world.ts";

const PROBE_MS = { npx: 20_000, uvx: 20_000, docker: 20_000, binary: 5000, remote: 5000 } as const;
/** To download and to build a package. */
const INSTALL_MS = 600_000;
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
  "signal" | "legacyOnly" | "client" | "onAsked" | "onListChanged" | "onResourceUpdated" | "onTaskNews" | "onGap"
> {
  readonly onStage: (stage: Stage) => void;
  /** What it is run from, before it runs; nothing where that is not known. */
  readonly onPackage?: (inUse: PackageInUse | undefined) => void;
  /** It says more than it may, and is read more slowly. */
  readonly onFlood: () => void;
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
    const limits = this.#limits;
    const clock = new StartClock(limits);
    const either = AbortSignal.any([signal, clock.signal]);
    const onStage = (stage: Stage) => {
      clock.enter(stage);
      role.onStage(stage);
    };
    let upstream: Upstream | undefined;
    let over: (() => void) | undefined;
    let way: Way | undefined;
    try {
      const resolved = await resolveServer(config(), world);
      world.redactor.setSecrets(owner, resolved.secrets);
      way = await this.#prepare(resolved, { signal: either, onStage });
      onPackage?.(way?.by === "node" ? way.inUse : undefined);
      over = await world.launches?.next({ signal: either, limitMs: limits.start });
      onStage("launching");
      upstream = await this.#connect(resolved, way, { ...role, onStage, signal: either, timeoutMs: this.#handshakeMs });
      await ready?.(upstream, either);
      either.throwIfAborted();
      return upstream;
    } catch (thrown) {
      await upstream?.close();
      if (way?.by === "node") world.packages?.doubt(way.inUse);
      if (signal.aborted) throw new HubError("Cancelled", "The start was cancelled", { cause: thrown });
      throw this.#toStartError(thrown, clock.expired);
    } finally {
      over?.();
      clock.stop();
    }
  }

  /** Installs what the server's package is today. It is run from there at the next start. */
  async renewPackage(packages: Packages, signal: AbortSignal): Promise<Renewal> {
    const { config, world } = this.#options;
    const resolved = await resolveServer(config(), world);
    const packaged = this.#packagedOf(resolved);
    if (packaged === undefined) throw new HubError("InvalidConfig", "Only a server that is a package can be updated");
    const clock = new StartClock(this.#limits);
    const onStage = (stage: Stage) => clock.enter(stage);
    try {
      const either = AbortSignal.any([signal, clock.signal]);
      return await packages.renew(packaged, this.#preparing(resolved, { signal: either, onStage }));
    } catch (thrown) {
      throw clock.expired === undefined ? thrown : this.#toStartError(thrown, clock.expired);
    } finally {
      clock.stop();
    }
  }

  /** What a package that npx would run is run by. */
  async #prepare(resolved: ResolvedServer, asked: Pick<Preparing, "signal" | "onStage">): Promise<Way | undefined> {
    const packaged = this.#packagedOf(resolved);
    return packaged && this.#options.world.packages?.prepare(packaged, this.#preparing(resolved, asked));
  }

  #packagedOf({ transport, env }: ResolvedServer): Packaged | undefined {
    const isPackage = transport.type === "stdio" && transport.launcher === "npx";
    return isPackage ? { transport, env, npm: this.#options.config().npm } : undefined;
  }

  #preparing({ env, network }: ResolvedServer, asked: Pick<Preparing, "signal" | "onStage">): Preparing {
    const { world, log } = this.#options;
    const { variables, guard, instance: tag } = world;
    const environment = childEnvironment(variables, env, { tag, launcher: "npx", proxy: network?.proxy });
    return { ...asked, environment, guard, onOutput: log.start() };
  }

  #connect(
    resolved: ResolvedServer,
    way: Way | undefined,
    role: Omit<ConnectOptions, "known" | "probeMs" | "requestMs" | "open" | "onStage"> &
      Pick<Dialing, "onStage" | "onFlood">,
  ) {
    const { config, world, redact, log } = this.#options;
    const inflow = { perSecond: resilienceOf(config().resilience).messagesPerSecond, onFlood: role.onFlood };
    return Upstream.connect({
      known: world.eras.recall(config().transport),
      legacyOnly: config().era === "legacy",
      // Once it is installed there is nothing to download any more.
      probeMs: PROBE_MS[way?.by === "node" ? "binary" : this.#method],
      requestMs: this.requestMs(),
      open: (handlers) => {
        const { transport } = resolved;
        if (transport.type !== "stdio")
          return openRemote(resolved, handlers, { lookup: world.lookup, inflow, variables: world.variables });
        const { instance, guard } = world;
        const unique = randomBytes(4).toString("hex");
        const command = launchCommand(resolved, { instance, unique, ...(way?.by === "node" ? way : {}) });
        const { launcher } = transport;
        const proxy = resolved.network?.proxy;
        const env = forWay(way, childEnvironment(world.variables, command.env, { tag: instance, launcher, proxy }));
        const watch = watchDownload(command.launcher, (is) => role.onStage(is ? "downloading" : "handshake"));
        const logged = log.start();
        const onStderr = (chunk: Buffer) => {
          watch?.(chunk);
          logged(chunk);
        };
        return openStdio({ ...command, env }, handlers, { guard, redact, inflow, onStderr });
      },
      ...role,
    });
  }

  get #method(): keyof typeof PROBE_MS {
    const { transport } = this.#options.config();
    return transport.type === "stdio" ? transport.launcher : "remote";
  }

  get #limits(): Readonly<Record<Phase, number>> {
    const { timeouts, transport } = this.#options.config();
    return { start: timeouts.startMs ?? defaultStartMs(transport), install: timeouts.installMs ?? INSTALL_MS };
  }

  /** A launcher may fetch the server while the handshake waits; the clock knows better when that takes too long. */
  get #handshakeMs(): number {
    const { start, install } = this.#limits;
    return this.#method === "remote" || this.#method === "binary" ? start : start + install;
  }

  /** In the words of the requirements, with the setting that gives it more time. */
  #toStartError(thrown: unknown, expired: Phase | undefined): HubError {
    const error = toHubError(thrown);
    if (expired === undefined && error.kind !== "Timeout") return this.#withVariable(error);
    const limits = this.#limits;
    const about = { cause: thrown, ...(error.detail === undefined ? {} : { detail: error.detail }) };
    if (expired === "install") {
      const { transport } = this.#options.config();
      const what =
        transport.type === "stdio"
          ? ` of ${transport.args.find((word) => !word.startsWith("-")) ?? transport.command}`
          : "";
      return new HubError("Timeout", `The install${what} took longer than ${inWords(limits.install)}`, {
        ...about,
        hint: `What was downloaded is kept for the next try. More time: ${this.#moreTime("install_ms", limits.install)}`,
      });
    }
    return new HubError("Timeout", "Handshake timed out", {
      ...about,
      hint: `It did not answer within ${inWords(limits.start)}. More time: ${this.#moreTime("start_ms", limits.start)}`,
    });
  }

  /** What it says that it lacks can be given to it. */
  #withVariable(error: HubError): HubError {
    const { kind, message, field, detail, hint } = error;
    if (kind !== "ProcessSpawnFailed" || field === undefined || hint !== undefined) return error;
    const name = field.replace(/^env\./, "");
    const given = `plugboard edit ${this.#options.config().name} '{"env": {"${name}": "…"}}'`;
    return new HubError(kind, message, {
      field,
      cause: error,
      ...(detail === undefined ? {} : { detail }),
      hint: given,
    });
  }

  #moreTime(setting: "install_ms" | "start_ms", limitMs: number): string {
    return `plugboard edit ${this.#options.config().name} '{"timeouts": {"${setting}": ${2 * limitMs}}}'`;
  }
}

/** @example inWords(120_000) // "2 minutes" */
function inWords(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms < 120_000 ? `${ms / 1000} s` : `${Math.round(ms / 60_000)} minutes`;
}

/** The programs of a package's dependencies are found as they are behind npx. */
function forWay(way: Way | undefined, env: Record<string, string>): Record<string, string> {
  if (way?.by === "node") return { ...env, PATH: [way.bins, env["PATH"] ?? ""].join(delimiter) };
  return way?.offline === true ? { ...env, npm_config_offline: "true" } : env;
}
