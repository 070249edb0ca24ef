// Base class of the network sources: identity, timing and the reconnect loop. A subclass knows one network's protocol.

import { ChatError } from "../errors.ts";
import type { ChatSource, SourceCapabilities, SourceContext } from "../model/source.ts";
import { REAL_TIMING, type Timing } from "./backoff.ts";
import type { SourceFailure } from "./failure.ts";
import { runWithReconnect, type Connection } from "./reconnect.ts";

export interface NetworkSourceOptions {
  readonly id: string;
  readonly name?: string;
  /** Replaced in tests. */
  readonly timing?: Timing;
}

export abstract class NetworkSource implements ChatSource {
  readonly id: string;
  readonly name: string;
  abstract readonly kind: string;
  abstract readonly capabilities: SourceCapabilities;
  protected readonly timing: Timing;

  protected constructor({ id, name, timing = REAL_TIMING }: NetworkSourceOptions, defaultName: string) {
    this.id = id;
    this.name = name ?? defaultName;
    this.timing = timing;
  }

  abstract run(context: SourceContext): Promise<void>;

  /** Advice for the user after a failed connection. */
  protected abstract howToConnect(failure: SourceFailure): string;

  /** Resolves when the signal of the context aborts. */
  protected stayConnected(context: SourceContext, attempt: Connection["attempt"]): Promise<void> {
    return runWithReconnect(context, {
      attempt,
      howToConnect: (failure) => this.howToConnect(failure),
      timing: this.timing,
    });
  }

  protected notConnected(message = `${this.name} is not connected`, failure?: SourceFailure): ChatError {
    const hint = failure === undefined ? "Wait until the source is connected" : this.howToConnect(failure);
    return new ChatError("SOURCE_NOT_CONNECTED", message, { hint });
  }
}
