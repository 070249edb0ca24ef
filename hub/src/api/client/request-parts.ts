// What requests of several groups of routes have in common.

export interface EditOptions {
  /** Apply the change only if the config still has this revision. */
  readonly revision?: string;
}

export const serverPath = (id: string) => `/servers/${encodeURIComponent(id)}`;
export const groupPath = (name: string) => `/groups/${encodeURIComponent(name)}`;

export function ifMatch({ revision }: EditOptions = {}): Record<string, string> {
  return revision === undefined ? {} : { "if-match": `"${revision}"` };
}
