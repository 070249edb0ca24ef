// Opens a connection to a server: resolves variables and secrets, installs its package, waits for the start limiter, launches
// the process or connects to the address, and shakes hands.

import { randomBytes } from "node:crypto";
import { delimiter } from "node:path";
import { HubError, toHubError } from "../../errors.ts";
import { childEnvironment } from "../process/environment.ts";
import { watchDownload } from "../process/download-watch.ts";
import { LOCAL } from "../instances/caller.ts";
import { launchCommand } from "../process/command-line.ts";
import { openStdio } from "./link.ts";
import type { PackageInUse, Packaged, Packages, Preparing, Renewal, RenewTo, LaunchPlan } from "../npm/packages.ts";
import { openRemote } from "./remote-link.ts";
import { resolveServer, type ResolvedServer } from "../process/resolve.ts";
import type { ServerLog } from "../server-log.ts";
import { defaultStartMs, StartClock, type Phase } from "../process/start-clock.ts";
import type { Stage } from "../status.ts";
import { Upstream, type ConnectOptions } from "./upstream.ts";
import type { ServerState } from "../server-state.ts";

const PROBE_MS = { npx: 20_000, uvx: 20_000, docker: 20_000, binary: 5000, remote: 5000 } as const;
/** To download and build a package. */
const INSTALL_MS = 600_000;

export interface Dialing extends Pick<
  ConnectOptions,
  | "signal"
  | "legacyOnly"
  | "client"
  | "onClientRequest"
  | "onListChanged"
  | "onResourceUpdated"
  | "onTaskNotification"
  | "onGap"
> {
  readonly onStage: (stage: Stage) => void;
  /** The package that it will run from. Undefined if npx decides. */
  readonly onPackage?: (inUse: PackageInUse | undefined) => void;
  /** It exceeds its message rate, and is read more slowly. */
  readonly onFlood: () => void;
  /** Its secrets are known to the redactor for as long as the owner exists. */
  readonly owner: object;
  /** On whose behalf, if callers have credentials of their own. Default: the one whose credentials list what there is. */
  readonly principal?: string;
  /** The last part of the start, within the same time limit. */
  readonly ready?: (upstream: Upstream, signal: AbortSignal) => Promise<void>;
}

export class Dialer {
  readonly #state: ServerState;
  readonly #log: ServerLog;
  /** Starts in a row that took too long. */
  #slowStarts = 0;

  constructor(state: ServerState, log: ServerLog) {
    this.#state = state;
    this.#log = log;
  }

