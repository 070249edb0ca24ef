// What a person's browser does at a login: follows redirects with a cookie jar, and submits the forms that it is told to.

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

type Init = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

const MOST_REDIRECTS = 20;

export class Browser {
  /** Cookies by host and name. Ports do not count, as in every browser. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** Every answer so far, redirects included. */
  readonly pages: Page[] = [];

  /** Opens an address and follows its redirects to the last page, or to the first address for which `until` is true, unopened. */
  open(url: string, until?: (url: URL) => boolean): Promise<Page> {
    return this.#follow(url, {}, until);
  }

  /** Fills in a form of a page and submits it. Its hidden fields are sent as they are. */
  submit(page: Page, fields: Readonly<Record<string, string>> = {}, until?: (url: URL) => boolean): Promise<Page> {
    const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(page.text);
    if (form === null) throw new Error(`No form at ${page.url}: ${page.text.slice(0, 500)}`);
    const [, attributes = "", content = ""] = form;
    const hidden = [...content.matchAll(/<input\b([^>]*)>/gi)].flatMap(([, of = ""]) => {
      const name = attribute(of, "name");
      return name === undefined || attribute(of, "type") === "submit" ? [] : [[name, attribute(of, "value") ?? ""]];
    });
    const action = new URL(attribute(attributes, "action") ?? page.url, page.url).href;
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    // Browsers send it with every form.
    const headers = { origin: new URL(page.url).origin };
    return this.#follow(action, { method: "POST", body, headers }, until);
  }

  /** What a script of a page sends. */
  async send(method: string, url: string, body: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    const response = await this.#request(url, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  }

  async #follow(url: string, init: Init, until: ((url: URL) => boolean) | undefined): Promise<Page> {
    let next: { url: string; init: Init } = { url, init };
    for (let count = 0; count < MOST_REDIRECTS; count++) {
      if (until?.(new URL(next.url)) === true) return { url: next.url, status: 0, headers: new Headers(), text: "" };
      const response = await this.#request(next.url, next.init);
      const { status, headers } = response;
      const page = { url: next.url, status, headers, text: await response.text() };
      this.pages.push(page);
      const location = headers.get("location");
      if (status < 300 || status >= 400 || location === null) return page;
      next = { url: new URL(location, next.url).href, init: {} };
    }
    throw new Error(`More than ${MOST_REDIRECTS} redirects: ${this.pages.map((page) => page.url).join("\n")}`);
  }

  async #request(url: string, init: Init): Promise<Response> {
    const { hostname } = new URL(url);
    const jar = this.#cookies.get(hostname) ?? new Map<string, string>();
    this.#cookies.set(hostname, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", ...init.headers, ...(cookie === "" ? {} : { cookie }) };
    const response = await fetch(url, { ...init, redirect: "manual", headers });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return response;
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = "", ...attributes] = line.split(";");
  const at = pair.indexOf("=");
  const name = pair.slice(0, at).trim();
  const expires = attributes.map((each) => /^\s*expires=(.+)$/i.exec(each)?.[1]).find((each) => each !== undefined);
  if (expires !== undefined && Date.parse(expires) < Date.now()) jar.delete(name);
  else jar.set(name, pair.slice(at + 1).trim());
}

function attribute(text: string, name: string): string | undefined {
  const found = new RegExp(`\\b${name}="([^"]*)"`, "i").exec(text)?.[1];
  return found?.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
}
