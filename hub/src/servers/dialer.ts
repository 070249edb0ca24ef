// Opens a connection to a server: its variables and secrets, its turn among those that start, its process or address, the
// handshake, all within its time to start. What the connection is then used for is left to others.

import { randomBytes } from "node:crypto";
import type { ServerConfig } from "../config/types.ts";
import { HubError, toHubError } from "../errors.ts";
import { childEnvironment } from "./environment.ts";
import { launchCommand } from "./launch.ts";
import { openStdio } from "./link.ts";
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
  async open({ owner, ready, ...role }: Dialing): Promise<Upstream> {
    const { config, world } = this.#options;
    const { signal } = role;
    const { timeouts } = config();
    const startMs = timeouts.startMs ?? START_MS[this.#method];
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), startMs);
    const either = AbortSignal.any([signal, deadline.signal]);
    let upstream: Upstream | undefined;
    let over: (() => void) | undefined;
    try {
      const resolved = await resolveServer(config(), world);
      world.redactor.setSecrets(owner, resolved.secrets);
      role.onStage("launching");
      over = await world.launches?.next({ signal: either, limitMs: startMs });
      upstream = await this.#connect(resolved, { ...role, signal: either, timeoutMs: startMs });
      await ready?.(upstream, either);
      either.throwIfAborted();
      return upstream;
    } catch (thrown) {
      await upstream?.close();
      throw startError(thrown, { cancelled: signal.aborted, timedOut: deadline.signal.aborted });
    } finally {
      over?.();
      clearTimeout(timer);
    }
  }

  #connect(resolved: ResolvedServer, role: Omit<ConnectOptions, "known" | "probeMs" | "requestMs" | "open">) {
    const { config, world, redact, log } = this.#options;
    return Upstream.connect({
      known: world.eras.recall(config().transport),
      probeMs: PROBE_MS[this.#method],
      requestMs: this.requestMs(),
      open: (handlers) => {
        if (resolved.transport.type !== "stdio") return openRemote(resolved, handlers, { lookup: world.lookup });
        const { instance, guard } = world;
        const command = launchCommand(resolved, { instance, unique: randomBytes(4).toString("hex") });
        const env = childEnvironment(world.variables, command.env, { tag: instance, launcher: command.launcher });
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

function startError(thrown: unknown, { cancelled, timedOut }: { cancelled: boolean; timedOut: boolean }): HubError {
  const error = toHubError(thrown);
  if (cancelled) return new HubError("Cancelled", "The start was cancelled", { cause: thrown });
  if (!timedOut && error.kind !== "Timeout") return error;
  const { detail } = error;
  return new HubError("Timeout", "Handshake timed out", { cause: thrown, ...(detail === undefined ? {} : { detail }) });
}
