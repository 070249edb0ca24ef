// First pass over the file: the notation of headers, the date order, and the senders.

import type { Line } from "../lines.ts";
import { type DateOrder, DateVotes, type Decision } from "./date-order.ts";
import { type Header, parseHeader } from "./header.ts";
import { SenderStatistics } from "./sender-statistics.ts";

/** Bounds the notations that are tracked; messages may quote other formats. */
const MAX_STYLES = 50;

interface StyleStatistics {
  readonly style: string;
  count: number;
  readonly votes: DateVotes;
  readonly senders: SenderStatistics;
  /** The text after the first header. */
  readonly first: string;
  periodWord: string | undefined;
}

export interface FileAnalysis {
  readonly style: string;
  readonly dates: Decision;
  readonly senders: SenderStatistics;
  /** The text after the first header. */
  readonly first: string;
}

export class FileAnalyzer {
  readonly #styles = new Map<string, StyleStatistics>();
  /** Of the first line, which cannot be quoted text. */
  #firstStyle: string | undefined;

  add({ text, number }: Line): void {
    const header = parseHeader(text);
    if (header === undefined) return;
    if (number === 1) this.#firstStyle = header.style;
    const statistics = this.#statistics(header, text);
    if (statistics === undefined) return;
    statistics.count++;
    statistics.votes.add(header.numbers);
    statistics.periodWord ??= header.periodWord;
    statistics.senders.add(text.slice(header.end));
  }

  /** Undefined if no line begins a message. */
  finish(wish: DateOrder | undefined): FileAnalysis | undefined {
    const [most] = [...this.#styles.values()].toSorted((one, other) => other.count - one.count);
    const found = this.#styles.get(this.#firstStyle ?? "") ?? most;
    if (found === undefined) return undefined;
    const { style, votes, senders, periodWord, first } = found;
    return { style, senders, first, dates: votes.decide({ wish, periodWord }) };
  }

  #statistics(header: Header, text: string): StyleStatistics | undefined {
    const known = this.#styles.get(header.style);
    if (known !== undefined || this.#styles.size >= MAX_STYLES) return known;
    const fresh: StyleStatistics = {
      style: header.style,
      count: 0,
      votes: new DateVotes(),
      senders: new SenderStatistics(),
      first: text.slice(header.end),
      periodWord: undefined,
    };
    this.#styles.set(header.style, fresh);
    return fresh;
  }
}
