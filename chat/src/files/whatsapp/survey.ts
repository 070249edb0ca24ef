// What the whole file tells, before a message is read: how its heads are written, in which order its dates are, and who
// writes in it.

import type { Line } from "../lines.ts";
import { type DateOrder, DateVotes, type Decision } from "./date-order.ts";
import { type Header, parseHeader } from "./header.ts";
import { SenderStatistics } from "./senders.ts";

/** A text may quote any other format, but no file is written in so many. */
const MAX_STYLES = 50;

interface Findings {
  readonly style: string;
  count: number;
  readonly votes: DateVotes;
  readonly senders: SenderStatistics;
  /** What follows the first head: who is named in it, and whether the app speaks. */
  readonly first: string;
  halfWord: string | undefined;
}

export interface Survey {
  readonly style: string;
  readonly dates: Decision;
  readonly senders: SenderStatistics;
  /** What follows the first head. */
  readonly first: string;
}

export class Surveyor {
  readonly #styles = new Map<string, Findings>();
  /** Of the file's first line: no text is before it that could have quoted another. */
  #firstStyle: string | undefined;

  add({ text, number }: Line): void {
    const header = parseHeader(text);
    if (header === undefined) return;
    if (number === 1) this.#firstStyle = header.style;
    const findings = this.#findings(header, text);
    if (findings === undefined) return;
    findings.count++;
    findings.votes.add(header.numbers);
    findings.halfWord ??= header.halfWord;
    findings.senders.add(text.slice(header.end));
  }

  /** Undefined where no line begins a message. */
  finish(wish: DateOrder | undefined): Survey | undefined {
    const [most] = [...this.#styles.values()].toSorted((one, other) => other.count - one.count);
    const found = this.#styles.get(this.#firstStyle ?? "") ?? most;
    if (found === undefined) return undefined;
    const { style, votes, senders, halfWord, first } = found;
    return { style, senders, first, dates: votes.decide({ wish, halfWord }) };
  }

  #findings(header: Header, text: string): Findings | undefined {
    const known = this.#styles.get(header.style);
    if (known !== undefined || this.#styles.size >= MAX_STYLES) return known;
    const fresh: Findings = {
      style: header.style,
      count: 0,
      votes: new DateVotes(),
      senders: new SenderStatistics(),
      first: text.slice(header.end),
      halfWord: undefined,
    };
    this.#styles.set(header.style, fresh);
    return fresh;
  }
}
