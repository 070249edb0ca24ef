// Finds tools by what they do: BM25F over names, descriptions, parameters and servers. Immutable, built once for a group's tools.

import { isObject, type JsonObject } from "../lib/json/json.ts";
import { synonymsOf } from "./synonyms.ts";
import { termsOf, wordsWithTerms } from "./terms.ts";

export interface IndexedTool {
  readonly server: string;
  /** The name under which clients see it. */
  readonly exposed: string;
  readonly definition: JsonObject;
}

export interface ToolHits<T> {
  /** Best first. */
  readonly tools: readonly T[];
  /** Words of the query that no tool mentions. */
  readonly unknown: readonly string[];
}

interface Posting {
  readonly tool: number;
  /** Occurrences, weighted by field and length. */
  readonly weight: number;
}

const FIELDS = ["name", "description", "parameters", "server"] as const;
type Field = (typeof FIELDS)[number];

const BOOST: Readonly<Record<Field, number>> = { name: 3, description: 1, parameters: 0.5, server: 1 };
/** How much longer fields count less. */
const LENGTH_NORM: Readonly<Record<Field, number>> = { name: 0.5, description: 0.6, parameters: 0.6, server: 0 };
/** Saturation: further occurrences of a term count less and less. */
const K1 = 1.2;
/** Of a synonym, compared with the word itself. */
const SYNONYM_WEIGHT = 0.5;
/** In terms. */
const SHORT_QUERY = 2;

export class ToolIndex<T extends IndexedTool> {
  readonly #tools: readonly T[];
  readonly #postings = new Map<string, Posting[]>();

  constructor(tools: readonly T[]) {
    this.#tools = tools;
    const documents = tools.map(fieldsOf);
    const means = meanLengths(documents);
    documents.forEach((document, tool) => {
      const weights = new Map<string, number>();
      for (const field of FIELDS) {
        const terms = document[field];
        const norm = 1 - LENGTH_NORM[field] + (LENGTH_NORM[field] * terms.length) / means[field];
        for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + BOOST[field] / norm);
      }
      for (const [term, weight] of weights) {
        const postings = this.#postings.get(term);
        if (postings === undefined) this.#postings.set(term, [{ tool, weight }]);
        else postings.push({ tool, weight });
      }
    });
  }

  /** `admits`: only among these tools. */
  search(query: string, limit: number, admits: (tool: T) => boolean = () => true): ToolHits<T> {
    const scores = new Float64Array(this.#tools.length);
    const terms = new Map(wordsWithTerms(query).map(({ term, word }) => [term, word]));
    const unknown = [...terms].flatMap(([term, word]) => (this.#score(term, scores) ? [] : [word]));
    // In a short query, the unknown word is what was asked for: tools that only share the verb would mislead.
    if (unknown.length > 0 && terms.size <= SHORT_QUERY) return { tools: [], unknown };
    return { tools: this.#best(scores, limit, admits), unknown };
  }

  /** Those with the highest scores. A search can match every tool of thousands, so that few are sorted. */
  #best(scores: Float64Array, limit: number, admits: (tool: T) => boolean): T[] {
    const best: { readonly tool: T; readonly score: number }[] = [];
    scores.forEach((score, index) => {
      const tool = this.#tools[index];
      const isBetter = score > (best.length < limit ? 0 : (best.at(-1)?.score ?? Infinity));
      if (!isBetter || tool === undefined || !admits(tool)) return;
      const at = best.findIndex((other) => score > other.score);
      best.splice(at < 0 ? best.length : at, 0, { tool, score });
      if (best.length > limit) best.pop();
    });
    return best.map(({ tool }) => tool);
  }

  /** Adds to the scores of the tools that mention a term or a synonym of it. Returns whether one does. */
  #score(term: string, scores: Float64Array): boolean {
    const words = [term, ...synonymsOf(term)].flatMap((word, at) => {
      const postings = this.#postings.get(word);
      return postings === undefined ? [] : [{ postings, factor: at === 0 ? 1 : SYNONYM_WEIGHT }];
    });
    // A tool that mentions several of them has the best of their scores.
    const best = new Float64Array(this.#tools.length);
    for (const { postings, factor } of words) {
      const idf = factor * Math.log(1 + (this.#tools.length - postings.length + 0.5) / (postings.length + 0.5));
      for (const { tool, weight } of postings) {
        const score = (idf * weight) / (K1 + weight);
        const before = best[tool] ?? 0;
        if (score <= before) continue;
        best[tool] = score;
        scores[tool] = (scores[tool] ?? 0) + score - before;
      }
    }
    return words.length > 0;
  }
}

function fieldsOf({ server, definition }: IndexedTool): Readonly<Record<Field, readonly string[]>> {
  const { name, title, description, inputSchema } = definition;
  return {
    name: termsOf([name, title].filter((each) => typeof each === "string").join(" ")),
    description: termsOf(typeof description === "string" ? description : ""),
    parameters: termsOf(parameterText(inputSchema)),
    server: termsOf(server),
  };
}

function parameterText(schema: unknown): string {
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties)
    .map(([key, property]) => {
      const description = isObject(property) ? property["description"] : undefined;
      return typeof description === "string" ? `${key} ${description}` : key;
    })
    .join(" ");
}

function meanLengths(documents: readonly Readonly<Record<Field, readonly string[]>>[]): Record<Field, number> {
  const mean = (field: Field) =>
    documents.reduce((sum, document) => sum + document[field].length, 0) / Math.max(documents.length, 1) || 1;
  return {
    name: mean("name"),
    description: mean("description"),
    parameters: mean("parameters"),
    server: mean("server"),
  };
}
