// The numbers that routes have in one file of the journal. A number never comes to mean something else, so that a record which
// could not be written at once may bring its route along again.

import { ByRoute } from "../calls/by-route.ts";
import { toRoute, type RawRoute, type Route } from "../calls/stored-call.ts";

/** Beyond it all are said anew: that only costs some bytes, and each that is remembered takes 750. */
const MAX_ROUTES = 1000;

export class JournalRoutes {
  readonly #numbers = new ByRoute<number>();
  readonly #routes = new Map<number, Route>();
  #last = 0;

  /** Its number; undefined where the file does not have it yet. */
  find({ server, tool, group, client }: RawRoute): number | undefined {
    return this.#numbers.get(server, tool, group, client ?? null);
  }

  /** Gives it one, to be said in the file. */
  add(raw: RawRoute): { readonly number: number; readonly route: Route } {
    if (this.#numbers.size >= MAX_ROUTES) this.forget();
    const number = ++this.#last;
    const route = toRoute(raw);
    const { server, tool, group, client } = raw;
    this.#numbers.set([server, tool, group, client ?? null], number);
    this.#routes.set(number, route);
    return { number, route };
  }

  /** One that was said. */
  get(number: number): Route | undefined {
    return this.#routes.get(number);
  }

  /** Another file begins: nothing is said in it yet. */
  forget(): void {
    this.#numbers.clear();
    this.#routes.clear();
  }
}