  /** Rejects with the reason. Nothing of the attempt is left then. */
  async open({ owner, ready, onPackage, principal: given, ...role }: Dialing): Promise<Upstream> {
    const { config, context } = this.#state;
    this.#requireApproval();
    const { signal } = role;
    const limits = this.#limits;
    const clock = new StartClock(limits);
    const either = AbortSignal.any([signal, clock.signal]);
    const onStage = (stage: Stage) => {
      clock.enter(stage);
      role.onStage(stage);
    };
    let upstream: Upstream | undefined;
    let release: (() => void) | undefined;
    let plan: LaunchPlan | undefined;
    try {
      const principal = given ?? (await this.#lister());
      const resolved = await resolveServer(config, { ...context, principal });
      context.redactor.setSecrets(owner, resolved.secrets);
      plan = await this.#prepare(resolved, { signal: either, onStage });
      onPackage?.(plan?.by === "node" ? plan.inUse : undefined);
      release = await context.startLimiter?.acquire({ signal: either, limitMs: limits.start });
      onStage("launching");
      upstream = await this.#connect(resolved, plan, {
        ...role,
        principal,
        onStage,
        signal: either,
        timeoutMs: this.#handshakeMs,
      });
      await ready?.(upstream, either);
      either.throwIfAborted();
      this.#slowStarts = 0;
      return upstream;
    } catch (thrown) {
      await upstream?.close();
      if (plan?.by === "node") context.packages?.markSuspect(plan.inUse);
      if (signal.aborted) throw new HubError("Cancelled", "The start was cancelled", { cause: thrown });
      const error = this.#toStartError(thrown, clock.expired);
      if (error.kind === "Timeout" && clock.expired !== "install") this.#slowStarts++;
      throw error;
    } finally {
      release?.();
      clock.stop();
    }
  }

  /** Here, since whatever runs or connects to a server goes through this class. */
  #requireApproval(): void {
    const { config, context } = this.#state;
    const refusal = context.approvals?.refusal(config);
    if (refusal !== undefined) throw refusal;
  }

  #lister(): Promise<string> {
    const { config, context } = this.#state;
    const owner = LOCAL.credentialsOf();
    return this.#state.isPerUser && context.listerOf !== undefined ? context.listerOf(config) : Promise.resolve(owner);
  }

  /** Installs the newest version that the entry allows. The next start runs it. */
  async renewPackage(packages: Packages, signal: AbortSignal, to: RenewTo): Promise<Renewal> {
    const { config, context } = this.#state;
    // An install runs the scripts of packages.
    this.#requireApproval();
    const resolved = await resolveServer(config, { ...context, principal: await this.#lister() });
    const packaged = this.#packagedOf(resolved);
    if (packaged === undefined) throw new HubError("InvalidArgument", "Only a server that is a package can be updated");
    const clock = new StartClock(this.#limits);
    const onStage = (stage: Stage) => clock.enter(stage);
    try {
      const either = AbortSignal.any([signal, clock.signal]);
      return await packages.renew(packaged, this.#preparing(resolved, { signal: either, onStage }), to);
    } catch (thrown) {
      throw clock.expired === undefined ? thrown : this.#toStartError(thrown, clock.expired);
    } finally {
      clock.stop();
    }
  }

  /** How to run a package that the config leaves to npx. */
  async #prepare(
    resolved: ResolvedServer,
    start: Pick<Preparing, "signal" | "onStage">,
  ): Promise<LaunchPlan | undefined> {
    const packaged = this.#packagedOf(resolved);
    return packaged && this.#state.context.packages?.prepare(packaged, this.#preparing(resolved, start));
  }

  #packagedOf({ transport, env }: ResolvedServer): Packaged | undefined {
    const isPackage = transport.type === "stdio" && transport.launcher === "npx";
    return isPackage ? { transport, env, npm: this.#state.config.npm } : undefined;
  }

  #preparing({ env, network }: ResolvedServer, start: Pick<Preparing, "signal" | "onStage">): Preparing {
    const { variables, watchdog, instance: tag } = this.#state.context;
    const environment = childEnvironment(variables, env, { tag, launcher: "npx", proxy: network?.proxy });
    return { ...start, environment, watchdog, onOutput: this.#log.start() };
  }

  #connect(
    resolved: ResolvedServer,
    plan: LaunchPlan | undefined,
    role: Omit<ConnectOptions, "known" | "probeMs" | "requestMs" | "open" | "onStage" | "onLogMessage"> &
      Pick<Dialing, "onStage" | "onFlood"> & { readonly principal: string },
  ) {
    const { config, context, redact, resilience } = this.#state;
    const inflow = { perSecond: resilience.messagesPerSecond, onFlood: role.onFlood };
    return Upstream.connect({
      known: context.eras.find(config.transport),
      legacyOnly: config.era === "legacy",
      // An installed package has nothing to download.
      probeMs: PROBE_MS[plan?.by === "node" ? "binary" : this.#method],
      requestMs: this.#state.requestMs(),
      onLogMessage: (params) => this.#log.message(params),
      ...(context.client === undefined ? {} : { identity: context.client, client: context.client, toolsOnly: true }),
      open: (handlers) => {
        const { transport } = resolved;
        if (transport.type !== "stdio") {
          const { lookup, variables, authorizationFor } = context;
          const authorize = (url: URL) => authorizationFor?.(config, url, { principal: role.principal });
          return openRemote(resolved, handlers, { lookup, inflow, variables, authorize });
        }
        const { instance, watchdog, variables } = context;
        const unique = randomBytes(4).toString("hex");
        const command = launchCommand(resolved, { instance, unique, ...(plan?.by === "node" ? plan : {}) });
        const { launcher } = transport;
        const proxy = resolved.network?.proxy;
        const env = withPlan(plan, childEnvironment(variables, command.env, { tag: instance, launcher, proxy }));
        const watch = watchDownload(command.launcher, (is) => role.onStage(is ? "downloading" : "handshake"));
        const addToLog = this.#log.start();
        const onStderr = (chunk: Buffer) => {
          watch?.(chunk);
          addToLog(chunk);
        };
        return openStdio({ ...command, env }, handlers, { watchdog, redact, inflow, onStderr });
      },
      ...role,
    });
  }

  get #method(): keyof typeof PROBE_MS {
    const { transport } = this.#state.config;
    return transport.type === "stdio" ? transport.launcher : "remote";
  }

  get #limits(): Readonly<Record<Phase, number>> {
    const { timeouts, transport } = this.#state.config;
    const start = timeouts.startMs ?? defaultStartMs(transport, this.#slowStarts);
    return { start, install: timeouts.installMs ?? INSTALL_MS };
  }

  /** A launcher may download the server during the handshake; StartClock limits that time. */
  get #handshakeMs(): number {
    const { start, install } = this.#limits;
    return this.#method === "remote" || this.#method === "binary" ? start : start + install;
  }

  /** Names the setting that gives it more time. */
  #toStartError(thrown: unknown, expired: Phase | undefined): HubError {
    const error = toHubError(thrown);
    if (expired === undefined && error.kind !== "Timeout") return this.#withVariable(error);
    const limits = this.#limits;
    const about = { cause: thrown, ...(error.detail === undefined ? {} : { detail: error.detail }) };
    if (expired === "install") {
      const { transport } = this.#state.config;
      const what =
        transport.type === "stdio"
          ? ` of ${transport.args.find((word) => !word.startsWith("-")) ?? transport.command}`
          : "";
      return new HubError("Timeout", `The install${what} took longer than ${formatDuration(limits.install)}`, {
        ...about,
        hint: `Downloaded files are kept for the next attempt. To allow more time: ${this.#moreTime("install_ms", limits.install)}`,
      });
    }
    const { timeouts, transport } = this.#state.config;
    const next = timeouts.startMs ?? defaultStartMs(transport, this.#slowStarts + 1);
    const growth = next > limits.start ? `; the next attempt has ${formatDuration(next)}` : "";
    return new HubError("Timeout", "Handshake timed out", {
      ...about,
      hint: `It did not answer within ${formatDuration(limits.start)}${growth}. To allow more time: ${this.#moreTime("start_ms", limits.start)}`,
    });
  }

  /** A server that names the variable it lacks: the hint sets it. */
  #withVariable(error: HubError): HubError {
    const { kind, message, field, detail, hint } = error;
    if (kind !== "ProcessSpawnFailed" || field === undefined || hint !== undefined) return error;
    const name = field.replace(/^env\./, "");
    const given = `plugboard edit ${this.#state.config.name} '{"env": {"${name}": "…"}}'`;
    return new HubError(kind, message, {
      field,
      cause: error,
      ...(detail === undefined ? {} : { detail }),
      hint: given,
    });
  }

  #moreTime(setting: "install_ms" | "start_ms", limitMs: number): string {
    return `plugboard edit ${this.#state.config.name} '{"timeouts": {"${setting}": ${2 * limitMs}}}'`;
  }
}

/** @example inWords(120_000) // "2 minutes" */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms < 120_000 ? `${ms / 1000} s` : `${Math.round(ms / 60_000)} minutes`;
}

/** The programs of a package's dependencies are in its PATH, as under npx. */
function withPlan(plan: LaunchPlan | undefined, env: Record<string, string>): Record<string, string> {
  if (plan?.by === "node") return { ...env, PATH: [plan.bins, env["PATH"] ?? ""].join(delimiter) };
  return plan?.offline === true ? { ...env, npm_config_offline: "true" } : env;
}
