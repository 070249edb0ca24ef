// The header WWW-Authenticate of a 401 or 403, by its grammar (RFC 9110, section 11.6.1): a list of challenges, each a scheme
// with a token68 or a list of parameters. Commas separate both, so that only the text after a word shows whether it is a scheme.

import { shownText } from "./text.ts";
import type { Challenge } from "./types.ts";

interface RawChallenge {
  /** In lower case. */
  readonly scheme: string;
  /** By lower-case name. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const TOKEN68 = /[-._~+/0-9A-Za-z]+=*(?=[ \t]*(?:,|$))/y;
const BLANKS = /[ \t]*/y;
const BLANKS_AND_COMMAS = /[ \t,]*/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y;
/** Wider than the grammar's token: some servers leave addresses unquoted. */
const UNQUOTED = /[^\s,"]*/y;

/** The first DPoP challenge, else the first Bearer challenge. Undefined: neither is there. */
export function parseChallenge(lines: string | readonly string[] | undefined): Challenge | undefined {
  const all = (typeof lines === "string" ? [lines] : (lines ?? [])).flatMap(challengesIn);
  return pick(all, "DPoP") ?? pick(all, "Bearer");
}

function pick(all: readonly RawChallenge[], scheme: Challenge["scheme"]): Challenge | undefined {
  const parameters = all.find((challenge) => challenge.scheme === scheme.toLowerCase())?.parameters;
  if (parameters === undefined) return undefined;
  const resourceMetadata = parameters.get("resource_metadata");
  const scope = parameters.get("scope");
  const error = parameters.get("error");
  const errorDescription = shownText(parameters.get("error_description"));
  return {
    scheme,
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(scope === undefined ? {} : { scope }),
    ...(error === undefined ? {} : { error }),
    ...(errorDescription === undefined ? {} : { errorDescription }),
  };
}

/** Ignores the rest after a syntax error. */
function challengesIn(line: string): RawChallenge[] {
  const challenges: RawChallenge[] = [];
  const text = new Scanner(line);
  for (;;) {
    text.take(BLANKS_AND_COMMAS);
    const scheme = text.take(TOKEN);
    if (scheme === undefined) return challenges;
    const parameters = new Map<string, string>();
    challenges.push({ scheme: scheme.toLowerCase(), parameters });
    text.take(BLANKS);
    if (text.take(TOKEN68) === undefined && !readParameters(text, parameters)) return challenges;
  }
}

/** Up to the next scheme. False after a syntax error. */
function readParameters(text: Scanner, parameters: Map<string, string>): boolean {
  for (;;) {
    text.take(BLANKS_AND_COMMAS);
    const start = text.position;
    const name = text.take(TOKEN)?.toLowerCase();
    if (name === undefined) return text.isAtEnd;
    if (text.take(EQUALS) === undefined) {
      text.position = start;
      return true;
    }
    const value = text.take(QUOTED)?.replaceAll(/\\([^])/g, "$1") ?? text.take(UNQUOTED);
    // An opening quote that is never closed.
    if (value === undefined || text.isAt('"')) return false;
    if (!parameters.has(name)) parameters.set(name, value);
  }
}

class Scanner {
  position = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.position === this.#text.length;
  }

  isAt(character: string): boolean {
    return this.#text[this.position] === character;
  }

  /** The match at this position: its first group, or all of it. */
  take(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.position;
    const match = sticky.exec(this.#text);
    if (match === null) return undefined;
    this.position = sticky.lastIndex;
    return match[1] ?? match[0];
  }
}
