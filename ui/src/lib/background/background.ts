// Checks of values beside the page, with a time limit: a schema is the server's, and a pattern in it may take forever.

import type { Issue } from "../schema/validate.ts";
import { toPlain, type Json } from "../text/json.ts";

export interface Job {
  readonly id: number;
  readonly schema: Json;
  readonly value: Json;
}

export interface Begun {
  readonly id: number;
  readonly state: "begun";
}

export interface Done {
  readonly id: number;
  readonly state: "done";
  readonly issues: Issue[] | undefined;
}

interface Waiting {
  readonly settle: (issues: Issue[] | undefined) => void;
  timer: ReturnType<typeof setTimeout>;
}

/** For the check itself. */
const LIMIT_MS = 1000;
/** Until the worker is loaded and has done what came before. */
const START_MS = 15_000;

class Background {
  #worker: Promise<Worker> | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #policy: Policy | undefined;
  #nextId = 1;

  /** As `validate`, in time: undefined also if it takes too long. */
  async validate(schema: Json, value: Json): Promise<Issue[] | undefined> {
    const id = this.#nextId++;
    // What arrives is plain data: classes do not survive the way to a worker.
    const job = { id, schema: toPlain(schema) as Json, value: toPlain(value) as Json } satisfies Job;
    return await new Promise((settle) => {
      this.#waiting.set(id, { settle, timer: this.#limit(START_MS) });
      this.#worker ??= this.#start();
      this.#worker.then(
        (worker) => worker.postMessage(job),
        () => this.#giveUp(),
      );
    });
  }

  async #start(): Promise<Worker> {
    const { default: url } = await import("./worker.ts?worker&url");
    // A policy can be made only once.
    this.#policy ??= createPolicy();
    const worker = new Worker(this.#policy?.createScriptURL(url) ?? url, { type: "module" });
    worker.addEventListener("error", () => this.#giveUp());
    worker.addEventListener("message", ({ data }: MessageEvent<Begun | Done>) => this.#heard(data));
    return worker;
  }

  #heard(message: Begun | Done): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    if (message.state === "begun") {
      waiting.timer = this.#limit(LIMIT_MS);
      return;
    }
    this.#waiting.delete(message.id);
    waiting.settle(message.issues);
  }

  #limit(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#giveUp(), ms);
  }

  /** A worker that is busy can only be ended. The next check starts another one. */
  #giveUp(): void {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#worker?.then(
      (worker) => worker.terminate(),
      () => undefined,
    );
    this.#worker = undefined;
    for (const { timer, settle } of all) {
      clearTimeout(timer);
      settle(undefined);
    }
  }
}

interface Policy {
  readonly createScriptURL: (url: string) => string;
}

/** Addresses of scripts need a policy that the hub's Content-Security-Policy names. Undefined: the browser knows none. */
function createPolicy(): Policy | undefined {
  const { trustedTypes: types } = globalThis as {
    trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
  };
  return types?.createPolicy("plugboard-worker", { createScriptURL: ownUrl });
}

function ownUrl(url: string): string {
  if (new URL(url, document.baseURI).origin === location.origin) return url;
  throw new Error("Workers come from the hub only");
}

export const background = new Background();
