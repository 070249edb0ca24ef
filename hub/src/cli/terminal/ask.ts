// Questions on the terminal. Ctrl-C ends the command.

import { createInterface } from "node:readline";
import { Interrupted } from "../interrupted.ts";
import type { GlobalOptions, Io } from "../io.ts";

/** Whether a user can be asked. */
export function canAsk({ stdin, stderr }: Io, { input, json, quiet }: GlobalOptions): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && input !== false && json !== true && quiet !== true;
}

/** One line; undefined at the end of input, or if the signal withdraws the question. */
export function askLine({ stdin, stderr }: Io, question: string, signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: true });
    let isInterrupted = false;
    const giveUp = () => {
      stderr.write("\n");
      lines.close();
    };
    lines.once("SIGINT", () => {
      isInterrupted = true;
      giveUp();
      reject(new Interrupted({ stderr }));
    });
    lines.once("close", () => {
      signal?.removeEventListener("abort", giveUp);
      if (!isInterrupted) resolve(undefined);
    });
    signal?.addEventListener("abort", giveUp, { once: true });
    lines.question(question, (answer) => {
      resolve(answer.trim());
      lines.close();
    });
  });
}

/** Asks until the answer is yes or no. Enter takes the default; end of input means no. */
export async function askYes(
  io: Io,
  question: string,
  { enter = true, signal }: { enter?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  for (;;) {
    const answer = await askLine(io, `${question} ${enter ? "[Y/n]" : "[y/N]"} `, signal);
    if (answer === undefined) return false;
    if (answer === "") return enter;
    if (/^(?:y|yes)$/i.test(answer)) return true;
    if (/^(?:n|no)$/i.test(answer)) return false;
    io.stderr.write("Answer y or n.\n");
  }
}

/** One of the answers by its number; undefined if none is chosen. */
export async function choose(io: Io, question: string, answers: readonly string[]): Promise<string | undefined> {
  const [only] = answers;
  if (answers.length === 1) return (await askYes(io, `${question}. Add ${only}?`)) ? only : undefined;
  io.stderr.write(`${question}:\n${answers.map((answer, index) => `  ${index + 1}  ${answer}\n`).join("")}`);
  for (;;) {
    const answer = await askLine(io, `Which one? [1-${answers.length}] `);
    if (answer === undefined || answer === "") return undefined;
    const chosen = answers[Number(answer) - 1];
    if (chosen !== undefined) return chosen;
  }
}
