// The numbers that routes have in one file of the journal. A number never comes to mean something else, so that a record which
// could not be written at once may bring its route along again.

import { ByRoute } from "../calls/by-route.ts";
import type { Route } from "./journal-block.ts";

/** Beyond it all are said anew: that only costs some bytes, and each that is remembered takes 750. */
const MAX_ROUTES = 1000;

export class JournalRoutes {
  readonly #numbers = new ByRoute<number>();
  readonly #routes = new Map<number, Route>();
  #last = 0;

  /** Its number; `say` is called where the file does not have it yet. */
  numberOf(route: Route, say: (number: number, route: Route) => void): number {
    const { server, tool, group, client } = route;
    const known = this.#numbers.get(server, tool, group, client);
    if (known !== undefined) return known;
    if (this.#numbers.size >= MAX_ROUTES) this.forget();
    const number = ++this.#last;
    this.#numbers.set([server, tool, group, client], number);
    this.#routes.set(number, { server, tool, group, client });
    say(number, route);
    return number;
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
