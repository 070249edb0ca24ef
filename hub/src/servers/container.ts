// Questions and orders to a container engine, through its own client: exit codes, no reading of texts.

import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** How an engine is reached. */
export interface Client {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Container {
  readonly name: string;
  readonly client: Client;
}

const ANSWER_MS = 5_000;
const REMOVAL_TRIES = 10;
const REMOVAL_PAUSE_MS = 100;

export function engineAnswers(client: Client): Promise<boolean> {
  return succeeds(client, ["version", "--format", "{{.Server.Version}}"]);
}

export function hasImage(client: Client, image: string): Promise<boolean> {
  return succeeds(client, ["image", "inspect", "--format", "{{.Id}}", "--", image]);
}

/** Ends and removes the container, if it is there. Resolves when it is gone, or when its engine no longer answers. */
export async function removeContainer({ name, client }: Container): Promise<void> {
  // Looking first and last: usually --rm has done it, and the exit code of rm does not tell "gone" from "being removed".
  for (let tries = 0; tries < REMOVAL_TRIES; tries++) {
    if (!(await succeeds(client, ["container", "inspect", "--format", "{{.Id}}", name]))) return;
    if (!(await succeeds(client, ["rm", "--force", "--volumes", name]))) await delay(REMOVAL_PAUSE_MS);
  }
}

function succeeds({ command, env }: Client, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: ANSWER_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null));
  });
}
