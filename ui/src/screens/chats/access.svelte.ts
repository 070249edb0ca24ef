// What agents may see of the chats of one server, read from the hub and changed there.

import type { ChatAccess, ChatAccessInput, ChatAccessLevel } from "$api/chat.ts";
import { api, Problem } from "../../lib/hub/api.ts";
import { pathTo } from "../../lib/route.ts";

type SpecialChat = ChatAccess["chats"][number];

export class AccessRules {
  value: ChatAccess | undefined = $state.raw();
  problem: Problem | undefined = $state.raw();
  isChanging = $state(false);
  readonly hidden = $derived(this.value?.chats.filter(({ access }) => access === "hidden") ?? []);
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
    void this.read();
  }

  /** Undefined while it is not known. */
  of(source: string, chat: string): ChatAccessLevel | undefined {
    if (this.value === undefined) return undefined;
    return this.#find(source, chat)?.access ?? "readable";
  }

  nameOf(source: string, chat: string): string | undefined {
    return this.#find(source, chat)?.name;
  }

  canSend(source: string): boolean {
    return this.value?.sources.find(({ id }) => id === source)?.can_send ?? false;
  }

  async read(): Promise<void> {
    await this.#try(async () => {
      this.value = await api.get<ChatAccess>(pathTo`/servers/${this.#server}/chat`);
    });
  }

  /** True if it was changed. */
  async change(input: ChatAccessInput): Promise<boolean> {
    this.isChanging = true;
    const before = this.value;
    await this.#try(async () => {
      this.value = await api.patch<ChatAccess>(pathTo`/servers/${this.#server}/chat`, input);
    });
    this.isChanging = false;
    return this.value !== before;
  }

  #find(source: string, chat: string): SpecialChat | undefined {
    return this.value?.chats.find((each) => each.source === source && each.id === chat);
  }

  async #try(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem = undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    }
  }
}
