// The address bar: which path and query are shown, and how to go elsewhere. Filters, selection and tabs of screens are in the
// query, so that every view has a link.

import { formatQuery, parseQuery, type Query } from "./lib/route.ts";

interface Entry {
  readonly scroll: number;
}

class Router {
  /** "/ui/" where the hub serves it, or longer behind a proxy; ends with a slash. */
  readonly base = new URL(document.baseURI).pathname.replace(/[^/]*$/, "");
  /** Without the base: "/", "/servers/github". */
  path = $state("/");
  query: Query = $state.raw({});
  /** Grows with each new page, not with a changed query: the shell then moves the focus. */
  visit = $state(0);
  /** Asked before the page changes; false keeps it. */
  #guard: (() => boolean) | undefined;

  start(): void {
    history.scrollRestoration = "manual";
    this.#read();
    addEventListener("popstate", ({ state }) => {
      const before = this.path;
      this.#read();
      if (this.path === before) return;
      this.visit += 1;
      const { scroll = 0 } = (state ?? {}) as Partial<Entry>;
      requestAnimationFrame(() => scrollTo({ top: scroll }));
    });
    addEventListener("click", (event) => this.#click(event));
  }

  /** The address of a page for `href`. */
  href(path: string): string {
    return `${this.base}${path.replace(/^\//, "")}`;
  }

  go(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
    const [wanted = "/"] = path.split("?");
    if (wanted !== this.path && this.#guard?.() === false) return;
    const before = this.path;
    this.#remember();
    if (replace) history.replaceState({}, "", this.href(path));
    else history.pushState({}, "", this.href(path));
    this.#read();
    if (this.path === before) return;
    this.visit += 1;
    scrollTo({ top: 0 });
  }

  /** Changes some members of the query; undefined and "" remove one. Makes a history entry unless told otherwise. */
  setQuery(
    changes: Readonly<Record<string, string | undefined>>,
    { push = false }: { readonly push?: boolean } = {},
  ): void {
    const text = formatQuery({ ...this.query, ...changes });
    const address = this.href(text === "" ? this.path : `${this.path}?${text}`);
    if (push) history.pushState({}, "", address);
    else history.replaceState(history.state, "", address);
    this.#read();
  }

  /** For a form with unsaved changes. Returns the function that removes the guard. */
  guard(mayLeave: () => boolean): () => void {
    this.#guard = mayLeave;
    return () => {
      if (this.#guard === mayLeave) this.#guard = undefined;
    };
  }

  #read(): void {
    const { pathname, search } = location;
    const rest = pathname.startsWith(this.base) ? pathname.slice(this.base.length) : "";
    this.path = `/${rest}`.replace(/(.)\/$/, "$1");
    this.query = parseQuery(search);
  }

  #remember(): void {
    history.replaceState({ scroll: scrollY } satisfies Entry, "");
  }

  /** Links are ordinary links: the browser opens them in a new tab if it is asked to. */
  #click(event: MouseEvent): void {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(this.base) || link.hash !== "") return;
    event.preventDefault();
    this.go(`/${link.pathname.slice(this.base.length)}${link.search}`);
  }
}

export const router = new Router();
