// A server on stdin and stdout. The code that starts it also ends it.

import { splitLines } from "../lines.ts";
import type { Running } from "../running.ts";
import { resultOf, type Lane, type Link } from "./link.ts";
import { Ids, INITIALIZED, initializeCall, jsonOf, Message, type Call } from "./message.ts";
import { Replies } from "./replies.ts";

export class StdioLink implements Link {
  readonly #process: Running;
  readonly #ids = new Ids();
  readonly #replies = new Replies();
  #hello: Promise<void> | undefined;

  constructor(target: Running) {
    this.#process = target;
    target.stdout.on(
      "data",
      splitLines((line) => this.#replies.take(line)),
    );
    void target.ended.then(() => this.#replies.fail(new Error(`The target ended: ${target.said}`)));
  }

  async ask(call: Call): Promise<Readonly<Record<string, unknown>>> {
    await this.openSessions();
    return this.#ask(call);
  }

  async lanes(calls: readonly Call[], { count }: { readonly count: number }): Promise<Lane[]> {
    await this.openSessions();
    return Array.from({ length: count }, (_, first) => this.#lane(calls, first));
  }

  /** There is always one session. */
  openSessions(): Promise<void> {
    this.#hello ??= this.#ask(initializeCall("2025-06-18")).then(
      () => void this.#process.stdin.write(`${INITIALIZED}\n`),
    );
    return this.#hello;
  }

  close(): void {
    this.#replies.fail(new Error("The link was closed"));
  }

  #ask(call: Call): Promise<Readonly<Record<string, unknown>>> {
    const id = this.#ids.next();
    const answered = new Promise<Buffer>((resolve, reject) => this.#replies.expect(id, resolve, reject));
    this.#process.stdin.write(`${jsonOf(call, "legacy", id)}\n`);
    return answered.then(resultOf);
  }

  #lane(calls: readonly Call[], first: number): Lane {
    const messages = calls.map((call) => new Message(call, "legacy", (json) => `${json}\n`));
    let turn = first;
    return {
      call: (onAnswer, onFailure) => {
        const id = this.#ids.next();
        const message = messages[turn++ % messages.length];
        if (message === undefined) return onFailure(new Error("A lane without requests"));
        this.#replies.expect(id, onAnswer, onFailure);
        // A copy: the pipe may still hold the bytes when the next id is written.
        this.#process.stdin.write(Buffer.from(message.withId(id)));
      },
      close: () => undefined,
    };
  }
}
