// What a caller may do, as its credentials say. Everything that a caller holds open hangs on its grant, and ends with it.

export const ROLES = ["user", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export function isRole(text: unknown): text is Role {
  return ROLES.some((role) => role === text);
}

export interface GrantInit {
  /** Of the token, or `management` and the like. */
  readonly id: string;
  /** The person or program. What one of them opens (sessions, tasks, suspended calls) no other can use. */
  readonly principal: string;
  /** What it may do in the management API. */
  readonly role: Role;
  /** The groups whose endpoints it may use. */
  readonly groups: "*" | ReadonlySet<string>;
  /** It sees and calls only tools that say that they change nothing. */
  readonly readOnly: boolean;
  /** The name under which its calls are recorded, whatever the client calls itself. */
  readonly clientName?: string;
}

export class Grant implements GrantInit {
  readonly id: string;
  readonly principal: string;
  readonly role: Role;
  readonly groups: "*" | ReadonlySet<string>;
  readonly readOnly: boolean;
  declare readonly clientName?: string;
  readonly #held = new Set<() => void>();
  #hasEnded = false;

  constructor({ id, principal, role, groups, readOnly, clientName }: GrantInit) {
    this.id = id;
    this.principal = principal;
    this.role = role;
    this.groups = groups;
    this.readOnly = readOnly;
    if (clientName !== undefined) this.clientName = clientName;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a function when the grant ends: it was revoked, or has expired. Returns how to forget that. */
  onceEnded(end: () => void): () => void {
    if (this.#hasEnded) {
      end();
      return () => undefined;
    }
    this.#held.add(end);
    return () => this.#held.delete(end);
  }

  /** Ends everything that it holds open. */
  end(): void {
    this.#hasEnded = true;
    const held = [...this.#held];
    this.#held.clear();
    for (const end of held) end();
  }
}
