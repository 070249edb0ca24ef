// Words that people and tools use for the same thing. Few and general: each group helps some queries and must harm none.

import { termsOf } from "./terms.ts";

const GROUPS: readonly string[] = [
  "create make add new generate build",
  "delete remove drop erase",
  "get fetch retrieve read obtain load show view",
  "list enumerate browse",
  "search find query lookup locate discover",
  "update edit modify change set",
  "send post publish submit",
  "execute run invoke perform",
  "picture image photo",
  "chart plot graph diagram",
  "file document",
  "folder directory",
  "address location place",
  "price cost quote",
  "stock share ticker equity",
  "mail email",
  "paper article publication",
  "video movie film clip",
  "song track music audio",
  "repository repo",
  "issue ticket bug",
  "weather forecast temperature",
  "route directions navigation path",
  "calculate compute sum",
  "convert transform translate",
];

const SYNONYMS: ReadonlyMap<string, readonly string[]> = read(GROUPS);

/** Of a term, as `termsOf` gives it. */
export function synonymsOf(term: string): readonly string[] {
  return SYNONYMS.get(term) ?? [];
}

function read(groups: readonly string[]): Map<string, readonly string[]> {
  const synonyms = new Map<string, readonly string[]>();
  for (const group of groups) {
    const terms = termsOf(group);
    for (const term of terms)
      synonyms.set(term, [...(synonyms.get(term) ?? []), ...terms.filter((other) => other !== term)]);
  }
  return synonyms;
}
