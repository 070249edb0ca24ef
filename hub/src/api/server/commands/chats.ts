// What agents may see of the chats of a chat server. The chat server's own command does the work, in its own process: the hub
// knows neither its files nor its database. Agents have no way here: there is no MCP tool for it.

import { parseJson } from "@plugboard/shared/lenient";
import { HubError } from "../../../errors.ts";
import { isObject } from "../../../lib/json/json.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import type { CompanionOptions, CompanionResult } from "../../../servers/companions.ts";
import type { ManagedServer } from "../../../servers/server.ts";
import { VERSION } from "../../../version.ts";
import { chatAccess, type ChatAccess, type ChatAccessInput } from "../../schemas/chat.ts";
import type { Managed } from "../core.ts";

const CHAT_SERVER = "plugboard-chat";
const NONE = "none";
const WAIT_MS = 60_000;

export class ChatCommands {
  readonly #managed: Managed;
  /** One change at a time: each reads chat.json, and writes it. */
  readonly #changes = new Semaphore("changes of chat.json", () => ({ max: 1, maxWaiting: 100 }));

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async access(id: string, signal: AbortSignal): Promise<ChatAccess> {
    return this.#runAccess(this.#find(id), [], signal);
  }

  async change(id: string, { chat, redact }: ChatAccessInput, signal: AbortSignal): Promise<ChatAccess> {
    const server = this.#find(id);
    // After `--`, so that no id is taken for an option.
    const args = [
      ...(redact === undefined ? [] : [`--redact=${redact.length === 0 ? NONE : redact.join(",")}`]),
      ...(chat === undefined ? [] : ["--", chat.source, chat.id, chat.access]),
    ];
    await this.#changes.acquire({ signal, limitMs: WAIT_MS });
    try {
      return await this.#runAccess(server, args, signal);
    } finally {
      this.#changes.release();
    }
  }

  async #runAccess(server: ManagedServer, args: readonly string[], signal: AbortSignal): Promise<ChatAccess> {
    const { stdout } = await this.#run(server, ["access", "--json", ...args], { signal });
    return chatAccess.parse(parseJson(stdout));
  }

  async #run(server: ManagedServer, args: readonly string[], options: CompanionOptions): Promise<CompanionResult> {
    const { companions } = this.#managed.hub.supervisor;
    const result = await companions.run(server.config, ["chat", ...args], options);
    if (result.code === 0) return result;
    throw toError(result);
  }

  /** A chat server is known by what it says that it is, not by its name. */
  #find(id: string): ManagedServer {
    const server = this.#managed.hub.supervisor.get(id);
    const { name, version } = (server.info ?? server.lastInfo)?.serverInfo ?? {};
    if (name !== CHAT_SERVER) {
      throw new HubError("InvalidArgument", `${server.name} is not a chat server`, {
        field: "id",
        hint: "Start it first if it has not run yet",
      });
    }
    const { transport } = server.config;
    if (transport.type !== "stdio" || transport.launcher === "docker") {
      throw new HubError("Conflict", `${server.name} keeps its chats elsewhere`, {
        hint: "Run on its machine, or in its container: plugboard-chat access",
      });
    }
    if (version !== VERSION) {
      const text = typeof version === "string" ? version : "unknown";
      throw new HubError("Conflict", `${server.name} has version ${text}, and the hub's chat command ${VERSION}`, {
        hint: `Use the same version of both: the newer one may change the database. plugboard update ${server.name}`,
      });
    }
    return server;
  }
}

/** The command prints an error as JSON: `{"error": {"code", "message", "hint"}}`. */
function toError({ code, stderr }: CompanionResult): HubError {
  for (const line of stderr.split("\n").toReversed()) {
    const printed = parseJson(line);
    const error = isObject(printed) ? printed["error"] : undefined;
    if (!isObject(error) || typeof error["message"] !== "string") continue;
    const { message, hint, field } = error;
    return new HubError("InvalidArgument", message, {
      ...(typeof hint === "string" ? { hint } : {}),
      ...(typeof field === "string" ? { field } : {}),
    });
  }
  return new HubError("IoError", `The chat command failed with exit code ${code ?? "none"}`, { detail: stderr });
}
