// HTML from templates: every value is escaped unless it is itself made by a template.

import { revealHidden } from "../../lib/hidden-text.ts";

/** A piece of HTML that is safe to send. Only `html` makes one. */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  static of(parts: TemplateStringsArray, values: readonly HtmlValue[]): Html {
    return new Html(parts.map((part, index) => (index === 0 ? "" : toText(values[index - 1])) + part).join(""));
  }
}

export type HtmlValue = string | Html | readonly Html[] | undefined;

/** @example html`<p>${name}</p>` */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.of(parts, values);
}

function toText(value: HtmlValue): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value !== "string") return value.map(({ text }) => text).join("");
  // Names and errors of others: direction controls could make an address look like another one.
  return revealHidden(value).replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
