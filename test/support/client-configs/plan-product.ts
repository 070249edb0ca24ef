// Plans the import of a product's file into an empty hub.

import { clientsNamed, IMPORTABLE } from "../../../hub/src/client-configs/client-table.ts";
import { contentOf } from "../../../hub/src/client-configs/import/scan.ts";
import { planImport, type Plan, type PlanOptions } from "../../../hub/src/client-configs/import/plan.ts";

const context = { platform: "linux", home: "/home/me", env: {} } as const;
const NOTHING: PlanOptions = { context, keepSecrets: false, servers: [], groups: {}, secrets: [] };

export async function planProduct(id: string, data: unknown, options: Partial<PlanOptions> = {}): Promise<Plan> {
  const [client] = clientsNamed([id], IMPORTABLE);
  if (client === undefined) throw new Error(id);
  const scanned = await contentOf({ client, scope: "user", path: `/${id}.json`, data });
  if (scanned.error !== undefined) throw scanned.error;
  return planImport([scanned], { ...NOTHING, ...options });
}

export const entriesOf = ({ add }: Plan) =>
  Object.fromEntries(add.map(({ name, entry: { source: _source, ...entry } }) => [name, entry] as const));
export const groupsOf = ({ groups }: Plan) => Object.fromEntries(groups.map(({ name, entry }) => [name, entry]));
export const notesOf = ({ add, notes }: Plan) => [
  ...add.flatMap((server) => server.notes.map((note) => `${server.name}: ${note}`)),
  ...notes.map(({ text }) => text),
];
