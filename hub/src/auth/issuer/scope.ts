// The scopes of an authorization request: those that the hub has. Clients that ask for none, or for those of other servers
// (`openid`, `offline_access`), get the ordinary one.

const KNOWN: ReadonlySet<string> = new Set(["mcp", "mcp:read"]);
const DEFAULT = "mcp";

/** The address of an authorization request, with the scope that it is given. */
export function withScope(url: string): string {
  const [path, query = ""] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  const scopes = parameters.getAll("scope");
  // Twice: the library refuses that.
  if (scopes.length > 1) return url;
  const asked = (scopes[0] ?? "").split(" ").filter((scope) => KNOWN.has(scope));
  parameters.set("scope", asked.includes(DEFAULT) || asked.length === 0 ? DEFAULT : asked.join(" "));
  return `${path}?${parameters.toString()}`;
}
