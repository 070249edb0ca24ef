// The part of the client about the machine that the hub runs on: other MCP clients and their files, and the checks of the installation.

import type {
  Client,
  ClientBackup,
  ClientChange,
  ClientPlan,
  ImportInput,
  ImportPlan,
  ImportResult,
  InstallInput,
} from "../schemas/client.ts";
import type { DoctorReport } from "../schemas/doctor.ts";
import type { Connection } from "./connection.ts";

export interface InFolder {
  /** Absolute path of a project, for its files in place of the user's. */
  readonly folder?: string | undefined;
}

export class MachineClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** MCP clients, and whether they use this hub. */
  listClients({ folder }: InFolder = {}): Promise<Client[]> {
    return this.#hub.request("/clients", { query: { folder } });
  }

  /** The servers of other clients, and whether the hub has them. */
  planImport({ folder }: InFolder = {}): Promise<ImportPlan> {
    return this.#hub.request("/clients/import", { query: { folder } });
  }

  importServers(input: ImportInput): Promise<ImportResult> {
    return this.#hub.request("/clients/import", { method: "POST", body: input });
  }

  /** What an install would change. Nothing is written. */
  planInstall(client: string, input: InstallInput = {}): Promise<ClientPlan> {
    return this.#hub.request(`${path(client)}/plan`, { method: "POST", body: input });
  }

  /** Adds the hub to the client's file, after a backup. */
  install(client: string, input: InstallInput = {}): Promise<ClientChange> {
    return this.#hub.request(`${path(client)}/install`, { method: "POST", body: input });
  }

  uninstall(client: string, { folder }: InFolder = {}): Promise<ClientChange> {
    return this.#hub.request(`${path(client)}/install`, { method: "DELETE", query: { folder } });
  }

  /** Checks the installation, as `plugboard doctor` does. */
  examine(): Promise<DoctorReport> {
    return this.#hub.request("/doctor");
  }

  /** Repairs checks that are fixable, by their ids. */
  repair(checks: readonly string[]): Promise<DoctorReport> {
    return this.#hub.request("/doctor/fix", { method: "POST", body: { checks } });
  }

  listBackups(): Promise<ClientBackup[]> {
    return this.#hub.request("/clients/backups");
  }

  /** The current file is backed up first. */
  restoreBackup(id: string): Promise<ClientChange> {
    return this.#hub.request(`/clients/backups/${encodeURIComponent(id)}/restore`, { method: "POST" });
  }
}

const path = (client: string) => `/clients/${encodeURIComponent(client)}`;
