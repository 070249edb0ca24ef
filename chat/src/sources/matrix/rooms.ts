// What a run knows of rooms and of what was said in them: who is in which, what it is called, and which event was whose. Names
// are told to the store as they are learned; the rest is bounded.

import type { SourceEvent } from "../../source.ts";
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
  /** Undefined until the homeserver has told. */
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

  /** What a state event tells that is worth knowing. */
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

  /** The room itself: its name, or who else is in it. */
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

  /** Who said it; undefined where it is not known here. */
  senderOf(event: string): string | undefined {
    return this.#senders.get(event);
  }

  addSender(event: string, sender: string): void {
    keep(this.#senders, event, sender);
  }

  reactionOf(event: string): Reaction | undefined {
    return this.#reactions.get(event);
  }

  addReaction(event: string, reaction: Reaction): void {
    keep(this.#reactions, event, reaction);
  }

  #room(id: string): Room {
    const known = this.#rooms.get(id);
    if (known !== undefined) return known;
    const room: Room = { members: new Map() };
    this.#rooms.set(id, room);
    return room;
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MAX_KNOWN && oldest !== undefined) map.delete(oldest);
}
