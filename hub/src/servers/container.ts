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
const LOOKS = 10;
const PAUSE_MS = 100;

export function engineAnswers(client: Client): Promise<boolean> {
  return succeeds(client, ["version", "--format", "{{.Server.Version}}"]);
}

export function hasImage(client: Client, image: string): Promise<boolean> {
  return succeeds(client, ["image", "inspect", "--format", "{{.Id}}", "--", image]);
}

/**
 * Ends and removes the container. Resolves when it is gone, or when its engine no longer answers.
 *
 * A client that was killed may have asked for the container an instant before; the engine then creates it all the same.
 * `mayAppear` keeps looking for that one.
 */
export async function removeContainer(
  { name, client }: Container,
  { mayAppear }: { mayAppear: boolean },
): Promise<void> {
  let awaited = mayAppear;
  for (let looks = 0; looks < LOOKS; looks++) {
    // Usually --rm has done it. The exit code of rm does not tell "gone" from "being removed", so look again after it.
    const there = await succeeds(client, ["container", "inspect", "--format", "{{.Id}}", name]);
    if (!there && !awaited) return;
    if (there) awaited = false;
    if (there && (await succeeds(client, ["rm", "--force", "--volumes", name]))) continue;
    await delay(PAUSE_MS);
  }
}

function succeeds({ command, env }: Client, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { env, timeout: ANSWER_MS, killSignal: "SIGKILL" }, (error) => resolve(error === null));
  });
}
