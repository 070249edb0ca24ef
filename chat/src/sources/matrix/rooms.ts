// State of the joined rooms during a run: names, members, and bounded maps of event senders and reactions.

import { evictOldest } from "@plugboard/shared/evict";
import type { SourceEvent } from "../../model/source.ts";
import type { StateEvent, SyncRoom } from "./wire.ts";

const MAX_KNOWN = 10_000;

export interface Reaction {
  readonly chat: string;
  readonly id: string;
  readonly by: string;
  readonly emoji: string;
}

interface Room {
  name?: string;
  alias?: string;
  isSpace?: boolean;
  readonly members: Map<string, string>;
}

export class Rooms {
  readonly self: string;
  readonly #rooms = new Map<string, Room>();
  /** Undefined until `m.direct` arrives. */
  #direct: ReadonlySet<string> | undefined;
  readonly #senders = new Map<string, string>();
  readonly #reactions = new Map<string, Reaction>();

  constructor(self: string) {
    this.self = self;
  }

  setDirect(byUser: Readonly<Record<string, readonly string[]>>): void {
    this.#direct = new Set(Object.values(byUser).flat());
  }

  isSpace(id: string): boolean {
    return this.#room(id).isSpace === true;
  }

  /** Updates the room from a state event; returns person events for new names. */
  learn(id: string, { type, state_key: key, content }: StateEvent): SourceEvent[] {
    const room = this.#room(id);
    if (type === "m.room.name" && content.name !== undefined) room.name = content.name;
    if (type === "m.room.canonical_alias" && content.alias !== undefined) room.alias = content.alias;
    if (type === "m.room.create" && content.type === "m.space") room.isSpace = true;
    if (type !== "m.room.member" || key === undefined || content.displayname === undefined) return [];
    if (room.members.get(key) === content.displayname) return [];
    room.members.set(key, content.displayname);
    return [
      {
        type: "person",
        person: { id: key, name: content.displayname, ...(key === this.self ? { isSelf: true } : {}) },
      },
    ];
  }

  /** Chat event with the room's name, or the names of its members. */
  chatEvent(id: string, { summary }: Pick<SyncRoom, "summary">): SourceEvent {
    const room = this.#room(id);
    const heroes = (summary["m.heroes"] ?? []).map((user) => this.nameOf(id, user));
    const name = room.name ?? room.alias ?? (heroes.length === 0 ? undefined : heroes.join(", "));
    const count = summary["m.joined_member_count"];
    return {
      type: "chat",
      chat: {
        id,
        ...(name === undefined ? {} : { name }),
        ...(this.#direct === undefined ? {} : { type: this.#direct.has(id) ? "direct" : "group" }),
        ...(count === undefined ? {} : { participantCount: count }),
      },
    };
  }

  nameOf(room: string, user: string): string {
    return this.#room(room).members.get(user) ?? user;
  }

  /** Sender of an event, if known. */
  senderOf(event: string): string | undefined {
    return this.#senders.get(event);
  }

  addSender(event: string, sender: string): void {
    setBounded(this.#senders, event, sender);
  }

  reactionOf(event: string): Reaction | undefined {
    return this.#reactions.get(event);
  }

  addReaction(event: string, reaction: Reaction): void {
    setBounded(this.#reactions, event, reaction);
  }

  #room(id: string): Room {
    const known = this.#rooms.get(id);
    if (known !== undefined) return known;
    const room: Room = { members: new Map() };
    this.#rooms.set(id, room);
    return room;
  }
}

function setBounded<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  evictOldest(map, MAX_KNOWN);
}
