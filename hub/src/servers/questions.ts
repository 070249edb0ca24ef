// What servers ask their clients, in words for people. Pure; who may be asked, and how, is left to others.

import { type Askable } from "./era-memory.ts";

const METHODS: ReadonlyMap<string, { readonly kind: Askable; readonly subject: string }> = new Map([
  ["elicitation/create", { kind: "elicitation", subject: "The server asks the user a question" }],
  ["sampling/createMessage", { kind: "sampling", subject: "The server asks the client's model to write something" }],
  ["roots/list", { kind: "roots", subject: "The server asks for the client's folders (roots)" }],
]);

/** The capability that a client needs to be asked this; undefined where it is no question to a client. */
export function askableOf(method: string): Askable | undefined {
  return METHODS.get(method)?.kind;
}

/** The beginning of a sentence. */
export function subjectOf(method: string): string {
  return METHODS.get(method)?.subject ?? `The server sends ${method}, which is no question to a client`;
}
