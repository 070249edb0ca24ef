// The frame of the hub's own pages: one style for all, no scripts, no external resources, nothing cached.

import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { html, type Html } from "./html.ts";

export interface Page {
  readonly title: string;
  readonly main: Html;
}

export interface PageAnswer {
  readonly status: number;
  readonly page: Page;
  readonly headers?: Readonly<Record<string, string>>;
  readonly policy?: PagePolicy;
  /** True: the answer to HEAD. */
  readonly isHead?: boolean;
}

/** What the page may do beyond showing text. */
export interface PagePolicy {
  /** Run scripts of the hub's own addresses, which may ask the hub. */
  readonly scripts?: boolean;
  /** The only place, besides the hub, to which the answer to a form may lead. */
  readonly formTarget?: string;
}

const STYLE = `
  :root { color-scheme: light dark; color: CanvasText; background: Canvas; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.25rem; margin: 1.5rem 0; }
  dt { font-weight: 600; }
  dd { margin: 0; overflow-wrap: anywhere; }
  code { font: .9em/1.4 ui-monospace, monospace; background: rgb(128 128 128 / .15); padding: .1em .35em; border-radius: .25em; overflow-wrap: anywhere; }
  dl code { white-space: nowrap; }
  ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem; }
  ul code { white-space: normal; }
  button { font: inherit; font-weight: 600; color: #fff; background: #1f5fbf; border: 1px solid #1f5fbf; border-radius: .4rem; padding: .6rem 1.1rem; cursor: pointer; overflow-wrap: anywhere; }
  button:hover { background: #184d9c; }
  button.plain { color: inherit; background: none; border-color: rgb(128 128 128 / .6); }
  button.plain:hover { background: rgb(128 128 128 / .15); }
  .buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; }
  .buttons[hidden] { display: none; }
  .host { font-size: 1.9rem; line-height: 1.25; font-weight: 700; margin: .5rem 0; overflow-wrap: anywhere; }
  .host small { font-size: 1rem; font-weight: 400; }
  .large { font-size: 1.25rem; }
  .claimed::before { content: "“"; }
  .claimed::after { content: "”"; }
  .claimed { overflow-wrap: anywhere; }
  fieldset { border: 1px solid rgb(128 128 128 / .5); border-radius: .4rem; padding: .5rem 1rem .75rem; margin: 1.25rem 0; }
  fieldset label { display: block; padding: .2rem 0; overflow-wrap: anywhere; }
  legend { font-weight: 600; padding: 0 .35rem; }
  select { font: inherit; padding: .3rem .5rem; margin-left: .25rem; }
  button:focus-visible { outline: 3px solid #7fb0ff; outline-offset: 2px; }
  .faint { opacity: .75; }
  .notice { border-left: .25rem solid #b7791f; padding: .1rem 0 .1rem .9rem; margin: 1.25rem 0; overflow-wrap: anywhere; }
  .failed { border-color: #c53030; }
  .done { border-color: #2f855a; }
  @media (max-width: 30rem) {
    body { margin-top: 1.5rem; }
    dl { grid-template-columns: 1fr; }
    dd { margin-bottom: .5rem; }
    dl code { white-space: normal; }
    button { width: 100%; }
  }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export function sendPage(response: ServerResponse, answer: PageAnswer): void {
  if (response.headersSent) return void response.destroy();
  const { status, headers, body } = renderPage(answer);
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.end(answer.isHead === true ? undefined : body);
}

export function renderPage({ status, page, headers = {}, policy = {} }: PageAnswer): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
} {
  const rules = [
    POLICY,
    ...(policy.scripts === true ? ["script-src 'self'; connect-src 'self'"] : []),
    ...(policy.formTarget === undefined ? [] : [`form-action 'self' ${policy.formTarget}`]),
  ];
  return {
    status,
    headers: { ...HEADERS, "content-security-policy": rules.join("; "), ...headers },
    body: Buffer.from(document(page)),
  };
}

function document({ title, main }: Page): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    html`<title>${title}</title>`.text,
    `<style>${STYLE}</style></head>`,
    html`<body><main>${main}</main></body></html>`.text,
    "",
  ].join("\n");
}
