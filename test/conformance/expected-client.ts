// What the hub does not pass yet as a client of servers, and why. An entry whose scenario passes is an error: strike it out.

import { scenariosOf, type SuiteEra } from "./suite.ts";

/** The hub does not log in to servers yet. */
const AUTH = "auth: there is no OAuth towards servers";

/** Reasons by scenario. */
export function expectedOfClient(era: SuiteEra): ReadonlyMap<string, string> {
  const auth = scenariosOf(era, "client").flatMap(({ name }) =>
    name.startsWith("auth/") ? [[name, AUTH] as const] : [],
  );
  return new Map(auth);
}
